"""Where a result goes, by the options that every verb with a document has."""

from __future__ import annotations

import csv
import io
import json
from html import escape
from pathlib import Path

import pytest

import contend
from contend.cli.app import run

VERB = ["fabric", "failures", "fig1", "--samples", "20"]


def test_one_run_goes_to_every_kind_of_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / f"it.{name}" for name in ("json", "markdown", "csv", "plot.html")}
    options = [
        word
        for name, file in files.items()
        for word in (f"--{name.partition(chr(46))[0]}", str(file))
    ]
    assert run([*VERB, *options]) == 0
    record = json.loads(files["json"].read_text())
    verdict = record["verdict"]
    assert capsys.readouterr().out.startswith(f"{verdict}\n")
    assert files["markdown"].read_text().startswith(f"{verdict}\n\n**")
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert [row["parts"] for row in rows] == [one["parts"] for one in record["alone"]]
    assert escape(verdict) in files["plot.html"].read_text()


@pytest.mark.parametrize("name", ["json", "markdown", "csv"])
def test_standard_output_is_for_one_alone(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*VERB, f"--{name}", "-"]) == 0
    assert "place  failure" not in capsys.readouterr().out
    other = "csv" if name == "json" else "json"
    assert run([*VERB, f"--{name}", "-", f"--{other}", "-"]) == 2
    assert "only one of" in capsys.readouterr().err


def test_what_cannot_be_drawn_is_refused_before_any_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["fabric", "failures", "no-such-file", "--plot", "it.gif"]) == 2
    assert "it.gif: expected a figure's name" in capsys.readouterr().err


def test_a_notebook_shows_what_the_terminal_does() -> None:
    from contend.cure import failures

    found = failures(contend.load("fig1", route="minhop"), samples=20)
    assert found._repr_html_() == found.document().html()
    assert escape(found.document().verdict) in found._repr_html_()
    assert found.figure("network").axes
