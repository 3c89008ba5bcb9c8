"""The search for cables that gain most: each is tried, routed and simulated."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from contend.base.errors import ContendError, MissingError
from contend.base.progress import FineProgress
from contend.congestion import Simulation, Workers
from contend.cure.purpose import OWN_ENGINE, ROUNDING, Purpose, gain_over
from contend.cure.relief import Pair, Relief, first_of_each_kind, levels_in_tree, relief
from contend.fabric import (
    Cable,
    Fabric,
    bare_switches,
    cable_ports,
    few_hosts,
    free_ports,
    missing_cables,
    switch_levels,
    with_cables,
)
from contend.routes import (
    Demand,
    compute,
    fewest_collisions,
    table_steps,
    tables_of,
)

# Kinds of pairs that are tried for each cable, and those of them that all tables are recomputed
# for, or that a second cable is tried beside.
_TRIED, _BEST = 12, 4
# Switches of each kind that are joined to several others at once.
_HUBS = 2
# How long looking for pairs and changing few entries take, in times of computing all tables: in
# trees, and elsewhere, where no circle may close.
_IN_TREES, _ELSEWHERE = (0.8, 0.6), (0.12, 0.08)
# Other fabrics than trees are routed anew with every cable up to so many hosts times cables.
_MOST_ANEW = 1 << 20


@dataclass(frozen=True, eq=False)
class TriedCables:
    """A fabric with more cables than the one before it, with routes."""

    fabric: Fabric
    outcome: Simulation
    cables: tuple[Cable, ...] = ()
    gain: float = 0.0
    margin: float = 0.0
    alike: int = 0
    anew: bool = True
    missing: bool = False

    @property
    def least_gain(self) -> float:
        """What each of its cables gains at least."""
        return (self.gain - self.margin) / max(len(self.cables), 1)


class CableSearch:
    """Tries cables between switches of a fabric that has some already."""

    def __init__(
        self,
        fabric: Fabric,
        purpose: Purpose,
        engine: str,
        cables: int,
        progress: FineProgress,
    ) -> None:
        self.purpose = purpose
        self._engine = engine
        self._progress = progress
        self._demand = purpose.demand(fabric)
        self._can_anew = engine != OWN_ENGINE or _can_be_anew(fabric)
        tables = purpose.tables_made(engine, self._demand)
        # Of the traffic that is weighed once the trials know.
        self._anew = max(1, tables - 1)
        tree = levels_in_tree(fabric) is not None
        self._look, self._few = _IN_TREES if tree else _ELSEWHERE
        self._done, self._further_missing = 0.0, False
        pairs = self._lacking(fabric)[:cables]
        self._have_room = sum(map(bool, cable_ports(fabric))) > 1
        further = cables - len(pairs) if len(pairs) == self.missing and self._have_room else 0
        total = tables + len(pairs) * self._anew + self._work_of(further)

        def made(done: float) -> None:
            progress(done, total)

        made(0)
        self._first = TriedCables(*purpose.routed(fabric, engine, self._demand, made))
        self._done = tables
        self.joinable = 0
        self.tried = 0
        self.added = ""

    def run(self, cables: int, workers: Workers) -> list[TriedCables]:
        """The fabric as it is, then with one addition more each time, as long as that gains."""
        pairs = self._missing_pairs(cables)
        chosen = [self._first, *self._what_is_missing(pairs, workers)]
        spent = sum(len(each.cables) for each in chosen)
        # Nobody buys others before all that are missing.
        while self._have_room and not self._further_missing and spent < cables:
            best = self._next(chosen[-1], cables - spent, workers)
            if best is None:
                break
            chosen.append(best)
            spent += len(best.cables)
        self.added = f"{spent} more cable{'s' if spent > 1 else ''}" if spent else ""
        self._tell(0, 0)
        return chosen

    def _tell(self, work: float, later: float) -> None:
        """So much more is done, in times of computing tables once, and so much is left."""
        self._done += work
        self._progress(self._done, self._done + later)

    def _work_of(self, cables: int) -> float:
        """How long finding so many cables takes, each after several kinds were tried."""
        anew = _BEST * self._anew if self._engine == OWN_ENGINE and self._can_anew else 0
        return cables * (self._look + _TRIED * self._work_of_trial(anew=False) + anew)

    def _work_of_trial(self, *, anew: bool) -> float:
        own = self._engine == OWN_ENGINE
        return self._few if own and not (anew and self._can_anew) else self._anew

    def _what_is_missing(self, pairs: Sequence[Pair], workers: Workers) -> Iterator[TriedCables]:
        """Missing cables in this order, each with those before that gain only with it.

        Where no others are missing the last are laid that gain nothing, but none that cost.
        """
        now, waiting = self._first, list[Pair]()
        for number, pair in enumerate(pairs, 1):
            waiting.append(pair)
            later = (len(pairs) - number) * self._anew
            trials = self._try(now, [tuple(waiting)], later, workers, anew=True)
            if self._can_anew and all(trial.gain < 0 for trial in trials):
                trials += self._try(now, [tuple(waiting)], later, workers)
            best = max(trials, key=lambda trial: trial.least_gain, default=None)
            last = number == len(pairs) and not self._further_missing
            if best is None or (best.least_gain <= ROUNDING and not (last and best.gain >= 0)):
                continue
            now, waiting = replace(best, missing=True), []
            yield now

    def _lacking(self, fabric: Fabric) -> list[Pair]:
        """Both switches of missing cables, as long as both have a free port."""
        free = [len(ports) for ports in free_ports(fabric)]
        few = few_hosts(fabric)
        lacking = [pair for pair in missing_cables(fabric) if not few[list(pair.switches)].any()]
        self.missing = sum(pair.usual - pair.cables for pair in lacking)
        pairs = []
        for pair in lacking:
            near, far = pair.switches
            for _ in range(min(pair.usual - pair.cables, free[near], free[far])):
                free[near], free[far] = free[near] - 1, free[far] - 1
                pairs.append((near, far))
        return pairs

    def _missing_pairs(self, most: int) -> list[Pair]:
        """So many of these, those that relieve most first where there are more."""
        fabric = self._first.fabric
        pairs = self._lacking(fabric)
        self._further_missing = len(pairs) > most
        if self._further_missing:
            every = np.unique(np.sort(np.array(pairs), axis=1), axis=0)
            course = relief(self._scored(fabric), pairs=every)
            order = {(low, high): rank for rank, (low, high) in enumerate(course.pairs.tolist())}
            pairs.sort(key=lambda pair: order.get((min(pair), max(pair)), len(order)))
        return pairs[:most]

    def _next(self, now: TriedCables, left: int, workers: Workers) -> TriedCables | None:
        """The cable, or the cables, that gain most for each of them; None where nothing does."""
        fabric = self._scored(now.fabric)
        helped = relief(fabric, self._demand)
        self._tell(self._look, self._work_of(left) - self._look)
        sets = [(pair,) for pair in self._kinds(fabric, helped)]
        later = self._work_of(left - 1)
        trials = self._try(now, [*sets, *_stars(fabric, helped, left)], later, workers)
        promising = sorted(trials, key=lambda trial: -trial.least_gain)[:_BEST]
        if self._engine == OWN_ENGINE and self._can_anew:
            again = [_ends(trial) for trial in promising]
            trials += self._try(now, again, later, workers, anew=True)
        best = _best(trials)
        if best is None and left > 1:
            two = [
                (*_ends(trial), pair)
                for trial in promising
                if len(trial.cables) == 1
                for pair in self._pairs(trial.fabric)[:_BEST]
            ]
            best = _best(self._try(now, two, self._work_of(left - 2), workers))
        return best

    def _pairs(self, fabric: Fabric) -> list[Pair]:
        scored = self._scored(fabric)
        return self._kinds(scored, relief(scored, self._demand))

    def _kinds(self, fabric: Fabric, helped: Relief) -> list[Pair]:
        """Pairs of switches that a cable may help, the most promising of every kind."""
        self.joinable = max(self.joinable, len(helped.pairs))
        return first_of_each_kind(fabric, helped.pairs, _TRIED)

    def _scored(self, fabric: Fabric) -> Fabric:
        """The fabric with tables: routes drawn by hashes are judged by shortest paths."""
        return fabric if fabric.tables is not None else compute(fabric, "minhop")

    def _try(
        self,
        now: TriedCables,
        sets: Sequence[tuple[Pair, ...]],
        later: float,
        workers: Workers,
        *,
        anew: bool = False,
    ) -> list[TriedCables]:
        """All of them; so much is left to do then."""
        each = self._work_of_trial(anew=anew)
        trials: list[TriedCables] = []
        tried = workers.map(partial(self._trials, now, anew), sets)
        for number, several in enumerate(tried, 1):
            trials += several
            self.tried += 1
            self._tell(each, (len(sets) - number) * each + later)
        return trials

    def _trials(self, now: TriedCables, anew: bool, pairs: tuple[Pair, ...]) -> list[TriedCables]:
        """The fabric with cables between pairs of switches, by each kind of tables."""
        joined, cables = with_cables(now.fabric, pairs)
        found = []
        for all_tables, route in self._ways(joined, pairs, anew):
            try:
                routed = route()
            except MissingError:
                raise
            except ContendError:
                continue
            outcome = self.purpose.quick(routed)
            gain, margin = gain_over(now.outcome, outcome)
            found.append(TriedCables(routed, outcome, tuple(cables), gain, margin, anew=all_tables))
        return found

    def _ways(
        self, joined: Fabric, pairs: tuple[Pair, ...], anew: bool
    ) -> Iterator[tuple[bool, Callable[[], Fabric]]]:
        """Ways to route a fabric with new cables: whether all is recomputed, and how."""
        own = self._engine == OWN_ENGINE and joined.tables is not None
        can = not own or _can_be_anew(joined)
        if own and not (anew and can):
            yield False, partial(_by_few_entries, joined, pairs, self._demand)
        if can and (anew or not own):
            yield True, partial(compute, joined, self._engine)
            if own and self._demand is not None:
                yield True, partial(fewest_collisions, joined, demand=self._demand)


def _stars(fabric: Fabric, helped: Relief, left: int) -> Iterator[tuple[Pair, ...]]:
    """Switches that are joined to several at once.

    Those without a cable are joined to the switches of a level whose messages meet most; those of a
    tree that have a port left for each switch below to all of them, alone and with others.
    """
    free = [len(ports) for ports in cable_ports(fabric)]
    level = levels_in_tree(fabric)
    kinds = np.zeros(fabric.switches, dtype=np.int64) if level is None else level
    others = np.argsort(-helped.pressure, kind="stable").tolist()
    bare = np.flatnonzero(bare_switches(fabric)).tolist()
    for hub in [switch for switch in bare if free[switch] > 1][:_HUBS] if left > 1 else ():
        for kind in sorted(set(kinds.tolist()) - ({0} if level is not None else set())):
            ends = [s for s in others if s != hub and kinds[s] == kind and free[s]]
            ends = ends[: min(free[hub], left)]
            if len(ends) > 1:
                yield tuple((min(hub, end), max(hub, end)) for end in ends)
    if level is None:
        return
    near, far = fabric.cable_from, fabric.cable_to
    rows: dict[int, list[tuple[Pair, ...]]] = defaultdict(list)
    for hub in [switch for switch in others if level[switch] > 1 and free[switch]]:
        around = np.unique(np.concatenate([far[near == hub], near[far == hub]]))
        below = around[level[around] == level[hub] - 1].tolist()
        if 1 < len(below) <= min(left, free[hub]) and all(free[end] for end in below):
            rows[int(level[hub])].append(tuple((min(hub, end), max(hub, end)) for end in below))
    for row in rows.values():
        # One of them, two, four ..., as far as ports and cables go.
        ends, taken = list[Pair](), Counter[int]()
        for count, pairs in enumerate(row, 1):
            taken.update(end for pair in pairs for end in pair)
            ends += pairs
            if len(ends) > left or any(free[end] < times for end, times in taken.items()):
                break
            if count & (count - 1) == 0:
                yield tuple(ends)


def _by_few_entries(joined: Fabric, pairs: tuple[Pair, ...], demand: Demand | None) -> Fabric:
    """The tables so far, but for entries of both ends of new cables."""
    ends = sorted({switch for pair in pairs for switch in pair})
    routed = table_steps(joined, demand=demand, switches=ends).fabric
    named = replace(tables_of(routed), engine=f"{OWN_ENGINE}, kept for new cables")
    return routed.replace(routes=named)


def _can_be_anew(fabric: Fabric) -> bool:
    """Whether tables are quick: every cable leads from a level to another, or there are few."""
    level = switch_levels(fabric)
    near, far = fabric.cable_from, fabric.cable_to
    few = fabric.hosts * fabric.cables <= _MOST_ANEW
    return few or bool((level[near] != level[far]).all())


def _ends(trial: TriedCables) -> tuple[Pair, ...]:
    return tuple((min(near, far), max(near, far)) for near, _, far, _ in trial.cables)


def _best(trials: Sequence[TriedCables]) -> TriedCables | None:
    """What gains most for each cable, as far as is sure; None where nothing surely gains."""
    best = max(trials, key=lambda trial: trial.least_gain, default=None)
    if best is None or best.least_gain <= ROUNDING:
        return None
    cables = len(best.cables)
    like = {
        trial.cables
        for trial in trials
        if len(trial.cables) == cables
        and abs(trial.gain - best.gain) <= max(trial.margin, best.margin)
    }
    return replace(best, alike=len(like) - 1)
