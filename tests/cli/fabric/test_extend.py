"""``contend fabric extend`` from outside: the files with the larger fabric, and refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import contend
from typed_commands import Typed

TREE = "xgft:2;4,6;1,4 --without"


@pytest.mark.parametrize("kind", ["fabric", "ibnetdiscover"])
def test_the_written_fabric_is_one_like_any_other(tmp_path: Path, typed: Typed, kind: str) -> None:
    file, result, rows = (tmp_path / name for name in (f"it.{kind}", "it.json", "it.csv"))
    figure = tmp_path / "it.svg"
    outputs = ["--json", str(result), "--csv", str(rows), "--plot", str(figure), "-o", str(file)]
    printed = typed("fabric", "extend", *TREE.split(), "leaf 5", "--servers", "3", *outputs)
    said = json.loads(result.read_text())
    assert printed.out.splitlines()[0] == said["verdict"]
    assert said["verdict"].startswith("3 more servers and 1 more leaf switch: 7 cables to lay; ")
    assert [row["what"] for row in csv.DictReader(rows.read_text().splitlines())] == [
        "switch"
    ] * 4 + ["host"] * 3
    fabric = contend.load(file)
    assert (fabric.hosts, fabric.switches, fabric.cables) == (23, 10, 24)
    (leaf,) = said["switches"]
    assert f"added: {leaf['name']}, like {leaf['like']}" in figure.read_text()


def test_what_is_refused_is_refused_in_a_line(typed: Typed) -> None:
    printed = typed("fabric extend xgft:2;4,6;1,4 --spines 1", status=2)
    assert printed.err.count("\n") == 1
    assert "which has 0 left beside places of hosts" in printed.err
