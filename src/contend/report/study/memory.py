"""Predicted memory, laid out and rounded as in Mistry et al. 2015, tables 2 and 4."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from contend.base.units import counted, format_bytes, round_half_up
from contend.lab.measurement import NEAR, Fit, MemoryPrediction, VectorLength
from contend.lab.studies import published
from contend.report.document import Document
from contend.report.table import ResultTable
from contend.report.words import percent

if TYPE_CHECKING:
    from contend.lab.studies import PredictedMemory

# The paper's names, largest first; it counts in powers of 1024.
_UNITS = {"GB": 1 << 30, "MB": 1 << 20, "kB": 1 << 10, "B": 1}
_MOST_COLUMNS = 6
_BINARY = "GB, MB and kB are 1024³, 1024² and 1024 bytes here, as in the paper."
_UNEVEN = "≈ is a mean: p² does not divide n there, so blocks differ in length."
_NEAR = f"near is {percent(float(NEAR))} or more: the system, the program and MPI need memory too."
_ERR = "ERR is an error; the poster calls it one of memory."

_Row = tuple[str, ...]


def memory_document(predicted: PredictedMemory) -> Document:
    """What sorts need, beside what was published for the same runs."""
    memory = predicted.host_memory_bytes
    tables = [
        table
        for length, predictions in predicted.lengths
        for table in memory_tables(length, predictions, memory)
    ]
    every = [prediction for _, predictions in predicted.lengths for prediction in predictions]
    over = _of_fit(Fit.EXCEEDS, every, memory)
    near = _of_fit(Fit.NEAR, every, memory)
    fits = f"All arrays of {counted(len(every), 'run')} fit a host's {format_bytes(memory)}"
    verdict = f"{'; '.join(filter(None, (over, near))) or fits}."
    return Document(verdict=verdict, tables=tables, record=predicted, shortfall=over)


def _of_fit(fit: Fit, predictions: Sequence[MemoryPrediction], memory: int) -> str:
    """Which runs come near the memory of a host, or need more; "" where none does."""
    cases = [case for case in predictions if case.fit(memory) is fit]
    if not cases:
        return ""
    ending = "s" if len(cases) == 1 else ""
    verb, how = (f"need{ending}", "more than") if fit is Fit.EXCEEDS else (f"come{ending}", "near")
    largest = max(cases, key=lambda case: case.host_arrays_bytes)
    return (
        f"{len(cases)} of {counted(len(predictions), 'run')} {verb} {how} a host's "
        f"{format_bytes(memory)}: up to {largest.host_arrays_bytes:,} bytes of arrays "
        f"({format_bytes(largest.host_arrays_bytes)}) for m = {largest.length_in_doubles:,} on "
        f"{counted(largest.hosts, 'host')}"
    )


def memory_tables(
    length: VectorLength, predictions: Sequence[MemoryPrediction], host_memory: int
) -> tuple[ResultTable, ...]:
    """One vector length on several numbers of hosts, a column each; a new table every six.

    Args:
        length: which vector length the predictions are for.
        predictions: one for each number of hosts, all different.
        host_memory: bytes.
    """
    parts = [
        predictions[start : start + _MOST_COLUMNS]
        for start in range(0, len(predictions), _MOST_COLUMNS)
    ]
    return tuple(_table(length, part, host_memory) for part in parts)


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
    length: VectorLength, predictions: Sequence[MemoryPrediction], host_memory: int
) -> ResultTable:
    constant = "local" if length.per_host else "global"
    heads = tuple(f"{prediction.hosts:,}" for prediction in predictions)
    known = tuple(_published(length, predictions))
    notes = [_BINARY]
    if not all(prediction.divides for prediction in predictions):
        notes.append(_UNEVEN)
    if any(prediction.fit(host_memory) is Fit.NEAR for prediction in predictions):
        notes.append(_NEAR)
    if any("ERR" in row for row in known):
        notes.append(_ERR)
    return ResultTable(
        title=f"Constant {constant} memory for m = {length}: predicted memory usage for one array",
        columns=("Hosts N", *heads),
        rows=(*_arrays(length, predictions), *_fit(predictions, host_memory), *known),
        numeric=frozenset(heads),
        note=" ".join(notes),
    )


def _arrays(length: VectorLength, predictions: Sequence[MemoryPrediction]) -> Iterator[_Row]:
    """The rows that the paper has, in its order."""
    yield "Ranks p", *(f"{p.ranks:,}" for p in predictions)
    yield f"m = {length}", *(f"{p.length_in_doubles:,}" for p in predictions)
    yield "Length n", *(f"{p.vectors:,}" for p in predictions)
    yield "Global memory", *(whole_units(Fraction(p.global_bytes), "GB") for p in predictions)
    yield "Length l_n = n/p", *(_length(p.local_length) for p in predictions)
    yield "Local memory", *(whole_units(p.local_bytes, "MB") for p in predictions)
    yield "Length l_n/p", *(_length(p.block_length) for p in predictions)
    yield "Block memory", *(whole_units(p.block_bytes, "kB") for p in predictions)


def _fit(predictions: Sequence[MemoryPrediction], host_memory: int) -> Iterator[_Row]:
    yield "Both, on a host", *(format_bytes(p.host_arrays_bytes) for p in predictions)
    of = f"of {format_bytes(host_memory)}"
    yield of, *(percent(p.host_arrays_bytes / host_memory) for p in predictions)
    yield "fits", *(p.fit(host_memory).value for p in predictions)


def _published(length: VectorLength, predictions: Sequence[MemoryPrediction]) -> Iterator[_Row]:
    """A row of times for each source that knows any of these runs."""
    times = [published(length, prediction) for prediction in predictions]
    for source in ("paper", "poster"):
        if any(source in known for known in times):
            took = (known.get(source, math.nan) for known in times)
            yield (
                f"Time, {source}",
                *("ERR" if s is None else "" if math.isnan(s) else f"{s:.2f} s" for s in took),
            )


def _length(length: Fraction) -> str:
    if length.denominator == 1:
        return f"{length.numerator:,}"
    whole, hundredths = divmod(round_half_up(100 * length), 100)
    return f"≈{whole:,}.{hundredths:02}" if whole or hundredths else "≈0"
