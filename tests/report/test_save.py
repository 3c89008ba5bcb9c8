"""Figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from contend.base.errors import UsageError
from contend.report import (
    congestion_distribution,
    save_figure,
    simulation_comparison,
)
from contend.report.save import save_page
from contend.report.simulation.tables import simulation_tables

MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml", ".html": b"<!doctype html>"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_ending_chooses_the_format(suffix: str, make_simulation: Any, tmp_path: Path) -> None:
    path = tmp_path / f"figure{suffix}"
    save_figure(congestion_distribution([make_simulation()]), path)
    assert path.read_bytes().startswith(MAGIC[suffix])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["figure.jpeg", "figure", "png"])
def test_other_endings_are_refused_and_nothing_is_written(
    name: str, make_simulation: Any, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"\.svg, \.png, \.pdf, \.html"):
        save_figure(congestion_distribution([make_simulation()]), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_page_holds_figure_and_tables_and_loads_nothing(
    make_simulation: Any, tmp_path: Path
) -> None:
    path = tmp_path / "page.HTML"
    simulation = make_simulation()
    figures = [("it", congestion_distribution([simulation]))]
    save_page(figures, path, simulation_tables(simulation))
    text = path.read_text()
    assert text.count("<svg") == 1
    assert "share of messages" in text
    assert "Hottest channels" in text
    assert text.count("<script>") == 1
    assert "src=" not in text
    assert "<?xml" not in text
    # No line ends within an arrow.
    assert text.count('nowrap">-&gt;</span>') == text.count("-&gt;") > 0


def test_equal_results_give_equal_files(make_simulation: Any, tmp_path: Path) -> None:
    for suffix in MAGIC:
        first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        save_figure(congestion_distribution([make_simulation()]), first)
        save_figure(congestion_distribution([make_simulation()]), second)
        assert first.read_bytes() == second.read_bytes()


def test_the_callers_settings_stay(make_simulation: Any, tmp_path: Path) -> None:
    with mpl.rc_context({"font.size": 23}):
        save_figure(congestion_distribution([make_simulation()]), tmp_path / "a.svg")
        assert mpl.rcParams["font.size"] == 23


def test_names_cannot_break_a_picture_or_a_terminal(make_simulation: Any, tmp_path: Path) -> None:
    hostile = make_simulation(name="a\x1b[31mb\x00")
    save_figure(congestion_distribution([hostile]), tmp_path / "a.svg")
    ElementTree.parse(tmp_path / "a.svg")
    (title, *_) = [table.title for table in simulation_tables(hostile)]
    assert "a\ufffd[31mb\ufffd" in title


def test_names_on_axes_cannot_break_a_picture(make_simulation: Any, tmp_path: Path) -> None:
    hostile = [make_simulation(name="a\x1b[31m"), make_simulation(name="b\udcff")]
    save_figure(simulation_comparison(hostile), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert "a\ufffd[31m" in text
    assert "b\ufffd" in text
