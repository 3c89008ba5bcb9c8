"""Predicted times: against message sizes, what was measured beside them; of programs, by place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from contend.base.units import format_bytes, format_seconds
from contend.prediction import Comparison, PredictedProgram, Prediction
from contend.report.charts import Bars, Curves, Stack, charted
from contend.report.prediction.program import program_name
from contend.report.prediction.tables import agreement_words, doubt, fastest
from contend.report.series import Axis, BoundLine, Series, Unit
from contend.report.style import COLOURS, COLUMN_WIDTH, HOLLOW, looks

_AT_LEAST = {"marker": "^", "markersize": 4.5}


def prediction_figure(
    predictions: Sequence[Prediction], name: str, comparison: Comparison | None = None
) -> Figure:
    """A curve for every algorithm with its interval; what was measured as points with theirs.

    Triangles, and hollow points of what was measured, are cells that the prediction calls a lower
    bound, as time-outs may rule.

    Args:
        predictions: at least one.
        name: of the fabric.
        comparison: with what was measured.
    """
    styles = looks(prediction.algorithm for prediction in predictions)
    series: list[Series] = []
    for algorithm, look in styles.items():
        curve = sorted(
            (prediction for prediction in predictions if prediction.algorithm == algorithm),
            key=lambda prediction: prediction.bytes,
        )
        lows, highs = zip(*(prediction.interval_s for prediction in curve), strict=True)
        series.append(
            Series(
                [prediction.bytes for prediction in curve],
                [prediction.predicted_s for prediction in curve],
                "",
                look.colour,
                look.line,
                low=lows,
                high=highs,
                band=True,
            )
        )
        # What the legend shows: the line of predictions and the mark of measurements.
        mark = _mark(algorithm) if comparison else {}
        series.append(Series([], (), algorithm, look.colour, look.line, mark=mark))
    bounds = [prediction for prediction in predictions if prediction.collapses]
    for one in bounds:
        colour = styles[one.algorithm].colour
        series.append(Series([one.bytes], [one.predicted_s], colour=colour, mark=_AT_LEAST))
    if bounds:
        series.append(Series([], name="at least: drops", colour="0.15", mark=_AT_LEAST))
    for cell in () if comparison is None else comparison.cells:
        look = styles[cell.algorithm]
        mark = _mark(cell.algorithm)
        if cell.collapses:
            mark = {**mark, **HOLLOW}
        series.append(Series([cell.bytes], [cell.measured_s or 0.0], colour=look.colour, mark=mark))
    measured = ", points measured" if comparison else ""
    sizes = sorted({prediction.bytes for prediction in predictions})
    chart = Curves(
        series=series,
        x=Axis("bytes to each other rank", Unit.SIZE, ticks=sizes),
        y=Axis(f"time of an all-to-all{measured}", Unit.SECONDS),
        legend="upper left",
    )
    finding = f"{name}: {_finding(predictions, comparison)}"
    return charted(finding, chart, height=3.2, width=1.4 * COLUMN_WIDTH)


def _mark(algorithm: str) -> dict[str, Any]:
    return {"marker": "s" if "barrier" in algorithm else "o", "markersize": 3.5}


def _finding(predictions: Sequence[Prediction], comparison: Comparison | None) -> str:
    if comparison is not None:
        return agreement_words(comparison)
    best = fastest(predictions)
    if best is None:
        return "time-outs may decide every all-to-all"
    return (
        f"{best.algorithm} takes {format_seconds(best.predicted_s)} with {format_bytes(best.bytes)}"
    )


def program_figure(predicted: PredictedProgram) -> Figure:
    """A bar for every case with its interval; a line for what was recorded.

    A bar's parts are what it would take on a crossbar, what too few cables add whatever the routes,
    and what the routes add.
    """
    cases, recorded = predicted.cases, predicted.recorded
    stacks, begin = [], np.zeros(len(cases))
    for name, colour, ends in (
        ("on a crossbar", COLOURS[0], [case.crossbar_s for case in cases]),
        ("too few cables", COLOURS[5], [case.perfect_routes_s for case in cases]),
        ("routes", COLOURS[4], [case.predicted_s for case in cases]),
    ):
        stacks.append(Stack(np.array(ends) - begin, name, colour))
        begin = np.array(ends)
    interval = Series(
        [case.predicted_s for case in cases],
        range(len(cases)),
        low=[case.interval_s[0] for case in cases],
        high=[case.interval_s[1] for case in cases],
        colour="0.15",
    )
    look = {"color": COLOURS[1], "linewidth": 1.2, "linestyle": "-", "zorder": 2}
    doubts = [doubt(case) for case in cases]
    chart = Bars(
        names=[
            f"{case.name}\n{words}" if words else case.name
            for case, words in zip(cases, doubts, strict=True)
        ],
        stacks=stacks,
        series=[interval],
        bounds=[BoundLine(recorded.recorded_s, across="x", name="as recorded", look=look)],
        x=Axis("predicted run time [s]"),
    )
    slowest = predicted.slowest
    times = f"{slowest.predicted_s / recorded.recorded_s:.2f}"
    return charted(
        f"{program_name(recorded.recording)}: {times} times as long on {slowest.name}",
        chart,
        height=1.3 + 0.36 * len(cases),
        width=1.5 * COLUMN_WIDTH,
        legend=4,
    )
