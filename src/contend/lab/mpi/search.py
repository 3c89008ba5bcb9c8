"""MPI libraries: where they may be on this machine, and what a trial found."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from contend.base.errors import UsageError
from contend.base.process import Run, run_process
from contend.base.schema import PythonOnly, Shown, told

# Derived libraries first: they tend to mention what they are made from.
_NAMES = (
    ("Intel MPI", r"Intel\(R\) MPI Library (\d[\w.]*)"),
    ("MVAPICH", r"MVAPICH\w*\s+Version\s*:\s*(\d[\w.]*)"),
    ("Cray MPICH", r"CRAY MPICH version (\d[\w.]*)"),
    ("ParaStation MPI", r"(?:ParaStation MPI|psmpi)\D*(\d[\w.]*)"),
    ("HPE MPT", r"(?:HPE|SGI) (?:HMPT|MPT) (\d[\w.]*)"),
    ("Spectrum MPI", r"Spectrum MPI v(\d[\w.]*)"),
    ("MPICH", r"MPICH\s+Version\s*:\s*(\d[\w.]*)"),
    ("Open MPI", r"Open MPI v(\d[\w.]*)"),
)
LIBRARIES = tuple(name for name, _ in _NAMES)


@dataclass(frozen=True)
class Library:
    """One MPI library of this machine."""

    origin: str
    """How it was found, such as ``PATH`` or ``module openmpi/4.1``."""
    wrapper: str
    """Its compiler wrapper; "" when there is none."""
    usable: bool
    """Whether a probe compiles and two ranks of it find each other."""
    why: str = ""
    """Why it is not usable, in one line; "" when it is."""
    name: str = ""
    """What it calls itself, such as ``Open MPI``; "" when no probe ran."""
    version: str = ""
    """Number of its version, as the library reports it."""
    standard: str = ""
    """Version of the MPI standard that it follows, such as ``3.1``."""
    reported: str = ""
    """Whole text of its MPI_Get_library_version."""
    file: str = ""
    """Shared library that a probe loads; "" when none could be told."""
    launcher: str = ""
    """What starts its ranks; "" when nothing does."""
    size: int = 0
    """Number of ranks that found each other when two were started; 0 when none ran."""
    also: tuple[str, ...] = ()
    """Other wrappers that lead to the same library."""
    notes: tuple[str, ...] = ()
    """What a user should know, such as a launcher that belongs to another library."""
    # It may hold secrets.
    environment: PythonOnly[Mapping[str, str]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Whole environment that its programs need."""


@dataclass(frozen=True)
class Libraries(Shown, told="mpi_document"):
    """The MPI libraries of this machine."""

    libraries: tuple[Library, ...]
    """All libraries that were found."""

    @told
    def usable(self) -> int:
        """Number of libraries that can be used."""
        return sum(library.usable for library in self.libraries)


def merge(libraries: Iterable[Library]) -> list[Library]:
    """Every library once: those whose probes load the same file are one.

    The first usable wrapper speaks for the library, the others are its `also`. Libraries that no
    file identifies stay by themselves.
    """
    kept: list[Library] = []
    for library in libraries:
        index = next((at for at, other in enumerate(kept) if _same(other, library)), None)
        if index is None:
            kept.append(library)
            continue
        first, second = kept[index], library
        if second.usable and not first.usable:
            first, second = second, first
        kept[index] = replace(first, also=(*first.also, second.wrapper, *second.also))
    return kept


def recognise(text: str) -> tuple[str, str]:
    """Name and version of the library whose MPI_Get_library_version is `text`.

    A library that is not known is called by the first words of it, and has no version.
    """
    for name, pattern in _NAMES:
        if match := re.search(pattern, text):
            return name, match[1]
    words = re.split(r"[,\n]", text.strip(), maxsplit=1)[0].strip()
    return words[:60] or "unnamed", ""


def _same(first: Library, second: Library) -> bool:
    return bool(first.file) and Path(first.file).resolve() == Path(second.file).resolve()


