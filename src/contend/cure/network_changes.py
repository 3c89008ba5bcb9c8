"""What changes of a network did to those who use it.

What messages get is compared on the hosts that both states have: a mean over fewer hosts is no
gain. It is compared by its rate, as a share of what ports allowed before: where a port slows down,
all that waits for it gets no less of what ports allow now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ShortfallError, UsageError
from contend.base.schema import PythonOnly, Share, Shown, told
from contend.congestion import Collectives, Simulation, collectives, half_width, simulate
from contend.cure.running.judging import JobSource
from contend.cure.running.judging import jobs as running_jobs
from contend.cure.servers import (
    Gets,
    JobCost,
    RailLosses,
    ServersHit,
    of_earlier_ports,
    same_ports,
)
from contend.fabric import Change, Difference, Fabric, difference, with_hosts
from contend.routes import changed_ports, summarise_routes
from contend.traffic.placement import Placement, by_name

_Result = TypeVar("_Result")
# Shares that differ by less read alike.
_ALIKE = 0.0005
_TOLD = ("all-to-all, shift by shift", "the worst shift", "a step of a ring")


class Outcome(StrEnum):
    """What a change comes to."""

    BETTER = "better"
    WORSE = "worse"
    MIXED = "mixed"
    SAME = "the same"


@dataclass(frozen=True, kw_only=True)
class ComparedShare:
    """What hosts that both states have get of their ports in some traffic."""

    name: str
    """What they send, in words."""
    before: Share | None
    """Share by the earlier state; null where its messages do not arrive."""
    after: Share | None
    """Share by the later state of what ports allowed in the earlier one, or of what they allow now
    if a rate is not known; null where its messages do not arrive."""
    margin: Share = 0.0
    """Half of the 95 % interval of the difference; 0 where nothing is drawn."""

    @told
    def outcome(self) -> Outcome:
        """``better``, ``worse`` or ``the same``: within the margin, or where both read alike."""
        change = (self.after or 0.0) - (self.before or 0.0)
        return _outcome(change if abs(change) > max(self.margin, _ALIKE) else 0.0)


@dataclass(frozen=True, kw_only=True)
class StateOfRoutes:
    """What becomes of messages between hosts that both states have, in one of them."""

    lost: int
    """Number of routes that do not arrive; of routes without tables, pairs that no cables join."""
    can_deadlock: bool | None
    """Whether channels can wait for each other in a circle; null without tables."""


@dataclass(frozen=True, eq=False)
class NetworkChanges(Shown, told="changes_document"):
    """What differs between two states of a network."""

    old: Fabric
    """The earlier state."""
    new: Fabric
    """The later one."""
    difference: PythonOnly[Difference]
    """Nodes and cables that differ, and those that both have."""
    entries: PythonOnly[NDArray[np.int64] | None]
    """Entries of tables for hosts that differ at every switch that both have; None where one of
    them has no tables."""
    before: PythonOnly[Simulation | None] = None
    """Random pairs of hosts that both have, by the earlier routes; None where one has none."""
    after: PythonOnly[Simulation | None] = None
    """The same by the later ones."""
    servers: tuple[ServersHit, ...] = ()
    """Servers of several adapters that lost some or all of them."""
    routes_before: StateOfRoutes | None = None
    """Routes between hosts that both have, in the earlier state; null without routes."""
    routes_after: StateOfRoutes | None = None
    """The same in the later state."""
    shares: tuple[ComparedShare, ...] = ()
    """What hosts that both have get, by what they send; none where a state has no routes."""
    not_counted: str = ""
    """Why shares are missing; "" if none are."""
    jobs: tuple[JobCost, ...] = ()
    """What each job loses; none unless jobs are given."""

    @told
    def changes(self) -> tuple[Change, ...]:
        """Changes of hosts, switches and cables between switches."""
        return self.difference.changes

    @told
    def changed_entries(self) -> dict[str, int] | None:
        """Entries of tables for hosts that differ, by GUID of the switch where any do.

        Null where one state has no tables.
        """
        if self.entries is None:
            return None
        switches = zip(self.difference.switches, self.entries.tolist(), strict=True)
        guid = self.new.switch_guid
        return {f"0x{int(guid[now]):016x}": count for (_, now), count in switches if count}

    @told
    def hosts_compared(self) -> int:
        """Number of hosts that both states have; shares and routes are between these."""
        return len(self.difference.hosts)

    @told
    def hosts_lost(self) -> int:
        """Number of hosts that the later state lacks."""
        return self.old.hosts - self.hosts_compared

    @told
    def hosts_gained(self) -> int:
        """Number of hosts that the earlier state lacks."""
        return self.new.hosts - self.hosts_compared

    @told
    def outcome(self) -> Outcome | None:
        """``better``, ``worse``, ``mixed`` or ``the same``, by hosts, routes and shares.

        Null where a state has no routes, unless hosts are lost.
        """
        found = {_outcome(-self.hosts_lost), _outcome(self.hosts_gained)}
        before, after = self.routes_before, self.routes_after
        if before is None or after is None:
            return Outcome.WORSE if self.hosts_lost else None
        found |= {_outcome(before.lost - after.lost), *(share.outcome for share in self.shares)}
        if before.can_deadlock is not None and after.can_deadlock is not None:
            found.add(_outcome(before.can_deadlock - after.can_deadlock))
        found |= {_outcome(-cost.pays) for cost in self.jobs}
        found.discard(Outcome.SAME)
        return Outcome.MIXED if len(found) > 1 else next(iter(found), Outcome.SAME)

    @told
    def bandwidth_before(self) -> Share | None:
        """What random pairs of hosts that both have get on average; null without routes."""
        return None if self.before is None else self.before.effective_bandwidth.mean

    @told
    def bandwidth_after(self) -> Share | None:
        """The same by the later routes, as a share of the earlier ports' rate if both are known."""
        return self.shares[0].after if self.after is not None and self.shares else None


