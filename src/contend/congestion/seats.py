"""Which rank sits on which host, so that what ranks send each other is held up least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import ROUTE, ROUTES, UsageError
from contend.fabric import Fabric, capacities
from contend.routes import make_resolver

# Changes of a channel's load on trial: so many for each message and channel of a route, and at most
# so many in all, which takes some seconds.
_EFFORT_PER_MESSAGE = 6_000
_MOST_EFFORT = 150_000_000


@dataclass(frozen=True, eq=False)
class PhasedTraffic:
    """What ranks send each other, phase by phase.

    Messages of a phase are under way together; phases come one after the other.

    Attributes:
        ranks: number of ranks.
        phases: number of phases.
        phase: of every message, shape [messages], uint32.
        source: rank that sends it, likewise.
        target: rank that gets it, likewise.
        bytes: whole numbers, shape [messages], float64.
    """

    ranks: int
    phases: int
    phase: NDArray[np.uint32]
    source: NDArray[np.uint32]
    target: NDArray[np.uint32]
    bytes: NDArray[np.float64]

    @property
    def _columns(
        self,
    ) -> tuple[
        int, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]
    ]:
        return self.phases, self.phase, self.source, self.target, self.bytes


@dataclass(frozen=True)
class SeatFigures:
    """How good a placement is; less is better, the first figure that differs counts.

    Attributes:
        busy: sum over phases of the time that the most loaded channel takes, host channels
            included; bytes on a channel where the fabric's rates are not known.
        mean_congestion: mean over bytes of a message's pi within its phase.
        hop_bytes: sum over messages of bytes times channels crossed, host channels included.
    """

    busy: float
    mean_congestion: float
    hop_bytes: float


def judge_seats(
    fabric: Fabric,
    traffic: PhasedTraffic,
    hosts: Sequence[int] | NDArray[np.integer],
    *,
    rate: float | None = None,
) -> SeatFigures:
    """What traffic meets with its ranks on these hosts.

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
    resolver = _resolver(fabric, places, messages=len(traffic.source))
    found = _core.judge_seats(
        resolver,
        *traffic._columns,
        _seconds_per_byte(fabric, places, rate),
        seats.astype(np.uint32),
    )
    return SeatFigures(*found)


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
    resolver = _resolver(fabric, places)
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


def _resolver(
    fabric: Fabric, places: NDArray[np.uint32], *, messages: float = np.inf
) -> _core.Resolver:
    if fabric.routes is not None and fabric.routes.everywhere:
        raise UsageError(
            f"routes by {fabric.routes.engine} go over the whole fabric wherever ranks are, so a "
            "placement changes little: give ",
            ROUTES,
            " or another ",
            ROUTE,
        )
    return make_resolver(fabric, places, messages=messages, several=True)


def _seconds_per_byte(
    fabric: Fabric, places: NDArray[np.uint32], rate: float | None
) -> NDArray[np.float64]:
    """Of every channel: between switches, then injection and ejection by place."""
    if rate is not None:
        return np.full(2 * (fabric.cables + len(places)), 1.0 / rate)
    capacity = capacities(fabric)
    ports = capacity.host[places]
    return 1.0 / np.concatenate((np.repeat(capacity.cable, 2), ports, ports))
