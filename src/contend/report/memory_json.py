"""Predicted memory as JSON: the keys that scripts rely on."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from contend.measurement import NEAR, MemoryPrediction, VectorLength
from contend.study import published


def memory_json(
    study: str,
    studied: Sequence[tuple[VectorLength, Sequence[MemoryPrediction]]],
    node_memory: int,
) -> dict[str, Any]:
    """The result of ``contend study PLAN --predict --json``.

    Numbers are exact integers, but for means where `divides` is false: those are floating-point.
    """
    return {
        "study": study,
        "node_memory_bytes": node_memory,
        "near_from_share": float(NEAR),
        "predictions": [
            _case(length, prediction, node_memory)
            for length, predictions in studied
            for prediction in predictions
        ],
    }


def _case(length: VectorLength, prediction: MemoryPrediction, node_memory: int) -> dict[str, Any]:
    return {
        "vector_length": str(length),
        "nodes": prediction.nodes,
        "processes_per_node": prediction.processes_per_node,
        "processes": prediction.processes,
        "doubles": prediction.doubles,
        "divides": prediction.divides,
        "global": {"length": prediction.numbers, "bytes": prediction.global_bytes},
        "local": {
            "length": _number(prediction.local_length),
            "bytes": _number(prediction.local_bytes),
        },
        "block": {
            "length": _number(prediction.block_length),
            "bytes": _number(prediction.block_bytes),
        },
        "node_arrays_bytes": prediction.node_bytes,
        "fit": prediction.fit(node_memory).name.lower(),
        "published": [
            {"source": source, "status": "ok" if seconds else "err", "seconds": seconds}
            for source, seconds in published(length, prediction).items()
        ],
    }


def _number(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
