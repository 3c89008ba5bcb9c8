"""A network put together from what each of its devices hears of its neighbours by LLDP."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from contend.base.errors import InputError
from contend.base.names import natural
from contend.base.units import counted
from contend.fabric.formats.lldp_devices import Devices, Heard
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder, made_guid

_LAST_NUMBER = re.compile(r"(?:^|\D)(\d{1,5})$")
_MANAGEMENT = re.compile(r"(?:eth|em|me|ma|fxp|mgmt|Management)[-_\d/.]{0,8}", re.IGNORECASE)
_NAME_END = re.compile(r"[-_\d/.]")
_MOST_PORT = 0xFFFE
# How often what is left to a port is looked at again when others have found their neighbours.
_MOST_STEPS = 16


_End = tuple[str, str]
"""A device and its port, by their names."""


class _Network:
    """Devices and cables, put together from what all of them heard."""

    def __init__(self, heard: dict[str, list[Heard]]) -> None:
        devices = Devices(heard)
        self.names = devices.names
        self.address: dict[str, int] = {}
        self.forwards: dict[str, bool] = {}
        self._at_port: dict[_End, list[Heard]] = defaultdict(list)
        spoken = devices.heard()
        self.heard = spoken.keys()
        for name, entries in spoken.items():
            for one in entries:
                self._at_port[name, one.port].append(one)
        of_several = {
            one.name for entries in self._at_port.values() if entries[1:] for one in entries
        }
        self._known: set[tuple[str, str]] = {
            (name, one.name)
            for (name, _), entries in self._at_port.items()
            if name in of_several
            for one in entries
        }
        self.guests: list[str] = []
        self.undecided: list[str] = []
        self._ports: dict[str, dict[str, Heard]] = defaultdict(dict)
        self._choose()
        for ports in self._ports.values():
            for far in ports.values():
                self.address[far.name] = self.address.get(far.name) or far.address
                self.forwards[far.name] = self.forwards.get(far.name, False) or far.forwards
        self.cables: dict[frozenset[_End], tuple[str, int]] = {}
        """The rate and line of each."""
        self._join()
        self.unseen = [name for name in self._ports if name not in self.forwards]
        self.left_out = 0
        self._leave_out_management()

    def _choose(self) -> None:
        """One neighbour for every port: a bonded server hears those of its other ports too."""
        open_ports = {end: self._best(end, heard) for end, heard in self._at_port.items()}
        taken: set[_End] = set()
        for _ in range(_MOST_STEPS):
            decided = {end: best[0] for end, best in open_ports.items() if len(best) == 1}
            if not decided:
                break
            for end, far in decided.items():
                taken.add((far.name, _first_port(far)))
                self._take(end, far)
                del open_ports[end]
            for end, best in open_ports.items():
                free = [far for far in best if (far.name, _first_port(far)) not in taken]
                open_ports[end] = free or best
        for end, best in open_ports.items():
            # Nothing tells: the first that is free is as good as any other.
            free = [far for far in best if (far.name, _first_port(far)) not in taken]
            chosen = (free or best)[0]
            taken.add((chosen.name, _first_port(chosen)))
            self._take(end, chosen)
            several = " and ".join(f"{far.name} {_first_port(far)}" for far in best[:4])
            self.undecided.append(f"{end[0]} {end[1]} hears {several}")

    def _take(self, end: _End, chosen: Heard) -> None:
        name, port = end
        self._ports[name][port] = chosen
        others = (far.name for far in self._at_port[end] if far.name != chosen.name)
        self.guests += [f"{other} at {name} {port}" for other in others]

    def _best(self, end: _End, entries: list[Heard]) -> list[Heard]:
        """The neighbours that may be at the other end of a port's cable.

        The others are heard through it: phones, bridges and machines inside a server, its
        controller, and adapters whose firmware speaks beside the system. Whoever hears this port
        at the one that it tells counts first, then who hears this device at all, then who speaks
        for itself or tells a name, then who forwards, as a switch between would.
        """
        if len(entries) == 1:
            return entries
        rank = {
            number: (
                not self._agreed(end, one),
                (one.name, end[0]) not in self._known,
                one.name not in self.heard,
                one.guest,
                one.nameless,
                not one.forwards,
            )
            for number, one in enumerate(entries)
        }
        first = min(rank.values())
        best: dict[_End, Heard] = {}
        for number, one in enumerate(entries):
            if rank[number] == first:
                best.setdefault((one.name, _first_port(one)), one)
        return [*best.values()]

    def _agreed(self, end: _End, one: Heard) -> bool:
        """Whether a neighbour hears this very port at the one that it tells."""
        return any(
            back.name == end[0] and end[1] in back.peer_ports
            for port in one.peer_ports
            for back in self._at_port.get((one.name, port), ())
        )

    def _join(self) -> None:
        """Makes a cable of what its two ends say, or the one of them that speaks."""
        called: Counter[_End] = Counter()
        agreeing: Counter[str] = Counter()
        claims: Counter[frozenset[_End]] = Counter()
        denied: dict[str, list[str]] = defaultdict(list)
        for name, ports in self._ports.items():
            for port, far in ports.items():
                near = (name, port)
                end = (far.name, self._far_port(near, far))
                theirs = self._ports.get(far.name, {})
                if any(theirs[one].name == name for one in far.peer_ports if one in theirs):
                    agreeing[far.name] += 1
                elif end[1] in theirs:
                    tells = f"{name} {port} hears {far.name} {_first_port(far)}"
                    denied[far.name].append(f"{tells}, which hears it at {end[1]}")
                if end[1] not in self._ports.get(far.name, ()):
                    called[end] += 1
                    # All ports of a bond may be called after it.
                    if called[end] > 1:
                        end = (far.name, f"{end[1]} ({called[end]})")
                cable = frozenset({near, end})
                claims[cable] += 1
                rate, line = self.cables.get(cable, ("", far.line))
                self.cables[cable] = (rate or far.rate, line)
        # Some call their ports one way and tell them another.
        for device, told in denied.items():
            self.undecided += told if agreeing[device] >= len(told) else []
        # Of two cables at one port the first counts: that on which both ends agree.
        agreed = sorted(self.cables, key=lambda cable: -claims[cable])
        self.cables = {cable: self.cables[cable] for cable in agreed}

    def _far_port(self, near: _End, far: Heard) -> str:
        """What the port at the other end is called by its own device, if that speaks."""
        name, port = near
        theirs = self._ports.get(far.name, {})
        for candidate in far.peer_ports:
            if candidate in theirs and theirs[candidate].name == name:
                return candidate
        if theirs:
            back = self._leading.get((far.name, name), [])
            if (told := self._told.get((far.name, name, port))) is not None:
                return told
            if len(back) == len(self._leading[name, far.name]) == 1:
                return back[0]
        known = [candidate for candidate in far.peer_ports if candidate in theirs]
        return (*known, *far.peer_ports, "?")[0]

    @cached_property
    def _leading(self) -> dict[tuple[str, str], list[str]]:
        """Ports of a device that lead to another."""
        leading: dict[tuple[str, str], list[str]] = defaultdict(list)
        for name, ports in self._ports.items():
            for port, far in ports.items():
                leading[name, far.name].append(port)
        return leading

    @cached_property
    def _told(self) -> dict[tuple[str, str, str], str]:
        """The port of a device at which it says that a port of another is."""
        return {
            (name, far.name, peer_port): port
            for name, ports in reversed(self._ports.items())
            for port, far in reversed(ports.items())
            for peer_port in far.peer_ports
        }

    def devices(self) -> dict[str, list[str]]:
        """Ports in use of every device, in the order of their names."""
        ports = self._in_use()
        return {name: sorted(ports[name], key=natural) for name in sorted(ports, key=natural)}

    def _in_use(self) -> dict[str, set[str]]:
        ports: dict[str, set[str]] = defaultdict(set)
        for cable in self.cables:
            for name, port in cable:
                ports[name].add(port)
        return ports

    def switches(self, devices: Mapping[str, Collection[str]]) -> set[str]:
        """Devices that forward and have more than one cable."""
        neighbours: dict[str, set[str]] = defaultdict(set)
        for cable in self.cables:
            for name, _ in cable:
                neighbours[name] |= {other for other, _ in cable if other != name}
        forwarding = {name for name, does in self.forwards.items() if does}
        # Whom nobody heard of is a switch if some neighbour is none, or calls its ports alike.
        forwarding |= {
            name
            for name in self.unseen
            if neighbours[name] - forwarding or self._calls_ports_as_neighbours(name)
        }
        return {name for name in forwarding if len(devices.get(name, ())) > 1}

    def _calls_ports_as_neighbours(self, name: str) -> bool:
        """Whether all of a device's ports are called as the ports at the other ends."""
        ends = [(port, _first_port(far)) for port, far in self._ports[name].items()]
        return all(
            _NAME_END.split(port, maxsplit=1)[0] == _NAME_END.split(far, maxsplit=1)[0]
            for port, far in ends
        )

    def _leave_out_management(self) -> None:
        """Drops cables of switches' management ports, which are called unlike their others."""
        devices = self._in_use()
        aside = {
            (name, port)
            for name in self.switches(devices)
            if len({_NAME_END.split(port, maxsplit=1)[0].lower() for port in devices[name]}) > 1
            for port in devices[name]
            if _MANAGEMENT.fullmatch(port)
        }
        kept = {cable: told for cable, told in self.cables.items() if not cable & aside}
        if aside and kept:
            self.left_out = len(self.cables) - len(kept)
            self.cables = kept


