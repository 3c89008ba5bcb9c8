"""All-to-alls of many algorithms and sizes predicted, and beside them what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from contend.base.errors import ArgumentError, ShortfallError
from contend.base.progress import Progress, shown_progress
from contend.base.schema import PythonOnly, Rate, Shown, told
from contend.base.units import format_link_speed, parse_rate, parse_size, parse_sizes, valued
from contend.fabric import Fabric
from contend.lab.runs import Run
from contend.prediction.calibration import Calibration, costs_of
from contend.prediction.conditions import PredictionConditions, fastest_port
from contend.prediction.predicting import LIBRARY, Prediction, predict_alltoall
from contend.traffic.placement import parse
from contend.traffic.schedule import Exchange, suited

# Rates are said with two digits or three.
_SAME_RATE = 0.01


@dataclass(frozen=True)
class Comparison:
    """Predictions beside measurements."""

    predictions: tuple[Prediction, ...]
    """Predictions with what was measured of them."""
    wire: float | None = None
    """Bytes per second of a host's port where it was measured; None where it is not known."""

    @property
    def cells(self) -> tuple[Prediction, ...]:
        """Those that were measured."""
        return tuple(cell for cell in self.predictions if cell.measured is not None)

    @property
    def foreseeable(self) -> tuple[Prediction, ...]:
        """The cells of which the prediction does not say that time-outs may rule."""
        return tuple(cell for cell in self.cells if not cell.collapses)

    def within(self, share: float) -> int:
        """How many foreseeable cells are predicted within a share of what was measured."""
        return sum(abs((cell.ratio or 0) - 1) <= share for cell in self.foreseeable)

    @property
    def median_error(self) -> float | None:
        """Median factor by which foreseeable cells are off, minus 1; None without any."""
        off = [abs(math.log(cell.ratio or 1)) for cell in self.foreseeable]
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
    together = tuple(
        replace(one, measured=measured.get((one.algorithm, one.bytes, one.ranks)))
        for one in predictions
    )
    found = Comparison(together, run.record.wire_Bps)
    if not found.cells:
        raise ShortfallError(
            f"{run.folder}: measured nothing of what is predicted, which is of ranks that start "
            "together: measure with --start clock"
        )
    return found


@dataclass(frozen=True, eq=False)
class Predictions(Shown, told="prediction_document"):
    """All-to-alls on a fabric, predicted."""

    cells: tuple[Prediction, ...]
    """Predictions, one for every algorithm and size."""
    where: PythonOnly[PredictionConditions]
    """Fabric, hosts and costs."""
    placement: str
    """How ranks were placed."""
    comparison: PythonOnly[Comparison | None] = None
    """Comparison with what was measured; None where nothing was."""

    @told
    def fabric(self) -> str:
        """Name of the fabric."""
        return self.where.fabric.name

    @told
    def engine(self) -> str:
        """What computed the routes; "" if they were read and their file does not say."""
        routes = self.where.fabric.routes
        return "" if routes is None else routes.engine

    @told
    def rate_Bps(self) -> Rate:
        """Bytes per second of the fastest host's port."""
        return self.where.rate

    @told
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know of the costs, and of what was measured."""
        return (*self.where.calibration.remarks, *self.rates_apart)

    @property
    def rates_apart(self) -> tuple[str, ...]:
        """That ports were of another rate where it was measured; ratios then tell little."""
        wire = None if self.comparison is None else self.comparison.wire
        if wire is None or math.isclose(wire, self.where.rate, rel_tol=_SAME_RATE):
            return ()
        measured, predicted = format_link_speed(wire), format_link_speed(self.where.rate)
        return (f"the run's ports carry {measured}, and the prediction is for {predicted}",)


def predict(
    fabric: Fabric,
    calibration: str | Path | Calibration | None = None,
    *,
    algorithms: str | Sequence[str] = "all",
    bytes: str | int | Sequence[int] = "4K:1M",  # noqa: A002
    ranks: int | None = None,
    ranks_per_host: int = 1,
    placement: str = "linear",
    rate: float | str | None = None,
    buffer: int | str | None = None,
    measured: str | Path | Run | None = None,
    progress: bool | Progress = False,
) -> Predictions:
    """Predicts how long all-to-alls take on a fabric, as ``contend measure`` measures them.

    Args:
        fabric: with routes.
        calibration: what `contend.calibrate` returned, or the folder or the file that it left;
            None for usual costs.
        algorithms: names, or words such as ``shift,linear``, or ``all``.
        bytes: that each rank sends to each other: numbers, or words such as ``4K:1M``.
        ranks: how many; None fills the placement.
        ranks_per_host: ranks that share a host.
        placement: which rank runs on which host.
        rate: bytes per second of every cable, or words such as ``100Gbit/s``; None for the
            calibration's, or the fabric's own.
        buffer: bytes that wait for a channel at most, or words such as ``1MiB``; None for the
            calibration's.
        measured: a run of ``contend measure alltoall``, or its folder, to stand beside.
        progress: True shows a bar; a function is told how many cells are done, of how many.

    Raises:
        MissingError: memory is short for the messages.
        UsageError: for what does not fit together.
        ShortfallError: the run has none of these algorithms and sizes.
    """
    where, placed = conditions_for(
        fabric, calibration, ranks, ranks_per_host, placement, rate, buffer
    )
    count = len(where.hosts)
    asked = list(product(algorithm_names(algorithms, count), parse_sizes(bytes)))
    cells: list[Prediction] = []
    with shown_progress(progress, fabric.name, "cells") as tell:
        for name, size in asked:
            tell(len(cells), len(asked))
            cells.append(predict_alltoall(name, Exchange(count, size), where))
    comparison = None
    if measured is not None:
        run = measured if isinstance(measured, Run) else Run.load(Path(measured))
        comparison = beside_measured(cells, run)
        cells = list(comparison.predictions)
    return Predictions(tuple(cells), where, placed, comparison)


def conditions_for(
    fabric: Fabric,
    calibration: Calibration | str | Path | None,
    ranks: int | None,
    ranks_per_host: int,
    placement: str,
    rate: float | str | None,
    buffer: float | str | None,
) -> tuple[PredictionConditions, str]:
    """Where an all-to-all is predicted, from the arguments of `predict`; and the placement's name.

    Raises:
        UsageError: for what does not fit together.
    """
    costs = calibration if isinstance(calibration, Calibration) else costs_of(_path(calibration))
    placed = parse(placement, fabric, ranks_per_host=ranks_per_host)
    if placed.random:
        raise ArgumentError(
            "placement", "random draws many, and ranks need one here; give file:PATH"
        )
    count = placed.ranks if ranks is None else ranks
    if not 2 <= count <= placed.ranks:
        raise ArgumentError(
            "ranks", f"expected 2 to {placed.ranks}, which have a host, got {count}"
        )
    most = valued(buffer, parse_size)
    where = PredictionConditions(
        fabric=fabric,
        hosts=placed.host_of_rank[:count],
        calibration=costs,
        rate=fastest_port(fabric, costs, valued(rate, parse_rate)),
        buffer=costs.buffer if most is None else most,
    )
    return where, placed.name


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def algorithm_names(given: str | Sequence[str], ranks: int) -> Sequence[str]:
    """The algorithms that are asked for by names or words; ``all`` that suit so many ranks."""
    names = [name.strip() for name in given.split(",")] if isinstance(given, str) else given
    return [LIBRARY, *suited(ranks)] if list(names) == ["all"] else names
