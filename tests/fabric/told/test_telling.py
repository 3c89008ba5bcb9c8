"""Rails that a file tells: of which servers, in which order, and what is on none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import contend
from contend.base.errors import InputError, UsageError
from contend.congestion import JobMessages
from contend.cure.servers import RailLosses
from contend.fabric import (
    Fabric,
    rails_of,
    server_names,
    servers_of,
    tell_rails,
    without,
)
from contend.fabric.rails import Rail, incomplete_servers, rails
from contend.routes import compute
from contend.traffic.placement import Placement
from contend.traffic.placement.order import by_server
from sample_fabrics import DATA
from small_fabrics import fat_tree

FILES = DATA / "rails"
IN_ORDER = ["mlx5_0", "mlx5_1", "mlx5_3", "mlx5_4"]


def servers(count: int = 6) -> Fabric:
    """Servers n1, n2 ... of five adapters, one of each on each of five leaves."""
    fabric = fat_tree(5, count, 2)
    # Host `count` a + s hangs on leaf a: server s's adapter a.
    names = [f"n{host % count + 1} mlx5_{host // count}" for host in range(5 * count)]
    return fabric.replace(host_name=tuple(names), host_system_guid=np.zeros(5 * count, np.uint64))


def told(text: str, folder: Path, fabric: Fabric | None = None) -> Fabric:
    file = folder / "rails"
    file.write_text(text)
    return tell_rails(fabric or servers(), str(file))


def on_rails(fabric: Fabric) -> dict[str, list[str]]:
    """Adapters of every server in the order of rails."""
    found: dict[str, list[str]] = {}
    for host in np.argsort(rails_of(fabric), kind="stable").tolist():
        name, _, adapter = fabric.host_name[host].partition(" ")
        if rails_of(fabric)[host] >= 0:
            found.setdefault(name, []).append(adapter)
    return found


@pytest.mark.parametrize("file", ["server.topo", "server.nccl.xml"])
def test_what_one_server_says_holds_for_all_that_have_its_adapters(file: str) -> None:
    """The adapter in the middle is near to no GPU: it is on no rail, but still of its server."""
    fabric = tell_rails(servers(), str(FILES / file))
    assert on_rails(fabric) == {f"n{number}": IN_ORDER for number in range(1, 7)}
    assert [rail.adapters for rail in rails(fabric)] == IN_ORDER
    assert np.bincount(servers_of(fabric)).tolist() == [5] * 6
    assert fabric.told.words == f"rails as {FILES / file} has them: 6 servers with 4 rails"


def test_a_line_for_each_server_and_one_for_the_others(tmp_path: Path) -> None:
    fabric = tell_rails(servers(), str(FILES / "servers.rails"))
    other = ["mlx5_1", "mlx5_0", *IN_ORDER[2:]]
    rest = {f"n{number}": other for number in (3, 4, 5, 6)}
    assert on_rails(fabric) == {"n1": IN_ORDER, "n2": ["mlx5_0", "mlx5_3", "mlx5_4"], **rest}
    # What stands behind the lacking one keeps its place.
    assert rails_of(fabric)[fabric.host_name.index("n2 mlx5_3")] == 2
    # The file says itself that there is none.
    assert list(incomplete_servers(fabric)) == []


def test_adapters_that_are_told_and_not_there_are_missing(tmp_path: Path) -> None:
    """Also by more than a quarter: what is told is what should be."""
    text = "n1 mlx5_0 mlx5_1\nn2 mlx5_0 mlx5_7\nn9 mlx5_0 mlx5_1\n"
    fabric = told(text, tmp_path)
    assert list(incomplete_servers(fabric)) == ['server n2: adapter "mlx5_7" of rail 2 is missing']
    assert fabric.told.words.endswith(
        "2 servers with 2 rails; 1 adapter of theirs is not in the fabric; 1 further server is not "
        "in the fabric"
    )


def test_guids_name_adapters_of_a_server_that_nothing_else_names(tmp_path: Path) -> None:
    fabric = servers(2)
    fabric = fabric.replace(host_name=("mlx5_0",) * 10)
    guids = fabric.host_port_guid.tolist()
    text = f"one 0x{guids[3]:x} 0x{guids[1]:016X}\ntwo {guids[0]:#x} {guids[2]:#x}\n"
    fabric = told(text, tmp_path, fabric)
    server, rail = servers_of(fabric), rails_of(fabric)
    assert server[3] == server[1] != server[0] == server[2]
    assert rail[:4].tolist() == [0, 1, 1, 0]
    assert [server_names(fabric)[host] for host in range(4)] == ["two", "one", "two", "one"]
    assert len(set(server_names(fabric)[4:])) == 6


def test_servers_of_one_system_are_told_apart(tmp_path: Path) -> None:
    """Twins in one case, say; what is not told stays with its twin only if there is but one."""
    fabric = servers(2).replace(
        host_name=tuple(f"a{host}" for host in range(10)),
        host_system_guid=np.repeat(np.array([7, 8], np.uint64), 5),
    )
    fabric = told("left a0 a1\nright a3 a2\nthird a5 a6", tmp_path, fabric)
    assert servers_of(fabric).tolist() == [0, 0, 1, 1, 2, 3, 3, 3, 3, 3]
    assert rails_of(fabric).tolist() == [0, 1, 1, 0, 0, 0, 1, -1, -1, -1]


def test_names_that_another_server_has(tmp_path: Path) -> None:
    """A told name is that server's alone."""
    fabric = told('n2 "n1 mlx5_0" "n1 mlx5_1"', tmp_path)
    names = dict(zip(fabric.host_name, server_names(fabric), strict=True))
    assert names["n1 mlx5_0"] == names["n1 mlx5_4"] == "n2"
    assert names["n2 mlx5_0"].startswith("0x")


