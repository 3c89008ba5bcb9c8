"""Libraries that are preloaded into the ranks of any command: for which MPI library, and how."""

from __future__ import annotations

import filecmp
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from contend.errors import MissingError
from contend.files import whole_file
from contend.mpi.compilation import Preload, compile_preload
from contend.mpi.examination import examine_once, launchers
from contend.mpi.library import Library
from contend.mpi.search import Candidate, find, is_program
from contend.mpi.selection import select
from contend.process import Run, run_process

_LIMIT = 60.0
# What the dynamic loader lists of a program, as `name => path (address)`.
_LOADED = re.compile(r"^[ \t]*(\S+) => (/\S+) \(", re.MULTILINE)
_MPI = re.compile(r"^lib(?:mpi|mpich)[\w-]*\.so\b")
# Where words of a script's line end.
_SPLIT = re.compile(r"[\s\"'=;&|()<>`]+")
# Where the loader, or a launcher, takes a list of libraries apart.
_APART = re.compile("[ :;]")
_LAUNCHERS = ("mpirun", "mpiexec", "prterun", "srun", "orterun")
# Open MPI's launchers pass on to other hosts what this variable lists, and nothing else.
_LIST = "OMPI_MCA_mca_base_env_list"
# What libraries that are preloaded by contend export for each other.
_OWN = b"contend_library_behind"
# What srun passes on, where that is not everything.
_EXPORTED = "SLURM_EXPORT_ENV"
_PRELOAD = "LD_PRELOAD"
# What loses variables on the way to ranks, as scripts write it; scripts that are longer are no
# launch scripts.
_SCRIPT_BYTES = 1 << 20
_ASSIGNS = re.compile(rf"{_PRELOAD}=\S*")
_SETS_ANEW = re.compile(rf"(?<!\w){_PRELOAD}=(?!\S*\$\{{?{_PRELOAD}\b)")
_TAKES_AWAY = re.compile(
    rf"(?:\bunset\b.*|(?<!\S)-u ?|--unset[= ]|\bexport -n .*)\b({_PRELOAD}|CONTEND_[A-Z_]+)\b"
)
_EMPTIES = re.compile(r"\benv\s+(?:-\S+\s+)*(?:-i\b|-(?=\s)|--ignore-environment\b)")
_ELSEWHERE = re.compile(r"^\s*(?:exec\s+)?ssh\s")


@dataclass(frozen=True)
class Preloaded:
    """A command whose ranks load a library first.

    Attributes:
        words: the command.
        variables: what to set in its environment.
    """

    words: tuple[str, ...]
    variables: Mapping[str, str]

    def took(self) -> bool:
        """Whether a rank had the drop-in library, asked once when the command has ended."""
        folder = self.variables.get("CONTEND_TUNED_SIGN_IN", self.variables["CONTEND_TUNED"])
        word = Path(folder) / f"tuned-{self.variables['CONTEND_TUNED_RUN']}.met"
        met = word.is_file()
        word.unlink(missing_ok=True)
        return met


def record(
    words: Sequence[str], folder: Path, memory: int | None = None, mpi: str | None = None
) -> Preloaded:
    """A command whose ranks leave records in a folder, where the recorder lies too.

    Args:
        words: the command, such as ``mpirun -n 64 ./app``.
        folder: which all hosts see; it is made.
        memory: bytes that each rank may use; None for the recorder's own choice.
        mpi: the library that the program is for, as `select` takes it; None to find out.

    Raises:
        MissingError: when no library can be told, or it is not usable.
        ShortfallError: when the recorder does not compile for it.
    """
    recorder = _compiled(Preload.RECORDER, words, mpi)
    folder.mkdir(parents=True)
    recorder = _seen_by_all(recorder, folder, "recorder.so")
    variables = {"CONTEND_PROFILE": str(folder.absolute())}
    if memory is not None:
        variables["CONTEND_PROFILE_MEMORY"] = str(memory)
    return preloaded(words, recorder, variables, os.environ)


def carry(words: Sequence[str], rules: Path, mpi: str | None = None) -> Preloaded:
    """A command whose all-to-alls go by rules, where the drop-in library lies too.

    Args:
        words: the command, such as ``mpirun -n 64 ./app``.
        rules: their folder, which all hosts see.
        mpi: the library that the program is for, as `select` takes it; None to find out.

    Raises:
        MissingError: when no library can be told, or it is not usable.
        ShortfallError: when the drop-in library does not compile for it.
    """
    tuned = _compiled(Preload.TUNED, words, mpi)
    tuned = _seen_by_all(tuned, rules, tuned.name)
    # Ranks sign in where they all see the rules, several commands at a time.
    variables = {"CONTEND_TUNED": str(rules.absolute()), "CONTEND_TUNED_RUN": secrets.token_hex(8)}
    if not os.access(rules, os.W_OK):
        variables["CONTEND_TUNED_SIGN_IN"] = str(Path.cwd())
    return preloaded(words, tuned, variables, os.environ)


