"""The switches and nodes that Slurm's files name, whichever way they write them down."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from contend.errors import InputError
from contend.fabric.subnet import NodeKind, Subnet, SubnetBuilder
from contend.names import expand, split_list
from contend.units import counted

# Slurm itself counts nodes in 16 bits.
_MOST_NODES = 65_533
_MOST_CABLES = 1 << 20
_MOST_PORTS = 0xFFFE
_FIRST_NODE, _FIRST_SWITCH = 0x1_0000_0000, 0x2_0000_0000
ONE_CABLE = "topology files have no ports, rates or parallel cables: each pair has one cable here"
"""A note."""


@dataclass(frozen=True)
class _Switch:
    line: int
    nodes: list[str]
    below: list[str]


class SlurmTree:
    """Switches with their nodes and the switches below them; each pair is joined by one cable."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._switches: dict[str, _Switch] = {}
        self._nodes: dict[str, int] = {}
        self._cables = 0

    def switch(self, name: str, line: int, *, nodes: str = "", below: str = "") -> None:
        """Adds a switch with the nodes and switches of two lists.

        Raises:
            InputError: a name that is empty or comes twice, or more names, cables or ports than
                there can be.
        """
        self._add(name, _Switch(line, self._names(nodes, line), self._names(below, line)))

    def join_blocks(self, sizes: Sequence[int], line: int) -> str:
        """Joins what was added so far, as blocks, by switches above them; returns a note.

        Args:
            sizes: nodes of a block as planned, and of the larger ones that each so many in a row
                make up.
            line: where the sizes stand.

        Raises:
            InputError: a size that is not the one before times a power of two.
        """
        below = list(self._switches)
        for before, size in pairwise(sizes):
            each = size // before
            if size != each * before or each < 2 or each & (each - 1):
                expected = "block sizes that each are the one before times a power of two"
                raise InputError(self._source, line, expected, f"{size} after {before}")
            if len(below) == 1:
                break
            larger = {
                f"blocks of {size}, from {below[at]}": below[at : at + each]
                for at in range(0, len(below), each)
            }
            for name, part in larger.items():
                self._add(name, _Switch(line, [], part))
            below = list(larger)
        if len(below) > 1:
            self._add("all blocks", _Switch(line, [], below))
        return (
            "blocks say which nodes are near each other but name no switches: each counts as a "
            "switch here"
        )

    def _add(self, name: str, switch: _Switch) -> None:
        if not name or name in self._switches:
            got = f'"{name}" again' if name else "an empty one"
            raise InputError(self._source, switch.line, "the name of another switch or block", got)
        for node in switch.nodes:
            self._nodes.setdefault(node, switch.line)
        ports = len(switch.nodes) + len(switch.below)
        self._cables += ports
        for count, most, what in (
            (len(self._nodes), _MOST_NODES, "nodes"),
            (self._cables, _MOST_CABLES, "cables"),
            (ports, _MOST_PORTS, "ports of a switch"),
        ):
            if count > most:
                raise InputError(self._source, switch.line, f"at most {most} {what}", str(count))
        self._switches[name] = switch

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

    def subnet(self, notes: Sequence[str]) -> Subnet:
        """What the file says, with further notes.

        Raises:
            InputError: a switch that is never declared, or too many ports.
        """
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
        on_several = sum(len(switch.nodes) for switch in self._switches.values()) - len(self._nodes)
        if on_several:
            several = f"{counted(on_several, 'further port')} of nodes that several switches name"
            notes = (*notes, several)
        return builder.subnet((ONE_CABLE, *notes))
