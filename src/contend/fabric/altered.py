"""A fabric with less or more: what is left where things die, one part alone, further cables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import Argument, InputError, UsageError
from contend.base.files import read_bounded
from contend.base.names import split_list
from contend.base.units import counted, rate_of
from contend.fabric.fabric import NO_SWITCH, Fabric, connected_parts
from contend.fabric.levels import Part, parts_of, switch_levels
from contend.fabric.named import Names

_FILE = "file:"
_PART = Argument("part")
# So many parts are named in an error.
_NAMED = 4


@dataclass(frozen=True, eq=False)
class Rest:
    """What is left of a fabric."""

    fabric: Fabric
    """Fabric without what died, the hosts that died with it, and those that are cut off from most
    others; without routes. Ports and addresses stay."""
    switches: NDArray[np.int64]
    """Numbers that its switches had before."""
    hosts: NDArray[np.int64]
    """Numbers that its hosts had before."""
    lost: tuple[str, ...]
    """What died, in words: ``switch "top 1" with 6 cables``."""
    hosts_lost: int
    """Hosts that hung on a switch or link that died."""
    hosts_cut: int
    """Hosts that no cables join to the larger part any more."""

    @property
    def words(self) -> str:
        """All of it in a line."""
        parts = [", ".join(self.lost)]
        if self.hosts_lost:
            parts.append(f"{counted(self.hosts_lost, 'host')} on it")
        if self.hosts_cut:
            parts.append(f"{counted(self.hosts_cut, 'host')} cut off")
        return "; ".join(parts)


def without(fabric: Fabric, names: Iterable[str]) -> Rest:
    """The fabric without switches, cables or hosts.

    Args:
        fabric: whole; its routes are left behind.
        names: each a switch, a cable (``spine 3:12``), a host or a server as `Names` knows them,
            all that match a glob or a range (``spine*``, ``node[01-16]``), several with commas
            between, or ``file:PATH`` with one on each line.

    Raises:
        UsageError: there is no such thing, several bear the name, or no host would be left.
        InputError: a file of names cannot be read.
    """
    dead, place = _Dead(fabric), ""
    try:
        for name in names:
            for place, one in _names_in(name):  # noqa: B007 - errors tell the last one
                dead.take(one)
        return dead.rest()
    except (InputError, UsageError) as error:
        if not place:
            raise
        raise UsageError(f"{place}{error}") from None


def without_numbers(
    fabric: Fabric, *, switches: Iterable[int] = (), cables: Iterable[int] = ()
) -> Rest:
    """The fabric without switches and cables that are given by their numbers.

    Raises:
        UsageError: no host would be left.
    """
    dead = _Dead(fabric)
    for what, numbers in (("switch", switches), ("cable", cables)):
        for number in numbers:
            dead.kill(what, number)
    return dead.rest()


def _names_in(text: str) -> list[tuple[str, str]]:
    """Names, each with the file and line where it stands, for errors; "" without a file."""
    if not text.startswith(_FILE):
        return [("", text)]
    path = text.removeprefix(_FILE)
    try:
        lines = read_bounded(path).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, 0, "a file of names", str(error)) from None
    return [
        (f"{path}:{number}: ", line.strip())
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


class _Dead:
    """What has died so far."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._names = Names(fabric)
        self._switch = np.zeros(fabric.switches, dtype=bool)
        self._cable = np.zeros(fabric.cables, dtype=bool)
        self._host = np.zeros(fabric.hosts, dtype=bool)
        self._lost: list[str] = []

    def take(self, text: str) -> None:
        """Takes away what a text names, or all that its items name."""
        found = self._names.find(text)
        if not found and len(items := split_list(text)) > 1:
            for item in items:
                if item.strip():
                    self.take(item.strip())
            return
        if not (found := found or self._names.matching(text)):
            raise self._names.unknown(text)
        for device in found:
            self.kill(*device)

    def kill(self, what: str, number: int) -> None:
        """Takes away a switch, cable or host by its number."""
        if what == "switch":
            cables = int(np.count_nonzero(self._at(number)))
            name = self._fabric.switch_name[number]
            self._lost.append(f'switch "{name}" with {counted(cables, "cable")}')
            self._switch[number] = True
        elif what == "cable":
            ends = " - ".join(self._fabric.channel_ends(2 * number))
            self._lost.append(f"the cable {ends}")
            self._cable[number] = True
        else:
            self._lost.append(f'host "{self._fabric.host_name[number]}"')
            self._host[number] = True

    def _at(self, switch: int) -> NDArray[np.bool_]:
        at: NDArray[np.bool_] = (self._fabric.cable_from == switch) | (
            self._fabric.cable_to == switch
        )
        return at

    def rest(self) -> Rest:
        """What is left."""
        fabric = self._fabric
        cables = ~(self._cable | self._switch[fabric.cable_from] | self._switch[fabric.cable_to])
        hosts = ~(self._host | self._switch[fabric.host_switch])
        if not hosts.any():
            raise UsageError(f"without {', '.join(self._lost)} no host would be left")
        part = connected_parts(fabric.switches, fabric.cable_from[cables], fabric.cable_to[cables])
        largest = _largest(part, part[fabric.host_switch[hosts]], fabric.switch_part)
        joined = hosts & np.isin(part[fabric.host_switch], largest)
        kept = np.flatnonzero(~self._switch)
        return Rest(
            subset(fabric, np.flatnonzero(joined), kept, np.flatnonzero(cables)),
            kept,
            np.flatnonzero(joined),
            tuple(dict.fromkeys(self._lost)),
            int(np.count_nonzero(self._switch[fabric.host_switch] & ~self._host)),
            int(np.count_nonzero(hosts & ~joined)),
        )


