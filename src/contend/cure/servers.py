"""Servers that jobs may take, and those that a failure takes rails from: what they still get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ShortfallError, UsageError
from contend.base.schema import Share, told
from contend.base.units import grouped
from contend.congestion import EACH_HOST, JobMessages, simulate
from contend.fabric import Fabric, Rest, rails_of, server_names, servers_of, with_hosts
from contend.routes import Ways, compute, default_engine, mended
from contend.traffic.placement import by_name, by_server, leaf_by_leaf

# Samples by which parts are judged.
_SAMPLES = 200
# Shares that differ by less read alike.
_ALIKE = 0.0005


class Servers:
    """The servers of a fabric: their hosts, their names, and the leaves that they hang on."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._server = servers_of(fabric)
        self._order = by_name(fabric)
        self._by_leaf = leaf_by_leaf(fabric, self._order)
        self._rank = np.empty(fabric.hosts, dtype=np.int64)
        self._rank[self._order] = np.arange(fabric.hosts)
        self._names = server_names(fabric)
        self._hosts = grouped(self._order.tolist(), lambda host: int(self._server[host]))
        self._leaves = {
            server: tuple(sorted({int(fabric.host_switch[host]) for host in hosts}))
            for server, hosts in self._hosts.items()
        }

    def in_order(self, hosts: Collection[int]) -> NDArray[np.uint32]:
        """Hosts in the natural order of their names."""
        return np.array(sorted(hosts, key=self._rank.__getitem__), dtype=np.uint32)

    def of(self, hosts: NDArray[np.uint32]) -> list[int]:
        """The servers of hosts, each once."""
        return list(dict.fromkeys(self._server[hosts].tolist()))

    def allowed(self, hosts: Collection[int] | None) -> list[int]:
        """Servers of which all hosts are among those given and have an address, by name."""
        chosen = range(self._fabric.hosts) if hosts is None else frozenset(hosts)
        routed = self._fabric.tables is None or self._fabric.host_lid > 0
        reached = np.broadcast_to(routed, self._fabric.hosts)
        return [
            server
            for server, own in self._hosts.items()
            if all(host in chosen and reached[host] for host in own)
        ]

    def hosts(self, servers: Collection[int]) -> NDArray[np.uint32]:
        """The hosts of servers, in the natural order of their names."""
        return self.in_order([host for server in servers for host in self._hosts[server]])

    def by_leaf(self, servers: Collection[int]) -> NDArray[np.uint32]:
        """The hosts of servers, those on the same leaves one after the other."""
        chosen = np.isin(self._server[self._by_leaf], list(servers))
        return self._by_leaf[chosen]

    def alike(self, servers: Sequence[int]) -> list[int]:
        """Those with as many adapters as most adapters' servers have."""
        whole = self.of(by_server(self._fabric, self.hosts(servers)).ravel())
        kept = frozenset(whole)
        return [server for server in servers if server in kept]

    def names(self, servers: Collection[int]) -> tuple[str, ...]:
        """What servers are called, in natural order."""
        return self.names_in_order(self.hosts(servers))

    def names_in_order(self, hosts: NDArray[np.uint32]) -> tuple[str, ...]:
        """What the servers of hosts are called, each once, in the order of the hosts."""
        return tuple(dict.fromkeys(self._names[host] for host in hosts.tolist()))

    def groups(self, servers: Collection[int]) -> dict[tuple[int, ...], list[int]]:
        """Servers by the leaves that they hang on, in the order given."""
        return grouped(servers, lambda server: self._leaves[server])

    def leaves(self, servers: Collection[int]) -> int:
        """On how many leaves servers hang."""
        return len({leaf for server in servers for leaf in self._leaves[server]})

    def fewest_leaves(self, count: int, servers: Collection[int]) -> int:
        """On how few leaves so many of these servers hang.

        Leaves are filled from the one with the most servers on. Where servers have several hosts
        and share some of their leaves only, fewer may do.
        """
        groups = self.groups(servers)
        found: set[int] = set()
        for leaves in sorted(groups, key=lambda leaves: (-len(groups[leaves]), leaves)):
            if count <= 0:
                break
            found.update(leaves)
            count -= len(groups[leaves])
        return len(found)


@dataclass(frozen=True)
class ServersHit:
    """Servers that lose as many of as many rails."""

    servers: int
    """Number of these servers."""
    lost: int
    """Number of adapters that each loses."""
    rails: int
    """Number of adapters that each had before."""


@dataclass(frozen=True)
class StillGets:
    """What servers get that have lost rails and not all of them.

    Half of all servers, chosen at random, send to the other half, each adapter to the one on its
    rail. Messages from or to one of these servers count.
    """

    before: Share
    """Share of the rate of their ports that their messages get on the whole fabric."""
    after: Share
    """What is left of that, as a share of the same ports: those gone get nothing."""


