"""A study's tables, JSON and figures, from cells on the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from contend.lab.studies import (
    Application,
    FabricEntry,
    PatternEntry,
    Record,
    Reference,
    SimulatedCell,
    SimulatedOutcome,
    SimulatedPlan,
    SimulatedStudy,
    record_of,
    write_cell,
)
from contend.lab.studies.simulated_plan import ApplicationPart, PrintedTime
from contend.report import save_figures
from contend.report.study.figures import study_figures
from contend.report.study.simulated import study_tables
from contend.report.table import ResultTable
from json_reading import as_read

MakeOutcome = Callable[..., SimulatedOutcome]
REQUEST = SimulatedCell("x", None, "ftree", "bisect", "random", 4, None, 1)


@pytest.fixture
def plan() -> SimulatedPlan:
    return SimulatedPlan(
        name="small",
        fabrics=(FabricEntry("ranger", "ranger"),),
        patterns=(PatternEntry("bisect", "bisect"), PatternEntry("neighbour:6", "neighbour:6")),
        engines=("opensm:ftree", "opensm:minhop"),
        average="of_mean_congestion",
        references=(
            Reference("ranger", "bisect", 40.0, "paper"),
            Reference(
                "ranger", "bisect", 50.0, "models", "opensm:ftree", average="effective_bandwidth"
            ),
        ),
        notes=("Tables are not public.",),
    )


@pytest.fixture
def make_outcome(make_simulation: Any, tmp_path: Path) -> MakeOutcome:
    def make(engine: str, pattern: str = "bisect", **changes: Any) -> SimulatedOutcome:
        path = tmp_path / f"{engine}-{pattern}.json".replace(":", "-")
        simulation = make_simulation(name="ranger", engine=engine, pattern=pattern, **changes)
        record = record_of(("ranger", engine, pattern), REQUEST, simulation, 1.0)
        write_cell(path, record, simulation)
        return SimulatedOutcome(record, path)

    return make


def failed(engine: str, cause: str, pattern: str = "bisect") -> SimulatedOutcome:
    record = Record("ranger", engine, pattern, "failed", REQUEST, cause)
    return SimulatedOutcome(record, Path("nowhere.json"))


def tables_of(plan: SimulatedPlan, outcomes: Sequence[SimulatedOutcome]) -> tuple[ResultTable, ...]:
    return study_tables(SimulatedStudy(plan, tuple(outcomes)))


def test_ours_theirs_and_the_difference(plan: SimulatedPlan, make_outcome: MakeOutcome) -> None:
    table = tables_of(plan, [make_outcome("opensm:ftree"), make_outcome("opensm:minhop")])[0]
    row = dict(zip(table.columns, table.rows[0], strict=True))
    # 1/mean π is 3/8, mean of 1/π 0.55, waiting 3/20; the paper says 40.0.
    assert row["fabric"] == "ranger"
    assert row["routing"] == "ftree"
    assert row["1 / mean π"].startswith("37.5 ± ")
    assert (row["paper"], row["Δ"]) == ("40.0", "-2.5")
    assert row["mean of 1/π"] == "55.0"
    assert row["waiting"] == "15.0"
    assert row["rated"] == "100.0"
    assert "4 samples per cell" in table.note


def test_numbers_of_other_sources_have_their_own_table(
    plan: SimulatedPlan, make_outcome: MakeOutcome
) -> None:
    tables = tables_of(plan, [make_outcome("opensm:ftree"), make_outcome("opensm:minhop")])
    others = next(table for table in tables if table.title == "Other known numbers")
    assert others.rows == (
        ("ranger", "ftree", "bisect", "mean of 1/π", "55.0", "50.0", "+5.0", "models"),
    )


def test_scaled_patterns_are_multiplied_and_said_to_be(
    plan: SimulatedPlan, make_outcome: MakeOutcome
) -> None:
    table = tables_of(plan, [make_outcome("opensm:ftree", "neighbour:6", scale=1.6)])[0]
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["1 / mean π"].startswith("60.0")
    assert "paper" not in row
    assert "multiplied by 1.6" in table.note


def test_failures_are_err_and_tell_why_once(plan: SimulatedPlan) -> None:
    cells = [failed("opensm:ftree", "not a tree", pattern) for pattern in ("bisect", "neighbour:6")]
    tables = tables_of(plan, cells)
    assert "ERR" in tables[0].rows[0]
    failures = next(table for table in tables if "failed" in table.title)
    assert failures.rows == (("ranger", "opensm:ftree", "bisect, neighbour:6", "not a tree"),)
    assert tables[-1].rows == (("Tables are not public.",),)


def test_no_difference_is_plus_nothing(plan: SimulatedPlan, make_outcome: MakeOutcome) -> None:
    near = np.full(4, 1 / 0.39999)
    table = tables_of(plan, [make_outcome("opensm:ftree", mean_congestion=near)])[0]
    assert "+0.0" in table.rows[0]


def test_json_has_a_cell_for_each(plan: SimulatedPlan, make_outcome: MakeOutcome) -> None:
    cells = [make_outcome("opensm:ftree"), failed("opensm:minhop", "no")]
    result = as_read(SimulatedStudy(plan, tuple(cells)))
    done, err = result["cells"]
    assert done["averages"]["of_mean_congestion"]["mean"] == pytest.approx(3 / 8)
    assert done["references"][0] == {
        "source": "paper",
        "average": "of_mean_congestion",
        "value": 0.4,
        "difference": pytest.approx(-0.025),
    }
    assert done["references"][1]["difference"] == pytest.approx(0.05)
    assert (err["status"], err["cause"]) == ("failed", "no")


def test_a_histogram_and_a_comparison_for_each_sampled_pattern(
    plan: SimulatedPlan, make_outcome: MakeOutcome
) -> None:
    outcomes = [
        make_outcome("opensm:ftree"),
        make_outcome("opensm:minhop", mean_congestion=np.full(4, 8.0)),
        make_outcome("opensm:minhop", "neighbour:6", scale=6.0),
        failed("opensm:ftree", "no", "neighbour:6"),
    ]
    figures = dict(study_figures(plan, outcomes))
    assert list(figures) == [
        "bisect-histogram",
        "bisect-comparison",
        "neighbour:6-histogram",
        "neighbour:6-comparison",
    ]
    legend = figures["bisect-histogram"].axes[0].get_legend()
    texts = [text.get_text() for text in legend.get_texts()]
    assert {"ftree 37.5 %", "minhop 12.5 %", "paper 40.0 %"} <= set(texts)


def test_rounds_are_drawn_under_the_best_routing(
    plan: SimulatedPlan, make_outcome: MakeOutcome
) -> None:
    outcomes = [
        make_outcome("opensm:ftree", "neighbour:6", rounds=2),
        make_outcome("opensm:minhop", "neighbour:6", rounds=2, mean_congestion=np.full(4, 8.0)),
    ]
    figure = dict(study_figures(plan, outcomes))["neighbour:6-histogram"]
    assert len(figure.axes) == 1
    assert "ftree" in figure.axes[0].get_legend().get_title().get_text()


def test_patterns_without_samples_have_no_figure(
    plan: SimulatedPlan, make_outcome: MakeOutcome
) -> None:
    single = {
        "samples": 1,
        "bandwidth": np.array([0.5]),
        "mean_congestion": np.array([2.0]),
        "max_congestion": np.array([2.0]),
    }
    assert not list(study_figures(plan, [make_outcome("opensm:ftree", **single)]))


def test_several_figures_are_one_page_or_files(
    plan: SimulatedPlan, make_outcome: MakeOutcome, tmp_path: Path
) -> None:
    outcomes = [make_outcome("opensm:ftree"), make_outcome("opensm:ftree", "neighbour:6")]
    page = save_figures(study_figures(plan, outcomes), tmp_path / "all.html")
    assert page == [tmp_path / "all.html"]
    assert page[0].read_text().count("<svg") == 4
    files = save_figures(study_figures(plan, outcomes), tmp_path / "all.svg")
    assert [file.name for file in files] == [
        "all-bisect-histogram.svg",
        "all-bisect-comparison.svg",
        "all-neighbour-6-histogram.svg",
        "all-neighbour-6-comparison.svg",
    ]
    assert all(file.exists() for file in files)


def with_application(plan: SimulatedPlan, pattern: str) -> SimulatedPlan:
    """A fifth of the run time in messages of one pattern; 87 % are printed for Ranger."""
    application = Application(
        name="POP",
        source="paper",
        ranks=64,
        seconds=2294,
        percent=20,
        parts=(ApplicationPart("MPI_Send", 100, pattern),),
        printed=(PrintedTime("ranger", 87.0),),
    )
    return msgspec.structs.replace(plan, applications=(application,))


def test_applications_beside_what_their_source_printed(
    plan: SimulatedPlan, make_outcome: MakeOutcome
) -> None:
    plan = with_application(plan, "bisect")
    outcomes = [make_outcome("opensm:ftree"), failed("opensm:minhop", "no routes")]
    table = next(t for t in tables_of(plan, outcomes) if t.title.startswith("Run time"))
    # The paper's 40 %: 1 - 0.2 * 0.6 = 88 %. Ours, 1 / mean π of 3/8: 1 - 0.2 * 5/8 = 87.5 %.
    assert table.rows == (("POP", "ranger", "88.00", "87.00", "+1.00", "87.50", "ftree"),)
    written = as_read(SimulatedStudy(plan, tuple(outcomes)))["applications"]
    assert written[0]["recomputed"] == pytest.approx(0.88)
    assert written[0]["simulated"] == pytest.approx(0.875)


def test_applications_without_the_bandwidths_that_they_need(
    plan: SimulatedPlan, make_outcome: MakeOutcome
) -> None:
    plan = with_application(plan, "neighbour:6")
    [impact] = SimulatedStudy(plan, (make_outcome("opensm:ftree"),)).applications or []
    assert (impact.recomputed, impact.simulated, impact.routing) == (None, None, "")
