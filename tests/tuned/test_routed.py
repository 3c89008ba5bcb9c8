"""All-to-alls in phases that know the routes, made by the ranks of real programs."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from contend.cli.app import run
from contend.cure import Rule, Rules, read_rules, write_rules
from contend.fabric import Fabric
from contend.lab.emulation import host_labels
from contend.routes import load
from contend.traffic.schedule import ROUTES, phases_by_routes, write_routes
from measured_runs import COLLAPSED, alltoall_run
from probe_programs import SCHEDULES, SOURCES, Build, Ended, Mpi
from processes import finished
from tuned.conftest import MANY, PROGRAMS, run_carried

TUNED = SOURCES / "tuned"
TREE = "xgft:2;2,2;1,1"
SMALL = load(TREE, need_routes=True)


def rules_in(
    folder: Path, fabric: Fabric, names: Sequence[str], *, seconds: int = 10, most: int = 32
) -> Path:
    """Rules by which all that has up to so many ranks goes by the routes."""
    folder.mkdir()
    write_routes(fabric, names, folder / "made")
    rule = Rule((1, most), (1, MANY), (0, MANY), "routed")
    write_rules(Rules((rule,), phases_seconds=seconds), folder, routes=folder / "made")
    return folder


def test_several_ranks_on_emulated_hosts_give_the_same_bytes(
    permitted: None,
    debian_mpi: Mpi,
    build: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    program = build(debian_mpi.wrapper, "conformance.c")
    alone, carried = tmp_path / "alone", tmp_path / "carried"
    alone.mkdir(), carried.mkdir()
    assert debian_mpi.run(6, program, alone, 12, 3).status == 0
    rules = rules_in(tmp_path / "rules", SMALL, host_labels(SMALL))
    monkeypatch.setenv("CONTEND_TUNED_REPORT", "1")
    where = [
        "-n",
        "6",
        "--ranks-per-host",
        "2",
        "--on",
        f"emulated:{TREE}",
        "--mpi",
        debian_mpi.name,
    ]
    command = [str(program), str(carried), "12", "3"]
    assert run(["run", "--tuned", str(rules), *where, "--", *command]) == 0
    for rank in range(6):
        assert (carried / str(rank)).read_text() == (alone / str(rank)).read_text()
    told = capfd.readouterr().err
    assert ": routed " in told
    # The halves of a split sit on the same hosts, but no rank of one has phases of the other.
    assert "contend: phases by routes: found for " in told
    assert "none for 0 communicators" in told


def communicators(mpi: Mpi, rules: Path, program: Path, folder: Path) -> Ended:
    """Runs a program that makes several communicators of the same ranks."""
    folder.mkdir()
    ended = run_carried(mpi, rules, 4, program, folder, 20, 1)
    assert ended.status == 0, ended.errors
    return ended


def test_phases_are_kept_by_the_list_of_hosts(openmpi: Mpi, build: Build, tmp_path: Path) -> None:
    program = build(openmpi.wrapper, "conformance.c")
    one = load("crossbar:1", need_routes=True)
    rules = rules_in(tmp_path / "rules", one, [socket.gethostname()])
    ended = communicators(openmpi, rules, program, tmp_path / "out")
    # Copies of MPI_COMM_WORLD have its hosts; only the halves need their own.
    [line] = [line for line in ended.errors.splitlines() if "phases by routes" in line]
    words = line.replace(",", "").split()
    found, kept = int(words[words.index("found") + 2]), int(words[words.index("kept") + 2])
    assert 1 <= found <= 5
    assert kept >= 1
    assert "none for 0" in line


@pytest.mark.parametrize(
    ("names", "seconds", "reason"),
    [
        (["elsewhere"], 10, f"a host is not in it, {socket.gethostname()}"),
        ([socket.gethostname()], 0, "the search takes too long"),
    ],
)
def test_all_ranks_pass_where_there_are_no_phases(
    debian_mpi: Mpi,
    build: Build,
    tmp_path: Path,
    names: list[str],
    seconds: int,
    reason: str,
) -> None:
    program = build(debian_mpi.wrapper, "conformance.c")
    one = load("crossbar:1", need_routes=True)
    rules = rules_in(tmp_path / "rules", one, names, seconds=seconds)
    ended = communicators(debian_mpi, rules, program, tmp_path / "out")
    assert f"contend: no phases by {rules / ROUTES} for 4 ranks: {reason}\n" in ended.errors
    assert "contend: 0 calls of all-to-alls carried" in ended.errors
    assert "contend: phases by routes: found for 0, kept for 0, none for " in ended.errors


@pytest.mark.parametrize("damage", ["contend routes 2\n", "contend routes 1\n9 1\n0 a\n", ""])
def test_a_damaged_file_of_routes_lets_calls_pass(
    openmpi: Mpi, build: Build, tmp_path: Path, damage: str
) -> None:
    program = build(openmpi.wrapper, "sized.c")
    rules = rules_in(tmp_path / "rules", load("crossbar:1", need_routes=True), ["a"])
    (rules / ROUTES).write_text(damage)
    ended = run_carried(openmpi, rules, 2, program, 50)
    assert ended.output.count("right") == 2, ended.errors
    assert "for 2 ranks: the file cannot be read\n" in ended.errors


def test_rules_learnt_from_a_run_carry_a_program(
    permitted: None,
    openmpi: Mpi,
    build: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A run in which routed is the fastest, on a fabric of 16 hosts; figures are made up."""
    spec = "xgft:2;4,4;1,4"
    fabric = load(spec, route="minhop")
    folder, rules, result = tmp_path / "run", tmp_path / "rules", tmp_path / "result.json"
    alltoall_run(folder, launches=8, schedules=("library", "linear", "routed"))
    tune = ["tune", str(folder), "-o", str(rules), "--json", str(result)]
    # Without its routes a run teaches nothing of schedules that go by them.
    assert run(tune) == 0
    assert "routed" not in {cell["best"] for cell in json.loads(result.read_text())["cells"]}
    write_routes(fabric, host_labels(fabric), folder / ROUTES)
    assert run(tune) == 0
    assert read_rules(rules).routed
    assert (rules / ROUTES).read_text() == (folder / ROUTES).read_text()
    monkeypatch.setenv("CONTEND_TUNED_REPORT", "1")
    where = ["-n", "16", "--on", f"emulated:{spec}", "--route", "minhop", "--mpi", "openmpi"]
    program = [str(build(openmpi.wrapper, "sized.c")), str(COLLAPSED[0])]
    capfd.readouterr()
    assert run(["run", "--tuned", str(rules), *where, "--", *program]) == 0
    told = capfd.readouterr()
    assert told.out.count("right") == 16
    assert "contend: 16 calls of all-to-alls carried, 0 passed on: routed 16\n" in told.err
    assert "found for 1, kept for 0, none for 0 communicators" in told.err


