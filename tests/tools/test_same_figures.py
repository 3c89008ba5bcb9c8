"""Kept files, runs and studies load, and all figures are still those that version 1.0.0 gave.

The answers are kept in tests/data/kept; `tools/same_figures.py` compares any two versions.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.cli.app import run

SCRIPT = Path(__file__).parents[2] / "tools" / "same_figures.py"


def _load_script() -> Any:
    spec = importlib.util.spec_from_file_location("same_figures", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Where dataclasses look up what their fields are.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


same_figures = _load_script()
TABLE = same_figures.Table()
KEPT = same_figures.load_kept()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is kept, which studies may go on in."""
    folder = tmp_path_factory.mktemp("kept") / "runs"
    shutil.copytree(same_figures.FOLDER, folder)
    return folder


@pytest.mark.parametrize("command", TABLE.commands)
def test_figures_are_those_that_are_kept(
    command: str,
    kept: Path,
    request: pytest.FixtureRequest,
    require_program: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "{shared}" in command:
        folder = request.getfixturevalue("shared_data")
        monkeypatch.setenv("CONTEND_SHARED_DATA", str(folder))
    if "hoefler2008 --only chic" in command:
        require_program("opensm")
    if "mpicc.openmpi" in command:
        require_program("mpicc.openmpi")
    monkeypatch.chdir(kept)
    status = run(TABLE.arguments(command, renamed=True))
    answer = same_figures.answer_of(capsys.readouterr().out, status)
    differences = TABLE.differences(command, KEPT[command], answer)
    assert [found for found in differences if not found.why] == []


def test_every_kept_answer_is_asked_for() -> None:
    assert set(KEPT) == set(TABLE.commands)


def test_difference_is_found_and_named() -> None:
    old = {"status": 0, "json": {"cells": [{"mean": 0.5, "elapsed_s": 1.0}], "gone": 1}}
    new = {"status": 0, "json": {"cells": [{"mean": 0.6, "elapsed_s": 2.0}], "more": []}}
    found = TABLE.differences("simulate fig1", old, new)
    assert [(one.key, one.old, one.new) for one in found] == [
        ("json.cells.0.mean", 0.5, 0.6),
        ("json.gone", 1, "absent"),
        ("json.more", "absent", []),
    ]


def test_table_of_differences_allows_what_it_names_alone(tmp_path: Path) -> None:
    """A value that may change, from one figure to another, and a key with a new name."""
    (tmp_path / "table.toml").write_text("""
commands = []
ignored = ["elapsed_s"]
[options]
"study/--out" = "--output"
[[renamed]]
old = "json.cells.*.rate"
new = "json.cells.*.rate_Bps"
[[difference]]
command = "report *"
key = "json.cells.*.mean"
old = 1.5
new = 2.5
why = "silent rounds are counted once"
[[difference]]
command = "say *"
key = "json.text"
same_numbers = true
why = "plainer"
""")
    table = same_figures.Table(tmp_path / "table.toml")
    old = {"json": {"cells": [{"rate": 1, "mean": 1.5}, {"rate": 2, "mean": 1.5}]}}
    new = {"json": {"cells": [{"rate_Bps": 1, "mean": 2.5}, {"rate_Bps": 2, "mean": 3.5}]}}
    found = table.differences("report run", old, new)
    assert [(one.key, one.why) for one in found] == [
        ("json.cells.0.mean", "silent rounds are counted once"),
        ("json.cells.1.mean", ""),
    ]
    assert [one.why for one in table.differences("show run", old, new)] == ["", ""]
    sentence = {"json": {"text": "3 ports idle, 0.5 of all"}}
    same, other = ({"json": {"text": text}} for text in ("0 of 3 idle", "3 idle ports: 0.5"))
    assert [one.why for one in table.differences("say it", sentence, same)] == [""]
    assert [one.why for one in table.differences("say it", sentence, other)] == ["plainer"]
    assert table.arguments("study x --out y", renamed=True) == ["study", "x", "--output", "y"]
    assert table.arguments("report x --out y", renamed=True) == ["report", "x", "--out", "y"]