def diff(
    old: Fabric, new: Fabric, *, jobs: JobSource | None = None, seed: int = 1
) -> NetworkChanges:
    """Says what changed in a network, and whether it is better or worse for those who use it.

    Hosts that are gone come first. Hosts that both states have send the same to each other in
    both: random pairs, and what `contend.collectives` counts, with ranks in the order of the
    earlier names.

    Args:
        old: the earlier state.
        new: the later one.
        jobs: that run, as `contend.jobs` takes them: of each it is told what it loses.
        seed: of the random pairs that are simulated where both have routes.
    """
    found = difference(old, new)
    gone = np.setdiff1d(np.arange(old.hosts), [before for before, _ in found.hosts])
    servers = RailLosses(old, np.arange(old.hosts), samples=0, seed=seed).hit(gone)
    if old.routes is None or new.routes is None or not found.hosts:
        return NetworkChanges(old, new, found, None, servers=servers)
    tabled = old.routes.tables is not None and new.routes.tables is not None
    place = dict(found.hosts)
    ranked = [host for host in by_name(old).tolist() if host in place]
    seats = [np.array(hosts, np.uint32) for hosts in (ranked, [place[host] for host in ranked])]
    before, after = (
        _Used.of(state, hosts, seed) for state, hosts in zip((old, new), seats, strict=True)
    )
    return NetworkChanges(
        old,
        new,
        found,
        changed_ports(old, new, found.switches, found.hosts) if tabled else None,
        before.pairs,
        after.pairs,
        servers,
        before.routes,
        after.routes,
        tuple(_compared(before, after, alike=same_ports(old, new))),
        "; ".join(dict.fromkeys([*before.refusals, *after.refusals])),
        () if jobs is None else running_jobs(new, jobs, seed=seed, whole=old).costs,
    )


