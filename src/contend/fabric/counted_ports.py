"""What the channels of a fabric have carried, by the counters of their ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.fabric.formats.port_counters import PortCount, read_counters
from contend.fabric.formats.source import open_chunks, source_name
from contend.fabric.servers import server_names
from contend.units import counted

# Far above any fabric: a file for every host.
_MOST_FILES = 100_000


@dataclass(frozen=True, eq=False)
class Carried:
    """What channels have carried, since counters were last cleared or between two readings.

    Attributes:
        fabric: whose channels.
        sent: bytes by channel, NaN where no counter tells, shape [channels].
        waited: ticks in which the port before a channel had something to send and could not,
            likewise; what a tick is differs between devices.
        seconds: between two readings; None where that is not known.
        ports: how many ports had counters.
        unknown: how many of them the fabric does not have.
        cleared: how many channels were left out because a counter went back in between.
    """

    fabric: Fabric
    sent: NDArray[np.float64]
    waited: NDArray[np.float64]
    seconds: float | None
    ports: int
    unknown: int
    cleared: int

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
    last = _Reading(fabric, counters)
    sent, waited, cleared = last.sent, last.waited, 0
    if before:
        first = _Reading(fabric, before)
        sent, waited = sent - first.sent, waited - first.waited
        back = sent < 0
        cleared = int(np.count_nonzero(back))
        sent = np.where(back, np.nan, sent)
        waited = np.where(back | (waited < 0), np.nan, waited)
        if seconds is None and last.time is not None and first.time is not None:
            passed = last.time - first.time
            seconds = passed if passed > 0 else None
    result = Carried(fabric, sent, waited, seconds, last.ports, last.unknown, cleared)
    if len(result.known) == 0:
        files = ", ".join(map(str, counters))
        raise UsageError(
            f"{files}: none of {counted(last.ports, 'port')} with counters is of a channel between "
            f"switches of {fabric.name}"
            + (f"; {last.unknown:,} are of no port that it has" if last.unknown else "")
        )
    return result


class _Reading:
    """Counters at one time, on channels."""

    def __init__(self, fabric: Fabric, paths: Iterable[str | Path]) -> None:
        self._fabric = fabric
        self._channels = _ports(fabric)
        self.sent = np.full(fabric.channels, np.nan)
        self.waited = np.full(fabric.channels, np.nan)
        received = np.full(fabric.channels, np.nan)
        self.ports = self.unknown = 0
        times: list[float] = []
        for count in _read_all(paths):
            self.ports += 1
            channels = self._of(count)
            if channels is None:
                self.unknown += 1
                continue
            out, into = channels
            for array, channel, value in (
                (self.sent, out, count.sent),
                (self.waited, out, count.waited),
                (received, into, count.received),
            ):
                if value is not None:
                    array[channel] = value
            if count.time is not None:
                times.append(count.time)
        # What one port does not tell of, the one at the other end does.
        self.sent = np.where(np.isnan(self.sent), received, self.sent)
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


def _read_all(paths: Iterable[str | Path]) -> list[PortCount]:
    """The counters of all files; of several that name a port alike, those of the last."""
    counts: dict[Any, PortCount] = {}
    for path in paths:
        for file in _files(path):
            name = Path(file).name
            for count in read_counters(open_chunks(file), source_name(file), _stem(name)):
                known = counts.get(count.key)
                counts[count.key] = count if known is None else _filled(known, count)
    return list(counts.values())


def _filled(known: PortCount, count: PortCount) -> PortCount:
    """The later count, with what it does not tell from the earlier one."""
    told: dict[str, Any] = {
        name: value
        for name in ("sent", "received", "waited", "time")
        if (value := getattr(count, name)) is not None
    }
    return replace(known, **told)


def _stem(name: str) -> str:
    """The host that a file is named after: ``node07`` of ``node07.prom.gz``."""
    return name.partition(".")[0]


def _files(path: str | Path) -> list[str]:
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
