"""Libraries that are preloaded into the ranks of any command."""

from __future__ import annotations

import filecmp
import os
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from mmap import PROT_READ, mmap
from pathlib import Path

from contend.base.errors import MissingError
from contend.base.files import whole_file
from contend.base.process import run_process
from contend.lab.mpi.compilation import Preload, compile_preload
from contend.lab.mpi.search import Candidate
from contend.lab.mpi.selection import ASSIGNS, PRELOAD, library_of, select

_LIMIT = 60.0
# Where the loader, or a launcher, takes a list of libraries apart.
_APART = re.compile("[ :;]")
# Open MPI's launchers pass on to other hosts what this variable lists, and nothing else.
_LIST = "OMPI_MCA_mca_base_env_list"
# What libraries that are preloaded by contend export for each other.
_OWN = b"contend_library_behind"
# How programs that were compiled with -fsanitize=address are told what to check.
_SANITIZER, _UNORDERED = "ASAN_OPTIONS", "verify_asan_link_order=0"
# What srun passes on, where that is not everything.
_EXPORTED = "SLURM_EXPORT_ENV"


@dataclass(frozen=True)
class Preloaded:
    """A command whose ranks load a library first."""

    words: tuple[str, ...]
    """Command."""
    variables: Mapping[str, str]
    """What to set in its environment."""

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
    added[PRELOAD] = _with(environment.get(PRELOAD, ""), library)
    if _sanitized(words, environment):
        # Its runtime wants to be loaded first, and ends the program where it is not. Nothing here
        # takes a call of its away.
        own = environment.get(_SANITIZER, "")
        added[_SANITIZER] = f"{_UNORDERED}:{own}" if own else _UNORDERED
    names = list(added)
    words = _with_in_words(words, library)
    if "-x" in words:
        # Open MPI's launcher takes options or a list, but not both.
        at = words.index("-x")
        assigned = any(ASSIGNS.fullmatch(word) for word in words)
        passed = [name for name in names if not (assigned and name == PRELOAD)]
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


def _sanitized(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a command names a program that needs the runtime of the address sanitizer."""
    for word in dict.fromkeys(words):
        found = shutil.which(word, path=environment.get("PATH", os.defpath))
        with suppress(OSError, ValueError):
            if found is None:
                continue
            with Path(found).open("rb") as file, mmap(file.fileno(), 0, prot=PROT_READ) as whole:
                if whole[:4] == b"\x7fELF" and whole.find(b"libasan.so") >= 0:
                    return True
    return False


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
        if ASSIGNS.fullmatch(word):
            name, listed = word.split("=", 1)
            made[at] = f"{name}={_with(listed, library)}"
        elif before == PRELOAD and at > 1 and words[at - 2].lstrip("-") in ("genv", "env"):
            made[at] = _with(word, library)
    return made


def _is_own(library: str) -> bool:
    """Whether a file is a library that contend made."""
    try:
        return _OWN in Path(library).read_bytes()
    except OSError:
        return False
