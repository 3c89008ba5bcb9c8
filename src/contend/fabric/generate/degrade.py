"""Fabrics with more cables or with broken ones; their routes have to be recomputed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ArgumentError, UsageError
from contend.fabric.altered import subset
from contend.fabric.fabric import Fabric, Finding
from contend.fabric.generate.plan import Draw, Indices, check_size


def with_parallel_links(fabric: Fabric, links: int) -> Fabric:
    """Every cable between switches laid `links` times; hosts keep their one.

    Ports are renumbered: a port with a cable becomes `links` neighbouring ports, the others move up
    to make room. Routes are dropped.

    Raises:
        UsageError: when links is below 1 or a switch would need too many ports.
    """
    if links < 1:
        raise UsageError(f"parallel links: expected at least 1, got {links}")
    ends = np.concatenate([fabric.cable_from, fabric.cable_to])
    ports = np.concatenate([fabric.cable_from_port, fabric.cable_to_port])
    cabled = np.bincount(ends, minlength=fabric.switches)
    widths = fabric.switch_ports.astype(np.int64) + (links - 1) * cabled
    check_size(
        "parallel links",
        hosts=fabric.hosts,
        switches=fabric.switches,
        cables=fabric.cables * links,
        ports=int(widths.max(initial=0)),
    )
    cabled_keys = np.sort(_keys(ends, ports))
    copy = np.arange(links)

    def moved(switch: NDArray[np.uint32], port: NDArray[np.uint16]) -> Indices:
        """The first of the ports that a port becomes."""
        before = np.searchsorted(cabled_keys, _keys(switch, port))
        before -= np.searchsorted(cabled_keys, _keys(switch, np.zeros_like(port)))
        return port + (links - 1) * before

    def spread(switch: NDArray[np.uint32], port: NDArray[np.uint16]) -> NDArray[np.uint16]:
        return (moved(switch, port)[:, None] + copy).ravel().astype(np.uint16)

    return fabric.replace(
        name=f"{fabric.name} with {links} parallel links",
        host_port=moved(fabric.host_switch, fabric.host_port).astype(np.uint16),
        switch_ports=widths.astype(np.uint16),
        cable_from=np.repeat(fabric.cable_from, links),
        cable_from_port=spread(fabric.cable_from, fabric.cable_from_port),
        cable_to=np.repeat(fabric.cable_to, links),
        cable_to_port=spread(fabric.cable_to, fabric.cable_to_port),
        cable_rate=np.repeat(fabric.cable_rate, links),
        routes=None,
    )


def remove_cables(fabric: Fabric, percent: float, seed: int = 0) -> Fabric:
    """The fabric without a random share of its cables between switches; hosts keep theirs.

    The number removed is rounded to the nearest whole cable; each is a finding. Ports stay where
    they are. A larger percentage with the same seed removes the same cables and more. Routes are
    dropped.

    Args:
        fabric: what is degraded.
        percent: of its cables, 0 .. 100.
        seed: of the random choice.

    Raises:
        UsageError: when percent is not within 0 .. 100.
    """
    count = _share(fabric.cables, percent)
    removed = np.sort(Draw(seed).order(fabric.cables)[:count])
    findings = tuple(
        Finding("removed cable", f"{' to '.join(fabric.channel_ends(2 * cable))}", wrong=False)
        for cable in removed.tolist()
    )
    kept = np.setdiff1d(np.arange(fabric.cables), removed)
    return subset(fabric, np.arange(fabric.hosts), np.arange(fabric.switches), kept).replace(
        name=f"{fabric.name} without {percent:g}% of its cables (seed {seed})",
        findings=fabric.findings + findings,
    )


def remove_switches(fabric: Fabric, percent: float, seed: int = 0) -> Fabric:
    """The fabric without a random share of its switches that carry no hosts, and their cables.

    Each switch removed is a finding; the others are renumbered, their addresses stay. Routes are
    dropped.

    Args:
        fabric: what is degraded.
        percent: of its switches without hosts, 0 .. 100.
        seed: of the random choice.

    Raises:
        UsageError: when percent is not within 0 .. 100 or every switch carries hosts.
    """
    bare = np.setdiff1d(np.arange(fabric.switches), fabric.host_switch)
    if len(bare) == 0:
        raise UsageError(f"{fabric.name}: expected switches without hosts to remove, got none")
    removed = np.sort(bare[Draw(seed).order(len(bare))[: _share(len(bare), percent)]])
    findings = tuple(
        Finding("removed switch", f'switch "{fabric.switch_label[switch]}"', wrong=False)
        for switch in removed.tolist()
    )
    kept = np.ones(fabric.switches, dtype=bool)
    kept[removed] = False
    cables = np.flatnonzero(kept[fabric.cable_from] & kept[fabric.cable_to])
    return subset(fabric, np.arange(fabric.hosts), np.flatnonzero(kept), cables).replace(
        name=f"{fabric.name} without {percent:g}% of its switches (seed {seed})",
        findings=fabric.findings + findings,
    )


def _keys(switch: NDArray[np.uint32], port: NDArray[np.uint16]) -> Indices:
    """One number for each port, ordered by switch and port."""
    return switch.astype(np.int64) << 16 | port


def _share(count: int, percent: float) -> int:
    if not 0 <= percent <= 100:
        raise ArgumentError("remove", f"expected a percentage within 0 .. 100, got {percent:g}")
    return round(count * percent / 100)
