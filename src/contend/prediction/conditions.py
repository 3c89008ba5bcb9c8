"""Where communication is predicted, and on which hosts the ranks of a program sit there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.schema import Rate, Shown
from contend.base.units import parse_rate, parse_size
from contend.fabric import Fabric, FabricSize, capacities, relative_rates
from contend.lab.emulation import emulated_fabric
from contend.prediction.calibration import Calibration
from contend.profiling import ProgramProfile
from contend.routes import load
from contend.traffic.placement import HostNames, parse
from contend.traffic.schedule import Cables, Phases, phases_by_routes


def fastest_port(fabric: Fabric, calibration: Calibration, rate: float | None = None) -> float:
    """Bytes per second of the fastest host's port, which all cables are in proportion to.

    Args:
        fabric: where messages go.
        calibration: whose rate it is, unless it is assumed: then the fabric's own counts.
        rate: that is asked for; it has the last word.

    Raises:
        UsageError: nothing tells it.
    """
    if rate is not None:
        return rate
    if not calibration.assumed:
        return calibration.wire_Bps
    capacity = capacities(fabric)
    if capacity.unit != "bytes/s":
        raise UsageError(
            f"{fabric.name}: not all of its links have a known rate: give --rate, or --calibration"
        )
    return float(capacity.host.max())


@dataclass(frozen=True)
class PredictionConditions:
    """Where communication is predicted."""

    fabric: Fabric
    """Fabric with routes."""
    hosts: Sequence[int] | NDArray[np.integer]
    """Number of each rank's host, shape [ranks]."""
    calibration: Calibration
    """What messages cost."""
    rate: float
    """Bytes per second of the fastest host's port; all cables have it in proportion to their own
    rates."""
    buffer: float | None = None
    """Bytes that wait for a channel at most; None where nobody knows."""

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Bytes per second of every channel, shape [channels]."""
        return self.rate * relative_rates(self.fabric)

    @cached_property
    def cables(self) -> Cables:
        """What all channels are like."""
        return self.calibration.cables(self.rates, buffer=self.buffer)

    @cached_property
    def phases(self) -> Phases:
        """An all-to-all of all ranks in phases that know the routes.

        Raises:
            UsageError: no route between two hosts.
        """
        return phases_by_routes(self.fabric, self.hosts)


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictedThere(Shown):
    """What is predicted of a network."""

    fabric: FabricSize
    """Where it runs."""
    engine: str
    """What computed the routes; "" if they were read and their file does not say."""
    placement: str
    """How ranks were placed."""
    rate_Bps: Rate
    """Bytes per second of the fastest host's port."""


def where_recorded(
    profile: ProgramProfile, calibration: Calibration, fabric: Fabric | str | None = None
) -> PredictionConditions | None:
    """Where a profile was recorded, as far as that is known.

    Args:
        profile: what was recorded.
        calibration: what messages cost.
        fabric: where it was, or as it is given to `contend.load`; None for what the profile says of
            an emulated one.

    Raises:
        UsageError: the hosts of the fabric are not those of the profile.
    """
    asked = profile.record.asked
    if fabric is not None:
        network = load(fabric, need_routes=True) if isinstance(fabric, str) else fabric
        hosts = recorded_hosts(profile, network)
        if hosts is None:
            hosts = _in_order(profile, network)
        rate = fastest_port(network, calibration)
        return PredictionConditions(network, hosts, calibration, rate, calibration.buffer)
    known = emulated_fabric(asked)
    if known is None:
        return None
    order = [int(host) for host in asked.get("placement", "").split(",") if host]
    return PredictionConditions(
        known,
        _in_order(profile, known, order or None),
        calibration,
        parse_rate(asked["rate"]),
        parse_size(asked["buffer"].removesuffix(" B")),
    )


def recorded_hosts(profile: ProgramProfile, fabric: Fabric) -> list[int] | None:
    """The hosts in a fabric that the ranks of a profile had, by name; None if it lacks any."""
    names = HostNames(fabric)
    record = profile.record
    if None in record.rank_hosts or not all(host.name in names for host in record.hosts):
        return None
    numbers = [names.find(host.name, record.place or "profile")[0] for host in record.hosts]
    return [numbers[host] for host in record.rank_hosts if host is not None]


def seat(
    profile: ProgramProfile,
    fabric: Fabric,
    placement: str | None = None,
    ranks_per_host: int | None = None,
) -> list[int]:
    """The host of every rank of a profiled program somewhere.

    Args:
        profile: of the program.
        fabric: where it is to run.
        placement: as `contend.placement.parse` reads it; None for the hosts that the profile names
            if the fabric has them all, and otherwise for ``linear``.
        ranks_per_host: that share a host; None for as many as were recorded.

    Raises:
        UsageError: no such placement, one that is drawn, or not enough places.
    """
    hosts = recorded_hosts(profile, fabric) if placement is None else None
    if hosts is not None:
        return hosts
    most = max((host.ranks for host in profile.record.hosts), default=1)
    placed = parse(placement or "linear", fabric, ranks_per_host=ranks_per_host or most)
    if placed.random:
        raise UsageError("--placement random: ranks need one placement here; give file:PATH")
    if placed.ranks < profile.size:
        raise UsageError(
            f"{fabric.name}: expected places for {profile.size} ranks, got {placed.ranks}; "
            "--ranks-per-host puts more on each host"
        )
    return [int(host) for host in placed.host_of_rank[: profile.size]]


def _in_order(
    profile: ProgramProfile, fabric: Fabric, order: Sequence[int] | None = None
) -> list[int]:
    """Hosts of all ranks where the profile's hosts are the fabric's, in that order."""
    record = profile.record
    order = order or range(fabric.hosts)
    if len(record.hosts) > len(order) or None in record.rank_hosts:
        raise UsageError(
            f"{profile.folder}: recorded on {len(record.hosts)} hosts, and {fabric.name} has "
            f"{len(order)}"
        )
    return [order[host] for host in record.rank_hosts if host is not None]


def conditions_of(
    profile: ProgramProfile,
    fabric: Fabric,
    calibration: Calibration,
    *,
    placement: str | None = None,
    ranks_per_host: int | None = None,
    rate: float | None = None,
    buffer: float | None = None,
) -> PredictionConditions:
    """Where a profiled program is to run.

    Args:
        profile: of the program.
        fabric: with routes.
        calibration: what messages cost.
        placement: see `seat`.
        ranks_per_host: likewise.
        rate: bytes per second of every cable; None for what `fastest_port` says.
        buffer: bytes that wait for a channel at most; None for the calibration's.

    Raises:
        UsageError: as of `seat`.
    """
    return PredictionConditions(
        fabric,
        seat(profile, fabric, placement, ranks_per_host),
        calibration,
        fastest_port(fabric, calibration, rate),
        calibration.buffer if buffer is None else buffer,
    )
