"""What cells say of each other, and the judgement of one: which limits its evidence proves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from contend.base.schema import PythonOnly, Spread, told
from contend.base.units import counted, format_bytes, format_seconds, grouped, rounded
from contend.explanation.evidence import (
    A_TIME_OUT_S,
    AS_TIGHT,
    BEYOND_SCHEDULES,
    FALLEN,
    FULL_MEMORY,
    LATE_S,
    NEAR_MEMORY,
    NEIGHBOURS,
    REACHED,
    SIZES_APART,
    SPREAD,
    STALLED,
    TIME_OUT_S,
    Bound,
    Evidence,
    FailedEvidence,
    FastestRival,
    HotSpotEvidence,
    Limit,
    MeasuredEvidence,
    ProgramEvidence,
    PublishedEvidence,
)
from contend.lab.runs import IMPOSSIBLE


def compare(cells: Sequence[Evidence]) -> list[Evidence]:
    """Adds to every cell what those under the same condition say of it.

    That is the time of no bytes, the fastest other schedule, how far the rate falls against similar
    sizes (of published figures; runs have their own, finer finding), and how much longer a byte
    takes than where data are smaller.
    """
    known = [cell for cell in cells if isinstance(cell, MeasuredEvidence)]
    sized = [cell for cell in known if cell.measured_s is not None and cell.bytes]
    series = grouped(sized, lambda cell: (cell.condition, cell.schedule))
    alike = grouped(sized, lambda cell: (cell.condition, cell.bytes))
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


def _compared(
    cell: Evidence, series: Sequence[MeasuredEvidence], alike: Sequence[MeasuredEvidence]
) -> Evidence:
    if not isinstance(cell, MeasuredEvidence) or cell.measured_s is None or not cell.bytes:
        return cell
    overhead = _overhead(cell, series)
    return replace(
        cell,
        bounds=cell.bounds if overhead is None else (*cell.bounds, overhead),
        rival=_rival(cell, alike),
        fall=_fall(cell, series) if isinstance(cell, PublishedEvidence) else cell.fall,
        per_byte=_per_byte(cell, series),
    )


def _overhead(cell: MeasuredEvidence, series: Sequence[MeasuredEvidence]) -> Bound | None:
    """The time at which a line through the two smallest sizes meets no bytes.

    It goes through the unfavourable ends of their intervals: what noise could explain is not
    proven. Nothing of the series is faster. Beside rivals it would tell of their messages.
    """
    if isinstance(cell, HotSpotEvidence):
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


def _rival(cell: Evidence, alike: Sequence[MeasuredEvidence]) -> FastestRival | None:
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


NOT_ENOUGH = "the data alone do not explain that"


@dataclass(frozen=True)
class Reason:
    """A limit that is proven."""

    limit: Limit
    """Limit that is proven."""
    proof: PythonOnly[str]
    """What proves it, as a sentence without its full stop."""
    ratio: float | None = None
    """How many times its bound, or what it is compared with, the measurement takes; null for
    failures."""
    bound: PythonOnly[Bound | None] = None
    """Bound that it reaches; None where it is proven otherwise."""
    enough: PythonOnly[bool] = True
    """Whether what is known explains by itself that the cell failed."""

    @told
    def why(self) -> str:
        """The evidence."""
        if not self.enough:
            return f"{self.proof}; {NOT_ENOUGH} it failed"
        channels = () if self.bound is None else self.bound.channels
        if len(channels) < 2:
            return self.proof
        more = " and others" if len(channels) > 2 else ""
        return f"{self.proof}: {'; '.join(channels[:2])}{more}"


@dataclass(frozen=True)
class ComparedBound:
    """The least time that a limit allows, beside the measurement."""

    bound: Spread[Bound]
    """The bound."""
    ratio: float | None
    """How many times as long the measurement takes; null where there is none."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What limited a cell."""

    evidence: Spread[Evidence]
    """Evidence that it rests on."""
    limits: tuple[Reason, ...]
    """Limits that are proven, in the order of `Limit`; none: nothing is."""
    bounds: tuple[ComparedBound, ...]
    """Bounds, all that could be computed."""

    @property
    def proven(self) -> tuple[Limit, ...]:
        """The limits that are proven."""
        return tuple(reason.limit for reason in self.limits)


def _verdict(evidence: Evidence, limits: Iterable[Reason]) -> Verdict:
    ratios = ((bound, evidence.ratio(bound)) for bound in evidence.bounds)
    return Verdict(
        evidence=evidence,
        limits=tuple(limits),
        bounds=tuple(
            ComparedBound(bound, None if math.isnan(ratio) else ratio) for bound, ratio in ratios
        ),
    )


