"""Predicted memory as tables, laid out and rounded as in Mistry et al. 2015, tables 2 and 4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from contend.measurement import NEAR, Fit, MemoryPrediction, VectorLength
from contend.report.measures import percent
from contend.report.result_table import ResultTable
from contend.study import published
from contend.units import format_bytes, round_half_up

# The paper's names, largest first; it counts in powers of 1024.
_UNITS = {"GB": 1 << 30, "MB": 1 << 20, "kB": 1 << 10, "B": 1}
_MOST_COLUMNS = 6
_BINARY = "GB, MB and kB are 1024³, 1024² and 1024 bytes here, as in the paper."
_UNEVEN = "≈ is a mean: p² does not divide n there, so blocks differ in length."
_NEAR = f"near is {percent(float(NEAR))} or more: the system, the program and MPI need memory too."
_ERR = "ERR is an error, for the poster one of memory."

_Row = tuple[str, ...]


def memory_tables(
    length: VectorLength, predictions: Sequence[MemoryPrediction], node_memory: int
) -> tuple[ResultTable, ...]:
    """One vector length on several numbers of nodes, a column each; a new table every six.

    Args:
        length: which vector length the predictions are for.
        predictions: one for each number of nodes, all different.
        node_memory: bytes.
    """
    parts = [
        predictions[start : start + _MOST_COLUMNS]
        for start in range(0, len(predictions), _MOST_COLUMNS)
    ]
    return tuple(_table(length, part, node_memory) for part in parts)


def whole_units(count: Fraction, unit: str) -> str:
    """Bytes in whole binary GB, MB or kB, rounded half up: ``41 MB`` for 40.5 · 1024² bytes.

    This gives every cell of the paper's tables. What would become 0 goes to the next smaller unit.
    """
    names = list(_UNITS)
    for name in names[names.index(unit) :]:
        if whole := round_half_up(count / _UNITS[name]):
            return f"{whole:,} {name}"
    return "< 1 B"


def _table(
    length: VectorLength, predictions: Sequence[MemoryPrediction], node_memory: int
) -> ResultTable:
    constant = "local" if length.per_node else "global"
    heads = tuple(f"{prediction.nodes:,}" for prediction in predictions)
    known = tuple(_published(length, predictions))
    notes = [_BINARY]
    if not all(prediction.divides for prediction in predictions):
        notes.append(_UNEVEN)
    if any(prediction.fit(node_memory) is Fit.NEAR for prediction in predictions):
        notes.append(_NEAR)
    if any("ERR" in row for row in known):
        notes.append(_ERR)
    return ResultTable(
        title=f"Constant {constant} memory for m = {length}: predicted memory usage for one array",
        columns=("Nodes N", *heads),
        rows=(*_arrays(length, predictions), *_fit(predictions, node_memory), *known),
        numeric=frozenset(heads),
        note=" ".join(notes),
    )


def _arrays(length: VectorLength, predictions: Sequence[MemoryPrediction]) -> Iterator[_Row]:
    """The rows that the paper has, in its order."""
    yield "Processes p", *(f"{p.processes:,}" for p in predictions)
    yield f"m = {length}", *(f"{p.doubles:,}" for p in predictions)
    yield "Length n", *(f"{p.numbers:,}" for p in predictions)
    yield "Global memory", *(whole_units(Fraction(p.global_bytes), "GB") for p in predictions)
    yield "Length l_n = n/p", *(_length(p.local_length) for p in predictions)
    yield "Local memory", *(whole_units(p.local_bytes, "MB") for p in predictions)
    yield "Length l_n/p", *(_length(p.block_length) for p in predictions)
    yield "Block memory", *(whole_units(p.block_bytes, "kB") for p in predictions)


def _fit(predictions: Sequence[MemoryPrediction], node_memory: int) -> Iterator[_Row]:
    yield "Both, on a node", *(format_bytes(p.node_bytes) for p in predictions)
    of = f"of {format_bytes(node_memory)}"
    yield of, *(percent(p.node_bytes / node_memory) for p in predictions)
    yield "fits", *(p.fit(node_memory).value for p in predictions)


def _published(length: VectorLength, predictions: Sequence[MemoryPrediction]) -> Iterator[_Row]:
    """A row of times for each source that knows any of these runs."""
    times = [published(length, prediction) for prediction in predictions]
    for source in ("paper", "poster"):
        if any(source in known for known in times):
            cells = (_seconds(known[source]) if source in known else "" for known in times)
            yield f"Time, {source}", *cells


def _length(length: Fraction) -> str:
    if length.denominator == 1:
        return f"{length.numerator:,}"
    whole, hundredths = divmod(round_half_up(100 * length), 100)
    return f"≈{whole:,}.{hundredths:02}" if whole or hundredths else "≈0"


def _seconds(seconds: float | None) -> str:
    return "ERR" if seconds is None else f"{seconds:.2f} s"
