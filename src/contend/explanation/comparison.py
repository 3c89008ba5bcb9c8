"""Evidence that cells give each other: other sizes of a schedule, other schedules of a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from contend.explanation.evidence import (
    Bound,
    Evidence,
    FastestRival,
)
from contend.explanation.limits import (
    NEIGHBOURS,
    SIZES_APART,
    Limit,
)
from contend.units import format_bytes, format_seconds, rounded


def compare(cells: Sequence[Evidence]) -> list[Evidence]:
    """Adds to every cell what those under the same condition say of it.

    That is the time of no bytes, the fastest other schedule, how far the rate falls against similar
    sizes (of published figures; runs have their own, finer finding), and how much longer a byte
    takes than where data are smaller.
    """
    series: dict[tuple[object, ...], list[Evidence]] = {}
    alike: dict[tuple[object, ...], list[Evidence]] = {}
    for cell in cells:
        if cell.measured_s is not None and cell.bytes:
            series.setdefault((cell.condition, cell.schedule), []).append(cell)
            alike.setdefault((cell.condition, cell.bytes), []).append(cell)
    for members in series.values():
        members.sort(key=lambda cell: cell.bytes or 0)
    return [
        _compared(
            cell,
            series.get((cell.condition, cell.schedule), []),
            alike.get((cell.condition, cell.bytes), []),
        )
        for cell in cells
    ]


def _compared(cell: Evidence, series: Sequence[Evidence], alike: Sequence[Evidence]) -> Evidence:
    if cell.measured_s is None or not cell.bytes:
        return cell
    overhead = _overhead(cell, series)
    return replace(
        cell,
        bounds=cell.bounds if overhead is None else (*cell.bounds, overhead),
        rival=_rival(cell, alike),
        fall=_fall(cell, series) if cell.published else cell.fall,
        per_byte=_per_byte(cell, series),
    )


def _overhead(cell: Evidence, series: Sequence[Evidence]) -> Bound | None:
    """The time at which a line through the two smallest sizes meets no bytes.

    It goes through the unfavourable ends of their intervals: what noise could explain is not
    proven. Nothing of the series is faster. Beside rivals it would tell of their messages.
    """
    if cell.rise is not None:
        return None
    first = series[0]
    second = next((s for s in series if _size(s) >= SIZES_APART * _size(first)), None)
    if second is None:
        return None
    low = first.measured_s if first.low_s is None else first.low_s
    high = second.measured_s if second.high_s is None else second.high_s
    assert low is not None
    assert high is not None
    apart = _size(second) - _size(first)
    seconds = (_size(second) * low - _size(first) * high) / apart
    seconds = min(seconds, *(s.measured_s for s in series if s.measured_s is not None))
    if seconds <= 0:
        return None
    limit = Limit.OVERHEAD if cell.crowded is None else Limit.PROCESSORS
    each = ""
    if cell.messages:
        each = f" ({format_seconds(seconds / cell.messages)} for each of {cell.messages})"
    sharing = ""
    if cell.crowded is not None:
        sharing = f", with {rounded(cell.crowded)} ranks on a processor"
    what = (
        f"what {cell.schedule} takes for empty messages{each}, by the line through "
        f"{format_bytes(_size(first))} and {format_bytes(_size(second))}{sharing}"
    )
    return Bound(limit, seconds, what)


def _rival(cell: Evidence, alike: Sequence[Evidence]) -> FastestRival | None:
    others = [
        (other.typical_s, other.schedule)
        for other in alike
        if other.schedule != cell.schedule and other.typical_s is not None
    ]
    if not others:
        return None
    seconds, schedule = min(others)
    return FastestRival(schedule, seconds)


def _fall(cell: Evidence, series: Sequence[Evidence]) -> float | None:
    """Against the best of sizes from a quarter to four times its own.

    A smaller one is held against by its rate, a larger one, which cannot be faster, by its time.
    """
    size = _size(cell)
    if not cell.measured_s:
        return None
    falls = [
        cell.measured_s / other.measured_s * min(_size(other), size) / size
        for other in series
        if other is not cell
        and other.measured_s
        and size / NEIGHBOURS <= _size(other) <= size * NEIGHBOURS
    ]
    return max(falls, default=None)


def _per_byte(cell: Evidence, series: Sequence[Evidence]) -> float | None:
    """Against the best of all smaller sizes."""
    smaller = [
        other.measured_s / _size(other)
        for other in series
        if other.measured_s and _size(other) < _size(cell)
    ]
    if not smaller or cell.measured_s is None:
        return None
    return cell.measured_s / _size(cell) / min(smaller)


def _size(cell: Evidence) -> int:
    return cell.bytes or 0
