"""What each switch and cable of a network would cost if it died, alone or with another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ArgumentError, ShortfallError, UsageError
from contend.base.progress import Progress, shown_progress
from contend.base.schema import PythonOnly, Share, Shown, told
from contend.congestion import (
    EACH_HOST,
    Communicator,
    FailureJudge,
    Simulation,
    agree,
    core_threads,
    half_width,
    simulate,
)
from contend.cure.servers import RailLosses, ServersHit, StillGets
from contend.fabric import Fabric, Rest, only, parts_of, with_hosts, without_numbers
from contend.routes import check_engine, compute, default_engine
from contend.traffic.placement import HostChoice, HostNames, choose_hosts

_Part = tuple[str, int]
# Table entries and steps of messages that are looked at: some ten minutes of one core.
_MOST_WORK = 200_000_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class FabricFailure:
    """What a fabric is without a switch, a cable, or two of them."""

    died: PythonOnly[tuple[_Part, ...]]
    """Kind and number of each that failed."""
    parts: str
    """What failed, as ``--without`` takes it."""
    kinds: tuple[str, ...]
    """``switch`` or ``cable``, for each."""
    hosts: int
    """Number of hosts that are gone with it or cut off."""
    changed: int = 0
    """Number of table entries that had to change; 0 where there are no tables."""
    cut: Share = 0.0
    """Share of messages between the hosts left that do not arrive; only where tables of adaptive
    routing stay as they were."""
    bandwidth: Share
    """Share that the hosts left get on average, as the whole fabric's `bandwidth` says of what,
    with mended tables or, without tables, over the shortest paths that are left; 0 where fewer than
    two are left."""
    change: Share
    """Difference from what the same messages get on the whole fabric; below 0 is a loss. Hosts that
    are gone send nothing either time, so that only what the network lost counts."""
    margin: Share = 0.0
    """Half of the 95 % interval of the change."""
    rerouted: Share | None = None
    """The same mean with all tables recomputed; null where that was not tried, or the engine
    refuses what is left."""
    rerouted_change: Share | None = None
    """Difference from what the same messages get on the whole fabric with recomputed tables; null
    where `rerouted` is."""
    rerouted_margin: Share | None = None
    """Half of the 95 % interval of that difference; null where `rerouted` is."""
    servers: tuple[ServersHit, ...] = ()
    """Servers of several adapters that lose some or all of them."""
    still: StillGets | None = None
    """What those get that keep others; null where there are none, or it was not tried."""

    def ties(self, other: FabricFailure) -> bool:
        """Whether the patterns do not tell which of two is worse."""
        if self.hosts != other.hosts:
            return False
        return abs(self.change - other.change) <= max(self.margin, other.margin)


@dataclass(frozen=True, eq=False, kw_only=True)
class Failures(Shown, told="failures_document"):
    """Every switch and cable alone, then pairs of the worst."""

    fabric: Fabric
    """The whole fabric; of one in several parts the part that has the hosts."""
    whole: PythonOnly[Simulation]
    """What the pattern gets while nothing is broken."""
    hosts: int
    """Number of hosts that take part."""
    pattern: str
    """Pattern that each was judged by; ``bisect`` is random pairs."""
    placement: str
    """How its ranks were placed on hosts."""
    waits_for_last: bool
    """Whether shares are what hosts get of what their ports allow until the last message is done,
    as where ranks have several messages at once; else means over messages, of a link's rate."""
    samples: int
    """Number of samples of the pattern that each was judged by."""
    bandwidth: Share
    """Share that hosts get while nothing is broken."""
    rerouted: Share | None
    """What they get on average with recomputed tables; null where the engine refuses, or is the one
    whose routes switches find by themselves."""
    engine: str
    """Engine that recomputed the tables, for the whole fabric and the worst failures."""
    alone: tuple[FabricFailure, ...]
    """Failures of one switch or cable each, the worst first."""
    possible: int
    """Number of switches and cables; where `alone` has fewer, switches came first, then cables
    drawn at random."""
    pairs: tuple[FabricFailure, ...]
    """Two of the worst at once, the worst first; no switch with a cable of its own."""

    @told
    def cheapest(self) -> FabricFailure | None:
        """The switch that can go at least cost: fewest hosts, then least bandwidth; null for none.

        It is the one to take out of service first; of several that cost alike the first by name.
        """
        switches = [one for one in self.alone if one.kinds == ("switch",)]
        return min(switches, key=lambda one: (one.hosts, -one.change, one.parts), default=None)

    @property
    def mended(self) -> bool:
        """Whether failures were judged by mended tables; else switches found other ways."""
        return _mends(self.fabric)

    @property
    def kept(self) -> bool:
        """Whether tables stay as they were, and switches leave dead ports out of groups."""
        return self.fabric.routes is not None and self.fabric.routes.grouped is not None


