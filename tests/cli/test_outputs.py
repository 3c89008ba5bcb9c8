"""Where a result goes, by the options that every verb with a document has."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest

import contend
from contend.base.schema import Shown
from contend.cli.app import run
from typed_commands import Typed

BARE = contend.load("fig1")
VERB = ["fabric", "failures", "fig1", "--samples", "20"]


def test_one_run_goes_to_every_kind_of_file(tmp_path: Path, typed: Typed) -> None:
    files = {name: tmp_path / f"it.{name}" for name in ("json", "markdown", "csv", "plot.html")}
    options = [
        word
        for name, file in files.items()
        for word in (f"--{name.partition(chr(46))[0]}", str(file))
    ]
    printed = typed(*VERB, *options)
    record = json.loads(files["json"].read_text())
    verdict = record["verdict"]
    assert printed.out.startswith(f"{verdict}\n")
    assert files["markdown"].read_text().startswith(f"{verdict}\n\n**")
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert [row["parts"] for row in rows] == [one["parts"] for one in record["alone"]]
    assert escape(verdict) in files["plot.html"].read_text()


@pytest.mark.parametrize("name", ["json", "markdown", "csv"])
def test_standard_output_is_for_one_alone(name: str, typed: Typed) -> None:
    assert "place  failure" not in typed(*VERB, f"--{name}", "-").out
    other = "csv" if name == "json" else "json"
    assert "only one of" in typed(*VERB, f"--{name}", "-", f"--{other}", "-", status=2).err


WATCH = ["watch", "fig1", "--interval", "1ms", "--count", "1"]


def _counters(file: Path) -> str:
    file.write_text("   GUID 0x200000000 port 5: [PortXmitData == 5]\n")
    return str(file)


@pytest.mark.parametrize("output", ["prometheus", "log", "json", "plot"])
@pytest.mark.parametrize("source", ["{}", "command:cat {}"])
def test_no_output_overwrites_what_is_read(
    output: str, source: str, tmp_path: Path, typed: Typed
) -> None:
    file = tmp_path / "now.svg"
    name = _counters(file)
    before = file.read_bytes()
    printed = typed(*WATCH, "--counters", source.format(name), f"--{output}", name, status=2)
    assert "now.svg: this file is being read" in printed.err
    assert file.read_bytes() == before


def test_an_option_of_a_pattern_is_no_part_of_its_file(tmp_path: Path, typed: Typed) -> None:
    graph = tmp_path / "graph.xml"
    graph.write_bytes((Path(__file__).parents[1] / "data/rails/server.graph.xml").read_bytes())
    pattern = ["--pattern", f"file:{graph},ring"]
    printed = typed("simulate fig1", *pattern, "--json", graph, status=2)
    assert "this file is being read" in printed.err


@pytest.mark.parametrize(
    ("one", "other"),
    [("json", "plot"), ("csv", "markdown"), ("prometheus", "json"), ("log", "csv")],
)
def test_two_outputs_have_two_files(one: str, other: str, tmp_path: Path, typed: Typed) -> None:
    counters, place = _counters(tmp_path / "now"), tmp_path / "it.svg"
    (tmp_path / "link.svg").symlink_to(place)
    both = [f"--{one}", str(place), f"--{other}", str(tmp_path / "link.svg")]
    error = typed(*WATCH, "--counters", counters, *both, status=2).err
    assert f"--{one}" in error
    assert f"--{other}" in error
    assert "would overwrite each other" in error
    assert not place.exists()
    both = [f"--{one}", "/dev/null", "--csv" if one != "csv" else "--json", "/dev/null"]
    assert run([*WATCH, "--counters", counters, *both]) == 0


@pytest.mark.parametrize("output", ["prometheus", "log"])
def test_what_watch_writes_on_standard_output_stands_there_alone(
    output: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = [*WATCH, "--counters", _counters(tmp_path / "now"), f"--{output}", "-"]
    assert run(words) == 0
    first = "#" if output == "prometheus" else '{"'
    assert all(line.startswith((first, "contend_")) for line in capfd.readouterr().out.splitlines())
    assert run([*words, "--json", "-"]) == 2
    assert "only one of" in capfd.readouterr().err


def test_a_notebook_shows_what_the_terminal_does() -> None:
    found = contend.failures(contend.load("fig1", route="minhop"), samples=20)
    assert found._repr_html_() == found.document().html()
    assert escape(found.document().verdict) in found._repr_html_()
    assert found.figure("network").axes


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies keep their results in the current folder."""
    monkeypatch.chdir(tmp_path)


