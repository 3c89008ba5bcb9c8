"""Routing engines: forwarding tables for a fabric that has none, or others than it has."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import MissingError, UsageError
from contend.base.progress import step
from contend.base.units import format_bytes, nearest
from contend.fabric import Fabric, capacities
from contend.routes import opensm
from contend.routes.addresses import table_size, targets_of, with_addresses, with_lmc
from contend.routes.multipath.split import (
    IdealRoutes,
    SprayedRoutes,
    UgalRoutes,
    ValiantRoutes,
    group_of_switch,
)
from contend.routes.multipath.without_tables import HashedRoutes
from contend.routes.options import split
from contend.routes.others import with_entries_kept
from contend.routes.routes import Routes, tables_of
from contend.routes.table_engines import EngineJob, dmodk, dor, fig1, minhop, updn
from contend.routes.tables import MOST_LANES, NO_PORT, ForwardingTables

Demand = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.floating]]
"""Who sends how much to whom: hosts, the hosts that they send to, and how much, in any unit, each
of shape [pairs]."""
# Queue pairs of a connection; beyond that they take each other's memory on the adapter.
_MOST_FLOWS = 256
_MOST_DEMAND = 1 << 10


@dataclass(frozen=True)
class _Engine:
    """What an engine does, in one line, how it makes routes, and which options it takes."""

    about: str
    routes: Callable[[EngineJob], Routes]
    options: tuple[str, ...] = ()


def _ecmp(job: EngineJob) -> Routes:
    flows, seed = job.options.get("flows", "1"), job.options.get("seed", "own")
    if not re.fullmatch(r"[0-9]{1,4}", flows) or not 1 <= int(flows) <= _MOST_FLOWS:
        raise UsageError(f"engine ecmp: flows is a number from 1 to {_MOST_FLOWS}, not {flows!r}")
    if seed not in ("own", "shared"):
        raise UsageError(f"engine ecmp: seed is own or shared, not {seed!r}")
    return HashedRoutes(flows=int(flows), alike=seed == "shared")


def _spray(job: EngineJob) -> Routes:
    return SprayedRoutes(by_groups=_by_groups(job, "spray"))


def _valiant(job: EngineJob) -> Routes:
    return ValiantRoutes(by_groups=_by_groups(job, "valiant"))


def _ugal(job: EngineJob) -> Routes:
    return UgalRoutes(by_groups=_by_groups(job, "ugal"))


def _by_groups(job: EngineJob, engine: str) -> bool:
    by = job.options.get("by", "cables")
    if by not in ("cables", "groups"):
        raise UsageError(f"engine {engine}: by is cables or groups, not {by!r}")
    # A fabric without groups is refused here and not when somebody simulates it.
    group_of_switch(job.fabric, by_groups=by == "groups")
    return by == "groups"


def _adaptive(job: EngineJob) -> Routes:
    return IdealRoutes()


def _contend(job: EngineJob) -> ForwardingTables:
    lanes = job.options.get("lanes", "1")
    if not re.fullmatch(r"[0-9]{1,2}", lanes) or not 1 <= int(lanes) <= MOST_LANES:
        raise UsageError(f"engine contend: lanes is a number from 1 to {MOST_LANES}, not {lanes!r}")
    return _fewest_collisions(job.fabric, job.targets, int(lanes), None)


def _fewest_collisions(
    fabric: Fabric, targets: _core.Targets, lanes: int, demand: Demand | None
) -> ForwardingTables:
    sent = np.zeros(0, dtype=np.uint32) if demand is None else _by_switch(fabric, demand)
    ports, lane = _core.fewest_collisions(fabric.core, targets, _cable_costs(fabric), sent, lanes)
    return ForwardingTables(ports, lane=lane if lane.any() else None)


def _cable_costs(fabric: Fabric) -> NDArray[np.uint32]:
    """How much longer a message takes on each cable than on the fastest, in eighths."""
    capacity = capacities(fabric).cable
    if len(capacity) == 0 or (capacity == capacity[0]).all():
        return np.zeros(0, dtype=np.uint32)
    costs: NDArray[np.uint32] = np.rint(8 * capacity.max() / capacity).astype(np.uint32)
    return costs


def _by_switch(fabric: Fabric, demand: Demand) -> NDArray[np.uint32]:
    """What the hosts of every switch send to every host, shape [hosts, switches]."""
    source, target, much = demand
    place = target.astype(np.int64) * fabric.switches + fabric.host_switch[source]
    sent = np.bincount(place, weights=much, minlength=fabric.hosts * fabric.switches)
    # Products with what all others send stay far within 64 bits.
    scale = _MOST_DEMAND / max(float(sent.max(initial=0)), 1e-300)
    scaled: NDArray[np.uint32] = np.rint(sent * scale).astype(np.uint32)
    return scaled


_ENGINES = {
    "contend": _Engine(
        "fewest collisions between random pairs, free of deadlock on any fabric",
        _contend,
        ("lanes", "lmc"),
    ),
    "minhop": _Engine("shortest paths, balanced over ports; the same tables as OpenSM's", minhop),
    "updn": _Engine(
        "shortest paths that never go up after down; the same tables as OpenSM's",
        updn,
        ("roots",),
    ),
    "dor": _Engine("dimension order on meshes and tori; the same tables as OpenSM's", dor),
    "ecmp": _Engine(
        "hashed shortest paths of Ethernet fabrics, drawn anew for every sample; no tables",
        _ecmp,
        ("flows", "seed"),
    ),
    "spray": _Engine(
        "every packet over any shortest path, as switches that spray do; no tables",
        _spray,
        ("by",),
    ),
    "valiant": _Engine(
        "every packet by way of a random switch, as on dragonflies, tori and other networks that "
        "are no trees; no tables",
        _valiant,
        ("by",),
    ),
    "ugal": _Engine(
        "every packet by a shortest path or by way of a random switch, whichever is less busy; no "
        "tables",
        _ugal,
        ("by",),
    ),
    "adaptive": _Engine(
        "every message over its shortest paths, in the proportions that are best for all of these; "
        "no tables",
        _adaptive,
    ),
    "dmodk": _Engine("destination-mod-k on fat trees, the closed form", dmodk),
    "fig1": _Engine("the 16-node figure of Hoefler et al. 2008, dmodk by port", fig1),
}


def engine_names() -> dict[str, str]:
    """Every engine with what it does in one line; ``opensm:NAME`` runs the real OpenSM."""
    return {name: engine.about for name, engine in _ENGINES.items()} | {
        f"opensm:{name}": about for name, about in opensm.engine_names().items()
    }


def check_engine(engine: str) -> None:
    """Refuses an engine that does not exist; its options are not looked at.

    Raises:
        UsageError: there is no engine of this name.
    """
    name, known = engine.partition(",")[0], engine_names()
    if name not in known:
        raise UsageError(f"no engine {name!r} among {', '.join(known)}{nearest(name, known)}")


def hashes(fabric: Fabric) -> bool:
    """Whether its switches are Ethernet's, which hash or spray: they take no tables."""
    return any(label.endswith("GbE") for label in fabric.rates)


