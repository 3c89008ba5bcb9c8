"""Tables and figures of measured studies."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from contend.lab.runs import (
    SCHEMA,
    CellParts,
    CellRecord,
    CellSummary,
    Findings,
    PointError,
    Run,
    RunRecord,
    collapses,
    contests,
    summarise,
)
from contend.lab.studies import (
    Answer,
    GridCell,
    MeasuredPlan,
    MeasuredStudy,
    Result,
    find_plan,
    read_plan,
)
from contend.report import ResultTable, markdown_of, save_figures
from contend.report.study.document import measured_document, measured_tables
from contend.report.study.figures import measured_figures
from json_reading import as_read
from report.conftest import titled

MEMORY = PointError("memory", "data of 22.8 GiB does not fit this machine")
_NUMBERS = itertools.count()
Point = tuple[str | None, int | None]


def summary(cell: GridCell, point: Point, times: np.ndarray) -> CellSummary:
    """Figures of samples that count, and of a late one of twice the longest."""
    record = CellRecord(0, point[0] or "library-v", point[1], cell.ranks, cell.hosts)
    count = len(times) + 1
    table = pl.DataFrame(
        {
            "launch": pl.Series([0] * count, dtype=pl.UInt16),
            "cell": pl.Series([0] * count, dtype=pl.UInt32),
            "repetition": range(count),
            "warmup": [False] * count,
            "late": [False] * len(times) + [True],
            "result_s": [*times, 2 * times.max()],
        }
    )
    (made,) = summarise(RunRecord(cell.probe, cells=(record,)), table)
    # Numbers of cells tell them apart where schedules are compared.
    number = next(_NUMBERS)
    return replace(made, record=replace(record, cell=number))


def answer(
    cell: GridCell,
    times: dict[Point, np.ndarray | None],
    library: str = "MPI 1",
    barriers: float = 0.0,
) -> Answer:
    """A cell with the times of its points, None for what failed, and what its run finds."""
    cells = tuple(summary(cell, point, t) for point, t in times.items() if t is not None)
    failed = [point for point, t in times.items() if t is None]
    parts = tuple(
        CellParts(cell, {"barriers": barriers * cell.median.value}, {"barriers": barriers})
        for cell in cells
        if cell.schedule == "shift-barrier"
    )
    errors = tuple(
        msgspec.structs.replace(MEMORY, algorithm=name, bytes=size) for name, size in failed
    )
    run = Run(Path("run"), RunRecord(cell.probe), pl.DataFrame(schema=SCHEMA))
    vars(run)["findings"] = Findings(
        cells, parts, contests(cells), collapses(cells), errors, (), None, None
    )
    return Answer(cell, run, (0,), library, "2 hosts of 8 ranks")


def ended(
    plan: MeasuredPlan,
    answers: list[Answer],
    left: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
) -> MeasuredStudy:
    """A study of one launch a cell."""
    return MeasuredStudy(plan, tuple(replace(a, warnings=warnings) for a in answers), left)


def results_of(answers: list[Answer]) -> list[Result]:
    return [result for answer in answers for result in answer.results]


def spread(median: float) -> np.ndarray:
    return median * (1 + 0.01 * np.arange(-12, 13))


@pytest.fixture
def mistry() -> MeasuredPlan:
    return read_plan(find_plan("mistry2015"))


def tara(plan: MeasuredPlan) -> list[Answer]:
    """Twice the seconds of the paper; what nobody published failed for lack of memory."""
    paper = {(known.length, known.hosts): known for known in plan.known()}
    made = []
    for cell in plan.cells():
        known = paper.get((cell.length, cell.hosts))
        seconds = None if known is None else known.seconds
        made.append(answer(cell, {(None, None): None if seconds is None else spread(2 * seconds)}))
    return made


def rows_of(table: ResultTable) -> list[tuple[str, ...]]:
    return [tuple(row) for row in table.rows]


def test_times_stand_beside_the_papers_and_the_posters(mistry: MeasuredPlan) -> None:
    tables = measured_tables(ended(mistry, tara(mistry)))
    table = titled(tables, "Constant local memory: wall clock of the exchange in s")
    rows = {(row[0], row[1]): row[2:] for row in rows_of(table)}
    assert rows["", "ranks p"] == ("8", "24", "72", "144", "288")
    assert rows["512N", "MPI 1"][1:3] == ("3.28 ±5 %", "4.18 ±5 %")
    assert rows["512N", "paper"] == ("1.14", "1.64", "2.09", "2.28", "2.30")
    assert rows["512N", "poster"] == ("0.60", "1.64", "2.09", "2.28", "2.30")
    assert rows["1024N", "MPI 1"][2:] == ("ERR memory",) * 3
    assert rows["1024N", "poster"][2:] == ("ERR",) * 3


def test_published_times_are_held_against_their_wire(mistry: MeasuredPlan) -> None:
    """1.41, 1.35, 1.38 and 1.35 times what a port of 3.5 GB/s takes for what leaves a node."""
    table = titled(measured_tables(ended(mistry, tara(mistry))), "Constant local memory: wall")
    rows = rows_of(table)
    place = next(i for i, row in enumerate(rows) if row[:2] == ("512N", "paper"))
    assert rows[place + 1][2:] == ("", "1.41 ×", "1.35 ×", "1.38 ×", "1.35 ×")


def test_a_wire_of_ones_own_gives_the_bound_of_ones_own_times(mistry: MeasuredPlan) -> None:
    plan = mistry.changed(wire="3.5GB/s")
    table = titled(measured_tables(ended(plan, tara(plan))), "Constant local memory: wall")
    rows = rows_of(table)
    place = next(i for i, row in enumerate(rows) if row[:2] == ("512N", "MPI 1"))
    # Twice the paper's seconds are twice its factors, 2.82 for 1.408.
    assert rows[place + 1][3] == "2.82 ×"


def test_other_numbers_of_vectors_have_published_times_in_a_table_apart(
    mistry: MeasuredPlan,
) -> None:
    plan = mistry.changed(vectors=4096, ranks_per_host=(2,), hosts=(1, 2))
    results = [answer(cell, {(None, None): spread(1e-3)}) for cell in plan.cells()]
    tables = measured_tables(ended(plan, results))
    ours = titled(tables, "Constant local memory: wall clock of the exchange in ms")
    assert not any(row[1] in ("paper", "poster") for row in rows_of(ours))
    theirs = titled(tables, "Constant local memory: published wall clock in s")
    assert ("512N", "poster", "0.60", "1.64", "2.09", "2.28", "2.30") in rows_of(theirs)
    assert "n = 1,492,992, 8 ranks per host" in theirs.note


def test_failures_warnings_and_what_is_left_are_told(mistry: MeasuredPlan) -> None:
    left = tuple(cell.label for cell in mistry.cells())[:2]
    study = ended(mistry, tara(mistry), left, ("hot",))
    told = measured_document(study).shortfall
    assert "no time was left for 2 cells: give the command again" in told
    tables = measured_tables(study)
    failures = rows_of(titled(tables, "What failed (ERR)"))
    assert ("sort, 36 × 8, m = 810N", "", "memory", MEMORY.reason) in failures
    assert len(failures) == 4
    assert ("hot", "25 cells") in rows_of(titled(tables, "Notes and warnings"))
    assert rows_of(titled(tables, "Cells that no time was left for")) == [
        ("sort, 1 × 8, m = 512",),
        ("sort, 1 × 8, m = 512N",),
    ]
    assert "| sort, 36 × 8, m = 810N |" in markdown_of(tables)


def sweep(plan: MeasuredPlan, library: str = "MPI 1") -> list[Answer]:
    """Rates of 2005: 47 MiB/s at 16 KiB, a tenth at 32 KiB, but for ordered schedules."""
    made = []
    for cell in plan.cells():
        times: dict[Point, np.ndarray | None] = {}
        for algorithm, size in cell.points():
            assert size is not None
            rate = min(60 * 2**20, size * 3e3)
            if algorithm == "library" and size >= 32 << 10:
                rate = 4.4 * 2**20
            if algorithm == "shift-barrier":
                rate /= 3
            seconds = (cell.ranks - 1) * size / rate
            times[algorithm, size] = spread(seconds)
        made.append(answer(cell, times, library, barriers=0.25))
    return made


@pytest.fixture
def kutzner() -> MeasuredPlan:
    plan = read_plan(find_plan("kutzner2005"))
    algorithms = ("library", "shift", "shift-barrier", "node-ordered-barrier")
    return plan.changed(only=("sweep",), ranks=(4, 32), algorithm=algorithms, wire="1Gbit/s")


def test_two_libraries_and_2005_side_by_side(kutzner: MeasuredPlan) -> None:
    results = sweep(kutzner, "MPI 1") + sweep(kutzner, "MPI 2")
    tables = measured_tables(ended(kutzner, results))
    rows = rows_of(titled(tables, "Table 1"))
    assert rows == [
        ("1", "MPI 1", "4.61 MB/s", "21 MB/s"),
        ("1", "MPI 2", "4.61 MB/s", "21 MB/s"),
        ("1", "2005 LAM", "71.5 MB/s", "73 MB/s"),
        ("1", "2005 Open MPI 1.0", "67.1 MB/s", "67.1 MB/s"),
        ("2", "MPI 1", "4.61 MB/s", "62.9 MB/s"),
        ("2", "MPI 2", "4.61 MB/s", "62.9 MB/s"),
        ("2", "2005 LAM", "51.3 MB/s", "47.5 MB/s"),
        ("2", "2005 Open MPI 1.0", "51.1 MB/s", "39.2 MB/s"),
    ]
    assert ("1", "2005 LAM", "21.9 MB/s", "2.94 MB/s") in rows_of(titled(tables, "Table 2"))


def test_collapses_are_named_with_what_avoids_them(kutzner: MeasuredPlan) -> None:
    tables = measured_tables(ended(kutzner, sweep(kutzner)))
    rows = rows_of(titled(tables, "Collapses"))
    # 2 numbers of ranks, 1 and 2 ranks a node; from 32 KiB on everywhere.
    assert [row[1:3] for row in rows] == [("library", "32 KiB to 2 MiB")] * 4
    assert all(row[6].startswith("shift: ") for row in rows)
    healthy = kutzner.changed(algorithm=("shift",))
    assert "None" in titled(measured_tables(ended(healthy, sweep(healthy))), "Collapses").note


def test_winners_and_collapses_are_those_of_the_run(kutzner: MeasuredPlan) -> None:
    """A run that names none, as one of ping-pongs, is not judged again by the study."""
    results = sweep(kutzner)
    marked = [row for table in measured_tables(ended(kutzner, results)) for row in rows_of(table)]
    assert any(cell.endswith("*") for row in marked for cell in row)
    for each in results:
        run = each.measured
        vars(run)["findings"] = replace(run.findings, contests=(), collapses=())
    unjudged = [replace(each) for each in results]
    tables = measured_tables(ended(kutzner, unjudged))
    assert not any(cell.endswith("*") for t in tables for row in rows_of(t) for cell in row)
    assert "None" in titled(tables, "Collapses").note


def test_the_cost_of_barriers_stands_apart(kutzner: MeasuredPlan) -> None:
    """3 messages of 2 MiB at 20 MiB/s take 300 ms, a quarter of it barriers."""
    table = titled(measured_tables(ended(kutzner, sweep(kutzner))), "Time in barriers")
    assert table.columns == ("bytes", "shift-barrier")
    assert rows_of(table)[-1] == ("2 MiB", "75 ms, 25 %")


def test_full_ports_are_named(kutzner: MeasuredPlan) -> None:
    """1 Gbit/s is 125 MB/s for a rank alone on its node; for two of 32, 31/60 of it: 64.6."""
    notes = [t.note for t in measured_tables(ended(kutzner, sweep(kutzner))) if "sweep" in t.title]
    assert "The hosts' ports are full at 125 MB/s." in notes[0]
    assert "The hosts' ports are full at 64.6 MB/s." in notes[3]


def test_rates_beyond_the_wire_are_marked(kutzner: MeasuredPlan) -> None:
    """Ports of 50 MB/s: the library's 49.2 at 16 KiB may be, the 62.9 of others are not."""
    made = sweep(kutzner)
    for one in made:
        cells = tuple(replace(cell, limit=50e6) for cell in one.measured.findings.cells)
        vars(one.measured)["findings"] = replace(one.measured.findings, cells=cells)
    table = next(t for t in measured_tables(ended(kutzner, made)) if t.title.startswith("sweep"))
    rows = {row[0]: row for row in rows_of(table)}
    assert rows["16 KiB"][1].rstrip("*") == "49.2 MB/s"
    assert rows["64 KiB"][2].rstrip("*") == "62.9 MB/s†"
    assert "† Beyond the wire: faster than" in table.note
    points = as_read(ended(kutzner, made))["points"]
    marked = {(p["algorithm"], p["bytes"]) for p in points if p["beyond_wire"]}
    assert ("shift", 64 << 10) in marked
    assert ("library", 64 << 10) not in marked


