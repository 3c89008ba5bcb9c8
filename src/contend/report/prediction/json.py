"""Predictions: their documents and JSON."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl

# What draws is imported when somebody looks.
from contend import report
from contend.fabric import Fabric
from contend.prediction import (
    ComparedPrediction,
    Piling,
    PredictedPlace,
    Prediction,
    Predictions,
    Recorded,
)
from contend.profiling import ProgramProfile
from contend.report.document import Document, filled
from contend.report.prediction.program import program_tables, program_verdict
from contend.report.prediction.tables import (
    prediction_comparison_table,
    prediction_tables,
    verdict,
)


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
        collapses: whether time-outs may occur, so that predicted_s is only a lower bound.
        crowded: whether messages go off at once on more ranks than processors, which makes
            predicted_s doubtful.
        piling: where most can pile up; null where the buffers are not known, or nowhere.
        fullest_channel: the hottest channel: it needs most time for the bytes that cross it.
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
        rate_Bps: of the fastest host's port.
        remarks: what a reader must know of what messages cost.
        verdict: one-sentence verdict.
        cells: one for every algorithm and size.
    """

    fabric: str
    engine: str
    placement: str
    rate_Bps: float  # noqa: N815 - bytes per second, as in the JSON of all results
    remarks: list[str]
    verdict: str
    cells: list[PredictedCellJson]


def prediction_document(found: Predictions) -> Document:
    """All-to-alls by size and algorithm, beside what was measured where it is known."""
    where, comparison = found.where, found.comparison
    fabric, costs = where.fabric, where.calibration
    said = verdict(found.cells, fabric, assumed=costs.assumed)
    tables = prediction_tables(found.cells, fabric.name, costs)
    if comparison is not None:
        tables = [prediction_comparison_table(comparison, fabric.name), *tables]
    measured = {} if comparison is None else {id(c.prediction): c for c in comparison.cells}
    return Document(
        verdict=said,
        tables=tables,
        record=PredictedJson(
            fabric=fabric.name,
            engine="" if fabric.routes is None else fabric.routes.engine,
            placement=found.placement,
            rate_Bps=where.rate,
            remarks=list(costs.remarks),
            verdict=said,
            cells=[_cell(cell, fabric, measured.get(id(cell))) for cell in found.cells],
        ),
        pictures={"times": lambda: report.prediction_figure(found.cells, fabric.name, comparison)},
    )


def _cell(cell: Prediction, fabric: Fabric, beside: ComparedPrediction | None) -> PredictedCellJson:
    measured = {}
    if beside is not None:
        measured = {"measured_s": beside.measured.median.value, "ratio": beside.ratio}
    return filled(
        PredictedCellJson,
        cell,
        bytes=cell.size,
        predicted_s=cell.seconds,
        interval_s=(cell.low, cell.high),
        rate_Bps_per_rank=cell.rate,
        counted_s=cell.counted,
        piling=None if cell.piling is None else PilingJson.of(cell.piling, fabric),
        fullest_channel=fabric.channel_name(cell.hottest),
        fullest_share=cell.hottest_share,
        **measured,
    )


class CableCostJson(msgspec.Struct, frozen=True, kw_only=True):
    """What a cable costs a program.

    Attributes:
        channel: the direction over which more goes.
        bytes: that cross it.
        busy: part of the run time in which something is under way on it.
        costs_s: run time that the program would save if this cable alone held nothing back.
    """

    channel: str
    bytes: float
    busy: float
    costs_s: float


class PredictedCallsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of a routine on a communicator.

    Attributes:
        routine: its name.
        communicator: number in the profile.
        calls: of all ranks.
        recorded_s: time in them, of the mean rank.
        predicted_s: the same by the model, not corrected.
    """

    routine: str
    communicator: int
    calls: int
    recorded_s: float
    predicted_s: float


class PredictedCaseJson(msgspec.Struct, frozen=True, kw_only=True):
    """A program's run time in one place.

    Attributes:
        name: what distinguishes the place from the others.
        fabric: its name.
        rate_Bps: of every cable.
        hosts: number of each rank's host.
        predicted_s: the run time.
        interval_s: both ends.
        communication: part of the run time in MPI.
        perfect_routes_s: run time if all cables of a switch with hosts were one.
        crossbar_s: run time if nothing but hosts' ports held messages back.
        collapses: whether time-outs may occur, so that predicted_s is only a lower bound.
        crowded: whether much of the run is small collectives of more ranks than processors, which
            makes predicted_s doubtful.
        piling: where most can pile up; null where the buffers are not known, or nowhere.
        cables: what the hottest ones cost.
        calls: by routine and communicator.
    """

    name: str
    fabric: str
    rate_Bps: float  # noqa: N815 - bytes per second, as in the JSON of all results
    hosts: list[int]
    predicted_s: float
    interval_s: tuple[float, float]
    communication: float
    perfect_routes_s: float
    crossbar_s: float
    collapses: bool
    crowded: bool
    piling: PilingJson | None
    cables: list[CableCostJson]
    calls: list[PredictedCallsJson]


class PredictedProgramJson(msgspec.Struct, frozen=True, kw_only=True):
    """A profiled program, predicted.

    Attributes:
        profile: its folder.
        command: what was recorded.
        ranks: how many.
        recorded_s: run time as recorded.
        kept_s: the part of it that events were kept of.
        modelled_s: what the model predicts for that part, where it was recorded; null where that is
            not known.
        look_every_s: how often waiting ranks poll, taken from the recording; null where the
            calibration's is used.
        remarks: what a reader must know.
        verdict: one-sentence verdict.
        cases: one for every place.
    """

    profile: str
    command: list[str]
    ranks: int
    recorded_s: float
    kept_s: float
    modelled_s: float | None
    look_every_s: float | None
    remarks: list[str]
    verdict: str
    cases: list[PredictedCaseJson]


def program_document(
    profile: ProgramProfile, recorded: Recorded, cases: Sequence[PredictedPlace]
) -> Document:
    """A program's run time in every place, and what holds it back where it is slowest."""
    said = program_verdict(profile, recorded, cases)
    return Document(
        verdict=said,
        tables=program_tables(profile, recorded, cases),
        record=PredictedProgramJson(
            profile=str(profile.folder),
            command=list(profile.record.command),
            ranks=profile.size,
            recorded_s=recorded.seconds,
            kept_s=recorded.kept,
            modelled_s=recorded.modelled,
            look_every_s=recorded.corrections[0].look_every_s,
            remarks=list(recorded.program.remarks),
            verdict=said,
            cases=[_case(case) for case in cases],
        ),
        pictures={"times": lambda: report.program_figure(profile, recorded, cases)},
    )


def _case(case: PredictedPlace) -> PredictedCaseJson:
    found = case.prediction
    fabric, piling = found.where.fabric, found.piling
    cables = [
        filled(
            CableCostJson,
            cable,
            channel=fabric.channel_name(cable.channel),
            costs_s=cable.seconds,
        )
        for cable in found.cables
    ]
    calls = found.calls.with_columns(routine=pl.concat_str(pl.lit("MPI_"), "routine"))
    return filled(
        PredictedCaseJson,
        found,
        name=case.name,
        fabric=fabric.name,
        rate_Bps=found.where.rate,
        hosts=[int(host) for host in found.where.hosts],
        predicted_s=found.seconds,
        interval_s=(found.low, found.high),
        perfect_routes_s=found.perfect_routes,
        crossbar_s=found.crossbar,
        piling=None if piling is None else PilingJson.of(piling, fabric),
        cables=cables,
        calls=[PredictedCallsJson(**row) for row in calls.iter_rows(named=True)],
    )
