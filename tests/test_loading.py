from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contend.errors import InputError, UsageError
from contend.fabric import recognise
from contend.fabric.read.topology import READERS
from contend.loading import load, load_topology
from contend.routes import load_tables, save
from sample_fabrics import DATA, described, host_ports, two_leaves

TINY = str(DATA / "tiny.ibnetdiscover")
TABLES = str(DATA / "tiny.opensm-lfts.dump")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("two-leaves-1.fabric", "contend's .fabric"),
        ("tiny.db_csv", "ibdiagnet .db_csv"),
        ("tiny.opensm-subnet.lst", "ibdiagnet .lst"),
        ("tiny.dot", "ORCS .dot"),
        ("tiny.net", "ibsim net file"),
        ("tiny.ibnetdiscover", "ibnetdiscover"),
    ],
)
def test_every_kind_is_recognised_by_its_content(name: str, kind: str, tmp_path: Path) -> None:
    unnamed = tmp_path / "file"
    unnamed.write_bytes((DATA / name).read_bytes())
    assert load_topology(str(unnamed)).hosts > 0
    head = (DATA / name).read_bytes()
    if kind != "contend's .fabric":
        assert recognise(head, "x") is READERS[kind]
        assert next(other for other in READERS if READERS[other].recognises(head)) == kind


def test_what_opensm_and_ibnetdiscover_say_of_one_subnet_is_one_fabric() -> None:
    discovered = load_topology(TINY)
    listed = load_topology(str(DATA / "tiny.opensm-subnet.lst"))
    assert described(listed)["cables"] == described(discovered)["cables"]
    assert described(listed)["hosts"] == described(discovered)["hosts"]


def test_dumps_of_one_subnet_are_one_set_of_routes() -> None:
    ways = [
        host_ports(load(TINY, routes=str(DATA / name)))
        for name in ("tiny.opensm-lfts.dump", "tiny.dump_fts", "tiny.opensm.fdbs")
    ]
    assert ways[0] == ways[1] == ways[2]


def test_unknown_content_lists_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("\n  once upon a time\n")
    with pytest.raises(InputError) as caught:
        load_topology(str(path))
    for kind in READERS:
        assert kind in str(caught.value)
    assert "begins with 'once upon a time'" in str(caught.value)
    path.write_text("")
    with pytest.raises(InputError, match="got an empty file"):
        load_topology(str(path))
    with pytest.raises(InputError, match=r"expected forwarding tables .* got an empty file"):
        load_tables(str(path))


def test_tables_for_a_topology_are_told_apart() -> None:
    with pytest.raises(
        UsageError, match="holds forwarding tables, not a topology: give it as routes="
    ):
        load(TABLES)
    with pytest.raises(InputError, match="expected forwarding tables"):
        load(TINY, routes=TINY)


def test_routes_are_given_once() -> None:
    with pytest.raises(UsageError, match="either routes=FILE or route=ENGINE, not both"):
        load(TINY, routes=TABLES, route="minhop")
    with pytest.raises(UsageError, match="cannot both come from standard input"):
        load("-", routes="-")


def test_a_file_without_tables_says_what_to_do() -> None:
    assert load(TINY).routes is None
    with pytest.raises(UsageError, match="holds no routes: give routes=FILE or route=ENGINE"):
        load(TINY, need_routes=True)


def test_generators_are_routed_when_routes_are_needed() -> None:
    assert load("fig1").routes is None
    fabric = load("fig1", need_routes=True)
    assert fabric.routes is not None
    assert fabric.routes.engine == "fig1"
    crossbar = load("xgft:2;2,2;1,2", need_routes=True)
    assert crossbar.routes is not None
    assert crossbar.routes.engine == "minhop"
    computed = load("xgft:2;2,2;1,2", route="updn")
    assert computed.routes is not None
    assert computed.routes.engine == "updn"


def test_a_files_own_routes_are_kept_unless_others_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.fabric"
    save(two_leaves(), path)
    own = load(str(path), need_routes=True)
    assert own.routes is not None
    assert own.routes.engine == "by hand"
    computed = load(str(path), route="minhop")
    assert computed.routes is not None
    assert computed.routes.engine == "minhop"


def test_a_real_machine_with_its_tables(shared_data: Path) -> None:
    fabric = load(
        str(shared_data / "selene.storage.ibnetdiscover.xz"),
        routes=str(shared_data / "selene.storage.minhop.opensm-lfts.xz"),
    )
    assert fabric.routes is not None
    # ibsim made the dump's port GUIDs of node GUIDs and ports; every host is found all the same,
    # and its own switch sends what is meant for it to its own port.
    ports = fabric.routes.ports[fabric.host_switch, fabric.host_lid]
    np.testing.assert_array_equal(ports, fabric.host_port)
    kinds = {finding.kind for finding in fabric.findings if finding.wrong}
    assert not kinds & {"no table", "unknown switch", "no address", "odd addresses"}