def _largest(
    part: NDArray[np.int64], of_host: NDArray[np.int64], before: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Of all that was one part before the part that has most hosts now: planes stay planes.

    Args:
        part: of every switch now.
        of_host: of every host that is left.
        before: of every switch as it was.
    """
    whole = np.zeros(len(part), dtype=np.int64)
    whole[part] = before
    order = np.argsort(-np.bincount(of_host, minlength=len(part)), kind="stable")
    return order[np.unique(whole[order], return_index=True)[1]]


def part_of(fabric: Fabric, name: int | str) -> Part:
    """A connected part by its number from 1, or by the name of any of its hosts.

    Raises:
        UsageError: there is no such part, or hosts of several bear the name.
    """
    parts, text = parts_of(fabric), str(name).strip()
    if text.isdecimal() and len(text) < 9 and 1 <= int(text) <= len(parts):
        return parts[int(text) - 1]
    named = Names(fabric).find(text)
    hosts = [number for what, number in named if what == "host"]
    having = [part for part in parts if np.isin(hosts, part.hosts).any()]
    if len(having) == 1:
        return having[0]
    if having:
        several = " and ".join(str(part.number) for part in having)
        raise UsageError(_PART, f": {text} has hosts in parts {several}: give one of the numbers")
    known = ", ".join(part.words for part in parts[:_NAMED])
    more = f" and {len(parts) - _NAMED:,} more" if len(parts) > _NAMED else ""
    raise UsageError(_PART, f": {fabric.name} has no part or host {text!r}; it has {known}{more}")


def only(fabric: Fabric, part: Part) -> Fabric:
    """The fabric as if only one part of it existed, its tables included."""
    alone = subset(fabric, part.hosts, part.switches, part.cables)
    tables = fabric.tables
    if tables is None:
        return alone.replace(routes=fabric.routes)
    return alone.replace(routes=tables.of_switches(part.switches))


def with_hosts(fabric: Fabric, hosts: NDArray[Any]) -> Fabric:
    """The fabric with some of its hosts, by their numbers; switches, cables and routes stay."""
    switches, cables = np.arange(fabric.switches), np.arange(fabric.cables)
    return subset(fabric, np.unique(hosts), switches, cables).replace(routes=fabric.routes)


def subset(
    fabric: Fabric,
    hosts: NDArray[np.int64],
    switches: NDArray[np.int64],
    cables: NDArray[np.int64],
) -> Fabric:
    """Some hosts, switches and cables of a fabric, by their numbers; without routes.

    Args:
        fabric: whole.
        hosts: on these switches only.
        switches: in rising order.
        cables: between these switches only.
    """
    # The last is for others that hang on a switch that nobody knows.
    number = np.full(fabric.switches + 1, NO_SWITCH, dtype=np.uint32)
    number[switches] = np.arange(len(switches), dtype=np.uint32)
    at = np.minimum(fabric.other_switch, fabric.switches)
    others = np.flatnonzero((at == fabric.switches) | (number[at] != NO_SWITCH))
    chosen = {"host": hosts, "switch": switches, "cable": cables, "other": others}
    left: dict[str, Any] = {"routes": None}
    for column in fields(fabric):
        if (numbers := chosen.get(column.name.partition("_")[0])) is not None:
            values = getattr(fabric, column.name)
            is_text = not isinstance(values, np.ndarray)
            left[column.name] = tuple(values[n] for n in numbers) if is_text else values[numbers]
    left["other_switch"] = number[at[others]]
    left["told"] = None if fabric.told is None else fabric.told.of_hosts(hosts)
    for name in ("host_switch", "cable_from", "cable_to"):
        left[name] = number[left[name]]
    return fabric.replace(**left)


Cable = tuple[int, int, int, int]
"""Switch and port of one end, then of the other."""
# Switches for aggregation in the network have one port more than sockets, the last, inside.
_WITH_INNER_PORT = (37, 41, 65)


def sockets(ports: int) -> int:
    """How many of a switch's ports cables can be plugged into."""
    return ports - 1 if ports in _WITH_INNER_PORT else ports


def free_ports(fabric: Fabric) -> list[list[int]]:
    """The free ports of every switch that a cable can be plugged into, ascending.

    That is those with neither a host, a router nor a cable, without the port that an aggregation
    node has inside its switch (37 of 37, 41 of 41, 65 of 65), and without the ports inside a
    director: switches of one system GUID are its chips; those without a cable out of it have inner
    ports only, and a port number that leads inside on one chip does so on all.
    """
    taken: list[set[int]] = [set() for _ in range(fabric.switches)]
    for near, near_port, far, far_port in fabric.cable_ends():
        taken[near].add(near_port)
        taken[far].add(far_port)
    for switch, port in zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True):
        taken[switch].add(port)
    for switch, port in zip(fabric.other_switch.tolist(), fabric.other_port.tolist(), strict=True):
        if switch != NO_SWITCH:
            taken[switch].add(port)
    inside = _inner_ports(fabric)
    free = []
    for switch, ports in enumerate(fabric.switch_ports.tolist()):
        not_free = taken[switch] | inside[switch]
        free.append([port for port in range(1, sockets(ports) + 1) if port not in not_free])
    return free


