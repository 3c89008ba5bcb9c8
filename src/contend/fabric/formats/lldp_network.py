"""A network put together from what each of its devices hears of its neighbours by LLDP."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from contend.errors import InputError
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
_FIRST_GUID = 0x4_0000_0000


@dataclass(frozen=True)
class Heard:
    """A neighbour that a device hears at a port.

    Attributes:
        port: the port, by its name.
        name: the neighbour's, or its address where it tells none.
        address: its Ethernet address as a number; 0: unknown.
        forwards: whether it says that it bridges or routes.
        peer_ports: what its port may be called, the likeliest first.
        rate: ``10GbE``; "" where it is not told.
    """

    port: str
    name: str
    address: int
    forwards: bool
    peer_ports: tuple[str, ...]
    rate: str


class _Network:
    """Devices and cables, put together from what all of them heard."""

    def __init__(self, heard: dict[str, list[Heard]]) -> None:
        everybody = {*heard, *(one.name for entries in heard.values() for one in entries)}
        self._names = _short_names(everybody)
        self.heard: dict[str, list[Heard]] = defaultdict(list)
        for name, entries in heard.items():
            self.heard[self._names[name]] += entries
        self.address: dict[str, int] = {}
        self.forwards: dict[str, bool] = {}
        self.cables: dict[frozenset[tuple[str, str]], str] = {}
        own = {name: {one.port for one in entries} for name, entries in self.heard.items()}
        for name, entries in self.heard.items():
            for one in entries:
                far = self._names[one.name]
                self.address.setdefault(far, one.address)
                self.forwards[far] = self.forwards.get(far, False) or one.forwards
                known = [port for port in one.peer_ports if port in own.get(far, ())]
                port = (*known, *one.peer_ports, "?")[0]
                cable = frozenset({(name, one.port), (far, port)})
                self.cables[cable] = self.cables.get(cable, "") or one.rate
        self.unseen = [name for name in self.heard if name not in self.forwards]
        self.left_out = 0
        self._leave_out_management()

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
        kept = {cable: rate for cable, rate in self.cables.items() if not cable & aside}
        if kept:
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
        if (len(name) <= _LONGEST_ADDRESS and ADDRESS.fullmatch(name))
        or len(domains[name.partition(".")[0]]) > 1
        else name.partition(".")[0] or name
        for name in names
    }


def _natural(name: str) -> tuple[str, list[tuple[int, int]], str]:
    """A key by which port 2 comes before port 10."""
    numbers = [(len(digits.lstrip("0")), int(digits[:30])) for digits in _DIGITS.findall(name)]
    return _DIGITS.sub("0", name), numbers, name


def _family(port: str) -> str:
    return re.split(r"[-_\d/.]", port, maxsplit=1)[0].lower()


def subnet_of(heard: dict[str, list[Heard]], source: str) -> Subnet:
    """Nodes and cables of what every device heard, by its name.

    Raises:
        InputError: nobody heard of anybody.
    """
    network = _Network(heard)
    devices = network.devices()
    switches = network.switches(devices)
    if not devices:
        raise InputError(source, 0, "neighbours that LLDP heard of", "none")
    builder = SubnetBuilder(source)
    shared = Counter(network.address.get(name, 0) for name in devices)
    order = [*(n for n in devices if n not in switches), *(n for n in devices if n in switches)]
    rows, guids, numbers = {}, [], {}
    lid = 1
    lids: dict[tuple[str, str], int] = {}
    for index, name in enumerate(order):
        address = network.address.get(name, 0)
        guids.append(address if address and shared[address] == 1 else _FIRST_GUID + index)
        numbers[name] = _port_numbers(devices[name], in_name=name in switches)
        if name not in switches:
            for port in devices[name]:
                lids[name, port] = lid
                lid += 1
    for name, guid in zip(order, guids, strict=True):
        is_switch = name in switches
        kind = NodeKind.SWITCH if is_switch else NodeKind.ADAPTER
        # Hosts need not speak for themselves, but a switch that does not may have more of them.
        silent = is_switch and name not in network.heard
        rows[name] = builder.node(
            kind,
            name,
            guid=guid,
            system_guid=guid,
            lid=lid if is_switch else 0,
            line=0 if silent else 1,
        )
        lid += is_switch
    for cable, rate in network.cables.items():
        ends = sorted(cable, key=lambda end: rows[end[0]])
        # A cable from a port to itself is a loop that the judge tells of.
        for (near, port), (far, peer_port) in ((ends[0], ends[-1]), (ends[-1], ends[0])):
            builder.end(
                rows[near],
                numbers[near][port],
                rows[far],
                numbers[far][peer_port],
                port_guid=0 if near in switches else guids[rows[near]] + numbers[near][port] - 1,
                lid=lids.get((near, port), 0),
                rate=rate,
            )
    return builder.subnet(tuple(_notes(network, devices, switches)))


def _port_numbers(ports: list[str], *, in_name: bool) -> dict[str, int]:
    """Numbers of ports: those in their names, where all have one of their own, else in order."""
    matches = [_LAST_NUMBER.search(port) for port in ports]
    numbers = [int(match[1]) if match else 0 for match in matches]
    fits = all(0 < number <= _MOST_PORT for number in numbers) and len(set(numbers)) == len(ports)
    if not (in_name and fits):
        numbers = list(range(1, len(ports) + 1))
    return dict(zip(ports, numbers, strict=True))


def _notes(network: _Network, devices: dict[str, list[str]], switches: set[str]) -> Iterator[str]:
    single = sum(network.forwards.get(name, False) for name in devices if name not in switches)
    if single:
        yield f"{counted(single, 'device')} with one cable counted as hosts, although they forward"
    if network.left_out:
        yield f"{counted(network.left_out, 'cable')} of switches' management ports left out"
    if any(not rate for rate in network.cables.values()):
        yield "LLDP tells no speed of some cables, which is unknown"
