"""What channels carry: now, as counters tell, and while a command ran on an emulated fabric."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from contend.base.units import counted, format_seconds, verb
from contend.congestion import Watched, WatchedChannel, link_rates
from contend.fabric import Fabric
from contend.lab.emulation import ChannelTraffic, Emulation, Network
from contend.report.document import Document, Metric
from contend.report.fabric.network import fabric_figure
from contend.report.fabric.scene import Layer
from contend.report.page.explorable import Explorable, View, explored, followed, routes_layer
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent, rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROWS = 8
# Jobs that a line names.
_JOBS = 4
# So much more than its rate no channel carries.
_TOO_BUSY = 1.1
_FAULTS = {
    "discards": "packets were discarded",
    "errors": "errors were received",
    "downs": "times the link went down",
}


def watched_document(seen: Watched, *, renewed: float = 0.0) -> Document:
    """The busiest channels now and what went wrong since watching began.

    Args:
        seen: the state.
        renewed: seconds after which its page is loaded anew; 0 for never.
    """
    return Document(
        verdict=watched_verdict(seen),
        tables=[_busiest(seen), *_faults(seen)],
        record=seen,
        pictures={"network": lambda: fabric_figure(seen.fabric, *_load(seen)[:1])},
        explorable=lambda: _explored(seen),
        remarks=[
            *(f"A reading failed, so the last figures stand: {why}" for why in seen.missed),
            *(f"Readings succeed again after {format_seconds(s)}." for s in seen.returned),
        ],
        renewed=renewed,
        metrics=_metrics(seen),
    )


def _metrics(seen: Watched) -> list[Metric]:
    """What every channel carries, and what went wrong on it, named as exporters name its port."""
    found, fabric = [], seen.fabric
    ends = list(fabric.cable_ends())
    for one in seen.channels:
        channel = one.channel
        switch, port = ends[channel // 2][2 * (channel % 2) :][:2]
        of = {
            "fabric": fabric.name,
            "channel": one.name,
            "guid": f"0x{int(fabric.switch_guid[switch]):016x}",
            "port": str(port),
            "switch": fabric.switch_name[switch],
        }
        busy = float(seen.busy[channel])
        meaning = "Part of its time that a channel carries something."
        found.append(Metric("contend_channel_busy_ratio", meaning, busy, of))
        meaning = "Seconds since the counters of a channel were so."
        found.append(Metric("contend_channel_age_seconds", meaning, one.age, of))
        for kind, happened in seen.faults.items():
            meaning = f"What went wrong on a channel since watching began: {kind}."
            found.append(Metric(f"contend_channel_{kind}", meaning, float(happened[channel]), of))
    return found


def watched_verdict(seen: Watched) -> str:
    """The busiest channel, since when, whose jobs cross it, and what goes wrong."""
    clock = time.strftime("%H:%M:%S", time.localtime(seen.time))
    parts = [f"{clock}: {_busy_words(seen)}"]
    for kind, words in _FAULTS.items():
        happened = seen.faults.get(kind)
        if happened is not None and np.nansum(happened) > 0:
            worst = int(np.nanargmax(happened))
            count = f"{np.nansum(happened):,.0f}"
            parts.append(f"{count} {words}, most at {seen.fabric.channel_name(worst)}")
    return f"{'; '.join(parts)}."


def _busy_words(seen: Watched) -> str:
    if not (order := _order(seen)):
        return "no counter has been renewed since the first reading"
    first = order[0]
    if not first.sent_Bps > 0:
        return "no cable between switches carries anything"
    line = f"{first.name} is the busiest, at {rate_words(first.sent_Bps)}"
    if first.busy is not None:
        line += f" or {percent(first.busy)} of its rate"
        if first.busy > _TOO_BUSY:
            line += ", more than a link can carry: the counters are in another unit"
    if first.since is not None:
        line += f", for {format_seconds(seen.time - first.since)} now"
    if first.age >= 1:
        line += f", as counted {format_seconds(first.age)} ago"
    if jobs := first.jobs:
        line += f"; job{'s' * (len(jobs) > 1)} {_some(jobs)} {verb(len(jobs), 'sends')} over it"
    hot = int(np.count_nonzero(~np.isnan(seen.since[: 2 * seen.fabric.cables])))
    if hot > 1:
        line += f"; {counted(hot, 'channel')} carry {percent(seen.threshold)} of their rate or more"
    return line


def _order(seen: Watched) -> list[WatchedChannel]:
    """Channels between switches with counters, the busiest first."""
    if all(channel.busy is None for channel in seen.channels):
        return sorted(seen.channels, key=lambda one: -seen.carried.sent[one.channel])
    return sorted(seen.channels, key=lambda one: -(one.busy or 0))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _JOBS} more" if len(names) > _JOBS else ""
    return ", ".join(names[:_JOBS]) + more


def _busiest(seen: Watched) -> ResultTable:
    predicted = seen.predicted is not None

    def busy_for(channel: WatchedChannel) -> str:
        return "" if channel.since is None else format_seconds(seen.time - channel.since)

    def waited(channel: WatchedChannel) -> str:
        return UNKNOWN if channel.waited is None else f"{channel.waited:,.0f}"

    return table_of(
        f"Busiest channels of {seen.fabric.name} now",
        _order(seen)[:_ROWS],
        {
            "busy": "busy",
            "rate": "sent_Bps",
            "age": "age",
            "busy for": Number(busy_for),
            "waited": Number(waited),
            **({"predicted": "predicted"} if predicted else {}),
            **({} if seen.jobs is None else {"jobs": lambda channel: _some(channel.jobs)}),
            "channel": "name",
        },
        note=f"predicted: share of all messages between switches, by {seen.predicted_by}"
        if predicted
        else "",
    )


def _faults(seen: Watched) -> list[ResultTable]:
    """Channels on which something went wrong since watching began."""
    told = {kind: np.nan_to_num(values) for kind, values in seen.faults.items()}
    if not told:
        return []
    total = np.sum(list(told.values()), axis=0)
    order = np.argsort(-total, kind="stable")[:_ROWS]
    worst = [channel for channel in order.tolist() if total[channel] > 0]
    if not worst:
        return []
    return [
        ResultTable(
            title="What went wrong since watching began",
            columns=(*told, "channel"),
            rows=tuple(
                (
                    *(f"{values[channel]:,.0f}" for values in told.values()),
                    seen.fabric.channel_name(channel),
                )
                for channel in worst
            ),
            numeric=frozenset(told),
        )
    ]


def _load(seen: Watched) -> tuple[np.ndarray, str]:
    if np.isnan(seen.busy).all():
        return np.nan_to_num(seen.carried.sent[: 2 * seen.fabric.cables]), "bytes"
    return 100 * np.nan_to_num(seen.busy[: 2 * seen.fabric.cables]), "% of the link's rate"


def _explored(seen: Watched) -> Explorable | None:
    values, unit = _load(seen)
    now = {"now": Layer(values, values, unit)}
    for kind, happened in seen.faults.items():
        count = np.nan_to_num(happened[: 2 * seen.fabric.cables])
        if count.any():
            now[kind] = Layer(count, count, kind)
    fabric: Fabric = seen.fabric
    view = View("now", followed(fabric), {**now, **routes_layer(fabric)})
    return explored(fabric, [view], jobs=_job_of_hosts(seen))


def _job_of_hosts(seen: Watched) -> list[str]:
    if seen.jobs is None:
        return []
    names = [""] * seen.fabric.hosts
    for job, hosts in zip(seen.jobs.names, seen.jobs.hosts, strict=True):
        for host in hosts.tolist():
            names[host] = job
    return names


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
