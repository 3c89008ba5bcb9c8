"""What is reported of a pair of hosts while others load its route."""

from __future__ import annotations

import math

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from contend import load
from contend.base.errors import UsageError
from contend.congestion import hotspot
from contend.lab.measurement import HotspotPairs
from contend.report.pairwise.figures import hotspot_figure
from contend.report.pairwise.hotspot import hotspot_tables
from json_reading import as_read

_LARGE = 1 << 20


def operations(
    sizes: dict[int, list[int]],
    algorithms: tuple[str, ...] = ("round-trip", "stream"),
    wire: float = math.inf,
) -> pl.DataFrame:
    """Three samples of one operation each: a time of k + 1 ms, a bandwidth of 60 MB/s over k + 1.

    Args:
        sizes: message sizes that were measured beside each number of rivals.
        algorithms: what was measured.
        wire: bytes per second that hosts' ports carry.
    """
    rows = [
        (0, algorithm, size, k, sample, (k + 1) * 1e-3, 6e7 / (k + 1), False, 6e7 / (k + 1) > wire)
        for algorithm in algorithms
        for k, measured in sizes.items()
        for size in measured
        for sample in range(3)
    ]
    names = ["launch", "algorithm", "bytes", "rivals", "sample", "seconds", "bandwidth_Bps", "late"]
    return pl.DataFrame(rows, schema=[*names, "beyond_wire"], orient="row")


def title(sizes: dict[int, list[int]], *algorithms: str) -> str:
    figure = hotspot_figure(operations(sizes, algorithms), "fig1")
    return figure._suptitle.get_text().replace("\n", " ")  # type: ignore[attr-defined,no-any-return]


def test_the_pairs_are_named() -> None:
    """Uplink 1 of leaf 1 of the figure of 2008 leads to hosts 5, 9 and 13."""
    figure = load("fig1", route="fig1")
    spot = as_read(HotspotPairs.of(hotspot(figure, 3, victim=(0, 4)), figure))
    assert spot["channel"] == 'switch "leaf 1" port 5 -> switch "top 1" port 1'
    assert spot["victim"] == ["1", "5"]
    assert sorted(target for _, target in spot["rivals"]) == ["13", "9"]


def test_a_pair_shares_a_channel_with_two_others() -> None:
    every = {k: [1, _LARGE] for k in (0, 1, 2)}
    latency, bandwidth = hotspot_tables(operations(every))
    assert latency.rows == tuple((size, "1 ms", "2 ms", "3 ms", "") for size in ("1 B", "1 MiB"))
    assert [row[3:5] for row in bandwidth.rows] == [
        *(("100.0 %", "100.0 %"), ("50.0 %", "50.0 %"), ("33.3 %", "33.3 %")),
    ]
    assert title(every, "stream") == (
        "fig1: a pair with 2 other pairs on its route gets 33.3 % of its bandwidth"
    )
    assert "a pair with 2 other pairs on its route takes 3.0 times" in title(every, "round-trip")


def test_what_is_faster_than_the_wire_is_marked() -> None:
    """60 MB/s alone and 30 beside one pair, where hosts' ports carry 40."""
    measured = operations({0: [1, _LARGE], 1: [1, _LARGE]}, wire=4e7)
    latency, bandwidth = hotspot_tables(measured)
    assert [row[-1] for row in latency.rows] == ["k = 0: beyond the wire"] * 2
    assert [row[-1] for row in bandwidth.rows] == ["beyond the wire", ""]
    assert "faster than the hosts' ports" in bandwidth.note
    for axes in hotspot_figure(measured, "fig1").axes:
        legend = axes.get_legend()
        assert "beyond the wire" in [text.get_text() for text in legend.get_texts()]


def test_the_names_of_lines_hide_none_of_them() -> None:
    sizes = {0: [64, 4096], 1: [64, 4096]}
    figure = hotspot_figure(operations(sizes), "fig1")
    FigureCanvasAgg(figure).draw()
    times = figure.axes[0]
    legend = times.get_legend()
    assert legend.get_window_extent().y0 >= times.transData.transform((1, times.dataLim.y1))[1]


def test_a_budget_that_ended_before_the_last_rivals_is_drawn() -> None:
    """Beside two rivals only small messages were measured: the title speaks of one rival."""
    cut = {0: [1, _LARGE], 1: [1, _LARGE], 2: [1]}
    assert title(cut, "stream") == (
        "fig1: a pair with 1 other pair on its route gets 50.0 % of its bandwidth"
    )
    assert "takes 2.0 times" in title(cut, "round-trip")


def test_a_pair_alone_and_beside_others_is_compared_at_one_size() -> None:
    """The budget ended before the largest message was measured alone, or beside a rival."""
    for cut in ({0: [1, 4096], 1: [1, 4096, _LARGE]}, {0: [4096, _LARGE], 1: [4096]}):
        *_, bandwidth = hotspot_tables(operations(cut))
        assert bandwidth.title.endswith("messages of 4 KiB")
        assert [row[0] for row in bandwidth.rows] == ["0", "1"]
        assert title(cut, "stream").endswith("gets 50.0 % of its bandwidth")


def test_a_pair_that_was_never_measured_alone_is_compared_with_nothing() -> None:
    assert title({1: [_LARGE]}, "stream") == "fig1: a pair with 1 other pair on its route"


def test_a_budget_that_ended_before_the_first_rival_leaves_a_pair_alone() -> None:
    assert title({0: [_LARGE]}, "stream") == "fig1: a pair that shares its route with no other"


def test_nothing_measured_is_said() -> None:
    with pytest.raises(UsageError, match="no message of the victim was measured"):
        hotspot_figure(operations({}), "fig1")
