"""Predicted times against message sizes, and what was measured beside them."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from contend.prediction import Comparison, Prediction
from contend.report.prediction.tables import agreement_words
from contend.report.style import (
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

    Hollow points are of cells of which the prediction says that time-outs may rule.

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
                key=lambda prediction: prediction.size,
            )
            sizes = [prediction.size for prediction in curve]
            axes.fill_between(
                sizes,
                [prediction.low for prediction in curve],
                [prediction.high for prediction in curve],
                color=look.colour,
                alpha=0.15,
                linewidth=0,
            )
            axes.plot(
                sizes,
                [prediction.seconds for prediction in curve],
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
        if comparison is not None:
            for cell in comparison.cells:
                look = styles[cell.prediction.algorithm]
                axes.plot(
                    cell.prediction.size,
                    cell.measured.median.value,
                    _marker(cell.prediction.algorithm),
                    color=look.colour,
                    markerfacecolor="none" if cell.prediction.collapses else look.colour,
                    markersize=3.5,
                    markeredgewidth=0.8,
                )
        axes.set_yscale("log")
        size_axis(axes, sorted({prediction.size for prediction in predictions}))
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
    largest = max(prediction.size for prediction in predictions)
    best = min(
        (prediction for prediction in predictions if prediction.size == largest),
        key=lambda prediction: prediction.seconds,
    )
    return f"{best.algorithm} takes {format_seconds(best.seconds)} with {format_bytes(largest)}"
