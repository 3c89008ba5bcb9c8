"""``contend measure alltoall``: every rank sends a block to every rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from contend.cli.measure.command import probe_command
from contend.measurement import OptionValue

AlgorithmOption = Annotated[
    str | None,
    typer.Option(
        "--algorithm",
        "-a",
        metavar="NAME,...",
        help="Schedules: library, shift, bruck ..., or all. \\[default: all]",
    ),
]
BytesOption = Annotated[
    str | None,
    typer.Option(
        "--bytes",
        metavar="SIZE,...",
        help="Bytes for each destination: 1,2,4K, or 1:1M for powers of two. \\[default: 1:1M]",
    ),
]
CountsOption = Annotated[
    str | None,
    typer.Option(
        "--counts", metavar="even|uneven", help="Whether blocks differ in size. \\[default: even]"
    ),
]
BatchOption = Annotated[
    str | None,
    typer.Option("--batch", metavar="N,...", help="Messages in a batch of scattered."),
]
InFlightOption = Annotated[
    str | None,
    typer.Option("--in-flight", metavar="N,...", help="Messages that inflight has under way."),
]
RadixOption = Annotated[
    str | None, typer.Option("--radix", metavar="N,...", help="Base of the digits in bruck.")
]
RanksPerNodeOption = Annotated[
    str | None,
    typer.Option(
        "--ranks-per-node",
        metavar="N,...",
        help="Ranks in a row that schedules by node take for a node. \\[default: as they are]",
    ),
]


@probe_command
def alltoall(
    algorithm: AlgorithmOption = None,
    bytes: BytesOption = None,  # noqa: A002
    counts: CountsOption = None,
    batch: BatchOption = None,
    in_flight: InFlightOption = None,
    radix: RadixOption = None,
    ranks_per_node: RanksPerNodeOption = None,
) -> Mapping[str, OptionValue]:
    """Measure all-to-all communication under the library's schedules and others.

    Example: contend measure alltoall -n 16 --bytes 1:1M --mpi openmpi --mpi mpich --budget 10min
    """
    return {
        "algorithm": algorithm,
        "bytes": bytes,
        "counts": counts,
        "batch": batch,
        "in_flight": in_flight,
        "radix": radix,
        "ranks_per_node": ranks_per_node,
    }
