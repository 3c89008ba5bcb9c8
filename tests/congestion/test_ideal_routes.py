"""Messages that split as is best beside all others, held to exact linear programmes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import contend
from contend.congestion import fair_share, simulate
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.pattern import parse
from contend.units import rate_of
from exact_shares import exact_rates
from several_ways import drawn_pairs

_SPECS = (
    "xgft:2;4,4;1,2",
    "xgft:2;8,8;1,3",
    "xgft:3;4,4,4;1,2,2",
    "dragonfly:4,2,2",
    "torus:4x4;2",
    "hyperx:4x4;4",
)


def _pairs(fabric: Fabric, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random pairs; of odd seeds to any host, so that some share ports; of even ones both ways."""
    random = np.random.default_rng(seed)
    first, second = np.array_split(random.permutation(fabric.hosts // 2 * 2), 2)
    if seed % 2 == 0:
        return np.concatenate([first, second]), np.concatenate([second, first])
    to = random.integers(0, fabric.hosts, len(first))
    return first[first != to], to[first != to]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spec", _SPECS)
def test_shares_are_those_of_exact_programmes(spec: str, seed: int) -> None:
    fabric = contend.load(spec, route="adaptive")
    source, target = _pairs(fabric, seed)
    exact = exact_rates(fabric, list(zip(source.tolist(), target.tolist(), strict=True)))
    exact /= rate_of("4xHDR")
    found = fair_share(fabric, source, target)
    assert found.mean() == pytest.approx(exact.mean(), rel=0.01)
    # Single shares: nearly all within a part of a hundred, and none far away.
    off = np.abs(found / exact - 1)
    assert np.mean(off) < 0.006
    assert off.max() < 0.1


@pytest.mark.parametrize("seed", range(3))
def test_slow_cables(seed: int) -> None:
    """Messages keep clear of what is slow; two ports are slow as well."""
    whole = contend.load("xgft:2;6,6;1,4")
    random = np.random.default_rng(seed)
    fabric = whole.replace(
        rates=("4xHDR", "4xEDR", "4xQDR"),
        cable_rate=random.integers(0, 3, whole.cables).astype(np.uint16),
        host_rate=np.where(np.arange(whole.hosts) < 2, 1, 0).astype(np.uint16),
    )
    routed = contend.routes.compute(fabric, "adaptive")
    source, target = _pairs(routed, 2 * seed)
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    port = np.array([rate_of(fabric.rates[index]) for index in fabric.host_rate])
    exact = exact_rates(routed, pairs) / np.minimum(port[source], port[target])
    found = fair_share(routed, source, target)
    assert found.mean() == pytest.approx(exact.mean(), rel=0.01)
    assert np.abs(found / exact - 1).max() < 0.05
    evenly = simulate(contend.routes.compute(fabric, "spray"), "bisect", samples=20)
    ideal = simulate(routed, "bisect", samples=20)
    assert ideal.effective_bandwidth > 1.05 * evenly.effective_bandwidth


@pytest.mark.parametrize("pattern", ["bisect", "shift:3", "uniform", "alltoall"])
def test_a_simulation_averages_the_shares_of_its_messages(pattern: str) -> None:
    fabric = contend.load("xgft:2;6,6;1,4", route="adaptive", without=["top 1:2"])
    drawn = parse(pattern, fabric.hosts)
    found = simulate(fabric, drawn, placement="linear", samples=2, seed=7)
    for sample in range(found.samples):
        of_rounds = []
        for number in range(drawn.rounds):
            pairs = drawn_pairs(drawn, number, seed=7, sample=sample)
            if pairs:
                of_rounds.append(fair_share(fabric, *np.array(pairs).T).mean())
        assert found.bandwidth[sample] == pytest.approx(np.mean(of_rounds), abs=0.001)


def test_more_than_sprayed_and_at_most_what_cuts_let_through() -> None:
    """Two of six spines lack a cable: ideal switches send less by these, sprayed packets do not."""
    options = {"without": ["top 1:2", "top 2:3"]}
    ideal, sprayed = (
        simulate(contend.load("xgft:2;6,6;1,4", route=route, **options), "bisect", samples=60)
        for route in ("adaptive", "spray")
    )
    assert (ideal.bandwidth >= sprayed.bandwidth - 0.002).all()
    assert ideal.effective_bandwidth > sprayed.effective_bandwidth + 0.01


def test_any_number_of_threads_finds_the_same() -> None:
    fabric = contend.load("xgft:2;8,8;1,3", route="adaptive")
    one, three = (
        simulate(fabric, "uniform", samples=40, ranks_per_host=2, threads=threads)
        for threads in (1, 3)
    )
    assert one.bandwidth.tolist() == three.bandwidth.tolist()
    assert one.histogram.tolist() == three.histogram.tolist()
    assert one.channel_load.tolist() == three.channel_load.tolist()


def test_who_shares_a_port_with_one_that_is_held_up_gets_the_rest() -> None:
    """Host 0 sends to two; one of these gets from three more: a fourth, so the other three."""
    fabric = contend.load("xgft:2;8,2;1,8", route="adaptive")
    found = fair_share(fabric, [0, 0, 1, 2, 3], [9, 8, 8, 8, 8])
    assert found == pytest.approx([0.75, 0.25, 0.25, 0.25, 0.25], abs=0.001)


def test_spines_of_a_complete_tree_give_what_the_leaves_pass() -> None:
    """8 messages leave a leaf by 3 cables, and 4 by theirs: 3/8 and 3/4, to the last digit."""
    fabric = contend.load("xgft:2;8,4;1,3", route="adaptive")
    source = np.concatenate([np.arange(8), np.arange(8, 12)])
    target = np.concatenate([np.arange(16, 24), np.arange(24, 28)])
    found = fair_share(fabric, source, target)
    assert found == pytest.approx([3 / 8] * 8 + [3 / 4] * 4, rel=0.003)


def test_who_looks_at_each_message_by_itself_refuses() -> None:
    fabric = contend.load("xgft:2;4,4;1,2", route="adaptive")
    with pytest.raises(UsageError, match=r"beside all the others.*such as spray"):
        simulate(fabric, "bisect", channels=["hottest"])
    with pytest.raises(UsageError, match="as is best beside all the others"):
        contend.message_congestion(fabric, [0], [5])
    with pytest.raises(UsageError, match="no further LIDs"):
        simulate(fabric, "bisect", spread=True)
