"""What the figures show: data, marks, labels and titles."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from contend.congestion import Average
from contend.fabric import Fabric
from contend.report import (
    bandwidth_histogram,
    channel_loads,
    congestion_distribution,
    round_bounds,
    save_figure,
    simulation_comparison,
)
from contend.report.charts import fractions
from contend.report.series import Series
from contend.report.simulation.histograms import bin_edges
from contend.report.style import new_figure, rate_axis, styled, time_axis


def texts(figure: Figure) -> str:
    """Every text of a figure, in one string without line breaks."""
    found = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    return " | ".join(found).replace("\n", " ")


def narrow(make_simulation: Any, mean: float, **changes: Any) -> Any:
    """A simulation whose samples lie within half a per cent."""
    near = mean + np.array([-0.002, 0.0, 0.001, 0.001])
    return make_simulation(bandwidth=near, mean_congestion=1 / near, **changes)


def test_fractions_of_samples_add_to_one() -> None:
    edges = np.linspace(0, 1, 101)
    heights = fractions(np.array([0.0, 0.57, 0.57, 1.0, 1.2]), edges)
    assert heights.sum() == pytest.approx(1)
    assert heights[57] == pytest.approx(2 / 5)
    assert heights[-1] == pytest.approx(2 / 5)


def test_bins_are_coarse_for_wide_samples() -> None:
    assert len(bin_edges([np.linspace(0.5, 0.51, 50)])) == 101
    assert len(bin_edges([np.linspace(0.5, 0.51, 50), np.linspace(0.3, 0.9, 50)])) == 51


def test_a_panel_for_each_fabric_and_an_outline_for_each_engine(make_simulation: Any) -> None:
    simulations = [
        narrow(make_simulation, 0.475, name="ranger", engine="opensm:dfsssp"),
        narrow(make_simulation, 0.08, name="ranger", engine="opensm:minhop"),
        narrow(make_simulation, 0.401, name="thunderbird", engine="opensm:dfsssp"),
    ]
    figure = bandwidth_histogram(
        simulations, rated=[1, 1, 0.5], reference=[0.576, 0.576, None], reference_name="2008"
    )
    assert len(figure.axes) == 2
    text = texts(figure)
    for expected in (
        "dfsssp 47.5 %",
        "minhop 8.0 %",
        "dfsssp 40.1 %",
        "narrowest cut 100 %",
        "narrowest cut 50 %",
    ):
        assert expected in text
    named = [label.get_text() for label in figure.axes[0].get_legend().get_texts()]
    assert named.count("2008 57.6 %") == 1
    assert "8.0 % (ranger, minhop) to 47.5 % (ranger, dfsssp)" in text
    assert "fraction of samples" in text
    assert "1 / mean π" in text


def test_an_engine_keeps_its_colour_in_every_panel(make_simulation: Any) -> None:
    simulations = [
        narrow(make_simulation, 0.3, name="a", engine="minhop"),
        narrow(make_simulation, 0.5, name="a", engine="ftree"),
        narrow(make_simulation, 0.5, name="b", engine="ftree"),
    ]
    first, second = bandwidth_histogram(simulations).axes
    one, other = (
        {line.get_label().split()[0]: line.get_color() for line in axes.get_legend().get_lines()}
        for axes in (first, second)
    )
    assert one["ftree"] != one["minhop"]
    assert other == {"ftree": one["ftree"]}


def test_routings_that_give_the_same_samples_share_a_label(make_simulation: Any) -> None:
    pair = [narrow(make_simulation, 0.4, engine=engine) for engine in ("minhop", "updn")]
    assert "minhop, updn 40.0 %" in texts(bandwidth_histogram(pair))


def test_the_drawn_bars_are_the_fractions(make_simulation: Any) -> None:
    figure = bandwidth_histogram(
        [make_simulation(bandwidth=np.array([0.41, 0.41, 0.41, 0.9]))],
        average=Average.EFFECTIVE_BANDWIDTH,
    )
    values, edges, _ = figure.axes[0].patches[0].get_data()
    assert values[20] == pytest.approx(3 / 4)
    assert edges[20] == pytest.approx(0.4)
    assert values[45] == pytest.approx(1 / 4)


def test_both_bounds_of_rounds(make_simulation: Any) -> None:
    figure = round_bounds([make_simulation(pattern="dissemination", rounds=2)], reference=[0.419])
    text = texts(figure)
    # 1/mean π is 3/8, 1/largest π is (1/5 + 1/5 + 1/10 + 1/10) / 4 = 3/20: a factor 2.5.
    for expected in ("no waiting 37.5 %", "waiting 15.0 %", "paper 41.9 %", "a factor of 2.5"):
        assert expected in text


def test_scaled_bandwidths_are_drawn_and_said(make_simulation: Any) -> None:
    figure = round_bounds([make_simulation(pattern="neighbour:2", scale=2.0)])
    assert "no waiting 75.0 %" in texts(figure)
    assert "times 2" in texts(figure)


def test_messages_within_a_host_have_a_bar(make_simulation: Any) -> None:
    histogram = np.array([1, 3], dtype=np.uint64)
    bars = congestion_distribution([make_simulation(histogram=histogram)]).axes[0].containers[0]
    assert [bar.get_height() for bar in bars] == pytest.approx([0.25, 0.75])


def test_messages_by_congestion_as_bars(make_simulation: Any) -> None:
    figure = congestion_distribution([make_simulation()])
    heights = [bar.get_height() for bar in figure.axes[0].containers[0]]
    assert heights == pytest.approx([0.6, 0.3, 0, 0.1])
    text = texts(figure)
    assert "60.0 % of bisect's messages share no channel" in text
    assert "with 3 others" in text
    assert "share of messages" in text


def test_a_thin_tail_is_told_in_words(make_simulation: Any) -> None:
    histogram = np.zeros(41, dtype=np.uint64)
    histogram[[1, 2, 40]] = [9000, 999, 1]
    figure = congestion_distribution([make_simulation(histogram=histogram)])
    assert len(figure.axes[0].containers[0]) == 2
    assert "up to π = 40" in texts(figure)


def test_several_distributions_are_told_apart(make_simulation: Any) -> None:
    figure = congestion_distribution(
        [make_simulation(), make_simulation(engine="ftree", histogram=np.array([0, 9, 1]))]
    )
    first, second = figure.axes[0].lines
    assert first.get_ydata()[:2] == pytest.approx([0.6, 0.3])
    assert second.get_ydata()[:2] == pytest.approx([0.9, 0.1])
    assert first.get_marker() != second.get_marker()
    assert "From 60.0 % (updn) to 90.0 % (ftree)" in texts(figure)


def test_comparison_draws_value_rated_and_reference(make_simulation: Any) -> None:
    figure = simulation_comparison(
        [make_simulation(), make_simulation(engine="ftree", bandwidth=np.full(4, 0.7))],
        rated=[1, 1],
        reference=[None, 0.65],
    )
    text = texts(figure)
    assert "bisect gets 55.0 to 70.0 % of the link speed" in text
    assert "the narrowest cut found could carry 100 %" in text
    for expected in ("55.0 %", "70.0 %", "updn", "ftree", "narrowest cut found", "95 % interval"):
        assert expected in text
    diamonds = [line for line in figure.axes[0].lines if line.get_marker() == "D"]
    assert diamonds[0].get_xdata() == pytest.approx([0.65])
    assert diamonds[0].get_ydata() == pytest.approx([1])


def test_a_bandwidth_is_no_share_of_the_narrowest_cut(make_simulation: Any) -> None:
    text = texts(simulation_comparison([make_simulation()], rated=[0.5]))
    # Random pairs do not all cross the cut: what they get is no part of its capacity.
    assert "gets 55.0 % of the link speed; the narrowest cut found could carry 50 %" in text
    assert "110 %" not in text
    text = texts(simulation_comparison([make_simulation()]))
    assert "gets 55.0 % of the link speed in the best case: duo, updn" in text


def test_channel_loads_are_sorted_and_named(make_simulation: Any) -> None:
    figure = channel_loads(make_simulation())
    steps = figure.axes[0].lines[0].get_ydata()
    assert steps == pytest.approx([2.5, 0.5, 0.5, 0.0])
    text = texts(figure)
    # Mean of the four channels between switches is 3.5 / 4.
    assert "2.9 times the mean, 25 % carry nothing" in text
    assert '2.50  "ri[red]ght" port 3 → "left" port 3' in text


def test_a_fabric_without_cables_has_no_loads(make_simulation: Any) -> None:
    figure = channel_loads(make_simulation(channel_load=np.zeros(12)))
    assert "no channel between switches" in texts(figure)


def test_names_of_switches_are_no_formulas(
    make_simulation: Any, duo: Fabric, tmp_path: Path
) -> None:
    """Neither drawn as one, nor refused where they would make none."""
    named = duo.replace(name=r"$\frac{1$", switch_name=(r"$\frac{1$", "$y_1$"))
    figure = channel_loads(make_simulation(fabric=named))
    save_figure(figure, tmp_path / "loads.svg")
    assert (tmp_path / "loads.svg").stat().st_size > 0


def test_many_values_of_congestion_are_drawn_as_steps(make_simulation: Any) -> None:
    """100 messages of π = 50 and 300 of π = 1007: bars would be half a pixel wide."""
    histogram = np.zeros(1008, dtype=np.uint64)
    histogram[[50, 1007]] = [100, 300]
    figure = congestion_distribution([make_simulation(histogram=histogram)])
    (steps,) = figure.axes[0].lines
    assert not figure.axes[0].containers
    assert steps.get_xdata()[1:3] == pytest.approx([50, 1007])
    assert steps.get_ydata()[1:3] == pytest.approx([0.25, 1])
    assert "half of bisect's messages share a channel with 1,006 others, none with more" in texts(
        figure
    )


def test_equal_distributions_are_both_to_be_seen(make_simulation: Any) -> None:
    figure = congestion_distribution([make_simulation(), make_simulation(engine="ftree")])
    under, over = figure.axes[0].lines
    assert under.get_linewidth() > over.get_linewidth()
    assert under.get_markersize() > over.get_markersize()


@pytest.mark.parametrize(
    ("histogram", "words"), [([0, 0, 6, 4], "1 other or more"), ([0, 0, 4, 6], "2 others")]
)
def test_half_of_the_messages_share_with_as_many_others(
    make_simulation: Any, histogram: list[int], words: str
) -> None:
    figure = congestion_distribution([make_simulation(histogram=np.array(histogram))])
    assert f"share a channel with {words}" in texts(figure)


def test_a_long_name_of_a_channel_is_wrapped_not_cut_off(make_simulation: Any, duo: Fabric) -> None:
    long = tuple(f"MF0;SSPINE2-0{k}:MQM8700/U1" for k in range(2))
    figure = channel_loads(make_simulation(fabric=duo.replace(switch_name=long)))
    figure.draw_without_rendering()
    (hottest,) = [text for text in figure.findobj(Text) if "hottest:" in text.get_text()]
    assert '01:MQM8700/U1" port 3' in hottest.get_text()
    assert hottest.get_window_extent().x1 < figure.bbox.width


@pytest.mark.parametrize("span", [(0.16, 7.0), (300.0, 9000.0), (0.01, 20000.0)])
def test_rates_have_a_scale(span: tuple[float, float]) -> None:
    figure = new_figure(height=2)
    axes = figure.subplots()
    rate_axis(axes)
    axes.set_ylim(*span)
    FigureCanvasAgg(figure).draw()
    ticks = [*axes.yaxis.get_major_ticks(), *axes.yaxis.get_minor_ticks()]
    shown = [
        tick for tick in ticks if span[0] <= tick.get_loc() <= span[1] and tick.label1.get_text()
    ]
    assert 3 <= len(shown) <= 8


@pytest.mark.parametrize(
    "span", [(8.1e-3, 8.7e-3), (1.7e-3, 3.3e-3), (2.1e-3, 9.9e-3), (1e-5, 5e-3)]
)
def test_times_on_an_axis_stand_apart(span: tuple[float, float]) -> None:
    with styled():
        figure = new_figure(height=1, width=2.2)
        axes = figure.subplots()
        axes.set_xlim(*span)
        time_axis(axes, "x")
        axes.set_xlim(*span)
        FigureCanvasAgg(figure).draw()
    shown = [
        label.get_window_extent()
        for tick, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        if span[0] <= tick <= span[1]
    ]
    assert len(shown) >= 2
    assert not any(left.overlaps(right) for left, right in itertools.pairwise(shown))


@pytest.mark.parametrize("interval", [{}, {"low": [0.4], "high": [0.6]}])
@pytest.mark.parametrize("band", [False, True])
def test_a_line_of_one_point_can_be_seen(interval: dict[str, Any], band: bool) -> None:
    figure = Figure()
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    Series([1], [0.5], line="-", band=band, **interval).onto(axes)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    drawn = np.asarray(canvas.buffer_rgba())[..., :3] < 250
    assert drawn.any()
