"""The best free hosts for the next job: what it gets there, and what that costs the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ArgumentError, printable_line
from contend.base.names import shorten
from contend.base.schema import PythonOnly, Share
from contend.base.units import counted
from contend.congestion import (
    RAIL_PATTERNS,
    JobMessages,
    Newcomer,
    PhasedTraffic,
    half_width,
    seat_ranks,
)
from contend.cure.servers import Servers
from contend.fabric import Fabric, switch_distances
from contend.routes import Ways, each_alone
from contend.traffic.placement import by_server

_Servers = tuple[int, ...]

# The choice is made by samples of its own, so that chance does not flatter what is chosen.
_SEARCH_SAMPLES = 24
# Leaves around which servers are gathered, and exchanges that are then tried.
_STARTS = 64
_EXCHANGES = 120
# A gain below this is rounding.
_SAME = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class Seats:
    """Servers for the next job, and what they are worth."""

    servers: tuple[str, ...]
    """Names of the servers."""
    order: tuple[str, ...]
    """The same names in the order of ranks."""
    nodelist: str
    """The same as Slurm takes them: ``node[01-03,7]``."""
    hosts: tuple[str, ...]
    """Names of their hosts on the fabric, in the order of ranks."""
    numbers: PythonOnly[NDArray[np.uint32]]
    """Numbers of these hosts, shape [hosts]."""
    leaves: int
    """Number of switches that they are attached to."""
    alone: Share
    """Share of its hosts' ports that the job's messages get without other jobs."""
    beside: Share
    """Share that they get beside the others."""
    margin: Share
    """Half of the 95 % interval of `beside`."""
    cost: Share
    """What the others lose because of it, averaged over their hosts."""
    cost_margin: Share
    """Half of the 95 % interval of `cost`."""
    worst_job: str | None
    """Job that loses most because of it; null if none loses."""
    worst_loss: Share
    """What that job loses."""
    rings: Share | None
    """Share that rings get beside the others; null if the job sends none."""
    all_to_alls: Share | None
    """Share that all-to-alls within rails get beside the others; null if the job sends none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NextJob:
    """The best servers for the next job."""

    fewest_leaves: int
    """Number of leaves with as many free servers."""
    best: Seats
    """Best of all choices that were tried; never worse than the first free servers."""
    first: Seats
    """The first free servers by name."""
    gain: Share
    """What the hosts of all jobs, this one included, get more on average with the best."""
    margin: Share
    """Half of the 95 % interval of the gain."""
    tried: int
    """Number of choices that were tried."""


def choose_next(
    fabric: Fabric,
    servers: Servers,
    free: Sequence[int],
    jobs: Sequence[NDArray[np.uint32]],
    count: int,
    pattern: str | tuple[str, ...],
    samples: int,
    seed: int,
    *,
    own: Mapping[int, str] | None = None,
    rails: bool = False,
    called: Sequence[str] = (),
) -> NextJob:
    """Chooses free servers for the next job, so that the hosts of all jobs get most in the mean.

    Tried are the first by name, those on the fewest leaves, those around each leaf, evenly spread
    ones, and exchanges between leaves from the best of them. What is chosen and the first by name
    are then judged by the samples that judge the jobs. Where rings are sent within rails, servers
    come leaf by leaf, or in a better order for rings where one is found; the first by name do not.

    Args:
        fabric: with routes.
        servers: of the fabric.
        free: those that may be taken, by name.
        jobs: hosts of the jobs that send.
        count: servers of the next, at least two.
        pattern: that all send, or several.
        samples: how many judge the choice.
        seed: of all random choices.
        own: patterns that some of the jobs send instead, by number.
        rails: whether messages stay within rails.
        called: names of the jobs that send.

    Raises:
        UsageError: there are not as many, or no such pattern for them.
    """
    if count < 2:
        raise ArgumentError(
            "next", f"expected at least 2 servers, which have a network, got {count}"
        )
    if count > len(free):
        raise ArgumentError("next", f"{counted(len(free), 'server')} are free, expected {count}")
    others = servers.hosts(free)
    messages = JobMessages(
        fabric, jobs, pattern=pattern, own=own, rails=rails, seed=seed, others=others
    )
    first = tuple(free[:count])
    every = len(messages.patterns)
    drawn = messages.drawn(servers.hosts(first))
    samples = messages.enough(samples, servers.hosts(first))
    tried = range(samples, samples + _SEARCH_SAMPLES) if drawn else range(every)
    rings = rails and messages.patterns == RAIL_PATTERNS
    # A search has no time to solve for each choice: it takes near routes.
    near = each_alone(fabric)
    quick = messages
    if messages.together:
        quick = JobMessages(
            near, jobs, pattern=pattern, own=own, rails=rails, seed=seed, others=others
        )
    search = _Search(servers, quick, jobs, tried, servers.by_leaf if rings else servers.hosts)
    for choice in (first, *_choices(fabric, servers, free, count)):
        search.consider(choice)
    search.exchange(free, seed)
    order = search.arranged(search.best)
    if rings:
        orders = (order, *_ring(near, order, seed), servers.hosts(search.best))
        order = max(orders, key=search.mean)
    names = called or [str(number) for number in range(len(jobs))]
    judge = _Judge(fabric, servers, messages, jobs, samples, names)
    best, worth = judge(order)
    usual, usual_worth = judge(servers.hosts(first))
    difference = worth - usual_worth
    if difference.mean() < 0:
        # Chance chose it: by other samples it is the worse one.
        best, difference = usual, np.zeros_like(difference)
    return NextJob(
        fewest_leaves=min(best.leaves, usual.leaves, servers.fewest_leaves(count, free)),
        best=best,
        first=usual,
        gain=float(difference.mean()),
        margin=half_width(difference),
        tried=search.tried,
    )


