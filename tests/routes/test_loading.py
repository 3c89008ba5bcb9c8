from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import numpy as np
import pytest

from contend.base.errors import IncompleteInput, InputError, UsageError
from contend.fabric import recognise
from contend.fabric.formats.topology import READERS
from contend.routes import KINDS, NO_PORT, ForwardingTables, check, load_tables, save
from contend.routes.loading import load, load_topology
from sample_fabrics import DATA, described, host_ports, two_leaves
from small_fabrics import two_planes

TINY = str(DATA / "tiny.ibnetdiscover")
TABLES = str(DATA / "tiny.opensm-lfts.dump")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("two-leaves.fabric", "contend's .fabric"),
        ("tiny.db_csv", "ibdiagnet .db_csv"),
        ("tiny.opensm-subnet.lst", "ibdiagnet .lst"),
        ("tiny.dot", "ORCS .dot"),
        ("tiny.net_dump", "ibdiagnet .net_dump"),
        ("tiny.topology.conf", "Slurm's topology.conf"),
        ("tiny.topology.yaml", "Slurm's topology.yaml"),
        ("tiny.ptm.dot", "plan of cables"),
        ("tiny.ndt", "plan of cables"),
        ("lldp_tools/leaf1.lldpctl.txt", "LLDP output"),
        ("lldp_tools/leaf1.nvue.json", "LLDP output"),
        ("lldp_tools/leaf1.eos.json", "LLDP output"),
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
    for content, told in (
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\x93\xff\xa1\x80", "a file that is no text"),
        ("B\xfcro, Stra\xdfe".encode("latin-1"), "a file that begins with 'B\ufffdro"),
        (b"", "an empty file"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"got {told}"):
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Interface  Speed  Type  Remote Host  Remote Port\n",
            "nv show interface lldp -o json prints, got the table of nv show interface lldp",
        ),
        (
            "LocalPort    RemoteDevice    RemotePortID    Capability\n",
            "lldpctl -f json prints, got the table of show lldp table",
        ),
        (
            "Port          Neighbor Device ID       Neighbor Port ID    TTL\n",
            "show lldp neighbors detail | json prints, got the table of show lldp neighbors",
        ),
        (
            "Interface Et1 detected 1 LLDP neighbors:\n",
            "| json prints, got show lldp neighbors detail",
        ),
        ("lldp.swp1.via=LLDP\n", "-f json prints, got lldpctl's keys or XML"),
        ('<lldp label="LLDP neighbors">\n', "-f json prints, got lldpctl's keys or XML"),
        ("Device ID      Local   Proto  Cap  Platform  Port ID\n", "json prints, got VyOS's table"),
        ("LocalPort  Speed  Mode  RemoteHost  RemotePort\n", "json prints, got Cumulus's table"),
        ("<lldp-neighbors-information>\n", "the cables, got show lldp neighbors of Junos"),
        *(
            (
                f"  {text}\n",
                "or a plan of the cables, got LLDP or CDP neighbours as another maker's switch",
            )
            for text in (
                "Device ID    Local Intf    Port ID",
                "ChassisId  PortId",
                '{"chassis_id"',
                "Device-ID     Local Intrfce Hldtme Capability  Platform      Port ID",
                "Local Interface   Exptime(s) Neighbor Interface      Neighbor Device",
                "Remote LLDP nearest-bridge Agents on Local Port 1/1/1:",
                "CDP neighbors information",
            )
        ),
        ("CA 'mlx5_0'\n\tCA type: MT4123\n", "ibnetdiscover prints, got the state of one host's"),
        ("hca_id:\tmlx5_0\n", "ibnetdiscover prints, got the state of one host's adapters"),
        ("PARTITION AVAIL  TIMELIMIT  NODES\n", "scontrol show topology prints, got Slurm's list"),
        ("NodeName=n1 Arch=x86_64\n", "scontrol show topology prints, got Slurm's list of nodes"),
        ("No topology information available\n", "lldpctl -f json prints, got word of Slurm"),
        ("-I- Discovering ... 30 nodes\n", "in the folder that it wrote, got ibdiagnet's messages"),
        ("Ty : # : #IB : GUID : LID : Sta\n", "beside it, got ibdiagnet's .net_dump_ext"),
        (
            'Ca\t: 0x0002c90300000001 ports 1 "node1 HCA-1"\n',
            "ibnetdiscover prints without an option, got a list of nodes without their cables",
        ),
    ],
)
def test_what_tells_no_cables_is_named_with_what_does(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.txt"
    path.write_text(f"admin@leaf1:~$ run\n{text}\n")
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: expected a topology, such as ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        "ibpanic: [9382] main: discover failed: (Operation not permitted)",
        "/usr/sbin/ibnetdiscover: iberror: failed: discover failed",
        "ibwarn: [2] mad_rpc_open_port: can't open UMAD port ((null):0)",
        "bash: line 1: ibnetdiscover: command not found",
        "admin is not in the sudoers file. This incident will be reported.",
        "slurm_load_topo error: Unable to contact slurm controller (connect failure)",
    ],
)
def test_an_error_in_place_of_a_topology_is_told_as_one(error: str, tmp_path: Path) -> None:
    path = tmp_path / "net.txt"
    path.write_text(f"admin@leaf1:~$ run\n{error}\n")
    with pytest.raises(InputError) as caught:
        load(path)
    expected = f"{path}: expected a topology, got an error in its place: "
    assert str(caught.value) == f"{expected}{error!r}"


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
    assert fabric.routes.engine == "fig1"
    crossbar = load("xgft:2;2,2;1,2", need_routes=True)
    assert crossbar.routes.engine == "minhop"
    computed = load("xgft:2;2,2;1,2", route="updn")
    assert computed.routes.engine == "updn"


