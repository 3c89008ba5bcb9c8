"""Pairs of hosts that share a channel without sharing an end point, chosen from the routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import ContendError, UsageError
from contend.congestion.rates import link_rates
from contend.fabric import Fabric
from contend.routes import make_resolver
from contend.traffic.placement import by_name

if TYPE_CHECKING:
    import scipy.sparse

Pairs = list[tuple[int, int]]
# Channels are tried in the order of what they may allow; after so many the best one will do.
_MOST_TRIED = 300


@dataclass(frozen=True)
class HotSpot:
    """A pair of hosts, the victim, and others whose messages cross one channel of its route.

    No host is in two pairs. With k of the others sending, the victim's congestion is k + 1, and
    where links are alike both 1/pi and the max-min fair share are 1 / (k + 1).
    """

    channel: int
    """Channel that all share, between switches."""
    victim: tuple[int, int]
    """Source and target host of the victim."""
    rivals: tuple[tuple[int, int], ...]
    """Source and target host of the others, those first that share least with the victim."""
    shared: tuple[int, ...]
    """Number of channels that every rival shares with the victim, `channel` included."""
    asked: int
    """Number of rivals that was asked for; where there are fewer, no more can be (on the 300 most
    promising channels, where neither victim nor channel was given)."""

    @property
    def hosts(self) -> tuple[int, ...]:
        """All hosts, source and target of the victim, then of rival after rival."""
        return tuple(host for pair in (self.victim, *self.rivals) for host in pair)


def hotspot(
    fabric: Fabric,
    rivals: int,
    *,
    victim: tuple[int, int] | None = None,
    channel: int | None = None,
    hosts: Sequence[int] | NDArray[np.integer] | None = None,
) -> HotSpot:
    """Chooses, from the routes, pairs that share a channel with a victim.

    Rivals share as few other channels with the victim as possible. Where the routes do not allow as
    many as asked for, there are as many as possible. Of channels that allow as many, the hottest is
    taken: where links differ in rate, the one on which so many messages take longest.

    Args:
        fabric: with routes; hosts with LMC > 0 are reached by their first address.
        rivals: how many other pairs to look for.
        victim: source and target host; None chooses a pair.
        channel: between switches; None takes the one of the victim's route, or of all, that allows
            most.
        hosts: numbers of those that take part; None is all.

    Raises:
        UsageError: when a host or channel does not exist, the victim does not cross the channel, or
            no channel between switches carries messages.
    """
    if rivals < 0:
        raise UsageError(f"expected at least 0 rivals, got {rivals}")
    search = _Search(fabric, _taking_part(fabric, hosts), rivals)
    if victim is not None:
        return search.around(victim, channel)
    if channel is not None:
        search.check(channel)
        return search.on(channel)
    return search.anywhere()


def _taking_part(
    fabric: Fabric, hosts: Sequence[int] | NDArray[np.integer] | None
) -> NDArray[np.int64]:
    """Host of every place, in the order of names."""
    order = by_name(fabric).astype(np.int64)
    if hosts is None:
        return order
    chosen = np.asarray(hosts, dtype=np.int64)
    if len(chosen) == 0 or not 0 <= chosen.min() <= chosen.max() < fabric.hosts:
        raise UsageError(f"expected hosts 0 .. {fabric.hosts - 1}, got {list(hosts)[:10]}")
    return order[np.isin(order, chosen)]


class _Search:
    """The routes between the hosts that take part."""

    def __init__(self, fabric: Fabric, hosts: NDArray[np.int64], rivals: int) -> None:
        self._fabric = fabric
        self._hosts = hosts
        self._rivals = rivals
        self._resolver = make_resolver(fabric, hosts.astype(np.uint32))
        leaf = np.unique(fabric.host_switch[hosts], return_inverse=True)[1]
        self._leaf: NDArray[np.int64] = leaf.astype(np.int64)
        self._leaves = self._leaf.astype(np.uint32)
        self._first = np.unique(self._leaf, return_index=True)[1]
        # How long a message takes on every channel.
        self._heat = link_rates(fabric, hosts).heat(np.ones(2 * fabric.cables))

    def check(self, channel: int) -> None:
        if not 0 <= channel < self._resolver.switch_channels:
            raise UsageError(
                f"expected a channel between switches of {self._fabric.name}, "
                f"0 .. {self._resolver.switch_channels - 1}, got {channel}"
            )

    def anywhere(self) -> HotSpot:
        """On the channel that allows the most rivals, or the hottest that allows enough."""
        sources, targets = _core.channel_reach(self._resolver, self._leaves)
        # Pairs without a common host are no more than the sources, nor the targets.
        bound = np.minimum(sources, targets).astype(np.int64)
        enough = np.minimum(bound, self._rivals + 1)
        order = np.lexsort((-bound, -self._heat, -enough))[:_MOST_TRIED].tolist()
        if not order or bound[order[0]] == 0:
            raise UsageError(
                f"no message crosses a channel between switches of {self._fabric.name}"
            )
        best, most = order[0], 0
        for channel in order:
            if most >= enough[channel]:
                break
            leaf, target = self._across(channel)
            count = len(self._choose(leaf, target, np.zeros_like(leaf), (), self._rivals + 1))
            if count > most:
                best, most = channel, count
        return self.on(best)

    def on(self, channel: int) -> HotSpot:
        """With the victim of the shortest route, which has least else to share."""
        leaf, target = self._across(channel)
        lengths = (self._routes(leaf, target) < self._resolver.switch_channels).sum(axis=1)
        pairs = self._choose(leaf, target, lengths, (), self._rivals + 1)
        if not pairs:
            name = self._fabric.channel_name(channel)
            raise UsageError(f"no message crosses channel {channel} ({name})")
        # The cheapest pair comes first.
        return self._beside(pairs[0], channel)

    def around(self, victim: tuple[int, int], channel: int | None) -> HotSpot:
        """With a given victim, on the channel of its route that allows most."""
        places = [np.flatnonzero(self._hosts == host).tolist() for host in victim]
        if not all(places) or victim[0] == victim[1]:
            raise UsageError(f"expected two different hosts that take part, got {victim}")
        pair = (places[0][0], places[1][0])
        route = self._route(pair)
        if channel is None and len(route) == 0:
            names = " and ".join(f'"{self._fabric.host_name[host]}"' for host in victim)
            raise UsageError(f"expected hosts on two leaf switches, got {names} on one")
        if channel is not None and channel not in route:
            names = " -> ".join(f'"{self._fabric.host_name[host]}"' for host in victim)
            raise UsageError(f"expected a channel on the route {names}, got {channel}")
        spots = [self._beside(pair, c) for c in (route if channel is None else [channel])]
        return max(
            spots,
            key=lambda spot: (len(spot.rivals), self._heat[spot.channel], -sum(spot.shared)),
        )

    def _beside(self, victim: tuple[int, int], channel: int) -> HotSpot:
        """The rivals of a victim on a channel."""
        leaf, target = self._across(channel)
        route = self._route(victim)
        shared = np.isin(self._routes(leaf, target), route).sum(axis=1)
        pairs = self._choose(leaf, target, shared, victim, self._rivals)
        costs = {
            (int(start), int(end)): int(n)
            for start, end, n in zip(leaf, target, shared, strict=True)
        }
        ends = [(int(self._hosts[s]), int(self._hosts[t])) for s, t in (victim, *pairs)]
        return HotSpot(
            channel=int(channel),
            victim=ends[0],
            rivals=tuple(ends[1:]),
            shared=tuple(costs[int(self._leaf[s]), t] for s, t in pairs),
            asked=self._rivals,
        )

    def _choose(
        self,
        leaf: NDArray[np.int64],
        target: NDArray[np.int64],
        cost: NDArray[np.int64],
        taken: Sequence[int],
        most: int,
    ) -> Pairs:
        free = np.ones(len(self._hosts), dtype=np.bool_)
        free[list(taken)] = False
        return choose_disjoint(Candidates(leaf, target, cost, self._leaf, free), most)

    def _across(self, channel: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        leaf, target = _core.pairs_across(self._resolver, self._leaves, channel)
        return leaf.astype(np.int64), target.astype(np.int64)

    def _routes(self, leaf: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.uint32]:
        source = self._first[leaf].astype(np.uint32)
        return self._resolver.routes(source, target.astype(np.uint32), 0)

    def _route(self, pair: tuple[int, int]) -> NDArray[np.uint32]:
        source, target = (np.array([end], dtype=np.uint32) for end in pair)
        route: NDArray[np.uint32] = self._resolver.routes(source, target, 0)[0]
        return route[route < self._resolver.switch_channels]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs to choose from: any host of a leaf may send to a target."""

    leaf: NDArray[np.int64]
    """Leaf of the source, shape [candidates]."""
    target: NDArray[np.int64]
    """Target place, shape [candidates]."""
    cost: NDArray[np.int64]
    """What is to be as little as possible in sum, shape [candidates]."""
    leaf_of_place: NDArray[np.int64]
    """Leaf of every place, shape [places]."""
    free: NDArray[np.bool_]
    """Whether a place may be in a pair, shape [places]."""


