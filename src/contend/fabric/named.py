"""Switches, cables, hosts and channels by what people, and contend's own outputs, call them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice

import numpy as np

from contend.base.errors import UsageError
from contend.base.names import expand
from contend.base.units import nearest
from contend.fabric.fabric import Fabric
from contend.fabric.groups import plain_names, short_names
from contend.fabric.servers import server_names

Device = tuple[str, int]
"""``switch``, ``cable`` or ``host``, and its number."""

# As sentences and tables name them: switch "spine 3", switch "spine 3" port 12, spine 3:12.
_QUOTED = re.compile(r'(?:(switch|host) )?"(.*)"', re.DOTALL)
_PORT = re.compile(r'(?:switch )?"(.*)" port (\d{1,9})|(.*)(?::| port )(\d{1,9})', re.DOTALL)
_BETWEEN = re.compile(r" (?:->|-) ")
# Within a text: names hold few, and every one is tried.
_MOST_DASHES = 16
_RANGES = re.compile(r"\[[\d,-]+\]")
# Every one is compared with all names.
_MOST_GLOBS = 1000
_NO_MACHINES = re.compile(r"[^A-Za-z0-9]+")
# What the kernel takes as a machine's name is 64 bytes long; a number may have to be added.
_LONGEST = 55


class Names:
    """Looks up what switches, cables and hosts of a fabric are called.

    A switch or a host has its name, its GUID (``0x...``), and the name with which tables tell it
    from others that are called alike. Drawings call switches by shorter names, lists of hosts and
    jobs call all hosts of a server by the server's, and an emulated fabric gives each the name of a
    machine. A cable, or a host, is what hangs on a port
    of a switch: ``spine 3:12`` or ``switch "spine 3" port 12``, alone or with its other end.
    """

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric

    def find(self, text: str) -> list[Device]:
        """All that a text names, several only for a server's name; empty where it names nothing.

        Raises:
            UsageError: several bear the name, or nothing hangs on the port.
        """
        text = text.strip()
        if node := self._node(text):
            return node
        if port := self._port(text):
            return [self._plugged(*port)]
        return next((near for near, _ in self._ends(text)), [])

    def matching(self, text: str) -> list[Device]:
        """All that match a glob or a range: ``spine*``, ``node[01-16]``, ``leaf?:12``.

        Raises:
            InputError: a range that is none.
        """
        names = expand(text, "without") if _RANGES.search(text) else [text]
        globs = re.search(r"[*?]", text) is not None
        if (names == [text] and not globs) or (globs and len(names) > _MOST_GLOBS):
            return []
        found: dict[Device, None] = {}
        for name in names:
            if not globs:
                if not (devices := self.find(name)):
                    raise self.unknown(name)
                found |= dict.fromkeys(devices)
                continue
            stem, _, port = name.rpartition(":")
            found |= dict.fromkeys(self._like(name, ("switch", "host")))
            for _, switch in self._like(stem, ("switch",)) if port.isdecimal() else ():
                with suppress(UsageError):
                    found[self._plugged(switch, int(port))] = None
        return list(found)

    def _like(self, name: str, kinds: Sequence[str]) -> Iterator[Device]:
        """Switches and hosts whose name, or that of whose server, matches a glob."""
        shape = re.escape(name).replace(r"\*", ".*").replace(r"\?", ".")
        for kind in kinds:
            for rule in (self._own, self._shown):
                for called, numbers in rule[kind].items():
                    if re.fullmatch(shape, called, re.DOTALL):
                        yield from ((kind, number) for number in numbers)

    def channels(self, text: str) -> tuple[int, ...]:
        """Both directions of what a text names, that out of the port first.

        Raises:
            UsageError: there is no such cable or host, or several.
        """
        fabric, channels = self._fabric, list[int]()
        for what, number in self.find(text):
            if what == "switch":
                raise UsageError(f"{text}: a channel needs a port of this switch: {text}:PORT")
            if what == "host":
                injection = 2 * fabric.cables + number
                channels += (injection, injection + fabric.hosts)
                continue
            start = self._port(text.strip()) or next(port for _, port in self._ends(text.strip()))
            first = 0 if (fabric.cable_from[number], fabric.cable_from_port[number]) == start else 1
            channels += (2 * number + first, 2 * number + 1 - first)
        if not channels:
            raise self.unknown(text)
        return tuple(channels)

    def unknown(self, text: str) -> UsageError:
        """The error where nothing is called so, with what may have been meant."""
        known = (*self._fabric.switch_name, *self._fabric.host_name)
        name = text.rpartition(":")[0] or text
        return UsageError(
            f"{text}: {self._fabric.name} has no such switch, cable (SWITCH:PORT) or host"
            f"{nearest(name, known)}"
        )

    def _node(self, text: str, kinds: Sequence[str] = ("switch", "host")) -> list[Device]:
        """A switch, a host, or all hosts of a server; what is called so itself goes first."""
        found = self._called(text, kinds)
        quoted = _QUOTED.fullmatch(text)
        if not found and quoted is not None:
            text, kinds = quoted[2], (quoted[1],) if quoted[1] in kinds else kinds
            found = self._called(text, kinds)
        return found or self._with_guid(text, kinds)

    def _called(self, text: str, kinds: Sequence[str]) -> list[Device]:
        for rule in self._rules():
            for kind in kinds:
                numbers = rule[kind].get(text, [])
                if len(numbers) > 1 and rule is not self._shown:
                    raise self._several(text, kind, numbers)
                if numbers:
                    return [(kind, number) for number in numbers]
        return []

    def _with_guid(self, text: str, kinds: Sequence[str]) -> list[Device]:
        if not re.fullmatch("0x[0-9a-f]{1,16}", text, re.IGNORECASE):
            return []
        fabric = self._fabric
        guids = {"switch": fabric.switch_guid, "host": fabric.host_port_guid}
        for kind in kinds:
            numbers = np.flatnonzero(guids[kind] == int(text, 16)).tolist()
            if len(numbers) > 1:
                raise self._several(text, kind, numbers)
            if numbers:
                return [(kind, numbers[0])]
        return []

    def _several(self, text: str, kind: str, numbers: Sequence[int]) -> UsageError:
        fabric = self._fabric
        guids = fabric.switch_guid if kind == "switch" else fabric.host_port_guid
        guid = int(guids[numbers[0]])
        label = fabric.switch_label if kind == "switch" else fabric.host_label
        instead = f"a GUID, such as 0x{guid:016x}" if guid else f'"{label[numbers[0]]}" or the like'
        return UsageError(f"{text}: {len(numbers)} have this name; give {instead}")

    def _port(self, text: str) -> tuple[int, int] | None:
        """The switch and the number of a port; None where a text names none."""
        match = _PORT.fullmatch(text)
        if match is None:
            return None
        name = match[3] if match[1] is None else match[1]
        found = self._node(name.strip(), ("switch",))
        return (found[0][1], int(match[2] or match[4])) if found else None

    def _ends(self, text: str) -> Iterator[tuple[list[Device], tuple[int, int]]]:
        """What both ends of a channel or a cable name, and the first end that is a port."""
        for between in islice(_BETWEEN.finditer(text), _MOST_DASHES):
            sides = text[: between.start()], text[between.end() :]
            ports = [port for side in sides if (port := self._port(side))]
            if not ports:
                continue
            near, far = (
                [self._plugged(*port)] if (port := self._port(side)) else self._node(side)
                for side in sides
            )
            if near and near == far:
                yield near, ports[0]

    def _plugged(self, switch: int, port: int) -> Device:
        """What hangs on a port: a cable to another switch, or a host."""
        fabric = self._fabric
        for ends, ports in (
            (fabric.cable_from, fabric.cable_from_port),
            (fabric.cable_to, fabric.cable_to_port),
        ):
            if len(found := np.flatnonzero((ends == switch) & (ports == port))):
                return "cable", int(found[0])
        found = np.flatnonzero((fabric.host_switch == switch) & (fabric.host_port == port))
        if len(found) == 0:
            name = fabric.switch_name[switch]
            raise UsageError(f'{name}:{port}: nothing is cabled to port {port} of "{name}"')
        return "host", int(found[0])

    def _rules(self) -> Iterator[dict[str, dict[str, list[int]]]]:
        """One after the other, as most names are found by the first."""
        yield self._own
        yield self._shown
        yield self._emulated

    @cached_property
    def _own(self) -> dict[str, dict[str, list[int]]]:
        """Numbers of switches and hosts by their names, and by what tells them from others."""
        fabric = self._fabric
        return {
            "switch": _numbers(fabric.switch_name, fabric.switch_label),
            "host": _numbers(fabric.host_name, fabric.host_label),
        }

    @cached_property
    def _shown(self) -> dict[str, dict[str, list[int]]]:
        """Numbers of switches by their names in drawings, of hosts by that of their server."""
        fabric = self._fabric
        plain = plain_names(fabric)
        # Several may be called alike without what their long names add.
        times = Counter(plain)
        once = [name if times[name] == 1 else "" for name in plain]
        return {
            "switch": _numbers(short_names(fabric), once),
            "host": _numbers(server_names(fabric)),
        }

    @cached_property
    def _emulated(self) -> dict[str, dict[str, list[int]]]:
        """Numbers of switches and hosts by the names of machines that emulate them."""
        names = {"switch": self._fabric.switch_name, "host": self._fabric.host_name}
        return {
            kind: _numbers([machine_name(name, kind) for name in each])
            for kind, each in names.items()
        }


def machine_name(name: str, kind: str) -> str:
    """A name as a machine's: letters, digits and dashes stay; host ``1`` becomes ``host-1``.

    What would begin with a digit, and so pass for an address, gets the kind in front.
    """
    plain = _NO_MACHINES.sub("-", name).strip("-")[:_LONGEST].rstrip("-")
    return plain if plain[:1].isalpha() else f"{kind}-{plain}".rstrip("-")


def machine_names(names: Iterable[str], kind: str, taken: set[str]) -> Iterator[str]:
    """A machine's name for every name, each different, also from those taken, which grow."""
    for name in names:
        plain = machine_name(name, kind)
        label, number = plain, 2
        while label.lower() in taken:
            label, number = f"{plain}-{number}", number + 1
        taken.add(label.lower())
        yield label


def _numbers(*columns: Sequence[str]) -> dict[str, list[int]]:
    """Positions of every name in columns of names, each once."""
    numbers: dict[str, list[int]] = {}
    for names in columns:
        for number, name in enumerate(names):
            at = numbers.setdefault(name.strip(), [])
            if number not in at[-1:]:
                at.append(number)
    return {name: sorted(set(at)) for name, at in numbers.items() if name}


def channels_named(fabric: Fabric, text: str) -> tuple[int, ...]:
    """Both directions of what a text names, that out of the port first.

    Args:
        fabric: whose channels.
        text: a port of a switch, a host or a server, as `Names` knows them.

    Raises:
        UsageError: there is no such cable or host, or several.
    """
    return Names(fabric).channels(text)