def judge(evidence: Evidence, *, network: bool = True) -> Verdict:
    """Says which limits a cell hit: one, several, or none that can be proven.

    Args:
        evidence: of the cell.
        network: whether bounds of port and fabric may prove anything.
    """
    reasons: dict[Limit, Reason] = {}
    if isinstance(evidence, ProgramEvidence):
        if evidence.hung:
            return _verdict(evidence, [Reason(Limit.HANG, evidence.hung)])
        if evidence.crashed:
            return _verdict(evidence, [Reason(Limit.CRASH, evidence.crashed)])
    for reason in (*_memory(evidence), *_time_outs(evidence), *_bounds(evidence)):
        if network or reason.limit not in (Limit.PORT, Limit.FABRIC):
            reasons.setdefault(reason.limit, reason)
    return _verdict(evidence, (reasons[limit] for limit in Limit if limit in reasons))


def _bounds(evidence: Evidence) -> Iterator[Reason]:
    """Bounds that the measurement comes near to."""
    if evidence.measured_s is None:
        return
    rival = evidence.rival if isinstance(evidence, MeasuredEvidence) else None
    fastest_s = math.inf if rival is None else rival.seconds
    for bound in evidence.possible:
        ratio = evidence.ratio(bound)
        # What another schedule beats by its buffers bounds no schedule here.
        holds = _is_tightest(evidence, bound) and fastest_s >= IMPOSSIBLE * bound.seconds
        if bound.limit in (Limit.PORT, Limit.FABRIC) and not holds:
            continue
        if ratio <= REACHED:
            why = f"{format_seconds(bound.seconds)} at least: {bound.of}"
            yield Reason(bound.limit, why, ratio, bound)
    if isinstance(evidence, HotSpotEvidence) and evidence.rise >= REACHED:
        rise = rounded(evidence.rise)
        why = f"rivals on its channel make it {rise} times slower than without them"
        yield Reason(Limit.FABRIC, why, evidence.rise, evidence.bound(Limit.FABRIC))


def _is_tightest(evidence: Evidence, bound: Bound) -> bool:
    """Whether a bound of the network is the larger one, or as good as that.

    A channel that carries one message of a port's rate holds up nothing that the port does not.
    """
    if bound.limit is Limit.FABRIC and bound.load < 2:
        port = evidence.bound(Limit.PORT)
        return port is None or bound.seconds > port.seconds
    return bound.seconds >= AS_TIGHT * evidence.network_s


_Proof: TypeAlias = tuple[str, float]
"""What proves that time-outs were lost, and how many times as long it takes because of them."""


def _time_outs(evidence: Evidence) -> Iterator[Reason]:
    """Time that is lost in pieces of a time-out."""
    if evidence.alone or evidence.measured_s is None:
        return
    drops = evidence.drops_by_place
    # Only where the network dropped less is it not to blame.
    in_hosts = drops is not None and 2 * drops.in_hosts > drops.total
    limit = Limit.HOST_QUEUES if in_hosts else Limit.TIME_OUTS
    dropped = f", and {evidence.dropped}" if evidence.drops else ""
    for proof in (_stalls, _stalled_calls, _losses, _published_time_outs):
        for why, ratio in proof(evidence):
            yield Reason(limit, f"{why}{dropped}", ratio)


def _stalls(evidence: Evidence) -> Iterator[_Proof]:
    """Two kinds of samples, a time-out apart.

    Where packets were dropped, or another schedule does the same work so much faster, the slower
    ones need only hold one: it began during the transfer.
    """
    modes = evidence.modes if isinstance(evidence, MeasuredEvidence) else None
    typical = evidence.typical_s
    if modes is None or typical is None:
        return
    lost = modes.slow_s - modes.fast_s
    rival = evidence.rival if isinstance(evidence, MeasuredEvidence) else None
    avoided = rival is not None and typical >= STALLED * rival.seconds
    holds = modes.slow_s if evidence.drops or avoided else lost
    if holds >= A_TIME_OUT_S and typical >= STALLED * modes.fast_s:
        why = (
            f"{100 * modes.slow_share:.0f} % of the samples take {format_seconds(modes.slow_s)}, "
            f"{format_seconds(lost)} longer than the others"
        )
        yield why, typical / modes.fast_s


def _stalled_calls(evidence: Evidence) -> Iterator[_Proof]:
    """Calls of a program that lost so much that it would be faster by far without them."""
    stalled = evidence.stalled if isinstance(evidence, ProgramEvidence) else None
    measured = evidence.measured_s
    if stalled is None or measured is None or measured <= REACHED * evidence.network_s:
        return
    ratio = measured / max(measured - stalled.lost_s, LATE_S)
    if ratio >= STALLED:
        why = (
            f"{counted(stalled.calls, 'call')} waited for a time-out, most at {stalled.place} and "
            "up to "
            f"{format_seconds(stalled.longest_s)} long: {format_seconds(stalled.lost_s)} of every "
            f"rank's time"
        )
        yield why, ratio


