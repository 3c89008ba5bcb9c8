"""How evenly tables spread the routes of an all-to-all over channels that could share them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric, capacities, switch_levels


@dataclass(frozen=True)
class Balance:
    """The channels of one kind."""

    kind: str
    """Kind: ``up``, ``down``, ``across`` (between switches of one level) or ``parallel`` (those of
    several cables from one switch to another)."""
    level: int
    """Level of the switches that the channels leave; 0 for ``parallel``."""
    channels: int
    """Number of channels."""
    idle: int
    """Number of those that no route uses."""
    mean_routes: float
    """Mean number of routes per channel."""
    most_routes: int
    """Number of routes over the busiest channel."""
    imbalance: float
    """The largest, over all groups, of what a group's busiest channel carries over its fair share.
    A group is what could share the load: the upward or sideward channels out of one switch, the
    downward ones into one switch, or parallel ones. 1 is even."""
    worst_channel: str
    """Name of the channel with that imbalance."""


def balance(
    fabric: Fabric, load: NDArray[np.uint64], addresses: NDArray[np.uint32]
) -> tuple[Balance, ...]:
    """The balance of every kind of channel that routes use.

    Args:
        fabric: the fabric.
        load: routes over every channel between switches, shape [2 cables].
        addresses: addresses that are reached over each of them, shape [2 cables].

    A group's fair share is its routes over its channels, by capacity; where it leads to fewer
    addresses than it has channels, only as many channels can be used, and the share is larger.
    """
    level = switch_levels(fabric)
    tail = np.stack([fabric.cable_from, fabric.cable_to], axis=1).ravel().astype(np.int64)
    head = np.stack([fabric.cable_to, fabric.cable_from], axis=1).ravel().astype(np.int64)
    capacity = np.repeat(capacities(fabric).cable, 2)
    columns = _Columns(fabric, load.astype(np.float64), addresses.astype(np.float64), capacity)
    step = level[head] - level[tail]
    judged = [
        columns.judge(kind, at, members & (level[tail] == at), group)
        for kind, members, group in (
            ("up", step > 0, tail),
            ("across", step == 0, tail),
            ("down", step < 0, head),
        )
        for at in np.unique(level[tail[members]]).tolist()
    ]
    pair = tail * fabric.switches + head
    _, group, count = np.unique(pair, return_inverse=True, return_counts=True)
    judged.append(columns.judge("parallel", 0, count[group] > 1, group))
    return tuple(kind for kind in judged if kind is not None)


@dataclass(frozen=True, eq=False)
class _Columns:
    fabric: Fabric
    load: NDArray[np.float64]
    addresses: NDArray[np.float64]
    capacity: NDArray[np.float64]

    def judge(
        self, kind: str, level: int, members: NDArray[np.bool_], group: NDArray[np.int64]
    ) -> Balance | None:
        """One kind of channels; None when no route uses any."""
        channels = np.flatnonzero(members)
        load = self.load[channels]
        if not load.any():
            return None
        labels, groups = np.unique(group[channels], return_inverse=True)
        size = len(labels)
        members_in = np.bincount(groups, minlength=size)
        reached = np.bincount(groups, self.addresses[channels], size)
        usable = np.minimum(members_in, np.maximum(reached, 1)) / members_in
        total = np.bincount(groups, load, size)
        room = np.bincount(groups, self.capacity[channels], size) * usable
        fair = (total / room)[groups] * self.capacity[channels]
        excess = np.divide(load, fair, out=np.zeros_like(load), where=fair > 0)
        worst = int(excess.argmax())
        return Balance(
            kind=kind,
            level=level,
            channels=len(channels),
            idle=int(np.count_nonzero(load == 0)),
            mean_routes=float(load.mean()),
            most_routes=int(load.max()),
            imbalance=float(excess[worst]),
            worst_channel=self.fabric.channel_name(int(channels[worst])),
        )
