"""Predictions: their documents and JSON."""

from __future__ import annotations

from typing import Annotated

import msgspec
import polars as pl

# What draws is imported when somebody looks.
from contend import report
from contend.prediction import Piling, PredictedPlace, PredictedProgram
from contend.report.document import Document, filled
from contend.report.prediction.program import program_tables, program_verdict


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
        Piling | None,
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
    fabric = found.where.fabric
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
        cables=cables,
        calls=[PredictedCallsJson(**row) for row in calls.iter_rows(named=True)],
    )
