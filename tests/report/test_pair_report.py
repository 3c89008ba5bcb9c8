"""What is reported of pairs of ranks in bisect patterns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from contend.base.errors import UsageError
from contend.lab.measurement import Agreement, MeasuredPairs, agreement
from contend.lab.runs import Run, RunRecord
from contend.report.pairwise.figures import ComparedFabric, agreement_figure, pair_figure
from contend.report.pairwise.pairs import pair_tables
from contend.report.run.document import pairs_document
from contend.report.save import save_figure
from contend.report.style import percent_axis
from json_reading import as_read
from report.conftest import titled


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "bisect", RunRecord("bisect", placement="fig1", wire_Bps=125.0))


def messages(congestion: list[int]) -> pl.DataFrame:
    """Messages that get 100 B/s over their congestion, those within a host 1000 B/s."""
    count = len(congestion)
    share = [1 / pi if pi else 10.0 for pi in congestion]
    return pl.DataFrame(
        {
            "launch": [0] * count,
            "sample": [0] * count,
            "pattern": [0] * count,
            "source_rank": range(count),
            "target_rank": [(rank + 1) % count for rank in range(count)],
            "bandwidth_Bps": [100.0 * part for part in share],
            "late": [False] * count,
            "beyond_wire": [100.0 * part > 125.0 for part in share],
            "congestion": congestion,
            "share": share,
            "fair_share": share,
            "port": [1.0] * count,
        }
    )


@pytest.fixture
def between_hosts() -> pl.DataFrame:
    return messages([1, 1, 1, 1, 2, 2, 2, 2])


@pytest.fixture
def judged(between_hosts: pl.DataFrame) -> Agreement:
    return agreement(between_hosts)


def with_ranks_on_a_host(judged: Agreement) -> Agreement:
    """The same with two messages that stayed on their hosts, whose congestion is 0."""
    within = replace(judged.by_congestion[0], congestion=0, pairs=2, median=10, low=10, high=10)
    return replace(judged, by_congestion=(within, *judged.by_congestion))


def test_messages_within_a_host_have_no_prediction(run: Run, judged: Agreement) -> None:
    pairs = messages([0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    tables = pair_tables(MeasuredPairs(run, pairs, with_ranks_on_a_host(judged)))
    assert titled(tables, "Messages by congestion").rows[0] == (
        *("0", "2", "same host", "1000.0 %", "1000.0 %", "-"),
    )
    every = {row[0]: row for row in titled(tables, "Every message").rows}
    assert every["0 -> 1"][1:4] == ("0", "same host", "-")
    assert every["6 -> 7"][1:5] == ("2", "50.0 %", "50.0 %", "50.0 %")


def test_messages_within_a_host_are_not_drawn(judged: Agreement, tmp_path: Path) -> None:
    pairs = messages([0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    figure = agreement_figure([ComparedFabric("fig1", pairs, with_ranks_on_a_host(judged))])
    left = figure.axes[0]
    # Both models, eight messages each; the ends of both drawn medians beside.
    points = [line for line in left.lines if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in points] == [8, 8]
    assert [text.get_text() for text in left.texts if "π =" in text.get_text()] == [
        *("π = 1", "π = 2"),
    ]
    save_figure(figure, tmp_path / "it.svg")


def test_a_single_pattern_has_no_interval(
    run: Run, between_hosts: pl.DataFrame, judged: Agreement
) -> None:
    first = titled(pair_tables(MeasuredPairs(run, between_hosts, judged)), "Bisect on")
    assert first.rows[1][2] == "of γ; a single pattern has no interval"


def test_the_names_of_libraries_hide_no_bar(between_hosts: pl.DataFrame) -> None:
    figure = pair_figure({"Open MPI 4.1.4": between_hosts})
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend.get_window_extent().y0 >= axes.transData.transform((0, axes.dataLim.y1))[1]


def test_labels_of_shares_are_not_rounded() -> None:
    axes = Figure().subplots()
    percent_axis(axes.yaxis)
    axes.set_ylim(0, 0.1)
    axes.set_yticks([0, 0.025, 0.05, 0.3])
    labels = [axes.yaxis.get_major_formatter()(tick) for tick in axes.get_yticks()]
    assert labels == ["0 %", "2.5 %", "5 %", "30 %"]


def test_ranges_of_equal_ends_are_one_number(run: Run, between_hosts: pl.DataFrame) -> None:
    """All messages of one congestion get the same here."""
    judged = agreement(between_hosts)
    groups = titled(
        pair_tables(MeasuredPairs(run, between_hosts, judged)), "Messages by congestion"
    )
    assert [row[4] for row in groups.rows] == ["100.0 %", "50.0 %"]


def test_messages_faster_than_the_wire_are_marked(run: Run, between_hosts: pl.DataFrame) -> None:
    """All messages get twice as much, half of them 200 B/s of a wire of 125."""
    fast = between_hosts.with_columns(pl.col("bandwidth_Bps") * 2).with_columns(
        beyond_wire=pl.col("bandwidth_Bps") > 125.0
    )
    (bandwidths,) = pair_tables(MeasuredPairs(run, fast))
    marked = {row[0]: "beyond the wire" in row[2] for row in bandwidths.rows}
    assert marked["most"]
    assert not marked["least"]
    assert ". 4 messages are beyond the wire. " in bandwidths.note
    assert as_read(MeasuredPairs(run, fast))["beyond_wire"] == 4
    legend = pair_figure({"Open MPI 4.1.4": fast}, 125.0).axes[0].get_legend()
    assert "50.0 % beyond the wire" in legend.get_texts()[0].get_text()


def test_without_predictions_bandwidths_stand_beside_the_link(
    run: Run, between_hosts: pl.DataFrame
) -> None:
    plain = between_hosts.drop("congestion", "share", "fair_share", "port")
    (bandwidths,) = pair_tables(MeasuredPairs(run, plain))
    assert bandwidths.rows[0][2] == "60.0 % of a link"
    assert bandwidths.note == "8 messages of 1 pattern"


def test_a_run_without_a_message_says_so(run: Run, between_hosts: pl.DataFrame) -> None:
    """A budget may end before the first pattern does."""
    empty = between_hosts.clear()
    document = pairs_document([MeasuredPairs(run, empty)])
    assert document.verdict == "Nothing was measured."
    (told, *_) = document.tables
    assert (told.rows, told.note[:28]) == ((), "No message was measured: giv")
    assert MeasuredPairs(run, empty).messages == 0
    with pytest.raises(UsageError, match="nothing to draw"):
        pair_figure({"MPI": empty})
