"""Measured bandwidths of pairs beside predicted ones, as tables."""

from __future__ import annotations

from contend.measurement import TOLERANCE, Agreement
from contend.report.measures import percent
from contend.report.result_table import ResultTable
from contend.units import counted, format_bandwidth

_WITHIN = f"within {TOLERANCE:.0%}".replace("%", " %")


def agreement_tables(name: str, found: Agreement, wire: float | None = None) -> list[ResultTable]:
    """Effective bandwidth measured and simulated, messages by π, and the models.

    Args:
        name: of the fabric.
        found: the comparison.
        wire: bytes per second of a link, where that is known.
    """
    return [_effective(name, found, wire), _by_congestion(found), _models(found)]


def _effective(name: str, found: Agreement, wire: float | None) -> ResultTable:
    low, high = found.effective_ci95
    simulated = found.models[0].effective
    free = "what a message alone on its channels got"
    if wire is not None:
        free = f"{percent(found.gamma / wire)} of the wire's {format_bandwidth(wire)}"
    rows = (
        ("γ, an uncontended pair", format_bandwidth(found.gamma), free),
        (
            "measured effective bisection bandwidth",
            percent(found.effective),
            f"of γ; 95 % interval {100 * low:.1f} to {percent(high)}",
        ),
        ("simulated, the same patterns", percent(simulated), "mean of 1/π"),
        (
            "difference",
            f"{100 * (found.effective - simulated):+.1f}",
            "points, measured less simulated",
        ),
    )
    messages = counted(found.messages, "message")
    left_out = f", {found.late:,} of late starts left out" if found.late else ""
    return ResultTable(
        title=f"Bisect on {name}, measured against simulated",
        columns=("", "", "meaning"),
        rows=rows,
        numeric=frozenset({""}),
        note=f"{messages} of {counted(found.patterns, 'pattern')}{left_out}",
    )


def _by_congestion(found: Agreement) -> ResultTable:
    return ResultTable(
        title="Messages by congestion",
        columns=("π", "messages", "γ/π", "measured median", "middle half", _WITHIN),
        rows=tuple(
            (
                str(one.congestion),
                f"{one.pairs:,}",
                percent(1 / one.congestion),
                percent(one.median),
                f"{100 * one.low:.1f} to {percent(one.high)}",
                percent(one.within),
            )
            for one in found.by_congestion
        ),
        numeric=frozenset({"π", "messages", "γ/π", "measured median", "middle half", _WITHIN}),
    )


def _models(found: Agreement) -> ResultTable:
    differ = "where they differ"
    apart = f"To {counted(found.apart, 'message')} the models give different parts."
    return ResultTable(
        title="Which model is nearer",
        columns=("model", "effective bandwidth", _WITHIN, "median error", differ, ""),
        rows=tuple(
            (
                model.name,
                percent(model.effective),
                percent(model.within),
                percent(model.error),
                "-" if model.error_apart is None else percent(model.error_apart),
                "nearest" if found.apart and model == found.nearest else "",
            )
            for model in found.models
        ),
        numeric=frozenset({"effective bandwidth", _WITHIN, "median error", differ}),
        note=apart if found.apart else "The models give every message the same part.",
    )
