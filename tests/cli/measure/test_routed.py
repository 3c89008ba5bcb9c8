"""``contend measure alltoall --algorithm routed``: phases from routes, run by real ranks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contend.cli.app import run
from contend.fabric.formats import fabric_file
from contend.lab.measurement.bisect import read_destinations
from contend.routes import load
from contend.traffic.schedule import phases_by_routes
from small_fabrics import by_hand

_BOTH = ("--algorithm", "routed,routed-barrier", "--bytes", "1K,64K", "--verify")
_QUICK = ("--repetitions", "6:6", "--budget", "60s", "--mpi", "openmpi-4")


@pytest.fixture(scope="module", autouse=True)
def _library(require_program: Callable[[str], str]) -> None:
    require_program("mpicc.openmpi")


def _verified(path: Path) -> set[tuple[str, int]]:
    """Cells whose samples were looked at, and were right."""
    cells = json.loads(path.read_text())["cells"]
    assert all(cell["n"] == 6 for cell in cells)
    return {(cell["algorithm"], cell["bytes"]) for cell in cells if cell["verified"]}


_CELLS = {(name, size) for name in ("routed", "routed-barrier") for size in (1024, 65536)}


def test_emulated_hosts_follow_the_routes_of_their_fabric(permitted: None, tmp_path: Path) -> None:
    fabric, order = "xgft:2;4,2;1,1", [3, 7, 0, 4, 1, 6, 2, 5]
    placement = tmp_path / "hosts"
    network = load(fabric, need_routes=True)
    placement.write_text("".join(f"{network.host_name[host]}\n" for host in order))
    where = ["-n", "8", "--on", f"emulated:{fabric}", "--rate", "100Mbit"]
    found, out = tmp_path / "found.json", tmp_path / "run"
    files = ["--placement", f"file:{placement}", "--json", str(found), "--output", str(out)]
    assert run(["measure", "alltoall", *where, *_BOTH, *_QUICK, *files]) == 0
    assert _verified(found) == _CELLS
    lines = read_destinations(out / "phases-8-on-8.txt")
    assert (phases_by_routes(network, order).target == np.array(lines).T).all()


def test_real_hosts_follow_the_routes_of_a_named_fabric(tmp_path: Path) -> None:
    """Four ranks of one host, which is all that this machine has."""
    net, hosts = tmp_path / "net.fabric", tmp_path / "hosts"
    pair = by_hand("pair", [["localhost HCA-1", "other HCA-1"]])
    net.write_bytes(b"".join(fabric_file.write(pair)))
    hosts.write_text("localhost slots=4\n")
    found, out = tmp_path / "found.json", tmp_path / "run"
    where = ["-n", "4", "--on", str(hosts), "--fabric", str(net), "--route", "minhop"]
    files = ["--json", str(found), "--output", str(out)]
    assert run(["measure", "alltoall", *where, *_BOTH, *_QUICK, *files]) == 0
    assert _verified(found) == _CELLS
    assert len(read_destinations(out / "phases-4-on-1.txt")) == 4
    again = ["measure", "alltoall", "--resume", str(out), "--on", str(hosts)]
    assert run([*again, "--fabric", str(net), "--route", "minhop"]) == 0
    assert run(again) == 2
