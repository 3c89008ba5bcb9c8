"""Predictions as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from contend.fabric import Fabric
from contend.prediction import Comparison, Piling, Prediction


class PilingJson(msgspec.Struct, frozen=True, kw_only=True):
    """What may wait in front of a channel at once.

    Attributes:
        channel: its name.
        messages: how many cross it in one round.
        bytes: of all of them.
        buffer: bytes that it holds.
    """

    channel: str
    messages: int
    bytes: float
    buffer: float

    @classmethod
    def of(cls, piling: Piling, fabric: Fabric) -> PilingJson:
        """What may wait in front of a channel of a fabric."""
        return cls(
            channel=fabric.channel_name(piling.channel),
            messages=piling.messages,
            bytes=piling.bytes,
            buffer=piling.buffer,
        )


class PredictedCellJson(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One algorithm and size.

    Attributes:
        algorithm: as it was asked for.
        carried_out: by which algorithm; another one where the library chooses.
        bytes: to each other rank.
        ranks: how many.
        predicted_s: the median over draws of when ranks begin.
        interval_s: both ends.
        rate_Bps_per_rank: (ranks - 1) times bytes over predicted_s.
        counted_s: rounds one after the other, each as long as its fullest channel takes.
        collapses: whether time-outs may rule, so that predicted_s is only a lower bound.
        crowded: whether messages go off at once on more ranks than processors, which makes
            predicted_s doubtful.
        piling: where most can pile up; null where the buffers are not known, or nowhere.
        fullest_channel: the channel that most bytes cross.
        fullest_share: part of the time in which it is busy.
        measured_s: median of what was measured.
        ratio: predicted_s over measured_s.
    """

    algorithm: str
    carried_out: str
    bytes: int
    ranks: int
    predicted_s: float
    interval_s: tuple[float, float]
    rate_Bps_per_rank: float  # noqa: N815 - bytes per second, as in the JSON of all results
    counted_s: float
    collapses: bool
    crowded: bool
    piling: PilingJson | None
    fullest_channel: str
    fullest_share: float
    measured_s: float | msgspec.UnsetType = msgspec.UNSET
    ratio: float | msgspec.UnsetType = msgspec.UNSET


class PredictedJson(msgspec.Struct, frozen=True, kw_only=True):
    """An all-to-all, predicted.

    Attributes:
        fabric: its name.
        engine: what computed its routes; "" where they were read and their file does not say.
        placement: how ranks were placed.
        rate_Bps: of every cable.
        verdict: what it comes to, in words.
        cells: one for every algorithm and size.
    """

    fabric: str
    engine: str
    placement: str
    rate_Bps: float  # noqa: N815 - bytes per second, as in the JSON of all results
    verdict: str
    cells: list[PredictedCellJson]


def prediction_json(
    predictions: Sequence[Prediction],
    fabric: Fabric,
    *,
    placement: str,
    rate: float,
    verdict: str,
    comparison: Comparison | None = None,
) -> PredictedJson:
    """All cells, with what was measured where it is known."""
    measured = {} if comparison is None else {id(c.prediction): c for c in comparison.cells}

    def cell(prediction: Prediction) -> PredictedCellJson:
        beside = measured.get(id(prediction))
        piling = prediction.piling
        return PredictedCellJson(
            algorithm=prediction.algorithm,
            carried_out=prediction.carried_out,
            bytes=prediction.size,
            ranks=prediction.ranks,
            predicted_s=prediction.seconds,
            interval_s=(prediction.low, prediction.high),
            rate_Bps_per_rank=prediction.rate,
            counted_s=prediction.counted,
            collapses=prediction.collapses,
            crowded=prediction.crowded,
            piling=None if piling is None else PilingJson.of(piling, fabric),
            fullest_channel=fabric.channel_name(prediction.fullest),
            fullest_share=prediction.fullest_share,
            measured_s=msgspec.UNSET if beside is None else beside.measured.median.value,
            ratio=msgspec.UNSET if beside is None else beside.ratio,
        )

    return PredictedJson(
        fabric=fabric.name,
        engine="" if fabric.routes is None else fabric.routes.engine,
        placement=placement,
        rate_Bps=rate,
        verdict=verdict,
        cells=[cell(prediction) for prediction in predictions],
    )
