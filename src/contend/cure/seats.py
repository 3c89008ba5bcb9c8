"""Better seats: which rank goes on which host, so that fewer messages share a link."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import Argument, UsageError
from contend.base.schema import PythonOnly, Seconds, Shown
from contend.base.units import counted, parse_rate, valued
from contend.congestion import SeatFigures, judge_seats, seat_ranks
from contend.cure.phased_traffic import RankTraffic, sent_by
from contend.cure.rail_seats import PatternShares, seat_servers, servers_to_choose
from contend.fabric import Fabric, capacities
from contend.prediction import recorded_hosts
from contend.profiling import ProgramProfile
from contend.routes import Ways
from contend.traffic.placement import HostChoice, Placement, parse

# Orders of the hosts that a search begins with, beside the one that was given.
_ORDERS = ("linear", "bfs")


@dataclass(frozen=True, eq=False, kw_only=True)
class BetterSeats(Shown, told="better_seats_document"):
    """A better placement of a program's ranks."""

    fabric: Fabric
    """The fabric on which they run."""
    source: str
    """Name of the profile, the matrix or the pattern whose ranks they are."""
    sent: PythonOnly[RankTraffic]
    """What ranks send each other."""
    ranks: int
    """Number of ranks."""
    phases: int
    """Number of phases of their traffic."""
    hosts_available: int
    """Number of hosts that could be taken."""
    hosts: tuple[str, ...]
    """Name of every rank's host."""
    given: PythonOnly[NDArray[np.uint32]]
    """Host of every rank in the order that was given, shape [ranks]."""
    placement: PythonOnly[Placement]
    """Host of every rank, as it may be given to every other function."""
    unit: str
    """Unit of `busy`: ``s``, or ``bytes`` where rates are not known."""
    before: SeatFigures
    """Figures of the order that was given."""
    after: SeatFigures
    """Figures of the new placement; never worse."""
    moved: int
    """Number of ranks on another host than in the given order."""
    rails: int
    """Number of rails of each server, where ranks are seated by whole servers; else 0."""
    shares: tuple[PatternShares, ...]
    """Shares of rings and all-to-alls within rails, where no other traffic was asked for."""
    remarks: tuple[str, ...]
    """Remarks that a reader must know."""
    left_out: PythonOnly[str]
    """A sentence on servers with other numbers of adapters; "" where there are none."""
    seconds: Seconds
    """Seconds that the search took."""
    file: str = ""
    """Name of the file that it was written to; "" where it was not."""

    @property
    def saved(self) -> float:
        """Share of the time of the most loaded channels that it saves."""
        return 1 - self.after.busy / self.before.busy if self.before.busy > 0 else 0.0

    def __repr__(self) -> str:
        return (
            f"<BetterSeats of {self.source} on {self.fabric.name}: most loaded channels "
            f"{100 * self.saved:.1f} % less busy, {counted(self.moved, 'rank')} moved>"
        )


def place(
    source: str | Path | ProgramProfile | None,
    fabric: Fabric,
    *,
    hosts: HostChoice | None = None,
    placement: str | None = None,
    ranks: int | None = None,
    ranks_per_host: int | None = None,
    rate: float | str | None = None,
    seed: int = 1,
) -> BetterSeats:
    """Places a program's ranks so that fewer messages share a link, as ``contend place`` does.

    On servers of several adapters it seats whole servers for rings and all-to-alls within rails,
    where no other traffic is given, and for a pattern of as many copies: ``8 * ring``. Ranks are
    then numbered server by server, a server's by rail.

    Args:
        source: a profile or its folder, a matrix of bytes from rank to rank in a .npy file, or a
            pattern. None: rings and all-to-alls within rails.
        fabric: with routes.
        hosts: that may be taken, as `contend.placement.parse` reads them; the best are chosen where
            there are more than needed. None: those that the profile was recorded on, if the fabric
            has them all, else all.
        placement: the order to improve; None for the one of the profile where its hosts are taken,
            else for the one in which `hosts` names them.
        ranks: of a pattern; None fills the hosts.
        ranks_per_host: the most that share a host; None for as many as the profile or a host file
            says, else 1.
        rate: bytes per second of every cable, or words such as ``100Gbit/s``; None for the fabric's
            own rates.
        seed: of every random choice; the same seed gives the same placement.

    Returns:
        Its ``placement`` is taken by every function that has such an argument.

    Raises:
        UsageError: not enough hosts, hosts that cannot be reached, or nothing is sent.
        InputError: a file that is not what it should be.
    """
    bytes_per_second = valued(rate, parse_rate)
    if placement == "random":
        raise UsageError(
            "placement=random: improving a placement needs one fixed order to start from"
        )
    started = time.perf_counter()
    chosen, left_out = servers_to_choose(source, fabric, hosts, placement), ""
    if chosen is not None and ranks_per_host in (None, 1):
        placed, left_out = chosen
        pattern = None if source is None else str(source)
        seated = seat_servers(
            pattern, fabric, placed, ranks=ranks, rate=bytes_per_second, seed=seed
        )
        sent, given, found = seated.sent, seated.before, seated.found
        room, rails, shares = seated.hosts, seated.rails, seated.shares
    elif source is None:
        raise UsageError("ranks per host: rings within rails have one rank on each adapter")
    else:
        sent = sent_by(source, _room(fabric, hosts, placement, ranks, ranks_per_host))
        if ranks is not None and ranks != sent.traffic.ranks:
            raise UsageError(f"{sent.name} has {counted(sent.traffic.ranks, 'rank')}, not {ranks}")
        given, slots = _given(fabric, sent, hosts, placement, ranks_per_host)
        started = time.perf_counter()
        found = _searched(fabric, sent, given, slots, bytes_per_second, seed)
        room, rails, shares = len(set(slots)), 0, ()
    before, after = (
        judge_seats(fabric, sent.traffic, one, rate=bytes_per_second) for one in (given, found)
    )
    routes, remarks = fabric.routes, tuple[str, ...]()
    if routes is not None and routes.ways & Ways.TOGETHER:
        remarks = (f"searched by {routes.each_alone.engine}, judged by {routes.engine}",)
        if after.busy >= before.busy:
            # What is better by near routes may be none by these.
            found, after = given, before
            shares = tuple(replace(one, after=one.before) for one in shares)
    rates_known = bytes_per_second is not None or capacities(fabric).unit == "bytes/s"
    return BetterSeats(
        fabric=fabric,
        source=sent.name,
        sent=sent,
        ranks=sent.traffic.ranks,
        phases=sent.traffic.phases,
        hosts_available=room,
        hosts=tuple(fabric.host_name[host] for host in found),
        given=given,
        placement=Placement("contend", found),
        unit="s" if rates_known else "bytes",
        before=before,
        after=after,
        moved=int(np.count_nonzero(given != found)),
        rails=rails,
        shares=shares,
        remarks=(*sent.remarks, *remarks),
        left_out=left_out,
        seconds=time.perf_counter() - started,
    )


