"""``contend measure alltoall``: every rank sends a block to every rank."""

from __future__ import annotations

from typing import Annotated

import typer

from contend.cli.measure.command import Asked, measures
from contend.cli.options import ALGORITHM, BYTES

AlgorithmOption = Annotated[
    str | None, ALGORITHM(": library, shift, bruck ..., or all.", many=True, default="all")
]
BytesOption = Annotated[
    str | None,
    BYTES(
        ": 1,2,4K, or 1:1M for powers of two. Each rank sends one to every other.",
        many=True,
        default="1:1M",
    ),
]
CountsOption = Annotated[
    str | None,
    typer.Option(
        "--counts",
        metavar="KIND",
        help="Whether blocks differ in size: even or uneven. \\[default: even]",
    ),
]
BatchOption = Annotated[
    str | None,
    typer.Option(
        "--batch",
        metavar="N,...",
        help="How many messages each way scattered sends at a time. \\[default: 32]",
    ),
]
InFlightOption = Annotated[
    str | None,
    typer.Option(
        "--in-flight",
        metavar="N,...",
        help="How many messages each way inflight keeps under way. \\[default: 32]",
    ),
]
RadixOption = Annotated[
    str | None,
    typer.Option(
        "--radix", metavar="N,...", help="The base in which bruck writes ranks. \\[default: 2]"
    ),
]
RanksPerNodeOption = Annotated[
    str | None,
    typer.Option(
        "--ranks-per-node",
        metavar="N,...",
        help="How many consecutive ranks algorithms that go by nodes treat as one node. "
        "\\[default: the ranks of a host]",
    ),
]


@measures
def alltoall(
    algorithm: AlgorithmOption = None,
    bytes: BytesOption = None,  # noqa: A002
    counts: CountsOption = None,
    batch: BatchOption = None,
    in_flight: InFlightOption = None,
    radix: RadixOption = None,
    ranks_per_node: RanksPerNodeOption = None,
) -> Asked:
    """Measure all-to-all communication with the library's algorithms and others.

    Example: contend measure alltoall -n 16 --bytes 1:1M --mpi openmpi,mpich --budget 10min
    """
    return Asked(
        "alltoall",
        {
            "algorithm": algorithm,
            "bytes": bytes,
            "counts": counts,
            "batch": batch,
            "in_flight": in_flight,
            "radix": radix,
            "ranks_per_node": ranks_per_node,
        },
    )
