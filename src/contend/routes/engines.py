"""Routing engines: forwarding tables for a fabric that has none, or others than it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.routes import opensm
from contend.routes.forwarding import ForwardingTables

_Tables = NDArray[np.uint16]


@dataclass(frozen=True)
class Engine:
    """A routing engine: what it does, in one line, and the tables [switches, addresses] it makes."""

    about: str
    tables: Callable[[Fabric, _core.Targets], _Tables]


def _minhop(fabric: Fabric, targets: _core.Targets) -> _Tables:
    return _core.minhop(fabric.core, targets)


def _dor(fabric: Fabric, targets: _core.Targets) -> _Tables:
    return _core.dimension_order(fabric.core, targets)


def _updn(fabric: Fabric, targets: _core.Targets) -> _Tables:
    roots = _core.find_roots(fabric.core)
    if len(roots) == 0:
        raise UsageError(
            f"updn: {fabric.name} has no switch with nearly all hosts at one distance, "
            "so no roots; give it to minhop"
        )
    return _core.up_down(fabric.core, targets, roots)


def _dmodk(fabric: Fabric, targets: _core.Targets) -> _Tables:
    return _core.d_mod_k(fabric.core, targets)


_ENGINES = {
    "minhop": Engine("shortest paths, balanced over ports; the same tables as OpenSM's", _minhop),
    "updn": Engine("shortest paths that never go up after down; as OpenSM's", _updn),
    "dor": Engine("dimension order on meshes and tori; as OpenSM's", _dor),
    "dmodk": Engine("destination-mod-k on fat trees, the closed form", _dmodk),
    "fig1": Engine("the rule of the 16-node figure of Hoefler et al. 2008: dmodk", _dmodk),
}


def engine_names() -> dict[str, str]:
    """Every engine with what it does in one line; ``opensm:NAME`` runs the real OpenSM."""
    return {name: engine.about for name, engine in _ENGINES.items()} | {
        f"opensm:{name}": about for name, about in opensm.engine_names().items()
    }


def compute(fabric: Fabric, engine: str) -> Fabric:
    """The fabric with the routes that an engine computes for it.

    Args:
        fabric: with LIDs, which are kept; where some are missing or used twice, all are given out
            anew. Under ``opensm:`` it is OpenSM that gives them out.
        engine: one of `engine_names`, for ``opensm:`` with options after commas:
            ``opensm:minhop,lmc=2``.

    Raises:
        UsageError: when there is no such engine or it can't route this fabric.
        MissingError: when OpenSM is asked for and not installed.
        ShortfallError: when OpenSM fails.
    """
    if engine.startswith("opensm:"):
        return opensm.route(fabric, engine.removeprefix("opensm:"))
    if engine not in _ENGINES:
        raise UsageError(f"no engine {engine!r}; there are {', '.join(engine_names())}")
    addressed = with_addresses(fabric)
    tables = _ENGINES[engine].tables(addressed, _targets(addressed))
    return addressed.replace(routes=ForwardingTables(tables, engine=engine))


def with_addresses(fabric: Fabric) -> Fabric:
    """The fabric if every host has addresses of its own, else with new ones given out.

    New addresses are 1 .. hosts for hosts, those that follow for switches.
    """
    taken = _addresses(fabric)
    if (fabric.host_lid > 0).all() and len(np.unique(taken)) == len(taken):
        return fabric
    numbers = np.arange(1, fabric.hosts + fabric.switches + 1, dtype=np.uint32)
    return fabric.replace(
        host_lid=numbers[: fabric.hosts],
        host_lmc=np.zeros(fabric.hosts, dtype=np.uint8),
        switch_lid=numbers[fabric.hosts :],
        routes=None,
    )


def _addresses(fabric: Fabric) -> NDArray[np.int64]:
    """All addresses in use, those of switches without one left out."""
    count = np.left_shift(1, fabric.host_lmc.astype(np.int64))
    first = np.repeat(fabric.host_lid.astype(np.int64), count)
    nth = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    return np.concatenate([first + nth, fabric.switch_lid[fabric.switch_lid > 0].astype(np.int64)])


def _targets(fabric: Fabric) -> _core.Targets:
    system = fabric.switch_system_guid
    return _core.Targets(
        host_first=fabric.host_lid,
        host_lmc=fabric.host_lmc,
        switch_address=fabric.switch_lid,
        switch_guid=fabric.switch_guid,
        switch_system=np.where(system == 0, fabric.switch_guid, system),
        addresses=int(_addresses(fabric).max(initial=0)) + 1,
    )