def _first_port(one: Heard) -> str:
    return one.peer_ports[0] if one.peer_ports else "?"


def subnet_of(
    heard: dict[str, list[Heard]], source: str, teller: str = "LLDP", notes: Sequence[str] = ()
) -> Subnet:
    """Nodes and cables of what every device heard, by its name.

    Args:
        heard: the neighbours of each device.
        source: the file's name, for errors.
        teller: what said so, for notes.
        notes: further ones.

    Raises:
        InputError: nobody heard of anybody.
    """
    network = _Network(heard)
    devices = network.devices()
    switches = network.switches(devices)
    if not devices:
        raise InputError(source, 0, f"neighbours in what {teller} reports", "none")
    if not switches:
        expected = "a switch, which bridges or routes and has several cables"
        if teller == "LLDP":
            expected += " (give a folder of what lldpctl -f json prints on every switch)"
        raise InputError(source, 0, expected, "none")
    builder = SubnetBuilder(source)
    order = [*(n for n in devices if n not in switches), *(n for n in devices if n in switches)]
    shared = Counter(network.address.get(name, 0) for name in devices)
    guids = {
        name: address if shared[address := network.address.get(name, 0)] == 1 else 0
        for name in devices
    }
    rows, numbers = {}, {}
    lid = 1
    lids: dict[_End, int] = {}
    for name in order:
        if len(devices[name]) > _MOST_PORT:
            got = f'{len(devices[name])} at "{name}"'
            raise InputError(source, 0, f"at most {_MOST_PORT} ports of a device", got)
        numbers[name] = _port_numbers(devices[name], in_name=name in switches)
        if name not in switches:
            for port in devices[name]:
                lids[name, port] = lid
                lid += 1
    if len(switches) == len(devices):
        if teller != "LLDP":
            raise InputError(source, 0, f"servers in {teller}", "switches alone")
        expected = "what the switches hear that servers are plugged into"
        raise InputError(source, 0, expected, "switches that hear of switches alone")
    for name in order:
        is_switch = name in switches
        kind = NodeKind.SWITCH if is_switch else NodeKind.ADAPTER
        # Hosts need not speak for themselves, but a switch that does not may have more of them.
        silent = is_switch and name not in network.heard
        rows[name] = builder.node(
            kind,
            network.names.get(name, name),
            guid=guids[name],
            system_guid=guids[name],
            lid=lid if is_switch else 0,
            line=0 if silent else 1,
        )
        lid += is_switch

    def port_guid(name: str, port: str) -> int:
        """A host's first port has its device's address, as adapters do."""
        return guids[name] if numbers[name][port] == 1 else made_guid(f"{name}\n{port}")

    for cable, (rate, line) in network.cables.items():
        ends = sorted(cable, key=lambda end: rows[end[0]])
        # A cable from a port to itself is a loop that the judge tells of.
        for (near, port), (far, peer_port) in ((ends[0], ends[-1]), (ends[-1], ends[0])):
            builder.end(
                rows[near],
                numbers[near][port],
                rows[far],
                numbers[far][peer_port],
                port_guid=0 if near in switches else port_guid(near, port),
                lid=lids.get((near, port), 0),
                rate=rate,
                line=line,
            )
    notes = (*notes, *_notes(network, devices, switches, teller))
    return builder.subnet(notes, tuple(network.undecided))


