"""Counting every outcome, against all patterns made with itertools."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.congestion import simulate
from contend.fabric import Fabric
from contend.routes import load
from contend.traffic.placement import Placement
from counting import bandwidth, congestion, one_way_bisects
from small_fabrics import crossbar, fat_tree, ring, routed

# Six hosts each.
SHAPES: dict[str, Callable[[], Fabric]] = {
    "crossbar": lambda: crossbar(6),
    "fat tree": lambda: fat_tree(3, 2, 1),
    "ring": lambda: ring(3, 2),
}


def small(name: str) -> Fabric:
    return routed(SHAPES[name]())


@pytest.mark.parametrize("name", SHAPES)
def test_all_one_way_bisects(name: str) -> None:
    """6! / 3! = 120 patterns, each once."""
    fabric = small(name)
    patterns = list(one_way_bisects(range(6)))
    found = simulate(fabric, "bisect", exhaustive=True)
    assert (found.samples, found.patterns_exist, found.exhaustive) == (120, 120, True)
    expected = [bandwidth(fabric, pairs) for pairs in patterns]
    assert sorted(found.bandwidth) == pytest.approx(sorted(expected))
    assert found.effective_bandwidth.ci95 == (found.effective_bandwidth.mean,) * 2
    pis = [pi for pairs in patterns for pi in congestion(fabric, pairs)]
    assert found.histogram.tolist() == np.bincount(pis).tolist()


@pytest.mark.parametrize("name", SHAPES)
def test_all_permutations(name: str) -> None:
    """6! = 720, whoever is mapped to itself being silent; the identity counts as free."""
    fabric = small(name)
    found = simulate(fabric, "permutation", exhaustive=True)
    expected = []
    for targets in permutations(range(6)):
        pairs = [(s, t) for s, t in enumerate(targets) if s != t]
        expected.append(bandwidth(fabric, pairs) if pairs else 1.0)
    assert sorted(found.bandwidth) == pytest.approx(sorted(expected))


def test_all_uniform_traffic() -> None:
    """5^6 outcomes on six hosts; receivers collide, so that host channels count."""
    fabric = small("fat tree")
    found = simulate(fabric, "uniform", hosts="4", exhaustive=True)
    others = [[t for t in range(4) if t != s] for s in range(4)]
    expected = [bandwidth(fabric, list(enumerate(targets))) for targets in product(*others)]
    assert found.samples == 3**4
    assert sorted(found.bandwidth) == pytest.approx(sorted(expected))


@pytest.mark.parametrize("pattern", ["tree", "halo:3x2"])
def test_all_placements(pattern: str) -> None:
    """A fixed pattern under all 6! placements."""
    fabric = small("ring")
    found = simulate(fabric, pattern, exhaustive=True)
    assert found.samples == 720
    fixed = simulate(fabric, pattern, placement="linear")
    assert fixed.samples == 1
    every = [
        simulate(fabric, pattern, placement=Placement("given", np.array(order, dtype=np.uint32)))
        for order in permutations(range(6))
    ]
    expected = sorted(one.effective_bandwidth.mean for one in every)
    assert sorted(found.bandwidth) == pytest.approx(expected)
    assert found.effective_bandwidth.of_mean_congestion == pytest.approx(
        np.mean([one.effective_bandwidth.of_mean_congestion for one in every])
    )
    assert found.effective_bandwidth.of_max_congestion == pytest.approx(
        np.mean([one.effective_bandwidth.of_max_congestion for one in every])
    )


def test_few_outcomes_are_counted_without_being_asked() -> None:
    found = simulate(small("ring"), "bisect", seed=3)
    assert found.exhaustive
    assert found.samples == 120


def test_fewer_samples_than_outcomes_are_drawn() -> None:
    found = simulate(small("ring"), "bisect", samples=119)
    assert not found.exhaustive
    assert found.samples == 119


def test_sixteen_nodes_have_too_many_to_count_all() -> None:
    """16! / 8! = 518,918,400 (Hoefler et al. 2008, section 3)."""
    figure = load("fig1", route="fig1")
    assert simulate(figure, "bisect", samples=10).patterns_exist == 518_918_400
    with pytest.raises(UsageError, match=r"518,918,400"):
        simulate(figure, "bisect", exhaustive=True)


@pytest.mark.parametrize("pattern", ["localised:3", "hot-spot:20%", "bisect & bisect"])
def test_outcomes_that_are_not_equally_likely_are_not_counted(pattern: str) -> None:
    with pytest.raises(UsageError, match="not equally likely ones") as caught:
        simulate(small("ring"), pattern, exhaustive=True)
    assert pattern in str(caught.value)
