"""What each switch and cable of a network would cost if it died, alone or with another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from contend.congestion import (
    Communicator,
    FailureJudge,
    Simulation,
    agree,
    core_threads,
    half_width,
    simulate,
)
from contend.cure.servers_hit import RailLosses, ServersHit, StillGets
from contend.errors import ShortfallError, UsageError
from contend.fabric import Fabric, Rest, only, parts_of, with_hosts, without_numbers
from contend.placement import HostChoice, HostNames, choose_hosts
from contend.progress import Progress, shown_progress
from contend.routes import check_engine, compute
from contend.shown import Shown

_Part = tuple[str, int]
# Table entries and steps of messages that are looked at: some ten minutes of one core.
_MOST_WORK = 200_000_000_000
_STEPS_OF_MESSAGES = 20


@dataclass(frozen=True, eq=False)
class FabricFailure:
    """What a fabric is without a switch, a cable, or two of them.

    Attributes:
        parts: what died: ``switch`` or ``cable``, and its number.
        name: in words, as ``--without`` takes it.
        hosts: that are gone with it or cut off.
        changed: table entries that had to change; 0 where there are no tables.
        bandwidth: what random pairs get of which both hosts are left, as a share of a link's rate;
            0 where fewer than two hosts are.
        change: against what these pairs get on the whole fabric, also without the others; below 0
            is a loss. Hosts that are gone send nothing either time, so that only what the network
            lost counts.
        margin: half of the 95 % interval of `change`.
        rerouted: what they get when an engine computes all tables anew; None where it was not
            tried, or the engine refuses what is left.
        rerouted_change: against what they get from the whole fabric by that engine's tables.
        rerouted_margin: half of the 95 % interval of `rerouted_change`.
        servers: of several adapters that lose some of them.
        still: what these get; None where they lose all or none, or it was not tried.
        cut: share of the pairs left whose messages do not arrive, where tables stay as they were.
    """

    parts: tuple[_Part, ...]
    name: str
    hosts: int
    changed: int
    bandwidth: float
    change: float
    margin: float
    rerouted: float | None = None
    rerouted_change: float = 0.0
    rerouted_margin: float = 0.0
    servers: tuple[ServersHit, ...] = ()
    still: StillGets | None = None
    cut: float = 0.0

    def ties(self, other: FabricFailure) -> bool:
        """Whether the patterns do not tell which of two is worse."""
        if self.hosts != other.hosts:
            return False
        return abs(self.change - other.change) <= max(self.margin, other.margin)


@dataclass(frozen=True, eq=False)
class Failures(Shown, told="failures_document"):
    """Every switch and cable alone, then pairs of the worst.

    Attributes:
        fabric: whole; of a fabric in several parts the one that has the hosts.
        whole: what random pairs get while nothing is broken.
        rerouted: what they get then with recomputed tables; None where the engine refuses, or is
            the one whose routes switches find by themselves.
        alone: one failure at a time, the worst first.
        possible: how many there are; where `alone` has fewer, they were drawn from these.
        pairs: two of the worst at a time, the worst first; no switch with a cable of its own.
        engine: that computed tables anew, for the whole fabric and the worst failures.
    """

    fabric: Fabric
    whole: Simulation
    rerouted: Simulation | None
    alone: tuple[FabricFailure, ...]
    possible: int
    pairs: tuple[FabricFailure, ...]
    engine: str

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
    hosts: HostChoice | None = None,
    samples: int = 200,
    seed: int = 1,
    worst: int = 10,
    engine: str = "contend",
    threads: int | None = None,
    progress: bool | Progress = False,
    communicator: Communicator | None = None,
) -> Failures:
    """Lets every switch and every cable between switches die alone, then pairs of the worst.

    Of large networks so many are drawn at random as can be judged in some ten minutes.

    Each time tables are mended (see `contend.routes.mended`), and the same random pairs of hosts
    are counted: what the pairs that are left get, before and after. Only what a failure changes is
    looked at anew, so it takes milliseconds. Routes without tables are found anew on what is left,
    and all pairs counted again. Tables of adaptive routing stay as they were: switches leave dead
    ports out of their groups. Those that cost most without cutting hosts off are
    then routed anew, and joined in pairs. Of those that cut most hosts off it is told what servers
    get that lose some of their adapters. So is the whole fabric: what a failure costs by new
    tables is held against new tables without it. Memory: as `contend.congestion.FailureJudge`.

    Args:
        fabric: with routes.
        hosts: that take part, as `contend.placement.choose_hosts` takes them; None is all. Pairs
            are drawn among them, and only their loss and their table entries count.
        samples: patterns of random pairs that each is judged by.
        seed: of the patterns, the same for all.
        worst: how many are.
        engine: that routes the worst anew.
        threads: how many failures are judged at a time; None: as many as there are cores.
        progress: True shows a bar; a function is told how many are judged, of how many.
        communicator: shares the failures out over MPI processes, as in `contend.simulate`.

    Raises:
        OtherProcessError: another process of the communicator failed.
        UsageError: the fabric has no routes or they do not arrive, or no such engine.
    """

    def prepare() -> _Judge:
        if samples < 2:
            raise UsageError(f"samples: expected at least 2, got {samples}")
        check_engine(engine)
        return _Judge(*_with_part(fabric, hosts), samples, seed, engine)

    total, done = 0, 0

    def told(each: Iterator[FabricFailure]) -> list[FabricFailure]:
        nonlocal done
        found = []
        for failure in each:
            found.append(failure)
            done += 1
            tell(done, total)
        return sorted(found, key=_badness)

    with (
        shown_progress(progress, fabric.name, "failures") as tell,
        core_threads(threads, communicator) as workers,
    ):
        judge = agree(communicator, prepare)
        whole, parts = judge.fabric, judge.parts
        total = len(parts) + worst * (worst - 1) // 2 + 2 * worst
        alone = told(workers.map(judge, ([part] for part in parts)))
        cutting = [failure for failure in alone if failure.hosts]
        costly = alone[len(cutting) :]
        ends = combinations((failure.parts[0] for failure in costly[:worst]), 2)
        joined = [pair for pair in ends if not _implies(whole, *pair)]
        still = told(workers.map(judge.servers_left, cutting[:worst]))
        total = len(parts) + len(joined) + len(still) + len(costly[:worst])
        pairs = told(workers.map(judge, joined))
        rerouted = told(workers.map(judge.rerouted, costly[:worst]))
    alone = [*still, *cutting[worst:], *rerouted, *costly[worst:]]
    return Failures(
        whole, judge.whole, judge.anew, tuple(alone), judge.possible, tuple(pairs), engine
    )


def _drawn(parts: list[_Part], work: int, seed: int) -> list[_Part]:
    """All, or as many as are judged in bounded time where each takes so much work."""
    most = max(_MOST_WORK // work, 2)
    if len(parts) <= most:
        return parts
    chosen = np.random.default_rng(seed).choice(len(parts), most, replace=False)
    return [parts[number] for number in np.sort(chosen).tolist()]


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


def _badness(failure: FabricFailure) -> tuple[int, float, str]:
    """Hosts lost first, then bandwidth."""
    return -failure.hosts, failure.change, failure.name


class _Judge:
    """Lets parts of a fabric die, and counts what that costs the hosts that take part."""

    def __init__(
        self, fabric: Fabric, hosts: NDArray[np.int64], samples: int, seed: int, engine: str
    ) -> None:
        self.fabric = fabric
        self._hosts = hosts
        self._engine = engine
        taking_part = with_hosts(fabric, hosts)
        self.whole = simulate(taking_part, "bisect", samples=samples, seed=seed)
        self._costs = FailureJudge(taking_part, self.whole)
        self._servers = RailLosses(fabric, hosts, samples, seed)
        # What reaches none of the hosts can die unnoticed.
        [part] = parts_of(taking_part)
        parts: list[_Part] = [("switch", number) for number in part.switches.tolist()]
        parts += [("cable", number) for number in part.cables.tolist()]
        self.possible = len(parts)
        self.parts = _drawn(
            parts, len(hosts) * (fabric.switches + _STEPS_OF_MESSAGES * samples), seed
        )
        # Switches that find their ways by themselves have rerouted already.
        itself = not _mends(fabric) and self.whole.engine == engine
        self.anew = None if itself else self._routed_anew(fabric, hosts, None)

    def __call__(self, parts: Sequence[_Part]) -> FabricFailure:
        name = " and ".join(self._name(*part) for part in parts)
        cost = self._costs.judge(_numbers(parts, "switch"), _numbers(parts, "cable"))
        if cost.hosts_left < 2:
            lost = -self.whole.effective_bandwidth.mean
            return FabricFailure(tuple(parts), name, len(self._hosts), 0, 0.0, lost, 0.0)
        differences = cost.after - cost.before
        return FabricFailure(
            parts=tuple(parts),
            name=name,
            hosts=len(self._hosts) - cost.hosts_left,
            changed=cost.changed,
            bandwidth=float(cost.after.mean()),
            change=float(differences.mean()),
            margin=half_width(differences),
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
        if not failure.servers:
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
        differences = anew.bandwidth - self.anew.bandwidth
        return replace(
            failure,
            rerouted=anew.effective_bandwidth.mean,
            rerouted_change=float(differences.mean()),
            rerouted_margin=half_width(differences),
        )

    def _rest(self, failure: FabricFailure) -> Rest:
        return without_numbers(
            self.fabric,
            switches=_numbers(failure.parts, "switch"),
            cables=_numbers(failure.parts, "cable"),
        )

    def _routed_anew(
        self, fabric: Fabric, hosts: NDArray[np.int64], threads: int | None
    ) -> Simulation | None:
        """What the same patterns get by the engine's tables; None where it refuses."""
        try:
            anew = with_hosts(compute(fabric, self._engine), hosts)
            samples, seed = self.whole.samples, self.whole.seed
            return simulate(anew, "bisect", samples=samples, seed=seed, threads=threads)
        except (ShortfallError, UsageError):
            return None

    def _name(self, what: str, number: int) -> str:
        fabric = self.fabric
        if what == "switch":
            return fabric.switch_label[number]
        end = int(fabric.cable_from[number])
        return f"{fabric.switch_label[end]}:{int(fabric.cable_from_port[number])}"


def _numbers(parts: Sequence[_Part], kind: str) -> list[int]:
    return [number for what, number in parts if what == kind]