def _ring(fabric: Fabric, hosts: NDArray[np.uint32], seed: int) -> list[NDArray[np.uint32]]:
    """Whole servers in an order in which rings within their rails share the fewest links.

    None where routes are drawn anew every time, or lead everywhere from anywhere.
    """
    routes = fabric.routes
    if routes is None or routes.ways & (Ways.DRAWN | Ways.EVERYWHERE):
        return []
    placed = by_server(fabric, hosts)
    servers, rails = placed.shape
    source = np.arange(servers * rails, dtype=np.uint32)
    target = (source + rails) % np.uint32(servers * rails)
    alike = np.zeros(len(source), dtype=np.uint32), np.ones(len(source))
    traffic = PhasedTraffic(len(source), 1, alike[0], source, target, alike[1])
    start = placed.ravel()
    seats = np.ones_like(start)
    return [seat_ranks(fabric, traffic, start, seats, [start], seed=seed, together=rails)]


def _choices(
    fabric: Fabric, servers: Servers, free: Sequence[int], count: int
) -> Iterator[_Servers]:
    """Free servers on the fewest leaves, around each leaf, and evenly spread."""
    groups = servers.groups(free)
    fullest = sorted(groups, key=lambda leaves: (-len(groups[leaves]), leaves))
    yield _packed(groups, fullest, count)
    starts = fullest[:: max(1, -(-len(fullest) // _STARTS))]
    # One of the leaves stands for all that a server hangs on.
    far = switch_distances(fabric, [leaves[0] for leaves in starts])
    for start, distance in zip(starts, far, strict=True):
        own = len(groups[start])
        near = sorted(fullest, key=lambda leaves: (distance[leaves[0]], leaves != start))
        yield _taken(groups, near, count)
        if own < count:
            yield _packed(groups, near, count)
    laps = sorted(
        (lap, place, server)
        for place, leaves in enumerate(groups)
        for lap, server in enumerate(groups[leaves])
    )
    yield tuple(server for _, _, server in laps[:count])


def _taken(
    groups: dict[tuple[int, ...], list[int]], order: Sequence[tuple[int, ...]], count: int
) -> _Servers:
    """The first servers by the order of their leaves."""
    return tuple([server for leaves in order for server in groups[leaves]][:count])


def _packed(
    groups: dict[tuple[int, ...], list[int]], order: Sequence[tuple[int, ...]], count: int
) -> _Servers:
    """Whole leaves in an order, and for the rest the leaf where it leaves the fewest free."""
    found: list[int] = []
    left = list(order)
    while count > len(found):
        rest = count - len(found)
        fitting = [leaves for leaves in left if len(groups[leaves]) >= rest]
        chosen = min(fitting, key=lambda leaves: len(groups[leaves])) if fitting else left[0]
        found += groups[chosen][:rest]
        left.remove(chosen)
    return tuple(found)


class _Judge:
    """What servers are worth, by the samples that judge the jobs too."""

    def __init__(
        self,
        fabric: Fabric,
        servers: Servers,
        messages: JobMessages,
        jobs: Sequence[NDArray[np.uint32]],
        samples: int,
        names: Sequence[str],
    ) -> None:
        self._fabric = fabric
        self._names = names
        self._servers = servers
        self._messages = messages
        self._weight = np.array([len(hosts) for hosts in jobs], dtype=np.float64)
        self._samples = samples

    def __call__(self, hosts: NDArray[np.uint32]) -> tuple[Seats, NDArray[np.float64]]:
        """The seats, and what the hosts of all jobs get, less what they got before, by sample.

        Of several patterns a sample is one of each.
        """
        chosen = self._servers.of(hosts)
        parts = [
            Newcomer(self._messages, len(self._weight), batch).judge(hosts)
            for batch in self._messages.batches(self._samples, hosts)
        ]
        alone, beside = (np.concatenate([part[n] for part in parts]) for n in (0, 1))
        losses = np.concatenate([part[2] for part in parts], axis=1)
        patterns = len(self._messages.patterns)
        sent = self._messages.pattern_in(len(self._weight), range(self._samples))
        rings = all_to_alls = None
        if self._messages.patterns == RAIL_PATTERNS:
            rings, all_to_alls = (float(beside[sent == number].mean()) for number in (0, 1))
        alone, beside = (one.reshape(-1, patterns).mean(axis=1) for one in (alone, beside))
        lost = (self._weight @ losses).reshape(-1, patterns).mean(axis=1)
        cost = lost / max(self._weight.sum(), 1)
        mean = losses.mean(axis=1)
        worst = int(mean.argmax()) if len(mean) else 0
        hurts = len(mean) > 0 and mean[worst] > 0
        names = self._servers.names(chosen)
        seats = Seats(
            servers=names,
            order=self._servers.names_in_order(hosts),
            nodelist=printable_line(shorten(names), 1 << 20),
            hosts=tuple(self._fabric.host_name[host] for host in hosts),
            numbers=hosts,
            leaves=self._servers.leaves(chosen),
            alone=float(alone.mean()),
            beside=float(beside.mean()),
            margin=half_width(beside),
            cost=float(cost.mean()),
            cost_margin=half_width(cost),
            worst_job=self._names[worst] if hurts else None,
            worst_loss=float(mean[worst]) if hurts else 0.0,
            rings=rings,
            all_to_alls=all_to_alls,
        )
        all_hosts = self._weight.sum() + len(hosts)
        return seats, (len(hosts) * beside - lost) / all_hosts


class _Search:
    """The best of all choices so far.

    Args:
        servers: of the fabric.
        messages: of the jobs that run.
        jobs: their hosts.
        samples: which judge the choices.
        arranged: hosts of chosen servers in the order of ranks.
    """

    def __init__(
        self,
        servers: Servers,
        messages: JobMessages,
        jobs: Sequence[NDArray[np.uint32]],
        samples: range,
        arranged: Callable[[_Servers], NDArray[np.uint32]],
    ) -> None:
        self._servers = servers
        self._weight = np.array([len(hosts) for hosts in jobs], dtype=np.float64)
        self._newcomer = Newcomer(messages, len(jobs), samples)
        self._seen: set[frozenset[int]] = set()
        self._worth: tuple[float, int] | None = None
        self.arranged = arranged
        self.best: _Servers = ()

    @property
    def tried(self) -> int:
        return len(self._seen)

    def consider(self, choice: _Servers) -> None:
        """Tries a choice; of those that are worth as much the one on the fewest leaves is kept."""
        if frozenset(choice) in self._seen:
            return
        self._seen.add(frozenset(choice))
        worth = (self.mean(self.arranged(choice)), -self._servers.leaves(choice))
        if self._worth is None or worth > self._worth:
            self.best, self._worth = choice, worth

    def mean(self, hosts: NDArray[np.uint32]) -> float:
        """What the hosts of all jobs get in the mean, less what they got before."""
        _, beside, losses = self._newcomer.judge(hosts)
        total = len(hosts) * beside.mean() - (self._weight @ losses).mean()
        mean = float(total / (len(hosts) + self._weight.sum()))
        return round(mean / _SAME) * _SAME

    def exchange(self, free: Sequence[int], seed: int) -> None:
        """Moves some servers of the best choice from one leaf to another, again and again."""
        words = np.random.Philox(key=[seed, len(free)]).random_raw(3 * _EXCHANGES).tolist()
        for number in range(_EXCHANGES):
            taken = set(self.best)
            here = self._servers.groups(self.best)
            rest = self._servers.groups([one for one in free if one not in taken])
            if not rest:
                return
            away, to, many = words[3 * number : 3 * number + 3]
            old = list(here.values())[away % len(here)]
            new = list(rest.values())[to % len(rest)]
            most = min(len(old), len(new))
            # All, half, a quarter ... of what fits.
            moved = max(1, most >> (many % most.bit_length()))
            kept = taken - set(old[-moved:])
            self.consider(tuple(sorted(kept | set(new[:moved]))))
