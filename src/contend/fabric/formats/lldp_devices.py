"""Which device each neighbour is that LLDP reports: what its chassis says, not its name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from contend.base.names import without_domains

ADDRESS = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|[\d.]+|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*")
"""What stands for a name where a device tells none: an Ethernet or IP address."""
# Of a longer text the expression would try every colon for every other.
_LONGEST_ADDRESS = 64
_HEX = re.compile(r"[0-9a-f]{12}")
_SHORT_BYTES = re.compile(r"(?:[0-9a-f]{1,2}[:-]){5}[0-9a-f]{1,2}")
# Kinds of chassis ids that are unique within a device alone.
_WITHIN = re.compile(r"(?:interface|if|port)[ -]?(?:name|alias|component)", re.IGNORECASE)
# What is said where nothing is: the addresses of nobody, of everybody and of oneself.
_NOTHING = re.compile(
    r"0*|f{12}|[0.:]+|::1|127\..*|-+|[(<\[]?(?:none|null|nil|n/?a|default|localhost(?:\..*)?"
    r"|not [a-z]+|un(?:known|specified|defined|set|assigned))[)>\]]?"
)
# Ports of more devices than this are called alike without telling which is which.
_MOST_ALIKE = 64


@dataclass(frozen=True, slots=True)
class Heard:
    """A neighbour that a device hears at a port."""

    port: str
    """Name of the port."""
    name: str
    """Name of the neighbour, or its address where it tells none."""
    address: int
    """Ethernet address of the neighbour as a number; 0: unknown."""
    forwards: bool
    """Whether the neighbour says that it bridges or routes."""
    peer_ports: tuple[str, ...]
    """What the neighbour's port may be called, the likeliest first."""
    rate: str
    """Rate, ``10GbE``; "" where it is not told."""
    guest: bool = False
    """Whether the neighbour is of a kind that sits on another device's cable: a phone, or the
    controller that shares its server's port."""
    identity: str = ""
    """Chassis id of the neighbour in the one spelling that `chassis_identity` knows; "" for
    none."""
    line: int = 0
    """Line in the one file that tells all; 0 where there are several."""

    @property
    def nameless(self) -> bool:
        """Whether only its address is known."""
        return is_address(self.name)


def is_address(name: str) -> bool:
    """Whether a name is one that stands for the lack of one."""
    return len(name) <= _LONGEST_ADDRESS and ADDRESS.fullmatch(name) is not None


def ethernet_address(text: str) -> str:
    """An Ethernet address as ``0a:1b:2c:3d:4e:5f``, however it is written; "" for another text."""
    text = text[:20].strip().lower()
    if _SHORT_BYTES.fullmatch(text):
        text = "".join(part.zfill(2) for part in re.split("[:-]", text))
    digits = re.sub(r"[:.-]", "", text)
    if not _HEX.fullmatch(digits):
        return ""
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def chassis_identity(value: str, kind: str = "") -> str:
    """What is the same whoever reports a chassis id, and another for every device; "" for neither.

    Args:
        value: the id: an address, or what the device's owner or maker wrote.
        kind: its subtype as the tool calls it; "" where it does not say.
    """
    address = ethernet_address(value)
    digits = address.replace(":", "") or " ".join(value.split()).casefold()
    if _WITHIN.fullmatch(kind) or _NOTHING.fullmatch(digits):
        return ""
    return address or digits


_Key = tuple[str, str]
"""A device: its identity, or where that is unknown its name behind an empty text."""