def test_numbers_without_a_place_stand_apart(kutzner: MeasuredPlan) -> None:
    rows = rows_of(titled(measured_tables(ended(kutzner, sweep(kutzner))), "Also published"))
    ring = next(row for row in rows if row[2] == "ring")
    assert ring[:5] == ("2005", "32 ranks, 128 KiB", "ring", "flow control on", "0.069 ± 0.028 s")
    # Beside it what was measured for one and two ranks a node: 31 · 128 KiB at 60 MiB/s.
    assert ring[5] == "0.0646 s, 0.0646 s"
    collapse = [row for row in rows if row[2] == "collapse"]
    assert [(row[1], row[4], row[5]) for row in collapse] == [
        ("16 KiB", "49.3 MB/s", ""),
        ("32 KiB", "4.61 MB/s", ""),
    ]


def test_figures_are_named_and_drawn(
    mistry: MeasuredPlan, kutzner: MeasuredPlan, tmp_path: Path
) -> None:
    results = tara(mistry)
    names = [name for name, _ in measured_figures(mistry, results_of(results))]
    assert names == ["constant-global-memory-8-per-host", "constant-local-memory-8-per-host"]
    figures = dict(measured_figures(kutzner, results_of(sweep(kutzner))))
    assert list(figures) == [
        "sweep-4-ranks",
        "sweep-32-ranks",
        "sweep-library",
        "sweep-shift",
        "sweep-shift-barrier",
        "sweep-node-ordered-barrier",
    ]
    (path,) = save_figures([("all", figures["sweep-4-ranks"])], tmp_path / "study.svg")
    drawn = path.read_text()
    assert "wire 125 MB/s" in drawn
    assert "published" in drawn
    assert "collapse" in drawn


