"""Tables of a result: what they say, on a terminal and on a page."""

from __future__ import annotations

from io import StringIO
from typing import Any

import numpy as np
from rich.console import Console

from contend.lab.runs import Estimate
from contend.report import ResultTable, print_tables
from contend.report.save import html_page
from contend.report.simulation.tables import (
    congestion_table,
    headline,
    simulation_tables,
    simulation_verdict,
)
from contend.report.words import factor_words


def printed(tables: Any) -> str:
    stream = StringIO()
    print_tables(Console(file=stream, width=120), tables)
    return stream.getvalue()


def test_the_headline_names_figure_interval_and_rated(make_simulation: Any) -> None:
    text = printed(simulation_tables(make_simulation()))
    line = next(line for line in text.splitlines() if "effective bisection bandwidth" in line)
    assert "55.0 %" in line
    assert "95 % interval" in line
    assert "rated bisection bandwidth" in text
    assert "100.0 %" in next(line for line in text.splitlines() if "bound by cuts" in line)
    assert "4 samples of 1 round, 4 ranks, seed 7" in text


def test_messages_by_congestion_with_bars_in_proportion(make_simulation: Any) -> None:
    table = simulation_tables(make_simulation())[1]
    assert [row[:3] for row in table.rows] == [
        ("1", "100.0 %", "60.0 %"),
        ("2", "50.0 %", "30.0 %"),
        ("4", "25.0 %", "10.0 %"),
    ]
    assert [len(row[3]) for row in table.rows][:2] == [40, 20]


def test_names_are_never_markup(make_simulation: Any) -> None:
    tables = simulation_tables(make_simulation())
    assert 'switch "ri[red]ght" port 3 -> switch "left" port 3' in printed(tables)
    html = html_page(["<?xml version='1.0'?>\n<svg></svg>"], tables)
    assert "switch &quot;ri[red]ght&quot; port 3 <span" in html


def test_scaled_figures_are_told_beside_the_plain_ones(make_simulation: Any) -> None:
    table = headline(make_simulation(scale=1.5, pattern="neighbour:6", exhaustive=True))
    assert table.rows[0][:2] == ("effective bandwidth", "55.0 %")
    assert "exact" in table.rows[0][3]
    # 1.5 * 0.55 and 1.5 * 3/8
    scaled = next(row for row in table.rows if row[0].startswith("times 1.5, as if no host waited"))
    assert scaled[1] == "82.5 %"
    assert "56.2 %" in scaled[3]


def test_what_each_host_gets_is_told_first_where_it_has_several_messages_at_once(
    make_simulation: Any,
) -> None:
    shares = np.array([0.25, 0.35, 0.30])
    found = make_simulation(pattern="alltoall", scale=15, several_at_once=True, host_share=shares)
    table = headline(found)
    assert table.rows[0][:2] == ("each host, until the last message is done", "30.0 %")
    assert table.rows[1][0] == "a message, on average"
    assert "each host gets 30.0 % of what its port allows" in simulation_verdict(found)


def test_messages_within_a_host_are_named(make_simulation: Any) -> None:
    histogram = np.array([1, 3], dtype=np.uint64)
    table = simulation_tables(make_simulation(histogram=histogram))[1]
    assert table.rows[0][:3] == ("0", "same host", "25.0 %")


def test_a_single_sample_has_no_interval_to_print(make_simulation: Any) -> None:
    table = headline(make_simulation(samples=1, bandwidth=np.array([0.5])))
    assert table.rows[0][3] == "a single sample has no interval"


def test_many_values_of_congestion_are_joined_to_ranges(make_simulation: Any) -> None:
    # 45 messages, one of each π from 1 to 45, and five within their hosts: ranges of ceil(45 / 20).
    histogram = np.ones(46, dtype=np.uint64)
    histogram[0] = 5
    rows = congestion_table(make_simulation(histogram=histogram)).rows
    assert [row[0] for row in rows] == ["0", *(f"{pi} to {pi + 2}" for pi in range(1, 46, 3))]
    assert rows[0][1:3] == ("same host", "10.0 %")
    assert {row[2] for row in rows[1:]} == {"6.0 %"}
    assert rows[-1][1] == "2.2 % or more"


def test_large_factors_have_no_exponent() -> None:
    assert factor_words(Estimate(674.0, 366.2, 1153.0)) == "674 (366 to 1,153)"
    assert factor_words(Estimate(12345.0)) == "12,345"
    assert factor_words(Estimate(1.0234, 0.98, 1.2, 0.5)) == "1.02 (0.98 to 1.2, 50 %)"


def test_numbers_stay_whole_on_a_narrow_terminal() -> None:
    columns = ("on", "run time", "interval", "any placement")
    row = ("xgft:2;4,4;1,1, dmodk", "8.18 s", "8.02 s to 8.38 s", "5.02 s")
    table = ResultTable("Predicted", columns, (row,), frozenset(columns[1:]))
    stream = StringIO()
    print_tables(Console(file=stream, width=40), [table])
    printed = stream.getvalue()
    for words in (*row[1:], "placement"):
        assert words in printed
