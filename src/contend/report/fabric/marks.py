"""What a drawing points out and what it says of a part when one points at it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted, rounded
from contend.congestion import hottest
from contend.fabric import (
    TOPOLOGY_FAULTS,
    Fabric,
    SwitchGroups,
    find_rails,
    missing_cables,
    slow_links,
    strays_of,
)
from contend.report.fabric.scene import SMALL, WIDTH, Layer, spoken_names, text_size
from contend.report.save import TOOLTIP
from contend.report.words import printable

HOT, FAULT = "hot", "fault"
_MOST_HOT = 3
_MOST_MARKS = 12  # with a name
# Even heats have no hottest channel: only what needs so many times the mean is one.
_HOT = 1.2
_QUOTED = re.compile(r'switch "([^"]+)"')


@dataclass(frozen=True)
class Mark:
    """Something that a drawing points out."""

    kind: str
    """Word ``hot`` or ``fault``, or one of the caller's."""
    part: str
    """Word ``cable``, ``switch`` or ``host``."""
    number: int
    """Number of that part."""
    words: str
    """What it is and why, in one line."""


def hot_channels(fabric: Fabric, load: Layer) -> list[Mark]:
    """The hottest channels between switches, one of a pair of switches."""
    mean = float(load.heat.mean()) if len(load.heat) else 0.0
    names = spoken_names(fabric)
    marks: list[Mark] = []
    pairs: set[tuple[int, int]] = set()
    for channel in hottest(load.heat, len(load.heat)):
        if len(marks) == _MOST_HOT or load.heat[channel] <= _HOT * mean:
            break
        cable = channel // 2
        ends = (int(fabric.cable_from[cable]), int(fabric.cable_to[cable]))
        if ends in pairs:
            continue
        pairs |= {ends, ends[::-1]}
        carried = f"{rounded(load.load[channel])} {load.unit}"
        if load.heat[channel] != load.load[channel]:
            rate = fabric.channel_rate(channel) or "an unknown rate"
            carried += f" at {rate}, as long as {rounded(load.heat[channel])} at {load.port}"
        marks.append(Mark(HOT, "cable", cable, f"{carried}: {channel_way(fabric, channel, names)}"))
    return marks


def channel_way(fabric: Fabric, channel: int, names: Sequence[str]) -> str:
    """A channel by both ends, with the names of switches: ``leaf 1 port 7 → top 2 port 1``."""
    if (of_hosts := channel - 2 * fabric.cables) >= 0:
        host = of_hosts % fabric.hosts
        switch = f"{names[int(fabric.host_switch[host])]} port {int(fabric.host_port[host])}"
        both = [printable(fabric.host_name[host]), switch]
        return " → ".join(both if of_hosts < fabric.hosts else both[::-1])
    cable = channel // 2
    ends = [
        f"{names[int(end[cable])]} port {int(port[cable])}"
        for end, port in (
            (fabric.cable_from, fabric.cable_from_port),
            (fabric.cable_to, fabric.cable_to_port),
        )
    ]
    return " → ".join(ends if channel % 2 == 0 else ends[::-1])


