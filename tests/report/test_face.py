"""What reports load, and how schedules look alike in all figures."""

from __future__ import annotations

import sys

import pytest

from contend.report.style import COLOURS, looks
from processes import finished


@pytest.mark.parametrize(
    ("names", "unwanted"),
    [
        ("simulation_document, print_tables, check_suffix", "matplotlib polars"),
        ("mpi_document, memory_document, network_line", "matplotlib polars"),
        ("fabric_document, check_document, host_list_document", "matplotlib polars"),
        (
            "runs_document, pairs_document, study_document, profiles_document",
            "matplotlib",
        ),
    ],
)
def test_only_figures_load_what_draws(names: str, unwanted: str) -> None:
    code = (
        f"import sys; from contend.report import {names}; "
        f"print(*[name for name in '{unwanted}'.split() if f'{{name}}.' in ' '.join(sys.modules)])"
    )
    done = finished([sys.executable, "-c", code], check=True)
    assert done.stdout.strip() == ""


def test_barriers_break_the_line_and_keep_the_colour() -> None:
    look = looks(["library", "shift", "shift-barrier", "bruck"])
    assert look["shift"].colour == look["shift-barrier"].colour
    assert look["shift"].line != look["shift-barrier"].line
    assert len({look[name].colour for name in ("library", "shift", "bruck")}) == 3


def test_more_schedules_than_colours_differ_in_their_lines() -> None:
    names = [f"{number}" for number in range(2 * len(COLOURS))]
    look = looks([*names, *(f"{name}-barrier" for name in names)])
    assert len({(each.colour, each.line) for each in look.values()}) == len(look)
