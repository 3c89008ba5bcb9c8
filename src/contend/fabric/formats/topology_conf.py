"""Slurm's topology.conf, a tree of switches, and what ``scontrol show topology`` prints of it.

The file names the nodes of every leaf switch and the switches below every other. It knows no ports,
no rates and no parallel cables, so each pair that it names is joined by one cable here.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.errors import InputError
from contend.fabric.fabric import Fabric
from contend.fabric.formats.source import lines
from contend.fabric.formats.text import one_line
from contend.fabric.levels import switch_levels
from contend.fabric.parts import connected_parts
from contend.fabric.servers import server_names, servers_of
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder
from contend.names import expand, shorten, split_list
from contend.units import counted

_HEAD = re.compile(rb"^[^\S\n]*SwitchName[^\S\n]*=", re.MULTILINE | re.IGNORECASE)
_SETTING = re.compile(r"\s*[A-Za-z]+\s*=")
_PART = re.compile(r"([A-Za-z]+)\s*=\s*(\S*)\s*")
_COMMENT = re.compile(r"(?<!\\)#.*")
_KEYS = ("switchname", "nodes", "switches", "linkspeed", "level")
# Slurm itself counts nodes in 16 bits.
_MOST_NODES = 65_533
_MOST_CABLES = 1 << 20
_MOST_PORTS = 0xFFFE
_FIRST_NODE, _FIRST_SWITCH = 0x1_0000_0000, 0x2_0000_0000


@dataclass(frozen=True)
class _Switch:
    line: int
    nodes: list[str]
    below: list[str]


def recognises(head: bytes) -> bool:
    """Whether a line within the head names a switch."""
    return _HEAD.search(head) is not None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads switches with their nodes and the switches below them.

    Lines that set nothing, such as prompts in a capture, are passed over and counted in a note.

    Raises:
        InputError: a setting that is not of ``topology/tree``, a switch that comes twice or is
            never declared, or more nodes, cables or ports than there can be.
    """
    reader = _Reader(source)
    for number, line in _logical_lines(chunks, source):
        reader.line(number, line)
    return reader.subnet()


