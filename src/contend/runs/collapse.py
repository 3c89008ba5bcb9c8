"""Finds where the rate collapses: at which sizes, how far, and what avoids it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from contend.runs.schedule import Condition
from contend.runs.statistics import Estimate, ratio
from contend.runs.summary import CellSummary
from contend.runs.typical import time_against, typical_time

FALL = 2.0
"""The rate falls by this factor at least ..."""
PROVEN = 1.5
"""... and by this one at the unfavourable ends of both intervals."""
BEHIND = 4.0
"""Behind the best schedule by this factor, where the latency does not explain it."""
NEIGHBOURHOOD = 4
"""Sizes down to a quarter are neighbours."""
# Times that grow as size to this power are no longer those of latencies.
_GROWTH = 0.7
_SHORTEST = 1e-12


class Kind(StrEnum):
    """What a rate is low against."""

    FALLS = "falls"
    BEHIND = "behind"


@dataclass(frozen=True)
class Collapse:
    """Sizes that follow one another at which a schedule's rate has collapsed.

    Attributes:
        condition: under which condition.
        cells: the collapsed cells, by size.
        kind: whether the rate falls against smaller sizes, or is behind the best schedule.
        worst: the cell with the largest factor.
        factor: how many times lower its rate is than that of `reference`.
        reference: the neighbouring size, or the best schedule at the same size.
        avoided_by: the best schedule at the worst size that has not collapsed there, if it is
            faster by 1.5 or more; None when nothing that was measured avoids it.
        gain: how many times faster that one is.
    """

    condition: Condition
    cells: tuple[CellSummary, ...]
    kind: Kind
    worst: CellSummary
    factor: Estimate
    reference: CellSummary
    avoided_by: CellSummary | None
    gain: Estimate | None


@dataclass(frozen=True)
class _Found:
    cell: CellSummary
    kind: Kind
    factor: Estimate
    reference: CellSummary


def collapses(cells: Iterable[CellSummary]) -> tuple[Collapse, ...]:
    """All collapses of all schedules.

    A healthy rate rises with the size of messages and levels out: time is a latency plus a part in
    proportion to size, and a change of protocol costs it less than half. The rate is sent bytes
    over the typical time; that is the median or, where samples are of two kinds
    (`contend.runs.modes`) and the slow kind is more frequent than in what the cell is held
    against, the mean of both kinds' medians weighted by their shares, since the median would tell
    of one kind only. A cell has collapsed when either

    - it *falls*: against the best of the sizes from a quarter of its own on (or the next smaller
      one, where sizes are further apart) the rate is at most half. Larger sizes that follow have
      collapsed too until the rate is above half of that reference again; or
    - it is *behind*: another schedule at the same size is at least four times as fast, and the
      cell's time has grown from the next smaller size at least as size to the power 0.7, so that
      its own latency is no excuse. Schedules that by design send data several times may be behind
      without any congestion.

    Noise must not do it: between the unfavourable ends of both intervals a factor of 1.5 must be
    left, see `contend.runs.typical`. Cells with fewer than four samples are not judged, and
    neither are those whose data were wrong.
    """
    judged = [cell for cell in cells if cell.sent and cell.verified is not False]
    times = {cell.record.cell: typical_time(cell) for cell in judged}
    known = {number: time for number, time in times.items() if time is not None}
    judged = [cell for cell in judged if cell.record.cell in known]
    found: dict[int, _Found] = {}
    series = _series(judged)
    for members in series:
        _falls(members, known, found)
    for group in _at_one_size(judged):
        _behind(group, series, known, found)
    return tuple(
        _collapse(region, judged, known, found)
        for members in series
        for region in _regions(members, found)
    )


def _series(cells: Sequence[CellSummary]) -> list[list[CellSummary]]:
    """Cells of one schedule under one condition, by size."""
    groups: dict[tuple[str, Condition], list[CellSummary]] = {}
    for cell in cells:
        groups.setdefault((cell.schedule, cell.condition), []).append(cell)
    return [sorted(group, key=_size) for group in groups.values()]


def _at_one_size(cells: Sequence[CellSummary]) -> list[list[CellSummary]]:
    groups: dict[tuple[Condition, int], list[CellSummary]] = {}
    for cell in cells:
        groups.setdefault((cell.condition, _size(cell)), []).append(cell)
    return list(groups.values())


def _size(cell: CellSummary) -> int:
    return cell.record.bytes or 0


def _rate(cell: CellSummary, time: Estimate) -> Estimate:
    """Rate at a time whose both ends are there."""
    sent = cell.sent or 0
    ends = (time.value, time.high or 0.0, time.low or 0.0)
    return Estimate(*(sent / max(end, _SHORTEST) for end in ends))


def _falls(
    members: Sequence[CellSummary], times: Mapping[int, Estimate], found: dict[int, _Found]
) -> None:
    reference: CellSummary | None = None
    for place, cell in enumerate(members):
        one = None if reference is None else _low(Kind.FALLS, cell, reference, times)
        if one is None:
            smaller = members[:place]
            near = [other for other in smaller if NEIGHBOURHOOD * _size(other) >= _size(cell)]
            near = near or list(smaller[-1:])
            rates = [_rate(other, times[other.record.cell]).value for other in near]
            reference = near[rates.index(max(rates))] if near else None
            one = None if reference is None else _low(Kind.FALLS, cell, reference, times)
        if one is None:
            reference = None
        else:
            found[cell.record.cell] = one


def _behind(
    group: Sequence[CellSummary],
    series: Sequence[Sequence[CellSummary]],
    times: Mapping[int, Estimate],
    found: dict[int, _Found],
) -> None:
    best = min(group, key=lambda cell: times[cell.record.cell].value)
    before = {
        cell.record.cell: previous for members in series for previous, cell in pairwise(members)
    }
    for cell in group:
        previous = before.get(cell.record.cell)
        if cell.record.cell in found or previous is None:
            continue
        one = _low(Kind.BEHIND, cell, best, times)
        if one is None:
            continue
        grown = times[cell.record.cell].value / times[previous.record.cell].value
        if math.log(grown) >= _GROWTH * math.log(_size(cell) / _size(previous)):
            found[cell.record.cell] = one


def _low(
    kind: Kind, cell: CellSummary, reference: CellSummary, times: Mapping[int, Estimate]
) -> _Found | None:
    """The cell, if its rate is low enough against that of the reference."""
    time = time_against(cell, reference)
    if time is None or cell is reference:
        return None
    ours, theirs = _rate(cell, time), _rate(reference, times[reference.record.cell])
    least = FALL if kind == Kind.FALLS else BEHIND
    proven = (theirs.low or 0.0) >= PROVEN * (ours.high or math.inf)
    if theirs.value < least * ours.value or not proven:
        return None
    return _Found(cell, kind, ratio(theirs, ours), reference)


def _regions(members: Sequence[CellSummary], found: Mapping[int, _Found]) -> list[list[_Found]]:
    """Runs of collapsed sizes without a sound one between them."""
    regions: list[list[_Found]] = []
    inside = False
    for cell in members:
        one = found.get(cell.record.cell)
        if one is not None and inside:
            regions[-1].append(one)
        elif one is not None:
            regions.append([one])
        inside = one is not None
    return regions


def _collapse(
    region: Sequence[_Found],
    cells: Sequence[CellSummary],
    times: Mapping[int, Estimate],
    found: Mapping[int, _Found],
) -> Collapse:
    # A fall says more than being behind, which often follows from it.
    falls = [one for one in region if one.kind == Kind.FALLS]
    worst = max(falls or region, key=lambda one: one.factor.value)
    cell = worst.cell
    sound = [
        other
        for other in cells
        if other.condition == cell.condition
        and other.record.bytes == cell.record.bytes
        and other.record.cell not in found
    ]
    best = min(sound, key=lambda other: times[other.record.cell].value, default=None)
    gain = None
    if best is not None:
        gain = ratio(times[cell.record.cell], times[best.record.cell])
        if gain.value < PROVEN:
            best, gain = None, None
    return Collapse(
        condition=cell.condition,
        cells=tuple(one.cell for one in region),
        kind=worst.kind,
        worst=cell,
        factor=worst.factor,
        reference=worst.reference,
        avoided_by=best,
        gain=gain,
    )
