"""What the slowest message of every round meets: what a whole simulation says of rounds."""

from __future__ import annotations

import pytest
from numpy.testing import assert_array_equal

import contend
from contend.congestion import simulate
from contend.congestion.all_ranks import slowest_rounds
from contend.traffic.pattern import parse
from contend.traffic.placement import parse as parse_placement
from small_fabrics import of_two_rates

_FABRICS = [
    ("crossbar:8", "minhop"),
    ("xgft:2;4,6;1,3", "minhop"),
    ("fattree3:8", "dmodk"),
    ("fattree3:8", "contend,lmc=1"),
    ("torus:4x4;2", "dor"),
    ("random:12,4,3", "minhop"),
    # Large enough for a look at what is alike to be worth it.
    ("xgft:2;6,12;1,3", "minhop"),
    ("xgft:3;9,3,8;1,3,3", "dmodk"),
    ("torus:13x3;6", "dor"),
]


@pytest.mark.parametrize(("spec", "route"), _FABRICS)
@pytest.mark.parametrize("pattern", ["shifts", "alltoall", "tree", "gather", "hot-spot:2", "ring"])
@pytest.mark.parametrize(
    ("seats", "ranks_per_host", "rated"), [("linear", 1, False), ("round-robin", 3, True)]
)
def test_rounds_take_what_a_simulation_says(
    spec: str, route: str, pattern: str, rated: bool, seats: str, ranks_per_host: int
) -> None:
    fabric = contend.load(spec, route=route)
    if rated:
        fabric = of_two_rates(fabric)
    placement = parse_placement(seats, fabric, ranks_per_host=ranks_per_host)
    spread = bool(fabric.host_lmc.any())
    for ranks in (placement.ranks, placement.ranks - 1, 3):
        told = {"placement": placement, "ranks": ranks, "spread": spread}
        found = slowest_rounds(fabric, pattern, threads=2, **told)
        whole = simulate(fabric, pattern, samples=1, **told)
        assert found.pattern == whole.pattern == parse(pattern, ranks).name
        assert_array_equal(found.round_max_congestion, whole.round_max_congestion)
        assert found.port_rate == whole.port_rate
        if whole.round_max_seconds_per_byte is None:
            assert found.round_max_seconds_per_byte is None
        else:
            assert_array_equal(found.round_max_seconds_per_byte, whole.round_max_seconds_per_byte)


@pytest.mark.parametrize("route", ["ecmp", "spray"])
def test_what_is_drawn_or_splits_is_left_to_simulations(route: str) -> None:
    fabric = contend.load("fattree3:8", route=route)
    placement = parse_placement("linear", fabric, ranks_per_host=1)
    assert slowest_rounds(fabric, "shifts", placement=placement, ranks=8) is None
    fabric = contend.load("fattree3:8", route="minhop")
    placement = parse_placement("random", fabric, ranks_per_host=1)
    assert slowest_rounds(fabric, "shifts", placement=placement, ranks=8) is None
