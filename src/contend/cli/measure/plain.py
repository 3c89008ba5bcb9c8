"""``contend measure alltoall``, ``pingpong`` and ``sort``: probes that run as they are told."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from contend.cli.measure.command import MeasureRequest, measures
from contend.cli.measure.options import find_place
from contend.cli.options import ALGORITHM, BYTES, FABRIC, LENGTH, VECTORS

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
StartOption = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="KIND",
        help="How ranks start: barrier (each as it leaves one, as in most programs) or clock "
        "(all at the same instant, as predictions assume). \\[default: barrier]",
    ),
]
BatchOption = Annotated[
    str | None,
    typer.Option(
        "--batch",
        metavar="N,...",
        help="Messages that scattered sends at a time, each way. \\[default: 32]",
    ),
]
InFlightOption = Annotated[
    str | None,
    typer.Option(
        "--in-flight",
        metavar="N,...",
        help="Messages that inflight keeps in flight, each way. \\[default: 32]",
    ),
]
RadixOption = Annotated[
    str | None,
    typer.Option(
        "--radix", metavar="N,...", help="Base of the digits that bruck uses. \\[default: 2]"
    ),
]
RanksPerNodeOption = Annotated[
    str | None,
    typer.Option(
        "--ranks-per-node",
        metavar="N,...",
        help="Consecutive ranks that node-aware algorithms treat as one node. "
        "\\[default: the ranks of a host]",
    ),
]
FabricOption = Annotated[
    str | None,
    FABRIC(": the real cluster's, with the host names that the launcher knows, for routed."),
]


@measures
def alltoall(
    algorithm: AlgorithmOption = None,
    bytes: BytesOption = None,  # noqa: A002
    counts: CountsOption = None,
    start: StartOption = None,
    batch: BatchOption = None,
    in_flight: InFlightOption = None,
    radix: RadixOption = None,
    ranks_per_node: RanksPerNodeOption = None,
    fabric: FabricOption = None,
) -> MeasureRequest:
    """Measure all-to-all communication with the library's algorithms and others.

    The algorithm routed follows the routes of the emulated fabric, or of --fabric.

    Example: contend measure alltoall -n 16 --bytes 1:1M --mpi openmpi,mpich --budget 10min
    """
    return MeasureRequest(
        "alltoall",
        {
            "algorithm": algorithm,
            "bytes": bytes,
            "counts": counts,
            "start": start,
            "batch": batch,
            "in_flight": in_flight,
            "radix": radix,
            "ranks_per_node": ranks_per_node,
        },
        place=partial(find_place, fabric=fabric),
    )


WayOption = Annotated[
    str | None,
    ALGORITHM(
        ": pingpong, bounce (the reply is sent from the buffer received into), stream (windows "
        "of messages one way), both-ways, or all.",
        many=True,
        default="pingpong",
    ),
]
MessageOption = Annotated[
    str | None, BYTES(": 1,2,4K, or 1:1M for powers of two.", many=True, default="1:1M")
]
PairsOption = Annotated[
    str | None,
    typer.Option(
        "--pairs", metavar="A-B,...", help="Pairs of ranks, or all-shifts. \\[default: 0-1]"
    ),
]
InnerOption = Annotated[
    int | None,
    typer.Option(
        "--inner", metavar="N", min=1, help="Round trips or windows in a sample. \\[default: 1]"
    ),
]
WindowOption = Annotated[
    int | None,
    typer.Option("--window", metavar="N", min=1, help="Messages in a window. \\[default: 64]"),
]


@measures
def pingpong(
    algorithm: WayOption = None,
    bytes: MessageOption = None,  # noqa: A002
    pairs: PairsOption = None,
    inner: InnerOption = None,
    window: WindowOption = None,
) -> MeasureRequest:
    """Measure messages between two ranks, back and forth or streamed.

    Example: contend measure pingpong -n 2 --bytes 1:4M --on hosts.txt --ranks-per-host 1
    """
    return MeasureRequest(
        "pingpong",
        {
            "algorithm": algorithm,
            "bytes": bytes,
            "pairs": pairs,
            "inner": inner,
            "window": window,
        },
    )


VectorsOption = Annotated[str | None, VECTORS(many=True, default="1492992")]
LengthOption = Annotated[str | None, LENGTH(many=True, default="8")]
InputOption = Annotated[
    str | None,
    typer.Option(
        "--input",
        metavar="NAME,...",
        help="Distribution of the keys: built, uniform, normal, zipf, sorted, reversed, equal, or "
        "all. \\[default: built, which needs no local sorting]",
    ),
]
ExchangeOption = Annotated[
    str | None,
    typer.Option(
        "--exchange",
        metavar="NAME,...",
        help="Algorithms that exchange the data, or all. \\[default: library-v]",
    ),
]


@measures
def sort(
    vectors: VectorsOption = None,
    length: LengthOption = None,
    input: InputOption = None,  # noqa: A002
    exchange: ExchangeOption = None,
) -> MeasureRequest:
    """Measure the data exchange of a parallel sort, and the steps around it.

    Example: contend measure sort -n 8 -m 512 --input built,uniform
    """
    return MeasureRequest(
        "sort", {"vectors": vectors, "length": length, "input": input, "exchange": exchange}
    )
