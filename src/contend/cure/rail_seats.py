"""Whole servers in a good order for rings and all-to-alls within rails, as GPUs' libraries send."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.schema import Share
from contend.congestion import RAIL_PATTERNS, PhasedTraffic, judge_seats, seat_ranks
from contend.cure.phased_traffic import UNSAID_BYTES, RankTraffic, sent_by
from contend.cure.running.next_job import choose_next
from contend.cure.servers import Servers
from contend.fabric import Fabric, capacities
from contend.traffic.pattern import rails_told
from contend.traffic.placement import HostChoice, by_server, leaf_by_leaf, parse, seats_by_server

# Samples by which a start is chosen where there are more servers than needed.
_SAMPLES = 24


@dataclass(frozen=True)
class PatternShares:
    """What messages of a pattern get, as a share of a port's rate."""

    name: str
    """Name of the pattern: rings, or all-to-alls."""
    before: Share
    """Share in the order that was given."""
    after: Share
    """Share in the new order."""


@dataclass(frozen=True, eq=False)
class RailSeats:
    """Servers and the order of their ranks."""

    sent: RankTraffic
    """What ranks send; those of a server follow each other, by rail."""
    rails: int
    """Number of adapters of each server."""
    before: NDArray[np.uint32]
    """Host of every rank in the order that was given, shape [ranks]."""
    found: NDArray[np.uint32]
    """The same in the new one."""
    hosts: int
    """Number of hosts that could be taken."""
    shares: tuple[PatternShares, ...]
    """Shares of every pattern; none where traffic was asked for."""


def servers_to_choose(
    source: object, fabric: Fabric, hosts: HostChoice | None, placement: str | None
) -> tuple[NDArray[np.uint32], str] | None:
    """Hosts of whole servers by rail, where ranks are seated by servers, and who is left out.

    They are where the source is None, or a pattern such as ``8 * ring`` or NCCL's graphs for as
    many rails as servers have adapters; None otherwise.

    Returns:
        shape [servers, rails], and a sentence as `seats_by_server` has it.
    """
    told = rails_told(source) if isinstance(source, str) else None
    if source is not None and told is None:
        return None
    order = parse(placement or "given", fabric, hosts=hosts).hosts
    placed, left_out = seats_by_server(
        fabric, order[np.sort(np.unique(order, return_index=True)[1])]
    )
    rails = placed.shape[1]
    if source is None and rails < 2:
        raise UsageError(
            f"servers of {fabric.name} have one adapter each: expected a profile, a .npy matrix or "
            "a pattern (contend simulate --list), and the fabric"
        )
    if rails < 2 or told not in (None, rails):
        return None
    return placed, left_out


def seat_servers(
    source: str | None,
    fabric: Fabric,
    placed: NDArray[np.uint32],
    *,
    ranks: int | None,
    rate: float | None,
    seed: int,
) -> RailSeats:
    """Chooses servers, and the order of their ranks.

    Args:
        source: a pattern of the ranks, numbered server by server; None for rings through servers
            and all-to-alls, both within rails.
        fabric: with routes.
        placed: hosts to choose from, shape [servers, rails], in the order to improve.
        ranks: how many there are; None: all.
        rate: bytes per second of every channel; None for the fabric's own.
        seed: of every random choice.

    Raises:
        UsageError: there are fewer servers, or servers would be taken apart.
    """
    most, rails = placed.shape
    servers, rest = divmod(placed.size if ranks is None else ranks, rails)
    if most < 2:
        raise UsageError(
            f"expected two servers or more with {rails} adapters to choose from, got one"
        )
    if rest or not 2 <= servers <= most:
        raise UsageError(
            f"expected {2 * rails:,} to {most * rails:,} ranks, {rails} for each server, one an "
            f"adapter; got {ranks}"
        )
    before = placed[:servers].ravel()
    near = by_server(fabric, leaf_by_leaf(fabric, placed.ravel()))
    starts = [before, near[:servers].ravel()]
    sent = _within_rails(servers, rails) if source is None else sent_by(source, servers * rails)
    if source is None and servers < most:
        starts.append(_chosen(fabric, placed, servers, seed))
    # Among the same servers the order changes nothing in an all-to-all, only in rings.
    weighed = _phase(sent.traffic, 0) if source is None and servers == most else sent.traffic
    found = seat_ranks(
        fabric,
        weighed,
        near.ravel(),
        np.ones(near.size, dtype=np.uint32),
        starts,
        rate=rate,
        seed=seed,
        together=rails,
    )
    shares = () if source else _shares(fabric, sent.traffic, before, found, rate)
    return RailSeats(sent, rails, before, found, placed.size, shares)


def _within_rails(servers: int, rails: int) -> RankTraffic:
    """Rings through servers, then all-to-alls, as many bytes a rank in both."""
    each = np.arange(servers * rails, dtype=np.uint32)
    source, shift = np.meshgrid(each, np.arange(1, servers, dtype=np.uint32), indexing="ij")
    target = (source + shift * rails) % np.uint32(servers * rails)
    block = max(UNSAID_BYTES // (servers - 1), 1)
    return RankTraffic(
        f"rings and all-to-alls within {rails} rails",
        PhasedTraffic(
            ranks=servers * rails,
            phases=2,
            phase=np.append(np.zeros_like(each), np.ones(source.size, dtype=np.uint32)),
            source=np.append(each, source.ravel()),
            target=np.append((each + rails) % np.uint32(servers * rails), target.ravel()),
            bytes=np.append(np.full(len(each), block * (servers - 1)), np.full(source.size, block))
            * 1.0,
        ),
    )


def _phase(traffic: PhasedTraffic, number: int) -> PhasedTraffic:
    own = traffic.phase == number
    columns = traffic.source[own], traffic.target[own], traffic.bytes[own]
    return PhasedTraffic(traffic.ranks, 1, np.zeros_like(traffic.phase[own]), *columns)


def _chosen(
    fabric: Fabric, placed: NDArray[np.uint32], servers: int, seed: int
) -> NDArray[np.uint32]:
    """The servers that a next job would get, by rail, in the order of its ranks."""
    known = Servers(fabric)
    free = known.of(placed.ravel())
    best = choose_next(
        fabric, known, free, [], servers, RAIL_PATTERNS, _SAMPLES, seed, rails=True
    ).best
    row = {host: number for number, own in enumerate(placed.tolist()) for host in own}
    order = dict.fromkeys(row[host] for host in best.numbers.tolist() if host in row)
    return placed[list(order)].ravel()


def _shares(
    fabric: Fabric,
    traffic: PhasedTraffic,
    before: NDArray[np.uint32],
    after: NDArray[np.uint32],
    rate: float | None,
) -> tuple[PatternShares, ...]:
    """Of the slowest port's rate, by what channels carry while all messages are under way."""
    port = capacities(fabric).host
    found = []
    for number, name in enumerate(("rings", "all-to-alls")):
        own = _phase(traffic, number)
        sent = float(np.bincount(own.source, weights=own.bytes).max())
        shares = []
        for hosts in (before, after):
            least = sent / (float(port[hosts].min()) if rate is None else rate)
            shares.append(least / judge_seats(fabric, own, hosts, rate=rate).busy)
        found.append(PatternShares(name, *shares))
    return tuple(found)