def test_a_files_own_routes_are_kept_unless_others_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.fabric"
    save(two_leaves(), path)
    own = load(str(path), need_routes=True)
    assert own.routes.engine == "by hand"
    computed = load(str(path), route="minhop")
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
    # ibsim made the dump's port GUIDs of node GUIDs and ports; every host is found all the same,
    # and its own switch sends what is meant for it to its own port.
    ports = fabric.routes.ports[fabric.host_switch, fabric.host_lid]
    np.testing.assert_array_equal(ports, fabric.host_port)
    kinds = {finding.kind for finding in fabric.findings if finding.wrong}
    assert not kinds & {"no table", "unknown switch", "no address", "odd addresses"}


@pytest.fixture
def planes(tmp_path: Path) -> Path:
    """A file of two planes that no cable joins, and in planes.lfts the tables of both."""
    whole, file = two_planes(), tmp_path / "planes.ibnetdiscover"
    save(whole, file, "ibnetdiscover")
    dumps = []
    for number in (1, 2):
        save(load(file, part=number, route="minhop"), tmp_path / f"{number}.lfts", "lfts")
        dumps.append((tmp_path / f"{number}.lfts").read_text())
    (tmp_path / "planes.lfts").write_text("".join(dumps))
    return file


@pytest.mark.parametrize("part", [1, "1", "node3 mlx5_1"])
def test_the_part_with_most_hosts_is_the_first(planes: Path, part: int | str) -> None:
    fabric = load(planes, part=part)
    assert (fabric.hosts, fabric.switches, fabric.cables) == (8, 6, 8)
    assert set(fabric.host_name) == {f"node{number} mlx5_1" for number in range(1, 9)}
    assert fabric.name == "planes part 1"
    assert fabric.findings[-1].message == (
        'part 1 of 2, that of "node1 mlx5_1": 8 hosts, 6 switches'
    )


