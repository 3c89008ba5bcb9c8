"""Ports of switches that nothing hangs on, and a fabric with cables between some of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from contend.errors import UsageError
from contend.fabric.fabric import NO_SWITCH, Fabric
from contend.units import rate_of

Cable = tuple[int, int, int, int]
"""Switch and port of one end, then of the other."""
# Switches for aggregation in the network have one port more than sockets, the last, inside.
_WITH_INNER_PORT = (37, 41, 65)


def free_ports(fabric: Fabric) -> list[list[int]]:
    """The free ports of every switch that a cable can be plugged into, ascending.

    That is those with neither a host, a router nor a cable, without the port that an aggregation
    node has inside its switch (37 of 37, 41 of 41, 65 of 65), and without the ports inside a
    director: switches of one system GUID are its chips; those without a cable out of it have inner
    ports only, and a port number that leads inside on one chip does so on all.
    """
    taken: list[set[int]] = [set() for _ in range(fabric.switches)]
    for near, near_port, far, far_port in fabric.cable_ends():
        taken[near].add(near_port)
        taken[far].add(far_port)
    for switch, port in zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True):
        taken[switch].add(port)
    for switch, port in zip(fabric.other_switch.tolist(), fabric.other_port.tolist(), strict=True):
        if switch != NO_SWITCH:
            taken[switch].add(port)
    inside = _inner_ports(fabric)
    free = []
    for switch, ports in enumerate(fabric.switch_ports.tolist()):
        sockets = ports - 1 if ports in _WITH_INNER_PORT else ports
        not_free = taken[switch] | inside[switch]
        free.append([port for port in range(1, sockets + 1) if port not in not_free])
    return free


def _inner_ports(fabric: Fabric) -> list[set[int]]:
    """Ports of every switch that no socket belongs to, as it is a chip of a director."""
    chips = defaultdict(list)
    for switch, system in enumerate(fabric.switch_system_guid.tolist()):
        if system:
            chips[system].append(switch)
    inside: list[set[int]] = [set() for _ in range(fabric.switches)]
    leads_out = np.zeros(fabric.switches, dtype=bool)
    leads_out[fabric.host_switch] = True
    within = defaultdict(set)
    for near, near_port, far, far_port in fabric.cable_ends():
        system = int(fabric.switch_system_guid[near])
        if system == int(fabric.switch_system_guid[far]) and len(chips[system]) > 1:
            within[system].update({(near, near_port), (far, far_port)})
        else:
            leads_out[[near, far]] = True
    for system, ends in within.items():
        numbers = {port for switch, port in ends if leads_out[switch]}
        for switch in chips[system]:
            every = set(range(int(fabric.switch_ports[switch]) + 1))
            inside[switch] = numbers if leads_out[switch] else every
    return inside


def with_cables(fabric: Fabric, pairs: Sequence[tuple[int, int]]) -> tuple[Fabric, list[Cable]]:
    """The fabric with a cable between each two switches, each on their lowest free ports.

    A cable has the rate of the slower of both switches, that of its fastest links. Routes stay, as
    ports and addresses do.

    Returns:
        The fabric and the new cables, which have the last numbers.

    Raises:
        UsageError: a switch has no free port left.
    """
    free = free_ports(fabric)
    fastest = _fastest_links(fabric)
    ends, rates = [], []
    for near, far in pairs:
        for switch in (near, far):
            if not free[switch]:
                raise UsageError(f'switch "{fabric.switch_label[switch]}" has no free port left')
        ends.append((near, free[near].pop(0), far, free[far].pop(0)))
        known = [rate for rate in (fastest[near], fastest[far]) if rate]
        rates.append(min(known, key=lambda rate: rate_of(fabric.rates[rate]) or 0.0, default=0))
    columns = np.array(ends, dtype=np.int64).reshape(-1, 4).T
    names = ("cable_from", "cable_from_port", "cable_to", "cable_to_port")
    added = dict(zip(names, columns, strict=True)) | {"cable_rate": np.array(rates)}
    longer = {
        name: np.concatenate([column := getattr(fabric, name), more.astype(column.dtype)])
        for name, more in added.items()
    }
    return fabric.replace(**longer), ends


def _fastest_links(fabric: Fabric) -> list[int]:
    """The fastest rate of any link of every switch, as its number; 0 where none is known."""
    order = sorted(range(len(fabric.rates)), key=lambda rate: rate_of(fabric.rates[rate]) or 0.0)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    best = np.full(fabric.switches, place[0])
    for switches, rates in (
        (fabric.cable_from, fabric.cable_rate),
        (fabric.cable_to, fabric.cable_rate),
        (fabric.host_switch, fabric.host_rate),
    ):
        np.maximum.at(best, switches, place[rates])
    return [order[at] for at in best.tolist()]
