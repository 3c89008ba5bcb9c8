"""Probes and what is preloaded: compiled once for each library, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from contend.base.errors import MissingError, ShortfallError
from contend.base.process import Run, is_own, private_folder, scratch_folder
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
    """A compiler wrapper and what its objects depend on besides the sources."""

    command: Sequence[str]
    """Wrapper and its flags."""
    environment: Mapping[str, str]
    """Environment, whole."""
    run: Run
    """What runs it."""
    limit: float
    """Seconds for one unit."""
    key: str
    """What tells libraries, wrappers, compilers, flags and processors apart."""
    what: str = "a probe"
    """What it compiles, for people."""

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


# Only MPI's C interface is used, so the retired one for C++, which needs a library of its own, is
# kept out. Wrappers call a C compiler, which does not link C++'s library by itself.
_FLAGS = ("-O2", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
_SOURCES = (*STANDARDS, ".hpp", ".h")
_LIBRARIES = ("-lstdc++", "-lm", "-ldl")
_SMALLEST = "version"
# A probe may take parts that others have too: of another probe all but its main program.
_SCHEDULES = "schedules"
_BORROWED = {"alltoall": (_SCHEDULES,), "sort": ("alltoall", _SCHEDULES)}
_MAIN = "main.cpp"
# What is preloaded are libraries that find MPI only when the program does: linked with none.
_PRELOADED_FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", *_FLAGS[1:])
_PRELOADED_LIBRARIES = ("-shared", "-Wl,--as-needed", "-lpthread", "-ldl")
# How names of folders in the cache begin in which something is being compiled.
_SCRATCH = ".new"


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where compiled programs are kept: below XDG_CACHE_HOME, or ~/.cache; only ours to write.

    Raises:
        MissingError: there is no such place, or it belongs to another user.
    """
    named = environment.get("XDG_CACHE_HOME", "")
    try:
        base = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
    except RuntimeError:
        raise MissingError(
            "this user has no home folder to keep compiled probes in; set XDG_CACHE_HOME"
        ) from None
    contend = base / "contend"
    try:
        private_folder(contend)
        return private_folder(contend / "probes")
    except OSError as error:
        raise _unkept(contend, error.strerror) from error
    except MissingError as error:
        raise MissingError(
            f"{error}, so contend runs no probe from it; set XDG_CACHE_HOME to another folder"
        ) from None


def probe_sources(name: str) -> dict[str, bytes]:
    """The sources of a probe that comes with contend, by their paths below the probes' folder.

    Those of the folders in `SHARED` belong to every probe but `version`, which must compile even
    where nothing else does. `sort` has the all-to-alls of `alltoall` too, and both the
    schedules that the drop-in library and the core have.
    """
    contend = files("contend")
    borrowed = _BORROWED.get(name, ())
    folders = [name] if name == _SMALLEST else [*SHARED, name, *borrowed]
    return {
        f"{folder}/{source.name}": source.read_bytes()
        for folder in sorted(folders)
        for source in _sources(
            contend / folder if folder == _SCHEDULES else contend / "probes" / folder
        )
        if folder not in borrowed or source.name != _MAIN
    }


def _sources(folder: Traversable) -> list[Traversable]:
    """Units and headers of a folder, by their names."""
    found = (path for path in folder.iterdir() if path.name.endswith(_SOURCES))
    return sorted(found, key=lambda path: path.name)


