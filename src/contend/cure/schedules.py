"""Which schedule wins an all-to-all, learnt from what was measured, and the rules that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from filecmp import cmp
from itertools import groupby, pairwise
from math import isqrt
from pathlib import Path

from contend.base.errors import ContendError, UsageError
from contend.base.schema import PythonOnly, Seconds, Shown, Size, told
from contend.base.units import grouped, rounded
from contend.cure.rules import LIBRARY, Rule, Rules, write_rules
from contend.lab.mpi import select
from contend.lab.runs import (
    CellSummary,
    Contest,
    Estimate,
    Run,
    contests,
    find_runs,
    ratio,
    typical_time,
)
from contend.traffic.schedule import DIRECT, ROUTED, ROUTES, WIDTH

_PROBE = "alltoall"
# What the drop-in library does by values of its own.
_WIDTHS = {"batch": "batch", "in-flight": "in_flight"}
_BY_HOSTS = "ranks-per-node"


class Proof(StrEnum):
    """What proves a schedule faster than the library's call."""

    RANKS = "rank test"
    STALLS = "stalls"
    NONE = "nothing"


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What was learnt about one size under one condition."""

    ranks: int
    """Number of ranks of the all-to-all."""
    ranks_per_host: int
    """Number of them on one host, at most."""
    bytes: Size
    """Bytes of a block."""
    schedule: str
    """What calls are to go by: a schedule that is proven faster than the library's own choice, or
    ``library``."""
    library: PythonOnly[CellSummary]
    """Cell of the library's call."""
    fastest: PythonOnly[CellSummary]
    """Cell of the fastest schedule that the drop-in library has, or of the library."""
    gain: Estimate
    """Quotient of `library_s` and what `schedule` takes."""
    proof: Proof
    """What proves that: ``rank test``, ``stalls`` or ``nothing``."""
    p: float | None
    """Probability in the rank test; null if that is not the proof."""

    @told
    def library_s(self) -> Seconds:
        """Seconds of the library's call: median or, if some samples stall, mean of both kinds."""
        return typical(self.library).value

    @told
    def best(self) -> str:
        """The fastest schedule."""
        return self.fastest.record.algorithm

    @told
    def best_s(self) -> Seconds:
        """Seconds that it takes."""
        return typical(self.fastest).value

    @told
    def beyond_wire(self) -> bool:
        """Whether either is less than ports and cables allow, as blocks that go into buffers."""
        return self.library.beyond_wire or self.fastest.beyond_wire


@dataclass(frozen=True)
class Lessons(Shown, told="tuning_document"):
    """Rules and what they were learnt from."""

    cells: tuple[Lesson, ...]
    """What was learnt, by ranks, ranks per host and bytes."""
    learnt: PythonOnly[Rules]
    """What the drop-in library is to go by."""
    routes: PythonOnly[Path | None] = None
    """File of the routes that some of these go by; None where none do."""
    folder: str = ""
    """Where the rules are; "" if they were not written."""

    @told
    def mpi(self) -> str:
        """The library that was measured."""
        return self.learnt.mpi

    @told
    def rules(self) -> int:
        """Number of rules."""
        return len(self.learnt.rules)


def tune(
    runs: str | Path | Run | Sequence[str | Path | Run], *, output: str | Path | None = None
) -> Lessons:
    """Learns which all-to-all wins for which ranks and bytes, as ``contend tune`` does.

    Args:
        runs: of ``measure alltoall``, or folders that hold some, such as studies.
        output: folder of the rules for ``contend run --tuned``, which all hosts of a job must see;
            None writes none.

    Returns:
        What was learnt of every size, and the rules that follow.

    Raises:
        UsageError: no such run is there, or for what `learn` refuses.
        InputError: a run is damaged.
    """
    sources = [runs] if isinstance(runs, str | Path | Run) else runs
    loaded = [run for source in sources for run in _loaded(source)]
    lessons = learn(loaded)
    if output is None:
        return lessons
    write_rules(lessons.learnt, Path(output), _library_file(loaded), lessons.routes)
    return replace(lessons, folder=str(Path(output)))


