"""Predictions: their documents and JSON."""

from __future__ import annotations

from typing import Annotated

import msgspec
import polars as pl

# What draws is imported when somebody looks.
from contend import report
from contend.fabric import Fabric
from contend.prediction import (
    ComparedPrediction,
    Piling,
    PredictedPlace,
    PredictedProgram,
    Prediction,
    Predictions,
)
from contend.report.document import Document, filled
from contend.report.prediction.program import program_tables, program_verdict
from contend.report.prediction.tables import (
    prediction_comparison_table,
    prediction_tables,
    verdict,
)


class PilingJson(msgspec.Struct, frozen=True, kw_only=True):
    """What may wait in front of a channel at once."""

    channel: Annotated[str, "its name."]
    messages: Annotated[int, "how many cross it in one round."]
    bytes: Annotated[float, "of all of them."]
    buffer: Annotated[float, "bytes that it holds."]

    @classmethod
    def of(cls, piling: Piling, fabric: Fabric) -> PilingJson:
        """What may wait in front of a channel of a fabric."""
        return filled(cls, piling, channel=fabric.channel_name(piling.channel))


class PredictedCellJson(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One algorithm and size."""

    algorithm: Annotated[str, "as it was asked for."]
    carried_out: Annotated[str, "by which algorithm; another one where the library chooses."]
    bytes: Annotated[int, "to each other rank."]
    ranks: Annotated[int, "how many."]
    predicted_s: Annotated[float, "the median over draws of when ranks begin."]
    interval_s: Annotated[tuple[float, float], "both ends."]
    rate_Bps_per_rank: Annotated[float, "(ranks - 1) times bytes over predicted_s."]
    counted_s: Annotated[
        float, "rounds one after the other, each as long as its fullest channel takes."
    ]
    collapses: Annotated[
        bool, "whether time-outs may occur, so that predicted_s is only a lower bound."
    ]
    crowded: Annotated[
        bool,
        "whether messages go off at once on more ranks than processors, which makes "
        "predicted_s doubtful.",
    ]
    piling: Annotated[
        PilingJson | None,
        "where most can pile up; null where the buffers are not known, or nowhere.",
    ]
    fullest_channel: Annotated[
        str, "the hottest channel: it needs most time for the bytes that cross it."
    ]
    fullest_share: Annotated[float, "part of the time in which it is busy."]
    measured_s: Annotated[float | msgspec.UnsetType, "median of what was measured."] = msgspec.UNSET
    ratio: Annotated[float | msgspec.UnsetType, "predicted_s over measured_s."] = msgspec.UNSET


class PredictedJson(msgspec.Struct, frozen=True, kw_only=True):
    """An all-to-all, predicted."""

    fabric: Annotated[str, "its name."]
    engine: Annotated[
        str, 'what computed its routes; "" where they were read and their file does not say.'
    ]
    placement: Annotated[str, "how ranks were placed."]
    rate_Bps: Annotated[float, "of the fastest host's port."]
    remarks: Annotated[list[str], "what a reader must know of the costs, and of what was measured."]
    verdict: Annotated[str, "one-sentence verdict."]
    cells: Annotated[list[PredictedCellJson], "one for every algorithm and size."]


def prediction_document(found: Predictions) -> Document:
    """All-to-alls by size and algorithm, beside what was measured where it is known."""
    where, comparison = found.where, found.comparison
    fabric, costs = where.fabric, where.calibration
    said = verdict(found.cells, fabric, assumed=costs.assumed)
    tables = prediction_tables(found.cells, fabric.name, costs)
    if comparison is not None:
        tables = [prediction_comparison_table(comparison, fabric.name, found.rates_apart), *tables]
    measured = {} if comparison is None else {id(c.prediction): c for c in comparison.cells}
    return Document(
        verdict=said,
        tables=tables,
        record=PredictedJson(
            fabric=fabric.name,
            engine="" if fabric.routes is None else fabric.routes.engine,
            placement=found.placement,
            rate_Bps=where.rate,
            remarks=[*costs.remarks, *found.rates_apart],
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
    """What a cable costs a program."""

    channel: Annotated[str, "the direction over which more goes."]
    bytes: Annotated[float, "that cross it."]
    busy: Annotated[float, "part of the run time in which something is under way on it."]
    costs_s: Annotated[
        float, "run time that the program would save if this cable alone held nothing back."
    ]


class PredictedCallsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of a routine on a communicator."""

    routine: Annotated[str, "its name."]
    communicator: Annotated[int, "number in the profile."]
    calls: Annotated[int, "of all ranks."]
    recorded_s: Annotated[float, "time in them, of the mean rank."]
    predicted_s: Annotated[float, "the same by the model, not corrected."]


class PredictedCaseJson(msgspec.Struct, frozen=True, kw_only=True):
    """A program's run time in one place."""

    name: Annotated[str, "what distinguishes the place from the others."]
    fabric: Annotated[str, "its name."]
    rate_Bps: Annotated[float, "of every cable."]
    hosts: Annotated[list[int], "number of each rank's host."]
    predicted_s: Annotated[
        float, "the run time, from the end of MPI_Init to the beginning of MPI_Finalize."
    ]
    interval_s: Annotated[tuple[float, float], "both ends."]
    communication: Annotated[float, "part of the run time in MPI."]
    perfect_routes_s: Annotated[float, "run time if all cables of a switch with hosts were one."]
    crossbar_s: Annotated[float, "run time if nothing but hosts' ports held messages back."]
    collapses: Annotated[
        bool, "whether time-outs may occur, so that predicted_s is only a lower bound."
    ]
    crowded: Annotated[
        bool,
        "whether much of the run is small collectives of more ranks than processors, which "
        "makes predicted_s doubtful.",
    ]
    piling: Annotated[
        PilingJson | None,
        "where most can pile up; null where the buffers are not known, or nowhere.",
    ]
    cables: Annotated[list[CableCostJson], "what the hottest ones cost."]
    calls: Annotated[list[PredictedCallsJson], "by routine and communicator."]


class PredictedProgramJson(msgspec.Struct, frozen=True, kw_only=True):
    """A profiled program, predicted."""

    profile: Annotated[str, "its folder."]
    command: Annotated[list[str], "what was recorded."]
    ranks: Annotated[int, "how many."]
    recorded_s: Annotated[
        float, "run time as recorded, from the end of MPI_Init to the beginning of MPI_Finalize."
    ]
    kept_s: Annotated[float, "the part of it that events were kept of."]
    modelled_s: Annotated[
        float | None,
        "what the model predicts for that part, where it was recorded; null where that is not "
        "known.",
    ]
    look_every_s: Annotated[
        float | None,
        "how often waiting ranks poll, taken from the recording; null where the calibration's "
        "is used.",
    ]
    remarks: Annotated[list[str], "what a reader must know."]
    verdict: Annotated[str, "one-sentence verdict."]
    cases: Annotated[list[PredictedCaseJson], "one for every place."]


def program_document(found: PredictedProgram) -> Document:
    """A program's run time in every place, and what holds it back where it is slowest."""
    said, recorded, profile = program_verdict(found), found.recorded, found.profile
    return Document(
        verdict=said,
        tables=program_tables(found),
        record=filled(
            PredictedProgramJson,
            profile.record,
            profile=str(profile.folder),
            recorded_s=recorded.seconds,
            kept_s=recorded.kept,
            modelled_s=recorded.modelled,
            look_every_s=recorded.corrections[0].look_every_s,
            remarks=recorded.program.remarks,
            verdict=said,
            cases=[_case(case) for case in found.places],
        ),
        pictures={"times": lambda: report.program_figure(found)},
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
