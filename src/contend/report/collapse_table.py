"""Collapses of the rate as a table."""

from __future__ import annotations

from collections.abc import Sequence

from contend.report.measured_words import (
    condition_words,
    factor_words,
    modes_words,
    rate_words,
    size_words,
)
from contend.report.result_table import ResultTable
from contend.runs import CellSummary, Collapse, Kind, typical_time

_COLUMNS = ("schedule", "bytes", "worst", "times lower", "than", "samples", "avoided by")
_NUMERIC = frozenset({"worst", "times lower"})


def collapse_tables(collapses: Sequence[Collapse]) -> list[ResultTable]:
    """One table with a row for every collapse; none where there is none."""
    if not collapses:
        return []
    several = len({found.condition for found in collapses}) > 1
    heads = (("condition",) if several else ()) + _COLUMNS
    rows = tuple(
        ((condition_words(found.condition),) if several else ()) + _row(found)
        for found in collapses
    )
    return [
        ResultTable(
            "Collapses of the rate",
            heads,
            rows,
            _NUMERIC,
            "The rate falls to less than half against smaller sizes, or slow samples, such as "
            "those with time-outs, take half of it.",
        )
    ]


def sizes_of(found: Collapse) -> str:
    """The sizes of a collapse: ``32 KiB to 128 KiB``."""
    sizes = [size_words(cell.record.bytes) for cell in found.cells]
    return sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def judged_rate(cell: CellSummary) -> float:
    """Bytes per second that a collapse is judged by."""
    time = typical_time(cell)
    return (cell.sent or 0) / time.value if time is not None and time.value > 0 else 0.0


def _row(found: Collapse) -> tuple[str, ...]:
    worst, reference = found.worst, found.reference
    than, rate = f"at {size_words(reference.record.bytes)}", judged_rate(reference)
    if found.kind == Kind.STALLS:
        than, rate = "its faster samples", found.factor.value * rate
    avoided = "nothing measured"
    if found.avoided_by is not None and found.gain is not None:
        avoided = f"{found.avoided_by.schedule}: {factor_words(found.gain)} times faster"
    return (
        worst.schedule,
        sizes_of(found),
        f"{rate_words(judged_rate(worst))} at {size_words(worst.record.bytes)}",
        factor_words(found.factor),
        f"{than} ({rate_words(rate)})",
        "one kind" if worst.modes is None else modes_words(worst.modes),
        avoided,
    )
