"""Which free ports to join so that messages meet less, one cable after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from contend.congestion import (
    Communicator,
    Simulation,
    Workers,
    agree,
    core_threads,
    half_width,
    simulate,
)
from contend.cure.improvement import (
    ROUNDING,
    Addition,
    Improvement,
    NewCable,
    Pair,
    first_of_each_kind,
    levels_in_tree,
    relief,
)
from contend.cure.tables import EVEN_PATTERNS, demand_of
from contend.errors import ContendError, MissingError, UsageError
from contend.fabric import (
    Cable,
    Fabric,
    free_ports,
    idle_switches,
    switch_levels,
    with_cables,
)
from contend.placement import parse as parse_placement
from contend.progress import Progress, shown_progress
from contend.routes import (
    Demand,
    compute,
    fewest_collisions,
    table_steps,
    tables_of,
)

_OWN_ENGINE = "contend"
# Kinds of pairs that are tried for each cable, and those that a second cable is tried beside.
_TRIED, _FIRST_OF_TWO = 12, 4
# Switches that carry nothing, of which each is joined to others.
_SPARE = 2
# Other fabrics than trees are routed anew with every cable up to so many hosts times cables.
_MOST_ANEW = 1 << 20


def improve(
    fabric: Fabric,
    *,
    cables: int = 4,
    pattern: str = "bisect",
    placement: str = "random",
    engine: str = _OWN_ENGINE,
    ports: int | None = None,
    samples: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress = False,
    communicator: Communicator | None = None,
) -> Improvement:
    """Chooses which free ports to join, the cable that gains most first, then the next beside it.

    Pairs of switches are ranked by what routes meet on their way (see `Relief`); of the first that
    are not alike each is tried: tables for the fabric with it, and a simulation of the same random
    patterns with and without. By the engine ``contend`` the tables before are kept but for entries
    of the switches at its ends, and in trees and small fabrics also recomputed: whichever is
    better. A switch that carries nothing is joined to several others at once; where no cable gains
    alone, two that do so together are looked for. The gains are then counted with other patterns
    than they were chosen by.

    Args:
        fabric: whose routes count only for `Improvement.present`.
        cables: how many there are to spend.
        pattern: what is to get more bandwidth; see `contend.pattern.FORMS`.
        placement: which rank runs on which host.
        engine: that computes routes, before and after.
        ports: that every switch has at least, where the file does not tell.
        samples: that the figures are counted by; None: as many as `simulate` needs.
        seed: of every random choice.
        threads: how many fabrics are tried at a time; None: as many as there are cores.
        progress: True shows a bar; a function is told how many fabrics are tried, of how many it
            may come to.
        communicator: shares out over MPI processes what is tried, as in `contend.simulate`.

    Raises:
        OtherProcessError: another process of the communicator failed.
        UsageError: no such engine, pattern or placement, or they do not fit the fabric.
        MissingError: the engine is not installed.
    """
    if cables < 1:
        raise UsageError(f"cables: expected at least 1, got {cables}")
    wide = fabric
    if ports is not None:
        wider = np.maximum(fabric.switch_ports.astype(np.int64), ports)
        wide = fabric.replace(switch_ports=wider.astype(np.uint16))
    question = _Question(pattern, placement, samples, seed, communicator)
    with (
        shown_progress(progress, fabric.name, "fabrics") as tell,
        core_threads(threads, communicator) as workers,
    ):
        search = agree(communicator, lambda: _Search(wide, question, engine, tell))
        chosen = search.run(cables, workers)
    after = question.full(chosen[-1].fabric)
    counted = [question.count(each.fabric, after.samples) for each in chosen[:-1]] + [after]
    additions = [
        Addition(
            cables=_new_cables(chosen[-1].fabric, each.cables),
            gain=gain,
            margin=margin,
            simulation=now,
            bandwidth=now.effective_bandwidth.mean,
            rate_Bps=now.effective_bandwidth.mean_Bps,
            as_good=each.alike,
            tables="anew" if each.anew else "kept",
        )
        for each, before, now in zip(chosen[1:], counted, counted[1:], strict=False)
        for gain, margin in [_gain(before, now)]
    ]
    present = None if fabric.routes is None else question.count(fabric, after.samples)
    gain, margin = _gain(counted[0], after)
    name = f"{fabric.name} with {search.added}" if search.added else fabric.name
    return Improvement(
        fabric=chosen[-1].fabric.replace(name=name),
        pattern=pattern,
        samples=after.samples,
        engine=engine,
        simulation_before=counted[0],
        simulation_present=present,
        present=None if present is None else present.effective_bandwidth.mean,
        before=counted[0].effective_bandwidth.mean,
        after=after.effective_bandwidth.mean,
        gain=gain,
        margin=margin,
        bound=counted[0].random_pairs_bound if pattern == "bisect" else None,
        asked=cables,
        free_ports=sum(map(len, free_ports(wide))),
        joinable=search.joinable,
        tried=search.tried,
        additions=tuple(additions),
    )


def _new_cables(fabric: Fabric, cables: Sequence[Cable]) -> tuple[NewCable, ...]:
    """Cables of a fabric that has them, by the names of their ends."""
    number = {cable: number for number, cable in enumerate(fabric.cable_ends())}
    label = fabric.switch_label
    return tuple(
        NewCable(
            number=number[cable],
            ends=(f"{label[near]}:{near_port}", f"{label[far]}:{far_port}"),
            rate=fabric.rates[fabric.cable_rate[number[cable]]],
        )
        for cable in cables
        for near, near_port, far, far_port in [cable]
    )


def _gain(before: Simulation, after: Simulation) -> tuple[float, float]:
    """What the same patterns gain in the mean, and half of its 95 % interval."""
    differences = after.bandwidth - before.bandwidth
    return float(differences.mean()), 0.0 if after.exhaustive else half_width(differences)


@dataclass(frozen=True)
class _Question:
    """What is to get more bandwidth."""

    pattern: str
    placement: str
    samples: int | None
    seed: int
    communicator: Communicator | None

    # Messages that cables are chosen by, and the fewest patterns of them: others than those that
    # count in the end.
    _CHOOSING, _FEWEST = 1 << 18, 200

    def demand(self, fabric: Fabric) -> Demand | None:
        """Who sends how much to whom; None where all pairs do alike."""
        if self.pattern in EVEN_PATTERNS or parse_placement(self.placement, fabric).random:
            return None
        return demand_of(fabric, self.pattern, self.placement, self.seed)

    def quick(self, fabric: Fabric) -> Simulation:
        """What cables are chosen by. On one thread: fabrics are tried side by side."""
        seed = (self.seed + 1) % 2**64
        return simulate(
            fabric,
            self.pattern,
            placement=self.placement,
            samples=max(self._FEWEST, self._CHOOSING // fabric.hosts),
            seed=seed,
            threads=1,
        )

    def full(self, fabric: Fabric) -> Simulation:
        """What ``contend simulate`` says, counted by all processes together; `count` likewise."""
        return self.count(fabric, self.samples)

    def count(self, fabric: Fabric, samples: int | None) -> Simulation:
        return simulate(
            fabric,
            self.pattern,
            placement=self.placement,
            samples=samples,
            seed=self.seed,
            communicator=self.communicator,
        )


@dataclass(frozen=True, eq=False)
class _Trial:
    """A fabric with more cables than the one before it, with routes."""

    fabric: Fabric
    counted: Simulation
    cables: tuple[Cable, ...] = ()
    gain: float = 0.0
    margin: float = 0.0
    alike: int = 0
    anew: bool = True

    @property
    def least_gain(self) -> float:
        """What each of its cables gains at least."""
        return (self.gain - self.margin) / max(len(self.cables), 1)


class _Search:
    """Tries cables between switches of a fabric that has some already."""

    def __init__(
        self,
        fabric: Fabric,
        question: _Question,
        engine: str,
        progress: Progress,
    ) -> None:
        self._question = question
        self._engine = engine
        self._progress = progress
        self._demand = question.demand(fabric)
        self._first = self._without_more(fabric)
        self.joinable = 0
        self.tried = 0
        self.added = ""

    def run(self, cables: int, workers: Workers) -> list[_Trial]:
        """The fabric as it is, then with one addition more each time, as long as that gains."""
        chosen = [self._first]
        spent = 0
        while spent < cables:
            best = self._next(chosen[-1], cables - spent, workers)
            if best is None:
                break
            chosen.append(best)
            spent += len(best.cables)
        self.added = f"{spent} more cable{'s' if spent > 1 else ''}" if spent else ""
        self._progress(self.tried, self.tried)
        return chosen

    def _without_more(self, fabric: Fabric) -> _Trial:
        routed = [self._routed(fabric, None)]
        if self._demand is not None and self._engine == _OWN_ENGINE:
            routed.append(self._routed(fabric, self._demand))
        return max(
            (_Trial(each, self._question.quick(each)) for each in routed),
            key=lambda trial: trial.counted.effective_bandwidth.mean,
        )

    def _routed(self, fabric: Fabric, demand: Demand | None) -> Fabric:
        if demand is None:
            return compute(fabric, self._engine)
        return fewest_collisions(fabric, demand=demand)

    def _next(self, now: _Trial, left: int, workers: Workers) -> _Trial | None:
        """The cable, or the cables, that gain most for each of them; None where nothing does."""
        sets = [(pair,) for pair in self._pairs(now)]
        trials = self._try(now, [*sets, *self._stars(now, left)], left, workers)
        best = _best(trials)
        if best is None and left > 1:
            promising = sorted(trials, key=lambda trial: -trial.least_gain)[:_FIRST_OF_TWO]
            two = [
                (*_ends(trial), pair)
                for trial in promising
                if len(trial.cables) == 1
                for pair in self._pairs(trial)[:_FIRST_OF_TWO]
            ]
            best = _best(self._try(now, two, left // 2, workers))
        return best

    def _pairs(self, now: _Trial) -> list[Pair]:
        """Pairs of switches that a cable may help, the most promising of every kind."""
        fabric = self._scored(now.fabric)
        free = np.array([len(ports) > 0 for ports in free_ports(fabric)])
        helped = relief(fabric, free, self._demand)
        self.joinable = max(self.joinable, len(helped.pairs))
        return first_of_each_kind(fabric, helped.pairs, _TRIED)

    def _scored(self, fabric: Fabric) -> Fabric:
        """The fabric with tables: routes drawn by hashes are judged by shortest paths."""
        return fabric if fabric.tables is not None else compute(fabric, "minhop")

    def _stars(self, now: _Trial, left: int) -> Iterator[tuple[Pair, ...]]:
        """Switches that carry nothing, each joined to several whose messages meet most."""
        fabric = self._scored(now.fabric)
        free = [len(ports) for ports in free_ports(fabric)]
        spare = [
            switch for switch in np.flatnonzero(idle_switches(fabric)).tolist() if free[switch] > 1
        ]
        if not spare or left < 2:
            return
        pressure = relief(fabric, np.zeros(fabric.switches, dtype=bool), self._demand).pressure
        level = levels_in_tree(fabric)
        kinds = np.zeros(fabric.switches, dtype=np.int64) if level is None else level
        others = np.argsort(-pressure, kind="stable").tolist()
        for hub in spare[:_SPARE]:
            for kind in sorted(set(kinds.tolist()) - ({0} if level is not None else set())):
                ends = [s for s in others if s != hub and kinds[s] == kind and free[s]]
                ends = ends[: min(free[hub], left)]
                if len(ends) > 1:
                    yield tuple((min(hub, end), max(hub, end)) for end in ends)

    def _try(
        self, now: _Trial, sets: Sequence[tuple[Pair, ...]], times: int, workers: Workers
    ) -> list[_Trial]:
        """All of them; as many may be tried so many times in all."""
        total = self.tried + len(sets) * times
        trials: list[_Trial] = []
        for several in workers.map(partial(self._trials, now), sets):
            trials += several
            self.tried += 1
            self._progress(self.tried, total)
        return trials

    def _trials(self, now: _Trial, pairs: tuple[Pair, ...]) -> list[_Trial]:
        """The fabric with cables between pairs of switches, by each kind of tables."""
        joined, cables = with_cables(now.fabric, pairs)
        found = []
        for anew, route in self._ways(joined, pairs):
            try:
                routed = route()
            except MissingError:
                raise
            except ContendError:
                continue
            counted = self._question.quick(routed)
            gain, margin = _gain(now.counted, counted)
            found.append(_Trial(routed, counted, tuple(cables), gain, margin, anew=anew))
        return found

    def _ways(
        self, joined: Fabric, pairs: tuple[Pair, ...]
    ) -> Iterator[tuple[bool, Callable[[], Fabric]]]:
        """Ways to route a fabric with new cables: whether all is recomputed, and how."""
        own = self._engine == _OWN_ENGINE
        if own and joined.tables is not None:
            yield False, partial(_by_few_entries, joined, pairs, self._demand)
        small = joined.hosts * joined.cables <= _MOST_ANEW
        if not own or small or _stands_in_levels(joined):
            yield True, partial(compute, joined, self._engine)
            if own and self._demand is not None:
                yield True, partial(fewest_collisions, joined, demand=self._demand)


def _by_few_entries(joined: Fabric, pairs: tuple[Pair, ...], demand: Demand | None) -> Fabric:
    """The tables so far, but for entries of both ends of new cables."""
    ends = sorted({switch for pair in pairs for switch in pair})
    routed = table_steps(joined, demand=demand, switches=ends).fabric
    named = replace(tables_of(routed), engine=f"{_OWN_ENGINE}, kept for new cables")
    return routed.replace(routes=named)


def _stands_in_levels(fabric: Fabric) -> bool:
    """Whether every cable leads from a level to another, so that engines for trees take it."""
    level = switch_levels(fabric)
    near, far = fabric.cable_from, fabric.cable_to
    return bool((level[near] != level[far]).all())


def _ends(trial: _Trial) -> tuple[Pair, ...]:
    return tuple((min(near, far), max(near, far)) for near, _, far, _ in trial.cables)


def _best(trials: Sequence[_Trial]) -> _Trial | None:
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
