"""A fabric with more: copies of switches and servers on ports that are free, and their cables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from contend.base.names import natural
from contend.fabric.altered import Cable, free_ports, sockets
from contend.fabric.fabric import Fabric
from contend.fabric.servers import server_names

# GUIDs that no vendor gives: the bit of those that are given out locally.
_FIRST_GUID = 0x0200_0000_0000_0000
_NUMBER = re.compile(r"\d+")
# Numbers of a name that may count.
_MOST_NUMBERS = 4


@dataclass(frozen=True)
class _Host:
    like: int
    name: str
    guids: tuple[int, int, int]
    switch: int
    port: int
    server: int


class Grown:
    """What is added to a fabric, one device after the other; nothing that is there changes.

    Switches and hosts are copies of others: of their ports, rates and names, whose number counts
    on. They have GUIDs of their own and the LIDs that follow.
    """

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self.free = [set(ports) for ports in free_ports(fabric)]
        """Free ports of every switch, new ones included."""
        self.alike: list[int] = []
        """Switch that each new one is like."""
        self.cables: list[tuple[Cable, int]] = []
        """New cables between switches, each with its rate's number."""
        self._hosts: list[_Host] = []
        self._servers = 0
        self._switch_names: list[str] = []
        self._switch_guids: list[tuple[int, int]] = []
        self._taken = set(fabric.switch_name)
        columns = (fabric.host_guid, fabric.host_port_guid, fabric.host_system_guid)
        both = (*columns, fabric.switch_guid, fabric.switch_system_guid)
        self._guids = {guid for column in both for guid in column.tolist()}
        self._next_guid = _FIRST_GUID
        self._server_name = server_names(fabric)
        self._taken.update(self._server_name)
        self._place: dict[str, int] = {}

    def new_switches(self, like: Sequence[int], peers: Sequence[Iterable[int]]) -> list[int]:
        """Copies of some switches, whose names count on together; returns their numbers.

        Args:
            like: what each is a copy of.
            peers: of each those that its name's number tells it apart from, itself included.
        """
        names = self._fabric.switch_name
        places = [
            _counting(names[one], [names[peer] for peer in around])
            for one, around in zip(like, peers, strict=True)
        ]
        step = 1
        while any(
            self._named(names[one], place, step) in self._taken
            for one, place in zip(like, places, strict=True)
        ):
            step += 1
        number = self._fabric.switches + len(self.alike)
        made: list[int] = []
        for switch, place in zip(like, places, strict=True):
            name = self._named(names[switch], place, step)
            self._taken.add(name)
            self._switch_names.append(name)
            guid = self._new_guid()
            self._switch_guids.append((guid, guid))
            self.alike.append(switch)
            self.free.append(set(range(1, sockets(int(self._fabric.switch_ports[switch])) + 1)))
            made.append(number + len(made))
        return made

    def _named(self, name: str, place: int, step: int) -> str:
        """A name whose number at a place is higher, as wide as before; or with one behind it."""
        found = list(_NUMBER.finditer(name))
        if not found:
            return f"{name} {step + 1}"
        digits = found[place]
        wide = len(digits[0]) if digits[0].startswith("0") else 0
        return f"{name[: digits.start()]}{int(digits[0]) + step:0{wide}}{name[digits.end() :]}"

    def join(self, near: int, near_port: int, far: int, far_port: int, rate: int) -> None:
        """Lays a cable between two free ports of switches."""
        self.free[near].remove(near_port)
        self.free[far].remove(far_port)
        self.cables.append(((near, near_port, far, far_port), rate))

    def new_server(self, like: Sequence[int], places: Sequence[tuple[int, int]]) -> None:
        """A copy of a server with these hosts, each on a free port of a switch."""
        old = self._server_name[like[0]]
        name = self._next_server(old)
        mapped: dict[int, int] = {0: 0}

        def renewed(guid: int) -> int:
            if guid not in mapped:
                mapped[guid] = self._new_guid()
            return mapped[guid]

        for host, (switch, port) in zip(like, places, strict=True):
            self.free[switch].remove(port)
            description = self._fabric.host_name[host]
            own, ports, system = (
                int(column[host])
                for column in (
                    self._fabric.host_guid,
                    self._fabric.host_port_guid,
                    self._fabric.host_system_guid,
                )
            )
            guids = renewed(own), renewed(ports), renewed(system)
            if description.strip().startswith(old):
                description = description.replace(old, name, 1)
            self._hosts.append(_Host(host, description, guids, switch, port, self._servers))
        self._servers += 1

    def _next_server(self, name: str) -> str:
        if name not in self._place:
            self._place[name] = _counting(name, self._server_name)
        step = 1
        while (new := self._named(name, self._place[name], step)) in self._taken:
            step += 1
        self._taken.add(new)
        return new

    def _new_guid(self) -> int:
        while self._next_guid in self._guids:
            self._next_guid += 16
        self._guids.add(self._next_guid)
        return self._next_guid

    def fabric(self, name: str) -> Fabric:
        """The fabric with all that was added, without routes."""
        old = self._fabric
        lids = _Lids(old)
        hosts = [host.like for host in self._hosts]
        changed: dict[str, Any] = {
            "host_name": (*old.host_name, *(host.name for host in self._hosts)),
            "switch_name": (*old.switch_name, *self._switch_names),
        }
        ends = np.array([cable for cable, _ in self.cables], dtype=np.int64).reshape(-1, 4).T
        news: dict[str, Sequence[int]] = {
            "host_guid": [host.guids[0] for host in self._hosts],
            "host_port_guid": [host.guids[1] for host in self._hosts],
            "host_system_guid": [host.guids[2] for host in self._hosts],
            "host_switch": [host.switch for host in self._hosts],
            "host_port": [host.port for host in self._hosts],
            "host_lid": [lids.next(int(old.host_lmc[host])) for host in hosts],
            "switch_guid": [guid for guid, _ in self._switch_guids],
            "switch_system_guid": [system for _, system in self._switch_guids],
            "switch_lid": [lids.next(0) for _ in self.alike],
            "cable_from": ends[0].tolist(),
            "cable_from_port": ends[1].tolist(),
            "cable_to": ends[2].tolist(),
            "cable_to_port": ends[3].tolist(),
            "cable_rate": [rate for _, rate in self.cables],
        }
        for column in fields(old):
            kind, values = column.name.partition("_")[0], getattr(old, column.name)
            if kind in ("host", "switch", "cable") and isinstance(values, np.ndarray):
                like = hosts if kind == "host" else self.alike
                more = news.get(column.name)
                added = values[like] if more is None else np.array(more)
                changed[column.name] = np.concatenate([values, added.astype(values.dtype)])
        return old.replace(name=name, routes=None, told=self._told(), **changed)

    def _told(self) -> Any:
        """What a file tells of rails, with the new servers as those that they are like."""
        told = self._fabric.told
        if told is None:
            return None
        names, adapters = list(told.names), list(told.adapters)
        number: dict[int, int] = {}
        server, rail = told.server.tolist(), told.rail.tolist()
        for host in self._hosts:
            like = int(told.server[host.like])
            if like >= 0 and host.server not in number:
                number[host.server] = len(names)
                names.append("")
                adapters.append(told.adapters[like])
            server.append(number.get(host.server, -1))
            rail.append(int(told.rail[host.like]))
        return replace(
            told,
            names=tuple(names),
            adapters=tuple(adapters),
            server=np.array(server, dtype=np.int64),
            rail=np.array(rail, dtype=np.int64),
        )


