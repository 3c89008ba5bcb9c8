"""``contend study`` as a user runs it, on fabrics small enough to route in no time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contend.cli.app import run

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


def test_a_crossbar_has_no_congestion(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = plan.read_text().replace(', "opensm:nothing"', "")
    plan.write_text(text)
    assert run(["study", str(plan), "--json", "-"]) == 0
    output = capsys.readouterr()
    cells = {cell["fabric"]: cell for cell in json.loads(output.out)["cells"]}
    assert cells["star"]["averages"]["effective_bandwidth"]["mean"] == 1
    assert cells["star"]["references"][0]["difference"] == 0
    assert 0.5 < cells["nodes"]["averages"]["effective_bandwidth"]["mean"] < 1
    assert (
        len(list((plan.parent / "small" / "runs").glob("crossbar-4*minhop*bisect*/run.json"))) == 1
    )


def test_every_line_says_what_came_out(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan.write_text(PLAN.replace(', "opensm:nothing"', ""))
    assert run(["study", str(plan)]) == 0
    assert "2/2 star, minhop, bisect: 100.0 %\n" in capsys.readouterr().out


def test_markdown_on_standard_output_stands_alone(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(PLAN.replace(', "opensm:nothing"', ""))
    assert run(["study", str(plan), "--markdown", "-"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("2 of 2 cells are simulated")
    assert printed.split("\n")[2] == "**bisect**"


def test_a_failing_cell_is_err_and_the_status_one(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", str(plan), "--output", "here", "--plot", "all.html"]) == 1
    output = capsys.readouterr()
    assert "1 of 3 cells failed" in output.err
    assert "ERR" in output.out
    assert "OpenSM has no engine" in output.out
    assert "theory" in output.out
    assert "<svg" in (plan.parent / "all.html").read_text()


def test_a_second_run_keeps_and_a_retry_repeats(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["study", str(plan)])
    capsys.readouterr()
    run(["study", str(plan)])
    assert "3 of 3 cells are kept from before" in capsys.readouterr().out
    run(["study", str(plan), "--retry"])
    assert "routing star opensm:nothing" in capsys.readouterr().out


def test_options_stand_above_the_plan(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--only", "nodes", "--samples", "9", "--seed", "5", "--json", "-"]
    assert run(["study", str(plan), *arguments]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [(cell["fabric"], cell["samples"], cell["seed"]) for cell in cells] == [("nodes", 9, 5)]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["nowhere.toml"],
            "'nowhere.toml' is neither a file nor a study of contend's (hoefler2008, ",
        ),
        (["hoefler2009"], "did you mean 'hoefler2008'?"),
        (["small.toml", "--launches", "2"], "--launches does not belong to the study small"),
        (["small.toml", "--two-way"], "--two-way does not belong to the study small"),
        (
            ["small.toml", "--precision", "2"],
            "--precision: expected a share below 100%, got",
        ),
        (["small.toml", "--precision", "1e-300"], "--precision: expected a share such as 5%"),
        (
            ["small.toml", "--precision", "0"],
            "--precision: expected a share above 0: simulations stop there",
        ),
        (["small.toml", "--only", "ranger"], "--only: expected one of nodes, star, got ranger"),
        (["small.toml", "--plot", "x.jpeg"], "expected a figure's name ending in"),
        (["small.toml", "--samples", "0"], "--samples"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], complaint: str, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("contend: ")
    assert complaint in error
    assert error.count("\n") == 1
    assert not (plan.parent / "small").exists()


def test_precision_is_a_share_in_either_form(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = []
    for precision in ("50%", "0.5"):
        arguments = ["--only", "nodes", "--samples", "100000", "--precision", precision]
        assert run(["study", str(plan), *arguments, "--json", "-"]) == 0
        (cell,) = json.loads(capsys.readouterr().out)["cells"]
        samples.append(cell["samples"])
    assert samples[0] == samples[1] < 100_000


def test_help_keeps_its_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets that are not escaped are taken for marks of style, and vanish."""
    assert run(["study", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for default in ("the plan's name", "this machine, or a batch job's hosts", "the plan's"):
        assert f"[default: {default}]" in text
    assert "this machine's, if it is the host]" in text


def test_the_name_may_stand_after_the_options(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", "--only", "nodes", "--json", "-", str(plan)]) == 0
    assert len(json.loads(capsys.readouterr().out)["cells"]) == 1


def test_the_sixteen_node_examples_come_out_exactly(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--only", "fig1", "--samples", "20", "--output", "h", "--json", "-"]
    assert run(["study", "hoefler2008", *arguments]) == 0
    cells = {cell["pattern"]: cell for cell in json.loads(capsys.readouterr().out)["cells"]}
    # π of 3, 3, 3, 1, 1, 1, 1, 1: mean of 1/π 6/8, 1 / mean π 8/14.
    congested = cells["16-node example, congested"]["averages"]
    assert congested["effective_bandwidth"]["mean"] == pytest.approx(6 / 8)
    assert congested["of_mean_congestion"]["mean"] == pytest.approx(8 / 14)
    free = cells["16-node example, full bandwidth"]["averages"]
    assert free["effective_bandwidth"]["mean"] == 1
