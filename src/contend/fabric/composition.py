"""What a fabric is made of: its shape, levels, speeds, servers, parallel cables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.units import rate_of
from contend.fabric.assemble import MISSING_RECORD, UNEQUAL_RATES
from contend.fabric.fabric import Fabric, FabricSize
from contend.fabric.levels import (
    Leaf,
    Level,
    PartSize,
    idle_switches,
    leaves_of,
    levels_of,
    parts_of,
    switch_levels,
)
from contend.fabric.rails import Rail, rails
from contend.fabric.servers import servers_of
from contend.fabric.shape import shape_of


def size_of(fabric: Fabric) -> FabricSize:
    """The size of a fabric."""
    return fabric.as_told()


@dataclass(frozen=True)
class Structure:
    """What a fabric is made of."""

    shape: str
    """Kind of network, in words."""
    cables: int
    """Number of cables between switches, those from a switch to itself left out."""
    unit: str
    """Unit of capacities: ``bytes/s``, or ``cables`` where a rate is unknown."""
    levels: tuple[Level, ...]
    """Levels from the leaves up."""
    leaves: tuple[Leaf, ...]
    """Switches with hosts; of a level those with the most oversubscription first."""
    unreached_switches: int
    """Number of switches from which no host can be reached."""
    idle_switches: int
    """Number of switches that no route uses; where no routes are known, of those on no shortest
    path between hosts, such as a director's spare line cards or a chain of management switches.
    What neither uses stands in no level."""
    parts: int
    """Number of groups of hosts with no path between them; 1 in a whole fabric."""
    each_part: tuple[PartSize, ...]
    """Sizes of these groups, that with most hosts first."""
    host_links: dict[str, int]
    """Number of cables to hosts by rate label (``unknown`` where it is)."""
    switch_links: dict[str, int]
    """The same for cables between switches."""
    servers: int
    """Number of servers."""
    hosts_per_server: dict[int, int]
    """Number of servers by their number of hosts (rails)."""
    rails: tuple[Rail, ...]
    """Rails of the kind of servers with the most hosts; none where those have one host."""
    parallel_cables: dict[int, int]
    """Number of joined pairs of switches by the cables between them."""
    left_out: tuple[str, ...]
    """What the topology file holds that carries no traffic here."""


def structure(fabric: Fabric, load: NDArray[np.uint64] | None = None) -> Structure:
    """Describes a fabric. Cost: that of `switch_levels`, else linear in hosts and cables.

    Args:
        fabric: the fabric.
        load: routes over every channel between switches, shape [2 cables], if it has routes.
    """
    level_of = switch_levels(fabric)
    unreached = int(np.count_nonzero(level_of == 0))
    idle = idle_switches(fabric, load)
    standing = np.where(idle & idle_switches(fabric), 0, level_of)
    capacity = capacities(fabric)
    per_server = np.bincount(servers_of(fabric))
    across = fabric.cable_from != fabric.cable_to
    parts = parts_of(fabric)
    return Structure(
        shape=shape_of(fabric),
        cables=int(np.count_nonzero(across)),
        unit=capacity.unit,
        levels=levels_of(fabric, standing, capacity),
        leaves=leaves_of(fabric, standing, capacity),
        unreached_switches=unreached,
        idle_switches=int(np.count_nonzero(idle & (level_of > 0))),
        parts=len(parts),
        each_part=tuple(part.size for part in parts),
        host_links=_by_rate(fabric, fabric.host_rate),
        switch_links=_by_rate(fabric, fabric.cable_rate[across]),
        servers=len(per_server),
        hosts_per_server=_histogram(per_server),
        rails=rails(fabric),
        parallel_cables=_histogram(cables_per_pair(fabric)[2]),
        left_out=tuple(
            finding.message
            for finding in fabric.findings
            if not finding.wrong and finding.kind not in (MISSING_RECORD, UNEQUAL_RATES)
        ),
    )


def cables_per_pair(
    fabric: Fabric,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Joined pairs of switches: the lower, the higher, and the number of cables; shape [pairs]."""
    low = np.minimum(fabric.cable_from, fabric.cable_to).astype(np.int64)
    high = np.maximum(fabric.cable_from, fabric.cable_to).astype(np.int64)
    # A cable from a switch to itself joins no pair.
    low, high = low[low != high], high[low != high]
    pairs, counts = np.unique(low * fabric.switches + high, return_counts=True)
    return pairs // fabric.switches, pairs % fabric.switches, counts.astype(np.int64)


def switch_distances(fabric: Fabric, starts: Sequence[int]) -> NDArray[np.float64]:
    """Cables from switches to all others on the shortest way, shape [starts, switches]."""
    # They take longer to load than a few jobs take to judge.
    import scipy.sparse.csgraph

    joined = np.ones(fabric.cables), (fabric.cable_from, fabric.cable_to)
    graph = scipy.sparse.coo_array(joined, shape=(fabric.switches, fabric.switches)).tocsr()
    found: NDArray[np.float64] = scipy.sparse.csgraph.shortest_path(
        graph, directed=False, unweighted=True, indices=np.array(starts, dtype=np.int64)
    )
    return found


def _by_rate(fabric: Fabric, rate: NDArray[np.uint16]) -> dict[str, int]:
    counts = Counter(fabric.rates[index] or "unknown" for index in rate.tolist())
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _histogram(values: NDArray[np.int64]) -> dict[int, int]:
    distinct, counts = np.unique(values, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Capacities:
    """Capacity of every cable in one direction."""

    cable: NDArray[np.float64]
    """Capacity of cables between switches, shape [cables]."""
    host: NDArray[np.float64]
    """Capacity of cables to hosts, shape [hosts]."""
    unit: str
    """Unit: ``bytes/s``, or ``cables`` where a rate is unknown and each cable counts 1."""


def capacities(
    fabric: Fabric, hosts: NDArray[np.integer] | None = None, *, alike: bool = False
) -> Capacities:
    """Capacity of every cable; one unknown rate makes all count 1, as sums need one unit.

    Args:
        fabric: whose cables.
        hosts: that take part; only rates of their cables, and of those between switches that they
            can reach, must be known. None: all hosts and cables.
        alike: let all count 1, whatever they carry.
    """
    rate = np.array([rate_of(label) or 0.0 for label in fabric.rates])
    cable, host = rate[fabric.cable_rate], rate[fabric.host_rate]
    within = slice(None) if hosts is None else cables_within_reach(fabric, hosts)
    taking_part = slice(None) if hosts is None else hosts
    if alike or not (np.all(cable[within] > 0) and np.all(host[taking_part] > 0)):
        return Capacities(np.ones(fabric.cables), np.ones(fabric.hosts), "cables")
    return Capacities(cable, host, "bytes/s")


def cables_within_reach(fabric: Fabric, hosts: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which cables between two switches are in the parts of a fabric that hosts are in; [cables].

    Cables from a switch to itself lead nowhere.
    """
    part = fabric.switch_part
    reached = np.zeros(fabric.switches, dtype=np.bool_)
    reached[part[fabric.host_switch[hosts]]] = True
    across: NDArray[np.bool_] = fabric.cable_from != fabric.cable_to
    return across & reached[part[fabric.cable_from]]


def relative_rates(fabric: Fabric) -> NDArray[np.float64]:
    """Rate of every channel as a multiple of the fastest host's port, shape [channels].

    1 for all where a rate is not known: nothing says then how much they differ.
    """
    capacity = capacities(fabric)
    each = np.concatenate([np.repeat(capacity.cable, 2), capacity.host, capacity.host])
    return each / float(capacity.host.max(initial=0.0) or capacity.cable.max(initial=1.0))