def _loaded(source: str | Path | Run) -> list[Run]:
    if isinstance(source, Run):
        return [source]
    return [Run.load(folder) for folder in find_runs(Path(source))]


def _library_file(runs: Sequence[Run]) -> Path | None:
    """The shared file of the library that was measured; None where it is not on this machine.

    No program that a run names is tried: this machine's own search finds the library.
    """
    measured = runs[0].record.library
    try:
        return Path(select(measured.spec, by_name=True).file)
    except ContendError:
        return None


def learn(runs: Sequence[Run]) -> Lessons:
    """The rules that follow from runs of ``measure alltoall``; a later run has the last word.

    Of a run that has both, samples that started behind a barrier count, not those by the clock.

    A schedule is taken where it has the smallest median of all that the drop-in library carries and
    is proven faster than the library's call, as `lab.runs.contests` proves it. A median tells
    of one kind of samples only, and a program pays for all: where some samples of the library's
    call stall, a schedule is taken too that does not stall and whose typical time is the least, if
    the interval of the ratio lies above 1 (see `lab.runs.typical_time`). Schedules that know
    the routes count where the run's folder has these.

    Raises:
        UsageError: runs of something else, of several MPI libraries, without the library's call
            beside another schedule, or on several fabrics whose routes rules would go by.
    """
    measured = [run for run in runs if run.record.probe == _PROBE]
    if not measured:
        raise UsageError("no run of contend measure alltoall is among these")
    libraries = {run.record.library.title: None for run in measured}
    if len(libraries) > 1:
        raise UsageError(
            f"rules are for one MPI library, and these runs are of {', '.join(libraries)}"
        )
    lessons: dict[tuple[int, int, int], Lesson] = {}
    learnt_from: dict[tuple[int, int, int], Run] = {}
    for run in sorted(measured, key=lambda run: run.record.created):
        # What started behind a barrier has the last word, as it is the more like a program's call.
        for contest in sorted(contests(_fitting(run)), key=_behind_barrier):
            lesson = _lesson(contest)
            if lesson is not None:
                key = lesson.ranks, lesson.ranks_per_host, lesson.bytes
                lessons[key], learnt_from[key] = lesson, run
    if not lessons:
        raise UsageError(
            "these runs lack the library's call or another schedule to compare it with: measure "
            "with --algorithm library,shift,shift-barrier,xor,linear"
        )
    ordered = tuple(lessons[key] for key in sorted(lessons))
    rules = Rules(_rules(ordered), mpi=next(iter(libraries)))
    routed = {
        run.folder: None for key, run in learnt_from.items() if lessons[key].schedule in ROUTED
    }
    return Lessons(ordered, rules, _routes_of(list(routed)))


def _routes_of(folders: Sequence[Path]) -> Path | None:
    """The routes that runs have in common; None for no runs."""
    files = [folder / ROUTES for folder in folders]
    for other in files[1:]:
        if not cmp(files[0], other, shallow=False):
            raise UsageError(
                "rules depend on the routes of one fabric, but these runs were on several: "
                f"{folders[0]}, {other.parent}"
            )
    return files[0] if files else None


def _fitting(run: Run) -> list[CellSummary]:
    """Cells of even blocks, of the library's call and of schedules as the drop-in has them."""
    knows_routes = (run.folder / ROUTES).is_file()
    return [
        cell
        for cell in run.summaries
        if _fits(cell) and (knows_routes or cell.record.algorithm not in ROUTED)
    ]


def _fits(cell: CellSummary) -> bool:
    record = cell.record
    if record.bytes is None or record.labels.get("counts", "even") != "even":
        return False
    direct = DIRECT.get(record.algorithm)
    if direct is None:
        return record.algorithm == LIBRARY
    if direct.option in _WIDTHS:
        return record.labels.get(_WIDTHS[direct.option], WIDTH) == WIDTH
    if direct.option == _BY_HOSTS:
        return record.labels.get("ranks_per_node") in (None, 0, _per_host(cell))
    return True


