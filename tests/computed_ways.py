"""Ways that messages take: those that a formula gives beside those from sets of channels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from contend import _core
from contend.fabric import Fabric
from contend.pattern import parse

# All pairs of hosts up to so many, a sample of them beyond.
_MOST_PAIRS = 1 << 17


def pairs_of(hosts: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Sources and targets that differ."""
    if hosts**2 <= _MOST_PAIRS:
        source, target = np.divmod(np.arange(hosts**2), hosts)
    else:
        source, target = np.random.default_rng(1).integers(0, hosts, (2, _MOST_PAIRS))
    differ = source != target
    return source[differ].astype(np.uint32), target[differ].astype(np.uint32)


def in_order(
    resolver: _core.Resolver, pairs: tuple[NDArray[np.uint32], NDArray[np.uint32]], draw: int
) -> NDArray[np.int64]:
    """The channels of every flow in their order, with -1 behind them; shape [flows, longest]."""
    rows = resolver.routes(*pairs, draw).astype(np.int64)
    flows = rows.reshape(-1, rows.shape[1] // resolver.unit)
    flows = np.where(flows < resolver.switch_channels, flows, -1)
    return flows[:, (flows >= 0).any(axis=0)]


def expect_hashes_as_in_sets(
    core: _core.Fabric,
    found: Any,
    hosts: NDArray[np.uint32],
) -> None:
    """Compares the channels of drawn routes with those from sets of channels.

    Args:
        core: of the fabric.
        found: what it is.
        hosts: that take part.
    """
    assert found is not None
    pairs = pairs_of(len(hosts))
    for flows, alike in ((1, False), (3, True)):
        computed = _core.hashed_resolver(core, hosts, found, flows, alike)
        sets = _core.hashed_resolver(core, hosts, None, flows, alike)
        for draw in (0, 3):
            assert_array_equal(*(in_order(each, pairs, draw) for each in (computed, sets)))


def expect_parts_as_in_sets(computed: _core.Resolver, sets: _core.Resolver) -> None:
    """Compares the channels and parts of sprayed messages with those from sets of channels."""
    pairs = pairs_of(computed.places)
    ordered = []
    for resolver in (computed, sets):
        channels, parts = resolver.parts(*pairs)
        order = np.argsort(channels, axis=1)
        ordered.append([np.take_along_axis(each, order, 1) for each in (channels, parts)])
        assert resolver.crossed <= channels.shape[1]
    assert_array_equal(ordered[0][0], ordered[1][0])
    assert_allclose(ordered[0][1], ordered[1][1], rtol=1e-12)


def expect_counts_as_in_sets(
    fabric: Fabric, computed: _core.Resolver, sets: _core.Resolver, *, rated: bool
) -> None:
    """Compares what sprayed messages of all hosts put on channels, and what they get.

    Args:
        fabric: of the resolvers.
        computed: by the formula.
        sets: from sets of channels.
        rated: whether links differ.
    """
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    channels = 2 * (fabric.cables + len(hosts))
    rates = np.random.default_rng(4).choice([1e9, 3e9], channels if rated else 0)
    for pattern in ("bisect", "alltoall", "uniform"):
        by_formula, by_sets, together = (
            _core.simulate(
                *(resolver, parse(pattern, len(hosts)).core, _core.Seating(hosts, 1, False)),
                *(_core.Samples(1, 0, 5, False), threads, rates),
            )
            for resolver, threads in ((computed, 1), (sets, 1), (computed, 2))
        )
        for name in ("channel_messages", "bandwidth", "max_congestion", "share", "max_slowdown"):
            assert_allclose(by_formula[name], by_sets[name], rtol=1e-11)
            assert_array_equal(by_formula[name], together[name])
