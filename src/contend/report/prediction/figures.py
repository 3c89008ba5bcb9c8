"""Predicted times: against message sizes, what was measured beside them; of programs, by place."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from contend.prediction import Comparison, PredictedProgram, Prediction
from contend.report.prediction.program import program_name
from contend.report.prediction.tables import agreement_words, doubt, fastest
from contend.report.style import (
    COLOURS,
    COLUMN_WIDTH,
    looks,
    new_figure,
    size_axis,
    styled,
    time_axis,
    title,
)
from contend.units import format_bytes, format_seconds


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
    with styled():
        figure = new_figure(height=3.2, width=1.4 * COLUMN_WIDTH)
        axes = figure.subplots()
        styles = looks(prediction.algorithm for prediction in predictions)
        for algorithm, look in styles.items():
            curve = sorted(
                (prediction for prediction in predictions if prediction.algorithm == algorithm),
                key=lambda prediction: prediction.bytes,
            )
            sizes = [prediction.bytes for prediction in curve]
            axes.fill_between(
                sizes,
                [prediction.interval_s[0] for prediction in curve],
                [prediction.interval_s[1] for prediction in curve],
                color=look.colour,
                alpha=0.15,
                linewidth=0,
            )
            axes.plot(
                sizes,
                [prediction.predicted_s for prediction in curve],
                color=look.colour,
                linestyle=look.line,
            )
            # What the legend shows: the line of predictions and the mark of measurements.
            axes.plot(
                [],
                [],
                color=look.colour,
                linestyle=look.line,
                marker=_marker(algorithm) if comparison else "",
                markersize=3.5,
                label=algorithm,
            )
        bounds = [prediction for prediction in predictions if prediction.collapses]
        for prediction in bounds:
            colour = styles[prediction.algorithm].colour
            axes.plot(prediction.bytes, prediction.predicted_s, "^", color=colour, markersize=4.5)
        if bounds:
            axes.plot([], [], "^", color="0.15", markersize=4.5, label="at least: drops")
        if comparison is not None:
            for cell in comparison.cells:
                look = styles[cell.algorithm]
                axes.plot(
                    cell.bytes,
                    cell.measured_s or 0.0,
                    _marker(cell.algorithm),
                    color=look.colour,
                    markerfacecolor="none" if cell.collapses else look.colour,
                    markersize=3.5,
                    markeredgewidth=0.8,
                )
        axes.set_yscale("log")
        size_axis(axes, sorted({prediction.bytes for prediction in predictions}))
        time_axis(axes, "y")
        axes.set_xlabel("bytes to each other rank")
        axes.set_ylabel("time of an all-to-all" + (", points measured" if comparison else ""))
        axes.legend(frameon=False, fontsize=6.5, loc="upper left")
        title(figure, f"{name}: {_finding(predictions, comparison)}")
    return figure


def _marker(algorithm: str) -> str:
    return "s" if "barrier" in algorithm else "o"


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
    with styled():
        figure = new_figure(height=1.1 + 0.36 * len(cases), width=1.5 * COLUMN_WIDTH)
        axes = figure.subplots()
        begin = [0.0] * len(cases)
        for label, colour, ends in (
            ("on a crossbar", COLOURS[0], [case.crossbar_s for case in cases]),
            ("too few cables", COLOURS[5], [case.perfect_routes_s for case in cases]),
            ("routes", COLOURS[4], [case.predicted_s for case in cases]),
        ):
            widths = [end - start for end, start in zip(ends, begin, strict=True)]
            axes.barh(range(len(cases)), widths, left=begin, height=0.6, color=colour, label=label)
            begin = ends
        axes.errorbar(
            [case.predicted_s for case in cases],
            range(len(cases)),
            xerr=[
                [case.predicted_s - case.interval_s[0] for case in cases],
                [case.interval_s[1] - case.predicted_s for case in cases],
            ],
            fmt="none",
            color="0.15",
            linewidth=1.0,
            capsize=2.5,
        )
        axes.axvline(recorded.recorded_s, color=COLOURS[1], linewidth=1.2, label="as recorded")
        doubts = [doubt(case) for case in cases]
        names = [
            f"{case.name}\n{words}" if words else case.name
            for case, words in zip(cases, doubts, strict=True)
        ]
        axes.set_yticks(range(len(cases)), names)
        axes.invert_yaxis()
        axes.set_xlabel("predicted run time [s]")
        axes.legend(
            frameon=False, fontsize=6.5, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4
        )
        slowest = predicted.slowest
        times = f"{slowest.predicted_s / recorded.recorded_s:.2f}"
        name = program_name(recorded.recording)
        title(figure, f"{name}: {times} times as long on {slowest.name}")
    return figure
