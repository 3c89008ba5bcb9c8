"""``contend measure alltoall``, ``pingpong`` and ``sort``: probes that run as they are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from contend import report
from contend.cli.measure.measuring import Measuring, judged
from contend.cli.options.option import Option, option
from contend.cli.options.outputs import Outputs
from contend.cli.options.shared import ALGORITHM, BYTES, FABRIC, LENGTH, VECTORS
from contend.cli.options.where import Where
from contend.lab.measurement import STANDARD
from contend.report import Document

if TYPE_CHECKING:
    from contend.lab.measurement import OptionValue


def _of(probe: str, option: Option, more: str = "", **others: Any) -> Any:
    """An option of a probe's own, whose default is the probe's."""
    name = option.names[0].removeprefix("--").replace("-", "_")
    default = others.pop("default", STANDARD[probe][name])
    return option(more, default=default, **others)


_DOUBLING = ": 1,2,4K, or 1:1M for powers of two."
_COUNTS = option("--counts", takes="KIND", means="Whether blocks differ in size: even or uneven")
_START = option(
    "--start",
    takes="KIND",
    means="How ranks start: barrier (each as it leaves one, as in most programs) or clock (all at "
    "the same instant, as predictions assume)",
)
_BATCH = option("--batch", takes="N", means="Messages that scattered sends at a time, each way")
_IN_FLIGHT = option(
    "--in-flight", takes="N", means="Messages that inflight keeps in flight, each way"
)
_RADIX = option("--radix", takes="N", means="Base of the digits that bruck uses")
_RANKS_PER_NODE = option(
    "--ranks-per-node",
    takes="N",
    means="Consecutive ranks that node-aware algorithms treat as one node",
)
_PAIRS = option("--pairs", takes="A-B", means="Pairs of ranks, or all-shifts")
_INNER = option("--inner", takes="N", means="Round trips or windows in a sample")
_WINDOW = option("--window", takes="N", means="Messages in a window")
_INPUT = option(
    "--input",
    takes="NAME",
    means="Distribution of the keys: built, uniform, normal, zipf, sorted, reversed, equal, or all",
)
_EXCHANGE = option("--exchange", takes="NAME", means="Algorithms that exchange the data, or all")


def alltoall(
    measuring: Measuring,
    where: Where,
    outputs: Outputs,
    algorithm: Annotated[
        str | None,
        _of("alltoall", ALGORITHM, ": library, shift, bruck ..., or all.", many=True),
    ] = None,
    bytes: Annotated[  # noqa: A002
        str | None,
        _of("alltoall", BYTES, f"{_DOUBLING} Each rank sends one to every other.", many=True),
    ] = None,
    counts: Annotated[str | None, _of("alltoall", _COUNTS)] = None,
    start: Annotated[str | None, _of("alltoall", _START)] = None,
    batch: Annotated[str | None, _of("alltoall", _BATCH, many=True)] = None,
    in_flight: Annotated[str | None, _of("alltoall", _IN_FLIGHT, many=True)] = None,
    radix: Annotated[str | None, _of("alltoall", _RADIX, many=True)] = None,
    ranks_per_node: Annotated[
        str | None,
        _of("alltoall", _RANKS_PER_NODE, many=True, default="the ranks of a host"),
    ] = None,
    fabric: Annotated[
        str | None,
        FABRIC(": the real cluster's, with the host names that the launcher knows, for routed."),
    ] = None,
) -> Document:
    """Measure all-to-all communication with the library's algorithms and others.

    The algorithm routed follows the routes of the emulated fabric, or of --fabric.

    Example: contend measure alltoall -n 16 --bytes 1:1M --mpi openmpi,mpich --budget 10min
    """
    options = {
        "algorithm": algorithm,
        "bytes": bytes,
        "counts": counts,
        "start": start,
        "batch": batch,
        "in_flight": in_flight,
        "radix": radix,
        "ranks_per_node": ranks_per_node,
    }
    return _measured("alltoall", options, measuring, where, outputs, fabric)


def pingpong(
    measuring: Measuring,
    where: Where,
    outputs: Outputs,
    algorithm: Annotated[
        str | None,
        _of(
            "pingpong",
            ALGORITHM,
            ": pingpong, bounce (the reply is sent from the buffer received into), stream "
            "(windows of messages one way), both-ways, or all.",
            many=True,
        ),
    ] = None,
    bytes: Annotated[  # noqa: A002
        str | None, _of("pingpong", BYTES, _DOUBLING, many=True)
    ] = None,
    pairs: Annotated[str | None, _of("pingpong", _PAIRS, many=True)] = None,
    inner: Annotated[int | None, _of("pingpong", _INNER, min=1)] = None,
    window: Annotated[int | None, _of("pingpong", _WINDOW, min=1)] = None,
) -> Document:
    """Measure messages between two ranks, back and forth or streamed.

    Example: contend measure pingpong -n 2 --bytes 1:4M --on hosts.txt --ranks-per-host 1
    """
    options = {
        "algorithm": algorithm,
        "bytes": bytes,
        "pairs": pairs,
        "inner": inner,
        "window": window,
    }
    return _measured("pingpong", options, measuring, where, outputs)


def sort(
    measuring: Measuring,
    where: Where,
    outputs: Outputs,
    vectors: Annotated[str | None, _of("sort", VECTORS, many=True)] = None,
    length: Annotated[str | None, _of("sort", LENGTH, many=True)] = None,
    input: Annotated[  # noqa: A002
        str | None,
        _of(
            "sort",
            _INPUT,
            many=True,
            default=f"{STANDARD['sort']['input']}, which needs no local sorting",
        ),
    ] = None,
    exchange: Annotated[str | None, _of("sort", _EXCHANGE, many=True)] = None,
) -> Document:
    """Measure the data exchange of a parallel sort, and the steps around it.

    Example: contend measure sort -n 8 -m 512 --input built,uniform
    """
    options = {"vectors": vectors, "length": length, "input": input, "exchange": exchange}
    return _measured("sort", options, measuring, where, outputs)


def _measured(
    probe: str,
    options: Mapping[str, OptionValue],
    measuring: Measuring,
    where: Where,
    outputs: Outputs,
    fabric: str | None = None,
) -> Document:
    with measuring.place(where, outputs.console, fabric) as place:
        runs = measuring.runs(probe, options, where, place, outputs.console)
    return judged(report.runs_document(runs, whole=False), runs)
