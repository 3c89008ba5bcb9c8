"""Hosts chosen by where they hang: on one leaf, on K leaves, spread out, on adjacent ports.

A leaf is a switch with hosts. Leaves come in the order in which a breadth-first walk meets them, so
neighbours are few switches apart; hosts of a leaf come by port.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import chain, groupby, islice

from contend.errors import UsageError
from contend.fabric import Fabric
from contend.placement.order import breadth_first
from contend.units import counted

FORMS = ("same-leaf", "leaves:K", "spread", "port-group:K")

_SPEC = re.compile(r"(same-leaf|spread)|(leaves|port-group):(\d{1,9})")

Leaves = list[list[int]]


@dataclass(frozen=True)
class PlaceSpec:
    """``same-leaf``, ``spread``, or a ``kind`` with its number: ``leaves:2``, ``port-group:9``."""

    kind: str
    number: int

    @classmethod
    def parse(cls, spec: str) -> PlaceSpec | None:
        """What a specification says; None when it is none of `FORMS`."""
        match = _SPEC.fullmatch(spec)
        if match is None or match[3] == "0":
            return None
        return cls(match[1] or match[2], int(match[3] or 0))


def choose_by_place(
    spec: PlaceSpec, fabric: Fabric, among: Collection[int] | None, wanted: int | None
) -> list[int]:
    """The hosts that a specification means, in rank order.

    Args:
        spec: ``same-leaf``: all on one leaf, the first that has enough; ``leaves:K``: evenly on K
            leaves, one leaf after the other; ``spread``: as few as possible on each leaf, and on
            leaves far apart; ``port-group:K``: on groups of K adjacent ports. A group larger than a
            leaf takes whole leaves.
        fabric: whose hosts.
        among: the hosts to choose from; None is all.
        wanted: how many; None: the fullest leaf, the K fullest leaves as evenly as they allow, all,
            one group.

    Raises:
        UsageError: when the fabric has not enough.
    """
    leaves = _leaves(fabric, among)
    try:
        return _KINDS[spec.kind](fabric, leaves, spec.number, wanted)
    except UsageError as error:
        number = f":{spec.number}" if spec.number else ""
        raise UsageError(
            f"placement {spec.kind}{number}: expected {error}, "
            f"{fabric.name} has {counted(sum(map(len, leaves)), 'host')} on "
            f"{counted(len(leaves), 'leaf switch')} to choose from"
        ) from None


def _leaves(fabric: Fabric, among: Collection[int] | None) -> Leaves:
    order = (h for h in breadth_first(fabric).tolist() if among is None or h in among)
    return [list(hosts) for _, hosts in groupby(order, key=lambda h: int(fabric.host_switch[h]))]


def _same_leaf(_: Fabric, leaves: Leaves, __: int, wanted: int | None) -> list[int]:
    fullest = max(leaves, key=len, default=[])
    if wanted is None:
        return fullest
    if wanted > len(fullest):
        raise UsageError(f"a leaf with {counted(wanted, 'host')}; the fullest has {len(fullest)}")
    return next(leaf for leaf in leaves if len(leaf) >= wanted)[:wanted]


def _on_leaves(_: Fabric, leaves: Leaves, number: int, wanted: int | None) -> list[int]:
    if number > len(leaves):
        raise UsageError(f"{counted(number, 'leaf switch')}")
    if wanted is None:
        wanted = number * sorted(map(len, leaves))[-number]
    each, more = divmod(wanted, number)
    if each == 0:
        raise UsageError(f"at least a host for each of {number} leaves, not {wanted} in all")
    larger = [leaf for leaf in leaves if len(leaf) > each][:more]
    others = [leaf for leaf in leaves if len(leaf) >= each and leaf not in larger]
    if len(larger) < more or len(others) < number - more:
        raise UsageError(
            f"{_leaves_with(more, each + 1)} and {_leaves_with(number - more, each)}"
            if more
            else _leaves_with(number, each)
        )
    shares = [*((leaf, each + 1) for leaf in larger), *((leaf, each) for leaf in others)][:number]
    return [host for leaf, share in shares for host in leaf[:share]]


def _spread(_: Fabric, leaves: Leaves, __: int, wanted: int | None) -> list[int]:
    available = sum(map(len, leaves))
    if wanted is None:
        wanted = available
    if wanted > available:
        raise UsageError(counted(wanted, "host"))
    chosen: list[int] = []
    lap = 0
    while len(chosen) < wanted:
        open_leaves = [leaf for leaf in leaves if len(leaf) > lap]
        taken = min(wanted - len(chosen), len(open_leaves))
        chosen += [open_leaves[i * len(open_leaves) // taken][lap] for i in range(taken)]
        lap += 1
    return chosen


def _port_group(fabric: Fabric, leaves: Leaves, number: int, wanted: int | None) -> list[int]:
    wanted = number if wanted is None else wanted
    if number > max(map(len, leaves), default=0):
        groups = _groups_of_leaves(leaves, number)
        what = "on whole leaves"
    else:
        runs = chain.from_iterable(_runs(fabric, leaf) for leaf in leaves)
        groups = [
            run[start : start + number]
            for run in runs
            for start in range(0, len(run) - number + 1, number)
        ]
        what = "on adjacent ports"
    found = len(groups) * number
    if wanted > found:
        raise UsageError(
            f"{counted(wanted, 'host')} in groups of {number} {what}; such groups hold {found}"
        )
    return list(islice(chain.from_iterable(groups), wanted))


def _groups_of_leaves(leaves: Leaves, number: int) -> Leaves:
    groups: Leaves = []
    group: list[int] = []
    for leaf in leaves:
        group += leaf
        if len(group) >= number:
            groups.append(group[:number])
            group = []
    return groups


def _runs(fabric: Fabric, leaf: list[int]) -> Leaves:
    """The hosts of a leaf, parted where a port between them has none."""
    runs: Leaves = []
    for host in leaf:
        if runs and fabric.host_port[host] == fabric.host_port[runs[-1][-1]] + 1:
            runs[-1].append(host)
        else:
            runs.append([host])
    return runs


def _leaves_with(leaves: int, hosts: int) -> str:
    return f"{counted(leaves, 'leaf switch')} of {counted(hosts, 'host')}"


_KINDS: dict[str, Callable[[Fabric, Leaves, int, int | None], list[int]]] = {
    "same-leaf": _same_leaf,
    "leaves": _on_leaves,
    "spread": _spread,
    "port-group": _port_group,
}
