"""Predictions as sentences and figures: what is only a lower bound is not the fastest."""

from __future__ import annotations

from contend.prediction import Piling, Prediction
from contend.report import prediction_figure
from contend.report.prediction.tables import fastest, verdict


def _prediction(algorithm: str, size: int, seconds: float, *, piling: int) -> Prediction:
    return Prediction(
        algorithm=algorithm,
        carried_out=algorithm,
        bytes=size,
        ranks=16,
        predicted_s=seconds,
        interval_s=(0.9 * seconds, 1.1 * seconds),
        counted_s=seconds,
        piling=Piling(channel="first", messages=15, bytes=piling, buffer=1_000_000),
        crowded=False,
        hottest=0,
        fullest_channel="first",
        fullest_share=0.8,
    )


PREDICTIONS = [
    _prediction("shift", 65_536, 0.2, piling=65_536),
    _prediction("shift", 1_048_576, 3.3, piling=500_000),
    _prediction("linear", 65_536, 0.18, piling=900_000),
    _prediction("linear", 1_048_576, 3.0, piling=15_000_000),
]


def test_a_lower_bound_is_not_the_fastest() -> None:
    """Linear, at least 3 s, may take any time; shift takes 3.3 s."""
    assert fastest(PREDICTIONS) is PREDICTIONS[1]
    assert fastest(PREDICTIONS[3:]) is None
    said = verdict(PREDICTIONS)
    assert said.startswith("With 1 MiB shift is predicted to be fastest: 3.3 s")
    assert "In 1 cell more may pile up" in said


def test_figures_mark_lower_bounds() -> None:
    figure = prediction_figure(PREDICTIONS, "fig1")
    [axes] = figure.axes
    [bound] = [line for line in axes.lines if line.get_marker() == "^" and len(line.get_xdata())]
    assert (bound.get_xdata().tolist(), bound.get_ydata().tolist()) == ([1_048_576], [3.0])
    assert "at least: drops" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert "fig1: shift takes 3.3 s with 1 MiB" in [text.get_text() for text in figure.texts]
    whole = prediction_figure(PREDICTIONS[:3], "fig1")
    words = [text.get_text() for text in whole.legends[0].get_texts()]
    assert words == ["shift", "linear"]
