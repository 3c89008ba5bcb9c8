"""Compiled units of probes: several at once, and kept, as most belong to every probe.

Most of a compiler's time goes into the headers of MPI and of the standard library, so that units of
a folder are compiled a few together, which takes half of the time.
"""

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

# Folders of parts that all probes have, and of parts that other probes may take.
_SHARED = ("common/", "compat/")
_LENT = ("alltoall/",)
# Units that are compiled together: more share headers, fewer keep more processors busy.
_TOGETHER = 8


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
    """Objects of all units among the sources, which lie in a folder; each has a few units.

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
    # A fault ends the rest early: they most likely share it.
    failed = threading.Event()

    def make(units: Sequence[str]) -> Path:
        object_file = kept / f"{_key(units, sources, compiler.key)}.o"
        if not object_file.exists() and not failed.is_set():
            try:
                _compile(units, folder, compiler).replace(object_file)
            except ShortfallError:
                failed.set()
                raise
        return object_file

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(make, _batches(sources)))


def _batches(sources: Mapping[str, bytes]) -> list[list[str]]:
    """The units, those together that are to be compiled together: always the same ones."""
    folders: dict[str, list[str]] = {}
    for path in sorted(sources):
        if path.endswith(".cpp"):
            folders.setdefault(path.partition("/")[0], []).append(path)
    return [
        units[first : first + _TOGETHER]
        for units in folders.values()
        for first in range(0, len(units), _TOGETHER)
    ]


def _compile(units: Sequence[str], folder: Path, compiler: Compiler) -> Path:
    name = units[0].replace("/", "-")
    made, source = folder / f"{name}.o", folder / f"from-{name}"
    source.write_text("".join(f'#include "{unit}"\n' for unit in units), encoding="utf-8")
    command = [*compiler.command, f"-I{folder}", "-c", str(source), "-o", str(made)]
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


def _key(units: Sequence[str], sources: Mapping[str, bytes], key: str) -> str:
    """Hash of units of a folder with all headers that they may include."""
    parts = [key.encode()]
    for path in units:
        parts += [path.encode(), sources[path]]
    for other, text in sorted(sources.items()):
        if other.endswith(".hpp") and _may_include(units[0], other):
            parts += [other.encode(), text]
    whole = b"".join(hashlib.sha256(part).digest() for part in parts)
    return hashlib.sha256(whole).hexdigest()[:24]


def _may_include(unit: str, header: str) -> bool:
    """Whether a unit's folder may use a header's: shared ones none but each other, and so on."""
    if header.startswith(_SHARED):
        return True
    if header.startswith(_LENT):
        return not unit.startswith(_SHARED)
    return not unit.startswith((*_SHARED, *_LENT))