def _without_clocks(record: object) -> object:
    """A record without what the clock, or the command's own file, has to do with."""
    timed = ("seconds", "elapsed_s", "drawing_s", "counting_s", "patterns_per_s")
    if isinstance(record, dict):
        return {name: _without_clocks(each) for name, each in record.items() if name not in timed}
    return [_without_clocks(each) for each in record] if isinstance(record, list) else record


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("fabric show fig1 --route minhop", lambda f: contend.show(f)),
        ("fabric check fig1 --route minhop", lambda f: contend.check(f)),
        ("fabric failures fig1 --route minhop", lambda f: contend.failures(f, engine="minhop")),
        ("fabric diff fig1 fig1 --route minhop", lambda f: contend.diff(f, f)),
        ("fabric engines fig1 --route dmodk", lambda f: contend.engines(BARE, ["dmodk"])),
        ("fabric improve fig1", lambda f: contend.improve(BARE)),
        ("simulate fig1 --route minhop --samples 9", lambda f: contend.simulate(f, samples=9)),
        (
            "predict collectives fig1 --route minhop --rate 4xNDR",
            lambda f: contend.collectives(f, rate="4xNDR"),
        ),
        (
            "predict alltoall fig1 --route minhop -a shift --bytes 4K",
            lambda f: contend.predict(f, algorithms="shift", bytes="4K"),
        ),
        ("route fig1 --route minhop", lambda f: contend.route(f)),
        ("place ring fig1 --route minhop", lambda f: contend.place("ring", f)),
        (
            "study hoefler2008 --only fig1 --samples 20",
            lambda f: contend.study("hoefler2008", only="fig1", samples=20),
        ),
        (
            "study mistry2015 --predict -m 512,64N --hosts 1,4",
            lambda f: contend.study("mistry2015", predict=True, length=(512, "64N"), hosts="1,4"),
        ),
    ],
)
@pytest.mark.usefixtures("elsewhere")
def test_a_function_means_what_the_command_of_its_name_does(
    command: str,
    call: Callable[[contend.Fabric], Shown],
    typed: Typed,
) -> None:
    told = json.loads(typed(*command.split(), "--json", "-").out)
    found = call(contend.load("fig1", route="minhop"))
    assert _without_clocks(json.loads(found.document().json())) == _without_clocks(told)
    assert found.verdict == told["verdict"]


def test_a_page_that_is_too_large_to_draw_says_so(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdict and tables are there all the same; a drawing alone is refused by the same words."""
    for module in ("page.networks", "page.explorable", "fabric.network"):
        monkeypatch.setattr(f"contend.report.{module}.MOST_HOSTS", 15)
    words = "Networks of more than 20,000 hosts are not drawn."
    for hosts, drawn in ((15, True), (16, False)):
        page = tmp_path / f"{hosts}.html"
        printed = typed(f"fabric page crossbar:{hosts} -o {page}").out
        assert (words in printed) == (words in page.read_text()) == (not drawn)
        assert f"{hosts} hosts on 1 switch" in page.read_text()
        drawing = tmp_path / f"{hosts}.svg"
        told = typed(f"fabric draw crossbar:{hosts} --plot {drawing}", status=0 if drawn else 2)
        assert (words in told.err) == (not drawn)
        assert drawing.exists() == drawn