def test_only_adapters_on_rails_carry_collectives(tmp_path: Path) -> None:
    fabric = tell_rails(servers(), str(FILES / "server.topo"))
    seats = by_server(fabric, np.arange(fabric.hosts))
    assert seats.shape == (6, 4)
    assert [fabric.host_name[host] for host in seats[2].tolist()] == [f"n3 {a}" for a in IN_ORDER]
    placed = Placement.from_hosts(fabric, ["n1"] * 4 + ["n2"] * 4)
    assert placed.hosts.tolist() == [*seats[0].tolist(), *seats[1].tolist()]
    lost = RailLosses(compute(fabric, "minhop"), np.arange(fabric.hosts), 4, 1)
    storage = fabric.host_name.index("n1 mlx5_2")
    assert lost.hit(np.array([storage])) == ()
    assert [one.rails for one in lost.hit(np.array([storage, storage + 6]))] == [4]


def test_no_message_within_rails_stays_in_its_server_or_leaves_its_rail(tmp_path: Path) -> None:
    """What GPUs of one server have for each other goes by NVLink."""
    fabric = compute(tell_rails(servers(), str(FILES / "servers.rails")), "minhop")
    server, rail = servers_of(fabric), rails_of(fabric)
    every = np.arange(fabric.hosts, dtype=np.uint32)
    messages = JobMessages(fabric, [every], pattern="alltoall", rails=True, seed=3)
    sent = messages.sent(range(1))
    first = messages.channels - 2 * len(messages.hosts)
    places = sent.crossed[:, -2:] - first - np.array([0, len(messages.hosts)])
    ends = messages.hosts[places]
    # Six servers send to five each on four rails, but n2 has no second rail.
    assert len(ends) == 6 * 5 * 4 - 2 * 5
    assert (server[ends[:, 0]] != server[ends[:, 1]]).all()
    assert (rail[ends[:, 0]] == rail[ends[:, 1]]).all()
    assert (rail[ends] >= 0).all()


def test_what_is_told_stays_with_what_is_left(tmp_path: Path) -> None:
    whole = tell_rails(servers(), str(FILES / "servers.rails"))
    rest = without(whole, ["n1", "n3 mlx5_1"]).fabric
    assert "n1" not in on_rails(rest)
    assert on_rails(rest)["n3"] == ["mlx5_0", "mlx5_3", "mlx5_4"]
    assert rails_of(rest)[rest.host_name.index("n3 mlx5_0")] == 1
    assert list(incomplete_servers(rest)) == ['server n3: adapter "mlx5_1" of rail 1 is missing']


def test_generated_servers_are_told_by_the_front_door(tmp_path: Path) -> None:
    file = tmp_path / "rails"
    file.write_text('"server 1" "rail 2" "rail 1"\n* "rail 1" "rail 2"\n')
    fabric = contend.load("rails:2,2,2,2", rails=file, route="minhop", without=["spine 1"])
    assert rails_of(fabric).tolist() == [1, 0, 0, 1, 0, 1, 0, 1]
    assert rails(fabric)[0] == Rail(1, "rail 1, rail 2", 4, 3, 0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "rails: expected servers with their adapters, got none"),
        ("# n1\n\n", "rails: expected servers with their adapters, got none"),
        ("n1\n", 'rails:1: expected a server and its adapters in the order of rails, got "n1"'),
        ('n1 "a b', 'rails:1: expected names, those with blanks in "quotes", got ""a b"'),
        ("n1 a\nn1 b", 'rails:2: expected a line for each server, got "n1", which line 1 has too'),
        ("n1 mlx5_0 mlx5_0", 'rails:1: expected every adapter once, got "mlx5_0" again'),
        ("n1 mlx5_0\nn2 mlx5_0\nm mlx5_1 0x100000000", "rails:3: expected every adapter once, got"),
        ("x mlx5_0\n", 'got mlx5_0 of server "x", not there'),
        ("n1 mlx5_0\n* mlx5_8 mlx5_9", "rails:2: expected adapters of .*, got mlx5_8, mlx5_9 of a"),
        ("n1 " + "a " * 257, "rails:1: expected at most 256 adapters of a server, got 257"),
        ("n1 \xff", None),
    ],
)
def test_files_that_tell_no_rails(text: str, complaint: str | None, tmp_path: Path) -> None:
    file = tmp_path / "rails"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=complaint or "rails:1: expected text in UTF-8, got other"):
        tell_rails(servers(), str(file))


def test_a_name_of_several_hosts_names_none(tmp_path: Path) -> None:
    fabric = servers(2).replace(host_name=("n1 mlx4_0", *(f"x{host}" for host in range(9))))
    fabric = fabric.replace(host_name=("n1 mlx4_0", "n1 mlx4_0", *fabric.host_name[2:]))
    with pytest.raises(InputError, match='"mlx4_0", which 2 have; give GUIDs of ports'):
        told("n1 mlx4_0", tmp_path, fabric)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="absent: no such file"):
        contend.load("fig1", rails="absent")
    with pytest.raises(UsageError, match="cannot both come from standard input"):
        contend.load("-", rails="-")
