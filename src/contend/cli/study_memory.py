"""The study ``mistry2015``: how much memory an all-to-all sort needs, before it runs."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer

from contend.cli.common import JsonOption, console_for, write_json
from contend.errors import ShortfallError, UsageError
from contend.measurement.sort_memory import Fit, MemoryPrediction, VectorLength
from contend.study import mistry2015 as paper
from contend.units import format_bytes, parse_bytes

# Ten digits hold every number of nodes that MPI could number the processes of.
_COUNTS = re.compile(r"[1-9][0-9]{0,9}(?:,[1-9][0-9]{0,9})*")

_NODES = ",".join(str(nodes) for nodes in paper.NODES)
_LENGTHS = ",".join(str(length) for length in paper.LENGTHS)
_NODE_MEMORY = format_bytes(paper.NODE_MEMORY)

PredictOption = Annotated[
    bool, typer.Option("--predict", help="Predict memory from the numbers below; nothing runs.")
]
NumbersOption = Annotated[
    int, typer.Option("-n", "--numbers", min=1, help="Vectors that are sorted, over all processes.")
]
NodesOption = Annotated[
    str, typer.Option("--nodes", metavar="N,...", help="Numbers of nodes, a column each.")
]
ProcessesOption = Annotated[int, typer.Option("--ppn", min=1, help="Processes on every node.")]
LengthOption = Annotated[
    list[str] | None,
    typer.Option(
        "-m",
        metavar="M",
        help="Doubles in a vector: 512, or 512N for 512 times the nodes; may be repeated. "
        f"[default: {_LENGTHS}]",
    ),
]
NodeMemoryOption = Annotated[
    str, typer.Option("--node-memory", metavar="SIZE", help="Memory of a node, such as 24GiB.")
]


def mistry2015(
    predict: PredictOption = False,
    numbers: NumbersOption = paper.NUMBERS,
    nodes: NodesOption = _NODES,
    ppn: ProcessesOption = paper.PROCESSES_PER_NODE,
    length: LengthOption = None,
    node_memory: NodeMemoryOption = _NODE_MEMORY,
    json: JsonOption = None,
) -> None:
    """Predicts the memory of a parallel sort that exchanges vectors of doubles all to all.

    Without further options these are tables 2 and 4 of Mistry et al. 2015. The exit status is 1
    when the arrays of a node exceed its memory.

    Example: contend study mistry2015 --predict --nodes 1,2,4 -m 800N --node-memory 64GiB
    """
    # Imported here: reports take longer to load than other verbs run.
    from contend.report.memory_json import memory_json
    from contend.report.memory_tables import memory_tables
    from contend.report.table import print_tables

    if not predict:
        raise UsageError("mistry2015 predicts memory: add --predict")
    memory = parse_bytes(node_memory)
    if memory is None:
        raise UsageError(f"--node-memory: expected a size such as 24GiB, got {node_memory!r}")
    lengths = [_vector_length(text) for text in ",".join(length or [_LENGTHS]).split(",")]
    if repeated := _repeated(lengths):
        raise UsageError(f"-m: expected every length once, got {repeated} again")
    counts = _node_counts(nodes)
    studied = [
        (each, [MemoryPrediction(numbers, count, ppn, each.at(count)) for count in counts])
        for each in lengths
    ]
    console = console_for(json)
    for each, predictions in studied:
        print_tables(console, memory_tables(each, predictions, memory))
    write_json(json, memory_json(studied, memory))
    _judge([prediction for _, predictions in studied for prediction in predictions], memory)


def _vector_length(text: str) -> VectorLength:
    try:
        return VectorLength.parse(text)
    except UsageError as error:
        raise UsageError(f"-m: {error}") from None


def _node_counts(text: str) -> list[int]:
    if not _COUNTS.fullmatch(text):
        raise UsageError(f"--nodes: expected numbers such as 1,2,4, got {text!r}")
    counts = [int(part) for part in text.split(",")]
    if repeated := _repeated(counts):
        raise UsageError(f"--nodes: expected every number once, got {repeated} again")
    return counts


def _repeated(values: Sequence[object]) -> object:
    """A value that stands there more than once, None when there is none."""
    return next((value for value, count in Counter(values).items() if count > 1), None)


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
