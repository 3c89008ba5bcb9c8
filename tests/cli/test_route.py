"""``contend route`` from outside: its verdict, its JSON and the tables that it writes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import contend
from contend.cli.app import run
from contend.routes import dependency_cycle, load_tables
from typed_commands import Typed


def test_tables_are_better_and_load_again(tmp_path: Path, typed: Typed) -> None:
    tables, result = tmp_path / "better.lfts", tmp_path / "result.json"
    arguments = ["chic", "--route", "minhop", "-o", str(tables), "--json", str(result)]
    # facts of the model: minhop 57.6 %, and 73.9 % by the best tables known.
    first = typed("route", *arguments).out.splitlines()[0]
    assert first.startswith(
        "With these tables random pairs of hosts get 73.9 % of a link's rate, 16"
    )
    said = json.loads(result.read_text())
    assert said["gains"][0]["before"] == pytest.approx(0.576, abs=0.002)
    assert said["gains"][0]["after"] == pytest.approx(0.739, abs=0.002)
    assert (said["lanes"], said["deadlock_free"], said["file"]) == (1, True, str(tables))
    assert said["entries"] == 528 * 116
    again = contend.load("chic", routes=tables)
    assert dependency_cycle(again)[1] == ()
    before = contend.load("chic", route="minhop").routes
    differing = np.count_nonzero(before.ports[:, 1:529] != again.routes.ports[:, 1:529])
    assert said["changed"] == differing


def test_tables_for_a_pattern_serve_it_better(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    arguments = ["xgft:2;4,6;1,2", "--route", "dmodk", "--for", "transpose", "--json", str(result)]
    assert run(["route", *arguments]) == 0
    gain = json.loads(result.read_text())["gains"][1]
    assert gain["pattern"] == "transpose"
    assert gain["after"] > gain["before"] + 0.1


def test_tables_for_a_matrix_of_bytes(tmp_path: Path) -> None:
    # Rank 0 .. 3 of the first leaf send to one rank of each other leaf: four cables, one for each.
    matrix = np.zeros((16, 16))
    matrix[0, 4] = matrix[1, 8] = matrix[2, 12] = 1000
    file, result = tmp_path / "bytes.npy", tmp_path / "result.json"
    np.save(file, matrix)
    assert run(["route", "fig1", "--for", str(file), "--json", str(result)]) == 0
    said = json.loads(result.read_text())
    assert said["purpose"] == str(file)
    assert said["gains"][1]["after"] == 1


def test_tables_go_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["route", "fig1", "-o", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"Unicast lids [0-22] of switch Lid 17 ")


def test_written_tables_are_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "x.lfts.gz"
    assert run(["route", "dragonfly:2,4,2", "-o", str(file)]) == 0
    assert len(load_tables(str(file)).switch_guid) == 36


def test_tables_that_run_are_improved_by_few_entries_and_back(tmp_path: Path) -> None:
    running, better, result = (tmp_path / name for name in ("run.lfts", "new.lfts", "r.json"))
    assert run(["fabric", "convert", "chic", "--route", "minhop", "-o", str(running)]) == 0
    arguments = ["--keep", str(running), "--changes", "200", "-o", str(better)]
    assert run(["route", "chic", *arguments, "--json", str(result)]) == 0
    said = json.loads(result.read_text())
    assert said["changed"] == 200
    assert said["gains"][0]["after"] > said["gains"][0]["before"]
    before, after = (contend.load("chic", routes=path).routes for path in (running, better))
    assert np.array_equal(_stepped(before.ports, tmp_path / "new.lfts.steps.csv"), after.ports)
    assert np.array_equal(_stepped(after.ports, tmp_path / "new.lfts.back.csv"), before.ports)


def _stepped(ports: np.ndarray, path: Path) -> np.ndarray:
    """Tables after the changes of a file, each of which finds what it expects."""
    row = {f"0x{guid:016x}": k for k, guid in enumerate(contend.load("chic").switch_guid.tolist())}
    ports = ports.copy()
    with path.open(newline="") as file:
        for number, step in enumerate(csv.DictReader(file), 1):
            place = (row[step["guid"]], int(step["lid"]))
            assert (int(step["step"]), ports[place]) == (number, int(step["before"]))
            ports[place] = int(step["after"])
    return ports


def test_running_tables_with_a_circle_are_not_kept(tmp_path: Path, typed: Typed) -> None:
    running = tmp_path / "run.lfts"
    assert run(["fabric", "convert", "torus:5x5", "--route", "minhop", "-o", str(running)]) == 0
    printed = typed("route torus:5x5 --keep", running, status=2)
    assert "wait for each other in a circle by these tables already" in printed.err
