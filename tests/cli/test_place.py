"""``contend place`` from outside: its verdict, its JSON, and files that launchers read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from contend.cli.app import run
from contend.routes import compute, save
from processes import CONTEND, finished
from small_fabrics import by_hand
from typed_commands import Typed

# Two hosts on each of two leaves, with one cable between the leaves.
NAMES = ("node1", "node2", "node3", "node4")


def leave_network(file: Path, names: Sequence[str] = NAMES) -> Path:
    fabric = by_hand(
        "two leaves", [names[:2], names[2:]], [(0, 3, 1, 3)], switches=["left", "right"]
    )
    save(compute(fabric, "minhop"), file)
    return file


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return leave_network(tmp_path / "net.fabric")


@pytest.fixture
def crossing(tmp_path: Path) -> Path:
    """Ranks 0 and 2 exchange messages, and so do 1 and 3: in order of names all cross the cable."""
    matrix = np.zeros((4, 4))
    matrix[0, 2] = matrix[2, 0] = matrix[1, 3] = matrix[3, 1] = 1000
    np.save(tmp_path / "bytes.npy", matrix)
    return tmp_path / "bytes.npy"


def test_verdict_table_and_json(
    network: Path, crossing: Path, tmp_path: Path, typed: Typed
) -> None:
    result, seats = tmp_path / "result.json", tmp_path / "seats"
    arguments = [str(crossing), str(network), "--rate", "8kbit", "--json", str(result)]
    printed = typed("place", *arguments, "-o", seats, "--format", "slurm")
    said = json.loads(result.read_text())
    # 2,000 bytes each way over the cable at 1,000 B/s; on one leaf each, 1,000.
    assert (said["before"]["busy"], said["after"]["busy"], said["unit"]) == (2.0, 1.0, "s")
    assert (said["before"]["mean_congestion"], said["after"]["mean_congestion"]) == (2, 1)
    assert (said["before"]["hop_bytes"], said["after"]["hop_bytes"]) == (12_000, 8_000)
    hosts = said["hosts"]
    assert sorted(hosts) == list(NAMES)
    assert {frozenset((hosts[0], hosts[2])), frozenset((hosts[1], hosts[3]))} == {
        frozenset(NAMES[:2]),
        frozenset(NAMES[2:]),
    }
    assert seats.read_text().split() == hosts
    first = printed.out.splitlines()[0]
    assert first == (
        "With this placement the most loaded channels need 50 % less time than in the given order "
        "(2 s to 1 s), and mean congestion goes from 2 to 1."
    )
    assert said["verdict"] == first


def test_order_that_cannot_be_better_is_kept(network: Path, typed: Typed) -> None:
    printed = typed("place ring", network, "--hosts", "node1,node2", "-o", "-")
    assert printed.out == "rank 0=node1 slot=0\nrank 1=node2 slot=0\n"


# Formats, and for the libraries that read them: its launcher, how it is told, what tells ranks.
_WHERE = {
    "rankfile": ("mpirun.openmpi", "--rankfile {}", "OMPI_COMM_WORLD_RANK"),
    "rankfile of Open MPI 5": ("mpirun", "--map-by rankfile:file={}", "OMPI_COMM_WORLD_RANK"),
    "slurm": ("mpirun.openmpi", "--map-by seq --hostfile {}", "OMPI_COMM_WORLD_RANK"),
    "mpich": ("mpirun.mpich", "-f {}", "PMI_RANK"),
}


@pytest.mark.usefixtures("permitted")
@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("library", _WHERE)
def test_launchers_put_ranks_where_the_file_says(
    library: str,
    each: int,
    network: Path,
    tmp_path: Path,
    require_program: Callable[[str], str],
    request: pytest.FixtureRequest,
) -> None:
    launcher, told, rank = _WHERE[library]
    if launcher == "mpirun":
        launcher = request.getfixturevalue("wheel").launcher
    require_program(launcher)
    form = library.partition(" ")[0]
    seats, result = tmp_path / "seats", tmp_path / "result.json"
    options = ["-o", str(seats), "--format", form, "--json", str(result)]
    # Rank r sends to r + 2, or r + 4: never to the next, which sits beside it in the order given.
    ranks = 4 * each
    traffic = [f"shift:{ranks // 2}", str(network), "--ranks-per-host", str(each)]
    assert run(["place", *traffic, *options]) == 0
    expected = json.loads(result.read_text())["hosts"]
    assert expected != [name for name in NAMES for _ in range(each)]
    ask = f"echo at ${rank} $(hostname)"
    option = told.format(seats).split()
    command = [launcher, *option, "-n", str(ranks), "sh", "-c", ask]
    ended = finished(
        [
            *CONTEND,
            *("emulate", str(network), "--unchecked", "--", *command),
        ],
        env=os.environ,
    )
    lines = [line.split() for line in ended.stdout.splitlines() if line.startswith("at ")]
    told = {int(number): host for _, number, host in lines}
    assert [told.get(number) for number in range(ranks)] == expected, ended.stderr


def test_one_argument_is_a_network_of_servers_with_several_adapters(
    tmp_path: Path, typed: Typed
) -> None:
    """By turns on both units, all four servers of a unit send across over one cable; in the best
    order, one does."""
    result, listed = tmp_path / "it.json", tmp_path / "hosts"
    arguments = ["rails:2,4,2,1", "--route", "minhop", "--placement", "round-robin"]
    written = ["-o", str(listed), "--format", "plain"]
    printed = typed("place", *arguments, "--json", result, *written)
    said = json.loads(result.read_text())
    assert said["verdict"] == printed.out.splitlines()[0]
    assert said["verdict"].startswith("With this placement rings get 100.0 % of a port's rate ")
    assert ", instead of 25.0 % and " in said["verdict"]
    assert "2 rails: rings and all-to-alls within each rail, as GPU libraries" in said["verdict"]
    assert said["rails"] == 2
    assert [share["name"] for share in said["shares"]] == ["rings", "all-to-alls"]
    assert [said["shares"][0][when] for when in ("before", "after")] == pytest.approx([0.25, 1])
    # Rank 2 k and the next are those of the k-th server.
    servers = [name.rpartition(" rail ")[0] for name in said["hosts"]]
    assert servers[::2] == servers[1::2] == listed.read_text().splitlines()
    assert "place needs a fabric, and before it what ranks send" in typed("place", status=2).err
    printed = typed("place xgft:2;4,4;1,2 --route minhop", status=2)
    assert "have one adapter each: expected a profile" in printed.err


@pytest.mark.parametrize(
    "verb",
    [
        "place ring fig1 --route dmodk -o",
        "route fig1 --route minhop -o",
        "fabric improve xgft:2;2,2;1,1 --samples 20 --to fabric -o",
    ],
)
def test_what_was_found_is_told_though_its_file_cannot_be_written(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*verb.split(), "/dev/full"]) == 3
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) > 3
    assert "written to" not in printed.out
    assert "No space left on device" in printed.err


def test_servers_without_names_are_placed_though_no_launcher_can_start_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nameless = leave_network(tmp_path / "net.fabric", [f"mlx5_{n}" for n in range(4)])
    assert run(["place", "ring", str(nameless), "-o", str(tmp_path / "ranks")]) == 2
    printed = capsys.readouterr()
    assert "mean congestion" in printed.out
    assert "launchers know servers by names" in printed.err
