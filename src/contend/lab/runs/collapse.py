"""Finds where the rate collapses: at which sizes, how far, and what avoids it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from scipy.special import betaincinv, betaln

from contend.base.schema import PythonOnly, Spread
from contend.base.units import grouped
from contend.lab.runs.statistics import Estimate, Modes, range_coverage, ratio
from contend.lab.runs.summary import CellSummary, Condition

_FALL = 2.0
"""The rate falls by this factor at least ..."""
_PROVEN = 1.5
"""... and by this one at the unfavourable ends of both intervals."""
_NEIGHBOURHOOD = 4
"""Sizes from a quarter to four times a size are its neighbours."""
_SHORTEST = 1e-12
_FEWEST = 4
_SIGNIFICANCE = 0.01
# Every cell is a chance for a false alarm, and no neighbour has to be twice as fast.
_STALL_SIGNIFICANCE = 0.001
_LEAST_FAST_SHARE = 0.2


class Kind(StrEnum):
    """What shows that a rate is low."""

    FALLS = "falls"
    STALLS = "stalls"


@dataclass(frozen=True, kw_only=True)
class CollapseReference:
    """What a collapse is compared with."""

    schedule: str
    """Schedule of the reference."""
    bytes: int | None
    """Its size."""


@dataclass(frozen=True, kw_only=True)
class Avoidance:
    """What avoids a collapse."""

    schedule: str
    """The best one at the worst size that has not collapsed."""
    times_faster: Estimate
    """How many times faster it is than the collapsed one."""


@dataclass(frozen=True, kw_only=True)
class Collapse:
    """Neighbouring sizes at which the rate of a schedule has collapsed."""

    condition: Spread[Condition]
    """What its cells have in common."""
    schedule: str
    """Its name."""
    kind: Kind
    """Word ``falls`` against other sizes, or ``stalls``: slow samples take half of the rate."""
    bytes: list[int | None]
    """The collapsed sizes."""
    worst_bytes: int | None
    """Size with the largest factor."""
    factor: Estimate
    """How many times lower the rate is there than that of the reference."""
    against: CollapseReference
    """The reference."""
    bimodal: bool
    """Whether the samples at the worst size are of two kinds."""
    avoided_by: Avoidance | None
    """What is faster by 1.5 or more; null if nothing that was measured avoids it."""
    cells: PythonOnly[tuple[CellSummary, ...]]
    """Collapsed cells, by size."""
    worst: PythonOnly[CellSummary]
    """The cell with the largest factor."""
    reference: PythonOnly[CellSummary]
    """The neighbouring size; where samples stall the worst cell itself, whose faster kind of
    samples the factor refers to."""


@dataclass(frozen=True)
class _Low:
    """A cell whose rate has collapsed, and against what."""

    cell: CellSummary
    kind: Kind
    factor: Estimate
    reference: CellSummary


Times = Mapping[int, Estimate]
"""Typical time of every judged cell, by its number."""
LowCells = dict[int, _Low]
"""Collapsed cells by number."""


def collapses(
    cells: Iterable[CellSummary], *, compared: bool = True, crowded: bool = False
) -> tuple[Collapse, ...]:
    """All collapses of all schedules.

    A healthy rate rises with the size of messages and levels out: time is a latency plus a part in
    proportion to size, and a change of protocol costs it less than half. The rate is sent bytes
    over the typical time; that is the median or, where samples are of two kinds
    (`lab.runs.statistics.two_modes`) and the slow kind is more frequent than in what the cell
    is held against, the mean of both kinds' medians weighted by their shares, since the median
    would tell of one kind only. A cell has collapsed when either

    - it *falls*: against the best of the sizes from a quarter of its own on (or the next smaller
      one, where sizes are further apart) the rate is at most half. Larger sizes that follow have
      collapsed too until the rate is above half of that reference again. A reference never counts
      for more than ports and cables carry (`CellSummary.least_s`): what is faster went into
      buffers, such as a token bucket's burst, and not yet through the network. No size takes longer
      than a
      larger one: where it takes twice as long as the fastest of the sizes up to four times its own
      (or the next larger one), it has fallen likewise, and so have smaller ones that follow; or
    - it *stalls*: samples are of two kinds, a fifth at least of the fast one, and the slow kind,
      such as one with time-outs, makes the mean of both at least twice the fast kind's. Hiccups of
      the machine come with any size and any schedule, so slow samples must be more frequent than
      at the nearest smaller size that has not collapsed, or than in another schedule at the same
      size (Fisher's exact test, 0.1 %, divided by the number of these). A cell without either is
      not judged by this, and neither are cells whose ranks shared processors: there slow samples
      are those in which a rank waited for its turn.

    A schedule that merely suits a size badly has not collapsed, however far it is behind: winners
    tell that (`lab.runs.contests`).

    Noise must not do it: between the unfavourable ends of both intervals a factor of 1.5 must be
    left, see `typical_time`. Cells with fewer than four samples are not judged, and neither are
    those whose data were wrong.

    Args:
        cells: of one run, or of several under the same conditions.
        compared: whether schedules do the same work, so that one can avoid what another suffers.
        crowded: whether ranks shared processors.
    """
    sound = [cell for cell in cells if cell.sent and cell.verified is not False]
    known = {cell.record.cell: typical_time(cell) for cell in sound}
    times = {number: time for number, time in known.items() if time is not None}
    judged = [cell for cell in sound if cell.record.cell in times]
    rivals = grouped(judged if compared else (), lambda cell: (cell.condition, _size(cell)))
    low: LowCells = {}
    series = _series(judged)
    for members in series:
        _find_falls(members, times, low)
    for members in series if not crowded else ():
        _find_stalls(members, rivals, low)
    return tuple(
        _collapse(region, rivals, times, low)
        for members in series
        for region in _regions(members, low)
    )


def typical_time(cell: CellSummary) -> Estimate | None:
    """The median or, where samples are of two kinds, the mean of both by their shares.

    A median tells of one kind only: with a time-out in every third sample it stays what it was.

    Returns:
        Seconds with both ends of an interval: the median's, or what the interval of the slow kind's
        share leaves (Clopper and Pearson); None where there are too few samples.
    """
    return _mixed_time(cell.two_kinds) if cell.two_kinds is not None else _median_time(cell)


def _series(cells: Sequence[CellSummary]) -> list[list[CellSummary]]:
    """Cells of one schedule under one condition, by size."""
    groups = grouped(cells, lambda cell: (cell.schedule, cell.condition))
    return [sorted(group, key=_size) for group in groups.values()]


def _size(cell: CellSummary) -> int:
    return cell.record.bytes or 0


def _rate(cell: CellSummary, time: Estimate) -> Estimate:
    """Rate at a time whose both ends are there."""
    sent = cell.sent or 0
    ends = (time.value, time.high or 0.0, time.low or 0.0)
    value, low, high = (sent / max(end, _SHORTEST) for end in ends)
    return Estimate(value, low, high, time.promised)


def _reference_time(cell: CellSummary, times: Times) -> Estimate:
    """The time that others are held against: not less than ports and cables allow."""
    time, least = times[cell.record.cell], cell.least_s
    low, high = (max(least, end or 0.0) for end in (time.low, time.high))
    return Estimate(max(least, time.value), low, high, time.promised)


def _find_falls(members: Sequence[CellSummary], times: Times, low: LowCells) -> None:
    """Adds the cells of a series whose rate falls against smaller sizes, or time against larger."""

    def rate(other: CellSummary) -> float:
        return _rate(other, _reference_time(other, times)).value

    def brevity(other: CellSummary) -> float:
        return -_reference_time(other, times).value

    for ordered, merit in ((members, rate), (members[::-1], brevity)):
        reference: CellSummary | None = None
        for index, cell in enumerate(ordered):
            fallen = None if reference is None else _fallen(cell, reference, times)
            if fallen is None:
                passed = ordered[:index]
                near = [other for other in passed if _are_neighbours(cell, other)]
                reference = max(near or passed[-1:], key=merit, default=None)
                fallen = None if reference is None else _fallen(cell, reference, times)
            if fallen is None:
                reference = None
            else:
                low.setdefault(cell.record.cell, fallen)


def _are_neighbours(one: CellSummary, other: CellSummary) -> bool:
    small, large = sorted((_size(one), _size(other)))
    return _NEIGHBOURHOOD * small >= large


def _fallen(cell: CellSummary, reference: CellSummary, times: Times) -> _Low | None:
    """The cell, if its rate is low enough against that of the reference.

    Of a larger size that is the rate at which the cell would take as long as it.
    """
    time = _time_against(cell, reference)
    if time is None:
        return None
    ours = _rate(cell, time)
    larger = _size(reference) > _size(cell)
    theirs = _rate(cell if larger else reference, _reference_time(reference, times))
    proven = (theirs.low or 0.0) >= _PROVEN * (ours.high or math.inf)
    if theirs.value < _FALL * ours.value or not proven:
        return None
    return _Low(cell, Kind.FALLS, ratio(theirs, ours), reference)


def _find_stalls(
    members: Sequence[CellSummary],
    rivals: Mapping[tuple[Condition, int], Sequence[CellSummary]],
    low: LowCells,
) -> None:
    """Adds the cells of a series that have a second kind of samples, of time-outs."""
    for index, cell in enumerate(members):
        if cell.record.cell in low or cell.two_kinds is None:
            continue
        if 1 - cell.two_kinds.slow_share < _LEAST_FAST_SHARE:
            continue
        mixed, fast = _mixed_time(cell.two_kinds), max(cell.two_kinds.fast_s, cell.least_s)
        if mixed.value < _FALL * fast or (mixed.low or 0.0) < _PROVEN * fast:
            continue
        others = [
            other for other in rivals.get((cell.condition, _size(cell)), ()) if other is not cell
        ]
        sound = [other for other in members[:index] if other.record.cell not in low]
        others += sound[-1:]
        if any(
            _more_slow(cell, cell.two_kinds, other) < _STALL_SIGNIFICANCE / len(others)
            for other in others
        ):
            factor = ratio(mixed, Estimate(fast, fast, fast))
            low[cell.record.cell] = _Low(cell, Kind.STALLS, factor, cell)


def _regions(members: Sequence[CellSummary], low: LowCells) -> list[list[_Low]]:
    """Collapsed sizes that follow one another without a sound one between them."""
    regions: list[list[_Low]] = []
    inside = False
    for cell in members:
        collapsed = low.get(cell.record.cell)
        if collapsed is not None and inside:
            regions[-1].append(collapsed)
        elif collapsed is not None:
            regions.append([collapsed])
        inside = collapsed is not None
    return regions


def _collapse(
    region: Sequence[_Low],
    rivals: Mapping[tuple[Condition, int], Sequence[CellSummary]],
    times: Times,
    low: LowCells,
) -> Collapse:
    # A fall says more than a stall, which often comes with it.
    falls = [member for member in region if member.kind == Kind.FALLS]
    worst = max(falls or region, key=lambda member: member.factor.value)
    cell = worst.cell
    sound = [
        other
        for other in rivals.get((cell.condition, _size(cell)), ())
        if other.record.cell not in low
    ]
    best = min(sound, key=lambda other: times[other.record.cell].value, default=None)
    avoided_by = None
    if best is not None:
        gain = ratio(times[cell.record.cell], times[best.record.cell])
        if gain.value >= _PROVEN:
            avoided_by = Avoidance(schedule=best.schedule, times_faster=gain)
    return Collapse(
        condition=cell.condition,
        schedule=cell.schedule,
        kind=worst.kind,
        bytes=[member.cell.record.bytes for member in region],
        worst_bytes=cell.record.bytes,
        factor=worst.factor,
        against=CollapseReference(
            schedule=worst.reference.schedule, bytes=worst.reference.record.bytes
        ),
        bimodal=cell.two_kinds is not None,
        avoided_by=avoided_by,
        cells=tuple(member.cell for member in region),
        worst=cell,
        reference=worst.reference,
    )


def _median_time(cell: CellSummary) -> Estimate | None:
    """The median with its interval, which with four or five samples is their range.

    None with fewer, or when it is not above zero.
    """
    if not cell.median.value > 0:
        return None
    if cell.median.low is not None:
        return cell.median
    used = cell.results
    if len(used) < _FEWEST:
        return None
    covered = range_coverage(len(used))
    return Estimate(cell.median.value, float(used.min()), float(used.max()), covered)


def _time_against(cell: CellSummary, reference: CellSummary) -> Estimate | None:
    """The time of a cell where it is held against another.

    Slow samples count only where they are more frequent than in the reference (Fisher's exact test,
    1 %): hiccups of the machine come with any size and any schedule.
    """
    modes = cell.two_kinds
    if modes is None or _more_slow(cell, modes, reference) >= _SIGNIFICANCE:
        return _median_time(cell)
    return typical_time(cell)


def _more_slow(cell: CellSummary, modes: Modes, reference: CellSummary) -> float:
    """Probability that a cell has so many more slow samples than a reference by chance.

    Slow are those as far above the reference's median as the middle of the cell's two kinds is
    above its faster kind.
    """
    factor = math.sqrt(modes.slow_s / modes.fast_s)
    ours = _slow_and_fast(cell, modes.fast_s * factor)
    theirs = _slow_and_fast(reference, reference.median.value * factor)
    return _more_frequent(ours, theirs)


def _slow_and_fast(cell: CellSummary, cut: float) -> tuple[int, int]:
    slow = int((cell.results > cut).sum())
    return slow, len(cell.results) - slow


def _more_frequent(ours: tuple[int, int], theirs: tuple[int, int]) -> float:
    """Probability that the first of equals has as many slow samples (Fisher's exact test)."""
    slow, count, others = ours[0] + theirs[0], sum(ours), sum(theirs)
    # Of all ways to choose which samples are slow, those in which as many are ours.
    possible = np.arange(max(ours[0], slow - others), min(slow, count) + 1)
    ways = _log_choose(count, possible) + _log_choose(others, slow - possible)
    return float(np.exp(ways - _log_choose(count + others, slow)).sum())


def _log_choose(of: int, count: Any) -> Any:
    """Logarithm of the binomial coefficient."""
    return -np.log1p(of) - betaln(of - count + 1, count + 1)


def _mixed_time(modes: Modes) -> Estimate:
    """Mean of two kinds, with the interval that the share of the slow one leaves."""
    slow, fast = modes.slow, modes.count - modes.slow
    shares = (
        modes.slow_share,
        float(betaincinv(slow, fast + 1, 0.025)),
        float(betaincinv(slow + 1, fast, 0.975)),
    )
    apart = modes.slow_s - modes.fast_s
    return Estimate(*(modes.fast_s + share * apart for share in shares))
