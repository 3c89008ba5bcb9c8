"""The memory that a plan's sorts need, predicted before anything runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from contend import report
from contend.cli.common import console_for, write_json
from contend.cli.numbers import option_value
from contend.errors import ShortfallError, UsageError
from contend.measurement import Fit, MemoryPrediction, VectorLength
from contend.mpi import this_machine
from contend.study import MeasuredPlan
from contend.units import format_bytes, parse_size


def predict(
    plan: MeasuredPlan, lengths: Sequence[str] | None, node_memory: str | None, json: str | None
) -> None:
    """Prints tables of lengths and bytes, beside what was published for the same runs.

    Args:
        plan: with the options of the command line.
        lengths: vector lengths of the command line; None for those that the plan predicts.
        node_memory: of the command line; None for that of the plan.
        json: where to write the result.

    Raises:
        UsageError: the plan sorts nothing, or the memory of a node is not known.
        ShortfallError: the arrays of a node exceed its memory.
    """
    sorts = [measure for measure in plan.measures if measure.probe == "sort"]
    if not sorts:
        raise UsageError(f"{plan.name}: --predict is for plans that sort")
    memory = _memory(plan, node_memory)
    shown = plan.predict.doubles if lengths is None and plan.predict is not None else None
    studied = []
    for measure in sorts:
        for each in measure.ranks_per_node:
            nodes = measure.nodes or tuple(dict.fromkeys(-(-r // each) for r in measure.ranks))
            for length in map(VectorLength.parse, shown or measure.doubles):
                predictions = [
                    MemoryPrediction(measure.numbers or 0, count, each, length.at(count))
                    for count in nodes
                ]
                studied.append((length, predictions))
    console = console_for(json)
    for length, predictions in studied:
        report.print_tables(console, report.memory_tables(length, predictions, memory))
    write_json(json, report.memory_json(plan.name, studied, memory))
    _judge([prediction for _, predictions in studied for prediction in predictions], memory)


def _memory(plan: MeasuredPlan, asked: str | None) -> int:
    """Bytes of a node: as asked for, as the plan says, or this machine's."""
    said = asked or (plan.predict.node_memory if plan.predict is not None else plan.node_memory)
    memory = (
        this_machine().memory if said is None else option_value("--node-memory", said, parse_size)
    )
    if memory is None:
        raise UsageError("--node-memory: expected a size such as 24GiB, got none")
    return memory


def _judge(predictions: Sequence[MemoryPrediction], memory: int) -> None:
    """Warns of arrays near the memory of a node; raises where they exceed it."""
    near = [case for case in predictions if case.fit(memory) is Fit.NEAR]
    over = [case for case in predictions if case.fit(memory) is Fit.EXCEEDS]
    of = f"of {len(predictions)} runs"
    if near:
        print(
            f"contend: warning: {len(near)} {of} {_need(near, 'come near', memory)}",
            file=sys.stderr,
        )
    if over:
        raise ShortfallError(f"{len(over)} {of} {_need(over, 'need more than', memory)}")


def _need(cases: Sequence[MemoryPrediction], how: str, memory: int) -> str:
    largest = max(cases, key=lambda case: case.node_bytes)
    nodes = f"{largest.nodes:,} node{'s' * (largest.nodes != 1)}"
    return (
        f"{how} a node's {format_bytes(memory)}: up to {largest.node_bytes:,} bytes of arrays "
        f"({format_bytes(largest.node_bytes)}) for m = {largest.doubles:,} on {nodes}"
    )
