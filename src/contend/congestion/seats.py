"""Which rank sits on which host, so that what ranks send each other is held up least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import ROUTE, ROUTES, UsageError
from contend.fabric import Fabric, capacities
from contend.routes import Ways, each_alone, make_resolver
from contend.traffic.pattern import Pattern

# Changes of a channel's load on trial: so many for each message and channel of a route, and at most
# so many in all, which takes some seconds.
_EFFORT_PER_MESSAGE = 6_000
_MOST_EFFORT = 150_000_000
# Every way of each is held at once.
_MOST_SPLIT = 1 << 18


@dataclass(frozen=True, eq=False)
class PhasedTraffic:
    """What ranks send each other, phase by phase.

    Messages of a phase are under way together; phases come one after the other.
    """

    ranks: int
    """Number of ranks."""
    phases: int
    """Number of phases."""
    phase: NDArray[np.uint32]
    """Phase of every message, shape [messages], uint32."""
    source: NDArray[np.uint32]
    """Rank that sends it, shape [messages], uint32."""
    target: NDArray[np.uint32]
    """Rank that gets it, shape [messages], uint32."""
    bytes: NDArray[np.float64]
    """Bytes in whole numbers, shape [messages], float64."""

    @property
    def _columns(
        self,
    ) -> tuple[
        int, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]
    ]:
        return self.phases, self.phase, self.source, self.target, self.bytes


@dataclass(frozen=True)
class SeatFigures:
    """How good a placement is; less is better, the first figure that differs counts."""

    busy: float
    """Sum over phases of the time that the most loaded channel takes, host channels included; bytes
    on a channel where the fabric's rates are not known."""
    mean_congestion: float
    """Mean over bytes of a message's pi within its phase; 1 / share where all messages of a phase
    split together."""
    hop_bytes: float
    """Sum over messages of bytes times channels crossed, host channels included."""


def judge_seats(
    fabric: Fabric,
    traffic: PhasedTraffic,
    hosts: Sequence[int] | NDArray[np.integer],
    *,
    rate: float | None = None,
) -> SeatFigures:
    """What traffic meets with its ranks on these hosts.

    Where messages split as is best beside the others, those of a phase do.

    Args:
        fabric: with routes.
        traffic: between ranks.
        hosts: host of every rank, shape [ranks].
        rate: bytes per second of every channel; None for the fabric's own.

    Raises:
        UsageError: a host does not exist or cannot be reached.
    """
    every = np.asarray(hosts, dtype=np.uint32)
    places, seats = np.unique(every, return_inverse=True)
    if fabric.routes is not None and fabric.routes.ways & Ways.SOLVED:
        return _judge_solved(fabric, traffic, places, seats.reshape(-1), rate)
    resolver = _resolver(fabric, places, messages=len(traffic.source))
    found = _core.judge_seats(
        resolver,
        *traffic._columns,
        _seconds_per_byte(fabric, places, rate),
        seats.astype(np.uint32),
    )
    return SeatFigures(*found)


def bytes_until_last(
    fabric: Fabric,
    pattern: Pattern,
    hosts: NDArray[np.integer],
    *,
    rate: float | None = None,
) -> tuple[float, float]:
    """What hosts get until the last message of a round is done, where messages have bytes.

    Args:
        fabric: with routes.
        pattern: of which nothing is drawn.
        hosts: host of every rank, shape [ranks].
        rate: bytes per second of every channel; None for the fabric's own.

    Returns:
        The time that the busiest port takes, over that of the busiest channel, all rounds one after
        the other; and bytes per second of the busiest port until then.
    """
    rounds = [pattern.core.messages(number, 0, 0) for number in range(pattern.rounds)]
    phase = np.repeat(np.arange(len(rounds)), [len(one[0]) for one in rounds])
    source, target, size = (np.concatenate(column) for column in zip(*rounds, strict=True))
    traffic = PhasedTraffic(
        pattern.ranks,
        len(rounds),
        phase.astype(np.uint32),
        source,
        target,
        size.astype(np.float64),
    )
    busy = judge_seats(fabric, traffic, hosts, rate=rate).busy
    away = hosts[source] != hosts[target]
    port = np.full(fabric.hosts, rate) if rate is not None else capacities(fabric).host
    longest, most = np.zeros(len(rounds)), np.zeros(len(rounds))
    for end in (source, target):
        place = phase[away] * fabric.hosts + hosts[end[away]]
        load = np.bincount(place, size[away], minlength=len(rounds) * fabric.hosts)
        load = load.reshape(len(rounds), fabric.hosts)
        longest = np.maximum(longest, (load / port).max(axis=1))
        most = np.maximum(most, load.max(axis=1))
    return (float(longest.sum()) / busy, float(most.sum()) / busy) if busy else (1.0, 0.0)