def test_what_failed_everywhere_is_not_drawn(kutzner: MeasuredPlan) -> None:
    cell = replace(next(kutzner.cells()), algorithms=("library", "shift"), sizes=(64,))
    failed = answer(cell, {("library", 64): None, ("shift", 64): None})
    assert list(measured_figures(kutzner, results_of([failed]))) == []


def test_every_sample_is_in_the_figure_of_times(mistry: MeasuredPlan) -> None:
    """25 samples that count and one that does not, for every cell that ran."""
    results = tara(mistry)
    (_, figure), _ = measured_figures(mistry, results_of(results))
    (axes,) = figure.axes
    # Medians are joined.
    points = [line for line in axes.lines if line.get_linestyle() == "None"]
    dots = sum(len(line.get_xdata()) for line in points if line.get_marker() == "o")
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert dots == 5 * 25
    assert sum(len(line.get_xdata()) for line in crosses) == 5
    assert [text.get_text() for text in axes.texts if "ERR" in text.get_text()] == []


def test_failed_cells_are_crosses_with_their_cause(mistry: MeasuredPlan) -> None:
    results = tara(mistry)
    *_, (_, figure) = measured_figures(mistry, results_of(results))
    (axes,) = figure.axes
    # m = 810N failed on 36 nodes, 1024N on 9, 18 and 36.
    assert [t.get_text() for t in axes.texts if "ERR" in t.get_text()] == ["ERR memory"] * 2


