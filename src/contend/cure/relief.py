"""Which cables may relieve a fabric, to first order, and which of them are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from contend.fabric import (
    Fabric,
    bare_switches,
    cable_ports,
    capacities,
    few_hosts,
    idle_switches,
    is_tree,
    switch_distances,
    switch_levels,
)
from contend.routes import Demand, tables_of

Pair = tuple[int, int]
# Destinations that are followed, times switches, and those that gains are summed over.
_MOST_FOLLOWED = 1 << 24
_MOST_SUMMED = 1 << 19
# The most promising pairs that are told apart from their like.
_LOOKED_AT = 2000
# Rounds in which a switch is told apart from others by its neighbours.
_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class Relief:
    """What new cables may save of the collisions between messages, to first order.

    The price of a channel is the number of messages that cross it when every host sends to every
    other (or what `demand` says), those to the same destination left out: they meet anyway. A cable
    from u to v may take messages at u whose destination is nearer to v; each saves the difference
    of the prices that are left on the way. What messages then meet on the cable itself is taken
    off, at the share of them that leaves most.
    """

    pairs: NDArray[np.int64]
    """Pairs of switches that may be joined, the lower number first, shape [pairs, 2]; what promises
    most comes first."""
    saved: NDArray[np.float64]
    """Collisions that a cable may save, shape [pairs]."""
    pressure: NDArray[np.float64]
    """What messages from or through a switch meet from there on, shape [switches]."""


def relief(
    fabric: Fabric, demand: Demand | None = None, *, pairs: NDArray[np.int64] | None = None
) -> Relief:
    """Judges every pair of switches that a cable may join, by the tables of a fabric.

    Args:
        fabric: with tables.
        demand: who sends how much to whom; None: all hosts the same to all others.
        pairs: the only ones that are judged, whatever they gain, shape [pairs, 2]; None: those with
            free ports that follow the rule of the fabric, and that gain.
    """
    course = _Course(fabric, demand)
    if pairs is None:
        allowed = _may_be_joined(fabric)
    else:
        allowed = np.zeros((fabric.switches, fabric.switches), dtype=bool)
        allowed[pairs[:, 0], pairs[:, 1]] = allowed[pairs[:, 1], pairs[:, 0]] = True
    saved = np.zeros((fabric.switches, fabric.switches))
    for switch in np.flatnonzero(allowed.any(axis=1)).tolist():
        saved[switch, allowed[switch]] = course.saved(switch, np.flatnonzero(allowed[switch]))
    both = np.triu(saved + saved.T, 1)
    low, high = np.nonzero(both > 0) if pairs is None else np.nonzero(np.triu(allowed, 1))
    order = np.argsort(-both[low, high], kind="stable")
    found = np.stack([low, high], axis=1)[order]
    return Relief(found, both[low, high][order], course.pressure())


def _may_be_joined(fabric: Fabric) -> NDArray[np.bool_]:
    """Pairs of switches with free ports for cables that one may join, shape [switches, switches].

    In a tree those of neighbouring levels of which the lower is much like another that is joined to
    the higher one, so that no cable crosses rails, pods or planes. Switches without a cable may be
    joined to all others, leaves with few hosts to none.
    """
    free = np.array([len(ports) > 0 for ports in cable_ports(fabric)])
    bare, part = bare_switches(fabric), fabric.switch_part
    allowed: NDArray[np.bool_] = part[:, None] == part[None, :]
    level = levels_in_tree(fabric)
    if level is not None:
        by_rule = _joined_alike(fabric, level)
        apart = np.abs(level[:, None] - level[None, :]) == 1
        allowed &= by_rule if by_rule.any() else apart
    allowed |= bare[:, None] | bare[None, :]
    use = free & ~few_hosts(fabric)
    allowed &= use[:, None] & use[None, :]
    np.fill_diagonal(allowed, val=False)
    return allowed


def _joined_alike(fabric: Fabric, level: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pairs of which the higher switch is joined to one with mostly the neighbours of the lower."""
    near, far = fabric.cable_from, fabric.cable_to
    joined = np.zeros((fabric.switches, fabric.switches), dtype=np.float32)
    for low, high in ((near, far), (far, near)):
        up = level[high] == level[low] + 1
        joined[low[up], high[up]] = 1
    both, size = joined @ joined.T, joined.sum(axis=1)
    alike = (both > 0) & (2 * both >= np.maximum(size[:, None], size[None, :]))
    np.fill_diagonal(alike, val=False)
    reached = (alike.astype(np.float32) @ joined) > 0
    pairs: NDArray[np.bool_] = reached | reached.T
    return pairs


