"""What follows from runs, as tables and as JSON: winners, collapses, how runs compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from contend.report.document import filled
from contend.report.table import ResultTable
from contend.report.words import (
    UNKNOWN,
    condition_words,
    factor_words,
    kinds_words,
    modes_words,
    rate_words,
    shared_words,
    size_words,
)
from contend.runs import (
    ROUND_TRIPS,
    Basis,
    CellSummary,
    Collapse,
    Condition,
    Contest,
    Kind,
    typical_time,
)
from contend.units import format_seconds, rounded

_WINNER_COLUMNS = ("bytes", "fastest", "median", "runner-up", "times slower", "p", "tied with", "")
_WINNER_NUMERIC = frozenset({"bytes", "median", "times slower", "p"})


def winner_tables(contests: Sequence[Contest]) -> list[ResultTable]:
    """A table for every condition; a row for every size."""
    groups: dict[object, list[Contest]] = {}
    for contest in contests:
        key = contest.winner.condition
        groups.setdefault(key, []).append(contest)
    return [
        ResultTable(
            f"Fastest schedule, {condition_words(group[0].winner.condition)}",
            _WINNER_COLUMNS,
            tuple(_winner_row(contest) for contest in group),
            _WINNER_NUMERIC,
            _note(group),
        )
        for group in groups.values()
    ]


def _winner_row(contest: Contest) -> tuple[str, ...]:
    rival = contest.rivals[0]
    level = [rival.cell.schedule for rival in contest.level]
    return (
        size_words(contest.bytes),
        contest.winner.schedule,
        format_seconds(contest.winner.median.value),
        rival.cell.schedule,
        factor_words(rival.factor),
        _probability(rival.p),
        ", ".join(level) if level else UNKNOWN,
        _named_kinds([contest.winner, rival.cell]),
    )


def _named_kinds(cells: Sequence[CellSummary]) -> str:
    return "; ".join(f"{cell.schedule}: {words}" for cell in cells for words in kinds_words(cell))


def _probability(p: float) -> str:
    return f"{p:.2f}" if p >= 0.01 else f"{p:.0e}"


def _note(contests: Sequence[Contest]) -> str:
    bases = {contest.basis for contest in contests}
    on = {
        Basis.LAUNCHES: "a signed-rank test of the launches' medians",
        Basis.SAMPLES: "a rank test of the samples within each launch (another launch may decide "
        "otherwise)",
    }
    test = on[bases.pop()] if len(bases) == 1 else "a rank test, of launches where there are enough"
    return (
        "Ratios of medians, launch by launch; intervals are 95 % unless marked otherwise. p is "
        f"from {test}, corrected for all pairs of a row. In a tie p is 0.05 or more, or the ratio "
        "may be 1."
    )


_COLLAPSE_COLUMNS = ("schedule", "bytes", "worst", "times lower", "than", "samples", "avoided by")
_COLLAPSE_NUMERIC = frozenset({"worst", "times lower"})


def collapse_tables(collapses: Sequence[Collapse]) -> list[ResultTable]:
    """One table with a row for every collapse; none where there is none."""
    if not collapses:
        return []
    shared, rest = shared_words(collapse.condition for collapse in collapses)
    several = any(rest.values())
    heads = ("condition",) * several + _COLLAPSE_COLUMNS
    rows = tuple(
        (rest[collapse.condition],) * several + _collapse_row(collapse) for collapse in collapses
    )
    return [
        ResultTable(
            f"Collapses of the rate{shared}",
            heads,
            rows,
            _COLLAPSE_NUMERIC,
            "The rate falls below half of that at smaller sizes, a size takes twice as long as a "
            "larger one, or slow samples, such as those with time-outs, cost half of the rate.",
        )
    ]


def sizes_of(collapse: Collapse) -> str:
    """The sizes of a collapse: ``32 KiB to 128 KiB``."""
    sizes = [size_words(cell.record.bytes) for cell in collapse.cells]
    return sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def judged_rate(cell: CellSummary) -> float:
    """Bytes per second that a collapse is judged by."""
    time = typical_time(cell)
    return (cell.sent or 0) / time.value if time is not None and time.value > 0 else 0.0


def _collapse_row(collapse: Collapse) -> tuple[str, ...]:
    worst = collapse.worst
    rate = judged_rate(worst) * collapse.factor.value
    return (
        worst.schedule,
        sizes_of(collapse),
        f"{rate_words(judged_rate(worst))} at {size_words(worst.record.bytes)}",
        factor_words(collapse.factor),
        f"{than_words(collapse)} ({rate_words(rate)})",
        "one kind" if worst.modes is None else modes_words(worst.modes),
        avoided_words(collapse),
    )


def than_words(collapse: Collapse) -> str:
    """What a collapsed rate is lower than."""
    if collapse.kind == Kind.STALLS:
        return "its faster samples"
    size = collapse.reference.record.bytes
    larger = (size or 0) > (collapse.worst.record.bytes or 0)
    return f"in the time of {size_words(size)}" if larger else f"at {size_words(size)}"


def avoided_words(collapse: Collapse) -> str:
    """What avoids a collapse, and by how much."""
    if collapse.avoided_by is None or collapse.gain is None:
        return "nothing measured"
    return f"{collapse.avoided_by.schedule}: {factor_words(collapse.gain)} times faster"


def collapse_words(collapses: Sequence[Collapse]) -> str:
    """The worst collapse in one sentence: the rate that falls most against other sizes."""
    falls = [collapse for collapse in collapses if collapse.kind == Kind.FALLS] or collapses
    worst = max(falls, key=lambda collapse: collapse.factor.value)
    words = (
        f"{worst.worst.schedule} collapses by a factor of {rounded(worst.factor.value)} at "
        f"{size_words(worst.worst.record.bytes)}"
    )
    if worst.avoided_by is None:
        return words
    return f"{words}; {worst.avoided_by.schedule} does not"


def pingpong_finding(cells: Sequence[CellSummary]) -> str:
    """The least time of a message and the highest rate."""
    trips = [cell for cell in cells if cell.record.algorithm in ROUND_TRIPS]
    # What lay in buffers tells nothing of the network, unless nothing else was measured.
    sound = [cell for cell in cells if not cell.beyond_wire] or cells
    fastest = max(sound, key=lambda cell: (cell.record.bytes or 0) / cell.median.value)
    rate = (fastest.record.bytes or 0) / fastest.median.value
    at = size_words(fastest.record.bytes)
    most = f"at most {rate_words(rate)}, {fastest.schedule} at {at}"
    if not trips:
        return f"Messages: {most}"
    least = min(trips, key=lambda cell: cell.median.value)
    return f"A message takes {format_seconds(least.median.value)} or more; {most}"


Label = int | float | str | None


class MeasuredEstimateJson(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its interval."""

    value: Annotated[float, "the number."]
    ci95: Annotated[
        tuple[float, float] | None,
        "both ends of its 95 % interval; null where too little was measured for one.",
    ]
    interval: Annotated[
        tuple[float, float] | None,
        "both ends of the interval that there is; null where there is none.",
    ]
    coverage: Annotated[
        float | None, "how probable it is that the interval holds the true value; null without one."
    ]


