"""``contend fabric improve`` from outside: the verdict, and a file that gives the figure said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contend.cli.app import run
from typed_commands import Typed

TREE = ["xgft:2;4,6;1,2", "--ports", "12"]


@pytest.mark.parametrize("options", [[], ["--pattern", "uniform", "--samples", "300"]])
def test_the_written_fabric_gives_the_figure(
    tmp_path: Path, typed: Typed, options: list[str]
) -> None:
    result, figure, better = (tmp_path / name for name in ("it.json", "it.svg", "it.fabric"))
    outputs = ["--json", str(result), "--plot", str(figure), "-o", str(better)]
    command = ["fabric", "improve", *TREE, "--cables", "2", "--seed", "5", *options, *outputs]
    printed = typed(*command)
    said = json.loads(result.read_text())
    assert printed.out.splitlines()[0] == said["verdict"]
    assert said["verdict"].startswith("2 cables let ")
    assert said["gain"] > said["margin"] > 0
    assert said["after"] == said["additions"][-1]["bandwidth"]
    assert said["after"] - said["before"] == pytest.approx(said["gain"])
    assert sum(len(one["cables"]) for one in said["additions"]) == said["asked"] == 2
    drawn = figure.read_text()
    cables = [cable["ends"] for one in said["additions"] for cable in one["cables"]]
    assert all(f"added: {' - '.join(ends)}: +" in drawn for ends in cables)
    again = tmp_path / "again.json"
    simulated = ["simulate", str(better), "--seed", "5", *options, "--json", str(again)]
    assert run(simulated) == 0
    assert json.loads(again.read_text())["effective_bandwidth"]["mean"] == said["after"]


def test_tables_in_use_stand_beside(tmp_path: Path) -> None:
    present, result = tmp_path / "present.fabric", tmp_path / "it.json"
    made = ["fabric", "make", "torus:4x4", "--route", "minhop", "-o", str(present)]
    assert run(made) == 0
    command = ["fabric", "improve", str(present), "--ports", "6", "--cables", "1"]
    assert run([*command, "--samples", "50", "--json", str(result)]) == 0
    said = json.loads(result.read_text())
    simulated = tmp_path / "simulated.json"
    assert run(["simulate", str(present), "--samples", "50", "--json", str(simulated)]) == 0
    mean = json.loads(simulated.read_text())["effective_bandwidth"]["mean"]
    assert said["present"] == mean
    assert said["engine"] == "contend"


def test_tables_in_use_that_give_more_are_told(tmp_path: Path, typed: Typed) -> None:
    """Routes that cannot lock up give random pairs of a dragonfly less than the shortest do."""
    present = tmp_path / "present.fabric"
    assert run(["fabric", "make", "dragonfly:2,4,2", "--route", "minhop", "-o", str(present)]) == 0
    command = ["fabric", "improve", str(present), "--ports", "8", "--cables", "1"]
    asked = [*command, "--samples", "500", "--json", str(tmp_path / "it.json")]
    verdict = typed(*asked).out.splitlines()[0]
    said = json.loads((tmp_path / "it.json").read_text())
    assert said["present"] > said["after"] > said["before"]
    share = f"{100 * said['present']:.2f} %"
    told = f"; the tables in use give {share}, more than these routes with new cables."
    assert verdict.endswith(told)


def test_a_file_without_tables_is_warned_of(tmp_path: Path, typed: Typed) -> None:
    for name, warnings in (("it.ibnetdiscover", 1), ("it.fabric", 0)):
        command = ["fabric", "improve", *TREE, "--cables", "1", "-o", str(tmp_path / name)]
        assert typed(*command).err.count("hold no tables") == warnings


@pytest.mark.parametrize(
    ("cables", "begins", "rest"),
    [
        (1, "1 cable lets random pairs get ", ""),
        (2, "1 cable lets random pairs get ", "; no ports are left for 1 more"),
        (3, "1 cable lets random pairs get ", "; no ports are left for 2 more"),
    ],
)
def test_what_keeps_from_more_is_said(typed: Typed, cables: int, begins: str, rest: str) -> None:
    tree = ["xgft:2;4,6;1,4", "--without", "top 2:3"]
    verdict = typed("fabric improve", *tree, "--cables", cables).out.splitlines()[0]
    assert verdict.startswith(begins)
    assert verdict.count("ports are left") == bool(rest)
    assert rest in verdict


def test_one_kind_of_cables_is_told_in_the_singular(typed: Typed) -> None:
    command = ["fabric", "improve", "xgft:2;4,6;1,4", "--route", "valiant", "--ports", "20"]
    said = typed(*command, "--cables", "1").out
    assert said.startswith("No cable helps: the one kind of cables tried gains nothing measurable")


def test_rows_for_spreadsheets_have_the_same_columns_without_a_cable(typed: Typed) -> None:
    some = typed("fabric", "improve", *TREE, "--cables", "1", "--csv", "-").out
    none = typed("fabric improve xgft:2;4,6;1,4 --csv -").out
    assert none == f"{some.splitlines()[0]}\n"
    assert none.startswith("cables,missing,gain,")