def compile_probe(
    name: str,
    candidate: Candidate,
    library: str,
    run: Run,
    limit: float,
    *,
    anew: bool = False,
    tell: Callable[[], None] = lambda: None,
) -> Path:
    """The probe as a program for a candidate's library; compiled unless the cache has it.

    Args:
        name: of the probe.
        candidate: its wrapper compiles.
        library: what the library says of its version, "" when it is not known yet; together with
            the compiler, its flags and the sources the key in the cache.
        run: runs the compiler.
        limit: seconds that each unit may take.
        anew: compile even if the cache has it.
        tell: is called before it is compiled.

    Raises:
        ShortfallError: why it does not compile, in one line.
        MissingError: the cache folder cannot be used.
    """
    sources = probe_sources(name)
    compiler = compiler_of(candidate, library, run, limit, (_FLAGS, _LIBRARIES))

    def link(folder: Path, cache: Path) -> Path:
        units: list[Path] = [folder / path for path in sources if path.endswith(".cpp")]
        if len(units) > 1:
            units = compile_units(sources, folder, cache / "objects", compiler)
        words = [STANDARDS[".cpp"], *map(str, units), *_LIBRARIES]
        return compiler.make(words, folder, folder / f"contend-{name}")

    key = hash_of(compiler.key, texts_of(sources))
    return made_once(candidate.environment, f"{name}-{key}", sources, link, anew=anew, tell=tell)


class Preload(StrEnum):
    """A library that is preloaded into programs: the folder of its sources."""

    RECORDER = "tracer"
    TUNED = "tuned"

    @property
    def what(self) -> str:
        """What it is, for people."""
        return "the recorder" if self == Preload.RECORDER else "the drop-in all-to-all"


# The folders that each is made of: what is common to both, and the schedules.
_PRELOADED = {
    Preload.RECORDER: ("preloaded", Preload.RECORDER),
    Preload.TUNED: ("preloaded", _SCHEDULES, Preload.TUNED),
}


def compile_preload(
    which: Preload, candidate: Candidate, library: str, run: Run, limit: float
) -> Path:
    """A library to preload into programs of a candidate's library.

    Args:
        which: the library to be made.
        candidate: its wrapper compiles.
        library: what the library says of its version.
        run: runs the compiler.
        limit: seconds that each unit may take.

    Raises:
        ShortfallError: why it does not compile, in one line.
        MissingError: the cache folder cannot be used.
    """
    # One folder for all: they include each other's headers by their names alone.
    sources = {
        source.name: source.read_bytes()
        for folder in _PRELOADED[which]
        for source in _sources(files("contend") / folder)
    }
    flags = (_PRELOADED_FLAGS, _PRELOADED_LIBRARIES)
    keyed = replace(compiler_of(candidate, library, run, limit, flags), what=which.what)
    compiler = replace(keyed, command=[str(candidate.wrapper), *_PRELOADED_FLAGS])

    def link(folder: Path, _: Path) -> Path:
        def make(unit: str) -> Path:
            return compiler.make(["-c", str(folder / unit)], folder, folder / f"{unit}.o")

        units = [name for name in sources if name.endswith(".c")]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            objects = list(pool.map(make, units))
        words = [*map(str, objects), *_PRELOADED_LIBRARIES]
        return compiler.make(words, folder, folder / f"{which}.so")

    key = hash_of(compiler.key, texts_of(sources))
    return made_once(candidate.environment, f"{which}-{key}.so", sources, link)


def made_once(
    environment: Mapping[str, str],
    name: str,
    sources: Mapping[str, bytes],
    link: Callable[[Path, Path], Path],
    *,
    anew: bool = False,
    tell: Callable[[], None] = lambda: None,
) -> Path:
    """What is made of sources: from the cache, or linked in a folder that has them.

    Args:
        environment: says where the cache is.
        name: in the cache; another one for other sources, compilers and libraries.
        sources: by their paths.
        link: makes it, given the folder of the sources and the cache.
        anew: make it even if the cache has it.
        tell: is called before it is made.

    Raises:
        MissingError: the cache folder cannot be used.
    """
    cache = cache_folder(environment)
    made = cache / name
    if is_own(made) and not anew:
        return made
    tell()
    try:
        with scratch_folder(_SCRATCH, cache) as folder:
            for path, text in sources.items():
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_bytes(text)
            # In one step, so that nobody ever runs or loads half of it.
            link(folder, cache).replace(made)
    except OSError as error:
        raise _unkept(cache, error.strerror) from error
    return made


def _unkept(folder: Path, reason: str | None) -> MissingError:
    return MissingError(
        f"{folder}: {reason}, so probes cannot be kept there; set XDG_CACHE_HOME to another folder"
    )
