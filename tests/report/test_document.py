"""A result says the same on a terminal, in files and in a notebook."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from contend.base.errors import UsageError
from contend.report import Document, ResultTable

TABLE = ResultTable(title="Links", columns=("link", "load"), rows=(("a <b>", "7"),), note="All.")


class Ratio(msgspec.Struct):
    """Of loads."""

    value: float


class Link(msgspec.Struct):
    """As tables show it."""

    name: str
    ratio: Ratio
    ends: list[int]


class Links(msgspec.Struct):
    """All of them."""

    title: str
    links: list[Link]


def document(**others: object) -> Document:
    record = Links("it", [Link("a", Ratio(0.5), [1, 2]), Link("b", Ratio(1.0), [])])
    pictures = {"bars": Figure, "lines": Figure}
    given = {"verdict": "Link a is hot.\nLink b is not.", "tables": [TABLE], **others}
    return Document(record=record, pictures=pictures, **given)  # type: ignore[arg-type]


def test_the_verdict_comes_first_everywhere(tmp_path: Path) -> None:
    told = document(closing=["written to x"])
    console = Console(record=True, width=80, file=io.StringIO())
    told.print_to(console)
    printed = console.export_text().splitlines()
    assert printed[:2] == ["Link a is hot.", "Link b is not."]
    assert printed[-1] == "written to x"
    assert told.markdown().startswith("Link a is hot.\n\nLink b is not.\n\n**Links**")
    assert told.html().startswith("<p><b>Link a is hot.</b></p>")
    assert "a &lt;b&gt;" in told.html()
    told.draw(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert (
        page.index("<h1>Link a is hot.</h1>") < page.index("<svg") < page.index("Links</caption>")
    )
    assert page.count("<svg") == 2


def test_a_file_holds_the_first_picture_or_the_one_that_is_asked_for(tmp_path: Path) -> None:
    assert document().draw(tmp_path / "a.svg") == [tmp_path / "a.svg"]
    assert document(picture="lines").draw(tmp_path / "b.svg") == [tmp_path / "b.svg"]
    figures = [("x", Figure()), ("y", Figure())]
    several = replace(document(), pictures={"all": lambda: figures})
    assert several.draw(tmp_path / "c.svg") == [tmp_path / "c-x.svg", tmp_path / "c-y.svg"]
    document(picture="lines").draw(tmp_path / "one.html")
    assert (tmp_path / "one.html").read_text().count("<svg") == 1
    with pytest.raises(UsageError, match="expected one of bars, lines for this result, got dots"):
        document(picture="dots").draw(tmp_path / "d.svg")
    with pytest.raises(UsageError, match="nothing to draw"):
        Document(record=TABLE).draw(tmp_path / "d.svg")


def test_a_page_says_that_its_network_is_too_large(tmp_path: Path) -> None:
    pictures = {"network": lambda: pytest.fail("drawn"), "bars": Figure}
    told = replace(document(explorable=lambda: None), pictures=pictures)
    told.draw(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 1
    assert "<p>Networks of more than 20,000 hosts are not drawn.</p>" in page


def test_rows_are_those_of_the_records_list() -> None:
    rows = list(csv.DictReader(io.StringIO(document().csv())))
    assert rows[0] == {"name": "a", "ratio.value": "0.5", "ends": "[1,2]"}
    assert [row["name"] for row in rows] == ["a", "b"]
    assert document(rows=lambda: "own\n").csv() == "own\n"
    single = Document(record={"mean": 0.5, "by": {"x": 1}}).csv()
    assert single == "mean,by.x\n0.5,1\n"
    numbered = Document(record={"by": {1: "one", 2: "two"}}).csv()
    assert numbered == "by.1,by.2\none,two\n"


def test_json_is_the_record() -> None:
    assert json.loads(document().json())["links"][0]["ratio"] == {"value": 0.5}


def test_remarks_stand_below_the_tables_and_a_list_for_programs_alone(tmp_path: Path) -> None:
    told = document(remarks=["Link <c> is not known."])
    console = Console(record=True, width=80, file=io.StringIO())
    told.print_to(console)
    assert console.export_text().splitlines()[-1] == "Link <c> is not known."
    assert told.markdown().endswith("\n\nLink <c> is not known.\n")
    assert told.html().endswith("<p>Link &lt;c&gt; is not known.</p>")
    told.draw(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.index("Links</caption>") < page.index("<p>Link &lt;c&gt; is not known.</p>")
    document(plain="a\n:b: [c]\n").print_to(console)
    assert console.export_text() == "a\n:b: [c]\n"
