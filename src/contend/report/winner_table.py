"""Which schedule wins at each size, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from contend.report.measured_words import UNKNOWN, condition_words, factor_words, size_words
from contend.report.result_table import ResultTable
from contend.runs import Basis, Contest
from contend.units import format_seconds

_COLUMNS = ("bytes", "fastest", "median", "next", "times slower", "p", "not told apart")
_NUMERIC = frozenset({"bytes", "median", "times slower", "p"})


def winner_tables(contests: Sequence[Contest]) -> list[ResultTable]:
    """A table for every condition; a row for every size."""
    groups: dict[object, list[Contest]] = {}
    for contest in contests:
        key = contest.winner.condition
        groups.setdefault(key, []).append(contest)
    return [
        ResultTable(
            f"Fastest schedule, {condition_words(group[0].winner.condition)}",
            _COLUMNS,
            tuple(_row(contest) for contest in group),
            _NUMERIC,
            _note(group),
        )
        for group in groups.values()
    ]


def _row(contest: Contest) -> tuple[str, ...]:
    rival = contest.rivals[0]
    level = [one.cell.schedule for one in contest.level]
    return (
        size_words(contest.bytes),
        contest.winner.schedule,
        format_seconds(contest.winner.median.value),
        rival.cell.schedule,
        factor_words(rival.factor),
        _probability(rival.p),
        ", ".join(level) if level else UNKNOWN,
    )


def _probability(p: float) -> str:
    return f"{p:.2f}" if p >= 0.01 else f"{p:.0e}"


def _note(contests: Sequence[Contest]) -> str:
    bases = {contest.basis for contest in contests}
    on = {
        Basis.LAUNCHES: "medians of launches",
        Basis.SAMPLES: "samples: another launch may decide otherwise",
    }
    where = on[bases.pop()] if len(bases) == 1 else "medians of launches where enough are there"
    return (
        "Ratios of medians; intervals are 95 % where they say nothing else. p: rank test of Mann "
        f"and Whitney, corrected for all pairs of a row, on {where}. Not told apart from the "
        "fastest: p of 0.05 or more, or a ratio that may be 1."
    )
