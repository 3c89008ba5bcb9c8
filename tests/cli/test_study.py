"""``contend study`` as a user runs it, on fabrics small enough to route in no time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from typed_commands import Typed

PLAN = """
name = "small"
samples = 50
engines = ["fig1"]

[[fabric]]
name = "nodes"
source = "fig1"

[[fabric]]
name = "star"
source = "crossbar:4"
engines = ["minhop", "opensm:nothing"]

[[pattern]]
name = "bisect"
pattern = "bisect"

[[reference]]
fabric = "star"
pattern = "bisect"
percent = 100.0
source = "theory"
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(PLAN)
    return path


def test_a_crossbar_has_no_congestion(plan: Path, typed: Typed) -> None:
    text = plan.read_text().replace(', "opensm:nothing"', "")
    plan.write_text(text)
    output = typed("study", plan, "--json", "-")
    cells = {cell["fabric"]: cell for cell in json.loads(output.out)["cells"]}
    assert cells["star"]["averages"]["effective_bandwidth"]["mean"] == 1
    assert cells["star"]["references"][0]["difference"] == 0
    assert 0.5 < cells["nodes"]["averages"]["effective_bandwidth"]["mean"] < 1
    assert (
        len(list((plan.parent / "small" / "runs").glob("crossbar-4*minhop*bisect*/run.json"))) == 1
    )


def test_every_line_says_what_came_out(plan: Path, typed: Typed) -> None:
    plan.write_text(PLAN.replace(', "opensm:nothing"', ""))
    assert "2/2 star, minhop, bisect: 100.0 %\n" in typed("study", plan).out


def test_a_failing_cell_is_err_and_the_status_one(plan: Path, typed: Typed) -> None:
    output = typed("study", plan, "--output", "here", "--plot", "all.html", status=1)
    assert "1 of 3 cells failed" in output.err
    assert "ERR" in output.out
    assert "OpenSM has no engine" in output.out
    assert "theory" in output.out
    assert "<svg" in (plan.parent / "all.html").read_text()


def test_a_second_run_keeps_and_a_retry_repeats(plan: Path, typed: Typed) -> None:
    typed("study", plan, status=1)
    assert "3 of 3 cells are kept from before" in typed("study", plan, status=1).out
    assert "routing star opensm:nothing" in typed("study", plan, "--retry", status=1).out


def test_options_stand_above_the_plan(plan: Path, typed: Typed) -> None:
    arguments = ["--only", "nodes", "--samples", "9", "--seed", "5", "--json", "-"]
    cells = json.loads(typed("study", plan, *arguments).out)["cells"]
    assert [(cell["fabric"], cell["samples"], cell["seed"]) for cell in cells] == [("nodes", 9, 5)]


def test_help_keeps_its_defaults(typed: Typed) -> None:
    """Brackets that are not escaped are taken for marks of style, and vanish."""
    text = " ".join(typed("study --help").out.replace("│", " ").split())
    for default in ("the plan's name", "this machine, or a batch job's hosts", "the plan's"):
        assert f"[default: {default}]" in text
    assert "this machine's, if it is the host]" in text


def test_the_name_may_stand_after_the_options(plan: Path, typed: Typed) -> None:
    assert len(json.loads(typed("study --only nodes --json -", plan).out)["cells"]) == 1
