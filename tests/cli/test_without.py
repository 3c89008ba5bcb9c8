"""``--without`` of the command line: a fabric as if something had died."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import contend
from contend.cli.app import run
from contend.routes import save
from small_fabrics import two_planes
from typed_commands import Typed


def test_a_dead_switch_costs_bandwidth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, result = tmp_path / "net.fabric", tmp_path / "result.json"
    made = ["xgft:2;4,6;1,4", "--route", "minhop", "-o", str(file)]
    assert run(["fabric", "make", *made]) == 0
    shares = []
    for dead in ((), ("--without", "top 1")):
        assert run(["simulate", str(file), *dead, "--json", str(result)]) == 0
        shares.append(json.loads(result.read_text())["effective_bandwidth"]["mean"])
    assert shares[1] < shares[0] - 0.05
    gone, cost = capsys.readouterr().err.splitlines()
    assert gone == (
        f'{file}: without switch "top 1" with 6 cables; 60 table entries changed at 6 switches'
    )
    gets = "among these random pairs get 77.3 % of a link's rate instead of 88.8 %"
    assert cost == f"{file}: without top 1, 24 of 24 hosts stay; {gets}"


def test_an_engine_routes_what_is_left(typed: Typed) -> None:
    options = ["--route", "minhop", "--without", "leaf 1", "--without", "leaf 2:5"]
    captured = typed("fabric check xgft:2;4,6;1,4", *options)
    assert "all 380 routes between hosts arrive" in captured.out
    assert captured.err.endswith("; 4 hosts on it\n")
    # What the next command loads is whole again.
    assert "all 552 routes" in typed("fabric check xgft:2;4,6;1,4 --route minhop").out


def test_one_plane_of_several_is_taken_alone(tmp_path: Path, typed: Typed) -> None:
    file, tables = tmp_path / "net.ibnetdiscover", tmp_path / "net.lfts"
    save(two_planes(), file, "ibnetdiscover")
    save(contend.load(file, part=2, route="minhop"), tables, "lfts")
    part = [str(file), "--part", "node1 mlx5_0"]
    captured = typed("fabric check", *part, "--routes", tables)
    assert captured.err == f'{file}: part 2 of 2, that of "node1 mlx5_0": 6 hosts, 5 switches\n'
    assert "all 30 routes between hosts arrive" in captured.out
    printed = typed("fabric check", *part, "--without", "plane1-0", status=2)
    assert "plane1-0: net part 2 has no such switch" in printed.err
    # Of a fabric in one piece it is the whole.
    assert typed("fabric show fig1 --part 1").err == ""


@pytest.mark.parametrize(
    "command",
    [
        "simulate {} --pattern alltoall --route minhop",
        "predict collectives {} --route minhop",
        "predict alltoall {} --bytes 64K -a linear --route minhop",
        "fabric failures {} --pattern alltoall --route minhop",
        "fabric improve {} --pattern alltoall --samples 2 --route minhop",
        "fabric page {} --pattern alltoall -o net.html --route minhop",
        "route {} --for alltoall --route minhop",
        "place alltoall {} --route minhop",
    ],
)
def test_what_judges_says_what_parts_that_are_gone_cost(
    command: str, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four hosts of a leaf send 48 messages up: over one cable instead of two."""
    monkeypatch.chdir(tmp_path)
    asked = f"{command.format('xgft:2;4,4;1,2')} --json out.json --without"
    words = "without top 1, 16 of 16 hosts stay; among these alltoall gets 31.2 % of"
    assert f"{words} what ports allow instead of 62.5 %" in typed(asked, "top 1").err
    told = json.loads(Path("out.json").read_text())["without"]
    assert (told["hosts"], told["left"], told["pattern"]) == (16, 16, "alltoall")
    assert (told["before"], told["after"]) == (15 / 24, 15 / 48)
    words = "without leaf 1, 12 of 16 hosts stay; among these alltoall gets 68.8 %"
    assert words in typed(asked, "leaf 1").err


@pytest.mark.parametrize(
    "command",
    [
        "fabric engines {} --route minhop",
        "fabric extend {} --spines 1 --ports 8 --route minhop",
        "fabric diff {} {} --route minhop",
    ],
)
def test_random_pairs_tell_what_parts_cost_where_no_pattern_is_given(
    command: str, typed: Typed, tmp_path: Path
) -> None:
    tree, out = "xgft:2;4,4;1,2", tmp_path / "out.json"
    typed(f"{command.format(tree, tree)} --json", str(out), "--without", "top 1", "--seed", "1")
    told = json.loads(out.read_text())["without"]
    of = [contend.load(tree, route="minhop", without=parts) for parts in ([], ["top 1"])]
    shares = [contend.simulate(net, samples=200, seed=1).effective_bandwidth.mean for net in of]
    assert [told["before"], told["after"]] == shares


def test_jobs_on_what_is_left_are_compared_with_the_whole(typed: Typed, tmp_path: Path) -> None:
    """Standard input can be the network, since it is read once."""
    of = contend.load("xgft:2;4,4;1,2", route="minhop", without=["top 1"])
    [cost] = contend.jobs(of, {"7": list(of.host_name)}, pattern="alltoall").costs
    assert (cost.before, cost.after) == (15 / 24, 15 / 48)