class ConditionJson(msgspec.Struct, frozen=True, kw_only=True):
    """What cells have in common that are compared."""

    ranks: Annotated[int, "number of ranks."]
    hosts: Annotated[int, "number of hosts."]
    labels: Annotated[dict[str, Label], "everything else that the probe says about them."]


class RivalJson(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule that did not win."""

    schedule: Annotated[str, "its name."]
    times_slower: Annotated[MeasuredEstimateJson, "its median over that of the winner."]
    p: Annotated[float, "corrected probability of such a difference between equals."]
    beaten: Annotated[bool, "whether the winner is proven faster."]


class WinnerJson(ConditionJson, frozen=True, kw_only=True):
    """The fastest schedule at one size under one condition."""

    bytes: Annotated[int | None, "to each other rank; null where cells have no size."]
    schedule: Annotated[str, "the one with the smallest median."]
    median_s: Annotated[float, "its median in seconds."]
    test_on: Annotated[
        str, "whether the test compared ``launches`` (their medians) or ``samples``."
    ]
    rivals: Annotated[list[RivalJson], "all other schedules, the fastest first."]


class ReferenceJson(msgspec.Struct, frozen=True, kw_only=True):
    """What a collapse is compared with."""

    schedule: Annotated[str, "of the reference."]
    bytes: Annotated[int | None, "of the reference."]


class AvoidedJson(msgspec.Struct, frozen=True, kw_only=True):
    """What avoids a collapse."""

    schedule: Annotated[str, "the best one at the worst size that has not collapsed there."]
    times_faster: Annotated[MeasuredEstimateJson, "than the collapsed one."]


class CollapseJson(ConditionJson, frozen=True, kw_only=True):
    """Neighbouring sizes at which the rate of a schedule has collapsed."""

    schedule: Annotated[str, "its name."]
    kind: Annotated[
        str, "``falls`` against other sizes, or ``stalls``: slow samples take half of the rate."
    ]
    bytes: Annotated[list[int | None], "the collapsed sizes."]
    worst_bytes: Annotated[int | None, "the size with the largest factor."]
    factor: Annotated[
        MeasuredEstimateJson, "how many times lower the rate is there than that of the reference."
    ]
    against: Annotated[ReferenceJson, "the reference."]
    bimodal: Annotated[bool, "whether the samples there are of two kinds."]
    avoided_by: Annotated[AvoidedJson | None, "null where nothing that was measured avoids it."]


def winner_json(contest: Contest) -> WinnerJson:
    """A contest and its rivals."""
    return filled(
        WinnerJson,
        contest,
        **condition_keys(contest.condition),
        schedule=contest.winner.schedule,
        median_s=contest.winner.median.value,
        test_on=contest.basis,
        rivals=[
            filled(RivalJson, rival, schedule=rival.cell.schedule, times_slower=rival.factor)
            for rival in contest.rivals
        ],
    )


def collapse_json(collapse: Collapse) -> CollapseJson:
    """A collapse and what avoids it."""
    worst, better = collapse.worst, collapse.avoided_by
    return filled(
        CollapseJson,
        collapse,
        **condition_keys(collapse.condition),
        schedule=worst.schedule,
        bytes=[cell.record.bytes for cell in collapse.cells],
        worst_bytes=worst.record.bytes,
        against=filled(ReferenceJson, collapse.reference, collapse.reference.record),
        bimodal=worst.modes is not None,
        avoided_by=None
        if better is None
        else filled(AvoidedJson, better, times_faster=collapse.gain),
    )


def condition_keys(condition: Condition) -> dict[str, Any]:
    """The keys of a condition, for structs that extend `ConditionJson`."""
    labels = dict(condition.labels)
    return {"ranks": condition.ranks, "hosts": condition.hosts, "labels": labels}