# Wrappers of C compilers: everybody's, Debian's for each library, and Intel's for each compiler.
_WRAPPERS = ("mpicc", "mpicc.*", "mpicc-*", "mpiicx", "mpiicc", "mpigcc")
# Python packages; impi-devel is Intel's, with the wrappers; the others are whole.
_PACKAGES = ("openmpi", "mpich", "impi-devel")
# Both kinds of environment modules set these in every shell that has the module command.
_MODULE_COMMANDS = ("LMOD_CMD", "MODULES_CMD")
_MODULE = re.compile(
    r"(?:^|/)(?:(?:intel|oneapi|cray|ibm|hpe|bullx|platform)[-_]?)*"
    r"(?:openmpi|ompi|mpich|mvapich|impi|mpi|hpcx|mpt|spectrum-?mpi|psmpi|parastationmpi)"
    r"\d*(?![a-z0-9])",
    re.IGNORECASE,
)
# The module's own code runs in a shell, which then writes what has become of the environment.
_LOAD = 'code=$("$0" bash load "$1") && eval "$code" && exec env -0'
_LIMIT, _MODULE_LIMIT = 10.0, 30.0


@dataclass(frozen=True)
class Candidate:
    """A wrapper and how it was found, or a place that should have one and does not."""

    origin: str
    """How it was found, such as ``PATH`` or ``module openmpi/4.1``."""
    wrapper: Path | None
    """Compiler wrapper; None when there is none."""
    missing: str = ""
    """Why there is no wrapper, or ""."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """Whole environment that its programs need."""


def find(
    prefixes: Sequence[Path] = (),
    *,
    environment: Mapping[str, str] | None = None,
    run: Run = run_process,
) -> list[Candidate]:
    """Candidates in the order of their claim: named, on PATH, Debian's, Python's, modules'.

    Args:
        prefixes: folders that hold ``bin/mpicc``, folders that hold ``mpicc``, or wrappers.
        environment: in which to look and compile; None for this process's own.
        run: runs programs.

    Raises:
        UsageError: when a prefix does not exist.
    """
    environment = dict(os.environ if environment is None else environment)
    candidates = [
        *(named for prefix in prefixes for named in _in_prefix(prefix, environment)),
        *_wrappers("PATH", search_path(environment), environment),
        *_alternatives(environment, run),
        *packaged(environment),
        *_from_modules(environment, run),
    ]
    return list(_each_once(candidates))


def wrappers_in(folder: Path) -> list[Path]:
    """The compiler wrappers in a folder, general names first; two names of one file count once."""
    by_file: dict[Path, Path] = {}
    for pattern in _WRAPPERS:
        for path in sorted(_matches(folder, pattern)):
            by_file.setdefault(command_file(path), path)
    return list(by_file.values())


def command_file(path: Path) -> Path:
    """What a command is in the end, when links between commands are followed.

    The last link is kept where several commands share one program that goes by its own name, as
    Open MPI's wrappers do.
    """
    while path.is_symlink():
        target = path.parent / path.readlink()
        if target.name.endswith("_wrapper"):
            break
        path = target
    return path.parent.resolve() / path.name


def link_names(path: Path) -> Iterator[Path]:
    """A command and the commands that it is a link to, one after the other."""
    yield path
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield path


def search_path(environment: Mapping[str, str]) -> list[Path]:
    """The folders in which the shell looks for commands; missing ones left out."""
    folders = map(Path, environment.get("PATH", os.defpath).split(os.pathsep))
    return [folder for folder in folders if folder.is_absolute() and folder.is_dir()]


def is_program(path: Path) -> bool:
    """Whether this can be started."""
    return path.is_file() and os.access(path, os.X_OK)


def _in_prefix(prefix: Path, environment: Mapping[str, str]) -> list[Candidate]:
    if not prefix.exists():
        raise UsageError(f"{prefix}: no such folder or program")
    origin = f"--mpi {prefix}"
    path = Path(os.path.abspath(prefix))
    if path.is_file():
        return [Candidate(origin, path, environment=environment)]
    candidates = _wrappers(origin, [path / "bin", path], environment)
    return candidates or [Candidate(origin, None, "it has no compiler wrapper", environment)]


def _wrappers(
    origin: str, folders: Iterable[Path], environment: Mapping[str, str]
) -> list[Candidate]:
    return [
        Candidate(origin, wrapper, environment=environment)
        for folder in folders
        for wrapper in wrappers_in(folder)
    ]


def _alternatives(environment: Mapping[str, str], run: Run) -> list[Candidate]:
    """What Debian's alternatives know; more than PATH only where that leaves out /usr/bin."""
    query = run(["update-alternatives", "--query", "mpi"], environment, _LIMIT)
    listed = map(Path, re.findall(r"^Alternative: (/.*)$", query.text, re.MULTILINE))
    return [
        Candidate("alternatives", path, environment=environment)
        for path in listed
        if is_program(path)
    ]


