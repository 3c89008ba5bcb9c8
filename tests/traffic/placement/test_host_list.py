"""Lists of hosts for launchers, and read back by contend itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import InputError, UsageError
from contend.base.names import expand, shorten, split_list
from contend.fabric import Fabric
from contend.lab.emulation import host_labels
from contend.routes import load
from contend.traffic import placement
from contend.traffic.placement import ListFormat, Placement, list_hosts, write_list
from contend.traffic.placement.host_list import HostEntry
from small_fabrics import by_hand

FIRST = "# Open MPI 4.1 fills the machine that runs mpirun first if it is in this list."


@pytest.fixture(scope="module")
def cluster() -> Fabric:
    """Nodes 08 .. 11 on one leaf, and two servers of two rails on the other."""
    names = [f"node{n:02d} HCA-1" for n in range(8, 12)]
    names += [f"vega{n} mlx5_{rail}" for n in (1, 2) for rail in (0, 1)]
    return by_hand("cluster", [names[:4], names[4:]], [(0, 8, 1, 8)], switches=["left", "right"])


def text(fabric: Fabric, spec: str, form: str, **options: object) -> str:
    ranks = options.get("ranks")
    placed = placement.parse(spec, fabric, **options)  # type: ignore[arg-type]
    return write_list(list_hosts(fabric, placed, ranks), ListFormat(form))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("plain", ["node08", "node09", "node10"]),
        ("openmpi", [FIRST, "node08 slots=2", "node09 slots=2", "node10 slots=1"]),
        ("mpich", ["node08:2", "node09:2", "node10:1"]),
        ("slurm", ["node08", "node08", "node09", "node09", "node10"]),
        ("nodelist", ["node[08-10]"]),
        (
            "rankfile",
            [
                *("rank 0=node08 slot=0", "rank 1=node08 slot=1", "rank 2=node09 slot=0"),
                *("rank 3=node09 slot=1", "rank 4=node10 slot=0"),
            ],
        ),
        ("cray", ["0,1", "2,3", "4"]),
    ],
)
def test_five_ranks_two_to_a_host(cluster: Fabric, form: str, lines: list[str]) -> None:
    assert text(cluster, "same-leaf", form, ranks=5, ranks_per_host=2).splitlines() == lines


def test_rails_of_a_server_are_one_host_to_a_launcher(cluster: Fabric) -> None:
    found = text(cluster, "linear", "openmpi", hosts="vega*", ranks_per_host=3)
    assert found == f"{FIRST}\nvega1 slots=6\nvega2 slots=6\n"
    assert text(cluster, "linear", "plain", hosts="vega1") == "vega1\n"


def test_order_that_open_mpi_gathers(cluster: Fabric) -> None:
    """vega1, vega2, vega1: mpirun would put the third rank beside the first."""
    placed = Placement("mine", np.array([4, 6, 5], dtype=np.uint32))
    entries = list_hosts(cluster, placed)
    assert write_list(entries, ListFormat.SLURM) == "vega1\nvega2\nvega1\n"
    assert write_list(entries, ListFormat.MPICH) == "vega1:1\nvega2:1\nvega1:1\n"
    with pytest.raises(UsageError, match="the formats rankfile and slurm keep their order"):
        write_list(entries, ListFormat.OPENMPI)


def test_a_rank_order_lists_ranks_by_server_in_the_order_of_names(cluster: Fabric) -> None:
    placed = Placement("mine", np.array([2, 0, 2, 0, 1], dtype=np.uint32))
    with pytest.raises(UsageError, match="node09 has 1 rank, others 2; the format slurm"):
        write_list(list_hosts(cluster, placed), ListFormat.CRAY)
    placed = Placement("mine", np.array([1, 0, 1, 0, 2], dtype=np.uint32))
    assert write_list(list_hosts(cluster, placed), ListFormat.CRAY) == "1,3\n0,2\n4\n"


def test_a_rankfile_keeps_any_order(cluster: Fabric) -> None:
    placed = Placement("mine", np.array([1, 0, 1], dtype=np.uint32))
    assert write_list(list_hosts(cluster, placed), ListFormat.RANKFILE) == (
        "rank 0=node09 slot=0\nrank 1=node08 slot=0\nrank 2=node09 slot=1\n"
    )


@pytest.mark.parametrize("form", sorted(set(ListFormat) - {ListFormat.PLAIN, ListFormat.NODELIST}))
@pytest.mark.parametrize("per_host", [1, 3])
def test_every_list_that_gives_ranks_is_read_back_as_the_same_placement(
    cluster: Fabric, tmp_path: Path, form: str, per_host: int
) -> None:
    path = tmp_path / "hosts"
    ranks = 8 * per_host
    given: dict[str, Any] = {"ranks": ranks, "ranks_per_host": per_host}
    if form == ListFormat.CRAY:
        path.write_text("0,2\n1,3\n")
        with pytest.raises(InputError, match=":1: expected names of hosts, got ranks alone"):
            placement.parse(f"file:{path}", cluster)
        return
    path.write_text(text(cluster, "linear", form, **given))
    placed = placement.parse("linear", cluster, **given)
    read = placement.parse(f"file:{path}", cluster)
    assert read.host_of_rank.tolist() == placed.host_of_rank[:ranks].tolist()


@pytest.mark.parametrize("form", [ListFormat.PLAIN, ListFormat.NODELIST])
def test_lists_of_names_are_read_back_as_these_hosts(
    cluster: Fabric, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "hosts"
    path.write_text(text(cluster, "linear", form))
    read = placement.parse(f"file:{path}", cluster)
    assert read.host_of_rank.tolist() == list(range(8))


@pytest.mark.parametrize("form", [ListFormat.RANKFILE, ListFormat.SLURM, ListFormat.MPICH])
def test_a_server_that_comes_again_goes_on_with_its_rails(
    cluster: Fabric, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "hosts"
    placed = Placement("mine", np.array([4, 6, 5], dtype=np.uint32))
    # vega2 has two rails and comes once, with one rank.
    path.write_text(write_list(list_hosts(cluster, placed), ListFormat(form)))
    read = placement.parse(f"file:{path}", cluster)
    assert read.host_of_rank.tolist()[:2] == [4, 6]
    assert read.host_of_rank.tolist()[-1] == 5


@pytest.mark.parametrize(
    ("lines", "hosts"),
    [
        ("rank 2=node08 slot=0\nrank 0=node10 slots=0:1-2\nrank 1=node09\n", [2, 1, 0]),
        ("node08:2 binding=user:0,1\nnode10:1 ifname=ib0\n", [0, 0, 2]),
        ("node09 slots=2 max_slots=4 # two\n", [1, 1]),
        ("root@node09 slots=2\nu.1@node08,node10:2\n", [1, 1, 0, 2, 2]),
        ("rank 1=root@node08 slot=0\nrank 0=node10\n", [2, 0]),
        # Other options of launchers, Grid Engine, LSF on one line and on several, MVAPICH, Windows.
        ("node09 slots=2 topo=node\nnode08:1 ifhn=node08-ib\n", [1, 1, 0]),
        ("node09 2 all.q@node09 UNDEFINED\nnode08 1 all.q@node08 <NULL>\n", [1, 1, 0]),
        ("node09 2 node08 1\n", [1, 1, 0]),
        ("node09 2\nnode08 1\n", [1, 1, 0]),
        ("node09:2:mlx5_0\nnode08:1:mlx5_1\n", [1, 1, 0]),
        ("\ufeffnode09\r\nnode08\r\n", [1, 0]),
    ],
)
def test_what_launchers_take_is_read(
    cluster: Fabric, tmp_path: Path, lines: str, hosts: list[int]
) -> None:
    (tmp_path / "hosts").write_text(lines)
    assert placement.parse(f"file:{tmp_path}/hosts", cluster).host_of_rank.tolist() == hosts


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("rank 0=node08\nrank 0=node09\n", ":2: expected each rank once, got rank 0 again"),
        ("rank 1=node08\n", "expected a line for each of 1 ranks, got none of 0"),
        ("rank 0=node08\nnode09\n", ":2: expected a rank with its host as before"),
    ],
)
def test_rankfiles_that_lack_ranks(
    cluster: Fabric, tmp_path: Path, lines: str, message: str
) -> None:
    (tmp_path / "hosts").write_text(lines)
    with pytest.raises(InputError, match=message):
        placement.parse(f"file:{tmp_path}/hosts", cluster)


def test_no_list_sends_a_launcher_to_localhost(cluster: Fabric) -> None:
    for form in ListFormat:
        with pytest.raises(UsageError, match='every machine calls itself "localhost"'):
            write_list([HostEntry(0, "localhost", 1)], form)


@pytest.mark.parametrize(
    ("fabric", "plain", "launched"),
    [
        ("tara", "host 1", "host-1"),
        ("fig1", "1", "host-1"),
        ("rails:2,8,4,2", "server 1", "server-1"),
    ],
)
def test_names_that_no_launcher_takes_are_those_of_emulated_hosts(
    fabric: str, plain: str, launched: str, tmp_path: Path
) -> None:
    loaded = load(fabric)
    assert text(loaded, "servers", "plain").splitlines()[0] == plain
    for form in sorted(set(ListFormat) - {ListFormat.PLAIN, ListFormat.CRAY}):
        path = tmp_path / form
        path.write_text(text(loaded, "servers", form))
        assert launched in path.read_text() or form is ListFormat.NODELIST
        read = placement.parse(f"file:{path}", loaded)
        assert read.host_of_rank.tolist() == placement.parse("servers", loaded).hosts.tolist()
    host = launched.replace("server-1", "server-1-rail-1")
    assert host_labels(loaded)[0] == host


def test_placements_that_make_no_list(cluster: Fabric) -> None:
    with pytest.raises(UsageError, match="drawn anew for every sample"):
        list_hosts(cluster, placement.parse("random", cluster))
    with pytest.raises(UsageError, match="ranks: expected 1 to 8, which have a host, got 9"):
        list_hosts(cluster, placement.parse("linear", cluster), 9)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["n1"], "n1"),
        (["n1", "n2", "n3", "n7"], "n[1-3,7]"),
        (["n08", "n09", "n10", "n11"], "n[08-11]"),
        # Other widths are other names.
        (["n9", "n10"], "n9,n10"),
        # Slurm takes no bracket but at the end.
        (["login", "a1-ib", "a2-ib"], "login,a1-ib,a2-ib"),
        (["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
    ],
)
def test_shortened(names: list[str], short: str) -> None:
    assert shorten(names) == short


PARTS = st.sampled_from(["", "a", "b-", "-x"])
NUMBERS = st.sampled_from(["", "0", "7", "8", "9", "10", "007", "008", "12"])


@given(st.lists(st.tuples(st.just("n"), NUMBERS, PARTS, NUMBERS, PARTS).map("".join), max_size=20))
def test_shortened_lists_expand_to_the_same_names(names: list[str]) -> None:
    expanded = [name for item in split_list(shorten(names)) for name in expand(item, "test")]
    assert sorted(expanded) == sorted(set(names))
