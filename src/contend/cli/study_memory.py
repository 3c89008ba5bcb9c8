"""The memory that a plan's sorts need, predicted before anything runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from contend import report
from contend.cli.common import console_for, write_json
from contend.errors import ShortfallError, UsageError
from contend.measurement import Fit, MemoryPrediction
from contend.mpi import this_machine
from contend.study import MeasuredPlan
from contend.units import counted, format_bytes


def predict(plan: MeasuredPlan, given: Mapping[str, Any], json: str | None) -> None:
    """Prints tables of lengths and bytes, beside what was published for the same runs.

    Args:
        plan: as it was read.
        given: options of the command line that change it.
        json: where to write the result.

    Raises:
        UsageError: the plan sorts nothing, or the memory of a host is not known.
        ShortfallError: the arrays of a host exceed its memory.
    """
    own = plan.predict
    plan = plan.changed(**given)
    sorts = [measure for measure in plan.measures if measure.probe == "sort"]
    if not sorts:
        raise UsageError(f"{plan.name}: --predict is for plans that sort")
    memory = _memory(plan, given)
    shown = own.length if own is not None and "length" not in given else None
    studied = []
    for measure in sorts:
        for each in measure.ranks_per_host:
            hosts = measure.hosts or tuple(dict.fromkeys(-(-r // each) for r in measure.ranks))
            for length in shown or measure.length:
                predictions = [
                    MemoryPrediction(measure.vectors or 0, count, each, length.at(count))
                    for count in hosts
                ]
                studied.append((length, predictions))
    console = console_for(json)
    for length, predictions in studied:
        report.print_tables(console, report.memory_tables(length, predictions, memory))
    write_json(json, report.memory_json(plan.name, studied, memory))
    _judge([prediction for _, predictions in studied for prediction in predictions], memory)


def _memory(plan: MeasuredPlan, given: Mapping[str, Any]) -> int:
    """Bytes of a host: as asked for, as the plan says, or this machine's."""
    memory = plan.memory
    if "memory" not in given and plan.predict is not None:
        memory = plan.predict.memory
    if memory is None:
        memory = this_machine().memory
    if memory is None:
        raise UsageError("--memory: expected a size such as 24GiB, got none")
    return memory


def _judge(predictions: Sequence[MemoryPrediction], memory: int) -> None:
    """Warns of arrays near the memory of a node; raises where they exceed it."""
    near = [case for case in predictions if case.fit(memory) is Fit.NEAR]
    over = [case for case in predictions if case.fit(memory) is Fit.EXCEEDS]
    of = f"of {counted(len(predictions), 'run')}"
    if near:
        print(
            f"contend: warning: {len(near)} {of} {_need(near, 'come', 'near', memory)}",
            file=sys.stderr,
        )
    if over:
        raise ShortfallError(f"{len(over)} {of} {_need(over, 'need', 'more than', memory)}")


def _need(cases: Sequence[MemoryPrediction], verb: str, how: str, memory: int) -> str:
    largest = max(cases, key=lambda case: case.node_bytes)
    ending = "s" if len(cases) == 1 else ""
    return (
        f"{verb}{ending} {how} a node's {format_bytes(memory)}: up to {largest.node_bytes:,} "
        f"bytes of arrays ({format_bytes(largest.node_bytes)}) for m = {largest.doubles:,} on "
        f"{counted(largest.nodes, 'node')}"
    )
