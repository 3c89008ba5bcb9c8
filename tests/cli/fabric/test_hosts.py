"""`contend fabric hosts` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import contend
from contend.routes import save
from sample_fabrics import DATA
from typed_commands import Typed

TINY = str(DATA / "tiny.ibnetdiscover")


def test_list_on_standard_output(typed: Typed) -> None:
    found = typed("fabric hosts tara --placement port-group:3 -n 9")
    assert found == ("".join(f"host {n}\n" for n in range(1, 10)), "")


def test_host_file(typed: Typed, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    asked = "fabric hosts fig1 --placement leaves:2 -n 31 --ranks-per-host 8 --format openmpi"
    assert typed(asked, "-o", path).out == (
        f"31 ranks on 4 hosts of 2 leaf switches, written to {path}; launchers do not take the "
        'name "1", so it is host-1 there\n'
    )
    comment, _, hosts_of = path.read_text().partition("\n")
    assert comment.startswith("# Open MPI 4.1 fills the machine that runs mpirun first")
    assert hosts_of == "".join(
        f"host-{n} slots={slots}\n" for n, slots in ((1, 8), (2, 8), (5, 8), (6, 7))
    )


def test_json_alone_on_standard_output(typed: Typed) -> None:
    found = json.loads(typed("fabric hosts fig1 --placement spread -n 2 --json -").out)
    assert (found["fabric"], found["placement"], found["ranks"]) == ("fig1", "spread", 2)
    assert found["hosts"] == [
        {"name": "host-1", "host": "1", "ranks": 1, "switch": "leaf 1", "port": 1},
        {"name": "host-9", "host": "9", "ranks": 1, "switch": "leaf 3", "port": 1},
    ]


def test_servers_come_once_and_can_be_excluded(typed: Typed) -> None:
    # "host a HCA-1" has two ports.
    for asked, found in (
        ([], "host hostb hostc hostd"),
        (["--hosts", "!hostb,!hostd"], "host hostc"),
        (["--hosts", "host?,!hostc"], "hostb hostd"),
    ):
        assert typed("fabric hosts", TINY, *asked).out.split("\n") == [*found.split(), ""]
    error = typed("fabric hosts", TINY, "--hosts", "!*", status=2).err
    assert error == "contend: --hosts: '!*' leaves none of 5 hosts\n"


def test_whole_servers_leaf_by_leaf_where_they_have_several_adapters(
    tmp_path: Path, typed: Typed
) -> None:
    made = contend.load("rails:2,2,2,1")
    servers = ["n1", "n3", "n2", "n4"]
    words = [f"{server} mlx5_{rail}" for server in servers for rail in (0, 1)]
    net, listed = tmp_path / "net.fabric", tmp_path / "hosts"
    save(made.replace(host_name=tuple(words)), net)
    for placement, order in (([], servers), (["--placement", "linear"], sorted(servers))):
        printed = typed("fabric hosts", net, *placement, "-o", listed)
        assert listed.read_text().split() == order
        said = "2 rails: whole servers leaf by leaf" in printed.out
        assert said is (not placement)