@dataclass(frozen=True)
class _Used:
    """One state as its hosts use it: what cannot be counted is None, with the reason."""

    routes: StateOfRoutes
    pairs: Simulation | None
    collectives: Collectives | None
    exchange: Simulation | None
    refusals: tuple[str, ...]

    @classmethod
    def of(cls, state: Fabric, hosts: NDArray[np.uint32], seed: int) -> _Used:
        refusals: list[str] = []

        def tried(count: Callable[[], _Result]) -> _Result | None:
            try:
                return count()
            except (ShortfallError, UsageError) as error:
                refusals.append(str(error))
                return None

        random = Placement("random", hosts, random=True)
        together = Placement("linear", hosts)
        pairs = tried(lambda: simulate(state, "bisect", placement=random, seed=seed))
        found = tried(lambda: collectives(state, placement=together, seed=seed))
        exchange = None
        if found is not None and found.operations:
            exchange = tried(lambda: simulate(state, "alltoall", placement=together, seed=seed))
        return cls(_routes_between(state, hosts), pairs, found, exchange, tuple(refusals))

    @property
    def shares(self) -> dict[str, Gets]:
        """What collectives get, by name; those of GPUs first."""
        found = self.collectives
        if found is None:
            return {}
        gpus = () if found.gpu is None else found.gpu.collectives
        ways = [(f"GPUs' {way.name}", (way.share, way.bus_Bps)) for way in gpus]
        if self.exchange is not None and (each := self.exchange.each_host) is not None:
            ways.append(("all-to-all at once", (each.share, each.rate_Bps)))
        # Trees and shifts on average say nothing more.
        told = [way for way in found.operations if way.name.startswith(_TOLD)]
        ways += [(way.name, (way.share, way.rate_Bps)) for way in told]
        # The worst shift may be another one now.
        return {name.partition(", by ")[0].replace(",", ""): gets for name, gets in ways}


def _routes_between(state: Fabric, hosts: NDArray[np.uint32]) -> StateOfRoutes:
    """What becomes of messages between some hosts."""
    between = with_hosts(state, hosts)
    if state.routes is None or state.routes.tables is None:
        together = np.bincount(state.switch_part[between.host_switch])
        return StateOfRoutes(lost=len(hosts) ** 2 - int((together**2).sum()), can_deadlock=None)
    seen = summarise_routes(between)
    return StateOfRoutes(lost=seen.undelivered, can_deadlock=bool(seen.dependency_cycle))


def _compared(before: _Used, after: _Used, *, alike: bool) -> Iterator[ComparedShare]:
    """What both states give, or one of them; `alike`: ports have the rates of before."""

    def now(gets: Gets, then: Gets | None) -> float:
        return gets[0] if alike else of_earlier_ports(gets, then)

    def share_of(
        name: str, then: Gets | None, gets: Gets | None, margin: float = 0.0
    ) -> ComparedShare:
        return ComparedShare(
            name=name,
            before=None if then is None else then[0],
            after=None if gets is None else now(gets, then),
            margin=margin,
        )

    old, new = before.pairs, after.pairs
    then, gets = (None if one is None else _of_pairs(one) for one in (old, new))
    margin = 0.0
    if old is not None and new is not None and gets is not None:
        # The same numbers draw the same pairs.
        drawn = min(old.samples, new.samples)
        later_pairs = new.bandwidth[:drawn] * (now(gets, then) / (gets[0] or 1.0))
        margin = half_width(later_pairs - old.bandwidth[:drawn]) if drawn > 1 else 0.0
    if then is not None or gets is not None:
        yield share_of("random pairs", then, gets, margin)
    earlier, later = before.shares, after.shares
    for name in earlier | later:
        yield share_of(name, earlier.get(name), later.get(name))


def _of_pairs(pairs: Simulation) -> Gets:
    found = pairs.effective_bandwidth
    return found.mean, found.mean_Bps


def _outcome(gain: float) -> Outcome:
    if gain == 0:
        return Outcome.SAME
    return Outcome.BETTER if gain > 0 else Outcome.WORSE