Gets: TypeAlias = tuple[float, float | None]
"""A share of what ports allow, and its rate in bytes per second; None where that is not known."""


def same_ports(old: Fabric, new: Fabric) -> bool:
    """Whether all hosts of a name have ports of the same rate in both states."""
    rates = {name: old.rates[rate] for name, rate in zip(old.host_name, old.host_rate, strict=True)}
    now = zip(new.host_name, new.host_rate, strict=True)
    return all(rates.get(name) in (None, new.rates[rate]) for name, rate in now)


def of_earlier_ports(now: Gets, before: Gets | None) -> float:
    """A rate as a share of what ports allowed before; the share itself where one is not known."""
    share, rate = now
    if before is None or rate is None or not before[0] or not before[1]:
        return share
    return rate / before[1] * before[0]


@dataclass(frozen=True, kw_only=True)
class JobCost:
    """What a job loses with the parts of a network that are gone."""

    job: str
    """Its number or name at its scheduler."""
    name: str
    """Name that its user gave it, or ""."""
    servers: int
    """Number of its servers on the whole network."""
    lost: int
    """Number of these of which no adapter is left."""
    rails: tuple[ServersHit, ...]
    """Its servers that keep some of their adapters only."""
    before: Share | None
    """Share of their ports that its hosts that are left get on the whole network, beside those of
    all jobs; null if they send nothing."""
    after: Share | None
    """Share that they get on what is left of the network, of what ports allowed before; null if
    they send nothing."""

    @told
    def stops(self) -> bool:
        """Whether none of its servers is left."""
        return 0 < self.lost == self.servers

    @told
    def loss(self) -> Share:
        """What its other hosts lose of their share; 0 where both shares read alike."""
        lost = (self.before or 0.0) - (self.after or 0.0)
        return lost if not self.stops and lost > _ALIKE else 0.0

    @property
    def pays(self) -> bool:
        """Whether it loses anything."""
        return bool(self.lost or self.rails or self.loss)


@dataclass(frozen=True, kw_only=True)
class PartsCost:
    """What parts of a network cost that are gone."""

    parts: tuple[str, ...]
    """What is gone."""
    hosts: int
    """Number of hosts of the whole network."""
    left: int
    """Number of these that are left."""
    servers: tuple[ServersHit, ...]
    """Servers of several adapters that lose some or all of them."""
    pattern: str
    """Traffic among the hosts that are left."""
    before: Share
    """What it gets on the whole network: if ranks send several messages at once, what each host
    gets until its last is done, as a share of what its ports allow; else the effective
    bandwidth."""
    after: Share
    """What it gets on what is left of the network."""
    waits_for_last: bool
    """Whether both shares are what each host gets until its last message is done."""


def cost_of_parts(
    rest: Fabric,
    parts: Sequence[str],
    pattern: str = "bisect",
    placement: str = "random",
    *,
    engine: str | None = None,
    seed: int = 1,
) -> PartsCost | None:
    """What the same traffic among the same hosts gets with and without parts of a network.

    Args:
        rest: what is left of the network.
        parts: names of what is gone.
        pattern: a specification of who sends to whom.
        placement: a specification of which rank runs on which host.
        engine: that routes both where there are no routes; None: `default_engine`.
        seed: of all random choices.

    Returns:
        None where nothing was taken out.

    Raises:
        UsageError: the pattern or the placement does not fit the hosts that are left.
    """
    if rest.before is None:
        return None
    rest = rest if rest.routes is not None else compute(rest, engine or default_engine(rest))
    whole = whole_of(rest)
    assert whole is not None
    kept = hosts_kept(whole, rest)
    stay = with_hosts(whole, np.flatnonzero(kept))
    before, after = (
        simulate(fabric, pattern, placement=placement, samples=_SAMPLES, seed=seed)
        for fabric in (stay, rest)
    )
    return PartsCost(
        parts=tuple(parts),
        hosts=whole.hosts,
        left=int(np.count_nonzero(kept)),
        servers=RailLosses(whole, np.arange(whole.hosts), 0, 0).hit(np.flatnonzero(~kept)),
        pattern=after.pattern,
        before=before.judged_share,
        after=after.judged_share,
        waits_for_last=after.judged == EACH_HOST,
    )


def whole_of(rest: Fabric) -> Fabric | None:
    """A fabric as it was before parts of it died, routed as it is; None where none did."""
    whole, routes = rest.before, rest.routes
    if whole is None or routes is None or whole.routes is not None:
        return whole
    return compute(whole, routes.engine)


def hosts_kept(whole: Fabric, rest: Fabric) -> NDArray[np.bool_]:
    """Which hosts of a network the rest of it still has, by GUID or else name, shape [hosts]."""

    def keys(fabric: Fabric) -> list[int | str]:
        guids = zip(fabric.host_port_guid.tolist(), fabric.host_name, strict=True)
        return [guid or name for guid, name in guids]

    left = frozenset(keys(rest))
    return np.array([key in left for key in keys(whole)], dtype=bool)


