"""What the same messages get from a fabric, whole and where parts of it died."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import permutations
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.progress import step
from contend.congestion.drawing import PatternSource, PlacementSource, Seating, arrange, seat
from contend.congestion.rates import link_rates
from contend.congestion.simulation.averages import EACH_HOST
from contend.congestion.simulation.samples import Totals
from contend.congestion.simulation.simulation import Simulation
from contend.fabric import Fabric, without_numbers
from contend.routes import RoutesLeft, Ways, make_resolver, mendable, mended, routes_of
from contend.traffic.pattern import Pattern

# For every message, and for every entry where all routes are looked up anew.
_STEPS_OF_MESSAGES, _STEPS_OF_TABLES = 20, 60
_Cost = tuple[int, int, NDArray[np.float64], NDArray[np.float64], float]


@dataclass(frozen=True, eq=False)
class FailureCost:
    """What a failure costs messages between hosts that it leaves."""

    hosts_left: int
    """Hosts that are neither gone nor cut off from most others."""
    changed: int
    """Number of table entries that had to change."""
    before: NDArray[np.float64]
    """What messages get on the whole fabric of which both hosts are left, shape [samples]; 1 for a
    sample without any. No samples where fewer than two hosts are left."""
    after: NDArray[np.float64]
    """What the same messages get from what is left of it, shape [samples]."""
    cut: float = 0.0
    """Share of these messages that do not arrive, as some way ends; they get nothing."""


class FailureJudge:
    """Lets switches and cables of a fabric die, and counts what the same messages then get.

    They are judged as `Simulation.judged` says. Tables are mended as `contend.routes.mended` mends
    them; where each host sends or receives once, as in random pairs, only what a failure changes is
    looked at anew. Where there are none, switches find the shortest ways that are left. Tables of
    adaptive routing stay as they were: switches leave dead ports out of their groups, and messages
    of which some way ends get nothing. Failures that must cost the same, as switches or cables
    stand alike and every message takes all ways, are then counted once. Messages of hosts that are
    gone are left out before and after, so that the difference is the network's. Several threads may
    ask at once.

    Memory, with tables and random pairs: about 6 bytes for each address and switch, and for each
    sample 4 a channel and 70 a pair; as much again as the pairs take while a failure is judged.

    Args:
        fabric: with routes.
        whole: a simulation of the pattern on it; its samples are counted.
        pattern: of the simulation.
        placement: of the simulation; its ranks have a host each.

    Raises:
        UsageError: the fabric has no routes, they do not arrive, or messages have bytes.
    """

    def __init__(
        self,
        fabric: Fabric,
        whole: Simulation,
        pattern: PatternSource = "bisect",
        placement: PlacementSource = "random",
    ) -> None:
        self._fabric = fabric
        sent, placed = arrange(fabric, pattern, placement, None, 1, None)
        seating = seat(sent, placed)
        self._judge: _core.FailureJudge | _CountedAnew
        messages = whole.samples * max(sent.core.messages_expected, sent.ranks)
        self.work = fabric.hosts * fabric.switches + _STEPS_OF_MESSAGES * messages
        """Looks at table entries and channels for one failure, roughly: 2^28 take a second."""
        mends = fabric.routes is None or fabric.routes.tables is not None
        pairs = sent.random and sent.rounds == 1 and not (sent.core.shares_ends or seating.random)
        if pairs and mends:
            hosts = seating.hosts[seating.slots]
            with step(f"who uses what on {fabric.name}"):
                self._judge = _core.make_failure_judge(
                    fabric.core,
                    *mendable(fabric),
                    sent.core,
                    hosts,
                    _core.Samples(whole.seed, 0, whole.samples, whole.exhaustive),
                    link_rates(fabric, hosts).by_place,
                )
        else:
            self.work += mends * _STEPS_OF_TABLES * fabric.hosts * fabric.switches
            self._judge = _CountedAnew(fabric, sent, seating, whole)

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


def _seats(seating: Seating, whole: Simulation) -> Iterator[tuple[NDArray[np.uint32], int, int]]:
    """Slots of all ranks, with the first sample that has them, and how many do."""
    if not seating.random:
        yield seating.slots, 0, whole.samples
    elif whole.exhaustive:
        every = list(permutations(seating.slots.tolist()))
        for slots in every:
            yield np.array(slots, dtype=np.uint32), 0, whole.samples // len(every)
    else:
        for number in range(whole.samples):
            yield _core.shuffle_slots(seating.slots, whole.seed, number), number, 1


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


@dataclass(frozen=True, eq=False)
class _Left:
    """Routes that failures leave, and what of the pattern they carry."""

    resolver: _core.Resolver
    place: NDArray[np.uint32]
    """Place in the resolver of every host that takes part."""
    rates: NDArray[np.float64]
    kept: RoutesLeft | None = None
    """Which pairs tables that stay as they were cut off."""


class _CountedAnew:
    """Judges failures where every message may take another way: counts all of them once more."""

    def __init__(
        self, fabric: Fabric, pattern: Pattern, seating: Seating, whole: Simulation
    ) -> None:
        if pattern.core.weighted and whole.several_at_once:
            raise UsageError(
                f"pattern {pattern.name}: expected one whose messages are of the same size"
            )
        self._fabric, self._routes, self._pattern = fabric, routes_of(fabric), pattern
        self._hosts, self._whole = seating.hosts, whole
        follows = Ways.DRAWN | Ways.SPLIT | Ways.TOGETHER
        self._before = _Left(
            make_resolver(fabric, self._hosts, follows=follows),
            np.arange(len(self._hosts), dtype=np.uint32),
            link_rates(fabric, self._hosts).by_place,
        )
        self._seats = list(_seats(seating, whole))
        # Draws differ from switch to switch, also where cables do not, and what is sought together
        # is found nearly, not exactly.
        evenly = self._routes.ways & follows == Ways.SPLIT
        # Tables may tell apart what stands alike.
        evenly &= self._routes.grouped is None
        self._alike = _Alike(fabric) if evenly else None
        self._known: dict[tuple[int, ...], Future[_Cost]] = {}
        self._lock = Lock()
        self._all = self._shares(self._before, np.zeros(len(self._hosts), dtype=bool))[0]

    def judge(self, switches: list[int], cables: list[int]) -> _Cost:
        """Hosts left, table entries changed, and what messages get by sample, before and after."""
        key = self._alike(switches, cables) if self._alike else None
        if key is None:
            return self._count(switches, cables)
        with self._lock:
            is_new = key not in self._known
            cost = self._known.setdefault(key, Future())
        if is_new:
            try:
                cost.set_result(self._count(switches, cables))
            except BaseException as error:
                cost.set_exception(error)
                raise
        return cost.result()

    def _count(self, switches: list[int], cables: list[int]) -> _Cost:
        rest = _core.remains(self._fabric.core, switches, cables)
        if rest.hosts_left < 2:
            return rest.hosts_left, 0, np.zeros(0), np.zeros(0), 0.0
        gone = np.asarray(rest.host_gone(), dtype=bool)[self._hosts]
        before = self._shares(self._before, gone)[0] if gone.any() else self._all
        left, changed = self._left(rest, gone, switches, cables)
        after, arriving = self._shares(left, gone)
        return rest.hosts_left, changed, before, after * arriving, float(1 - arriving.mean())

    def _left(
        self, rest: _core.Remains, gone: NDArray[np.bool_], switches: list[int], cables: list[int]
    ) -> tuple[_Left, int]:
        """The routes that are left, and how many table entries had to change."""
        if self._routes.tables is not None:
            left = without_numbers(self._fabric, switches=switches, cables=cables)
            routed, changed, _ = mended(self._fabric, left)
            here = np.searchsorted(left.hosts, self._hosts[~gone]).astype(np.uint32)
            # Those that are gone have no messages, whatever their place.
            place = np.maximum(np.cumsum(~gone), 1).astype(np.uint32) - np.uint32(1)
            rates = link_rates(routed, here).by_place
            return _Left(make_resolver(routed, here), place, rates), int(changed.sum())
        anew = self._routes.found_anew(self._fabric, self._hosts, rest)
        if anew is not None:
            return replace(self._before, resolver=anew), 0
        kept = self._routes.as_they_were(self._fabric, self._hosts, rest)
        if kept is None:
            raise UsageError(f"routes by {self._routes.engine} cannot be followed after a failure")
        return replace(self._before, resolver=kept.resolver, kept=kept), 0

    def _shares(
        self, left: _Left, gone: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What messages of hosts that are left get in every sample, and which part arrives.

        On one thread: failures are judged side by side.
        """
        total, arriving = None, []
        for slots, first, count in self._seats:
            samples = _core.Samples(self._whole.seed, first, count, self._whole.exhaustive)
            pattern = _core.make_rest(self._pattern.core, gone[slots].astype(np.uint8))
            part = np.ones(count)
            if (kept := left.kept) is not None:
                sent = _core.message_counts(pattern, samples)
                row, column = kept.row[slots], kept.column[slots]
                pattern = _core.make_without_pairs(pattern, row, column, kept.cut)
                arrived = _core.message_counts(pattern, samples)
                part = np.where(sent > 0, arrived / np.maximum(sent, 1), 1.0)
            arriving.append(part)
            seats = _core.Seating(left.place[slots], 1, False)
            found = _core.simulate(left.resolver, pattern, seats, samples, 1, left.rates)
            total = total or Totals(pattern.rounds, len(found["channel_messages"]))
            total.add([found])
        assert total is not None
        by_hosts = self._whole.judged == EACH_HOST
        return total.of_hosts[0] if by_hosts else total.bandwidth, np.concatenate(arriving)