def _losses(evidence: Evidence) -> Iterator[_Proof]:
    """A time-out that nothing else explains, and what tells that it was one."""
    typical = evidence.typical_s
    rival = evidence.rival if isinstance(evidence, MeasuredEvidence) else None
    volume = evidence.volume if isinstance(evidence, MeasuredEvidence) else 1.0
    explained = max((bound.seconds for bound in evidence.possible), default=0.0)
    network = max(explained, volume * evidence.network_s)
    if typical is None or not _lost_against(explained, typical):
        return
    unexplained = _lost_against(network, typical)
    # Where packets were dropped a fall is none of blocks that are passed on.
    if isinstance(evidence, MeasuredEvidence) and (unexplained or evidence.drops):
        yield from _falls(evidence, typical)
    if not unexplained or not evidence.network_s:
        return
    if rival is not None and _lost_against(rival.seconds, typical):
        less = format_seconds(typical - rival.seconds)
        why = f"{rival.schedule} does the same work {less} faster"
        yield why, typical / rival.seconds
    if evidence.drops and typical > BEYOND_SCHEDULES * network:
        why = f"{format_seconds(typical - network)} are lost"
        yield why, typical / network


def _falls(evidence: MeasuredEvidence, typical: float) -> Iterator[_Proof]:
    """A rate that falls; one that falls as data fill the memory has another cause."""
    fall, memory = evidence.fall, evidence.memory
    if fall is None or fall < FALLEN or (memory is not None and memory.share >= FULL_MEMORY):
        return
    lost = typical - typical / fall
    if lost >= A_TIME_OUT_S:
        why = (
            f"the rate is {rounded(fall)} times lower than that of similar sizes, which loses "
            f"{format_seconds(lost)}"
        )
        yield why, fall


def _lost_against(seconds: float, typical: float) -> bool:
    """Whether a time-out is lost that makes a time at least so many times as long."""
    return typical - seconds >= A_TIME_OUT_S and typical >= REACHED * seconds


def _published_time_outs(evidence: Evidence) -> Iterator[_Proof]:
    """Time-outs that a mean with its deviation, or a fall of the rate, tells by itself.

    Time-outs that strike at random are a Poisson number q on average, q times 0.2 s long with a
    deviation of 0.2 s times the root of q.
    """
    measured, network = evidence.measured_s, evidence.network_s
    if not isinstance(evidence, PublishedEvidence) or measured is None:
        return
    if evidence.ranks is None and evidence.fall is not None and evidence.fall >= FALLEN:
        why = f"the rate is {rounded(evidence.fall)} times lower than that of similar sizes"
        yield why, evidence.fall
    if evidence.deviation_s is None or not network or measured <= REACHED * network:
        return
    random_s = TIME_OUT_S * math.sqrt((measured - network) / TIME_OUT_S)
    if evidence.deviation_s >= SPREAD * random_s:
        why = (
            f"times spread by {format_seconds(evidence.deviation_s)}, and time-outs of "
            f"{format_seconds(TIME_OUT_S)} that strike at random would spread them by "
            f"{format_seconds(random_s)}"
        )
        yield why, measured / network


def _memory(evidence: Evidence) -> Iterator[Reason]:
    """Data that do not fit, or are so large that the machine pages."""
    memory = evidence.memory
    if isinstance(evidence, FailedEvidence):
        if evidence.out_of_memory:
            yield Reason(Limit.MEMORY, evidence.failure)
        elif memory is not None and memory.share >= NEAR_MEMORY and not evidence.failure:
            enough = memory.share >= FULL_MEMORY
            yield Reason(Limit.MEMORY, str(memory), enough=enough)
        return
    if memory is None or memory.share < FULL_MEMORY or evidence.measured_s is None:
        return
    per_byte = evidence.per_byte if isinstance(evidence, MeasuredEvidence) else None
    if per_byte is not None and per_byte >= REACHED:
        why = f"{memory}, and a byte takes {rounded(per_byte)} times as long as with less data"
        yield Reason(Limit.MEMORY, why, per_byte)
    elif evidence.network_s and evidence.measured_s > REACHED * evidence.network_s:
        ratio = evidence.measured_s / evidence.network_s
        yield Reason(
            Limit.MEMORY,
            f"{memory}, and the network alone would be {rounded(ratio)} times faster",
            ratio,
        )
