"""Bandwidths of operations of all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from contend.congestion import Collective, Collectives, GpuCollective, GpuCollectives
from contend.congestion.gpus import NVLINK
from contend.errors import printable_line
from contend.fabric import FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.style import (
    COLOURS,
    QUIET,
    bandwidth_axis,
    name_rows,
    new_figure,
    styled,
    title,
    write_beside,
)
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent, rate_words
from contend.units import counted, format_bytes, format_rate, format_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_APART = "No cable joins the rails, so that only what stays within one is predicted"
# Shares that differ by less read alike.
_ALIKE = 0.0005


def collectives_verdict(found: Collectives, sizes: Sequence[int]) -> str:
    """What an all-to-all gets and how long it takes, and what shifts get."""
    if found.gpu is not None and not found.operations:
        return f"{_gpu_finding(found.gpu)} {_APART}."
    at_once, by_shifts, mean, worst, *_ = found.operations
    where = f"between {counted(found.hosts, 'host')}"
    if found.ranks != found.hosts:
        where = f"of {counted(found.ranks, 'rank')} on {counted(found.hosts, 'host')}"
    if (seconds := at_once.seconds(sizes[-1])) is None:
        line = (
            f"An all-to-all {where} gets at most {percent(at_once.share)} of a link's rate; its "
            "time is unknown, because the rates of links are unknown, too: give them with --rate"
        )
    else:
        line = (
            f"An all-to-all {where} takes at least {format_seconds(seconds)} with "
            f"blocks of {format_bytes(sizes[-1])}, {_rate(at_once)}"
        )
        if abs(by_shifts.share - at_once.share) > _ALIKE:
            by_shifts_s = by_shifts.seconds(sizes[-1]) or 0.0
            line += f", and {format_seconds(by_shifts_s)} shift by shift"
    if worst.share < mean.share - _ALIKE:
        line += (
            f"; shifts get {percent(mean.share)} on average; the worst, by "
            f"{found.worst_shift:,}, gets {percent(worst.share)}."
        )
    else:
        line += f"; every shift gets {percent(mean.share)}."
    return line if found.gpu is None else f"{_gpu_finding(found.gpu)} {line}"


def _gpu_finding(gpu: GpuCollectives) -> str:
    """What rings and the faster all-to-all get, and what holds them back."""
    rings = gpu.collectives[0]
    exchanges = [way for way in gpu.collectives if way.name.startswith("all-to-all")]
    exchange = min(exchanges, key=lambda way: way.seconds(1) or 1 / way.share)
    between = f"{counted(gpu.servers, 'server')} with {gpu.rails} adapters each"
    return (
        f"GPUs in {between} get {_bus(rings)} for an {rings.name}{_limited(rings)}, and "
        f"{_bus(exchange)} for an {exchange.name}{_limited(exchange)}."
        f"{gpu.left_out and f' {gpu.left_out}'}"
    )


def _bus(way: GpuCollective) -> str:
    share = f"{percent(way.share)} of what their ports allow"
    return share if way.bus_Bps is None else f"{rate_words(way.bus_Bps)} of bus bandwidth ({share})"


def _limited(way: GpuCollective) -> str:
    return f", limited by {NVLINK}" if way.limit == NVLINK else ""


def _rate(operation: Collective) -> str:
    return f"{rate_words(operation.rate_Bps)} a host ({percent(operation.share)} of its port)"


def collectives_tables(found: Collectives, sizes: Sequence[int]) -> list[ResultTable]:
    """What a host gets in each operation, and how long it takes by size."""
    times = tuple(f"time, {format_bytes(size)}" for size in sizes)
    numeric = ("rounds", "of port speed", "a host gets", *times)
    gpus = [] if found.gpu is None else [_gpu_table(found.gpu, sizes)]
    if not found.operations:
        return gpus
    rows = [
        (
            operation.name,
            f"{operation.rounds:,}",
            percent(operation.share),
            rate_words(operation.rate_Bps),
            *(_time(operation, size) for size in sizes),
        )
        for operation in found.operations
    ]
    known = found.operations[0].rate_Bps is not None
    placed = f"{counted(found.ranks, 'rank')}, {found.placement} placement"
    if found.shifts < found.ranks - 1:
        placed += f"; {found.shifts:,} of {found.ranks - 1:,} shifts counted"
    rounds = "every round waits for its slowest message; sizes are per message"
    unknown = "" if known else "; the rates of links are unknown"
    return [
        *gpus,
        ResultTable(
            title=f"What a host gets on {found.fabric.name}{_engine(found)}",
            columns=("", *numeric),
            rows=tuple(rows),
            numeric=frozenset(numeric),
            note=f"{placed}; links only, no latency; {rounds}{unknown}",
        ),
    ]


def _gpu_table(gpu: GpuCollectives, sizes: Sequence[int]) -> ResultTable:
    times = tuple(f"time, {format_bytes(size)}" for size in sizes)
    numeric = ("of what ports allow", "bus bandwidth", *times)
    rows = [
        (
            way.name,
            percent(way.share),
            rate_words(way.bus_Bps),
            *(_time(way, size) for size in sizes),
            printable_line(way.limit),
        )
        for way in gpu.collectives
    ]
    inside = "" if gpu.nvlink_Bps is None else f", {format_rate(gpu.nvlink_Bps)} inside a server"
    return ResultTable(
        title=f"Collectives as GPU libraries run them, on {counted(gpu.servers, 'server')}",
        columns=("", *numeric, "limited by"),
        rows=tuple(rows),
        numeric=frozenset(numeric),
        note=(
            f"one GPU for each of the {gpu.rails} adapters of a server{inside}; bus bandwidth and "
            "bytes as nccl-tests count them; links only, no latency"
        ),
    )


def _engine(found: Collectives) -> str:
    engine = found.fabric.routes.engine if found.fabric.routes is not None else ""
    return f", routes by {engine}" if engine not in ("", found.fabric.name) else ""


def _time(operation: Collective | GpuCollective, size: int) -> str:
    seconds = operation.seconds(size)
    return UNKNOWN if seconds is None else format_seconds(seconds)


def collectives_figure(found: Collectives, sizes: Sequence[int]) -> Figure:
    """What a host or a GPU gets in each as a share of its port; rate and time beside the bar."""
    gpus = () if found.gpu is None else found.gpu.collectives
    bars = [(way.name, way.share, _beside(way, way.bus_Bps, sizes[-1])) for way in gpus]
    bars += [
        (operation.name, operation.share, _beside(operation, operation.rate_Bps, sizes[-1]))
        for operation in found.operations
    ]
    # A gap between both kinds.
    rows = np.arange(len(bars)) + np.where(np.arange(len(bars)) < len(gpus), 0, bool(gpus) * 0.7)
    with styled():
        figure = new_figure(height=1.2 + 0.24 * len(rows), width=4.6)
        axes = figure.subplots()
        colours = [COLOURS[1]] * len(gpus) + [COLOURS[0]] * len(found.operations)
        axes.barh(rows, [share for _, share, _ in bars], height=0.62, color=colours)
        for row, (_, share, words) in zip(rows, bars, strict=True):
            inside = share > 0.5
            aside, side, colour = (-3, "right", "white") if inside else (3, "left", QUIET)
            write_beside(axes, words, (share, row), (aside, 0), ha=side, color=colour)
        name_rows(axes, [name for name, _, _ in bars])
        bandwidth_axis(axes, "as a share of what ports allow")
        axes.set_xlim(0, max(1.0, *(share for _, share, _ in bars)))
        title(figure, _finding(found))
    return figure


def _beside(operation: Collective | GpuCollective, rate: float | None, size: int) -> str:
    seconds = operation.seconds(size)
    if seconds is None:
        return percent(operation.share)
    return f"{rate_words(rate)}, {format_seconds(seconds)} for {format_bytes(size)}"


def _finding(found: Collectives) -> str:
    if found.gpu is not None and not found.operations:
        rings = found.gpu.collectives[0]
        return f"{found.fabric.name}: {rings.name} get {percent(rings.share)} of what ports allow"
    at_once, _, mean, worst, *_ = found.operations
    line = f"{found.fabric.name}: an all-to-all gets at most {percent(at_once.share)} of a port"
    if worst.share < mean.share - _ALIKE:
        return f"{line}, the worst shift {percent(worst.share)}"
    return f"{line}, every shift {percent(mean.share)}"


def collectives_document(found: Collectives, sizes: Sequence[int] = (1 << 20,)) -> Document:
    """What hosts get in each operation, and how long messages of these sizes take."""
    verdict, routes = collectives_verdict(found, sizes), found.fabric.routes
    operations = [
        filled(
            CollectiveJson,
            one,
            times=[CollectiveTimeJson(bytes=size, seconds=one.seconds(size)) for size in sizes],
        )
        for one in found.operations
    ]
    return Document(
        verdict=verdict,
        tables=collectives_tables(found, sizes),
        record=filled(
            CollectivesJson,
            found,
            fabric=size_of(found.fabric),
            engine="" if routes is None else routes.engine,
            verdict=verdict,
            operations=operations,
            gpu=None if found.gpu is None else _gpu_record(found.gpu, sizes),
        ),
        pictures={"bandwidth": lambda: collectives_figure(found, sizes)},
    )


def _gpu_record(gpu: GpuCollectives, sizes: Sequence[int]) -> GpuCollectivesJson:
    collectives = [
        filled(
            GpuCollectiveJson,
            way,
            times=[CollectiveTimeJson(bytes=size, seconds=way.seconds(size)) for size in sizes],
        )
        for way in gpu.collectives
    ]
    return filled(GpuCollectivesJson, gpu, collectives=collectives)


class CollectiveTimeJson(msgspec.Struct, frozen=True, kw_only=True):
    """How long an operation takes."""

    bytes: Annotated[int, "of a message."]
    seconds: Annotated[float | None, "null where the rate of links is not known."]


class CollectiveJson(msgspec.Struct, frozen=True, kw_only=True):
    """An operation of all ranks."""

    name: Annotated[str, "what it is, in words."]
    pattern: Annotated[str, "that it is simulated as."]
    rounds: Annotated[int, "how many; each waits for its slowest message."]
    messages_of_a_host: Annotated[
        float, "that it sends and receives; of a tree, the one that it gets or gives."
    ]
    share: Annotated[float, "of its port that a host gets."]
    rate_Bps: Annotated[
        float | None, "what a host gets; null where the rate of links is not known."
    ]
    times: Annotated[list[CollectiveTimeJson], "by the size of a message."]


class GpuCollectiveJson(msgspec.Struct, frozen=True, kw_only=True):
    """A collective, carried out in one way."""

    name: Annotated[str, "what it is, in words."]
    pattern: Annotated[str, "what crosses the network, with ranks numbered server by server."]
    share: Annotated[float, "of what the ports of adapters alone would allow."]
    bus_Bps: Annotated[
        float | None,
        "bus bandwidth in bytes per second of a rank, as nccl-tests define it; null where the rate "
        "of links is not known.",
    ]
    algorithm_Bps: Annotated[float | None, "bytes over seconds; null likewise."]
    limit: Annotated[str, "a channel, the ports of adapters, or NVLink."]
    times: Annotated[list[CollectiveTimeJson], "by the size, as nccl-tests count it."]


class GpuCollectivesJson(msgspec.Struct, frozen=True, kw_only=True):
    """What GPUs get in collectives."""

    servers: Annotated[int, "that take part: those with the usual number of adapters."]
    rails: Annotated[int, "adapters of each."]
    nvlink_Bps: Annotated[
        float | None,
        "bytes per second that a GPU sends within its server; null: unlimited.",
    ]
    left_out: Annotated[
        str, 'on servers with other numbers of adapters, a sentence; "" where there are none.'
    ] = ""
    collectives: Annotated[list[GpuCollectiveJson], "the rings first."]


class CollectivesJson(msgspec.Struct, frozen=True, kw_only=True):
    """Bandwidths of operations of all ranks, at the rates of links."""

    fabric: Annotated[FabricSize, "what they run on."]
    engine: Annotated[
        str, 'what computed its routes; "" where they were read and their file does not say.'
    ]
    placement: Annotated[str, "which rank runs on which host."]
    ranks: Annotated[int, "how many."]
    hosts: Annotated[int, "on how many hosts."]
    verdict: Annotated[str, "one-sentence verdict."]
    worst_shift: Annotated[
        int, "the distance at which a shift takes longest; 0 without operations."
    ]
    shifts: Annotated[
        int,
        "distances that were counted; fewer than all, evenly spread, where these would take hours.",
    ]
    operations: Annotated[
        list[CollectiveJson],
        "the all-to-all at once first; none where no cable joins the rails of servers.",
    ]
    gpu: Annotated[
        GpuCollectivesJson | None,
        "what GPUs beside the adapters get; null where hosts do not share servers.",
    ] = None
