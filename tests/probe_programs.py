"""Probes as programs: compiled with real MPI libraries and started by their launchers."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from contend.lab.measurement import compiled
from contend.lab.mpi import Library, launch_environment, select
from contend.lab.session import Observer
from processes import finished

SOURCES = Path(__file__).resolve().parents[1] / "src" / "contend"
PROBES, SCHEDULES = SOURCES / "probes", SOURCES / "schedules"
_FLAGS = ["-O1", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
_STANDARDS = {".cpp": "-std=c++17", ".c": "-std=gnu11"}
# doctest throws away what an expression gives when it only wants to see it throw.
_STRICT = [
    *("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"),
    "-DDOCTEST_CONFIG_VOID_CAST_EXPRESSIONS",
]


@dataclass(frozen=True)
class Mpi:
    """A library's wrapper and launcher."""

    name: str
    wrapper: str
    launcher: str

    def run(
        self,
        ranks: int,
        program: Path,
        *arguments: object,
        environment: Mapping[str, str] | None = None,
        within: Sequence[str] = (),
    ) -> Ended:
        """Runs a program on ranks; `within` is put before the whole command."""
        words = [str(program), *map(str, arguments)]
        return self.run_command([*within, self.launcher, "-n", str(ranks), *words], environment)

    def variables(self, folder: Path) -> dict[str, str]:
        """Variables that make programs load this library, where others of its name are there too.

        Args:
            folder: for what mpi4py needs for that, which chooses by what is beside it.
        """
        file = library(self.wrapper).file
        if self.name == "wheel":
            return {"LD_LIBRARY_PATH": str(Path(file).parent)}
        if self.name == "openmpi":
            return {"MPI4PY_LIBMPI": file}
        # It is MPICH's by another name.
        link = folder / "libmpi.so.12"
        link.unlink(missing_ok=True)
        link.symlink_to(file)
        return {"LD_LIBRARY_PATH": str(folder), "MPI4PY_MPIABI": "mpich"}

    def run_command(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> Ended:
        """Runs a whole command in an environment in which the launcher takes any rank."""
        ended = finished(command, env={**launch_environment(os.environ), **(environment or {})})
        return Ended(ended.returncode, ended.stdout, ended.stderr)


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    output: str
    errors: str

    def said(self) -> list[str]:
        """What the probe itself, and not its launcher, wrote to standard error."""
        return [line for line in self.errors.splitlines() if line.startswith("contend-")]


@cache
def library(wrapper: str) -> Library:
    """The library of a wrapper, examined once for all tests."""
    return select(wrapper)


def probe(mpi: Mpi, name: str) -> Path:
    """A probe as measurements have it, compiled by one of all processes of tests."""
    kept = Path(os.environ["XDG_CACHE_HOME"])
    with (kept / f"{mpi.name}-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return compiled(library(mpi.wrapper), name, Observer())


Build = Callable[..., Path]


def builder(sources: Path, folder: Path) -> Build:
    """`build(wrapper, source, *flags)` compiles a program or library of some sources once."""

    @cache
    def build(wrapper: str, source: str, *flags: str) -> Path:
        target = folder / str(len(list(folder.iterdir())))
        command = [wrapper, "-g", "-O1", "-w", *flags, str(sources / source)]
        subprocess.run([*command, "-o", str(target), "-lpthread"], check=True)
        return target

    return build


def compile_strictly(
    wrapper: str, sources: Sequence[Path], folder: Path, flags: Sequence[str] = ()
) -> list[Path]:
    """Objects of C and C++ sources, for which no warning is let pass.

    Each is compiled once for all processes of tests, as long as no source of probes changes.
    """
    kept = Path(os.environ["XDG_CACHE_HOME"]) / "objects"
    kept.mkdir(exist_ok=True)

    def make(source: Path) -> Path:
        compiling = [wrapper, _STANDARDS[source.suffix], *_FLAGS, *_STRICT, *flags]
        compiling += [f"-I{PROBES}", f"-I{SOURCES}", "-c", str(source)]
        key = _digest("\0".join(compiling).encode(), _state_of(wrapper))
        with (kept / f"{key}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (kept / f"{key}.o").exists():
                subprocess.run([*compiling, "-o", str(kept / f"{key}.new")], check=True)
                (kept / f"{key}.new").rename(kept / f"{key}.o")
        made = folder / f"{source.parent.name}-{source.stem}.o"
        made.unlink(missing_ok=True)
        made.symlink_to(kept / f"{key}.o")
        return made

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(make, sources))


@cache
def _state_of(wrapper: str) -> bytes:
    """What decides what an object is besides its command: the compiler, and every text."""
    shown = [
        subprocess.run([wrapper, word], capture_output=True) for word in ("-show", "--version")
    ]
    folders = (PROBES, SCHEDULES, Path(__file__).parent / "probes")
    suffixes = (".cpp", ".hpp", ".c", ".h")
    texts = [
        path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in suffixes
    ]
    return _digest(
        *(each.stdout for each in shown), *(path.read_bytes() for path in texts)
    ).encode()


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def link(wrapper: str, objects: Sequence[Path], program: Path) -> Path:
    """A program of objects."""
    libraries = ["-lstdc++", "-lm", "-ldl"]
    subprocess.run([wrapper, *map(str, objects), "-o", str(program), *libraries], check=True)
    return program
