"""A command's run on an emulated fabric: what crossed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from contend.congestion import link_rates
from contend.emulation import Drops, Emulation, Headroom, Network, Settings, Traffic
from contend.fabric import FabricSize
from contend.report.document import Document
from contend.report.table import ResultTable
from contend.report.words import percent
from contend.units import counted, format_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 10


def network_line(network: Network, seconds: float) -> str:
    """One line about a fabric that has come up."""
    fabric = network.fabric
    switches = counted(network.switches, "switch")
    hosts = counted(len(network.hosts), "host")
    return f"{fabric.name}: {hosts} and {switches} up in {seconds:.1f} s, {network.cables}"


def emulation_document(emulation: Emulation) -> Document:
    """What a command sent over an emulated fabric."""
    network, traffic = emulation.network, emulation.traffic
    record = _record(emulation)
    return Document(
        verdict=record.verdict,
        tables=[traffic_table(traffic, network)],
        record=record,
        pictures={"network": lambda: _network(traffic, network)},
    )


def _network(traffic: Traffic, network: Network) -> Figure:
    """The network, with what crossed every cable between switches in its fuller direction."""
    # Here: most who emulate draw nothing.
    from contend.report.fabric.network import fabric_figure

    fabric = network.fabric
    between = traffic.channel < 2 * fabric.cables
    megabytes = np.zeros(2 * fabric.cables)
    megabytes[traffic.channel[between]] = traffic.bytes[between] / 1e6
    alike = len(np.unique(network.rates)) == 1
    rates = link_rates(fabric, equal=alike)
    finding = traffic_verdict(traffic, network)
    return fabric_figure(fabric, megabytes, unit="MB", rates=rates, finding=finding)


def traffic_verdict(traffic: Traffic, network: Network) -> str:
    """How full the fullest channel was, and what was dropped."""
    shares = traffic.bytes / (network.rates[traffic.channel] * traffic.elapsed_s)
    if not traffic.bytes.any():
        return "Nothing crossed the fabric."
    fullest = int(traffic.channel[shares.argmax()])
    return (
        f"The fullest channel, {network.fabric.channel_name(fullest)}, was "
        f"{percent(float(shares.max()))} full on average, and "
        f"{traffic.dropped(network.fabric)}."
    )


def traffic_table(traffic: Traffic, network: Network) -> ResultTable:
    """The channels that carried most bytes, and how full they were."""
    frame = traffic.frame(network.fabric).sort(["bytes", "channel"], descending=[True, False])
    busy = frame.filter(frame["bytes"] > 0)
    capacity = network.rates * traffic.elapsed_s
    rows = tuple(
        (
            f"{row['source']} -> {row['target']}",
            format_bytes(row["bytes"]),
            f"{row['packets']:,}",
            f"{row['drops']:,}",
            f"{row['bytes'] / capacity[row['channel']]:.1%}",
        )
        for row in busy.head(_SHOWN).iter_rows(named=True)
    )
    within = f"within {traffic.elapsed_s:.1f} s"
    return ResultTable(
        title=f"Traffic {within}" if rows else f"Nothing crossed the fabric {within}",
        columns=("channel", "bytes", "packets", "drops", "of its rate") if rows else (),
        rows=rows,
        numeric=frozenset({"bytes", "packets", "drops", "of its rate"}),
        note=f"{len(busy):,} of {counted(len(frame), 'channel')} carried traffic; "
        f"{traffic.dropped(network.fabric)}",
    )


class EmulatedHostJson(msgspec.Struct, frozen=True, kw_only=True):
    """A host that was up."""

    name: Annotated[str, "in the fabric."]
    label: Annotated[str, "name by which programs reach it."]
    address: Annotated[str, "its IP address."]


class CrossedJson(msgspec.Struct, frozen=True, kw_only=True):
    """What crossed a channel."""

    channel: Annotated[int, "its number in the fabric."]
    source: Annotated[str, "what sends on it."]
    target: Annotated[str, "what receives from it."]
    bytes: Annotated[int, "sent on the wire, Ethernet headers included."]
    packets: Annotated[int, "number of packets sent."]
    drops: Annotated[int, "number of packets that found its queue full."]


class TrafficJson(msgspec.Struct, frozen=True, kw_only=True):
    """What crossed the fabric."""

    elapsed_s: Annotated[float, "seconds in which it did."]
    bytes: Annotated[int, "over all channels."]
    packets: Annotated[int, "over all channels."]
    drops: Annotated[int, "over all channels."]
    drops_by_place: Annotated[Drops, "the same by where the full queue was."]
    channels: Annotated[list[CrossedJson], "the same for every channel."]


class EmulationJson(msgspec.Struct, frozen=True, kw_only=True):
    """A command's run on an emulated fabric; rates are bytes per second."""

    verdict: Annotated[str, "how full the fabric was, in words."]
    fabric: Annotated[FabricSize, "what was emulated."]
    engine: Annotated[str, "what computed the routes."]
    settings: Annotated[
        Settings, "every cable's rate, queues and burst, and the hosts' shortest time-out."
    ]
    piece: Annotated[
        int, "packets that cross cables as one piece at most; a drop is that of a piece."
    ]
    tcp: Annotated[dict[str, str], "what decides how hosts send, by the kernel's names of it."]
    headroom: Annotated[Headroom | None, "what the machine carries; null if that was not checked."]
    hosts: Annotated[list[EmulatedHostJson], "the hosts in their order."]
    command: Annotated[list[str], "what ran."]
    status: Annotated[int, "its exit status."]
    traffic: Annotated[TrafficJson, "what it sent."]


def _record(emulation: Emulation) -> EmulationJson:
    network, traffic = emulation.network, emulation.traffic
    fabric = network.fabric
    hosts = zip(network.numbers, network.hosts, network.addresses, strict=True)
    return EmulationJson(
        verdict=traffic_verdict(traffic, network),
        fabric=FabricSize(
            name=fabric.name,
            hosts=len(network.hosts),
            switches=network.switches,
            channels=len(traffic.channel),
        ),
        engine="" if fabric.routes is None else fabric.routes.engine,
        settings=network.settings,
        piece=network.piece,
        tcp=emulation.tcp,
        headroom=network.headroom,
        hosts=[
            EmulatedHostJson(name=fabric.host_name[host], label=label, address=address)
            for host, label, address in hosts
        ],
        command=list(emulation.command),
        status=emulation.status,
        traffic=msgspec.convert(traffic.json(fabric), TrafficJson),
    )