class Devices:
    """Who is who among devices that speak, and those that they hear.

    A device is what its chassis id says, under as many names as it has; devices that are called
    alike are several. An id under two names is no device's own where both speak for themselves,
    where two cables end at one port of it, or where one hears the other. Who speaks is known by the
    name of its file, else by its cables: it hears at a port whoever hears it there.
    """

    def __init__(self, heard: dict[str, list[Heard]]) -> None:
        everybody = [*heard, *(one.name for entries in heard.values() for one in entries)]
        addresses = {name: name for name in everybody if is_address(name)}
        short = without_domains({*everybody} - addresses.keys()) | addresses
        self._entries: dict[str, list[Heard]] = defaultdict(list)
        for name, entries in heard.items():
            self._entries[short[name]] += [
                one if short[one.name] == one.name else replace(one, name=short[one.name])
                for one in entries
            ]
        self._shared = self._no_devices_own()
        self._names: dict[_Key, Counter[str]] = defaultdict(Counter)
        for one in self._all():
            self._names[self._identified(one)][one.name] += 1
        self._called: dict[str, set[_Key]] = defaultdict(set)
        for key, names in self._names.items():
            for name in names:
                self._called[name].add(key)
        self._own: dict[str, _Key] = {}
        self._bind()
        self._label = self._labels()
        called = {label: self._name(key) for key, label in self._label.items()}
        self.names = called | {name: name for name in self._own}
        """What each device is called, by its label: as its file, else as its neighbours do."""

    def heard(self) -> dict[str, list[Heard]]:
        """What every device hears, all by their labels."""
        return {
            self._label[self._own[name]]: [
                one if one.name == label else replace(one, name=label)
                for one in entries
                if (label := self._label[self._key(one)])
            ]
            for name, entries in self._entries.items()
        }

    def _all(self) -> Iterator[Heard]:
        return (one for entries in self._entries.values() for one in entries)

    def _no_devices_own(self) -> set[str]:
        """Identities that several devices report."""
        names: dict[str, set[str]] = defaultdict(set)
        ends: dict[tuple[str, str], dict[tuple[str, str], str]] = defaultdict(dict)
        shared = set()
        for near, entries in self._entries.items():
            for one in entries:
                if not one.identity or one.nameless:
                    continue
                names[one.identity].add(one.name)
                for port in one.peer_ports[:1]:
                    ends[one.identity, port][near, one.port] = one.name
        for (identity, _), by_end in ends.items():
            if len(by_end) > 1 and len(set(by_end.values())) > 1:
                shared.add(identity)
        for identity, called in names.items():
            speaking = called & self._entries.keys()
            hears = {one.identity for name in speaking for one in self._entries[name]}
            if len(speaking) > 1 or (len(called) > 1 and identity in hears):
                shared.add(identity)
        return shared

    def _identified(self, one: Heard) -> _Key:
        """By what a neighbour itself says."""
        if one.identity and (one.nameless or one.identity not in self._shared):
            return one.identity, ""
        return "", one.name

    def _key(self, one: Heard) -> _Key:
        """The same; a name alone is that of the one device that has it."""
        key = self._identified(one)
        others = self._called[one.name] - {key}
        return next(iter(others)) if not key[0] and len(others) == 1 else key

    def _bind(self) -> None:
        """Finds which of the devices that are heard each that speaks is."""
        for name in self._entries:
            known = self._called.get(name, set())
            known = {key for key in known if key[0]} or known
            if len(known) == 1:
                self._own[name] = next(iter(known))
        while self._bind_by_cables(known_only=True) or self._bind_by_cables(known_only=False):
            pass
        for name in self._entries:
            self._own.setdefault(name, ("", name))

    def _bind_by_cables(self, *, known_only: bool) -> bool:
        """Binds whom most cables fit, by cables to those that are known or by names of ports."""
        file_of = {key: name for name, key in self._own.items()}
        # Who hears whom, by the speaker or "" for any that is not bound, and by both ports.
        at_ports: dict[tuple[str, str, str], list[tuple[str, _Key]]] = defaultdict(list)
        for name, entries in self._entries.items():
            for one in entries:
                if (key := self._key(one)) not in file_of:
                    for port in one.peer_ports:
                        speaker = name if name in self._own else ""
                        at_ports[speaker, one.port, port].append((name, key))
        votes: dict[str, Counter[_Key]] = defaultdict(Counter)
        for name, entries in self._entries.items():
            for one in entries if name not in self._own else ():
                peer = self._key(one)
                if (speaker := file_of.get(peer, "")) or not known_only:
                    ends = (at_ports.get((speaker, port, one.port), ()) for port in one.peer_ports)
                    fitting = {
                        key
                        for end in ends
                        for other, key in end[:_MOST_ALIKE]
                        if (speaker or (other != name and self._may_be(other, peer)))
                        and self._may_be(name, key)
                    }
                    votes[name].update(fitting)
        return self._elect(votes, 1 if known_only else 2)

    def _may_be(self, name: str, key: _Key) -> bool:
        """Whether a device that speaks may be one that is heard: none has the name, or this too."""
        return name not in self._called or key in self._called[name]

    def _elect(self, votes: dict[str, Counter[_Key]], least: int) -> bool:
        """Binds pairs that fit each other better than anybody else; whether there are any."""
        of_key: dict[_Key, Counter[str]] = defaultdict(Counter)
        for name, keys in votes.items():
            for key, number in keys.items():
                of_key[key][name] = number
        found = {
            name: key
            for name, keys in votes.items()
            if (key := _first(keys)) and keys[key] >= least and _first(of_key[key]) == name
        }
        self._own.update(found)
        return bool(found)

    def _name(self, key: _Key) -> str:
        """What most neighbours call a device."""
        names = self._names.get(key, Counter({key[1]: 1}))
        return min(names, key=lambda name: (is_address(name), -names[name], name))

    def _labels(self) -> dict[_Key, str]:
        labels = {key: name for name, key in self._own.items()}
        keys = {self._key(one): None for one in self._all()}
        taken = Counter(self._name(key) for key in keys)
        taken.update(labels.values())
        for key in keys:
            if key not in labels:
                name = self._name(key)
                labels[key] = name if taken[name] == 1 else f"{name} {key[0]}".strip()
        return labels


def _first(votes: Counter[Any]) -> Any:
    """Whoever has more votes than all others; None where two have as many, or nobody any."""
    best = votes.most_common(2)
    return None if not best or (len(best) == 2 and best[0][1] == best[1][1]) else best[0][0]
