"""Probes: compiled once for each library, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from contend.errors import MissingError, ShortfallError
from contend.mpi.candidate import Candidate
from contend.mpi.objects import Compiler, compile_units, run_compiler
from contend.mpi.process import Run

# Only MPI's C interface is used, so the retired one for C++, which needs a library of its own, is
# kept out. Wrappers call a C compiler, which does not link C++'s library by itself.
_FLAGS = ("-std=c++17", "-O2", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
_LIBRARIES = ("-lstdc++", "-lm", "-ldl")
_SMALLEST = "version"
# A probe may take another's parts, all but its main program.
_BORROWED = {"sort": "alltoall"}
_MAIN = "main.cpp"


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where compiled probes are kept: contend's folder under XDG_CACHE_HOME, or ~/.cache."""
    named = environment.get("XDG_CACHE_HOME", "")
    base = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
    return base / "contend" / "probes"


def probe_sources(name: str) -> dict[str, bytes]:
    """The sources of a probe that comes with contend, by their paths below the probes' folder.

    Those of the folders `common` and `compat` belong to every probe but `version`, which must
    compile even where nothing else does. `sort` has the schedules of `alltoall` too.
    """
    probes = files("contend") / "probes"
    folders = [name] if name == _SMALLEST else ["common", "compat", name]
    borrowed = _BORROWED.get(name, "")
    if borrowed:
        folders.append(borrowed)
    found = {
        f"{folder}/{source.name}": source.read_bytes()
        for folder in folders
        for source in (probes / folder).iterdir()
        if source.name.endswith((".cpp", ".hpp")) and (folder, source.name) != (borrowed, _MAIN)
    }
    return dict(sorted(found.items()))


def compile_probe(
    name: str, candidate: Candidate, library: str, run: Run, limit: float, *, anew: bool = False
) -> Path:
    """The probe as a program for a candidate's library; compiled unless the cache has it.

    Args:
        name: of the probe.
        candidate: its wrapper compiles.
        library: what the library says of its version, "" when it is not known yet; together with
            the command that the wrapper calls and the source the key in the cache.
        run: runs the compiler.
        limit: seconds that each unit may take.
        anew: compile even if the cache has it.

    Raises:
        ShortfallError: why it does not compile, in one line.
        MissingError: the cache folder cannot be written.
    """
    if candidate.wrapper is None:
        raise ShortfallError(candidate.missing)
    sources = probe_sources(name)
    command = _compiler_behind(candidate, run, limit)
    cache = cache_folder(candidate.environment)
    program = cache / f"{name}-{_key(sources, library, candidate, command)}"
    if program.exists() and not anew:
        return program
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent, prefix=".new-") as folder:
            flags = [str(candidate.wrapper), *_FLAGS]
            key = _key({}, library, candidate, command)
            compiler = Compiler(flags, candidate.environment, run, limit, key)
            made = _compile(name, sources, Path(folder), cache / "objects", compiler)
            # In one step, so that nobody ever runs half a program.
            made.replace(program)
    except OSError as error:
        raise MissingError(
            f"{program.parent}: {error.strerror}, so no probe can be kept there; "
            "XDG_CACHE_HOME names another folder"
        ) from error
    return program


def _compile(
    name: str, sources: Mapping[str, bytes], folder: Path, kept: Path, compiler: Compiler
) -> Path:
    made = folder / f"contend-{name}"
    for path, text in sources.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(text)
    units: list[Path] = [folder / path for path in sources if path.endswith(".cpp")]
    if len(units) > 1:
        units = compile_units(sources, folder, kept, compiler)
    words = [*map(str, units), "-o", str(made), *_LIBRARIES]
    run_compiler([*compiler.command, f"-I{folder}", *words], folder, compiler)
    if not made.is_file():
        raise ShortfallError("the wrapper says that it compiled a probe, but made none")
    return made


def _compiler_behind(candidate: Candidate, run: Run, limit: float) -> str:
    """The command that the wrapper would run; empty for wrappers that do not tell."""
    told = run([str(candidate.wrapper), "-show"], candidate.environment, limit)
    if told.status != 0:
        return ""
    command = told.text.strip()
    compiler = next(iter(_words(command)), "")
    path = candidate.environment.get("PATH", os.defpath)
    if compiler and shutil.which(compiler, path=path) is None:
        raise ShortfallError(f"the wrapper calls the compiler {compiler}, which is not installed")
    return command


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _key(sources: Mapping[str, bytes], library: str, candidate: Candidate, command: str) -> str:
    # Wrappers of one library under several names call the same compiler in the same way. The cache
    # may be shared by machines of different processors.
    words = (library, command or str(candidate.wrapper), os.uname().machine)
    texts = (part for path, text in sources.items() for part in (path.encode(), text))
    parts = (*texts, *(word.encode(errors="surrogateescape") for word in words))
    whole = b"".join(hashlib.sha256(part).digest() for part in parts)
    return hashlib.sha256(whole).hexdigest()[:24]
