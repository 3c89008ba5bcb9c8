"""Ways that messages take: those that a formula gives beside those from sets of channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from contend import _core

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
    make_computed: Callable[..., _core.Resolver],
    hosts: NDArray[np.uint32],
) -> None:
    """Compares the channels of drawn routes with those from sets of channels.

    Args:
        core: of the fabric.
        found: what it is.
        make_computed: the resolver by the formula.
        hosts: that take part.
    """
    assert found is not None
    pairs = pairs_of(len(hosts))
    for flows, alike in ((1, False), (3, True)):
        computed = make_computed(core, found, hosts, flows, alike)
        sets = _core.make_hashed_resolver(core, hosts, flows, alike, None)
        for draw in (0, 3):
            assert_array_equal(*(in_order(each, pairs, draw) for each in (computed, sets)))