def failures(
    fabric: Fabric,
    *,
    pattern: str = "bisect",
    placement: str = "random",
    hosts: HostChoice | None = None,
    samples: int = 200,
    seed: int = 1,
    worst: int = 10,
    engine: str | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    communicator: Communicator | None = None,
) -> Failures:
    """Lets every switch and every cable between switches die alone, then pairs of the worst.

    Of large networks as many as can be judged in some ten minutes: switches, and cables drawn at
    random.

    Each time tables are mended (see `contend.routes.mended`), and the same messages are counted:
    what those between hosts that are left get, before and after, judged as `Simulation.judged`
    says. Of random pairs only what a failure changes is looked at anew, which takes milliseconds.
    Routes without tables are found anew on what is left. Tables of adaptive routing stay as they
    were: switches leave dead ports out of their groups. Those that cost most without cutting hosts
    off are then routed anew, and joined in pairs. Of those that cut most hosts off it is told what
    servers get that lose some of their adapters, where random pairs send. So is the whole fabric:
    what a failure costs by new tables is held against new tables without it. Memory: as
    `contend.congestion.FailureJudge`.

    Args:
        fabric: with routes.
        pattern: a specification of who sends to whom.
        placement: a specification of which rank runs on which host.
        hosts: that take part, as `contend.placement.choose_hosts` takes them; None is all. Messages
            are sent among them, and only their loss and their table entries count.
        samples: of the pattern that each is judged by, or one where nothing is drawn.
        seed: of the patterns, the same for all.
        worst: how many are.
        engine: that routes the worst anew; None: ``contend``, on Ethernet ``ecmp``.
        threads: how many failures are judged at a time; None: as many as there are cores.
        progress: True shows a bar; a function is told how many are judged, of how many.
        communicator: shares the failures out over MPI processes, as in `contend.simulate`.

    Raises:
        OtherProcessError: another process of the communicator failed.
        UsageError: the fabric has no routes or they do not arrive, or no such engine.
    """
    anew = engine or default_engine(fabric)

    def prepare() -> _Judge:
        if samples < 2:
            raise ArgumentError("samples", f"expected at least 2, got {samples}")
        check_engine(anew)
        return _Judge(*_with_part(fabric, hosts), (pattern, placement), samples, seed, anew)

    total, done = 0, 0

    def judged(each: Iterator[FabricFailure]) -> list[FabricFailure]:
        nonlocal done
        found = []
        for failure in each:
            found.append(failure)
            done += 1
            tell(done, total)
        # Hosts lost first, then bandwidth.
        return sorted(found, key=lambda one: (-one.hosts, one.change, one.parts))

    with (
        shown_progress(progress, fabric.name, "failures") as tell,
        core_threads(threads, communicator) as workers,
    ):
        judge = agree(communicator, prepare)
        whole, parts = judge.fabric, judge.parts
        total = len(parts) + worst * (worst - 1) // 2 + 2 * worst
        tell(0, total)
        alone = judged(workers.map(judge, ([part] for part in parts)))
        cutting = [failure for failure in alone if failure.hosts]
        costly = alone[len(cutting) :]
        ends = combinations((failure.died[0] for failure in costly[:worst]), 2)
        joined = [pair for pair in ends if not _implies(whole, *pair)]
        still = judged(workers.map(judge.servers_left, cutting[:worst]))
        total = len(parts) + len(joined) + len(still) + len(costly[:worst])
        pairs = judged(workers.map(judge, joined))
        rerouted = judged(workers.map(judge.rerouted, costly[:worst]))
    alone = [*still, *cutting[worst:], *rerouted, *costly[worst:]]
    return Failures(
        fabric=whole,
        whole=judge.whole,
        hosts=judge.whole.ranks,
        pattern=judge.whole.pattern,
        placement=judge.whole.placement,
        waits_for_last=judge.whole.judged == EACH_HOST,
        samples=judge.whole.samples,
        bandwidth=judge.whole.judged_share,
        rerouted=None if judge.anew is None else judge.anew.judged_share,
        engine=anew,
        alone=tuple(alone),
        possible=judge.possible,
        pairs=tuple(pairs),
    )


