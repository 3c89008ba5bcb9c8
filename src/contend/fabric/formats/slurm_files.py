"""Writes the files by which Slurm places jobs: a tree of switches, or blocks of near nodes.

Slurm wants one switch above every other. Every switch with hosts is a leaf there; all that join the
same leaves within equally few cables stand as one switch above them, so a pod of many spines is
one. A block is what hangs at a leaf: nodes that compute, not those with fewer adapters than three
quarters of what most hosts' servers have, nor those named unlike three quarters of their leaf whose
like are nowhere so many: a login node among others. A server with several rails is a node of the
leaf of its first host. Names that Slurm does not take, or that come twice, are changed, which the
file says.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.names import shorten
from contend.base.units import counted, verb
from contend.fabric.fabric import Fabric, connected_parts
from contend.fabric.formats.ibnetdiscover import one_line
from contend.fabric.levels import switch_levels
from contend.fabric.servers import is_nobody, server_names, servers_of

_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_NUMBER = re.compile(r"\d+")
_LONGEST_NAME = 64
# Servers that compute have so many of the usual adapters; others are another kind.
_COMPUTING = 0.75
# Servers in no block that a comment names.
_MOST_NAMED = 10


@dataclass(frozen=True)
class _Tree:
    """Nodes of every leaf and switches below every other, by their names; leaves as in the tree."""

    nodes: dict[str, list[str]]
    below: dict[str, list[str]]
    changed: int
    left_out: list[str]
    """Names of servers that do not compute."""

    def leaves_below(self, name: str) -> list[str]:
        """In order, all that are somewhere below a switch."""
        if name in self.nodes:
            return [name]
        return [leaf for child in self.below[name] for leaf in self.leaves_below(child)]


def write_tree(fabric: Fabric) -> Iterator[str]:
    """topology.conf for ``topology/tree``."""
    tree = _tree(fabric)
    yield from _head(fabric, tree, "TopologyPlugin=topology/tree")
    yield "# A line above the leaves stands for all switches that join the same ones below.\n"
    for name, nodes in tree.nodes.items():
        yield f"SwitchName={name} Nodes={shorten(nodes)}\n"
    for name, below in tree.below.items():
        yield f"SwitchName={name} Switches={shorten(below)}\n"


def write_blocks(fabric: Fabric) -> Iterator[str]:
    """topology.conf for ``topology/block``: the nodes of a leaf are a block."""
    tree = _tree(fabric, computing=True)
    yield from _head(fabric, tree, "TopologyPlugin=topology/block")
    yield _of_smallest(tree)
    for name in _in_a_row(tree):
        yield f"BlockName={name} Nodes={shorten(tree.nodes[name])}\n"
    yield f"BlockSizes={','.join(map(str, _sizes(tree)))}\n"


def write_yaml(fabric: Fabric) -> Iterator[str]:
    """topology.yaml with both, of which partitions take the tree unless they name the other."""
    tree = _tree(fabric)
    yield from _head(fabric, tree, "topology.yaml of Slurm 25.05 or later")
    yield "---\n- topology: tree\n  cluster_default: true\n  tree:\n    switches:\n"
    for name, nodes in tree.nodes.items():
        yield f'      - switch: "{name}"\n        nodes: "{shorten(nodes)}"\n'
    for name, below in tree.below.items():
        yield f'      - switch: "{name}"\n        children: "{shorten(below)}"\n'
    yield "- topology: block\n  cluster_default: false\n  block:\n"
    tree = _tree(fabric, computing=True)
    yield f"    {_of_smallest(tree)}    block_sizes:\n"
    yield from (f"      - {size}\n" for size in _sizes(tree))
    yield "    blocks:\n"
    for name in _in_a_row(tree):
        yield f'      - block: "{name}"\n        nodes: "{shorten(tree.nodes[name])}"\n'


def _head(fabric: Fabric, tree: _Tree, purpose: str) -> Iterator[str]:
    # YAML bears no other bytes, not even in a comment.
    name = one_line(fabric.name).encode("ascii", "backslashreplace").decode()
    yield f"# {name}, written by contend for {purpose}.\n"
    if tree.changed:
        yield f"# {counted(tree.changed, 'node name')} changed to what Slurm accepts.\n"
    if unnamed := sum(name.startswith("0x") for own in tree.nodes.values() for name in own):
        servers = counted(unnamed, "server")
        yield f"# Nothing names {servers}: write their names for the GUIDs 0x...\n"


def _of_smallest(tree: _Tree) -> str:
    smallest = min(tree.nodes, key=lambda name: len(tree.nodes[name]))
    size = counted(len(tree.nodes[smallest]), "node")
    words = f"# Slurm plans with the size of the smallest block: {smallest}, {size}."
    if tree.left_out:
        count = len(tree.left_out)
        more = count - _MOST_NAMED
        have = f"{counted(count, 'server')} unlike the others {verb(count, 'is')}"
        words += f" {have} in no block: {shorten(tree.left_out[:_MOST_NAMED])}"
        words += f" and {more:,} more." if more > 0 else "."
    return f"{words}\n"


def _in_a_row(tree: _Tree) -> list[str]:
    """Leaves in the order in which blocks next to each other are the nearest."""
    children = {child for below in tree.below.values() for child in below}
    tops = [name for name in (*tree.below, *tree.nodes) if name not in children]
    return [leaf for top in tops for leaf in tree.leaves_below(top)]


def _sizes(tree: _Tree) -> list[int]:
    """The smallest block's nodes, and that times the blocks of a pod where all pods are alike.

    Slurm wants each size to be a power of two times the first.
    """
    smallest = min(map(len, tree.nodes.values()))
    held = dict.fromkeys(tree.nodes, 1)
    for name, below in tree.below.items():
        held[name] = sum(held[child] for child in below)
    pods = Counter(held[name] for name in tree.below)
    return [
        smallest,
        *(
            smallest * blocks
            for blocks, count in sorted(pods.items())
            if blocks > 1 and blocks & (blocks - 1) == 0 and blocks * count == len(tree.nodes)
        ),
    ]


def _tree(fabric: Fabric, *, computing: bool = False) -> _Tree:
    server = servers_of(fabric)
    own = np.bincount(server)
    usual = int(np.bincount(own[server]).argmax())
    firsts = np.unique(server, return_index=True)[1]
    few = own[server[firsts]] < (_COMPUTING * usual if computing else 0)
    if computing:
        few[~few] = _unlike_their_leaf(fabric, firsts[~few])
    leaves, nodes, changed = _leaves(fabric, firsts[~few].tolist())
    left_out = [_NO_NAME.sub("-", server_names(fabric)[host]) for host in firsts[few].tolist()]
    names = _distinct([fabric.switch_name[leaf] for leaf in leaves.tolist()], leaves.tolist())
    by_leaf = {name: nodes[leaf] for leaf, name in zip(leaves.tolist(), names, strict=True)}
    joined = dict(_joined(fabric, leaves, names))
    return _Tree(by_leaf, joined, changed, left_out)


def _unlike_their_leaf(fabric: Fabric, first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which servers have other names than most of their leaf, and lead no leaf by theirs."""
    names = server_names(fabric)
    kind = [_NUMBER.sub("#", names[host]) for host in first.tolist()]
    on_leaf: dict[int, Counter[str]] = defaultdict(Counter)
    leaf = fabric.host_switch[first].tolist()
    for switch, own in zip(leaf, kind, strict=True):
        on_leaf[switch][own] += 1
    leading = {
        switch: own.most_common(1)[0][0]
        for switch, own in on_leaf.items()
        if max(own.values()) >= _COMPUTING * own.total()
    }
    lead = set(leading.values())
    odd = [switch in leading and own not in lead for switch, own in zip(leaf, kind, strict=True)]
    return np.array(odd, dtype=bool)


def _leaves(
    fabric: Fabric, first: list[int]
) -> tuple[NDArray[np.int64], dict[int, list[str]], int]:
    """The switches that servers' first hosts are on, their nodes, and how many names changed."""
    counts = Counter(fabric.host_name)
    # A description that a node name may be, such as node_7, is one, though adapters have such too.
    given = [
        own if counts[own] == 1 and own and not (_NO_NAME.search(own) or is_nobody(own)) else name
        for own, name in zip(fabric.host_name, server_names(fabric), strict=True)
    ]
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
        name
        if 0 < len(name) <= _LONGEST_NAME and counts[name] == 1 and not name.startswith("level")
        else f"{name[: _LONGEST_NAME - 10]}-{number}"
        for name, number in zip(plain, numbers, strict=True)
    ]


def _joined(
    fabric: Fabric, leaves: NDArray[np.int64], names: list[str]
) -> Iterator[tuple[str, list[str]]]:
    """What joins the leaves and what is below it, leaves that are the fewest cables apart first.

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
        yield names[number], [names[child] for child in children]


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