class _Lids:
    """Addresses behind those that a fabric has; 0 where it has none."""

    def __init__(self, fabric: Fabric) -> None:
        last = fabric.host_lid.astype(np.int64) + (1 << fabric.host_lmc.astype(np.int64)) - 1
        columns = (last * (fabric.host_lid > 0), fabric.switch_lid, fabric.other_lid)
        self._last = max(int(column.max(initial=0)) for column in columns)

    def next(self, lmc: int) -> int:
        if not self._last:
            return 0
        # The lowest bits of an address with several are 0.
        lid = -(-(self._last + 1) >> lmc) << lmc
        self._last = lid + (1 << lmc) - 1
        return lid


def _counting(name: str, peers: Sequence[str]) -> int:
    """Which number of a name tells it apart from its peers; the last where none does."""
    found = list(_NUMBER.finditer(name))
    others = sorted(set(peers) - {name}, key=natural)
    for place in reversed(range(len(found))[-_MOST_NUMBERS:]):
        digits = found[place]
        before, behind = name[: digits.start()], name[digits.end() :]
        for other in others:
            middle = other[len(before) : len(other) - len(behind)]
            fits = other.startswith(before) and other.endswith(behind)
            if fits and len(other) > len(before) + len(behind) and middle.isdecimal():
                return place
    return len(found) - 1