class RailLosses:
    """The servers whose hosts take part.

    Args:
        fabric: whole, with routes.
        hosts: that take part, in rising order.
        samples: pairings of servers that are counted.
        seed: of them.
    """

    def __init__(self, fabric: Fabric, hosts: NDArray[np.int64], samples: int, seed: int) -> None:
        self._fabric = fabric
        self._samples, self._seed = samples, seed
        self._server = servers_of(fabric)
        self._hosts = hosts[rails_of(fabric, self._server)[hosts] >= 0]
        self._size = np.bincount(self._server[self._hosts], minlength=fabric.hosts)

    @property
    def servers(self) -> int:
        """Number of servers that take part."""
        return len(np.unique(self._server[self._hosts]))

    @property
    def have_rails(self) -> bool:
        """Whether any has several adapters that take part."""
        return bool(self._size.max(initial=0) > 1)

    def emptied(self, gone: NDArray[np.int64]) -> int:
        """Number of servers, of one adapter too, of which none is left.

        Args:
            gone: numbers of the hosts that are gone.
        """
        left = np.setdiff1d(self._hosts, gone)
        return self.servers - len(np.unique(self._server[left]))

    def hit(self, gone: NDArray[np.int64]) -> tuple[ServersHit, ...]:
        """Servers of several adapters that lose some, most servers first.

        Args:
            gone: numbers of the hosts that are gone.
        """
        gone = np.intersect1d(self._hosts, gone)
        lost = np.bincount(self._server[gone], minlength=len(self._size))
        which = np.flatnonzero((lost > 0) & (self._size > 1))
        pairs = zip(lost[which].tolist(), self._size[which].tolist(), strict=True)
        kinds = Counter(pairs).items()
        each = [ServersHit(servers, lost, rails) for (lost, rails), servers in kinds]
        return tuple(sorted(each, key=lambda one: (-one.servers, -one.lost, -one.rails)))

    def still_get(self, rest: Rest, engine: str) -> StillGets | None:
        """What servers get that lose some of their rails.

        Args:
            rest: what is left of the fabric.
            engine: that finds ways where there are no tables to mend.

        Returns:
            None where no server loses some, or no routes lead each message by itself.
        """
        gone = np.setdiff1d(self._hosts, rest.hosts)
        left = np.intersect1d(self._hosts, rest.hosts)
        lost = np.bincount(self._server[gone], minlength=len(self._size))
        hit = (lost > 0) & (lost < self._size)
        routes = self._fabric.routes
        if routes is not None and routes.ways & Ways.TOGETHER:
            return None
        # The same servers take part before and after, so that chance pairs the same.
        standing = np.unique(self._server[left])
        if not hit.any() or len(standing) < 2:
            return None
        before = self._hosts[np.isin(self._server[self._hosts], standing)]
        try:
            broken = self._routed(rest, engine)
        except (ShortfallError, UsageError):
            return None
        here = np.searchsorted(rest.hosts, left)
        got, ports = self._carried(self._fabric, before, self._server, hit)
        got_after, _ = self._carried(broken, here, self._server[rest.hosts], hit)
        return StillGets(before=got / ports, after=got_after / ports) if ports else None

    def _routed(self, rest: Rest, engine: str) -> Fabric:
        routes = self._fabric.routes
        if routes is None or routes.tables is not None:
            return mended(self._fabric, rest)[0]
        return compute(rest.fabric, engine)

    def _carried(
        self,
        fabric: Fabric,
        hosts: NDArray[np.int64],
        server: NDArray[np.int64],
        hit: NDArray[np.bool_],
    ) -> tuple[float, float]:
        """Of messages from and to servers that are hit: what they get, and what ports would allow.

        Args:
            fabric: on which they are sent.
            hosts: that send, by its numbers.
            server: of each of its hosts, by number in the whole fabric.
            hit: whether each server is.
        """
        # Ranks are servers in the order of their numbers, also where hosts have moved up.
        ordered = hosts[np.argsort(server[hosts], kind="stable")].astype(np.uint32)
        messages = JobMessages(fabric, [ordered], rails=True, seed=self._seed)
        first = messages.channels - 2 * len(messages.hosts)
        of_place = server[messages.hosts]
        got = ports = 0.0
        for batch in messages.batches(self._samples):
            sent = messages.sent(batch)
            at = sent.sample[:, np.newaxis] * (messages.channels + 1) + sent.crossed
            load = sent.load(at, len(batch) * (messages.channels + 1))
            share = sent.shares(load[at], messages.rate)
            places = sent.crossed[:, -2:] - first - np.array([0, len(messages.hosts)])
            chosen = hit[of_place[places]].any(axis=1)
            got += float((share * sent.port)[chosen].sum())
            ports += float(sent.port[chosen].sum())
        return got, ports
