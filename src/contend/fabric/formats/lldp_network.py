"""A network put together from what each of its devices hears of its neighbours by LLDP."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from contend.errors import InputError
from contend.fabric.made_guids import made_guid
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder
from contend.units import counted

ADDRESS = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|[\d.]+|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*")
"""What stands for a name where a device tells none: an Ethernet or IP address."""
# Of a longer text the expression would try every colon for every other.
_LONGEST_ADDRESS = 64
_DIGITS = re.compile(r"\d+")
_LAST_NUMBER = re.compile(r"(?:^|\D)(\d{1,5})$")
_MANAGEMENT = re.compile(r"(?:eth|em|me|ma|fxp|mgmt|Management)[-_\d/.]{0,8}", re.IGNORECASE)
_MOST_PORT = 0xFFFE


@dataclass(frozen=True, slots=True)
class Heard:
    """A neighbour that a device hears at a port.

    Attributes:
        port: the port, by its name.
        name: the neighbour's, or its address where it tells none.
        address: its Ethernet address as a number; 0: unknown.
        forwards: whether it says that it bridges or routes.
        peer_ports: what its port may be called, the likeliest first.
        rate: ``10GbE``; "" where it is not told.
        guest: whether it is of a kind that sits on another device's cable: a phone, or the
            controller that shares its server's port.
        line: in the one file that tells all; 0 where there are several.
    """

    port: str
    name: str
    address: int
    forwards: bool
    peer_ports: tuple[str, ...]
    rate: str
    guest: bool = False
    line: int = 0

    @property
    def nameless(self) -> bool:
        """Whether only its address is known."""
        return is_address(self.name)


def is_address(name: str) -> bool:
    """Whether a name is one that stands for the lack of one."""
    return len(name) <= _LONGEST_ADDRESS and ADDRESS.fullmatch(name) is not None


_End = tuple[str, str]
"""A device and its port, by their names."""


class _Network:
    """Devices and cables, put together from what all of them heard."""

    def __init__(self, heard: dict[str, list[Heard]]) -> None:
        everybody = [*heard, *(one.name for entries in heard.values() for one in entries)]
        names = _short_names(set(everybody))
        self.address: dict[str, int] = {}
        self.forwards: dict[str, bool] = {}
        at_port: dict[_End, list[Heard]] = defaultdict(list)
        self.heard = {names[name] for name in heard}
        for name, entries in heard.items():
            for one in entries:
                short = names[one.name]
                far = one if short == one.name else replace(one, name=short)
                at_port[names[name], one.port].append(far)
        of_several = {one.name for entries in at_port.values() if entries[1:] for one in entries}
        self._known: set[tuple[str, str]] = {
            (name, one.name)
            for (name, _), entries in at_port.items()
            if name in of_several
            for one in entries
        }
        self.guests: list[str] = []
        self._ports: dict[str, dict[str, Heard]] = defaultdict(dict)
        for (name, port), entries in at_port.items():
            self._ports[name][port] = self._own(name, port, entries)
        at_port.clear()
        for ports in self._ports.values():
            for far in ports.values():
                self.address.setdefault(far.name, far.address)
                self.forwards[far.name] = self.forwards.get(far.name, False) or far.forwards
        self.cables: dict[frozenset[_End], tuple[str, int]] = {}
        """The rate and line of each."""
        self._join()
        self.unseen = [name for name in self._ports if name not in self.forwards]
        self.left_out = 0
        self._leave_out_management()

    def _own(self, name: str, port: str, entries: list[Heard]) -> Heard:
        """The neighbour at the other end of a port's cable; the others are heard through it.

        Such are phones, bridges and machines inside a server, its controller, and adapters whose
        firmware speaks beside the system. Who speaks for itself and hears us counts first, then who
        tells a name, then who forwards, as a switch between would.
        """
        if len(entries) == 1:
            return entries[0]
        best = min(
            entries,
            key=lambda one: (
                (one.name, name) not in self._known,
                one.name not in self.heard,
                one.guest,
                one.nameless,
                not one.forwards,
            ),
        )
        self.guests += [f"{one.name} at {name} {port}" for one in entries if one.name != best.name]
        return best

    def _join(self) -> None:
        """Makes a cable of what its two ends say, or the one of them that speaks."""
        called: Counter[_End] = Counter()
        for name, ports in self._ports.items():
            for port, far in ports.items():
                near = (name, port)
                end = (far.name, self._far_port(near, far))
                if end[1] not in self._ports.get(far.name, ()):
                    called[end] += 1
                    # All ports of a bond may be called after it.
                    if called[end] > 1:
                        end = (far.name, f"{end[1]} ({called[end]})")
                cable = frozenset({near, end})
                rate, line = self.cables.get(cable, ("", far.line))
                self.cables[cable] = (rate or far.rate, line)

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
        ports: dict[str, set[str]] = defaultdict(set)
        for cable in self.cables:
            for name, port in cable:
                ports[name].add(port)
        return {name: sorted(ports[name], key=_natural) for name in sorted(ports, key=_natural)}

    def switches(self, devices: dict[str, list[str]]) -> set[str]:
        """Devices that forward and have more than one cable."""
        neighbours: dict[str, set[str]] = defaultdict(set)
        for cable in self.cables:
            for name, _ in cable:
                neighbours[name] |= {other for other, _ in cable if other != name}
        forwarding = {name for name, does in self.forwards.items() if does}
        # Whom nobody heard of is a switch if some neighbour is none.
        forwarding |= {name for name in self.unseen if neighbours[name] - forwarding}
        return {name for name in forwarding if len(devices.get(name, ())) > 1}

    def _leave_out_management(self) -> None:
        """Drops cables of switches' management ports, which are called unlike their others."""
        devices = self.devices()
        aside = {
            (name, port)
            for name in self.switches(devices)
            for port in devices[name]
            if _MANAGEMENT.fullmatch(port) and len({_family(one) for one in devices[name]}) > 1
        }
        kept = {cable: told for cable, told in self.cables.items() if not cable & aside}
        if aside and kept:
            self.left_out = len(self.cables) - len(kept)
            self.cables = kept


def _short_names(names: set[str]) -> dict[str, str]:
    """Names without their domains, where that tells them apart."""
    domains: dict[str, set[str]] = defaultdict(set)
    for name in names:
        short, dot, domain = name.partition(".")
        if dot:
            domains[short].add(domain)
    return {
        name: name
        if is_address(name) or len(domains[name.partition(".")[0]]) > 1
        else name.partition(".")[0] or name
        for name in names
    }


def _natural(name: str) -> tuple[str, list[tuple[int, int]], str]:
    """A key by which port 2 comes before port 10."""
    numbers = [(len(digits.lstrip("0")), int(digits[:30])) for digits in _DIGITS.findall(name)]
    return _DIGITS.sub("0", name), numbers, name


def _family(port: str) -> str:
    return re.split(r"[-_\d/.]", port, maxsplit=1)[0].lower()


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
    for name in order:
        is_switch = name in switches
        kind = NodeKind.SWITCH if is_switch else NodeKind.ADAPTER
        # Hosts need not speak for themselves, but a switch that does not may have more of them.
        silent = is_switch and name not in network.heard
        rows[name] = builder.node(
            kind,
            name,
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
    return builder.subnet((*notes, *_notes(network, devices, switches, teller)))


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