def test_the_legend_of_one_panel_fits_its_figure(kutzner: MeasuredPlan) -> None:
    """Curves, a collapse at the mean and late samples are seven names."""
    plan = kutzner.changed(ranks=(32,), ranks_per_host=(1,))
    results = sweep(plan)
    figures = dict(measured_figures(plan, results_of(results))).values()
    assert all(legend_fits(figure) for figure in figures if len(figure.axes) == 1)


def legend_fits(figure: Figure) -> bool:
    """Whether the legend below all lies within the figure."""
    figure.draw_without_rendering()
    extent = figure.legends[0].get_window_extent()
    return bool(extent.x0 >= 0 and extent.x1 <= figure.bbox.x1)


def test_a_legend_fits_its_figure(mistry: MeasuredPlan) -> None:
    """Published times of other vectors have long names."""
    plan = mistry.changed(vectors=4096, ranks_per_host=(2,), hosts=(1, 2))
    results = [answer(cell, {(None, None): spread(1e-3)}) for cell in plan.cells()]
    for _, figure in measured_figures(plan, results_of(results)):
        assert legend_fits(figure)
        labels = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert len(labels) == len(set(labels))


def test_no_panel_cuts_off_samples(kutzner: MeasuredPlan) -> None:
    """The second panel's rates are a thousandth of the first's."""
    plan = kutzner.changed(algorithm=("shift",), ranks=(4,))
    answers = [
        answer(cell, {("shift", 1024): spread(1e-3 if cell.ranks_per_host == 1 else 1.0)})
        for cell in plan.cells()
    ]
    (_, figure) = next(iter(measured_figures(plan, results_of(answers))))
    figure.draw_without_rendering()
    drawn = [
        rate
        for axes in figure.axes
        for line in axes.lines
        if line.get_linestyle() == "None"
        for rate in np.asarray(line.get_ydata(), dtype=float)
    ]
    low, high = figure.axes[0].get_ylim()
    assert len(drawn) > 50
    assert low < min(drawn)
    assert max(drawn) < high