def choose_disjoint(candidates: Candidates, most: int) -> Pairs:
    """As many pairs (source place, target place) as possible up to `most`, at the least cost.

    Hosts of a leaf can stand in for each other as sources, and as targets where the same leaves
    reach them at the same cost. So only the number of pairs from a leaf to a class of targets is to
    be chosen: first their largest sum, then the least cost at that sum, as integer programmes.

    Returns:
        Cheapest first, then in order of places.
    """
    allowed = candidates.free[candidates.target]
    leaf, target, cost = (
        column[allowed] for column in (candidates.leaf, candidates.target, candidates.cost)
    )
    if most < 1 or len(leaf) == 0:
        return []
    kind, members = _classes(leaf, target, cost, candidates.leaf_of_place)
    flows, first = np.unique(np.stack((leaf, kind)), axis=1, return_index=True)
    flow_leaf, flow_kind = flows
    numbers = _solve(
        flow_leaf,
        flow_kind,
        cost[first],
        np.array([len(places) for places in members]),
        candidates.leaf_of_place[[places[0] for places in members]],
        np.bincount(candidates.leaf_of_place[candidates.free], minlength=flow_leaf.max() + 1),
        most,
    )
    chosen = _with_hosts(flow_leaf, flow_kind, cost[first], numbers, members, candidates)
    return [(source, to) for _, source, to in sorted(chosen)]