def cable_ports(fabric: Fabric) -> list[list[int]]:
    """The free ports of every switch that are no places of hosts, ascending.

    A place of a host is a port by which switches of its level have more hosts than cables.
    """
    level, used = switch_levels(fabric).tolist(), Counter[tuple[int, int]]()
    used.update(
        (level[switch], port)
        for switch, port in zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True)
    )
    for near, near_port, far, far_port in fabric.cable_ends():
        used.subtract(((level[near], near_port), (level[far], far_port)))
    return [
        [port for port in ports if used[level[switch], port] <= 0]
        for switch, ports in enumerate(free_ports(fabric))
    ]


def _inner_ports(fabric: Fabric) -> list[set[int]]:
    """Ports of every switch that no socket belongs to, as it is a chip of a director."""
    chips = defaultdict(list)
    for switch, system in enumerate(fabric.switch_system_guid.tolist()):
        if system:
            chips[system].append(switch)
    inside: list[set[int]] = [set() for _ in range(fabric.switches)]
    leads_out = np.zeros(fabric.switches, dtype=bool)
    leads_out[fabric.host_switch] = True
    within = defaultdict(set)
    for near, near_port, far, far_port in fabric.cable_ends():
        system = int(fabric.switch_system_guid[near])
        if system == int(fabric.switch_system_guid[far]) and len(chips[system]) > 1:
            within[system].update({(near, near_port), (far, far_port)})
        else:
            leads_out[[near, far]] = True
    for system, ends in within.items():
        numbers = {port for switch, port in ends if leads_out[switch]}
        for switch in chips[system]:
            every = set(range(int(fabric.switch_ports[switch]) + 1))
            inside[switch] = numbers if leads_out[switch] else every
    return inside