def default_engine(fabric: Fabric) -> str:
    """The engine whose routes a plan is judged by where nobody names one: what its switches do."""
    return "ecmp" if hashes(fabric) else "contend"


def compute(fabric: Fabric, engine: str) -> Fabric:
    """The fabric with the routes that an engine computes for it.

    Args:
        fabric: with LIDs, which are kept; where some are missing or used twice, all are given out
            anew. Under ``opensm:`` it is OpenSM that gives them out.
        engine: one of `engine_names`, with options after commas: ``updn,roots=FILE``,
            ``opensm:minhop,lmc=2``.

    Raises:
        UsageError: when there is no such engine or it can't route this fabric.
        InputError: when the file of roots is not what it should be.
        MissingError: when OpenSM is asked for and not installed, or memory is short.
        ShortfallError: when OpenSM fails.
    """
    if engine.startswith("opensm:"):
        routed = opensm.route(fabric, engine.removeprefix("opensm:"))
        return with_entries_kept(fabric, routed)
    check_engine(engine)
    name = engine.partition(",")[0]
    _, options = split(engine, _ENGINES[name].options)
    addressed = with_addresses(fabric)
    if "lmc" in options:
        addressed = with_lmc(addressed, options["lmc"])
    size = addressed.switches * table_size(addressed) * 2
    try:
        with step(f"routing {fabric.name} by {engine}"):
            routes = _ENGINES[name].routes(EngineJob(addressed, options))
    except MemoryError:
        raise MissingError(f"not enough memory for tables of {format_bytes(size)}") from None
    routed = addressed.replace(routes=replace(routes, engine=engine))
    return with_entries_kept(fabric, routed)


