"""Compiled units of probes: several at once, and each kept, as most belong to every probe."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from contend.errors import ShortfallError
from contend.mpi.process import Run

_SHARED = ("common/", "compat/")


@dataclass(frozen=True)
class Compiler:
    """A compiler wrapper and what its objects depend on besides the sources.

    Attributes:
        command: the wrapper and its flags.
        environment: whole.
        run: runs it.
        limit: seconds for one unit.
        key: tells apart libraries, wrappers and processors.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    run: Run
    limit: float
    key: str


def compile_units(
    sources: Mapping[str, bytes], folder: Path, kept: Path, compiler: Compiler
) -> list[Path]:
    """The object of every unit among the sources, which lie in a folder.

    Args:
        sources: texts of units and headers by their paths.
        folder: where these lie.
        kept: folder of objects that were made before, and that new ones go to.
        compiler: makes those that are missing.

    Raises:
        ShortfallError: why a unit does not compile, in one line.
        OSError: the folder of objects cannot be written.
    """
    kept.mkdir(parents=True, exist_ok=True)
    units = [path for path in sources if path.endswith(".cpp")]
    # A fault ends the rest early: they most likely share it.
    failed = threading.Event()

    def make(path: str) -> Path:
        object_file = kept / f"{_key(path, sources, compiler.key)}.o"
        if not object_file.exists() and not failed.is_set():
            try:
                _compile(path, folder, compiler).replace(object_file)
            except ShortfallError:
                failed.set()
                raise
        return object_file

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(make, units))


def _compile(path: str, folder: Path, compiler: Compiler) -> Path:
    made = folder / f"{path.replace('/', '-')}.o"
    command = [*compiler.command, f"-I{folder}", "-c", str(folder / path), "-o", str(made)]
    run_compiler(command, folder, compiler)
    if not made.is_file():
        raise ShortfallError("the wrapper says that it compiled a probe, but made none")
    return made


def run_compiler(command: Sequence[str], folder: Path, compiler: Compiler) -> None:
    """Runs a command of the compiler whose sources lie in a folder.

    Raises:
        ShortfallError: why it failed, in one line.
    """
    ended = compiler.run(command, compiler.environment, compiler.limit)
    if ended.status is None:
        raise ShortfallError(f"the wrapper did not compile a probe within {compiler.limit:g} s")
    if ended.status != 0:
        # The scratch folder means nothing to anybody.
        said = ended.why().replace(f"{folder}{os.sep}", "")
        raise ShortfallError(f"a probe does not compile: {said}")


def _key(path: str, sources: Mapping[str, bytes], key: str) -> str:
    """Hash of a unit with all headers that it may include."""
    shared = path.startswith(_SHARED)
    parts = [key.encode(), path.encode(), sources[path]]
    for other, text in sorted(sources.items()):
        if other.endswith(".hpp") and (other.startswith(_SHARED) or not shared):
            parts += [other.encode(), text]
    whole = b"".join(hashlib.sha256(part).digest() for part in parts)
    return hashlib.sha256(whole).hexdigest()[:24]