@pytest.fixture(scope="module")
def phases_of(
    tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], str]
) -> Path:
    """The drop-in library's part without MPI, as a program."""
    program = tmp_path_factory.mktemp("phases") / "phases_of"
    sources = map(str, [TUNED / "routes.c", *SCHEDULES.glob("phase*.c")])
    strict = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror")
    flags = [
        "-std=gnu11",
        "-g",
        "-fsanitize=address,undefined",
        *strict,
        f"-I{TUNED}",
        f"-I{SCHEDULES}",
    ]
    source = str(PROGRAMS / "phases_of.c")
    cc = require_program("cc")
    subprocess.run([cc, *flags, source, *sources, "-o", str(program)], check=True)
    return program


@pytest.mark.parametrize(
    ("spec", "engine", "each"),
    [
        ("xgft:2;4,4;1,4", "minhop", 1),
        ("fig1", "dmodk", 2),
        ("torus:3x3;2", "contend", 1),
        ("dragonfly:2,4,2", "contend", 1),
        ("crossbar:5", "minhop", 3),
    ],
)
def test_the_file_of_routes_gives_the_phases_of_the_fabric(
    phases_of: Path, tmp_path: Path, spec: str, engine: str, each: int
) -> None:
    fabric = load(spec, route=engine)
    names = [f"node{number}" for number in range(fabric.hosts)]
    path = tmp_path / ROUTES
    write_routes(fabric, names, path)
    chosen = np.random.default_rng(1).permutation(fabric.hosts)[:20].tolist()
    # Ranks may know their hosts with the domain.
    words = [str(path), str(each), *(f"{names[host]}.example.org" for host in chosen)]
    ended = finished([str(phases_of), *words], check=True)
    lines = [[int(word) for word in line.split()] for line in ended.stdout.splitlines()]
    expected = phases_by_routes(fabric, np.repeat(chosen, each))
    assert (expected.target == np.array(lines).T).all()


def test_a_host_that_is_not_there_is_told_by_its_number(phases_of: Path, tmp_path: Path) -> None:
    path = tmp_path / ROUTES
    write_routes(SMALL, ["a", "b", "b", "d"], path)
    for hosts, unknown in (("a", "x"), 1), (("b", "a"), 0), (("d", "a", "a.b"), 2):
        ended = finished([str(phases_of), str(path), "1", *hosts])
        assert ended.stdout == f"2 {unknown}\n"