def _compiled(which: Preload, words: Sequence[str], mpi: str | None) -> Path:
    library = select(mpi, launched=True) if mpi else library_of(words)
    candidate = Candidate(library.origin, Path(library.wrapper), environment=library.environment)
    return compile_preload(which, candidate, library.reported, run_process, _LIMIT)


def _seen_by_all(library: Path, folder: Path, name: str) -> Path:
    """A copy of a library in a folder that all hosts see, where the loader takes it from there."""
    copy = folder.absolute() / name
    if _APART.search(str(copy)) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return library
    if copy.is_file() and filecmp.cmp(copy, library, shallow=False):
        return copy
    if not os.access(folder, os.W_OK):
        return library
    # In one step: other programs may have loaded the one that is there.
    with whole_file(copy) as file:
        file.write(library.read_bytes())
    return copy


def preloaded(
    words: Sequence[str],
    library: Path,
    variables: Mapping[str, str],
    environment: Mapping[str, str],
) -> Preloaded:
    """A command, started by whichever launcher, whose ranks load a library on every host.

    The launcher and what it runs on the way load it too, so it must be harmless there.

    Args:
        words: the command.
        library: to be preloaded: after what the user preloads, as wrappers of MPI's routines call
            on to it, and before other libraries of contend's.
        variables: that the library needs.
        environment: of the command so far.

    Raises:
        MissingError: the library's path cannot be told to the loader.
    """
    if _APART.search(str(library)):
        raise MissingError(
            f"{library}: the loader takes no library whose path has a space or a colon in it; "
            "set XDG_CACHE_HOME to another folder"
        )
    added = dict(variables)
    added[_PRELOAD] = _with(environment.get(_PRELOAD, ""), library)
    names = list(added)
    words = _with_in_words(words, library)
    if "-x" in words:
        # Open MPI's launcher takes options or a list, but not both.
        at = words.index("-x")
        assigned = any(_ASSIGNS.fullmatch(word) for word in words)
        passed = [name for name in names if not (assigned and name == _PRELOAD)]
        options = [word for name in passed for word in ("-x", name)]
        words = [*words[:at], *options, *words[at:]]
    else:
        listed = environment.get(_LIST, "")
        added[_LIST] = ";".join([*([listed] if listed else []), *names])
    exported = environment.get(_EXPORTED, "ALL")
    if exported != "ALL" and not exported.startswith("ALL,"):
        kept = [] if exported in ("NONE", "NIL") else [exported]
        added[_EXPORTED] = ",".join([*kept, *names])
    return Preloaded(tuple(words), added)


def _with(listed: str, library: Path) -> str:
    """What is preloaded, with a library after the user's own and before others of contend's."""
    already = [word for word in re.split("[ :]", listed) if word]
    at = next((index for index, word in enumerate(already) if _is_own(word)), len(already))
    return ":".join([*already[:at], str(library), *already[at:]])


def _with_in_words(words: Sequence[str], library: Path) -> list[str]:
    """A command that itself sets what its ranks preload, as `-x LD_PRELOAD=theirs.so` does."""
    made = list(words)
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if _ASSIGNS.fullmatch(word):
            name, listed = word.split("=", 1)
            made[at] = f"{name}={_with(listed, library)}"
        elif before == _PRELOAD and at > 1 and words[at - 2].lstrip("-") in ("genv", "env"):
            made[at] = _with(word, library)
    return made


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
                f"{where} sets {_PRELOAD} anew: let it set {_PRELOAD}=theirs.so:${_PRELOAD}, which "
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
    yield "the command", " ".join(word for word in words if not _ASSIGNS.fullmatch(word))
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


def _is_own(library: str) -> bool:
    """Whether a file is a library that contend made."""
    try:
        return _OWN in Path(library).read_bytes()
    except OSError:
        return False


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
        file = linked_library(program, environment, run)
        if file is not None:
            return _with_file(file, program, environment, run)
    for program in programs:
        if program.name.startswith(_LAUNCHERS):
            library = _with_launcher(program, environment, run)
            if library is not None:
                return library
    return None


def linked_library(program: Path, environment: Mapping[str, str], run: Run) -> Path | None:
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
