"""Entries for what contend does not judge: they come back, are mended, and stay in new tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import contend
from contend.fabric import NO_SWITCH, Fabric, make, open_chunks
from contend.routes import NO_PORT, ForwardingTables, save
from contend.routes.dumps.columns import TableColumns
from contend.routes.dumps.readers import LFTS
from contend.routes.saving import lost
from sample_fabrics import DATA, fabrics
from simulated_network import tables_of_opensm

NET = DATA / "ibsim" / "aggregation-nodes.ibnetdiscover"
DUMP = DATA / "ibsim" / "aggregation-nodes.dump_fts"
NODES = range(23, 29)
"""LIDs of the aggregation nodes there, one on port 41 of each switch."""


def dumped(path: Path) -> TableColumns:
    return LFTS.read(open_chunks(str(path)), path.name)


def entries(switch_guid: np.ndarray, ports: np.ndarray) -> dict[tuple[int, int], int]:
    """Ports by GUID of the switch and LID."""
    rows, lids = np.nonzero(ports != NO_PORT)
    guids = switch_guid[rows].tolist()
    return dict(
        zip(zip(guids, lids.tolist(), strict=True), ports[rows, lids].tolist(), strict=True)
    )


def entries_of(fabric: Fabric) -> dict[tuple[int, int], int]:
    return entries(fabric.switch_guid, fabric.tables.ports)


def by_owner(columns: TableColumns) -> dict[tuple[int, int], int]:
    """Ports by GUID of the switch and of the LID's owner, whatever LID that has."""
    return {
        (guid, int(columns.owner_guid[lid])): port
        for (guid, lid), port in entries(columns.switch_guid, columns.ports).items()
    }


def ends(fabric: Fabric, lid: int) -> dict[str, tuple[str, int] | None]:
    """Where the entries for a LID lead to from every switch: the last switch and its port."""
    found: dict[str, tuple[str, int] | None] = {}
    for start, name in enumerate(fabric.switch_name):
        at, port, steps = start, int(fabric.tables.ports[start, lid]), 0
        while (out := fabric.core.out(at, port)) < 2 * fabric.cables and steps < 99:
            cable, back = divmod(out, 2)
            at = int((fabric.cable_from if back else fabric.cable_to)[cable])
            port, steps = int(fabric.tables.ports[at, lid]), steps + 1
        found[name] = None if port == NO_PORT else (fabric.switch_name[at], port)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("others")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fabrics())
def test_every_entry_comes_back(folder: Path, fabric: Fabric) -> None:
    topology, tables, both = folder / "x.ibnetdiscover", folder / "x.lfts", folder / "x.fabric"
    expected = {key: port for key, port in entries_of(fabric).items() if key[1]}
    save(fabric, topology)
    save(fabric, tables)
    again = contend.load(topology, routes=tables)
    assert entries_of(again) == expected
    save(again, both)
    save(contend.load(both), tables)
    columns = dumped(tables)
    assert entries(columns.switch_guid, columns.ports) == expected
    told = {lid for _, lid in expected}
    owners = dict(zip(fabric.other_lid.tolist(), fabric.other_guid.tolist(), strict=True))
    for lid in told & owners.keys():
        assert columns.owner_guid[lid] == owners[lid]
        assert columns.owner_kind[lid] == ("Router" if owners[lid] else "")


@pytest.mark.parametrize("name", ["compute", "storage"])
def test_tables_of_a_real_machine_come_back(shared_data: Path, name: str, tmp_path: Path) -> None:
    dump = shared_data / f"selene.{name}.minhop.opensm-lfts.xz"
    fabric = contend.load(shared_data / f"selene.{name}.ibnetdiscover.xz", routes=dump)
    # An aggregation node on every switch, and its place.
    nodes = {"compute": 666, "storage": 0}[name]
    assert len(fabric.other_lid) == nodes
    assert sorted(fabric.other_switch.tolist()) == list(range(nodes))
    save(fabric, tmp_path / "x.lfts")
    before, after = dumped(dump), dumped(tmp_path / "x.lfts")
    order = np.argsort(before.switch_guid), np.argsort(after.switch_guid)
    assert np.array_equal(before.ports[order[0]], after.ports[order[1]])
    # Hosts go by the topology's GUIDs, which ibsim does not keep.
    others = fabric.other_lid.tolist()
    assert np.array_equal(before.owner_guid[others], after.owner_guid[others])
    assert [before.owner_name[lid] for lid in others] == [after.owner_name[lid] for lid in others]
    assert before.owner_kind == after.owner_kind


