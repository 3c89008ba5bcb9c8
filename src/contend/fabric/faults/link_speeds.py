"""Links that are slower than their like, in lanes or in signalling."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contend.base.units import counted, rate_of
from contend.fabric.fabric import Fabric
from contend.fabric.levels import switch_levels

# Where more of a kind than this part are slower, they are another generation and no faults.
_GENERATION = 0.25
_LANES = re.compile(r"(\d+)x")

_Group = tuple[str | int, ...]
_Fault = tuple[str, int]


@dataclass(frozen=True)
class SlowLinks:
    """What was found."""

    faults: tuple[str, ...]
    """A sentence for every link that is slower than its like, with both its ends."""
    channels: tuple[int, ...]
    """First channel of each of these links."""
    generations: tuple[str, ...]
    """A sentence for every kind of links of which many, or all of a switch's, are slower than the
    others: older devices rather than faults."""


@dataclass(frozen=True)
class _Link:
    """A link whose rate is known, and what it is compared with."""

    channel: int
    """Its first channel."""
    label: str
    """Its rate."""
    speed: float
    """Its rate in bytes per second."""
    groups: tuple[_Group, ...]
    """Groups of links that should be like it, the nearest first; the last one is its kind."""


class _Groups:
    """The rates of the links of every group."""

    def __init__(self, links: Sequence[_Link]) -> None:
        self._labels: dict[_Group, Counter[str]] = defaultdict(Counter)
        for link in links:
            for group in link.groups:
                self._labels[group][link.label] += 1

    def members(self, group: _Group) -> int:
        return self._labels[group].total()

    def usual(self, group: _Group) -> str:
        """The rate that most have; of several the fastest."""
        labels = self._labels[group]
        return max(labels, key=lambda label: (labels[label], rate_of(label) or 0.0))

    def who(self, group: _Group, things: str) -> str:
        """How many of a group have its usual rate: ``most hosts``, ``half of the hosts``."""
        number, members = max(self._labels[group].values()), self.members(group)
        if 2 * number > members:
            return f"most {things}"
        return f"half of the {things}" if 2 * number == members else f"{number:,} of {members:,}"

    def holds_back(self, link: _Link, group: _Group) -> bool:
        """Whether a link is slower than most of a group."""
        return link.speed < (rate_of(self.usual(group)) or 0.0)

    def are_many(self, label: str, group: _Group) -> bool:
        """Whether so many of a group have a rate that it is no fault."""
        others = self.members(group) > 1
        return others and self._labels[group][label] > _GENERATION * self.members(group)


def slow_links(fabric: Fabric) -> SlowLinks:
    """Compares every link with its like.

    A cable between switches with the other cables between the same two, then with those of either
    switch to the same level: one that is slower than these at one end only belongs to a slower
    switch, and is told with the others of that. A host's link with those of hosts whose names
    differ in numbers only; one with fewer lanes than most hosts have is told in any case. Cost:
    linear.
    """
    if len(set(fabric.cable_rate.tolist())) < 2 and len(set(fabric.host_rate.tolist())) < 2:
        return SlowLinks((), (), ())
    faults, slower = _judge_cables(fabric)
    more_faults, more_slower = _judge_hosts(fabric)
    faults += more_faults
    return SlowLinks(
        tuple(fault for fault, _ in faults),
        tuple(channel for _, channel in faults),
        (*slower, *more_slower),
    )


def unknown_rates(fabric: Fabric) -> int:
    """Links whose rate is not known."""
    known = np.array([rate_of(label) is not None for label in fabric.rates])
    return int(np.count_nonzero(~known[np.concatenate((fabric.cable_rate, fabric.host_rate))]))


def _judge_cables(fabric: Fabric) -> tuple[list[_Fault], list[str]]:
    level = switch_levels(fabric).tolist()
    links = []
    columns = (fabric.cable_from, fabric.cable_to, fabric.cable_rate)
    for cable, (near, far, rate) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        speed = rate_of(fabric.rates[rate])
        if speed is not None and near != far:
            groups = _groups_of_cable((near, far), (level[near], level[far]))
            links.append(_Link(2 * cable, fabric.rates[rate], speed, groups))
    compared = _Groups(links)
    faults: list[_Fault] = []
    of_switch: Counter[tuple[_Group, str, str]] = Counter()
    of_kind: Counter[tuple[str, _Group]] = Counter()
    for link in links:
        pair, *ends, kind = link.groups
        slow = [end for end in ends if compared.holds_back(link, end)]
        like = [end for end in ends if end not in slow and compared.members(end) > 1]
        if compared.holds_back(link, pair):
            like_it = pair
        elif slow and not like:
            like_it = slow[0]
        else:
            if slow:
                of_switch[like[0], link.label, compared.usual(slow[0])] += 1
            continue
        if compared.are_many(link.label, kind):
            of_kind[link.label, kind] += 1
        else:
            faults.append(_fault(fabric, link, compared.usual(like_it)))
    slower = [
        f'{counted(count, "link")} of switch "{fabric.switch_name[int(group[1])]}" to level '
        f"{group[2]}: {label}, where those of other switches run at {usual}"
        for (group, label, usual), count in of_switch.items()
    ]
    slower += [
        f"{counted(count, 'link')} between switches of {_levels(kind)}: {label}, where "
        f"{compared.who(kind, 'cables')} between these run at {compared.usual(kind)}"
        for (label, kind), count in of_kind.items()
    ]
    return faults, slower


def _groups_of_cable(switches: tuple[int, int], levels: tuple[int, int]) -> tuple[_Group, ...]:
    """Those between the same switches, those of either to the same level, and all of its kind."""
    (near, far), (here, there) = switches, levels
    return (
        ("between", min(near, far), max(near, far)),
        ("from", near, there),
        ("from", far, here),
        ("levels", min(here, there), max(here, there)),
    )


def _levels(kind: _Group) -> str:
    _, low, high = kind
    return f"level {low}" if low == high else f"levels {low} and {high}"


def _judge_hosts(fabric: Fabric) -> tuple[list[_Fault], list[str]]:
    everybody: _Group = ("hosts",)
    links = []
    for host, rate in enumerate(fabric.host_rate.tolist()):
        speed = rate_of(fabric.rates[rate])
        if speed is not None:
            named = ("named", re.sub(r"\d+", "#", fabric.host_name[host]))
            channel = 2 * fabric.cables + host
            links.append(_Link(channel, fabric.rates[rate], speed, (named, everybody)))
    groups = _Groups(links)
    faults: list[_Fault] = []
    of_kind: Counter[tuple[_Group, str]] = Counter()
    for link in links:
        kind = link.groups[0]
        usual = groups.usual(everybody)
        narrow = groups.holds_back(link, everybody) and _lanes(link.label) < _lanes(usual)
        slow = groups.holds_back(link, kind)
        if (slow or narrow) and not groups.are_many(link.label, kind):
            faults.append(_fault(fabric, link, groups.usual(kind) if slow else usual))
        elif groups.holds_back(link, everybody):
            of_kind[kind, link.label] += 1
    slower = [
        f'{counted(count, "link")} to hosts called "{kind[1]}": {label}, where '
        f"{groups.who(everybody, 'hosts')} have {groups.usual(everybody)}"
        for (kind, label), count in of_kind.items()
    ]
    return faults, slower


def _fault(fabric: Fabric, link: _Link, usual: str) -> _Fault:
    why = "fewer lanes" if _lanes(link.label) < _lanes(usual) else "slower signalling"
    name = fabric.channel_name(link.channel)
    return f"{name}: {link.label}, where similar links run at {usual} ({why})", link.channel


def _lanes(label: str) -> int:
    match = _LANES.match(label)
    return int(match[1]) if match else 0
