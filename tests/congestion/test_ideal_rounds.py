"""Rounds of many kinds of networks and messages, each held to exact linear programmes.

`CONTEND_EVIDENCE=1` tries 500 of them.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.typing import NDArray

import contend
from contend.base.units import rate_of
from contend.congestion import fair_share, simulate
from contend.fabric import Fabric
from contend.report.simulation.tables import simulation_verdict
from exact_shares import exact_rates

_SPECS = (
    "dragonfly:3,3,2",
    "dragonfly:2,2,1",
    "dragonfly:4,2,2",
    "torus:4x4;2",
    "torus:3x3x2;2",
    "hyperx:3x3;4",
    "xgft:2;6,6;1,4",
    "xgft:3;4,4,3;1,2,2",
)
_RATES = ("4xHDR", "4xEDR", "4xQDR")


def _network(spec: str, random: np.random.Generator) -> Fabric:
    """As it is, or with cables of three rates, and a tenth of the ports slow."""
    whole = contend.load(spec)
    if random.random() < 0.5:
        return whole
    return whole.replace(
        rates=_RATES,
        cable_rate=random.integers(0, 3, whole.cables).astype(np.uint16),
        host_rate=(random.random(whole.hosts) < 0.1).astype(np.uint16),
    )


def _messages(
    hosts: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One to three of every host, to any host or to a third of them."""
    each = int(random.integers(1, 4))
    source = np.repeat(np.arange(hosts), each)
    liked = hosts if random.random() < 0.7 else max(hosts // 3, 2)
    target = random.integers(0, liked, len(source))
    return source[source != target], target[source != target]


@pytest.mark.parametrize("number", range(500 if os.environ.get("CONTEND_EVIDENCE") else 12))
def test_a_round_gets_its_exact_shares(number: int) -> None:
    """The mean within 0.5 %, single shares within 7 %."""
    random = np.random.default_rng([64, number])
    fabric = _network(_SPECS[number % len(_SPECS)], random)
    routed = contend.routes.compute(fabric, "adaptive")
    source, target = _messages(fabric.hosts, random)
    port = np.array([rate_of(fabric.rates[index]) for index in fabric.host_rate])
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    exact = exact_rates(routed, pairs) / np.minimum(port[source], port[target])
    found = fair_share(routed, source, target)
    assert found.mean() == pytest.approx(exact.mean(), rel=0.005)
    assert found == pytest.approx(exact, rel=0.07)


def test_shares_that_are_found_only_nearly_say_so() -> None:
    """216 hosts of a torus with two messages each: too many ways for many digits."""
    fabric = contend.load("torus:6x6x3;2", route="adaptive")
    found = simulate(fabric, "uniform", samples=1, seed=2, ranks_per_host=2)
    assert found.gap > 1
    verdict = simulation_verdict(found)
    assert "nearly in the way that is best for all: ideal switches get at least 32.1 %" in verdict
    bound = found.effective_bandwidth.at_most
    assert bound == pytest.approx(found.gap * found.effective_bandwidth.mean)


def test_shares_that_are_found_for_certain_say_so() -> None:
    fabric = contend.load("dragonfly:3,3,2", route="adaptive")
    found = simulate(fabric, "uniform", samples=1, seed=1, ranks_per_host=2)
    assert "no adaptive switch that keeps to shortest paths can do better" in simulation_verdict(
        found
    )
    assert found.effective_bandwidth.at_most is None
