"""What a drawing says of a switch, a cable or a bundle when one points at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric, SwitchGroups
from contend.report.fabric.drawn import ChannelLoad
from contend.report.fabric.scene import spoken_names
from contend.report.save import TOOLTIP
from contend.report.words import printable
from contend.units import counted, rounded

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
        load: ChannelLoad | None,
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