def _logical_lines(chunks: Iterable[bytes], source: str) -> Iterator[tuple[int, str]]:
    """Lines without comments; a backslash at the end joins the next one."""
    start, held = 0, ""
    for number, line in lines(chunks, source):
        text = _COMMENT.sub("", line).rstrip()
        start = start or number
        held += text.removesuffix("\\")
        if len(held) > 1 << 20:
            raise InputError(source, start, "a setting of at most 1 MiB", "a longer one")
        if not text.endswith("\\"):
            yield start, held
            start, held = 0, ""
    if held:
        yield start, held


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._switches: dict[str, _Switch] = {}
        self._nodes: dict[str, int] = {}
        self._cables = 0
        self._other_lines = 0
        self._with_speed = 0

    def line(self, number: int, line: str) -> None:
        if not _SETTING.match(line):
            self._other_lines += bool(line.strip())
            return
        settings = self._settings(number, line)
        if "switchname" not in settings:
            got = repr(line.strip()[:60])
            raise InputError(self._source, number, "SwitchName= of topology/tree", got)
        name = settings["switchname"]
        if not name or name in self._switches:
            got = f'"{name}" again' if name else "an empty one"
            raise InputError(self._source, number, "the name of another switch", got)
        self._with_speed += settings.get("linkspeed", "1") != "1"
        # Above the leaves scontrol names all nodes that are somewhere below.
        is_leaf = settings.get("level", "0") == "0"
        nodes = self._names(settings.get("nodes", ""), number) if is_leaf else []
        below = self._names(settings.get("switches", ""), number)
        for node in nodes:
            self._nodes.setdefault(node, number)
        self._cables += len(nodes) + len(below)
        for count, most, what in (
            (len(self._nodes), _MOST_NODES, "nodes"),
            (self._cables, _MOST_CABLES, "cables"),
            (len(nodes) + len(below), _MOST_PORTS, "ports of a switch"),
        ):
            if count > most:
                raise InputError(self._source, number, f"at most {most} {what}", str(count))
        self._switches[name] = _Switch(number, nodes, below)

    def _settings(self, number: int, line: str) -> dict[str, str]:
        settings: dict[str, str] = {}
        at = len(line) - len(line.lstrip())
        while at < len(line):
            part = _PART.match(line, at)
            if part is None or part[1].lower() not in _KEYS or part[1].lower() in settings:
                expected = "SwitchName=, Nodes=, Switches= and LinkSpeed=, each once"
                raise InputError(self._source, number, expected, repr(line[at : at + 60]))
            settings[part[1].lower()] = part[2].strip('"')
            at = part.end()
        return settings

    def _names(self, text: str, number: int) -> list[str]:
        if text.lower() in ("", "(null)"):
            return []
        names: dict[str, None] = {}
        for item in split_list(text):
            if item.count("[") != item.count("]"):
                raise InputError(self._source, number, "a bracket that ends", repr(item[:60]))
            names |= dict.fromkeys(expand(item, self._source, number))
            if len(names) > _MOST_NODES:
                raise InputError(self._source, number, f"at most {_MOST_NODES} names", item[:60])
        return list(names)

    def subnet(self) -> Subnet:
        builder = SubnetBuilder(self._source)
        rows: dict[str, int] = {}
        lid = len(self._nodes)
        guids: list[int] = []
        for index, (name, line) in enumerate(self._nodes.items()):
            guids.append(_FIRST_NODE + 16 * index)
            builder.node(NodeKind.ADAPTER, name, guid=guids[-1], system_guid=guids[-1], line=line)
        for index, (name, switch) in enumerate(self._switches.items()):
            guids.append(_FIRST_SWITCH + index)
            lid += 1
            rows[name] = builder.node(
                NodeKind.SWITCH,
                name,
                guid=guids[-1],
                system_guid=guids[-1],
                lid=lid,
                line=switch.line,
            )
        further = itertools.count(lid + 1)
        node_rows = {name: row for row, name in enumerate(self._nodes)}
        used: dict[int, int] = defaultdict(int)

        def join(near: int, far: int, line: int, lid: int) -> None:
            used[near] += 1
            used[far] += 1
            if max(used[near], used[far]) > _MOST_PORTS:
                raise InputError(self._source, line, f"at most {_MOST_PORTS} ports", "more")
            ends = ((near, used[near]), (far, used[far]))
            # A node on several leaves has a port on each, and each port an address.
            own = lid if lid == 0 or used[near] == 1 else next(further)
            for (one, port), (other, peer_port), address in (
                (*ends, own),
                (*ends[::-1], 0),
            ):
                builder.end(
                    one, port, other, peer_port, port_guid=guids[one] + port, lid=address, line=line
                )

        for name, switch in self._switches.items():
            for node in switch.nodes:
                row = node_rows[node]
                join(row, rows[name], switch.line, row + 1)
        for name, switch in self._switches.items():
            for below in switch.below:
                if below not in rows or below == name:
                    expected = "another switch of this file below"
                    raise InputError(self._source, switch.line, expected, f'"{below}"')
                join(rows[below], rows[name], switch.line, 0)
        return builder.subnet(tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        yield "topology.conf tells no ports, rates or parallel cables: each pair has one cable here"
        if self._with_speed:
            yield "LinkSpeed, whose unit Slurm leaves open, is not used"
        if self._other_lines:
            yield f"skipped {counted(self._other_lines, 'line')} without a setting"
        on_several = sum(len(switch.nodes) for switch in self._switches.values()) - len(self._nodes)
        if on_several:
            yield f"{counted(on_several, 'further port')} of nodes that several switches name"


_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def write(fabric: Fabric) -> Iterator[str]:
    """The tree of switches that Slurm's ``topology/tree`` takes.

    Slurm wants one switch above every other. Every switch with hosts is a leaf there; all that join
    the same leaves within equally few cables stand as one switch above them, so a pod of many
    spines is one. A server with several rails is a node of the leaf of its first host. Names that
    Slurm does not take, or that come twice, are changed, which the file says.
    """
    leaves, nodes, changed = _leaves(fabric)
    names = _distinct([fabric.switch_name[leaf] for leaf in leaves.tolist()], leaves.tolist())
    yield f"# {one_line(fabric.name)}, written by contend for TopologyPlugin=topology/tree.\n"
    yield "# A line above the leaves stands for all switches that join the same ones below.\n"
    if changed:
        yield f"# {counted(changed, 'node name')} changed to what Slurm takes.\n"
    for leaf, name in zip(leaves.tolist(), names, strict=True):
        yield f"SwitchName={name} Nodes={shorten(nodes[leaf])}\n"
    yield from _joined(fabric, leaves, names)


def _leaves(fabric: Fabric) -> tuple[NDArray[np.int64], dict[int, list[str]], int]:
    """The switches that servers' first hosts are on, their nodes, and how many names changed."""
    counts = Counter(fabric.host_name)
    # A description that a node name may be, such as node_7, is one, though adapters have such too.
    given = [
        own if counts[own] == 1 and not _NO_NAME.search(own) and own else name
        for own, name in zip(fabric.host_name, server_names(fabric), strict=True)
    ]
    first = np.unique(servers_of(fabric), return_index=True)[1].tolist()
    names = _distinct([given[host] for host in first], first)
    nodes: dict[int, list[str]] = defaultdict(list)
    for host, name in zip(first, names, strict=True):
        nodes[int(fabric.host_switch[host])].append(name)
    changed = sum(given[host] != name for host, name in zip(first, names, strict=True))
    return np.array(sorted(nodes), dtype=np.int64), nodes, changed


def _distinct(names: list[str], numbers: list[int]) -> list[str]:
    """Names that Slurm takes, those that several have with their numbers."""
    plain = [_NO_NAME.sub("-", name).strip("-") for name in names]
    counts = Counter(plain)
    return [
        name if name and counts[name] == 1 and not name.startswith("level") else f"{name}-{number}"
        for name, number in zip(plain, numbers, strict=True)
    ]


def _joined(fabric: Fabric, leaves: NDArray[np.int64], names: list[str]) -> Iterator[str]:
    """Lines for what joins the leaves, those that are the fewest cables apart first.

    A few hosts further up, as on a spine, join no leaves that they are not joined by anyway: their
    switch stands below the last of all.
    """
    level = switch_levels(fabric)[leaves]
    lowest = np.flatnonzero(level == level.min())
    nearest, distance = _nearest(fabric, leaves[lowest])
    near, far = fabric.cable_from.astype(np.int64), fabric.cable_to.astype(np.int64)
    reached = (nearest[near] >= 0) & (nearest[far] >= 0)
    near, far = near[reached], far[reached]
    # A way from leaf to leaf over this cable; the shortest of them join what any way joins.
    apart = distance[near] + distance[far] + 1
    below, steps = lowest.copy(), 1
    joined: dict[int, list[int]] = {}
    for cables in np.unique(apart).tolist():
        short = apart <= cables
        group = connected_parts(len(lowest), nearest[near[short]], nearest[far[short]])
        members: dict[int, dict[int, None]] = defaultdict(dict)
        for leaf, number in enumerate(group.tolist()):
            members[number][int(below[leaf])] = None
        if len(members) == len(set(below.tolist())):
            continue
        steps += 1
        for count, number in enumerate(members, 1):
            if len(members[number]) > 1:
                names.append(f"level{steps}-{count}")
                joined[len(names) - 1] = list(members[number])
                below[group == number] = len(names) - 1
    for leaf in np.flatnonzero(level > level.min()).tolist():
        found = nearest[leaves[leaf]]
        if found < 0:
            continue
        top = int(below[found])
        if top not in joined:
            names.append(f"level{steps + 1}-{top + 1}")
            joined[len(names) - 1] = [top]
            below[below == top] = len(names) - 1
            top = len(names) - 1
        joined[top].append(leaf)
    for number, children in joined.items():
        yield f"SwitchName={names[number]} Switches={shorten(names[child] for child in children)}\n"


def _nearest(
    fabric: Fabric, leaves: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every switch the number of its nearest leaf, -1 for none, and how many cables away."""
    nearest = np.full(fabric.switches, -1, dtype=np.int64)
    distance = np.zeros(fabric.switches, dtype=np.int64)
    nearest[leaves] = np.arange(len(leaves))
    ends = np.stack([fabric.cable_from, fabric.cable_to])
    tail, head = np.concatenate([ends, ends[::-1]], axis=1).astype(np.int64)
    for step in range(1, fabric.switches):
        new = (nearest[tail] >= 0) & (nearest[head] < 0)
        if not new.any():
            break
        order = np.flatnonzero(new)[::-1]
        nearest[head[order]] = nearest[tail[order]]
        distance[head[order]] = step
    return nearest, distance