def seat_ranks(
    fabric: Fabric,
    traffic: PhasedTraffic,
    hosts: Sequence[int] | NDArray[np.integer],
    seats: Sequence[int] | NDArray[np.integer],
    starts: Sequence[NDArray[np.integer]],
    *,
    rate: float | None = None,
    seed: int = 1,
    together: int = 1,
) -> NDArray[np.uint32]:
    """Seats ranks so that `SeatFigures` become small; the same seed gives the same seats.

    A search has no time to solve how all messages split together: it takes near routes where each
    splits by itself, see `Routes.each_alone`.

    Args:
        fabric: with routes.
        traffic: between ranks.
        hosts: that may be taken, each once; those near each other stand near each other.
        seats: how many ranks each of these may take.
        starts: host of every rank, shape [ranks] each. The result is no worse than any of them, and
            uses no more hosts than the first.
        rate: bytes per second of every channel; None for the fabric's own.
        seed: of every random choice.
        together: so many neighbouring ranks, and hosts, are those of a server and move together.

    Returns:
        Host of every rank, shape [ranks].

    Raises:
        UsageError: a host cannot be reached, or a start does not fit the seats, or the servers.
    """
    places = np.asarray(hosts, dtype=np.uint32)
    place_of = np.full(fabric.hosts, len(places), dtype=np.uint32)
    place_of[places] = np.arange(len(places), dtype=np.uint32)
    begun = np.stack([place_of[np.asarray(start, dtype=np.int64)] for start in starts])
    if begun.shape[1] != traffic.ranks:
        raise UsageError(f"expected hosts of {traffic.ranks} ranks, got {begun.shape[1]}")
    near = each_alone(fabric)
    resolver = _resolver(near, places)
    channels = 2 * (resolver.crossed + 2)
    found = _core.seat_ranks(
        resolver,
        *traffic._columns,
        _seconds_per_byte(fabric, places, rate),
        np.asarray(seats, dtype=np.uint32),
        begun,
        seed,
        min(_EFFORT_PER_MESSAGE * len(traffic.source) * channels, _MOST_EFFORT),
        together,
    )
    return places[found]


def _judge_solved(
    fabric: Fabric,
    traffic: PhasedTraffic,
    places: NDArray[np.uint32],
    seats: NDArray[np.int64],
    rate: float | None,
) -> SeatFigures:
    """The same, phase by phase, where all messages of a phase split together."""
    resolver = make_resolver(fabric, places, follows=Ways.SOLVED)
    seconds = _seconds_per_byte(fabric, places, rate)
    rounds = _core.IdealRounds(resolver, 1 / seconds)
    between, padding = resolver.switch_channels, len(seconds)
    busy = weighted = sent = hops = 0.0
    for phase in range(traffic.phases):
        own = np.flatnonzero(traffic.phase == phase)
        source, target = (
            seats[end[own]].astype(np.uint32) for end in (traffic.source, traffic.target)
        )
        away = source != target
        source, target, size = source[away], target[away], traffic.bytes[own][away]
        if len(size) == 0:
            continue
        alike = bool((size == size[0]).all())
        if not alike and len(size) > _MOST_SPLIT:
            raise UsageError(
                f"expected at most {_MOST_SPLIT:,} messages of different sizes at once where all "
                f"split together, got {len(size):,}: give another ",
                ROUTE,
                ", such as spray",
            )
        share, channel, part = rounds.solve(source, target, padding, not alike)
        load = np.zeros(len(seconds) + 1)
        if alike:
            load[:between] = size[0] * rounds.load()
        else:
            np.add.at(load, channel, part * size[:, np.newaxis])
        hops += float(load[:between].sum()) + 2 * float(size.sum())
        np.add.at(load, between + source.astype(np.int64), size)
        np.add.at(load, between + len(places) + target.astype(np.int64), size)
        busy += float((load[:-1] * seconds).max())
        weighted += float((size / share).sum())
        sent += float(size.sum())
    return SeatFigures(busy, weighted / sent if sent > 0 else 1.0, hops)


def _resolver(
    fabric: Fabric, places: NDArray[np.uint32], *, messages: float = np.inf
) -> _core.Resolver:
    if fabric.routes is not None and fabric.routes.ways & Ways.EVERYWHERE:
        raise UsageError(
            f"routes by {fabric.routes.engine} go over the whole fabric wherever ranks are, so a "
            "placement changes little: give ",
            ROUTES,
            " or another ",
            ROUTE,
        )
    return make_resolver(fabric, places, messages=messages, follows=Ways.SPLIT)


def _seconds_per_byte(
    fabric: Fabric, places: NDArray[np.uint32], rate: float | None
) -> NDArray[np.float64]:
    """Of every channel: between switches, then injection and ejection by place."""
    if rate is not None:
        return np.full(2 * (fabric.cables + len(places)), 1.0 / rate)
    capacity = capacities(fabric)
    ports = capacity.host[places]
    return 1.0 / np.concatenate((np.repeat(capacity.cable, 2), ports, ports))
