"""Routing engines side by side: what each makes of a fabric, or why it refuses it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ContendError, MissingError
from contend.base.progress import Progress, shown_progress
from contend.base.schema import PythonOnly, Seconds, Share, Shown
from contend.base.units import parse_seconds, valued
from contend.congestion import GpuCollectives, Simulation, gpu_collectives, simulate
from contend.cure.purpose import OWN_ENGINE
from contend.fabric import (
    Fabric,
    cables_per_pair,
    group_circle,
    is_tree,
    switch_distances,
    switch_levels,
)
from contend.routes import Ways, check_engine, compute, dependency_cycle, engine_names, hashes
from contend.traffic.placement import (
    HostChoice,
    HostNames,
    by_name,
    choose_hosts,
    seats_by_server,
)

PRESENT = "present"
"""What the tables are called that the fabric comes with."""
SPRAY = "spray"
IDEAL = "adaptive"
HASHED = {1: "ecmp", 4: "ecmp,flows=4", 16: "ecmp,flows=16"}
"""Hashes, by the number of queue pairs of a connection."""
_FLOWS = {engine: flows for flows, engine in HASHED.items()}
DETOURS = ("valiant", "ugal")
"""Routes that leave the shortest paths: in a tree, which has all of these, detours only take
bandwidth."""
BY_GROUPS = ",by=groups"
"""What the routes are asked for that count cables between groups first, as dragonflies do."""
_GROUPED = (SPRAY, *DETOURS)
_JOINED = 0.9
# For one fabric alone.
_NOT_COMPARED = ("fig1",)
# Messages of a pattern, or parts of such: more would take minutes.
_MOST_COUNTED = 1 << 29
# Of routes that are drawn anew for every sample all shifts of so many samples, and of these fewer
# where they have more messages than that: some seconds of one core. So many show enough of others.
_DRAWN_SHIFTS, _MOST_DRAWN, _ENOUGH = 4, 1 << 26, 20
# A round that is solved as a whole costs as much as so many.
_SOLVED = 1 << 7
_PRECISION = 0.01
# An entry of a table takes as long as so many messages whose ways are drawn, one of OpenSM's, which
# gets the fabric from ibsim, as so many; a message that splits among many ways as so many.
_TABLE, _OPENSM, _SPLIT = 8, 128, 32
# On several lanes contend's own tables take so many times as long, and so do detours and messages
# that split as is best beside the others.
_LANES, _BEYOND = 4, 3
_BY_OPENSM = "opensm:"
_SEEN_FROM = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class RoutedBy:
    """How an engine routes a fabric; bandwidths are shares of a link's rate."""

    engine: str
    """Engine with its options; ``present`` for the tables that the fabric came with."""
    refusal: str | None = None
    """Reason why it does not route the fabric, or not so that all messages arrive; null where it
    does."""
    error: PythonOnly[ContendError | None] = None
    """Error that says so."""
    bisect: PythonOnly[Simulation | None] = None
    """Random pairs of hosts by its tables; None where it refuses."""
    shifts: PythonOnly[Simulation | None] = None
    """All hosts by every distance in turn, in the fabric's order of hosts; None where it refuses,
    or that takes long: messages split as is best beside the others, or many are drawn."""
    bandwidth: Share | None = None
    """What random pairs get on average; null, as what follows, where it refuses."""
    ci95: tuple[Share, Share] | None = None
    """Both ends of its 95 % interval."""
    worst_shift: Share | None = None
    """What hosts get in the worst shift until its last message has arrived, all links counted
    alike; null also where shifts would take long to count."""
    alltoall_bound: Share | None = None
    """What an all-to-all gets at most: the time of the slowest port over that of the hottest
    channel, since no schedule of its messages is faster; null where `worst_shift` is."""
    gpu: GpuCollectives | None = None
    """What GPUs beside the adapters get in collectives; null if hosts do not share servers of
    several rails, or where that would take long to count."""
    deadlock_free: bool | None = None
    """Whether on none of `lanes` channels wait for each other in a circle, else a lossless network
    can lock up; null where there are no tables."""
    lanes: int | None = None
    """Number of virtual lanes that the tables say they use; null where there are none."""
    seconds: Seconds | None = None
    """Seconds that computing the tables took; null for present ones."""


