"""Bandwidths of operations of all ranks: verdict, tables, figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from contend.base.errors import printable_line
from contend.base.units import counted, format_bytes, format_rate, format_seconds
from contend.congestion import Collective, Collectives, GpuCollective, GpuCollectives, Queues
from contend.congestion.gpus import NVLINK, CollectiveTime, Timed
from contend.report.charts import Bars, Stack, charted
from contend.report.document import Document
from contend.report.series import port_axis
from contend.report.simulation.packets import locked_words
from contend.report.style import COLOURS
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, first_clause, percent, percent_range, rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_APART = "No cable joins the rails, so that only what stays within one is predicted"
# Shares that differ by less read alike.
_ALIKE = 0.0005


def _verdict(found: Collectives) -> str:
    """What an all-to-all gets and how long it takes, and what shifts get."""
    if found.gpu is not None and not found.operations:
        return f"{_gpu_finding(found.gpu)} {_APART}.{_packets(found)}"
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
            f"blocks of {format_bytes(longest.bytes)}, {rate_words(at_once.rate_Bps)} a host "
            f"({percent(at_once.share)} of what ports allow)"
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
    line += _packets(found)
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


def _tables(found: Collectives) -> list[ResultTable]:
    """What a host gets in each operation, and how long it takes by size."""
    gpus = [] if found.gpu is None else [_gpu_table(found.gpu, found.placement)]
    if not found.operations:
        return gpus
    placed = f"{counted(found.ranks, 'rank')}, {found.placement} placement"
    if found.shifts < found.ranks - 1:
        placed += f"; {found.shifts:,} of {found.ranks - 1:,} shifts counted"
    if len(set(found.fabric.host_rate.tolist())) > 1:
        placed += "; port speed is that of the slowest host"
    known = found.operations[0].rate_Bps is not None
    engine = f", routes by {found.engine}" if found.engine not in ("", found.fabric.name) else ""
    operations = table_of(
        f"What a host gets on {found.fabric.name}{engine}",
        found.operations,
        {
            "": "name",
            "rounds": "rounds",
            "of port speed": "share",
            **_by_packets(found.operations[0]),
            "a host gets": "rate_Bps",
            **_times(found.operations[0]),
        },
        note=f"{placed}; links only, no latency{_by_counting(found.operations[0])}; every round "
        "waits for its slowest message; sizes are per message"
        f"{'' if known else '; the rates of links are unknown'}",
    )
    return [*gpus, operations]


def _gpu_table(gpu: GpuCollectives, placement: str) -> ResultTable:
    inside = "" if gpu.nvlink_Bps is None else f", {format_rate(gpu.nvlink_Bps)} inside a server"
    return table_of(
        f"Collectives as GPU libraries run them, on {counted(gpu.servers, 'server')}",
        gpu.collectives,
        {
            "": "name",
            "of what ports allow": "share",
            **_by_packets(gpu.collectives[0]),
            "bus bandwidth": "bus_Bps",
            **_times(gpu.collectives[0]),
            "limited by": lambda way: printable_line(way.limit),
        },
        note=f"one GPU for each of the {gpu.rails} adapters of a server{inside}, {placement} "
        "placement; bus bandwidth and bytes as nccl-tests count them; links only, no latency"
        f"{_by_counting(gpu.collectives[0])}",
    )


def _by_packets(first: Timed) -> dict[str, Number[Any]]:
    """A column for every kind of queues."""

    def column(queues: Queues) -> Number[Timed]:
        def words(way: Timed) -> str:
            share = (way.packet_shares or {})[queues]
            return percent(share) if share else "locks up"

        return Number(words)

    return {f"packets, {queues}": column(queues) for queues in first.packet_shares or ()}


def _by_counting(first: Timed) -> str:
    return ", but for packets; rates and times are by counting" if first.packet_shares else ""


def _locked(found: Collectives) -> str:
    """In how many operations packets wait for each other for ever; "" for none."""
    ways = [*(found.gpu.collectives if found.gpu else ()), *found.operations]
    stuck = [way for way in ways if not all((way.packet_shares or {}).values())]
    if not stuck:
        return ""
    some = counted(len(ways), "operation")
    return f"packet by packet {locked_words(found.circle or (), f'in {len(stuck)} of {some}')}"


def _packets(found: Collectives) -> str:
    """What the first of all, and the one that loses most, get packet by packet."""
    ways: Sequence[Collective | GpuCollective] = (
        found.operations if found.gpu is None else found.gpu.collectives
    )
    if not ways[0].packet_shares:
        return ""
    if locked := _locked(found):
        return f" {locked[:1].upper()}{locked[1:]}."
    first = ways[0]
    worst = min(ways, key=lambda way: min((way.packet_shares or {}).values()) / way.share)
    size = format_bytes(first.times[-1].bytes)
    line = f" Packet by packet, with messages of {size}, {first.name} gets {_packet_share(first)}"
    if worst is not first:
        line += f"; {worst.name} loses most: {_packet_share(worst)}"
    return f"{line}."


def _packet_share(way: Collective | GpuCollective) -> str:
    shares = (way.packet_shares or {}).values()
    got = percent_range(min(shares), max(shares))
    counted_share = percent(way.share)
    return got if got == counted_share else f"{got} in place of {counted_share}"


def _times(first: Timed) -> dict[str, Number[Any]]:
    """A column for every size."""

    def column(place: int) -> Number[Timed]:
        return Number(lambda way: _time(way.times[place]))

    return {f"time, {format_bytes(time.bytes)}": column(n) for n, time in enumerate(first.times)}


def _time(time: CollectiveTime) -> str:
    return UNKNOWN if time.seconds is None else format_seconds(time.seconds)


def _figure(found: Collectives) -> Figure:
    """What a host or a GPU gets in each as a share of its port, with its rate and time."""
    gpus = () if found.gpu is None else found.gpu.collectives
    ways: list[tuple[Collective | GpuCollective, float | None]]
    ways = [(way, way.bus_Bps) for way in gpus]
    ways += [(way, way.rate_Bps) for way in found.operations]
    shares = [way.share for way, _ in ways]
    colours = [COLOURS[1]] * len(gpus) + [COLOURS[0]] * len(found.operations)
    chart = Bars(
        names=[way.name for way, _ in ways],
        ends=[_beside(way, rate) for way, rate in ways],
        stacks=[Stack(shares, colour=colours)],
        x=port_axis(f"on {found.fabric.name}, as a share of what ports allow", max(shares)),
    )
    finding = first_clause(_verdict(found))
    return charted(finding, chart, height=1.3 + 0.24 * len(ways), width=5.8)


def _beside(way: Collective | GpuCollective, rate: float | None) -> str:
    longest = way.times[-1]
    if longest.seconds is None:
        return percent(way.share)
    return (
        f"{rate_words(rate)}, {format_seconds(longest.seconds)} for {format_bytes(longest.bytes)}"
    )


def collectives_document(found: Collectives) -> Document:
    """What hosts get in each operation, and how long messages take."""
    return Document(
        verdict=_verdict(found),
        tables=_tables(found),
        record=found,
        pictures={"bandwidth": lambda: _figure(found)},
        shortfall=_locked(found),
    )
