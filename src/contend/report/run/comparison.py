"""Runs of several libraries side by side, and which pictures say something about runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contend.report.table import ResultTable
from contend.report.words import (
    factor_words,
    kinds_words,
    shared_words,
    size_words,
)
from contend.runs import (
    Pair,
    Run,
    compare,
    run_names,
)
from contend.units import format_seconds


@dataclass(frozen=True)
class ComparedRun:
    """A run beside the first one.

    Attributes:
        base: what the first is called.
        name: what this one is called.
        pairs: cells that both measured, at least one.
    """

    base: str
    name: str
    pairs: tuple[Pair, ...]


def compared(runs: Sequence[Run]) -> list[ComparedRun]:
    """Every run but the first that has a cell in common with the first."""
    names = run_names(runs)
    every = [
        ComparedRun(names[0], name, compare(runs[0], run))
        for name, run in zip(names[1:], runs[1:], strict=True)
    ]
    return [other for other in every if other.pairs]


def comparison_tables(runs: Sequence[Run]) -> list[ResultTable]:
    """A table for every run that has cells in common with the first."""
    return [_table(other.base, other.name, other.pairs) for other in compared(runs)]


def _table(base: str, other: str, pairs: Sequence[Pair]) -> ResultTable:
    shared, rest = shared_words(pair.base.condition for pair in pairs)
    several = any(rest.values())
    heads = ("schedule", "bytes", base, other, "ratio of times", "")
    rows = tuple(
        (
            *((rest[pair.base.condition],) if several else ()),
            pair.base.schedule,
            size_words(pair.base.record.bytes),
            format_seconds(pair.base.median.value),
            format_seconds(pair.other.median.value),
            factor_words(pair.factor),
            "; ".join([_verdict(pair), *_kinds(pair, base, other)]),
        )
        for pair in sorted(pairs, key=in_order)
    )
    numeric = frozenset({"bytes", base, other, "ratio of times"})
    note = (
        f"Medians; the ratio is {other} over {base}, below 1 where {other} is faster, with its "
        "95 % interval unless another is stated."
    )
    title = f"{other} compared with {base}{shared}"
    return ResultTable(title, ("condition",) * several + heads, rows, numeric, note)


def in_order(pair: Pair) -> tuple[int, int, str, int]:
    """Sorts pairs by ranks, hosts, schedule and size."""
    cell = pair.base.record
    return cell.ranks, cell.hosts, pair.base.schedule, cell.bytes or 0


def _kinds(pair: Pair, base: str, other: str) -> list[str]:
    named = ((base, pair.base), (other, pair.other))
    return [f"{name}: {words}" for name, cell in named for words in kinds_words(cell)]


def _verdict(pair: Pair) -> str:
    if pair.differs is None:
        return "too few samples"
    if not pair.differs:
        return "alike"
    return "slower" if pair.factor.value > 1 else "faster"


PICTURES_OF_PROBES = {
    "bisect": "pairs",
    "hotspot": "hotspot",
    "pingpong": "pingpong",
    "sort": "steps",
}
"""The picture that shows what a probe is for."""


def fitting_pictures(runs: Sequence[Run]) -> list[str]:
    """The pictures that say something about these runs, the most telling one first."""
    probes = {run.record.probe for run in runs if not run.samples.is_empty()}
    own = [picture for probe, picture in PICTURES_OF_PROBES.items() if probe in probes]
    sent = any(cell.sent for run in runs if run.record.probe != "bisect" for cell in run.summaries)
    return [
        *(["comparison"] if compared(runs) else []),
        *own,
        *(["rates"] if sent else []),
        *(["times"] if any(run.summaries for run in runs) else []),
    ]
