"""What crossed an emulated fabric, as tables."""

from __future__ import annotations

from contend.emulate import Network, Traffic
from contend.report.result_table import ResultTable
from contend.units import counted, format_bandwidth, format_bytes

_SHOWN = 10


def network_line(network: Network, seconds: float) -> str:
    """One line about a fabric that has come up."""
    settings, fabric = network.settings, network.fabric
    switches = counted(network.switches, "switch")
    hosts = counted(len(network.hosts), "host")
    return (
        f"{fabric.name}: {hosts} and {switches} up in {seconds:.1f} s, "
        f"{format_bandwidth(settings.rate)} a cable, buffers of {format_bytes(settings.buffer)}"
    )


def traffic_table(traffic: Traffic, network: Network) -> ResultTable:
    """The channels that carried most bytes, and how full they were."""
    frame = traffic.frame(network.fabric).sort(["bytes", "channel"], descending=[True, False])
    busy = frame.filter(frame["bytes"] > 0)
    could = network.settings.rate * traffic.elapsed_s
    rows = tuple(
        (
            f"{row['source']} -> {row['target']}",
            format_bytes(row["bytes"]),
            f"{row['packets']:,}",
            f"{row['drops']:,}",
            f"{row['bytes'] / could:.1%}",
        )
        for row in busy.head(_SHOWN).iter_rows(named=True)
    )
    dropped = int(traffic.drops.sum())
    within = f"within {traffic.elapsed_s:.1f} s"
    return ResultTable(
        title=f"Traffic {within}" if rows else f"Nothing crossed the fabric {within}",
        columns=("channel", "bytes", "packets", "drops", "of its rate") if rows else (),
        rows=rows,
        numeric=frozenset({"bytes", "packets", "drops", "of its rate"}),
        note=f"{len(busy):,} of {counted(len(frame), 'channel')} carried something; "
        f"{counted(dropped, 'packet')} found a buffer full",
    )