def faults(fabric: Fabric) -> list[Mark]:
    """Slow links, cables from a switch to itself, adapters on other rails, what reading found."""
    marks = []
    slow = slow_links(fabric)
    for words, channel in zip(slow.faults, slow.channels, strict=True):
        if channel < 2 * fabric.cables:
            marks.append(Mark(FAULT, "cable", channel // 2, words))
        else:
            host = (channel - 2 * fabric.cables) % fabric.hosts
            marks.append(Mark(FAULT, "switch", int(fabric.host_switch[host]), words))
    for cable in np.flatnonzero(fabric.cable_from == fabric.cable_to).tolist():
        words = f"{fabric.channel_name(2 * cable)}: leads back to its switch"
        marks.append(Mark(FAULT, "switch", int(fabric.cable_from[cable]), words))
    labels = {label: switch for switch, label in enumerate(fabric.switch_label)}
    for finding in fabric.findings:
        if finding.wrong and finding.kind in TOPOLOGY_FAULTS:
            known = [labels[name] for name in _QUOTED.findall(finding.message) if name in labels]
            if known:
                marks.append(Mark(FAULT, "switch", known[0], finding.message))
    found = find_rails(fabric)
    return marks + [
        Mark(FAULT, "host", host, f"on a leaf of rail {leaf + 1}, not {int(found.rail[host]) + 1}")
        for host, leaf in strays_of(fabric, found).items()
    ]


@dataclass(frozen=True, eq=False)
class Marked:
    """Marks with what is written in them, and the lines below the drawing that explain them."""

    marks: tuple[tuple[str, Mark], ...]
    lines: tuple[str, ...]
    words: dict[tuple[str, int], list[str]]


def numbered_marks(fabric: Fabric, load: Layer | None, others: Sequence[Mark]) -> Marked:
    """Hot channels by numbers, faults and others by letters, those beyond only marked.

    Hosts are marked at their switches.
    """
    wanted = [] if load is None else hot_channels(fabric, load)
    for mark in (*faults(fabric), *others):
        if mark.part == "host":
            switch = int(fabric.host_switch[mark.number])
            told = f"{fabric.host_label[mark.number]}: {mark.words}"
            wanted.append(Mark(mark.kind, "switch", switch, told))
        else:
            wanted.append(mark)
    if load is None:
        # Last, as there may be many; a drawing of loads has other things to show.
        wanted += [
            Mark(FAULT, "switch", pair.switches[0], pair.words(fabric))
            for pair in missing_cables(fabric)
        ]
    words: dict[tuple[str, int], list[str]] = {}
    marks, lines, counts = [], [], {HOT: 0, "other": 0}
    for mark in wanted:
        words.setdefault((mark.part, mark.number), []).append(mark.words)
        series = HOT if mark.kind == HOT else "other"
        if (rank := counts[series]) >= _MOST_MARKS:
            continue
        counts[series] += 1
        sign = str(rank + 1) if series == HOT else chr(ord("A") + rank)
        marks.append((sign, mark))
        lines.append(_fitted(f"{sign}  {mark.kind}: {mark.words}", WIDTH - 0.2))
    if len(wanted) > len(marks):
        lines.append(f"{len(wanted) - len(marks):,} more are marked without a name")
        marks += [("", mark) for mark in wanted[len(marks) :]]
    return Marked(tuple(marks), tuple(lines), words)


def _fitted(text: str, room: float) -> str:
    """A line cut in its middle where it is longer than the page."""
    text = printable(text).replace("\n", " ")
    for most in range(len(text), 20, -4):
        short = text if most == len(text) else f"{text[: most // 2]} … {text[-(most // 2) :]}"
        if text_size(short, SMALL)[0] <= room:
            return short
    return text[:20]


# Cables that a text names one by one: more than anybody reads.
_MOST_CABLES = 600


def tooltip(text: str) -> str:
    """The link of an artist that becomes this tooltip."""
    return TOOLTIP + printable(text)


class Tooltips:
    """Texts for the parts of one drawing."""

    def __init__(
        self,
        fabric: Fabric,
        level: NDArray[np.int64],
        idle: NDArray[np.bool_],
        load: Layer | None,
        marked: dict[tuple[str, int], list[str]],
        rail: NDArray[np.int64],
    ) -> None:
        self._fabric, self._level, self._idle = fabric, level, idle
        self._load, self._marked, self._rail = load, marked, rail
        self._names = spoken_names(fabric)
        size = fabric.switches
        self._hosts = np.bincount(fabric.host_switch, minlength=size).tolist()
        ends = np.concatenate([fabric.cable_from, fabric.cable_to]).astype(np.int64)
        self._cables = np.bincount(ends, minlength=size).tolist()
        self._near = fabric.cable_from.tolist()
        self._far = fabric.cable_to.tolist()
        self._ports = (fabric.cable_from_port.tolist(), fabric.cable_to_port.tolist())

    def switch(self, switch: int) -> str:
        """Its whole name, GUID, level, hosts, cables, and what is wrong with it."""
        fabric = self._fabric
        lines = [fabric.switch_label[switch]]
        if guid := int(fabric.switch_guid[switch]):
            lines.append(f"GUID 0x{guid:016x}")
        where = f"level {self._level[switch]}" if self._level[switch] else "reaches no host"
        if self._rail[switch] >= 0:
            where += f", rail {self._rail[switch] + 1}"
        cables = counted(self._cables[switch], "cable")
        lines.append(f"{where}, {counted(self._hosts[switch], 'host')}, {cables} to switches")
        if self._idle[switch]:
            lines.append("no path between hosts needs it")
        return "\n".join([*lines, *self._marked.get(("switch", switch), ())])

    def line(self, cables: NDArray[np.int64]) -> str:
        """The cables between two switches, or of a bundle, the hottest first."""
        first = int(cables[0])
        switches = f"{self._names[self._near[first]]} and {self._names[self._far[first]]}"
        return "\n".join(
            [f"{counted(len(cables), 'cable')} between {switches}", *self.each(cables)]
        )

    def bundle(self, groups: SwitchGroups, pair: Sequence[int], cables: NDArray[np.int64]) -> str:
        """All cables between two groups, the hottest first."""
        fabric, names = self._fabric, [groups.name[group] for group in pair]
        ends = np.concatenate([fabric.cable_from[cables], fabric.cable_to[cables]])
        number = groups.number[ends]
        each = [len(np.unique(ends[number == group])) for group in pair]
        between = " and ".join(
            f"{name} ({counted(count, 'switch')})" for name, count in zip(names, each, strict=True)
        )
        head = [f"{counted(len(cables), 'cable')} between {between}"]
        if self._load is not None:
            load = self._load.load.reshape(-1, 2)[cables]
            head.append(
                f"{rounded(load.mean())} {self._load.unit} a channel, at most {rounded(load.max())}"
            )
        return "\n".join([*head, *self.each(cables)])

    def group(self, groups: SwitchGroups, group: int, idle: int, cables: NDArray[np.int64]) -> str:
        """Switches and hosts of a group, and the cables within it."""
        members = np.flatnonzero(groups.number == group)
        hosts = sum(self._hosts[switch] for switch in members.tolist())
        lines = [
            groups.name[group],
            f"{counted(len(members), 'switch')} on level {groups.level[group]}, "
            f"{counted(hosts, 'host')}",
        ]
        if idle:
            lines.append(f"{counted(idle, 'switch')} that no path between hosts needs")
        if len(cables):
            lines.append(f"{counted(len(cables), 'cable')} within it")
        return "\n".join([*lines, *self.each(cables)])

    def each(self, cables: NDArray[np.int64]) -> Iterator[str]:
        """A line for every cable, the first of many."""
        order = cables.tolist()
        if self._load is not None:
            heat = self._load.heat.reshape(-1, 2)[cables].max(axis=1)
            order = cables[np.argsort(-heat, kind="stable")].tolist()
        yield from map(self.cable, order[:_MOST_CABLES])
        if len(order) > _MOST_CABLES:
            yield f"and {len(order) - _MOST_CABLES:,} more"

    def cable(self, cable: int) -> str:
        """Both ends, the rate, and what each direction carries."""
        fabric, names = self._fabric, self._names
        near, far = self._near[cable], self._far[cable]
        here, there = (ports[cable] for ports in self._ports)
        text = f"{names[near]} port {here} - {names[far]} port {there}"
        if rate := fabric.rates[int(fabric.cable_rate[cable])]:
            text += f", {rate}"
        if self._load is not None:
            forth, back = self._load.load[2 * cable : 2 * cable + 2]
            text += f": {rounded(forth)} {self._load.unit} there, {rounded(back)} back"
            heat = self._load.heat[2 * cable : 2 * cable + 2].max()
            if heat != max(forth, back):
                text += f", as long as {rounded(heat)} at {self._load.port}"
        return "; ".join([text, *self._marked.get(("cable", cable), ())])
