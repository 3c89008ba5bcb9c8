"""A command's run on an emulated fabric: what crossed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contend.base.units import counted
from contend.congestion import link_rates
from contend.lab.emulation import ChannelTraffic, Emulation, Network
from contend.report.document import Document
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import percent

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
    return Document(
        verdict=_verdict(emulation),
        tables=[_table(emulation)],
        record=emulation,
        pictures={"network": lambda: _network(emulation)},
    )


def _network(emulation: Emulation) -> Figure:
    """The network, with what crossed every cable between switches in its fuller direction."""
    # Here: most who emulate draw nothing.
    from contend.report.fabric.network import fabric_figure

    network, fabric = emulation.network, emulation.network.fabric
    megabytes = np.zeros(2 * fabric.cables)
    for channel in emulation.traffic.channels:
        if channel.channel < 2 * fabric.cables:
            megabytes[channel.channel] = channel.bytes / 1e6
    alike = len(np.unique(network.rates)) == 1
    rates = link_rates(fabric, equal=alike)
    finding = _verdict(emulation)
    return fabric_figure(fabric, megabytes, unit="MB", rates=rates, finding=finding)


def _shares(emulation: Emulation) -> dict[ChannelTraffic, float]:
    """How full every channel was, on average."""
    capacity = emulation.network.rates * emulation.traffic.elapsed_s
    return {
        channel: float(channel.bytes / capacity[channel.channel])
        for channel in emulation.traffic.channels
    }


def _verdict(emulation: Emulation) -> str:
    """How full the fullest channel was, and what was dropped."""
    if not emulation.traffic.bytes:
        return "Nothing crossed the fabric."
    shares = _shares(emulation)
    fullest = max(shares, key=lambda channel: shares[channel])
    return (
        f"The fullest channel, {emulation.network.fabric.channel_name(fullest.channel)}, was "
        f"{percent(shares[fullest])} full on average, and {emulation.traffic.drops_by_place}."
    )


def _table(emulation: Emulation) -> ResultTable:
    """The channels that carried most bytes, and how full they were."""
    traffic = emulation.traffic
    busy = [channel for channel in traffic.channels if channel.bytes]
    busy.sort(key=lambda channel: (-channel.bytes, channel.channel))
    note = (
        f"{len(busy):,} of {counted(len(traffic.channels), 'channel')} carried traffic; "
        f"{traffic.drops_by_place}"
    )
    shares = _shares(emulation)
    within = f"within {traffic.elapsed_s:.1f} s"
    if not busy:
        return ResultTable(f"Nothing crossed the fabric {within}", (), (), note=note)
    return table_of(
        f"Traffic {within}",
        busy[:_SHOWN],
        {
            "channel": lambda channel: f"{channel.source} -> {channel.target}",
            "bytes": "bytes",
            "packets": "packets",
            "drops": "drops",
            "of its rate": Number(lambda channel: f"{shares[channel]:.1%}"),
        },
        note=note,
    )
