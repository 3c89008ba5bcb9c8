"""``--without`` of the command line: a fabric as if something had died."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import contend
from contend.cli.app import run
from contend.routes import save
from small_fabrics import two_planes


def test_a_dead_switch_costs_bandwidth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, result = tmp_path / "net.fabric", tmp_path / "result.json"
    made = ["xgft:2;4,6;1,4", "--route", "minhop", "-o", str(file)]
    assert run(["fabric", "make", *made]) == 0
    shares = []
    for dead in ((), ("--without", "top 1")):
        assert run(["simulate", str(file), *dead, "--json", str(result)]) == 0
        shares.append(json.loads(result.read_text())["effective_bandwidth"]["mean"])
    assert shares[1] < shares[0] - 0.05
    said = capsys.readouterr().err
    assert said == (
        f'{file}: without switch "top 1" with 6 cables; 60 table entries changed at 6 switches\n'
    )


def test_an_engine_routes_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--route", "minhop", "--without", "leaf 1", "--without", "leaf 2:5"]
    assert run(["fabric", "check", "xgft:2;4,6;1,4", *options]) == 0
    captured = capsys.readouterr()
    assert "all 380 routes between hosts arrive" in captured.out
    assert captured.err.endswith("; 4 hosts on it\n")
    # What the next command loads is whole again.
    assert run(["fabric", "check", "xgft:2;4,6;1,4", "--route", "minhop"]) == 0
    assert "all 552 routes" in capsys.readouterr().out


def test_what_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "fig1", "--without", "spine 1"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("contend: spine 1: fig1 has no such switch, cable ")
    assert captured.err.count("\n") == 1


def test_one_plane_of_several_is_taken_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, tables = tmp_path / "net.ibnetdiscover", tmp_path / "net.lfts"
    save(two_planes(), file, "ibnetdiscover")
    save(contend.load(file, part=2, route="minhop"), tables, "lfts")
    part = [str(file), "--part", "node1 mlx5_0"]
    assert run(["fabric", "check", *part, "--routes", str(tables)]) == 0
    captured = capsys.readouterr()
    assert captured.err == f'{file}: part 2 of 2, that of "node1 mlx5_0": 6 hosts, 5 switches\n'
    assert "all 30 routes between hosts arrive" in captured.out
    assert run(["fabric", "check", *part, "--without", "plane1-0"]) == 2
    assert "plane1-0: net part 2 has no such switch" in capsys.readouterr().err
    # Of a fabric in one piece it is the whole.
    assert run(["fabric", "show", "fig1", "--part", "1"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "run", "--fabric", "fig1", "--without", "spine 9"], "no such switch"),
        (["explain", "run", "--fabric", "fig1", "--part", "spine 9"], "no part or host"),
        (
            ["measure", "pingpong", "-n", "2", "--part", "2"],
            "--without, --rails and --strict belong",
        ),
        (["study", "hoefler2008", "--without", "x"], "--without, --rails and --strict belong"),
        (["profile", "--part", "2", "--", "true"], "--on and --ranks-per-host need -n"),
    ],
)
def test_what_is_left_out_is_never_passed_over(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err