def _searched(
    fabric: Fabric,
    sent: RankTraffic,
    before: NDArray[np.uint32],
    slots: list[int],
    rate: float | None,
    seed: int,
) -> NDArray[np.uint32]:
    """Host of every rank by a search that moves ranks one by one."""
    seats = Counter(slots)
    near = [host for host in parse("bfs", fabric).hosts.tolist() if host in seats]
    starts = [before, *_starts(fabric, near, seats, before)]
    each = [seats[host] for host in near]
    return seat_ranks(fabric, sent.traffic, near, each, starts, rate=rate, seed=seed)


def _room(
    fabric: Fabric,
    hosts: HostChoice | None,
    placement: str | None,
    ranks: int | None,
    ranks_per_host: int | None,
) -> int:
    """How many ranks a pattern has, if the source is one."""
    placed = parse(placement or "given", fabric, hosts=hosts, ranks_per_host=ranks_per_host or 1)
    return placed.ranks if ranks is None else ranks


def _given(
    fabric: Fabric,
    sent: RankTraffic,
    hosts: HostChoice | None,
    placement: str | None,
    ranks_per_host: int | None,
) -> tuple[NDArray[np.uint32], list[int]]:
    """Host of every rank in the order that was given, and a host for every seat that there is."""
    count, profile = sent.traffic.ranks, sent.profile
    each = ranks_per_host
    if profile is not None:
        recorded = recorded_hosts(profile, fabric)
        if hosts is None and placement is None and each is None and recorded is not None:
            return np.array(recorded, dtype=np.uint32), recorded
        each = each or max((host.ranks for host in profile.record.hosts), default=1)
    try:
        placed = parse(placement or "given", fabric, hosts=hosts, ranks_per_host=each or 1)
    except UsageError:
        # A host file that says how many ranks a host takes knows better than the profile.
        if ranks_per_host is not None or each in (None, 1):
            raise
        placed = parse(placement or "given", fabric, hosts=hosts)
    if placed.ranks < count:
        raise UsageError(
            f"expected places for {counted(count, 'rank')}, got {placed.ranks} on these hosts: ",
            Argument("ranks_per_host"),
            " puts more on each",
        )
    slots = placed.host_of_rank
    return slots[:count], slots.tolist()


def _starts(
    fabric: Fabric, near: Sequence[int], seats: Counter[int], before: NDArray[np.uint32]
) -> list[NDArray[np.uint32]]:
    """Seats to begin with: hosts by name, breadth-first, and the fullest leaf switches first."""
    orders = [
        [host for host in parse(name, fabric).hosts.tolist() if host in seats] for name in _ORDERS
    ]
    leaves = Counter(int(fabric.host_switch[host]) for host in near)
    orders.append(sorted(near, key=lambda host: -leaves[int(fabric.host_switch[host])]))
    most = len(set(before.tolist()))
    starts = []
    for order in orders:
        filled = [host for host in order for _ in range(seats[host])][: len(before)]
        if len(set(filled)) <= most:
            starts.append(np.array(filled, dtype=np.uint32))
    return starts