@pytest.mark.parametrize("part", [2, "node3 mlx5_0", "0x100000021"])
def test_a_host_stands_for_its_part(planes: Path, part: int | str) -> None:
    fabric = load(planes, part=part)
    assert (fabric.hosts, fabric.switches, fabric.cables) == (6, 5, 6)
    assert fabric.host_name[2] == "node3 mlx5_0"
    assert fabric.host_port_guid[2] == 0x100000021


@pytest.mark.parametrize("tables", ["planes", "own"])
@pytest.mark.parametrize("part", [1, 2])
def test_tables_of_other_planes_are_passed_over(planes: Path, part: int, tables: str) -> None:
    """Both planes have the LIDs from 1 on: each switch's entries are for hosts of its plane."""
    name = "planes" if tables == "planes" else str(part)
    fabric = load(planes, routes=planes.with_name(f"{name}.lfts"), part=part)
    alone = load(planes, part=part, route="minhop")
    assert not [finding for finding in fabric.findings if finding.wrong]
    assert np.array_equal(fabric.host_lid, alone.host_lid)
    width = alone.tables.addresses
    assert np.array_equal(fabric.tables.ports[:, :width], alone.tables.ports)
    assert (fabric.tables.ports[:, width:] == NO_PORT).all()
    assert check(fabric).passed


def test_a_file_with_tables_inside_gives_those_of_the_part(planes: Path, tmp_path: Path) -> None:
    whole, ports = load(planes), np.full((11, 20), NO_PORT, dtype=np.uint16)
    for number in (1, 2):
        part = load(planes, part=number, route="minhop")
        rows = [whole.switch_name.index(name) for name in part.switch_name]
        ports[rows, : part.tables.addresses] = part.tables.ports
    save(whole.replace(routes=ForwardingTables(ports)), tmp_path / "both.fabric", "fabric")
    for number in (1, 2):
        assert check(load(tmp_path / "both.fabric", part=number)).passed


def test_faults_of_other_planes_are_not_told(planes: Path) -> None:
    """One end of a cable of the smaller plane is silent."""
    lines = planes.read_text().splitlines(keepends=True)
    switch = next(n for n, line in enumerate(lines) if 'plane0-3"' in line and "Switch" in line)
    planes.write_text("".join(lines[: switch + 1] + lines[switch + 2 :]))
    with pytest.warns(IncompleteInput):
        fabrics = {part: load(planes, part=part) for part in (1, 2)}
    assert [check(fabrics[part]).passed for part in (1, 2)] == [True, False]
    assert len(fabrics[2].findings) == len(fabrics[1].findings) + 1


def test_a_part_can_lose_something(planes: Path) -> None:
    tables = planes.with_name("planes.lfts")
    fabric = load(planes, routes=tables, part=2, without=["plane0-3"])
    assert (fabric.hosts, fabric.switches) == (6, 4)
    assert fabric.name == "planes part 2 without plane0-3"
    assert check(fabric).passed
    with pytest.raises(UsageError, match="plane1-5: planes part 2 has no such switch"):
        load(planes, part=2, without=["plane1-5"])


def test_a_fabric_in_one_piece_has_one_part() -> None:
    whole, part = load("fig1"), load("fig1", part=1)
    assert (part.name, part.findings, part.hosts) == (whole.name, whole.findings, whole.hosts)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (
            3,
            "planes has no part or host '3'; it has part 1 (8 hosts, such as \"node1 mlx5_1\"), "
            'part 2 (6 hosts, such as "node1 mlx5_0")',
        ),
        ("plane0-1", "planes has no part or host 'plane0-1'"),
        ("node1", "node1 has hosts in parts 1 and 2: give one of the numbers"),
    ],
)
def test_an_unknown_part_is_one_line(planes: Path, part: int | str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        load(planes, part=part)
    assert told in str(refused.value)


def test_tables_of_another_plane_alone_are_refused(planes: Path) -> None:
    with pytest.raises(InputError, match="tables of this fabric's switches, got tables of other"):
        load(planes, routes=planes.with_name("2.lfts"), part=1)
