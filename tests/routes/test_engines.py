from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contend import _core
from contend.base.errors import InputError, UsageError
from contend.cli.options.shared import ENGINES
from contend.fabric import Fabric
from contend.fabric.fabric import build
from contend.routes import NO_PORT, compute, engines

Paper = Callable[[str], Fabric]

DELIVERED, NO_ENTRY = 0, 1


def route(fabric: Fabric, source: int, destination: int, nth: int = 0) -> list[int]:
    """Channels between switches from a host to a host."""
    end, _, channels = _core.trace_route(
        fabric.core,
        fabric.routes.ports,
        int(fabric.host_switch[source]),
        destination,
        int(fabric.host_lid[destination]) + nth,
    )
    assert end == DELIVERED
    return list(channels)


def distances(fabric: Fabric) -> np.ndarray:
    """Shortest distances between switches, by Floyd and Warshall."""
    far = np.full((fabric.switches, fabric.switches), 10_000)
    np.fill_diagonal(far, 0)
    far[fabric.cable_from, fabric.cable_to] = 1
    far[fabric.cable_to, fabric.cable_from] = 1
    for by in range(fabric.switches):
        far = np.minimum(far, far[:, [by]] + far[[by], :])
    return far


@pytest.mark.parametrize("engine", ["minhop", "dor"])
def test_every_route_is_as_long_as_the_shortest_path(any_paper: Fabric, engine: str) -> None:
    fabric = compute(any_paper, engine)
    far = distances(fabric)
    for source in range(fabric.hosts):
        for destination in range(fabric.hosts):
            expected = far[fabric.host_switch[source], fabric.host_switch[destination]]
            assert len(route(fabric, source, destination)) == expected


@pytest.mark.parametrize("engine", ["updn", "dmodk"])
def test_routes_in_trees_go_up_then_down(any_tree: Fabric, engine: str) -> None:
    fabric = compute(any_tree, engine)
    leaves = np.unique(fabric.host_switch)
    level = distances(fabric)[leaves].min(axis=0)
    ends = np.stack([fabric.cable_from, fabric.cable_to])
    for source in range(fabric.hosts):
        for destination in range(fabric.hosts):
            channels = np.array(route(fabric, source, destination), dtype=np.int64)
            near = ends[channels % 2, channels // 2]
            far = ends[1 - channels % 2, channels // 2]
            steps = np.sign(level[far].astype(int) - level[near])
            assert (np.diff(steps) <= 0).all()


def test_all_addresses_of_a_host_are_reached(paper: Paper) -> None:
    bare = paper("torus")
    several = bare.replace(
        host_lid=4 * np.arange(1, 41, dtype=np.uint32),
        host_lmc=np.full(40, 2, dtype=np.uint8),
        switch_lid=np.arange(200, 220, dtype=np.uint32),
    )
    fabric = compute(several, "minhop")
    for nth in range(4):
        assert all(route(fabric, 0, destination, nth) is not None for destination in range(40))


def test_tables_are_marked_with_the_engine_and_leave_unused_addresses_empty(paper: Paper) -> None:
    bare = paper("figure")
    lids = np.arange(1, 17, dtype=np.uint32) * 3
    routes = compute(bare.replace(host_lid=lids, switch_lid=lids[:6] + 1), "minhop").routes
    assert routes.engine == "minhop"
    assert routes.ports.shape == (6, 49)
    assert (routes.ports[:, [0, 2, 5, 47]] == NO_PORT).all()


def test_a_single_switch_is_routed_by_every_engine_but_updn() -> None:
    fabric = build(
        "crossbar",
        host_name=["a", "b", "c"],
        host_switch=np.zeros(3),
        host_port=np.array([300, 2, 1]),
        switch_name=["x"],
        switch_ports=300,
        cables=np.zeros((0, 4)),
    )
    for engine in ("minhop", "dor", "dmodk", "updn"):
        routes = compute(fabric, engine).routes
        assert routes.ports.tolist() == [[NO_PORT, 300, 2, 1, 0]]


def test_addresses_that_clash_are_given_out_anew(paper: Paper) -> None:
    bare = paper("figure")
    for lids in (np.zeros(16), np.ones(16), np.arange(7, 23)):
        clashing = bare.replace(host_lid=lids.astype(np.uint32))
        fabric = compute(clashing, "minhop")
        assert fabric.host_lid.tolist() == list(range(1, 17))
        assert fabric.switch_lid.tolist() == list(range(17, 23))
    kept = bare.replace(host_lid=np.arange(30, 46, dtype=np.uint32))
    assert compute(kept, "minhop").host_lid.tolist() == list(range(30, 46))
    overlapping = bare.replace(host_lmc=np.ones(16, dtype=np.uint8))
    assert compute(overlapping, "minhop").host_lmc.tolist() == [0] * 16


@pytest.mark.parametrize(
    ("engine", "complaint"),
    [
        ("mindhop", "no engine 'mindhop' among contend, minhop, updn, .*; did you mean 'minhop'"),
        ("minhop,lmc=2", "engine minhop has no option 'lmc'; it has none"),
        ("ecmp,flows=0", "flows is a number from 1 to 256, not '0'"),
        ("ecmp,seed=3", "seed is own or shared, not '3'"),
        ("spray,flows=2", "engine spray has no option 'flows'"),
        ("valiant,by=pods", "engine valiant: by is cables or groups, not 'pods'"),
        ("spray,by=", "option by needs a value"),
    ],
)
def test_unknown_engines_and_options_are_refused(paper: Paper, engine: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        compute(paper("figure"), engine)


def test_engines_are_known_by_name_with_what_they_are_about() -> None:
    assert all(about for about in engines.engine_names().values())
    assert {"minhop", "updn", "dmodk", "fig1", "opensm:ftree"} <= engines.engine_names().keys()


def test_updn_says_when_it_finds_no_root(paper: Paper) -> None:
    with pytest.raises(UsageError, match="updn finds no root in torus"):
        compute(paper("torus"), "updn")


def test_updn_takes_roots_from_a_file(paper: Paper, tmp_path: Path) -> None:
    fabric = paper("torus")
    roots = tmp_path / "roots"
    roots.write_text(f"# the first\n0x{int(fabric.switch_guid[0]):016x}\n\n", encoding="utf-8")
    routed = compute(fabric, f"updn,roots={roots}")
    assert all(route(routed, 0, destination) is not None for destination in range(40))
    roots.write_text(f"{fabric.switch_label[0]}\n", encoding="utf-8")
    named = compute(fabric, f"updn,roots={roots}").tables
    assert np.array_equal(named.ports, routed.tables.ports)
    roots.write_text("0x1\n", encoding="utf-8")
    with pytest.raises(InputError, match="roots:1: expected the GUID or the name of a switch, got"):
        compute(fabric, f"updn,roots={roots}")


def test_dmodk_names_the_cable_that_makes_it_no_tree(paper: Paper) -> None:
    with pytest.raises(UsageError, match='in torus switches "switch 0" and "switch 1" are cabled'):
        compute(paper("torus"), "dmodk")


def test_every_engine_is_told_of_in_help_and_pages() -> None:
    """Those of OpenSM are told together; one is for a figure of a paper alone."""
    page = (Path(__file__).parents[2] / "docs/reference/routing-engines.md").read_text()
    own = {name for name in engines.engine_names() if not name.startswith("opensm:")} - {"fig1"}
    assert {name for name in own if f"**{name}**" not in page} == set()
    assert {name for name in own if not re.search(rf"\b{name}\b", ENGINES)} == set()