def levels_in_tree(fabric: Fabric) -> NDArray[np.int64] | None:
    """Level of every switch, 0 for those that no route between hosts needs; None: no tree."""
    level = switch_levels(fabric)
    near, far = fabric.cable_from, fabric.cable_to
    across = near != far
    if not is_tree(level, near[across], far[across]):
        return None
    return np.where(idle_switches(fabric), 0, level)


class _Course:
    """Where messages go by the tables, what they meet, and how far they have still to go.

    Matrices have shape [switches, hosts]: what is meant for a host at a switch.
    """

    def __init__(self, fabric: Fabric, demand: Demand | None) -> None:
        few = -(-fabric.hosts * fabric.switches // _MOST_FOLLOWED)
        hosts = np.arange(0, fabric.hosts, few)
        at_home = (fabric.host_switch[hosts], np.arange(len(hosts)))
        out = _channels_out(fabric, hosts)
        out[at_home] = -1
        # Where a message goes next; it stays where it has arrived or knows no way.
        far = np.append(np.stack([fabric.cable_to, fabric.cable_from], axis=1).ravel(), 0)
        here = np.arange(fabric.switches)[:, None]
        next_switch = np.where(out >= 0, far[out], here).astype(np.int64)
        self._hops = _hops(next_switch, at_home)
        self._flow = _sent(fabric, demand)[:, hosts] if demand else _alike(fabric, len(hosts))
        self._flow *= np.isfinite(self._hops)
        longest = int(self._hops[np.isfinite(self._hops)].max(initial=0))
        by_hops = [np.nonzero(self._hops == count) for count in range(longest + 1)]
        for at, to in reversed(by_hops[1:]):
            np.add.at(self._flow, (next_switch[at, to], to), self._flow[at, to])
        self._flow[at_home] = 0
        weight = np.repeat(_weights(fabric), 2)
        load = np.bincount(out[out >= 0], self._flow[out >= 0], 2 * fabric.cables)
        # What nothing leads on from is as dear as it is far, and nobody goes there.
        self._cost = np.zeros(self._hops.shape)
        for at, to in by_hops[1:]:
            channel = out[at, to]
            met = weight[channel] * (load[channel] - self._flow[at, to])
            self._cost[at, to] = met + self._cost[next_switch[at, to], to]
        self._every = max(1, self._hops.size // _MOST_SUMMED)
        summed = (self._hops, self._flow, self._cost)
        self._summed = [np.ascontiguousarray(one[:, :: self._every]) for one in summed]

    def pressure(self) -> NDArray[np.float64]:
        """What messages meet from a switch on, in sum over them, shape [switches]."""
        total: NDArray[np.float64] = (self._flow * self._cost).sum(axis=1)
        return total

    def saved(self, switch: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """What a cable from a switch to each of others saves of what is sent on there."""
        hops, every_flow, cost = self._summed
        flow = every_flow[switch] * self._every
        less = cost[switch] - cost[others]
        less[(less < 0) | (hops[others] >= hops[switch])] = 0
        gain, moved = less @ flow, (less > 0) @ flow
        # Of a share x of them: x gain - x^2 moved^2, which meet each other on the cable.
        share = np.minimum(1, gain / np.maximum(2 * moved**2, 1e-300))
        result: NDArray[np.float64] = np.maximum(share * gain - (share * moved) ** 2, 0)
        return result


def _channels_out(fabric: Fabric, hosts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The channel between switches by which each forwards to each host, -1 for none."""
    ports = tables_of(fabric).ports
    most = int(fabric.switch_ports.max(initial=0)) + 1
    known = fabric.host_lid[hosts] < ports.shape[1]
    columns = ports[:, np.where(known, fabric.host_lid[hosts], 0)]
    columns = np.where(known, np.minimum(columns, most), most)
    # No cable is on the last port.
    channel = np.full((fabric.switches, most + 1), -1, dtype=np.int64)
    number = np.arange(fabric.cables)
    channel[fabric.cable_from, fabric.cable_from_port] = 2 * number
    channel[fabric.cable_to, fabric.cable_to_port] = 2 * number + 1
    return np.take_along_axis(channel, columns.astype(np.int64), axis=1)


def _hops(
    next_switch: NDArray[np.int64], at_home: tuple[NDArray[np.uint32], NDArray[np.int64]]
) -> NDArray[np.float64]:
    """How many cables every switch is from every host by the tables; infinite where none lead."""
    hops = np.full(next_switch.shape, np.inf)
    hops[at_home] = 0
    for _ in range(len(next_switch)):
        further = np.take_along_axis(hops, next_switch, axis=0) + 1
        further[at_home] = 0
        if np.array_equal(further, hops):
            break
        hops = further
    return hops


def _alike(fabric: Fabric, hosts: int) -> NDArray[np.float64]:
    """What the hosts of every switch send to so many hosts, one message each."""
    sent = np.zeros((fabric.switches, hosts))
    sent += np.bincount(fabric.host_switch, minlength=fabric.switches)[:, None]
    return sent


def _sent(fabric: Fabric, demand: Demand) -> NDArray[np.float64]:
    """What the hosts of every switch send to every host."""
    source, target, much = demand
    place = fabric.host_switch[source].astype(np.int64) * fabric.hosts + target
    sent = np.zeros((fabric.switches, fabric.hosts))
    sent += np.bincount(place, much, sent.size).reshape(sent.shape)
    return sent


def _weights(fabric: Fabric) -> NDArray[np.float64]:
    """How much longer a message takes on each cable than on the fastest."""
    capacity = capacities(fabric).cable
    return capacity.max(initial=0.0) / capacity if len(capacity) else np.ones(0)


def first_of_each_kind(fabric: Fabric, pairs: NDArray[np.int64], most: int) -> list[Pair]:
    """The first pairs of switches of which no two are alike, in their order.

    Alike are pairs that see the same around them: as many switches of every kind at the same
    distances from both, and as many cables between them. Kinds of switches are told apart by their
    hosts, links and neighbours, some rounds far.
    """
    kind = _kinds(fabric)
    near, far = fabric.cable_from.astype(np.int64), fabric.cable_to.astype(np.int64)
    joins = coo_array((np.ones(len(near)), (near, far)), (fabric.switches, fabric.switches))
    cables = (joins + joins.T).toarray()
    looked = pairs[:_LOOKED_AT]
    ends, row = np.unique(looked, return_inverse=True)
    row = row.reshape(-1, 2)
    away = switch_distances(fabric, ends.tolist())
    away = np.where(np.isfinite(away), away, -1).astype(np.int64)
    seen: set[tuple[int, int, int]] = set()
    chosen: list[Pair] = []
    for (low, high), (one, other) in zip(looked.tolist(), row.tolist(), strict=True):
        views = [
            int(_mixed(kind, _mixed(away[a], away[b])).sum())
            for a, b in ((one, other), (other, one))
        ]
        view = (min(views), max(views), int(cables[low, high]))
        if view not in seen:
            seen.add(view)
            chosen.append((low, high))
            if len(chosen) == most:
                break
    return chosen


def _kinds(fabric: Fabric) -> NDArray[np.int64]:
    """Numbers of switches that are alike by their hosts, links and neighbours, [switches]."""
    hosts = np.zeros(fabric.switches, dtype=np.uint64)
    np.add.at(hosts, fabric.host_switch, _mixed(fabric.host_rate, np.zeros(fabric.hosts)))
    kind = np.unique(hosts, return_inverse=True)[1].reshape(-1)
    for _ in range(_ROUNDS):
        around = np.zeros(fabric.switches, dtype=np.uint64)
        ends = (fabric.cable_from, fabric.cable_to)
        for here, there in (ends, ends[::-1]):
            np.add.at(around, here, _mixed(kind[there], fabric.cable_rate))
        kind = np.unique(_mixed(kind, around), return_inverse=True)[1].reshape(-1)
    return kind.astype(np.int64)


def _mixed(one: NDArray[np.generic], other: NDArray[np.generic]) -> NDArray[np.uint64]:
    """A number for every two, by the finaliser of SplitMix64 (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        mixed = one.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + other.astype(np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))
