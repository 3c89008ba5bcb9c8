"""The engine ``contend``: free of deadlock, complete, and better than the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.fabric import Fabric, remove_cables
from contend.routes import (
    NO_PORT,
    check,
    compute,
    dependency_cycle,
    fewest_collisions,
    save,
    summarise_routes,
)

Paper = Callable[[str], Fabric]

IRREGULAR = ("torus:4x4;2", "random:20,4,2", "dragonfly:2,4,2", "hyperx:4x4;2", "mesh:3x5")


def bandwidth(fabric: Fabric, samples: int = 2000) -> float:
    """Effective bisection bandwidth in percent."""
    return 100 * contend.simulate(fabric, "bisect", samples=samples).effective_bandwidth.mean


@pytest.mark.parametrize("lanes", [1, 2, 8])
@pytest.mark.parametrize("spec", IRREGULAR)
def test_all_routes_arrive_and_no_lane_has_a_circle(spec: str, lanes: int) -> None:
    fabric = compute(contend.load(spec), f"contend,lanes={lanes}")
    assert summarise_routes(fabric).undelivered == 0
    assert dependency_cycle(fabric)[1] == ()
    assert fabric.routes.lanes <= lanes
    assert check(fabric, lanes=False).passed


def test_all_routes_arrive_on_small_fabrics(any_paper: Fabric) -> None:
    fabric = compute(any_paper, "contend")
    assert summarise_routes(fabric).undelivered == 0
    assert dependency_cycle(fabric)[1] == ()


def test_a_regular_tree_keeps_destination_mod_k() -> None:
    tree = contend.load("xgft:2;4,4;1,4")
    ours, closed = (compute(tree, engine).routes for engine in ("contend", "dmodk"))
    assert np.array_equal(ours.ports, closed.ports)


def test_a_degraded_tree_gains_over_minhop() -> None:
    # Measured on emulated cables too: 82.6 against 77.7 %.
    tree = remove_cables(contend.load("xgft:2;4,6;1,4"), 17, 2)
    assert bandwidth(compute(tree, "contend")) > bandwidth(compute(tree, "minhop")) + 2


@pytest.mark.parametrize("spec", ["torus:6x6;2", "random:40,8,4", "dragonfly:2,4,2"])
def test_lanes_are_worth_something_where_trees_end(spec: str) -> None:
    fabric = contend.load(spec)
    with_lanes = compute(fabric, "contend,lanes=8")
    assert bandwidth(with_lanes) > bandwidth(compute(fabric, "contend"))
    assert bandwidth(with_lanes) > bandwidth(compute(fabric, "minhop"))


def test_a_tree_with_a_pair_that_no_way_up_and_down_joins() -> None:
    # Leaves 0 and 2 have one top each; only by leaf 1, which has both, can they meet.
    fabric = contend.fabric.from_networkx(_two_tops())
    assert summarise_routes(compute(fabric, "dmodk")).hops[4] == 8
    whole = compute(fabric, "contend")
    assert summarise_routes(whole).undelivered == 0
    assert dependency_cycle(whole)[1] == ()


def _two_tops() -> object:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for leaf, tops in enumerate(("a", "ab", "b")):
        for top in tops:
            graph.add_edge(f"leaf {leaf}", f"top {top}")
        for host in range(2):
            graph.add_edge(f"host {leaf}.{host}", f"leaf {leaf}")
    return graph


def test_selene_compute_is_whole_and_free_of_circles(shared_data: Path) -> None:
    fabric = contend.load(shared_data / "selene.compute.ibnetdiscover.xz", route="contend")
    assert summarise_routes(fabric).undelivered == 0
    assert dependency_cycle(fabric)[1] == ()
    assert bandwidth(fabric, 200) == pytest.approx(70.7, abs=0.3)


def test_what_is_sent_decides(paper: Paper) -> None:
    # Under two tops, all hosts of the first leaf send to one host of each other leaf alone: those
    # three come by cables of their own.
    tree = paper("figure")
    source = np.repeat(np.arange(4), 3)
    target = np.tile([4, 8, 12], 4)
    fabric = fewest_collisions(tree, demand=(source, target, np.ones(12)))
    assert len(set(fabric.routes.ports[0, fabric.host_lid[[4, 8, 12]]].tolist())) == 3


def test_slow_cables_carry_less() -> None:
    fabric = contend.load("xgft:2;6,2;1,1;1,2")
    rate = np.ones(4, dtype=np.uint16)
    rate[fabric.cable_from_port == 8] = 2
    fabric = fabric.replace(rates=("", "4xHDR", "4xQDR"), cable_rate=rate)
    routes = compute(fabric, "contend").routes
    slow = np.count_nonzero(routes.ports[0, fabric.host_lid[6:]] == 8)
    # 200 and 32 Gbit/s; six hosts: with one on the slow cable it is no busier than the other.
    assert slow == 1


@pytest.mark.parametrize("kind", ["lfts", "orcs", "fabric"])
def test_files_without_lanes_refuse_routes_that_need_them(kind: str, tmp_path: Path) -> None:
    fabric = contend.load("torus:5x5", route="contend,lanes=4")
    with pytest.raises(UsageError, match=f"virtual lanes, and {kind} files do not say"):
        save(fabric, tmp_path / "x", kind)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lanes", ["0", "16", "two", "-1"])
def test_lanes_are_a_number_that_infiniband_has(lanes: str) -> None:
    with pytest.raises(UsageError, match="lanes is a number from 1 to 15"):
        compute(contend.load("fig1"), f"contend,lanes={lanes}")


def test_every_address_of_every_switch_has_an_entry() -> None:
    routes = compute(contend.load("random:12,4,1"), "contend").routes
    assert (routes.ports[:, 1:] != NO_PORT).all()


def test_several_addresses_of_a_host_are_reached_by_disjoint_ways() -> None:
    fabric = compute(contend.load("xgft:2;4,6;1,4"), "contend,lmc=2")
    assert (fabric.host_lmc == 2).all()
    assert summarise_routes(fabric).undelivered == 0
    assert dependency_cycle(fabric)[1] == ()
    for leaf in range(6):
        for host in np.flatnonzero(fabric.host_switch != leaf).tolist():
            lids = int(fabric.host_lid[host]) + np.arange(4)
            # Four tops, one cable to each.
            assert len(set(fabric.routes.ports[leaf, lids].tolist())) == 4


def test_lmc_is_a_number_that_infiniband_has() -> None:
    with pytest.raises(UsageError, match="lmc is a number from 0 to 7"):
        compute(contend.load("fig1"), "contend,lmc=8")
