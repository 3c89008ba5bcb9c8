"""What the channels of a fabric do now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np

# What draws is imported when somebody looks.
from contend import report
from contend.fabric import Fabric, FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.metrics import Metric
from contend.report.page.explorable import Explorable, Layer, View, followed, routes_layer
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent, rate_words
from contend.units import counted, format_seconds, verb
from contend.watching import Watched

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


class WatchedChannelJson(msgspec.Struct, frozen=True, kw_only=True):
    """A channel between switches with counters, as it is now."""

    channel: Annotated[int, "its number."]
    name: Annotated[str, "both its ends with their ports."]
    sent_Bps: Annotated[float, "bytes per second."]
    age: Annotated[float, "seconds since the counters were so."]
    busy: Annotated[
        float | None, "part of its time that they took; null where its rate is not known."
    ]
    since: Annotated[
        float | None, "seconds since 1970 from which on it is as busy as told; null if it is not."
    ]
    waited: Annotated[float | None, "ticks in which its port could not send; null if not known."]
    predicted: Annotated[
        float | None, "share of all messages that it should carry; null if not known."
    ]
    discards: Annotated[float | None, "packets since watching began; null if not known."]
    errors: Annotated[float | None, "at its end, likewise."]
    downs: Annotated[float | None, "how often its link went down, likewise."]
    jobs: Annotated[list[str], "running jobs that send over it, most first."]


class WatchedJson(msgspec.Struct, frozen=True, kw_only=True):
    """What the channels of a fabric do now."""

    verdict: Annotated[str, "one-sentence verdict."]
    fabric: Annotated[FabricSize, "which."]
    time: Annotated[float, "seconds since 1970."]
    seconds: Annotated[
        float | None,
        "between the last two samples of a channel, the median; null where none has two.",
    ]
    threshold: Annotated[float, "from this part of its time on a channel is told as busy."]
    predicted_by: Annotated[str, "what predicts: a pattern, or the running jobs."]
    missed: Annotated[tuple[str, ...], "why sources could not be read, once for each loss."]
    returned: Annotated[
        tuple[float, ...], "seconds after which sources can be read again, once for each return."
    ]
    channels: Annotated[list[WatchedChannelJson], "in the order of their numbers."]


def watched_document(seen: Watched, *, renewed: float = 0.0) -> Document:
    """The busiest channels now and what went wrong since watching began.

    Args:
        seen: the state.
        renewed: seconds after which its page is loaded anew; 0 for never.
    """
    verdict = watched_verdict(seen)
    return Document(
        verdict=verdict,
        tables=[_busiest(seen), *_faults(seen)],
        record=filled(
            WatchedJson,
            seen,
            verdict=verdict,
            fabric=size_of(seen.fabric),
            seconds=seen.carried.seconds,
            channels=[_channel_json(seen, channel) for channel in seen.carried.known.tolist()],
        ),
        pictures={"network": lambda: report.fabric_figure(seen.fabric, *_load(seen)[:1])},
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
    for channel in seen.carried.known.tolist():
        switch, port = ends[channel // 2][2 * (channel % 2) :][:2]
        of = {
            "fabric": fabric.name,
            "channel": fabric.channel_name(channel),
            "guid": f"0x{int(fabric.switch_guid[switch]):016x}",
            "port": str(port),
            "switch": fabric.switch_name[switch],
        }
        busy = float(seen.busy[channel])
        meaning = "Part of its time that a channel carries something."
        found.append(Metric("contend_channel_busy_ratio", meaning, busy, of))
        meaning = "Seconds since the counters of a channel were so."
        found.append(Metric("contend_channel_age_seconds", meaning, _age(seen, channel), of))
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
    rate, busy = _rate(seen, first), float(seen.busy[first])
    if not rate > 0:
        return "no cable between switches carries anything"
    line = f"{seen.fabric.channel_name(first)} is the busiest, at {rate_words(rate)}"
    if not np.isnan(busy):
        line += f" or {percent(busy)} of its rate"
    if busy > _TOO_BUSY:
        line += ", more than a link can carry: the counters are in another unit"
    if not np.isnan(seen.since[first]):
        line += f", for {format_seconds(seen.time - float(seen.since[first]))} now"
    if (age := _age(seen, first)) >= 1:
        line += f", as counted {format_seconds(age)} ago"
    if jobs := _crossing(seen, first):
        line += f"; job{'s' * (len(jobs) > 1)} {_some(jobs)} {verb(len(jobs), 'sends')} over it"
    hot = int(np.count_nonzero(~np.isnan(seen.since[: 2 * seen.fabric.cables])))
    if hot > 1:
        line += f"; {counted(hot, 'channel')} carry {percent(seen.threshold)} of their rate or more"
    return line


def _order(seen: Watched) -> list[int]:
    """Channels between switches with counters, the busiest first."""
    known = seen.carried.known
    by = seen.carried.sent if np.isnan(seen.busy[known]).all() else seen.busy
    order: list[int] = known[np.argsort(-np.nan_to_num(by[known]), kind="stable")].tolist()
    return order


def _rate(seen: Watched, channel: int) -> float:
    assert seen.carried.apart is not None
    return float(seen.carried.sent[channel] / seen.carried.apart[channel])


def _age(seen: Watched, channel: int) -> float:
    assert seen.carried.at is not None
    return max(0.0, seen.time - float(seen.carried.at[channel]))


def _crossing(seen: Watched, channel: int) -> list[str]:
    return [] if seen.jobs is None else seen.jobs.crossing(channel)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _JOBS} more" if len(names) > _JOBS else ""
    return ", ".join(names[:_JOBS]) + more


def _busiest(seen: Watched) -> ResultTable:
    predicted = seen.predicted is not None
    jobs = seen.jobs is not None
    numeric = ("busy", "rate", "age", "busy for", "waited", *(("predicted",) if predicted else ()))

    def row(channel: int) -> tuple[str, ...]:
        since, waited = seen.since[channel], seen.carried.waited[channel]
        return (
            UNKNOWN if np.isnan(seen.busy[channel]) else percent(float(seen.busy[channel])),
            rate_words(_rate(seen, channel)),
            format_seconds(_age(seen, channel)),
            "" if np.isnan(since) else format_seconds(seen.time - float(since)),
            UNKNOWN if np.isnan(waited) else f"{waited:,.0f}",
            *((percent(float(seen.predicted[channel])),) if seen.predicted is not None else ()),
            *((_some(_crossing(seen, channel)),) if jobs else ()),
            seen.fabric.channel_name(channel),
        )

    return ResultTable(
        title=f"Busiest channels of {seen.fabric.name} now",
        columns=(*numeric, *(("jobs",) if jobs else ()), "channel"),
        rows=tuple(row(channel) for channel in _order(seen)[:_ROWS]),
        numeric=frozenset(numeric),
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
    return report.explored(fabric, [view], jobs=_job_of_hosts(seen))


def _job_of_hosts(seen: Watched) -> list[str]:
    if seen.jobs is None:
        return []
    names = [""] * seen.fabric.hosts
    for job, hosts in zip(seen.jobs.names, seen.jobs.hosts, strict=True):
        for host in hosts.tolist():
            names[host] = job
    return names


def _channel_json(seen: Watched, channel: int) -> WatchedChannelJson:
    def known(values: np.ndarray | None) -> float | None:
        return None if values is None or np.isnan(values[channel]) else float(values[channel])

    return WatchedChannelJson(
        channel=channel,
        name=seen.fabric.channel_name(channel),
        sent_Bps=_rate(seen, channel),
        age=_age(seen, channel),
        busy=known(seen.busy),
        since=known(seen.since),
        waited=known(seen.carried.waited),
        predicted=known(seen.predicted),
        discards=known(seen.faults.get("discards")),
        errors=known(seen.faults.get("errors")),
        downs=known(seen.faults.get("downs")),
        jobs=_crossing(seen, channel),
    )
