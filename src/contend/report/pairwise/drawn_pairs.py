"""What pairs got over routes that hashes draw, beside simulated draws: tables."""

from __future__ import annotations

from collections.abc import Sequence

from contend.measurement import Distribution, DrawnAgreement
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import link_words, percent, percent_range
from contend.units import counted, format_rate

_RANGE = "95 % of simulations"


def drawn_tables(name: str, agreement: DrawnAgreement, wire: float | None) -> list[ResultTable]:
    """Effective bandwidth, and how often messages get γ, γ/2, ...: measured and simulated.

    Args:
        name: of the fabric.
        agreement: of what was measured with simulated draws.
        wire: bytes per second of a link, where that is known.
    """
    return [
        _effective(name, agreement, wire),
        _by_part("The slowest message of every pattern", agreement.slowest, agreement.simulations),
        _by_part("All messages", agreement.every, agreement.simulations),
    ]


def drawn_finding(agreements: Sequence[DrawnAgreement]) -> str:
    """How far the slowest messages are from those of simulated draws."""
    distance = max(agreement.slowest.distance for agreement in agreements)
    usual = all(agreement.slowest.usual for agreement in agreements)
    verdict = "no more than simulated draws do" if usual else "more than simulated draws do"
    return (
        "Over hashed routes the distributions of patterns' slowest messages, measured and "
        f"simulated, differ by {100 * distance:.1f} percentage points, {verdict}"
    )


def _effective(name: str, agreement: DrawnAgreement, wire: float | None) -> ResultTable:
    free = "what a message got that can share no channel"
    if wire is not None:
        free = link_words(agreement.gamma, wire, f"the link's {format_rate(wire)}")
    slowest = agreement.slowest
    likeness = "as near as" if slowest.usual else "further than"
    rows = (
        ("γ, an uncontended pair", format_rate(agreement.gamma), free),
        ("measured effective bisection bandwidth", percent(agreement.effective), "of γ"),
        (
            "simulated, the same patterns over other draws",
            percent(agreement.simulated),
            f"{_RANGE} {percent_range(*agreement.simulated_range)}",
        ),
        (
            "distance of the distributions of slowest messages",
            percent(slowest.distance),
            f"{likeness} 95 % of simulations, which are within {percent(slowest.usual_distance)}",
        ),
    )
    late = f", {agreement.late:,} left out because a rank started late" if agreement.late else ""
    return ResultTable(
        title=f"Bisect on {name}, measured against simulated draws",
        columns=("", "", "meaning"),
        rows=rows,
        numeric=frozenset({""}),
        note=(
            f"{counted(agreement.messages, 'message')} of "
            f"{counted(agreement.patterns, 'pattern')} in "
            f"{counted(agreement.launches, 'launch')}{late}. A hash of each connection chooses "
            "its cables, so that no pair has a prediction of its own."
        ),
    )


def _by_part(title: str, distribution: Distribution, simulations: int) -> ResultTable:
    return table_of(
        title,
        distribution.by_part,
        {
            "gets about": lambda part: "γ" if part.divisor == 1 else f"γ/{part.divisor}",
            "of γ": Number(lambda part: percent(1 / part.divisor)),
            "measured": "measured",
            "simulated": "simulated",
            _RANGE: Number(lambda part: percent_range(part.low, part.high)),
        },
        note=f"Shares of the messages; {simulations} simulations by max-min fair shares.",
    )
