"""As many pairs of hosts as possible among those allowed, no host in two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.errors import ContendError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Pairs = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs to choose from: any host of a leaf may send to a target.

    Attributes:
        leaf: leaf of the source, shape [candidates].
        target: target place, shape [candidates].
        cost: what is to be as little as possible in sum, shape [candidates].
        leaf_of_place: shape [places].
        free: whether a place may be in a pair, shape [places].
    """

    leaf: NDArray[np.int64]
    target: NDArray[np.int64]
    cost: NDArray[np.int64]
    leaf_of_place: NDArray[np.int64]
    free: NDArray[np.bool_]


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
    # Imported here, as below: it takes longer to load than most pairs take to choose.
    from scipy.sparse import coo_array, vstack

    count = len(leaf)
    one, number = np.ones(count), np.arange(count)
    by_kind = coo_array((one, (kind, number)), shape=(len(room_of_kind), count))
    # A host of a leaf is a source or a target, not both.
    ends = (np.concatenate((leaf, leaf_of_kind[kind])), np.concatenate((number, number)))
    by_leaf = coo_array((np.ones(2 * count), ends), shape=(len(room_of_leaf), count))
    rows = vstack((by_kind, by_leaf, coo_array(one.reshape(1, -1)))).tocsr()
    upper = np.concatenate((room_of_kind, room_of_leaf, [most]))
    found = _optimum(-one, rows, np.zeros(len(upper)), upper)
    if len(np.unique(cost)) == 1:
        return found
    lower = np.zeros(len(upper))
    lower[-1] = upper[-1] = found.sum()
    return _optimum(cost.astype(np.float64), rows, lower, upper)


def _optimum(
    objective: NDArray[np.float64],
    rows: csr_array,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> NDArray[np.int64]:
    from scipy.optimize import LinearConstraint, milp

    solved = milp(
        objective,
        integrality=np.ones(len(objective)),
        constraints=LinearConstraint(rows, lower, upper),
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
