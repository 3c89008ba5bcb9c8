"""What is reported of pairs over routes that hashes draw."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from contend.lab.measurement import Distribution, DrawnAgreement, MeasuredPairs
from contend.lab.measurement.draws import ByPart
from contend.lab.runs import Run, RunRecord
from contend.report.pairwise.figures import drawn_figure
from contend.report.pairwise.pairs import pair_tables


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "bisect", RunRecord("bisect", placement="tree", wire_Bps=125.0))


@pytest.fixture
def agreement() -> DrawnAgreement:
    """Three quarters at γ where 60 % were to be expected."""
    distribution = Distribution(
        by_part=(ByPart(1, 0.75, 0.6, 0.5, 0.8), ByPart(2, 0.25, 0.4, 0.2, 0.5)),
        distance=0.15,
        usual_distance=0.2,
        measured=np.array([0.5, 0.9, 1.0, 1.0]),
        drawn=np.array([[0.5, 0.5, 1.0, 1.0], [0.5, 1.0, 1.0, 1.0]]),
    )
    return DrawnAgreement(
        gamma=100.0,
        messages=4,
        patterns=2,
        launches=1,
        late=3,
        same_host=0,
        simulations=2,
        effective=0.85,
        simulated=0.8125,
        simulated_range=(0.75, 0.875),
        slowest=distribution,
        every=replace(distribution, distance=0.3),
    )


def _pairs() -> pl.DataFrame:
    no = [False, False]
    bandwidth = [50.0, 100.0]
    columns = {"bandwidth_Bps": bandwidth, "late": no, "beyond_wire": no}
    return pl.DataFrame({"pattern": [0, 1], **columns})


def test_tables_hold_measured_and_simulated_parts(run: Run, agreement: DrawnAgreement) -> None:
    effective, slowest, every = pair_tables(MeasuredPairs(run, _pairs(), draws=agreement))
    rows = {row[0]: row[1:] for row in effective.rows}
    assert rows["γ, an uncontended pair"] == ("100 B/s", "80.0 % of the link's 125 B/s")
    assert rows["measured effective bisection bandwidth"][0] == "85.0 %"
    assert rows["simulated, the same patterns over other draws"] == (
        "81.2 %",
        "95 % of simulations 75.0 to 87.5 %",
    )
    assert rows["distance of the distributions of slowest messages"] == (
        "15.0 %",
        "as near as 95 % of simulations, which are within 20.0 %",
    )
    assert "4 messages of 2 patterns in 1 launch, 3 left out" in effective.note
    assert slowest.rows[1] == ("γ/2", "50.0 %", "25.0 %", "40.0 %", "20.0 to 50.0 %")
    assert every.title == "All messages"


def test_messages_beyond_the_wire_are_counted_in_a_sentence(
    run: Run, agreement: DrawnAgreement
) -> None:
    fast = _pairs().with_columns(beyond_wire=pl.Series([False, True]))
    note = pair_tables(MeasuredPairs(run, fast, draws=agreement))[0].note
    assert "a prediction of its own. 1 message is beyond the wire. Beyond the wire: " in note


def test_what_lies_further_off_than_draws_is_said(run: Run, agreement: DrawnAgreement) -> None:
    far = replace(agreement, slowest=replace(agreement.slowest, distance=0.4))
    assert (
        pair_tables(MeasuredPairs(run, _pairs(), draws=far))[0]
        .rows[-1][2]
        .startswith("further than 95 %")
    )
    assert "more than simulated draws do" in _title(far)
    assert "15.0 percentage points, no more than simulated draws do" in _title(agreement)


def _title(agreement: DrawnAgreement) -> str:
    figure = drawn_figure({"Open MPI": agreement})
    texts = [text.get_text() for text in (*figure.texts, figure._suptitle) if text is not None]
    return " ".join(" ".join(texts).split())


def test_curves_reach_all_messages(agreement: DrawnAgreement) -> None:
    figure = drawn_figure({"one": agreement, "another": agreement})
    assert len(figure.axes) == 4
    left, right = figure.axes[:2]
    assert [label.get_text() for label in left.get_xticklabels()] == ["γ", "γ/2"]
    for line in right.get_lines():
        values = np.asarray(line.get_ydata(), dtype=float)
        assert (values[0], values[-1]) == (0, 1)
        assert (np.diff(values) >= 0).all()
