"""Tables, JSON, CSV and figures of measured runs."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from contend.base.errors import UsageError
from contend.lab.runs import Condition, LaunchRecord, LibraryRecord, Run, RunRecord, compared
from contend.report import ResultTable
from contend.report.run.document import cells_csv, runs_document
from contend.report.run.figures import (
    comparison_figure,
    distribution_figure,
    pingpong_figure,
    sort_figure,
)
from contend.report.run.findings import winner_tables
from contend.report.run.rates import run_rate_figures
from contend.report.run.tables import (
    cell_tables,
    comparison_tables,
    harness_tables,
    measure_tables,
    run_tables,
)
from contend.report.words import interval_words, shared_words, size_words
from json_reading import as_read
from measured_runs import COLLAPSED, alltoall_run, pingpong_run, sort_run
from report.conftest import titled
from sample_files import Launch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def alltoall(folder: Path) -> Run:
    return alltoall_run(folder / "alltoall")


@pytest.fixture(scope="module")
def slower(folder: Path) -> Run:
    mpich = LibraryRecord("MPICH", "4.0.2")
    return alltoall_run(folder / "mpich", seed=5, slower=1.5, library=mpich)


@pytest.fixture(scope="module")
def sort(folder: Path) -> Run:
    return sort_run(folder / "sort")


@pytest.fixture(scope="module")
def pingpong(folder: Path) -> Run:
    return pingpong_run(folder / "pingpong")


def column(of: ResultTable, head: str) -> list[str]:
    return [row[of.columns.index(head)] for row in of.rows]


def drawn(axes: Axes, marker: str = "o") -> int:
    """Points drawn with a marker."""
    return sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == marker)  # type: ignore[arg-type]


def finding(figure: Figure) -> str:
    return figure._suptitle.get_text().replace("\n", " ")  # type: ignore[attr-defined,no-any-return]


def test_cells_are_sorted_by_size_with_the_fastest_first(alltoall: Run) -> None:
    (cells,) = cell_tables(alltoall)
    assert cells.title == (
        "alltoall, Open MPI 5.0.11, flow control: off, 16 ranks on 16 hosts, counts even"
    )
    assert column(cells, "schedule")[:2] == ["bruck", "linear"]
    assert column(cells, "bytes")[::5] == [
        *("4 B", "16 B", "64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB"),
        *("256 KiB", "1 MiB"),
    ]
    assert column(cells, "n") == ["75"] * 50
    # 15 messages of 4 bytes in 49.3 µs are 1.22 MB/s, of ports of 118.
    assert (column(cells, "rate")[0], column(cells, "of port")[0]) == ("1.22 MB/s", "1.0 %")


def test_winners_and_collapses_are_told(alltoall: Run) -> None:
    tables = run_tables(alltoall)
    winners = titled(tables, "Fastest schedule")
    assert column(winners, "fastest")[0] == "bruck"
    assert column(winners, "fastest")[6:8] == ["pairwise", "pairwise"]
    collapsed = titled(tables, "Collapses")
    assert sorted(column(collapsed, "schedule")) == ["library", "linear"]
    assert set(column(collapsed, "bytes")) == {"16 KiB to 64 KiB"}
    assert all(cell.startswith("pairwise: ") for cell in column(collapsed, "avoided by"))
    assert all(cell.startswith("two kinds: ") for cell in column(collapsed, "samples"))


def test_a_large_run_is_printed_in_short(folder: Path, alltoall: Run) -> None:
    assert measure_tables(alltoall)[0].title.startswith("alltoall, ")
    sizes = tuple(4 << step for step in range(20))
    schedules = ("linear", "pairwise", "bruck", "library")
    large = alltoall_run(folder / "large", launches=1, count=6, sizes=sizes, schedules=schedules)
    assert measure_tables(large)[0].title.startswith("Fastest schedule")
    assert len(cell_tables(large)[0].rows) == 80


def test_barriers_and_steps_are_shown_apart(alltoall: Run, sort: Run) -> None:
    barriers = titled(run_tables(alltoall), "Parts")
    assert set(column(barriers, "schedule")) == {"pairwise-barrier"}
    assert all(cell.endswith("(20 %)") for cell in column(barriers, "barriers"))
    steps = titled(run_tables(sort), "Steps")
    assert steps.columns[:6] == ("n", "m", "bytes", "schedule", "exchange", "local sort")
    assert column(steps, "m") == ["8", "64", "512", "4,096"]


def test_how_it_was_measured(alltoall: Run) -> None:
    how = dict(harness_tables(alltoall)[0].rows)
    assert how["launches"] == "3, 4 min in all, budget 10 min"
    assert how["clocks agree within"] == "0.2 µs (3 synchronisations)"
    assert how["cells ended by"] == "repetitions 150"
    assert how["samples"].startswith("3,750 timed, 24 of them late (24 left out), 150 warm-ups")


def test_what_went_wrong_is_told_with_its_remedy(tmp_path: Path) -> None:
    launches = (LaunchRecord(0, 4, status="killed", why="rank 2 died of signal 9"),)
    run = Run.create(tmp_path / "run", RunRecord("alltoall", launches=launches))
    launch = Launch(4, oversubscribed=True)
    launch.cell([1e-7] * 7, algorithm="a", bytes=8)
    launch.cell([1e-3] * 7, late=range(6), algorithm="d", bytes=8)
    launch.cell([1e-3] * 3, algorithm="b", bytes=8, verified=False, reason="failed")
    launch.cell([], algorithm="c", bytes=8, verified=None, reason="skipped")
    launch.write(run.raw_path(0), done=False)
    run = run.fold()
    warnings = {row[0]: row[1] for row in titled(run_tables(run), "Warnings").rows}
    assert set(warnings) == {
        *("launch", "oversubscribed", "failed", "few-samples", "late", "timer", "clock")
    }
    assert "rank 2 died of signal 9" in warnings["launch"]
    assert "use fewer ranks per host" in warnings["oversubscribed"]
    cells = cell_tables(run)[0]
    told = dict(zip(column(cells, "schedule"), cells.rows, strict=True))
    assert "DATA WRONG" in told["b"][-1]
    assert told["c"][-1] == "skipped"
    by_name = {cell["algorithm"]: cell for cell in as_read(run.document().content())["cells"]}
    assert (by_name["c"]["n"], by_name["c"]["median_s"]) == (0, None)
    assert by_name["b"]["verified"] is False
    assert by_name["b"]["ci95_s"] is None


def test_a_ping_pong_is_told_one_way(pingpong: Run) -> None:
    cells = {
        (c["algorithm"], c["bytes"]): c for c in as_read(pingpong.document().content())["cells"]
    }
    # Ten round trips of 1.5 µs each way a sample; 64 messages in a window.
    assert cells["pingpong", 1]["median_s"] == pytest.approx(1.5e-6, rel=0.05)
    assert cells["stream", 1]["median_s"] == pytest.approx(0.2e-6, rel=0.05)
    assert "winners" not in as_read(pingpong.document().content())


def test_csv_has_a_row_for_every_cell_of_every_run(alltoall: Run, sort: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(cells_csv([alltoall, sort]))))
    assert len(rows) == 54
    assert rows[0]["counts"] == "even"
    assert rows[-1]["m"] == "4096"


def test_runs_are_compared_by_ratios_with_intervals(alltoall: Run, slower: Run) -> None:
    (found,) = comparison_tables([alltoall, slower])
    assert found.title == (
        "MPICH 4.0.2 compared with Open MPI 5.0.11, 16 ranks on 16 hosts, counts even"
    )
    assert found.columns[:2] == ("schedule", "bytes")
    # Few launches give less than 95 %, which their ratios say.
    assert "95 % interval unless another is stated" in found.note
    schedules = column(found, "schedule")
    verdicts = [v for s, v in zip(schedules, column(found, ""), strict=True) if s == "pairwise"]
    assert verdicts == ["slower"] * 10
    (one,) = as_read(compared([alltoall, slower]))
    ratios = [c["ratio"]["value"] for c in one["cells"] if c["schedule"] == "pairwise"]
    assert ratios == pytest.approx([1.5] * 10, rel=0.06)


def test_what_all_conditions_share_is_told_once() -> None:
    """Counts and start are the same in all, ranks in none."""
    start = (("counts", "even"), ("start", "barrier"))
    two, four = Condition(2, 1, start), Condition(4, 1, start)
    assert shared_words([two, four, two]) == (
        ", counts even, start barrier",
        {two: "2 ranks on 1 host", four: "4 ranks on 1 host"},
    )
    assert shared_words([two]) == (", 2 ranks on 1 host, counts even, start barrier", {two: ""})
    assert shared_words([]) == ("", {})


def test_runs_without_common_cells_are_not_compared(alltoall: Run, sort: Run) -> None:
    assert comparison_tables([alltoall, sort]) == []
    with pytest.raises(UsageError, match="no cell in common"):
        comparison_figure([alltoall, sort])


def test_every_sample_of_every_schedule_is_in_the_figure_of_rates(alltoall: Run) -> None:
    ((name, figure),) = run_rate_figures(alltoall)
    assert name == "rates-16-ranks-16-hosts-even"
    assert "collapses by a factor of" in finding(figure)
    # Panels name their schedules; samples stall, so rings stand at means, off the medians' line.
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named[0] == "median"
    assert {"collapse, at the mean", "sample", "late sample"} <= {*named}
    assert "linear" not in named
    assert "pairwise does not" in finding(figure)
    panels = [axes for axes in figure.axes if axes.axison]
    assert len(panels) == 5
    for axes in panels:
        schedule = axes.get_title("left")
        cells = [cell for cell in alltoall.summaries if cell.schedule == schedule]
        rings = len(COLLAPSED) if schedule in ("library", "linear") else 0
        assert drawn(axes) == sum(cell.used for cell in cells) + rings
        assert drawn(axes, "x") == sum(len(cell.left_out) for cell in cells)
        medians = [(cell.sent or 0) / cell.median.value for cell in cells]
        lines = [sorted(np.asarray(line.get_ydata(), float)) for line in axes.lines]
        assert any(len(y) == 10 and np.allclose(y, sorted(medians)) for y in lines)
        wire = 118e6
        assert any(set(np.asarray(line.get_ydata(), float)) == {wire} for line in axes.lines)


def test_ranks_of_a_host_share_its_port_with_what_leaves_it(tmp_path: Path) -> None:
    """Of 15 messages of a rank 14 leave a host of two: 118 MB/s * 15 / (2 * 14)."""
    small = {"launches": 1, "count": 6, "sizes": (64, 4096), "schedules": ("linear",)}
    ((_, figure),) = run_rate_figures(alltoall_run(tmp_path / "two", each=2, **small))
    limit = 118e6 * 15 / 28
    heights = [set(np.asarray(line.get_ydata(), float)) for line in figure.axes[0].lines]
    assert any(len(y) == 1 and y.pop() == pytest.approx(limit) for y in heights)


def test_times_at_a_size_are_drawn_where_it_collapses(alltoall: Run) -> None:
    figure = distribution_figure(alltoall)
    cells = [cell for cell in alltoall.summaries if cell.record.bytes == 16384]
    (axes,) = figure.axes
    assert drawn(axes) == sum(cell.used for cell in cells)
    assert axes.get_yticklabels()[0].get_text() == "pairwise"
    assert "% of the samples take about" in finding(figure)
    assert "bruck is fastest at 64 B" in finding(distribution_figure(alltoall, 64))
    with pytest.raises(UsageError, match="nothing was measured at 17 B"):
        distribution_figure(alltoall, 17)


def test_steps_of_a_sort_are_stacked(sort: Run) -> None:
    figure = sort_figure(sort)
    shares, samples = figure.axes
    widths = [patch.get_width() for patch in shares.patches]  # type: ignore[attr-defined]
    assert len(widths) == 4 * 5
    assert [sum(widths[row::4]) for row in range(4)] == pytest.approx([1.0] * 4)
    assert drawn(samples) == 48
    assert "% of the sort" in finding(figure)


def test_a_ping_pong_has_latency_and_rate(pingpong: Run) -> None:
    figure = pingpong_figure(pingpong)
    latency, rate = figure.axes
    assert drawn(latency) == 12 * 30
    assert drawn(rate) == 2 * 12 * 30
    assert "A message takes 1.4" in finding(figure) or "A message takes 1.5" in finding(figure)


def test_a_comparison_draws_every_sample_of_the_others(alltoall: Run, slower: Run) -> None:
    figure = comparison_figure([alltoall, slower])
    panels = [axes for axes in figure.axes if axes.axison]
    # A dot for each ratio besides.
    assert sum(drawn(axes) for axes in panels) == sum(cell.used for cell in slower.summaries) + len(
        slower.summaries
    )
    assert finding(figure).startswith("MPICH 4.0.2 is slower than Open MPI 5.0.11 in 4")


def test_the_names_of_several_runs_hide_no_label(alltoall: Run, slower: Run) -> None:
    figure = comparison_figure([alltoall, slower, alltoall])
    FigureCanvasAgg(figure).draw()
    legend = figure.legends[0].get_window_extent()
    labels = [axes.xaxis.label for axes in figure.axes if axes.get_xlabel()]
    labels += [text for text in (figure._supxlabel,) if text is not None]  # type: ignore[attr-defined]
    assert labels
    assert not any(legend.overlaps(label.get_window_extent()) for label in labels)


@pytest.mark.parametrize(
    ("names", "fitting"),
    [
        (("alltoall",), ["rates", "times"]),
        (("sort",), ["steps", "rates", "times"]),
        (("pingpong",), ["pingpong", "rates", "times"]),
        (("alltoall", "slower"), ["comparison", "rates", "times"]),
    ],
)
def test_the_pictures_that_fit(
    names: tuple[str, ...], fitting: list[str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    runs: list[Any] = [request.getfixturevalue(name) for name in names]
    document = runs_document(runs)
    assert list(document.pictures) == fitting
    path = tmp_path / "it.svg"
    assert document.draw(path) == [path]
    assert path.read_bytes().startswith(b"<?xml")


def test_a_picture_of_several_runs_is_several_files(
    alltoall: Run, slower: Run, tmp_path: Path
) -> None:
    written = runs_document([alltoall, slower], picture="times").draw(tmp_path / "it.png")
    assert [path.name for path in written] == ["it-alltoall-times.png", "it-mpich-times.png"]
    with pytest.raises(UsageError, match=r"one of comparison, rates, times for .*, got steps"):
        runs_document([alltoall, slower], picture="steps").draw(tmp_path / "it.png")


def test_nothing_measured_is_nothing_drawn(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", RunRecord("alltoall"))
    assert run_tables(run)[0].title.startswith("How alltoall")
    assert as_read(run.document().content())["cells"] == []
    with pytest.raises(UsageError, match="there is nothing to draw"):
        runs_document([run]).draw(tmp_path / "it.svg")


def test_texts_in_csv_are_no_formulas(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", RunRecord("alltoall", launches=(LaunchRecord(0, 4),)))
    launch = Launch(4)
    launch.cell([1e-3] * 7, algorithm='=HYPERLINK("http://x")', bytes=8, sign="-1")
    launch.write(run.raw_path(0))
    (row,) = csv.DictReader(io.StringIO(cells_csv([run.fold()])))
    assert row["algorithm"] == '\'=HYPERLINK("http://x")'
    assert row["bytes"] == "8"


def test_wherever_a_median_of_two_kinds_stands_they_are_told(tmp_path: Path) -> None:
    """Of 20 samples 6 take 201 ms and the others 1.01: in tables of cells, winners and runs."""
    kinds = "two kinds: 30 % near 201 ms, the others near 1.01 ms"
    runs = []
    for name in ("first", "second"):
        record = RunRecord("alltoall", launches=(LaunchRecord(0, 4),))
        run = Run.create(tmp_path / name, record)
        launch = Launch(4)
        for schedule, slow in (("shift", 6), ("linear", 0)):
            # A little apart, so that ranks of samples are no ties.
            times = [0.001 + 1e-6 * n + (0.2 if n < slow else 0.0) for n in range(20)]
            launch.cell(times, algorithm=schedule, bytes=1024)
        launch.write(run.raw_path(0))
        runs.append(run.fold())
    for table in (*cell_tables(runs[0]), *winner_tables(runs[0].findings.contests)):
        assert [kinds in row[-1] for row in table.rows].count(True) == 1, table.title
    (compared,) = comparison_tables(runs)
    told = {row[0]: row[-1] for row in compared.rows}
    assert told["shift"].count(kinds) == 2
    assert "two kinds" not in told["linear"]


def test_the_verdict_is_of_the_largest_exchange(alltoall: Run, slower: Run, sort: Run) -> None:
    verdict = runs_document([alltoall]).verdict
    largest = max(alltoall.findings.contests, key=lambda one: (one.condition.ranks, one.bytes or 0))
    assert verdict.startswith(
        f"At {size_words(largest.bytes)} to each other rank, an all-to-all of"
    )
    assert f"with {largest.winner.schedule} as the fastest of" in verdict
    assert interval_words(largest.winner.median).partition(" (")[0] in verdict
    assert "the exchange of a sort of" in runs_document([sort]).verdict
    lines = runs_document([alltoall, slower]).verdict.splitlines()
    assert lines[0] == f"Open MPI 5.0.11: {verdict}"
    assert len(lines) == 2