def test_owners_are_known_by_the_dump_and_by_the_topology() -> None:
    for fabric in (
        contend.load(NET, routes=DUMP),
        contend.load(NET),
        contend.load(NET, route="minhop"),
    ):
        assert sorted(fabric.other_lid.tolist()) == list(NODES)
        assert set(fabric.other_kind) == {"Channel Adapter"}
        assert set(fabric.other_name) == {"Mellanox Technologies Aggregation Node"}
        assert sorted(fabric.other_switch.tolist()) == list(range(6))
        assert set(fabric.other_port.tolist()) == {41}


def test_tables_alone_tell_where_an_unknown_owner_hangs() -> None:
    """A topology without the nodes, and a dump that names no owners."""
    fabric = contend.load(NET, routes=DUMP)
    nothing = {name: getattr(make("fig1"), name) for name in vars(fabric) if name[:6] == "other_"}
    bare = fabric.replace(**nothing)
    nameless = TableColumns(fabric.switch_guid, fabric.tables.ports, np.zeros(29, dtype=np.uint64))
    adopted = contend.routes.adopt(bare, nameless, "x")
    assert adopted.other_lid.tolist() == list(NODES)
    assert not adopted.other_guid.any()
    found = zip(adopted.other_lid.tolist(), adopted.other_switch, adopted.other_port, strict=True)
    for lid, switch, port in found:
        assert set(ends(adopted, lid).values()) == {(adopted.switch_name[switch], port)}


@pytest.mark.parametrize(
    "engine", ["contend", "minhop", "updn", "dor", "dmodk", "contend,lmc=1", "contend,lanes=2"]
)
@pytest.mark.parametrize("routes", [None, DUMP])
def test_every_engine_leads_to_others(engine: str, routes: Path | None) -> None:
    before = contend.load(NET, routes=routes)
    routed = before.route(engine)
    node_of = {
        int(guid): lid for guid, lid in zip(before.other_guid, before.other_lid, strict=True)
    }
    for other, lid in enumerate(routed.other_lid.tolist()):
        place = (routed.switch_name[routed.other_switch[other]], 41)
        # By updn roots do not reach each other's own LIDs.
        unreached = {None} if engine == "updn" and routes is None else set()
        assert set(ends(routed, lid).values()) - unreached == {place}
        if routes is not None:
            # Whatever LID it has now, its entries are those that it had.
            had = node_of[int(routed.other_guid[other])]
            assert np.array_equal(routed.tables.ports[:, lid], before.tables.ports[:, had])
    judged = routed.replace(routes=None, **_none())
    assert entries_of(judged.route(engine)).items() <= entries_of(routed).items()


def _none() -> dict[str, object]:
    plain = make("fig1")
    return {name: getattr(plain, name) for name in vars(plain) if name.startswith("other_")}


def test_changes_of_few_entries_keep_the_rest() -> None:
    before = contend.load(NET, routes=DUMP)
    better = contend.routes.table_steps(before)
    assert len(better.at) > 0 or entries_of(better.fabric) == entries_of(before)
    changed = set(zip(before.switch_guid[better.at].tolist(), better.address.tolist(), strict=True))
    after = entries_of(better.fabric)
    assert {key: port for key, port in entries_of(before).items() if key not in changed} == {
        key: port for key, port in after.items() if key not in changed
    }


