"""Predictions beside what was measured, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contend.errors import ShortfallError
from contend.prediction.predicting import Prediction
from contend.runs import CellSummary, Run


@dataclass(frozen=True)
class ComparedPrediction:
    """A prediction and the cell that it is of.

    Attributes:
        prediction: what was predicted.
        measured: what was measured.
    """

    prediction: Prediction
    measured: CellSummary

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.prediction.seconds / self.measured.median.value

    @property
    def of_two_kinds(self) -> bool:
        """Whether samples, or launches, are of two kinds, one of which may wait for time-outs."""
        return self.measured.modes is not None or self.measured.apart is not None


@dataclass(frozen=True)
class Comparison:
    """Predictions beside measurements.

    Attributes:
        cells: all that both have, none left out.
        missing: predictions that no cell answers.
    """

    cells: tuple[ComparedPrediction, ...]
    missing: tuple[Prediction, ...] = ()

    @property
    def foreseeable(self) -> tuple[ComparedPrediction, ...]:
        """The cells of which the prediction does not say that time-outs may rule."""
        return tuple(cell for cell in self.cells if not cell.prediction.collapses)

    def within(self, share: float) -> int:
        """How many foreseeable cells are predicted within a share of what was measured."""
        return sum(abs(cell.ratio - 1) <= share for cell in self.foreseeable)

    @property
    def median_error(self) -> float | None:
        """Median factor by which foreseeable cells are off, minus 1; None without any."""
        off = [abs(math.log(cell.ratio)) for cell in self.foreseeable]
        return math.expm1(float(np.median(off))) if off else None


def beside_measured(predictions: Sequence[Prediction], run: Run) -> Comparison:
    """Puts the cells of a run of ``contend measure alltoall`` beside predictions.

    Raises:
        ShortfallError: they have no cell in common.
    """
    measured = {
        (cell.record.algorithm, cell.record.bytes, cell.record.ranks): cell
        for cell in run.summaries
        # Predictions are of equal blocks, and of ranks that start together.
        if cell.record.labels.get("start") != "barrier"
        and cell.record.labels.get("counts") != "uneven"
    }
    cells, missing = [], []
    for prediction in predictions:
        cell = measured.get((prediction.algorithm, prediction.size, prediction.ranks))
        if cell is None:
            missing.append(prediction)
        else:
            cells.append(ComparedPrediction(prediction, cell))
    if not cells:
        raise ShortfallError(
            f"{run.folder}: measured nothing of what is predicted, which is of ranks that start "
            "together: measure with --start clock"
        )
    return Comparison(tuple(cells), tuple(missing))
