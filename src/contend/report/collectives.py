"""Bandwidths of operations of all ranks: verdict, tables, figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contend.congestion import Collective, Collectives, GpuCollective, GpuCollectives
from contend.congestion.gpus import NVLINK, CollectiveTime, Timed
from contend.errors import printable_line
from contend.report.document import Document
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent, rate_words
from contend.units import counted, format_bytes, format_rate, format_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_APART = "No cable joins the rails, so that only what stays within one is predicted"
# Shares that differ by less read alike.
_ALIKE = 0.0005


def _verdict(found: Collectives) -> str:
    """What an all-to-all gets and how long it takes, and what shifts get."""
    if found.gpu is not None and not found.operations:
        return f"{_gpu_finding(found.gpu)} {_APART}."
    at_once, by_shifts, mean, worst, *_ = found.operations
    where = f"between {counted(found.hosts, 'host')}"
    if found.ranks != found.hosts:
        where = f"of {counted(found.ranks, 'rank')} on {counted(found.hosts, 'host')}"
    longest = at_once.times[-1]
    if longest.seconds is None:
        line = (
            f"An all-to-all {where} gets at most {percent(at_once.share)} of a link's rate; its "
            "time is unknown, because the rates of links are unknown, too: give them with --rate"
        )
    else:
        line = (
            f"An all-to-all {where} takes at least {format_seconds(longest.seconds)} with "
            f"blocks of {format_bytes(longest.bytes)}, {_rate(at_once)}"
        )
        if abs(by_shifts.share - at_once.share) > _ALIKE:
            seconds = by_shifts.times[-1].seconds or 0.0
            line += f", and {format_seconds(seconds)} shift by shift"
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


def _tables(found: Collectives) -> list[ResultTable]:
    """What a host gets in each operation, and how long it takes by size."""
    gpus = [] if found.gpu is None else [_gpu_table(found.gpu)]
    if not found.operations:
        return gpus
    placed = f"{counted(found.ranks, 'rank')}, {found.placement} placement"
    if found.shifts < found.ranks - 1:
        placed += f"; {found.shifts:,} of {found.ranks - 1:,} shifts counted"
    known = found.operations[0].rate_Bps is not None
    engine = f", routes by {found.engine}" if found.engine not in ("", found.fabric.name) else ""
    operations = table_of(
        f"What a host gets on {found.fabric.name}{engine}",
        found.operations,
        {
            "": "name",
            "rounds": "rounds",
            "of port speed": "share",
            "a host gets": "rate_Bps",
            **_times(found.operations[0]),
        },
        note=f"{placed}; links only, no latency; every round waits for its slowest message; sizes "
        f"are per message{'' if known else '; the rates of links are unknown'}",
    )
    return [*gpus, operations]


def _gpu_table(gpu: GpuCollectives) -> ResultTable:
    inside = "" if gpu.nvlink_Bps is None else f", {format_rate(gpu.nvlink_Bps)} inside a server"
    return table_of(
        f"Collectives as GPU libraries run them, on {counted(gpu.servers, 'server')}",
        gpu.collectives,
        {
            "": "name",
            "of what ports allow": "share",
            "bus bandwidth": "bus_Bps",
            **_times(gpu.collectives[0]),
            "limited by": lambda way: printable_line(way.limit),
        },
        note=f"one GPU for each of the {gpu.rails} adapters of a server{inside}; bus bandwidth and "
        "bytes as nccl-tests count them; links only, no latency",
    )


def _times(first: Timed) -> dict[str, Number[Any]]:
    """A column for every size."""

    def column(place: int) -> Number[Timed]:
        return Number(lambda way: _time(way.times[place]))

    return {f"time, {format_bytes(time.bytes)}": column(n) for n, time in enumerate(first.times)}


def _time(time: CollectiveTime) -> str:
    return UNKNOWN if time.seconds is None else format_seconds(time.seconds)


def _figure(found: Collectives) -> Figure:
    """What a host or a GPU gets in each as a share of its port; rate and time beside the bar."""
    # Imported here: only figures need it, and loading takes a while.
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

    gpus = () if found.gpu is None else found.gpu.collectives
    bars = [(way.name, way.share, _beside(way, way.bus_Bps)) for way in gpus]
    bars += [(way.name, way.share, _beside(way, way.rate_Bps)) for way in found.operations]
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


def _beside(way: Collective | GpuCollective, rate: float | None) -> str:
    longest = way.times[-1]
    if longest.seconds is None:
        return percent(way.share)
    return (
        f"{rate_words(rate)}, {format_seconds(longest.seconds)} for {format_bytes(longest.bytes)}"
    )


def _finding(found: Collectives) -> str:
    if found.gpu is not None and not found.operations:
        rings = found.gpu.collectives[0]
        return f"{found.fabric.name}: {rings.name} get {percent(rings.share)} of what ports allow"
    at_once, _, mean, worst, *_ = found.operations
    line = f"{found.fabric.name}: an all-to-all gets at most {percent(at_once.share)} of a port"
    if worst.share < mean.share - _ALIKE:
        return f"{line}, the worst shift {percent(worst.share)}"
    return f"{line}, every shift {percent(mean.share)}"


def collectives_document(found: Collectives) -> Document:
    """What hosts get in each operation, and how long messages take."""
    return Document(
        verdict=_verdict(found),
        tables=_tables(found),
        record=found,
        pictures={"bandwidth": lambda: _figure(found)},
    )