def test_others_are_mended_like_hosts() -> None:
    whole = contend.load(NET, routes=DUMP)
    left = contend.load(NET, routes=DUMP, without=["spine1", "leaf1:22"])
    assert "spine1" not in left.switch_name
    reached = set(left.switch_name) - {"leaf1"}
    for other, lid in enumerate(left.other_lid.tolist()):
        place = (left.switch_name[left.other_switch[other]], 41)
        found = ends(left, lid)
        # Leaf 1 has no cable any more.
        expected = dict.fromkeys(reached, place) | {"leaf1": None}
        if place[0] == "leaf1":
            expected = dict.fromkeys(reached, None) | {"leaf1": place}
        assert found == expected
    # The spine, its node and the hosts of the leaf that is cut off have no entries any more.
    gone = set(whole.switch_lid.tolist()) - set(left.switch_lid.tolist())
    gone |= set(whole.other_lid.tolist()) - set(left.other_lid.tolist())
    gone |= set(whole.host_lid.tolist()) - set(left.host_lid.tolist())
    assert len(gone) == 1 + 1 + 4
    assert not gone & {lid for _, lid in entries_of(left)}


def test_what_went_over_a_dead_cable_to_an_unknown_place_is_dropped_and_told() -> None:
    fabric = contend.load(NET, routes=DUMP)
    ports = fabric.tables.ports.copy()
    # Two LIDs of nobody that leave the network in two places; one of them from leaf 1 by spine 1.
    wide = np.hstack([ports, np.full((6, 2), NO_PORT, dtype=np.uint16)])
    leaf, other = fabric.switch_name.index("leaf1"), fabric.switch_name.index("leaf2")
    spine = fabric.switch_name.index("spine1")
    wide[leaf, 29], wide[other, 29], wide[spine, 29] = 21, 40, 40
    wide[leaf, 30], wide[other, 30], wide[spine, 30] = 22, 40, 40
    strange = contend.routes.with_others_found(fabric.replace(routes=ForwardingTables(wide)))
    assert strange.other_switch[strange.other_lid > 28].tolist() == [NO_SWITCH] * 2
    rest = contend.fabric.without(strange, ["leaf1:21"])
    left, _, dropped = contend.routes.mended(strange, rest)
    assert dropped == 1
    assert left.tables.ports[:, 29].tolist() == [
        40 if switch in (other, spine) else NO_PORT for switch in range(6)
    ]
    assert np.array_equal(left.tables.ports[:, 30], wide[:, 30])


def test_an_orcs_graph_says_what_it_lacks() -> None:
    (said,) = lost(contend.load(NET, routes=DUMP), "orcs")
    assert said == "an ORCS graph holds routes to hosts alone, not to 6 other LIDs"
    assert lost(make("fig1"), "orcs") == ()


@pytest.mark.parametrize("engine", [None, "contend", "contend,lmc=1"])
def test_opensm_takes_the_tables_with_their_aggregation_nodes(
    engine: str | None, require_program: Callable[[str], str], tmp_path: Path
) -> None:
    require_program("opensm")
    require_program("ibsim")
    fabric = contend.load(NET, routes=DUMP)
    # With other LIDs than OpenSM gives out: it knows whose they are by the owners.
    shifted = np.full((6, 40), NO_PORT, dtype=np.uint16)
    shifted[:, 8:37] = fabric.tables.ports
    moved = {
        name: getattr(fabric, name) + np.uint32(8)
        for name in ("host_lid", "switch_lid", "other_lid")
    }
    fabric = fabric.replace(**moved, routes=ForwardingTables(shifted))
    routed = fabric if engine is None else fabric.route(engine)
    save(routed, tmp_path / "x.lfts")
    net, room = Path(shutil.copy(NET, tmp_path)), make("xgft:2;8,8;1,8")
    dump = tables_of_opensm(net, "H-2000000000000000", room, "file", "-U", "x.lfts")
    loaded = by_owner(dumped(dump))
    before = by_owner(dumped(DUMP))
    nodes = set(fabric.other_guid.tolist())
    assert len(nodes) == 6
    kept = {key: port for key, port in before.items() if key[1] in nodes or engine is None}
    assert len(kept) == (6 * 6 if engine else 6 * 28)
    assert kept.items() <= loaded.items()