@dataclass(frozen=True, eq=False)
class Engines(Shown, told="engines_document"):
    """Engines side by side."""

    fabric: Fabric
    """The fabric that they route."""
    engines: tuple[RoutedBy, ...]
    """Engines, the best first; those that refuse last, in the order in which they were asked."""

    @property
    def hashes(self) -> bool:
        """Whether its switches are Ethernet's, which hash or spray: they have no such tables."""
        return hashes(self.fabric)


def engines(
    fabric: Fabric,
    engines: Sequence[str] = (),
    *,
    hosts: HostChoice | None = None,
    limit: float | str = 60.0,
    seed: int = 1,
    progress: bool | Progress = False,
) -> Engines:
    """Computes a fabric's tables with one engine after the other, and judges them alike.

    Args:
        fabric: with its present tables, if any, which are judged too.
        engines: names with their options; none: all that there are, OpenSM's if it is installed.
            Those that go beyond shortest paths are left out in trees; where there are groups of
            switches, routes that count cables between these first are among them.
        hosts: that take part, as `contend.simulate` takes them; None is all.
        limit: time after which an engine of OpenSM is given up, in seconds or such as ``5min``.
        seed: of every random choice, the same for all.
        progress: True shows a bar; a function is told how many engines have had their turn, of how
            many.

    Raises:
        UsageError: there is no such engine.
    """
    for engine in engines:
        check_engine(engine)
    asked = engines or engines_for(fabric)
    chosen = by_name(fabric)
    if hosts is not None:
        chosen = chosen[np.isin(chosen, choose_hosts(hosts, fabric, HostNames(fabric)))]
    seats, _ = seats_by_server(fabric, chosen)
    judge = partial(_judge, hosts=hosts, seats=seats, seed=seed)
    judged = []
    # Those that are drawn first: what others take is guessed by how long these do.
    order = sorted(asked, key=lambda engine: engine not in _FLOWS)
    work = np.cumsum([0, *(_work(engine, fabric, len(chosen)) for engine in order)])
    with shown_progress(progress, f"routing {fabric.name}", "") as tell:
        if fabric.routes is not None:
            judged.append(judge(PRESENT, lambda: fabric))
        for number, engine in enumerate(order):

            def within(
                share: float, begin: int = work[number], end: int = work[number + 1]
            ) -> None:
                tell(len(order) * (begin + share * (end - begin)) / work[-1], len(order))

            within(0)
            limited = engine
            if engine.startswith(_BY_OPENSM) and "limit=" not in engine:
                limited = f"{engine},limit={valued(limit, parse_seconds):g}"
            try:
                judged.append(judge(engine, partial(compute, fabric, limited), tell=within))
            except MissingError as error:
                judged.append(RoutedBy(engine=engine, refusal=str(error), error=error))
    places = [PRESENT, *asked]
    judged.sort(key=lambda one: (-(one.bandwidth or 0.0), places.index(one.engine)))
    return Engines(fabric, tuple(judged))


def _work(engine: str, fabric: Fabric, hosts: int) -> int:
    """How much it is to route and to judge, roughly, in parts of messages whose ways are drawn."""
    tree = _is_tree(fabric)
    if not tree and engine.startswith((*_GROUPED, IDEAL)):
        return _SPLIT * hosts**2 * (1 if engine.startswith(SPRAY) else _BEYOND)
    if engine not in _FLOWS:
        if engine.startswith(OWN_ENGINE) and not tree:
            # It looks again and again which cables every destination's ways lead over.
            entries = fabric.hosts * fabric.cables * _mean_distance(fabric)
            return round(_TABLE * entries * (_LANES if "lanes=" in engine else 1))
        entry = _OPENSM if engine.startswith(_BY_OPENSM) else _TABLE
        return entry * fabric.hosts * fabric.switches
    parts = _FLOWS[engine] * hosts**2
    return _MOST_DRAWN if parts > _MOST_COUNTED else 2 * parts * min(_few(parts), _DRAWN_SHIFTS)


