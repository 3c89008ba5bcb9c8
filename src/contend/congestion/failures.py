"""What the same random pairs of hosts get from a fabric, whole and where parts of it died."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.drawing import arrange, seat
from contend.congestion.rates import link_rates
from contend.congestion.simulation.simulation import Simulation
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.pattern import Pattern
from contend.progress import step
from contend.routes import Routes, Ways, make_resolver, mendable

_Cost = tuple[int, int, NDArray[np.float64], NDArray[np.float64], float]


@dataclass(frozen=True, eq=False)
class FailureCost:
    """What a failure costs the pairs of hosts that it leaves.

    Attributes:
        hosts_left: that are neither gone nor cut off from most others.
        changed: table entries that had to change.
        before: what pairs get on the whole fabric of which both hosts are left, shape [samples];
            1 for a sample without any. No samples where fewer than two hosts are left.
        after: what the same pairs get from what is left of it, shape [samples].
        cut: share of these pairs whose messages do not arrive, as some way ends; they get nothing.
    """

    hosts_left: int
    changed: int
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    cut: float = 0.0


class FailureJudge:
    """Lets switches and cables of a fabric die, and counts what the same random pairs then get.

    Tables are mended as `contend.routes.mended` mends them, and only what a failure changes is
    looked at anew. Where there are none, switches find the shortest ways that are left, and all
    pairs are counted on these. Tables of adaptive routing stay as they were: switches leave dead
    ports out of their groups, and messages of which some way ends get nothing. Failures that must
    cost the same, as switches or cables stand alike and every message takes all ways, are then
    counted once. Pairs of hosts that are gone are left out before and after, so that the difference
    is the network's. Several threads may ask at once.

    Memory, with tables: about 6 bytes for each address and switch, and for each sample 4 a channel
    and 70 a pair; as much again as the pairs take while a failure is judged.

    Args:
        fabric: with routes.
        whole: a simulation of ``bisect`` on it, of all hosts; its samples are counted.

    Raises:
        UsageError: the fabric has no routes, or they do not arrive.
    """

    def __init__(self, fabric: Fabric, whole: Simulation) -> None:
        self._fabric = fabric
        pattern, placement = arrange(fabric, "bisect", "random", None, 1, None)
        # All seats are taken and all ranks are alike: seats are never shuffled.
        seating = seat(pattern, placement)
        hosts = seating.hosts[seating.slots]
        rates = link_rates(fabric, hosts).by_place
        self._judge: _core.FailureJudge | _OnWaysFoundAnew
        if fabric.routes is not None and fabric.routes.tables is None:
            self._judge = _OnWaysFoundAnew(fabric, fabric.routes, pattern, hosts, whole, rates)
        else:
            with step(f"who uses what on {fabric.name}"):
                self._judge = _core.make_failure_judge(
                    fabric.core,
                    *mendable(fabric),
                    pattern.core,
                    hosts,
                    _drawn(whole),
                    rates,
                )

    def judge(self, switches: Sequence[int], cables: Sequence[int]) -> FailureCost:
        """What it costs if switches and cables die together, given by their numbers.

        Raises:
            UsageError: there is no such switch or cable.
        """
        return FailureCost(*self._judge.judge(list(switches), list(cables)))

    def gone(self, switches: Sequence[int], cables: Sequence[int]) -> NDArray[np.bool_]:
        """Whether each host is gone or cut off if switches and cables die, shape [hosts]."""
        rest = _core.remains(self._fabric.core, list(switches), list(cables))
        return np.asarray(rest.host_gone(), dtype=bool)


def _drawn(whole: Simulation) -> _core.Samples:
    """The samples of a simulation."""
    return _core.Samples(whole.seed, 0, whole.samples, whole.exhaustive)


class _Alike:
    """Tells which switches and cables must cost the same if they die alone, by numbers of either.

    Switches without hosts that have as many cables of each rate to the same neighbours change
    places without any host noticing, and so do the cables of a rate between such switches. What
    splits over all ways evenly crosses them alike. Cost: one look at all cables.
    """

    def __init__(self, fabric: Fabric) -> None:
        cables = (fabric.cable_from, fabric.cable_to, fabric.cable_rate)
        neighbours: defaultdict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
        self._cables = list(zip(*(column.tolist() for column in cables), strict=True))
        for one, other, rate in self._cables:
            neighbours[one][other, rate] += 1
            neighbours[other][one, rate] += 1
        self._switch = list(range(fabric.switches))
        first: dict[frozenset[tuple[tuple[int, int], int]], int] = {}
        for switch in sorted(set(self._switch) - set(fabric.host_switch.tolist())):
            self._switch[switch] = first.setdefault(frozenset(neighbours[switch].items()), switch)

    def __call__(self, switches: Sequence[int], cables: Sequence[int]) -> tuple[int, ...] | None:
        """A key that failures share that cost the same; None where several parts die together."""
        if len(switches) + len(cables) != 1:
            return None
        if switches:
            return (self._switch[switches[0]],)
        one, other, rate = self._cables[cables[0]]
        return (*sorted((self._switch[one], self._switch[other])), rate)


class _OnWaysFoundAnew:
    """Judges failures where switches look for ways by themselves: counts every pair once more."""

    def __init__(
        self,
        fabric: Fabric,
        routes: Routes,
        pattern: Pattern,
        hosts: NDArray[np.uint32],
        whole: Simulation,
        rates: NDArray[np.float64],
    ) -> None:
        self._fabric, self._routes, self._pattern = fabric, routes, pattern
        self._hosts, self._whole, self._rates = hosts, whole, rates
        self._before = make_resolver(fabric, hosts, follows=Ways.DRAWN | Ways.SPLIT | Ways.TOGETHER)
        # Draws differ from switch to switch, also where cables do not, and what is sought together
        # is found nearly, not exactly.
        evenly = routes.ways & (Ways.DRAWN | Ways.SPLIT | Ways.TOGETHER) == Ways.SPLIT
        # Tables may tell apart what stands alike.
        evenly &= routes.grouped is None
        self._alike = _Alike(fabric) if evenly else None
        self._known: dict[tuple[int, ...], Future[_Cost]] = {}
        self._lock = Lock()

    def judge(self, switches: list[int], cables: list[int]) -> _Cost:
        """Hosts left, table entries changed, and what pairs get by sample, before and after."""
        rest = _core.remains(self._fabric.core, switches, cables)
        key = self._alike(switches, cables) if self._alike else None
        if key is None:
            return self._count(rest)
        with self._lock:
            is_new = key not in self._known
            cost = self._known.setdefault(key, Future())
        if is_new:
            try:
                cost.set_result(self._count(rest))
            except BaseException as error:
                cost.set_exception(error)
                raise
        return cost.result()

    def _count(self, rest: _core.Remains) -> _Cost:
        if rest.hosts_left < 2:
            return rest.hosts_left, 0, np.zeros(0), np.zeros(0), 0.0
        gone = rest.host_gone()[self._hosts]
        left = _core.make_rest(self._pattern.core, gone)
        before = self._bandwidth(self._before, left) if gone.any() else self._whole.bandwidth
        anew = self._routes.found_anew(self._fabric, self._hosts, rest)
        if anew is not None:
            return rest.hosts_left, 0, before, self._bandwidth(anew, left), 0.0
        kept = self._routes.as_they_were(self._fabric, self._hosts, rest)
        if kept is None:
            raise UsageError(f"routes by {self._routes.engine} cannot be followed after a failure")
        arriving = _core.make_without_pairs(left, kept.row, kept.column, kept.cut)
        sent, arrived = (self._counts(each) for each in (left, arriving))
        share = np.where(sent > 0, arrived / np.maximum(sent, 1), 1.0)
        after = self._bandwidth(kept.resolver, arriving) * share
        return rest.hosts_left, 0, before, after, float(1 - share.mean())

    def _counts(self, pattern: _core.Pattern) -> NDArray[np.uint64]:
        """Messages of every sample."""
        return _core.message_counts(pattern, _drawn(self._whole))

    def _bandwidth(self, resolver: _core.Resolver, pattern: _core.Pattern) -> NDArray[np.float64]:
        """What pairs get in every sample, on one thread: failures are judged side by side."""
        seating = _core.Seating(np.arange(len(self._hosts), dtype=np.uint32), 1, False)
        found = _core.simulate(resolver, pattern, seating, _drawn(self._whole), 1, self._rates)
        shares: NDArray[np.float64] = found["share" if len(self._rates) else "bandwidth"]
        return shares