def with_ports(fabric: Fabric, ports: int | None) -> Fabric:
    """The fabric as if every switch had at least so many ports; None: as it is."""
    if ports is None:
        return fabric
    wider = np.maximum(fabric.switch_ports.astype(np.int64), ports)
    return fabric.replace(switch_ports=wider.astype(np.uint16))


def with_cables(fabric: Fabric, pairs: Sequence[tuple[int, int]]) -> tuple[Fabric, list[Cable]]:
    """The fabric with a cable between each two switches, on the ports that others have for it.

    That is the free port by which most other switches of the level are joined to the same switch;
    the lowest free port where none are, a place of a host last. A cable has the rate of the slower
    of both switches, that of its fastest links. Routes stay, as ports and addresses do.

    Returns:
        The fabric and the new cables, which have the last numbers.

    Raises:
        UsageError: a switch has no free port left.
    """
    free, for_cables = free_ports(fabric), list(map(set, cable_ports(fabric)))
    level, leading = switch_levels(fabric).tolist(), Counter[tuple[int, int, int]]()
    for near, near_port, far, far_port in fabric.cable_ends():
        leading[far, level[near], near_port] += 1
        leading[near, level[far], far_port] += 1
    fastest = _fastest_links(fabric)
    ends, rates = [], []
    for near, far in pairs:
        cable = []
        for switch, other in ((near, far), (far, near)):
            if not free[switch]:
                raise UsageError(f'switch "{fabric.switch_label[switch]}" has no free port left')
            port = max(
                free[switch],
                key=lambda port: (leading[other, level[switch], port], port in for_cables[switch]),
            )
            free[switch].remove(port)
            cable += [switch, port]
        ends.append((cable[0], cable[1], cable[2], cable[3]))
        known = [rate for rate in (fastest[near], fastest[far]) if rate]
        rates.append(min(known, key=lambda rate: rate_of(fabric.rates[rate]) or 0.0, default=0))
    columns = np.array(ends, dtype=np.int64).reshape(-1, 4).T
    names = ("cable_from", "cable_from_port", "cable_to", "cable_to_port")
    added = dict(zip(names, columns, strict=True)) | {"cable_rate": np.array(rates)}
    longer = {
        name: np.concatenate([column := getattr(fabric, name), more.astype(column.dtype)])
        for name, more in added.items()
    }
    return fabric.replace(**longer), ends


def _fastest_links(fabric: Fabric) -> list[int]:
    """The fastest rate of any link of every switch, as its number; 0 where none is known."""
    order = sorted(range(len(fabric.rates)), key=lambda rate: rate_of(fabric.rates[rate]) or 0.0)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    best = np.full(fabric.switches, place[0])
    for switches, rates in (
        (fabric.cable_from, fabric.cable_rate),
        (fabric.cable_to, fabric.cable_rate),
        (fabric.host_switch, fabric.host_rate),
    ):
        np.maximum.at(best, switches, place[rates])
    return [order[at] for at in best.tolist()]
