"""What the channels of a fabric have carried, by the counters of their ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.schema import PythonOnly, Seconds
from contend.base.units import counted, verb
from contend.fabric.counters.port_counters import FAULTS, UNITS, PortCount, read_counters
from contend.fabric.fabric import Fabric
from contend.fabric.servers import server_names
from contend.fabric.streams.source import open_chunks, peek, source_name

# Far above any fabric: a file for every host.
_MOST_FILES = 100_000
# Two counts of one channel are read at different times: from so many bytes on, and so near to each
# other, they are the same, or one is four times the other.
_SMALLEST, _ALIKE = 1e6, 0.02
# Counters that a message names.
_NAMED = 4
_HOW_TO_GET = "ibqueryerrors --counters prints them for all ports, perfquery -x for one"


@dataclass(frozen=True, eq=False)
class Carried:
    """What channels have carried, since counters were last cleared or between two readings."""

    fabric: PythonOnly[Fabric]
    """Whose channels."""
    sent: PythonOnly[NDArray[np.float64]]
    """Bytes by channel, NaN where no counter tells, shape [channels]."""
    waited: PythonOnly[NDArray[np.float64]]
    """Ticks in which the port before a channel had something to send and could not, NaN where no
    counter tells, shape [channels]; what a tick is differs between devices."""
    seconds: Seconds | None
    """Seconds between two readings; null for a single reading, or if they are not known."""
    ports: int
    """Number of ports that had counters."""
    unknown: int
    """Number of these ports that are no part of the fabric."""
    cleared: int
    """Number of ports that were left out because a counter went back in between."""
    full: int
    """Number of ports with counters that were left out because they are at their 32-bit limit."""
    units: dict[str, int]
    """Bytes that one count was taken for, by the name of the counter."""
    compared: int
    """Number of channels with two counters: from two sources, or from the ports at both ends."""
    fourfold: int
    """Number of these that differ by a factor of 4, as when words of four bytes pass for bytes."""
    faults: PythonOnly[Mapping[str, NDArray[np.float64]]] = field(default_factory=dict)
    """How often what went wrong, by `FAULTS`: packets dropped before a channel, errors at its end,
    and the link down, NaN where no counter tells, shape [channels]."""
    apart: PythonOnly[NDArray[np.float64] | None] = None
    """Seconds between the two samples of a channel, NaN where it has none, shape [channels]; None
    where `seconds` is that of all."""
    at: PythonOnly[NDArray[np.float64] | None] = None
    """Seconds since 1970 of the later of them, NaN where there is none, shape [channels]."""
    empty_files: int = 0
    """Number of files that were left out because they are empty."""

    @property
    def known(self) -> NDArray[np.int64]:
        """Channels between switches with counters."""
        return np.flatnonzero(~np.isnan(self.sent[: 2 * self.fabric.cables]))


def carried(
    fabric: Fabric,
    counters: Sequence[str | Path],
    before: Sequence[str | Path] = (),
    seconds: float | None = None,
) -> Carried:
    """What channels have carried, from files or folders of port counters.

    Args:
        fabric: whose channels.
        counters: outputs of perfquery, ibqueryerrors or exporters, of different ports or counters.
        before: the same at an earlier time, to be taken off.
        seconds: between both; None takes them from the times that the files say, if they do.

    Raises:
        UsageError: a file cannot be read, or no counter is of a channel between switches.
        InputError: a file holds something else.
    """
    (earlier, empty_before), (counts, empty) = read_all(before), read_all(counters)
    first, last = Reading(fabric, earlier) if before else None, Reading(fabric, counts)
    result = replace(carried_between(first, last, seconds), empty_files=empty_before + empty)
    if len(result.known) == 0:
        why = _why_nothing(last, result.cleared)
        raise UsageError(f"{', '.join(map(str, counters))}: {why}")
    return result


def carried_between(first: Reading | None, last: Reading, seconds: float | None = None) -> Carried:
    """What channels have carried between two readings.

    Args:
        first: the earlier one; None for all that was counted since counters were cleared.
        last: the later one.
        seconds: between both; None takes them from the times that counters say, if they do.
    """
    fabric = last.fabric
    columns, cleared, faults = last.columns, 0, last.faults
    if first is not None:
        columns, cleared = _between(fabric, first.columns, last.columns)
        # What is seen for the first time has happened since nobody knows when.
        none = np.full(fabric.channels, np.nan)
        grown = {name: faults[name] - first.faults.get(name, none) for name in faults}
        faults = {name: np.where(more < 0, np.nan, more) for name, more in grown.items()}
        if seconds is None and last.time is not None and first.time is not None:
            passed = last.time - first.time
            seconds = passed if passed > 0 else None
    return replace(_carried(last, columns, cleared), seconds=seconds, faults=faults)


def _carried(last: Reading, columns: _Columns, cleared: int) -> Carried:
    fabric = last.fabric
    sent, waited, ratios = _merged(fabric, columns)
    fourfold = np.abs(ratios / 4 - 1) < _ALIKE
    kinds = [kind for kind in UNITS if {("sent", kind), ("received", kind)} & columns.keys()]
    return Carried(
        fabric=fabric,
        sent=sent,
        waited=waited,
        seconds=None,
        ports=last.ports,
        unknown=last.unknown,
        cleared=cleared,
        full=last.full,
        units={kind: UNITS[kind] for kind in kinds},
        compared=len(ratios),
        fourfold=int(np.count_nonzero(fourfold)),
    )


_Columns = dict[tuple[str, str], NDArray[np.float64]]


class Samples:
    """The last two samples of every port, which are of different times.

    What has no new sample keeps what the last two told.
    """

    def __init__(self, first: Reading) -> None:
        """Begins with the first reading, all of whose counters have times."""
        self._columns, self._times = dict(first.columns), dict(first.times)
        self._grown: _Columns = {}
        self._apart: _Columns = {}

    def add(self, now: Reading) -> Carried:
        """What channels carried between their last two samples, those of `now` included."""
        fabric = now.fabric
        none = np.full(fabric.channels, np.nan)
        new: _Columns = {}
        for key, column in now.columns.items():
            before = self._times.get(key, none)
            later = np.isnan(before) | (now.times[key] > before)
            new[key] = np.where(later, column, np.nan)
        grown, cleared = _between(fabric, self._columns, new)
        for key, column in new.items():
            fresh = ~np.isnan(column)
            apart = now.times[key] - self._times.get(key, none)
            for held, values in (
                (self._grown, grown.get(key, none)),
                (self._apart, apart),
                (self._columns, column),
                (self._times, now.times[key]),
            ):
                held[key] = np.where(fresh, values, held.get(key, none))
        told = {key: ~np.isnan(column) for key, column in self._grown.items()}
        apart, at = (
            _merged(fabric, {key: np.where(told[key], held[key], np.nan) for key in told})[0]
            for held in (self._apart, self._times)
        )
        known = apart[~np.isnan(apart)]
        return replace(
            _carried(now, self._grown, cleared),
            seconds=float(np.median(known)) if len(known) else None,
            apart=apart,
            at=at,
        )


def _between(fabric: Fabric, first: _Columns, last: _Columns) -> tuple[_Columns, int]:
    """What was counted between two readings, and how many ports were cleared in between.

    A port one of whose counters went back was cleared: the others may have grown beyond what they
    had been by then, and say nothing either.
    """
    opposite = np.arange(fabric.channels)
    opposite[: 2 * fabric.cables] ^= 1
    hosts = np.arange(2 * fabric.cables, fabric.channels)
    opposite[hosts] = np.roll(hosts, fabric.hosts)
    columns = {key: last[key] - first[key] for key in last if key in first}
    back = dict.fromkeys((kind for _, kind in columns), np.zeros(fabric.channels, dtype=np.bool_))
    for (meaning, kind), counted_by in columns.items():
        fell = counted_by < 0
        # What a port receives comes over the channel opposite to that which it sends on.
        back[kind] = back[kind] | (fell[opposite] if meaning == "received" else fell)
    for (meaning, kind), counted_by in columns.items():
        out = back[kind]
        counted_by[out[opposite] if meaning == "received" else out] = np.nan
    cleared = np.zeros(fabric.channels, dtype=np.bool_)
    for out in back.values():
        cleared |= out
    return columns, int(np.count_nonzero(cleared))


def _merged(
    fabric: Fabric, columns: _Columns
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """What channels carried and waited, and the ratio of the larger to the smaller of two counts.

    What one port does not tell of, the one at the other end does. Of several kinds of counters the
    tools' own come first, whose unit is certain.
    """
    sent, waited = (np.full(fabric.channels, np.nan) for _ in range(2))
    ratios = [np.zeros(0)]
    for meaning in ("sent", "received", "waited"):
        for column in (columns[meaning, kind] for kind in UNITS if (meaning, kind) in columns):
            if meaning == "waited":
                waited = np.where(np.isnan(waited), column, waited)
                continue
            both = np.flatnonzero((sent >= _SMALLEST) & (column >= _SMALLEST))
            ratio = sent[both] / column[both]
            ratios.append(np.maximum(ratio, 1 / ratio))
            sent = np.where(np.isnan(sent), column, sent)
    return sent, waited, np.concatenate(ratios)


def _why_nothing(reading: Reading, cleared: int) -> str:
    """Why no channel between switches has a counter of what it carries."""
    name = reading.fabric.name
    if not reading.between:
        others = f"; it does not have {reading.unknown:,} of them" if reading.unknown else ""
        return (
            f"{counted(reading.ports, 'port')} {verb(reading.ports, 'has')} counters, but none is "
            f"at a cable between switches of {name}{others}"
        )
    ports = f"{counted(reading.between, 'port')} of channels between switches of {name}"
    has = verb(reading.between, "has")
    if reading.data:
        if cleared:
            return f"{ports} {has} counters that went back since the earlier reading: cleared"
        return f"{ports} {has} counters, but none of them in the earlier reading"
    if reading.full:
        return (
            f"{ports} {has} counters, but PortXmitData is at its 32-bit limit and says nothing; "
            f"{_HOW_TO_GET}"
        )
    told = sorted(reading.told)
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return (
        f"{ports} {has} counters ({', '.join(told[:_NAMED])}{more}), but none of what they carry "
        f"(PortXmitData, PortRcvData, or an exporter's metric of them); {_HOW_TO_GET}"
    )


class Reading:
    """Counters at one time, on channels.

    Attributes:
        fabric: whose.
        faults: what went wrong, see `Carried`.
        columns: bytes sent or received, or ticks waited, by meaning and kind of counters, by
            channel, NaN where no counter tells, shape [channels].
        ports: how many ports had counters.
        unknown: how many of them the fabric does not have.
        between: how many are of channels between switches.
        told: names of their counters.
        data: whether any of these tells what a channel carries.
        full: ports with counters that are at their 32-bit limit.
        times: seconds since 1970 of every figure in `columns`, NaN where nobody says it.
        time: the latest of them; None where there is none.
    """

    def __init__(self, fabric: Fabric, counts: Iterable[PortCount]) -> None:
        self.fabric = fabric
        self._channels = _ports(fabric)
        self.columns: _Columns = {}
        self.times: _Columns = {}
        self.faults: dict[str, NDArray[np.float64]] = {}
        ports, unknown, between = set(), set(), set()
        told: set[str] = set()
        full: set[Any] = set()
        times: list[float] = []
        self.data = False
        for count in counts:
            ports.add(count.key)
            channels = self._of(count)
            if channels is None:
                unknown.add(count.key)
                continue
            out, into = channels
            for meaning, channel, value in (
                ("sent", out, count.sent),
                ("received", into, count.received),
                ("waited", out, count.waited),
            ):
                if value is not None:
                    column = self.columns.get((meaning, count.kind))
                    if column is None:
                        column = np.full(fabric.channels, np.nan)
                        self.columns[meaning, count.kind] = column
                        self.times[meaning, count.kind] = column.copy()
                    column[channel] = value
                    if count.time is not None:
                        self.times[meaning, count.kind][channel] = count.time
            for name in FAULTS:
                happened = [n for (meaning, _), n in count.faults.items() if meaning == name]
                if happened:
                    at = into if name == "errors" else out
                    column = self.faults.setdefault(name, np.full(fabric.channels, np.nan))
                    column[at] = np.nan_to_num(column[at]) + sum(happened)
            if out < 2 * fabric.cables:
                between.add(out)
                told |= count.told
                self.data |= count.sent is not None or count.received is not None
            if count.full:
                full.add(out)
            if count.time is not None:
                times.append(count.time)
        self.ports, self.unknown, self.between = len(ports), len(unknown), len(between)
        self.told, self.full = told, len(full)
        self.time = max(times, default=None)

    def _of(self, count: PortCount) -> tuple[int, int] | None:
        """Channels that lead out of a port and into it."""
        if count.guid:
            return self._channels.get(("guid", count.guid, count.port))
        if count.lid:
            return self._channels.get(("lid", count.lid, count.port))
        server = count.host.partition(".")[0]
        for name in (
            f"{count.host} {count.device}",
            f"{server} {count.device}",
            count.host,
            server,
        ):
            if found := self._channels.get(("name", name, count.port)):
                return found
        return None


def _ports(fabric: Fabric) -> dict[tuple[str, Any, int], tuple[int, int]]:
    """Channels out of and into every port, by what counters may call it."""
    found: dict[tuple[str, Any, int], tuple[int, int]] = {}
    for cable, ends in enumerate(fabric.cable_ends()):
        there, back = 2 * cable, 2 * cable + 1
        for switch, port, channels in (
            (ends[0], ends[1], (there, back)),
            (ends[2], ends[3], (back, there)),
        ):
            _name_switch(fabric, found, switch, port, channels)
    servers = server_names(fabric)
    rails = Counter(servers)
    for host in range(fabric.hosts):
        injection = 2 * fabric.cables + host
        channels = (injection, injection + fabric.hosts)
        switch, at = int(fabric.host_switch[host]), int(fabric.host_port[host])
        _name_switch(fabric, found, switch, at, channels[::-1])
        port = int(fabric.host_adapter_port[host])
        for guid in (int(fabric.host_guid[host]), int(fabric.host_port_guid[host])):
            found[("guid", guid, port)] = channels
        found[("lid", int(fabric.host_lid[host]), port)] = channels
        found[("name", fabric.host_name[host], port)] = channels
        if rails[servers[host]] == 1:
            found[("name", servers[host], port)] = channels
    for key in ("guid", "lid"):
        found = {name: ends for name, ends in found.items() if name[:2] != (key, 0)}
    return found


def _name_switch(
    fabric: Fabric,
    found: dict[tuple[str, Any, int], tuple[int, int]],
    switch: int,
    port: int,
    channels: tuple[int, int],
) -> None:
    found[("guid", int(fabric.switch_guid[switch]), port)] = channels
    found[("lid", int(fabric.switch_lid[switch]), port)] = channels


def read_all(paths: Iterable[str | Path]) -> tuple[list[PortCount], int]:
    """The counters of all files; of several of a kind that name a port alike, the last ones.

    Files that are empty are passed over, as a tool leaves them that could not reach its port.

    Returns:
        The counters, and how many files were empty.

    Raises:
        InputError: all of them are.
    """
    counts: dict[Any, PortCount] = {}
    empty: list[str] = []
    for path in paths:
        for file in files_in(path):
            name = Path(file).name
            head, chunks = peek(open_chunks(file))
            if not head.strip():
                empty.append(source_name(file))
                continue
            # A file may be named after its host, as node07.prom.gz.
            for count in read_counters(chunks, source_name(file), name.partition(".")[0]):
                known = counts.get((count.key, count.kind))
                kept = count if known is None else _filled(known, count)
                counts[count.key, count.kind] = kept
    if empty and not counts:
        # Says so.
        read_counters([], empty[0])
    return list(counts.values()), len(empty)


def _filled(known: PortCount, count: PortCount) -> PortCount:
    """The later count, with what it does not tell from the earlier one."""
    told: dict[str, Any] = {
        name: value
        for name in ("sent", "received", "waited", "time")
        if (value := getattr(count, name)) is not None
    }
    told["faults"] = {**known.faults, **count.faults}
    return replace(known, told=known.told | count.told, full=known.full | count.full, **told)


def files_in(path: str | Path) -> list[str]:
    """A file itself, or those of a folder."""
    if str(path) == "-" or not Path(path).is_dir():
        return [str(path)]
    files = sorted(
        str(file) for file in Path(path).iterdir() if file.is_file() and file.name[0] != "."
    )
    if not files:
        raise UsageError(f"{path}: no file is in this folder")
    if len(files) > _MOST_FILES:
        raise UsageError(f"{path}: expected up to {_MOST_FILES:,} files, got {len(files):,}")
    return files
