"""Kept files, runs and studies load, and all figures are still those that version 1.0.0 gave.

The answers are kept in tests/data/kept; `tools/same_figures.py` compares any two versions, of which
two that are the same must not differ, and any that differ must be found.
"""

from __future__ import annotations

import copy
import importlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.cli.app import run

SCRIPT = Path(__file__).parents[2] / "tools" / "same_figures.py"


# The script's own neighbours are found beside it.
sys.path.insert(0, str(SCRIPT.parent))
same_figures: Any = importlib.import_module("same_figures")
served_commands: Any = importlib.import_module("served_commands")
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


COMMAND = "simulate fig1 --route fig1 --samples 20 {outputs} --plot out.svg --channel nowhere"
DRAWN = COMMAND.replace(" --channel nowhere", " --without 'top 2'")


@pytest.fixture(scope="module")
def answers() -> Any:
    """What this version says to a command that succeeds and to one that fails, twice."""
    script = str(Path(sys.executable).with_name("contend"))
    version = same_figures.Version(script, TABLE, renamed=False)
    return [version.answers([COMMAND, DRAWN], 1) for _ in range(2)]


def test_a_version_does_not_differ_from_itself(answers: Any) -> None:
    old, new = answers
    assert old[DRAWN]["status"] == 0
    assert set(old[DRAWN]["files"]) == {"out.json", "out.md", "out.csv", "out.svg"}
    assert old[COMMAND]["stderr"][0].startswith("contend: ")
    for command in (COMMAND, DRAWN):
        assert TABLE.differences(command, old[command], new[command]) == []


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (DRAWN, ("status",)),
        (DRAWN, ("text", 0)),
        (DRAWN, ("files", "out.md", 4)),
        (DRAWN, ("files", "out.json", "verdict")),
        (DRAWN, ("files", "out.csv", "columns", 1)),
        (DRAWN, ("files", "out.csv", "rows", 0, "links")),
        (DRAWN, ("files", "out.svg", 3)),
        (COMMAND, ("status",)),
        (COMMAND, ("stderr", 0)),
    ],
)
def test_a_planted_difference_is_found(answers: Any, command: str, place: tuple[Any, ...]) -> None:
    old, new = answers[0][command], copy.deepcopy(answers[1][command])
    at = new
    for key in place[:-1]:
        at = at[key]
    value = at[place[-1]]
    at[place[-1]] = f"{value}!"
    (found,) = TABLE.differences(command, old, new)
    assert (found.key, found.old, found.new, found.why) == (
        ".".join(map(str, place)),
        value,
        f"{value}!",
        "",
    )
    assert same_figures.report(TABLE, {command: old}, {command: new}) == 1
    assert same_figures.report(TABLE, {command: old}, {command: old}) == 0


def test_a_line_more_is_one_difference() -> None:
    old, new = ({"status": 0, "text": text, "stderr": []} for text in (["a", "c"], ["a", "b", "c"]))
    (found,) = TABLE.differences("simulate fig1", old, new)
    assert (found.key, found.old, found.new) == ("text.1", "absent", "b")


def test_files_are_told_by_their_words() -> None:
    def words(name: str, text: str) -> Any:
        return same_figures.said_by(name, text.encode(), text)

    figure = '<svg><style>text {}</style><text x="1">leaf 1</text><text>&#960;  is 2</text></svg>'
    assert words("a.svg", figure) == ["leaf 1", "π is 2"]
    assert words("a.svg", figure.replace('x="1"', 'x="2"')) == ["leaf 1", "π is 2"]
    page = '<p>fig1</p><script>let x;</script><script type="application/json">{"a": ["top", 1]}'
    assert words("a.html", f"{page}</script><b>end</b>") == ["fig1", "top", "end"]
    assert words("a.csv", "a,b\n1,2\n") == {"columns": ["a", "b"], "rows": [{"a": "1", "b": "2"}]}
    assert same_figures.said_by("a.npy", b"\xff", "") != same_figures.said_by("a.npy", b"\xfe", "")


def test_what_depends_on_the_clock_is_masked() -> None:
    line = "50 samples of 1 round, 16 ranks, seed 1, {}; links of 4xSDR, assumed: 1 GB/s each way"
    short, long = (TABLE.masked("simulate fig1", line.format(time)) for time in ("0.02 s", "1 s"))
    assert short == long
    assert TABLE.masked("simulate fig1", "it takes 0.02 s") == "it takes 0.02 s"
    rows = [f" contend  91 %  1  {time} " for time in ("2.25 ms", " 878 µs")]
    assert len({TABLE.masked("fabric engines fig1", row) for row in rows}) == 1
    assert len({TABLE.masked("fabric check fig1", row) for row in rows}) == 2


def test_random_commands_are_those_that_the_parser_offers() -> None:
    """Options that it has now, and one that it gets; a seed draws the same ones each time."""
    verbs = served_commands.offered()
    first = served_commands.drawn(verbs, TABLE.words, 200, 1)
    assert first == served_commands.drawn(verbs, TABLE.words, 200, 1)
    assert first != served_commands.drawn(verbs, TABLE.words, 200, 2)
    known = {
        f"{verb} {name}"
        for verb, options in verbs.items()
        for each in options
        for name in each["names"]
    }
    assert {"simulate --samples", "fabric show --route"} <= known
    assert not [line for line in first if line.startswith(tuple(TABLE.words["unasked"]))]
    new = {**verbs["mpi"][0], "names": ["--new"], "takes": "", "choices": ["old", "bold"]}
    more = served_commands.drawn({"simulate": [new]}, {**TABLE.words, "wrong_share": 0}, 99, 1)
    assert set(more) == {"simulate", "simulate --new old", "simulate --new bold"}
