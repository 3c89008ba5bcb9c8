from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import numpy as np
import pytest

from contend.errors import InputError, UsageError
from contend.fabric import recognise
from contend.fabric.formats.topology import READERS
from contend.loading import LoadedFabric, load, load_topology
from contend.routes import KINDS, load_tables, save
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


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("name", "old"),
    [
        ("tiny.db_csv", b"host a HCA-1"),
        ("tiny.opensm-subnet.lst", b"{host a HCA-1}"),
        ("tiny.net", b"host a HCA-1"),
        ("tiny.dot", b"// hosts"),
    ],
)
def test_a_name_that_is_no_utf8_can_be_written_everywhere(
    name: str, old: bytes, compressed: bool, tmp_path: Path
) -> None:
    """Latin-1's 0xE9 is escaped when it is read, so every writer and JSON have text to write."""
    content = (DATA / name).read_bytes()
    assert old in content
    new = old.replace(b"host a", b"caf\xe9")
    if name == "tiny.dot":
        new, content = old, content.replace(b"H0000000000000001", b"H\xe9")
    path = tmp_path / name
    path.write_bytes(
        gzip.compress(content.replace(old, new)) if compressed else content.replace(old, new)
    )
    fabric = load(path, route="minhop")
    assert any(r"\xe9" in host for host in fabric.host_name)
    assert msgspec.json.decode(msgspec.json.encode(fabric.host_name)) == list(fabric.host_name)
    # An ORCS graph holds one address for a host.
    single = fabric.replace(host_lmc=np.zeros(fabric.hosts, dtype=np.uint8))
    for kind in KINDS:
        save(single, tmp_path / "written", kind)
    save(fabric, tmp_path / "again.fabric")
    assert load(tmp_path / "again.fabric").host_name == fabric.host_name


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


def test_a_path_is_a_file_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fig1").write_bytes(Path(TINY).read_bytes())
    assert load("fig1").hosts == 16
    assert load(Path("fig1")).hosts == load("./fig1").hosts == load(Path(TINY)).hosts
    assert load(Path(TINY), routes=Path(TABLES)).routes is not None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("xgtf:2;18,36;1,18", "no such file, and no generator .*; did you mean 'xgft'"),
        ("thunderbrid", "thunderbrid: no such file, and no generator .* mean 'thunderbird'"),
        ("qqqq:1", "qqqq:1: no such file, and no generator has this name$"),
        ("net.ibnetdiscover", "net.ibnetdiscover: no such file$"),
    ],
)
def test_a_mistyped_generator_is_told_its_nearest_name(source: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        load(source)


def test_what_is_no_source_is_told() -> None:
    with pytest.raises(UsageError, match="a file, a generator or a graph of networkx, got int"):
        load(7)


def test_a_notebook_routes_and_follows() -> None:
    """Figure 1 of the 2008 paper: hosts 1 and 5 are on the first two leaves."""
    fabric = load("fig1")
    with pytest.raises(UsageError, match="fig1 has no routes: give routes=FILE or route=ENGINE"):
        fabric.path("1", "5")
    routed = fabric.route("minhop").route("fig1")
    assert fabric.routes is None
    path = routed.path("1", "5")
    assert path.channels == routed.path(0, 4).channels
    assert len(path) == 4
    assert repr(path).splitlines()[:2] == [
        "route of 4 channels from 1 to 5",
        '  host "1" -> switch "leaf 1" port 1',
    ]
    assert list(path)[-1] == 'switch "leaf 2" port 1 -> host "5"'
    # Every channel starts at the switch where the one before ends.
    assert [name.split(" -> ")[1].split(" port ")[0].split('"')[1] for name in list(path)[:-1]] == [
        name.split(" -> ")[0].split(" port ")[0].split('"')[1] for name in list(path)[1:]
    ]
    assert routed.path("1", "2").channels == (2 * 16, 2 * 16 + 16 + 1)


def test_hosts_go_by_number_or_name() -> None:
    fabric = load("crossbar:4", route="minhop").replace(host_name=("left", "twin", "twin", "right"))
    assert isinstance(fabric, LoadedFabric)
    assert fabric.path("left", np.int64(3)).target == 3
    for host, reason in (
        (4, "has 4 hosts, no host 4"),
        (-1, "has 4 hosts, no host -1"),
        ("twin", "2 hosts are called 'twin'; give a number: 1, 2"),
        ("lefty", "no host 'lefty'; did you mean 'left'"),
    ):
        with pytest.raises(UsageError, match=reason):
            fabric.path(host, "right")
    with pytest.raises(UsageError, match='expected two hosts, got "left" twice'):
        fabric.path("left", 0)


def test_a_fabric_shows_itself_in_a_line_and_in_a_notebook() -> None:
    assert repr(load("fig1", route="minhop")) == (
        "<Fabric fig1: 16 hosts, 6 switches, 16 cables between them, routes by minhop>"
    )
    assert repr(load("crossbar:1")) == (
        "<Fabric crossbar:1: 1 host, 1 switch, 0 cables between them, no routes>"
    )
    html = load("fig1").replace(name="<b>")._repr_html_()
    assert "<caption>&lt;b&gt;</caption>" in html
    assert "<th>hosts</th><td>16</td>" in html
    assert "<th>routes</th><td>no routes</td>" in html


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
