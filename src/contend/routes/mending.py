"""Tables of a fabric that has lost cables or switches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.fabric import NO_SWITCH, Fabric, Rest
from contend.routes.addresses import addresses_of, others_of, table_size, targets_of
from contend.routes.routes import tables_of
from contend.routes.tables import NO_PORT, by_cable

if TYPE_CHECKING:
    from contend.routes.multipath.adaptive import AdaptiveTables


def mended(whole: Fabric, rest: Rest) -> tuple[Fabric, NDArray[np.uint64], int]:
    """What is left of a fabric, with its tables changed as little as lets all messages arrive.

    Routes that arrive stay as they are. Switches from which an address is not reached any more get
    the shortest way to one from which it is, by the port that fewest addresses use. What is gone
    has no entries any more. Nor has an address whose place nobody knows, where they led over a
    cable that died.

    Args:
        whole: the fabric before, with its tables.
        rest: what is left of it.

    Returns:
        The rest with tables, the number of changed entries of each of its switches, shape
        [switches], and how many entries were lost for addresses whose place nobody knows.

    Raises:
        UsageError: the whole fabric has no tables.
    """
    tables = tables_of(whole)
    left = tables.ports[rest.switches]
    gone = np.setdiff1d(_all_addresses(whole), _all_addresses(rest.fabric))
    left[:, gone[gone < left.shape[1]]] = NO_PORT
    lost = _over_dead_cables(whole, rest, left)
    left[lost] = NO_PORT
    targets, ports = mendable(rest.fabric, left)
    new, changed = _core.mend(rest.fabric.core, targets, ports)
    lane = None if tables.lane is None else tables.lane[: ports.shape[1]]
    routed = rest.fabric.replace(routes=replace(tables, ports=new, lane=lane))
    return routed, changed, len(lost[0])


def left_in_groups(whole: Fabric, grouped: AdaptiveTables, rest: Rest) -> tuple[Fabric, int, int]:
    """What is left of a fabric whose tables name groups of ports, and are as they were.

    Args:
        whole: the fabric before.
        grouped: its tables.
        rest: what is left of it.

    Returns:
        The rest with tables that have lost the ports of what died, as switches notice it by
        themselves; at how many switches, and how many routes between its hosts do not arrive.
    """
    before, after = (_plugged(each, number) for each, number in _both(whole, rest))
    alive = frozenset(rest.switches.tolist())
    dead = sorted(pair for pair in before - after if pair[0] in alive)
    left = grouped.without_ports(whole, dead)
    groups = left.groups.of_switches(rest.switches)
    fabric = rest.fabric.replace(
        routes=replace(left, ports=left.ports[rest.switches], groups=groups)
    )
    routes = fabric.routes
    assert routes is not None
    assert routes.grouped is not None
    seen = routes.grouped.follow(fabric, 0)[0].routes
    return fabric, len({switch for switch, _ in dead}), int(seen[1:].sum())


def _both(whole: Fabric, rest: Rest) -> Iterator[tuple[Fabric, NDArray[np.int64]]]:
    yield whole, np.arange(whole.switches)
    yield rest.fabric, rest.switches


def _plugged(fabric: Fabric, number: NDArray[np.int64]) -> set[tuple[int, int]]:
    """Switch, by its number in the whole fabric, and port of all that is plugged in."""
    return {
        pair
        for ends, ports in (
            (fabric.cable_from, fabric.cable_from_port),
            (fabric.cable_to, fabric.cable_to_port),
            (fabric.host_switch, fabric.host_port),
        )
        for pair in zip(number[ends].tolist(), ports.tolist(), strict=True)
    }


def _all_addresses(fabric: Fabric) -> NDArray[np.int64]:
    others = fabric.other_lid[others_of(fabric)].astype(np.int64)
    return np.concatenate([addresses_of(fabric), others])


def _over_dead_cables(
    whole: Fabric, rest: Rest, ports: NDArray[np.uint16]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Switch and address of entries over cables that died, of addresses whose place is unknown."""
    fabric = rest.fabric
    others = others_of(fabric)
    lids = fabric.other_lid[others[fabric.other_switch[others] == NO_SWITCH]].astype(np.int64)
    lids = lids[lids < ports.shape[1]]
    columns = np.full((whole.switches, len(lids)), NO_PORT, dtype=np.uint16)
    columns[rest.switches] = ports[:, lids]
    died = by_cable(whole, columns)[rest.switches] & ~by_cable(fabric, ports[:, lids])
    at, number = np.nonzero(died)
    return at, lids[number]


def mendable(
    fabric: Fabric, ports: NDArray[np.uint16] | None = None
) -> tuple[_core.Targets, NDArray[np.uint16]]:
    """What the core needs to mend tables of a fabric.

    Args:
        fabric: whose addresses.
        ports: of its switches, shape [switches, any number of addresses]; None: its own tables.

    Returns:
        Its addresses, and tables with a column for each of them, shape [switches, addresses].

    Raises:
        UsageError: the fabric has no tables, and none are given.
    """
    if ports is None:
        ports = tables_of(fabric).ports
    fitted = np.full((fabric.switches, table_size(fabric)), NO_PORT, dtype=np.uint16)
    width = min(fitted.shape[1], ports.shape[1])
    fitted[:, :width] = ports[:, :width]
    return targets_of(fabric), fitted