def _drawn(parts: list[_Part], work: int, seed: int) -> list[_Part]:
    """All, or as many as are judged in bounded time by the work of each: switches first."""
    most = max(_MOST_WORK // work, 2)
    if len(parts) <= most:
        return parts
    rank = np.random.default_rng(seed).permutation(len(parts))
    order = sorted(range(len(parts)), key=lambda at: (parts[at][0] != "switch", rank[at]))
    return [parts[number] for number in sorted(order[:most])]


def _with_part(fabric: Fabric, hosts: HostChoice | None) -> tuple[Fabric, NDArray[np.int64]]:
    """The part of the fabric that has the chosen hosts, and their numbers there."""
    chosen = np.arange(fabric.hosts)
    if hosts is not None:
        chosen = np.unique(choose_hosts(hosts, fabric, HostNames(fabric)))
    parts = parts_of(fabric)
    having = [part for part in parts if np.isin(chosen, part.hosts).any()]
    if len(parts) == 1 or len(having) > 1:
        return fabric, chosen
    return only(fabric, having[0]), np.searchsorted(having[0].hosts, chosen)


def _mends(fabric: Fabric) -> bool:
    """Whether there are tables, which somebody mends; else switches find ways by themselves."""
    return fabric.routes is None or fabric.routes.tables is not None


def _implies(fabric: Fabric, first: _Part, second: _Part) -> bool:
    """Whether one of two is a switch, with which the other, a cable of it, dies anyway."""
    (kind, switch), (other, cable) = sorted((first, second), reverse=True)
    ends = (fabric.cable_from, fabric.cable_to)
    return (kind, other) == ("switch", "cable") and switch in (end[cable] for end in ends)


class _Judge:
    """Lets parts of a fabric die, and counts what that costs the hosts that take part."""

    def __init__(
        self,
        fabric: Fabric,
        hosts: NDArray[np.int64],
        traffic: tuple[str, str],
        samples: int,
        seed: int,
        engine: str,
    ) -> None:
        self.fabric = fabric
        self._hosts = hosts
        self._traffic = traffic
        self._engine = engine
        taking_part = with_hosts(fabric, hosts)
        self.whole = self._simulated(taking_part, samples, seed)
        self._costs = FailureJudge(taking_part, self.whole, *traffic)
        self._servers = RailLosses(fabric, hosts, samples, seed)
        # What reaches none of the hosts can die unnoticed.
        [part] = parts_of(taking_part)
        parts: list[_Part] = [("switch", number) for number in part.switches.tolist()]
        parts += [("cable", number) for number in part.cables.tolist()]
        self.possible = len(parts)
        self.parts = _drawn(parts, self._costs.work, seed)
        # Switches that find their ways by themselves have rerouted already.
        itself = not _mends(fabric) and self.whole.engine == engine
        self.anew = None if itself else self._routed_anew(fabric, hosts, None)

    def __call__(self, parts: Sequence[_Part]) -> FabricFailure:
        cost = self._costs.judge(_numbers(parts, "switch"), _numbers(parts, "cable"))
        failure = FabricFailure(
            died=tuple(parts),
            parts=" and ".join(self._name(*part) for part in parts),
            kinds=tuple(kind for kind, _ in parts),
            hosts=len(self._hosts),
            bandwidth=0.0,
            change=-self.whole.judged_share,
        )
        if cost.hosts_left < 2:
            return failure
        differences = cost.after - cost.before
        return replace(
            failure,
            hosts=len(self._hosts) - cost.hosts_left,
            changed=cost.changed,
            bandwidth=float(cost.after.mean()),
            change=float(differences.mean()),
            margin=self._margin(differences),
            cut=cost.cut,
            servers=self._hit(parts) if cost.hosts_left < len(self._hosts) else (),
        )

    def _hit(self, parts: Sequence[_Part]) -> tuple[ServersHit, ...]:
        if not self._servers.have_rails:
            return ()
        gone = self._costs.gone(_numbers(parts, "switch"), _numbers(parts, "cable"))
        return self._servers.hit(self._hosts[gone])

    def servers_left(self, failure: FabricFailure) -> FabricFailure:
        """A failure that cuts hosts off, with what servers get that keep others."""
        if not failure.servers or self.whole.pattern != "bisect":
            return failure
        rest = self._rest(failure)
        return replace(failure, still=self._servers.still_get(rest, self.whole.engine))

    def rerouted(self, failure: FabricFailure) -> FabricFailure:
        """A failure that leaves all hosts, with what the engine makes of the rest."""
        rest = self._rest(failure)
        left = np.flatnonzero(np.isin(rest.hosts, self._hosts))
        if self.anew is None or len(left) < len(self._hosts):
            return failure
        # On one thread: failures are judged side by side.
        anew = self._routed_anew(rest.fabric, left, threads=1)
        if anew is None:
            return failure
        differences = anew.judged_shares - self.anew.judged_shares
        return replace(
            failure,
            rerouted=anew.judged_share,
            rerouted_change=float(differences.mean()),
            rerouted_margin=self._margin(differences),
        )

    def _margin(self, differences: NDArray[np.float64]) -> float:
        return 0.0 if self.whole.exhaustive else half_width(differences)

    def _rest(self, failure: FabricFailure) -> Rest:
        return without_numbers(
            self.fabric,
            switches=_numbers(failure.died, "switch"),
            cables=_numbers(failure.died, "cable"),
        )

    def _routed_anew(
        self, fabric: Fabric, hosts: NDArray[np.int64], threads: int | None
    ) -> Simulation | None:
        """What the same patterns get by the engine's tables; None where it refuses."""
        try:
            anew = with_hosts(compute(fabric, self._engine), hosts)
            return self._simulated(anew, self.whole.samples, self.whole.seed, threads)
        except (ShortfallError, UsageError):
            return None

    def _simulated(
        self, fabric: Fabric, samples: int, seed: int, threads: int | None = None
    ) -> Simulation:
        pattern, placement = self._traffic
        return simulate(
            fabric, pattern, placement=placement, samples=samples, seed=seed, threads=threads
        )

    def _name(self, what: str, number: int) -> str:
        fabric = self.fabric
        if what == "switch":
            return fabric.switch_label[number]
        end = int(fabric.cable_from[number])
        return f"{fabric.switch_label[end]}:{int(fabric.cable_from_port[number])}"


def _numbers(parts: Sequence[_Part], kind: str) -> list[int]:
    return [number for what, number in parts if what == kind]