def _each_once(candidates: Iterable[Candidate]) -> Iterable[Candidate]:
    known: set[Path] = set()
    for candidate in candidates:
        if candidate.wrapper is not None:
            file = command_file(candidate.wrapper)
            if file in known:
                continue
            known.add(file)
        yield candidate


def _matches(folder: Path, pattern: str) -> list[Path]:
    try:
        return [path for path in folder.glob(pattern) if is_program(path)]
    except OSError:
        return []


def packaged(environment: Mapping[str, str]) -> list[Candidate]:
    """The wrappers of the MPI packages in the environment of this Python.

    Packages of different libraries put files of the same names into the same folder, so the one
    that was installed last wins; each needs an environment of its own.
    """
    return [
        Candidate(f"PyPI {package}", wrapper, environment=environment)
        for package in _PACKAGES
        for wrapper in _wrappers_of(package)
    ]


def _wrappers_of(package: str) -> list[Path]:
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        return []
    located = [Path(str(file.locate())) for file in files if file.name == "mpicc"]
    return [path.parent.resolve() / path.name for path in located if is_program(path)]


def _from_modules(environment: Mapping[str, str], run: Run) -> list[Candidate]:
    """The wrappers that each environment module of an MPI library adds to PATH."""
    command = _module_command(environment)
    if command is None:
        return []
    listing = run([command, "bash", "-t", "avail"], environment, _MODULE_LIMIT).all_text
    loaded = environment.get("LOADEDMODULES", "").split(":")
    # The wrappers of a loaded module are on PATH already.
    return [
        candidate
        for name in mpi_modules(listing)
        if name not in loaded
        for candidate in _brought_by(name, command, environment, run)
    ]


def mpi_modules(listing: str) -> list[str]:
    """Those of the modules that ``module -t avail`` lists which are named after an MPI library."""
    lines = (re.sub(r"\(.*\)$|@$", "", line.strip()) for line in listing.splitlines())
    # A line that ends in a colon names a folder of modules, one that ends in a slash a family.
    names = (line for line in lines if line and not line.endswith((":", "/")) and " " not in line)
    return list(dict.fromkeys(name for name in names if _MODULE.search(name)))


def _module_command(environment: Mapping[str, str]) -> str | None:
    for variable in _MODULE_COMMANDS:
        name = environment.get(variable)
        if name and (command := shutil.which(name)):
            return command
    return shutil.which("modulecmd", path=environment.get("PATH"))


def _brought_by(
    name: str, command: str, environment: Mapping[str, str], run: Run
) -> list[Candidate]:
    origin = f"module {name}"
    loaded = run(["bash", "-c", _LOAD, command, name], environment, _MODULE_LIMIT)
    changed = _environment(loaded.output) if loaded.status == 0 else {}
    if not changed:
        return [Candidate(origin, None, f"does not load: {loaded.why()}", environment)]
    usual = set(search_path(environment))
    added = [folder for folder in search_path(changed) if folder not in usual]
    wrappers: list[Path] = [wrapper for folder in added for wrapper in wrappers_in(folder)]
    if not wrappers:
        return [Candidate(origin, None, "brings no compiler wrapper", environment)]
    return [Candidate(origin, wrapper, environment=changed) for wrapper in wrappers]


def _environment(listing: bytes) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in listing.decode(errors="surrogateescape").split("\0"))
    return {name: value for name, equals, value in pairs if equals}