def fewest_collisions(fabric: Fabric, *, lanes: int = 1, demand: Demand | None = None) -> Fabric:
    """The fabric with the routes of the engine ``contend``, for traffic that is known.

    Their engine says that they were made for traffic where `demand` is given.

    Args:
        fabric: as in `compute`.
        lanes: how many virtual lanes may be used.
        demand: who sends how much to whom; None: all hosts the same to all others.

    Raises:
        UsageError: no such number of lanes.
    """
    addressed = with_addresses(fabric)
    with step(f"routing {fabric.name}"):
        tables = _fewest_collisions(addressed, targets_of(addressed), lanes, demand)
    engine = f"contend,lanes={lanes}" if lanes > 1 else "contend"
    engine += "" if demand is None else ", made for the traffic"
    routed = addressed.replace(routes=replace(tables, engine=engine))
    return with_entries_kept(fabric, routed)


@dataclass(frozen=True, eq=False)
class TableSteps:
    """Entries of tables that run, to be changed one after the other."""

    fabric: Fabric
    """Fabric with the tables after all of them."""
    at: NDArray[np.int64]
    """Switch of every step, shape [steps]."""
    address: NDArray[np.int64]
    """Address of the entry, shape [steps]."""
    before: NDArray[np.int64]
    """Port of the entry so far, shape [steps]."""
    after: NDArray[np.int64]
    """Port of the entry from then on, shape [steps]."""


def table_steps(
    fabric: Fabric,
    *,
    changes: int | None = None,
    demand: Demand | None = None,
    switches: Sequence[int] | None = None,
) -> TableSteps:
    """Improves the tables of a fabric by few entries, those first that save most collisions.

    After each step, and on the way back, all routes arrive and no channels wait for each other in
    a circle, not even with what is still under way by former entries.

    Args:
        fabric: with its tables.
        changes: how many entries may change; None: all that save anything.
        demand: as in `fewest_collisions`.
        switches: whose entries may change; None: those of all.

    Raises:
        UsageError: no tables, hosts without LIDs of their own, tables by which routes do not
            arrive, or whose channels wait for each other in a circle already.
    """
    ports = tables_of(fabric).ports
    if with_addresses(fabric) is not fabric:
        raise UsageError(f"{fabric.name}: some hosts have no LID of their own in the tables")
    targets = targets_of(fabric)
    size = table_size(fabric)
    fitting = np.full((fabric.switches, size), NO_PORT, dtype=np.uint16)
    width = min(size, ports.shape[1])
    fitting[:, :width] = ports[:, :width]
    sent = np.zeros(0, dtype=np.uint32) if demand is None else _by_switch(fabric, demand)
    most = fitting.size if changes is None else changes
    may_change = np.zeros(0 if switches is None else fabric.switches, dtype=np.uint8)
    if switches is not None:
        may_change[list(switches)] = 1
    with step(f"changing entries of {fabric.name}"):
        steps = _core.table_steps(
            fabric.core, targets, fitting, _cable_costs(fabric), sent, most, may_change
        )
    at, address, before, after = steps.astype(np.int64).T
    changed = ports.copy()
    changed[at, address] = after
    engine = f"{tables_of(fabric).engine or 'tables'} with {len(at)} changes"
    routed = fabric.replace(routes=ForwardingTables(changed, engine=engine))
    return TableSteps(routed, at, address, before, after)
