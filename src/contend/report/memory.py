"""Predicted memory, laid out and rounded as in Mistry et al. 2015, tables 2 and 4, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated

import msgspec

from contend.measurement import NEAR, Fit, MemoryPrediction, VectorLength
from contend.report.document import Document
from contend.report.table import ResultTable
from contend.report.words import percent
from contend.studies import published
from contend.units import counted, format_bytes, round_half_up

# The paper's names, largest first; it counts in powers of 1024.
_UNITS = {"GB": 1 << 30, "MB": 1 << 20, "kB": 1 << 10, "B": 1}
_MOST_COLUMNS = 6
_BINARY = "GB, MB and kB are 1024³, 1024² and 1024 bytes here, as in the paper."
_UNEVEN = "≈ is a mean: p² does not divide n there, so blocks differ in length."
_NEAR = f"near is {percent(float(NEAR))} or more: the system, the program and MPI need memory too."
_ERR = "ERR is an error, for the poster one of memory."

_Row = tuple[str, ...]


def memory_document(
    study: str,
    studied: Sequence[tuple[VectorLength, Sequence[MemoryPrediction]]],
    node_memory: int,
) -> Document:
    """What sorts need, beside what was published for the same runs.

    Args:
        study: name of the plan.
        studied: lengths of vectors, each on several numbers of nodes.
        node_memory: bytes.
    """
    tables = [
        table
        for length, predictions in studied
        for table in memory_tables(length, predictions, node_memory)
    ]
    every = [prediction for _, predictions in studied for prediction in predictions]
    over = _of_fit(Fit.EXCEEDS, every, node_memory)
    near = _of_fit(Fit.NEAR, every, node_memory)
    fits = f"All arrays of {counted(len(every), 'run')} fit a node's {format_bytes(node_memory)}"
    record = memory_json(study, studied, node_memory)
    verdict = f"{'; '.join(filter(None, (over, near))) or fits}."
    return Document(
        verdict=verdict,
        tables=tables,
        record=msgspec.structs.replace(record, verdict=verdict),
        shortfall=over,
    )


def _of_fit(fit: Fit, predictions: Sequence[MemoryPrediction], memory: int) -> str:
    """Which runs come near the memory of a node, or need more; "" where none does."""
    cases = [case for case in predictions if case.fit(memory) is fit]
    if not cases:
        return ""
    ending = "s" if len(cases) == 1 else ""
    verb, how = (f"need{ending}", "more than") if fit is Fit.EXCEEDS else (f"come{ending}", "near")
    largest = max(cases, key=lambda case: case.node_bytes)
    return (
        f"{len(cases)} of {counted(len(predictions), 'run')} {verb} {how} a node's "
        f"{format_bytes(memory)}: up to {largest.node_bytes:,} bytes of arrays "
        f"({format_bytes(largest.node_bytes)}) for m = {largest.doubles:,} on "
        f"{counted(largest.nodes, 'node')}"
    )


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


class ArrayJson(msgspec.Struct, frozen=True, kw_only=True):
    """An array; a mean where blocks differ in length."""

    length: Annotated[int | float, "number of doubles or of vectors, as the paper counts them."]
    bytes: Annotated[int | float, "memory that it takes."]


class PublishedTimeJson(msgspec.Struct, frozen=True, kw_only=True):
    """A time that others published for the same run."""

    source: Annotated[str, "who published it."]
    status: Annotated[str, "``ok``, or ``err`` where the source has an error."]
    seconds: Annotated[float | None, "null for an error."]


class PredictionJson(msgspec.Struct, frozen=True, kw_only=True, rename={"global_": "global"}):
    """The memory of one sort."""

    vector_length: Annotated[str, "as it was asked for, such as ``512N``."]
    nodes: Annotated[int, "number of nodes."]
    processes_per_node: Annotated[int, "processes on every node."]
    processes: Annotated[int, "processes in all."]
    doubles: Annotated[int, "doubles in a vector."]
    divides: Annotated[bool, "whether p² divides n, so that all blocks have the same length."]
    global_: Annotated[ArrayJson, "all vectors."]
    local: Annotated[ArrayJson, "the vectors of one process."]
    block: Annotated[ArrayJson, "what one process sends to another."]
    node_arrays_bytes: Annotated[int, "both arrays of all processes of a node."]
    fit: Annotated[str, "``fits``, ``near`` or ``exceeds``, against the memory of a node."]
    published: Annotated[list[PublishedTimeJson], "times that others published for the same run."]


class MemoryJson(msgspec.Struct, frozen=True, kw_only=True):
    """Predicted memory of a study of sorts.

    Numbers are exact integers, but for means where `divides` is false: those are floating-point.
    """

    verdict: Annotated[str, "whether a node has that much, in words."] = ""
    study: Annotated[str, "name of the plan."]
    node_memory_bytes: Annotated[int, "memory of a node."]
    near_from_share: Annotated[
        float, "from this fraction of it on, arrays are near the memory of a node."
    ]
    predictions: Annotated[list[PredictionJson], "one for each vector length and number of nodes."]


def memory_json(
    study: str,
    studied: Sequence[tuple[VectorLength, Sequence[MemoryPrediction]]],
    node_memory: int,
) -> MemoryJson:
    """The result of ``contend study PLAN --predict --json``."""
    return MemoryJson(
        study=study,
        node_memory_bytes=node_memory,
        near_from_share=float(NEAR),
        predictions=[
            _prediction(length, prediction, node_memory)
            for length, predictions in studied
            for prediction in predictions
        ],
    )


def _prediction(
    length: VectorLength, prediction: MemoryPrediction, node_memory: int
) -> PredictionJson:
    return PredictionJson(
        vector_length=str(length),
        nodes=prediction.nodes,
        processes_per_node=prediction.processes_per_node,
        processes=prediction.processes,
        doubles=prediction.doubles,
        divides=prediction.divides,
        global_=ArrayJson(length=prediction.numbers, bytes=prediction.global_bytes),
        local=_array(prediction.local_length, prediction.local_bytes),
        block=_array(prediction.block_length, prediction.block_bytes),
        node_arrays_bytes=prediction.node_bytes,
        fit=prediction.fit(node_memory).name.lower(),
        published=[
            PublishedTimeJson(source=source, status="ok" if seconds else "err", seconds=seconds)
            for source, seconds in published(length, prediction).items()
        ],
    )


def _array(length: Fraction, size: Fraction) -> ArrayJson:
    return ArrayJson(length=_number(length), bytes=_number(size))


def _number(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
