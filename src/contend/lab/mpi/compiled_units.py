"""Objects of units: a few are compiled together, and each is kept for whoever links it next.

Most of a compiler's time goes into the headers of MPI and of the standard library, so that units of
a folder are compiled a few together, which takes half of the time; and most units belong to every
probe, so that their objects are kept too.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from contend.base.errors import ShortfallError
from contend.base.process import Run, is_own, private_folder
from contend.lab.mpi.search import Candidate

# By the ends of units' names.
STANDARDS = {".cpp": "-std=c++17", ".c": "-std=gnu11"}
# Folders of parts that all probes have, and of parts that other probes may take.
SHARED = ("common", "compat", "io", "timing")
_LENT = ("alltoall", "schedules")
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
        key: tells apart libraries, wrappers, compilers, flags and processors.
        what: what it compiles, for people.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    run: Run
    limit: float
    key: str
    what: str = "a probe"

    def make(self, words: Sequence[str], folder: Path, made: Path) -> Path:
        """Compiles what lies in a folder into a file there.

        Raises:
            ShortfallError: why it does not compile, in one line.
        """
        command = [*self.command, f"-I{folder}", *words, "-o", str(made)]
        finished = self.run(command, self.environment, self.limit)
        if finished.status is None:
            raise ShortfallError(f"the wrapper did not compile {self.what} within {self.limit:g} s")
        if finished.status != 0:
            # The scratch folder means nothing to anybody.
            reason = finished.why().replace(f"{folder}{os.sep}", "")
            raise ShortfallError(f"{self.what} does not compile: {reason}")
        if not made.is_file():
            raise ShortfallError("the wrapper reported success, but wrote no program")
        # Whatever the umask, nobody else may change what will be run.
        made.chmod(0o700)
        return made


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
    private_folder(kept)
    # A fault ends the rest early: they most likely share it.
    failed = threading.Event()

    def make(units: Sequence[str]) -> Path:
        object_file = kept / f"{_object_key(units, sources, compiler.key)}.o"
        if not is_own(object_file) and not failed.is_set():
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
    kinds: dict[tuple[str, str], list[str]] = {}
    for path in sorted(sources):
        if path.endswith(tuple(STANDARDS)):
            kinds.setdefault((path.partition("/")[0], Path(path).suffix), []).append(path)
    return [
        units[first : first + _TOGETHER]
        for units in kinds.values()
        for first in range(0, len(units), _TOGETHER)
    ]


def _compile(units: Sequence[str], folder: Path, compiler: Compiler) -> Path:
    name = units[0].replace("/", "-")
    source = folder / f"from-{name}"
    source.write_text("".join(f'#include "{unit}"\n' for unit in units), encoding="utf-8")
    words = [STANDARDS[source.suffix], "-c", str(source)]
    return compiler.make(words, folder, folder / f"{name}.o")


def _object_key(units: Sequence[str], sources: Mapping[str, bytes], key: str) -> str:
    """Hash of units of a folder with all headers that they may include."""
    texts = {path: sources[path] for path in units}
    texts |= {
        path: text
        for path, text in sorted(sources.items())
        if path.endswith((".hpp", ".h")) and _may_include(units[0], path)
    }
    return hash_of(key, texts_of(texts))


def _may_include(unit: str, header: str) -> bool:
    """Whether a unit's folder may use a header's: shared ones none but each other, and so on."""
    own, used = (path.partition("/")[0] for path in (unit, header))
    if used in SHARED:
        return True
    if used in _LENT:
        return own not in SHARED
    return own not in (*SHARED, *_LENT)


def compiler_of(
    candidate: Candidate,
    library: str,
    run: Run,
    limit: float,
    flags: tuple[tuple[str, ...], tuple[str, ...]],
) -> Compiler:
    """The candidate's wrapper as a compiler, with the compiler that it calls in its key.

    `flags` are those of the compiler and of what is linked.
    Wrappers of one library under several names call the same compiler in the same way, and share
    what they compile. The cache may be shared by machines of different processors.
    """
    if candidate.wrapper is None:
        raise ShortfallError(candidate.missing)
    environment = candidate.environment
    shown = run([str(candidate.wrapper), "-show"], environment, limit)
    command = shown.text.strip() if shown.status == 0 else ""
    program = next(iter(_words(command)), "")
    if program and shutil.which(program, path=environment.get("PATH", os.defpath)) is None:
        raise ShortfallError(f"the wrapper calls the compiler {program}, which is not installed")
    version = ""
    if shown.status is not None:
        # A wrapper that does not tell passes the question on.
        asked = run([program or str(candidate.wrapper), "--version"], environment, limit)
        version = asked.text if asked.status == 0 else ""
    words = (
        library,
        command or str(candidate.wrapper),
        version,
        shlex.join((*flags[0], *flags[1])),
        os.uname().machine,
    )
    key = hash_of(*(word.encode(errors="surrogateescape") for word in words))
    return Compiler([str(candidate.wrapper), *flags[0]], environment, run, limit, key)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def texts_of(sources: Mapping[str, bytes]) -> bytes:
    """What `hash_of` takes for texts by their paths."""
    return b"".join(_digest(path.encode()) + _digest(text) for path, text in sources.items())


def hash_of(*parts: str | bytes) -> str:
    """A name of what differs with any of the parts."""
    encoded = (part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(b"".join(map(_digest, encoded))).hexdigest()[:24]


def _digest(part: bytes) -> bytes:
    return hashlib.sha256(part).digest()