def _mean_distance(fabric: Fabric) -> float:
    """Cables between two switches on the shortest way, on average, seen from a few."""
    few = range(0, fabric.switches, -(-fabric.switches // _SEEN_FROM))
    away = switch_distances(fabric, few)
    return float(away[np.isfinite(away)].mean())


def engines_for(fabric: Fabric) -> list[str]:
    """Engines that are tried where none is asked for, each with its options."""
    tree = _is_tree(fabric)
    left_out = (*_NOT_COMPARED, *(DETOURS if tree else ()))
    names = [name for name in engine_names() if name not in left_out]
    own = [names[0], f"{names[0]},lanes=8", *names[1:]]
    grouped = _GROUPED if not tree and _has_groups(fabric) else ()
    more = (*HASHED.values(), *(f"{name}{BY_GROUPS}" for name in grouped))
    return [*own, *(engine for engine in more if engine not in own)]


def _is_tree(fabric: Fabric) -> bool:
    low, high, _ = cables_per_pair(fabric)
    return not len(low) or is_tree(switch_levels(fabric), low, high)


def _has_groups(fabric: Fabric) -> bool:
    """Whether switches form groups of which nearly every two are joined, as a dragonfly's are."""
    groups = group_circle(fabric)
    if groups is None:
        return False
    low, high, _ = cables_per_pair(fabric)
    ends = np.sort(groups[np.stack([low, high])], axis=0)
    joined = np.unique(ends[:, ends[0] != ends[1]], axis=1).shape[1]
    count = int(groups.max()) + 1
    return bool(joined >= _JOINED * count * (count - 1) / 2)


def _shifts(
    routed: Fabric,
    hosts: HostChoice | None,
    ranks: int,
    seed: int,
    tell: Callable[[float], None] | None,
) -> Simulation | None:
    """All hosts by every distance in turn; None where that would take long.

    Of what is drawn it tells how far it is, as half of an engine's work.
    """
    assert routed.routes is not None
    parts = routed.routes.flows * ranks**2
    if routed.routes.ways & Ways.TOGETHER or parts > _MOST_COUNTED:
        return None
    together = partial(simulate, routed, "shifts", placement="linear", hosts=hosts, seed=seed)
    if not routed.draws_routes or tell is None:
        return together()
    few = min(_few(parts), _DRAWN_SHIFTS)
    return together(samples=few, progress=lambda done, of: tell(done / of / 2))


def _few(parts: int) -> int:
    """How many samples of so many parts of messages take some seconds; at least one."""
    return max(_MOST_DRAWN // parts, 1)


def _on_rails(routed: Fabric, seats: NDArray[np.uint32], seed: int) -> GpuCollectives | None:
    """Collectives of GPUs on servers of several rails; None where that would take long."""
    assert routed.routes is not None
    each = _SOLVED if routed.routes.ways & Ways.TOGETHER else routed.routes.flows
    parts = each * seats.size**2
    if min(seats.shape) < 2 or parts > _MOST_COUNTED:
        return None
    few = _few(parts) if routed.draws_routes else _ENOUGH
    enough = {"precision": _PRECISION} if few >= _ENOUGH else {"samples": few}
    return gpu_collectives(routed, seats, count=partial(simulate, seed=seed, **enough))


def _alltoall_bound(shifts: Simulation) -> float:
    # Ports of hosts are not counted where no two messages of a round meet there.
    slowness = 1 / shifts.relative_rates[-2 * shifts.fabric.hosts :]
    through_port = (shifts.ranks - 1) * float(slowness.max(initial=1.0))
    hottest = float(shifts.channel_heat.max()) * shifts.rounds.count
    return through_port / max(hottest, through_port, 1)


def _judge(
    engine: str,
    route: Callable[[], Fabric],
    *,
    hosts: HostChoice | None,
    seats: NDArray[np.uint32],
    seed: int,
    tell: Callable[[float], None] | None = None,
) -> RoutedBy:
    began = time.perf_counter()
    try:
        routed = route()
        seconds = None if engine == PRESENT else time.perf_counter() - began
        assert routed.routes is not None
        tables = routed.routes.tables is not None
        bisect = simulate(routed, "bisect", hosts=hosts, seed=seed)
        shifts = _shifts(routed, hosts, bisect.ranks, seed, tell)
        slowest = None if shifts is None else float(shifts.round_max_congestion.max())
        return RoutedBy(
            engine=engine,
            bisect=bisect,
            shifts=shifts,
            bandwidth=bisect.effective_bandwidth.mean,
            ci95=bisect.effective_bandwidth.ci95,
            worst_shift=None if slowest is None else 1 / slowest,
            alltoall_bound=None if shifts is None else _alltoall_bound(shifts),
            gpu=_on_rails(routed, seats, seed),
            deadlock_free=not dependency_cycle(routed)[1] if tables else None,
            lanes=routed.routes.lanes if tables else None,
            seconds=seconds,
        )
    except MissingError:
        raise
    except ContendError as error:
        return RoutedBy(engine=engine, refusal=str(error), error=error)