def _behind_barrier(contest: Contest) -> bool:
    return contest.winner.record.labels.get("start") == "barrier"


def _per_host(cell: CellSummary) -> int:
    return -(-cell.record.ranks // cell.record.hosts)


def _lesson(contest: Contest) -> Lesson | None:
    """None where the library's call was not measured."""
    cells = [contest.winner, *(rival.cell for rival in contest.rivals)]
    library = next((cell for cell in cells if cell.record.algorithm == LIBRARY), None)
    if library is None or contest.bytes is None:
        return None
    rival = next((each for each in contest.rivals if each.cell is library), None)
    if rival is not None and rival.beaten:
        best, proof = contest.winner, Proof.RANKS
    else:
        best = min(cells, key=lambda cell: typical(cell).value)
        gain = ratio(typical(library), typical(best))
        # Stalls of both would be compared by where their slow kinds happen to lie.
        only_one = library.two_kinds is not None and best.two_kinds is None
        stalls = only_one and gain.low is not None and gain.low > 1
        proof = Proof.STALLS if stalls else Proof.NONE
    proven = proof != Proof.NONE
    return Lesson(
        ranks=contest.condition.ranks,
        ranks_per_host=_per_host(library),
        bytes=contest.bytes,
        schedule=best.record.algorithm if proven else LIBRARY,
        library=library,
        fastest=best,
        gain=ratio(typical(library), typical(best)) if proven else Estimate(1.0),
        proof=proof,
        p=rival.p if rival is not None and proof == Proof.RANKS else None,
    )


def typical(cell: CellSummary) -> Estimate:
    """What a call takes: the median or, where some samples stall, the mean of both kinds."""
    return typical_time(cell) or cell.median


def _rules(lessons: Sequence[Lesson]) -> tuple[Rule, ...]:
    """Rules for all that lies nearest, as a ratio, to what was measured, and nothing beyond it."""
    rules = []
    for per_host in sorted({lesson.ranks_per_host for lesson in lessons}):
        alike = (lesson for lesson in lessons if lesson.ranks_per_host == per_host)
        groups = grouped(alike, lambda lesson: lesson.ranks)
        nearest = _nearest(sorted(groups))
        for ranks, near in zip(sorted(groups), nearest, strict=True):
            rules += _rules_of_sizes(near, per_host, groups[ranks])
    return tuple(rules)


def _rules_of_sizes(ranks: tuple[int, int], per_host: int, lessons: Sequence[Lesson]) -> list[Rule]:
    sizes = zip(_nearest([lesson.bytes for lesson in lessons]), lessons, strict=True)
    rules = []
    for schedule, group in groupby(sizes, key=lambda each: each[1].schedule):
        if schedule == LIBRARY:
            continue
        neighbours = list(group)
        gains = [lesson.gain.value for _, lesson in neighbours]
        rules.append(
            Rule(
                ranks=ranks,
                ranks_per_host=(per_host, per_host),
                bytes=(neighbours[0][0][0], neighbours[-1][0][1]),
                schedule=schedule,
                note=_note(gains, [lesson.bytes for _, lesson in neighbours]),
            )
        )
    return rules


def _note(gains: Sequence[float], sizes: Sequence[int]) -> str:
    low, high = min(gains), max(gains)
    times = f"{rounded(low)}" if low == high else f"{rounded(low)} to {rounded(high)}"
    measured = ", ".join(str(size) for size in sizes)
    return f"measured {times} times as fast as the library's own, at {measured} bytes"


def _nearest(values: Sequence[int]) -> list[tuple[int, int]]:
    """Of ascending numbers, the range in which each is the nearest as a ratio."""
    ends = [isqrt(low * high) for low, high in pairwise(values)]
    firsts = [values[0], *(end + 1 for end in ends)]
    return list(zip(firsts, [*ends, values[-1]], strict=True))