def _port_numbers(ports: list[str], *, in_name: bool) -> dict[str, int]:
    """Numbers of ports: those in their names, where all have one of their own, else in order."""
    matches = [_LAST_NUMBER.search(port) for port in ports]
    numbers = [int(match[1]) if match else 0 for match in matches]
    fits = all(0 < number <= _MOST_PORT for number in numbers) and len(set(numbers)) == len(ports)
    if not (in_name and fits):
        numbers = list(range(1, len(ports) + 1))
    return dict(zip(ports, numbers, strict=True))


def _notes(
    network: _Network, devices: dict[str, list[str]], switches: set[str], teller: str
) -> Iterator[str]:
    if guests := network.guests:
        more = ", ..." if len(guests) > 3 else ""
        neighbours = f"{counted(len(guests), 'neighbour')} on a cable of another"
        named = f"{', '.join(guests[:3])}{more}"
        yield f"left out {neighbours}: {named}"
    single = sum(network.forwards.get(name, False) for name in devices if name not in switches)
    if single:
        yield f"{counted(single, 'device')} with one cable counted as hosts, although they forward"
    if network.left_out:
        yield f"{counted(network.left_out, 'cable')} of switches' management ports left out"
    if not all(rate for rate, _ in network.cables.values()):
        yield f"{teller} gives no speed for some cables: it is unknown"