def _classes(
    leaf: NDArray[np.int64],
    target: NDArray[np.int64],
    cost: NDArray[np.int64],
    leaf_of_place: NDArray[np.int64],
) -> tuple[NDArray[np.int64], list[list[int]]]:
    """Class of the target of every candidate, and the targets of every class."""
    targets, row = np.unique(target, return_inverse=True)
    leaves, column = np.unique(leaf, return_inverse=True)
    reached = np.full((len(targets), len(leaves) + 1), -1, dtype=np.int64)
    reached[row, column] = cost
    reached[:, -1] = leaf_of_place[targets]
    kind_of_target = np.unique(reached, axis=0, return_inverse=True)[1].reshape(-1)
    members: list[list[int]] = [[] for _ in range(int(kind_of_target.max()) + 1)]
    for place, kind in zip(targets.tolist(), kind_of_target.tolist(), strict=True):
        members[kind].append(place)
    return kind_of_target[row], members


def _solve(
    leaf: NDArray[np.int64],
    kind: NDArray[np.int64],
    cost: NDArray[np.int64],
    room_of_kind: NDArray[np.int64],
    leaf_of_kind: NDArray[np.int64],
    room_of_leaf: NDArray[np.int64],
    most: int,
) -> NDArray[np.int64]:
    """Number of pairs for every flow from a leaf to a class of targets."""
    # They take longer to load than most pairs take to choose.
    import scipy.sparse

    count = len(leaf)
    ones, number = np.ones(count), np.arange(count)
    by_kind = scipy.sparse.coo_array((ones, (kind, number)), shape=(len(room_of_kind), count))
    # A host of a leaf is a source or a target, not both.
    ends = (np.concatenate((leaf, leaf_of_kind[kind])), np.concatenate((number, number)))
    by_leaf = scipy.sparse.coo_array((np.ones(2 * count), ends), shape=(len(room_of_leaf), count))
    rows = scipy.sparse.vstack(
        (by_kind, by_leaf, scipy.sparse.coo_array(ones.reshape(1, -1)))
    ).tocsr()
    upper = np.concatenate((room_of_kind, room_of_leaf, [most]))
    numbers = _optimum(-ones, rows, np.zeros(len(upper)), upper)
    if len(np.unique(cost)) == 1:
        return numbers
    lower = np.zeros(len(upper))
    lower[-1] = upper[-1] = numbers.sum()
    return _optimum(cost.astype(np.float64), rows, lower, upper)


def _optimum(
    objective: NDArray[np.float64],
    rows: scipy.sparse.csr_array,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> NDArray[np.int64]:
    import scipy.optimize

    solved = scipy.optimize.milp(
        objective,
        integrality=np.ones(len(objective)),
        constraints=scipy.optimize.LinearConstraint(rows, lower, upper),
        options={"mip_rel_gap": 0.0},
    )
    if solved.x is None:
        raise ContendError(f"no choice of pairs was found: {solved.message}")
    numbers: NDArray[np.int64] = np.rint(solved.x).astype(np.int64)
    return numbers


def _with_hosts(
    leaf: NDArray[np.int64],
    kind: NDArray[np.int64],
    cost: NDArray[np.int64],
    numbers: NDArray[np.int64],
    members: list[list[int]],
    candidates: Candidates,
) -> list[tuple[int, int, int]]:
    """Hosts for the pairs of every flow: (cost, source, target)."""
    used = np.flatnonzero(numbers)
    unused = [list(places) for places in members]
    targets = {flow: [unused[kind[flow]].pop(0) for _ in range(numbers[flow])] for flow in used}
    taken = {place for places in targets.values() for place in places}
    senders: dict[int, list[int]] = {}
    for place in np.flatnonzero(candidates.free).tolist():
        if place not in taken:
            senders.setdefault(int(candidates.leaf_of_place[place]), []).append(place)
    return [
        (int(cost[flow]), senders[int(leaf[flow])].pop(0), to)
        for flow in used
        for to in targets[flow]
    ]
