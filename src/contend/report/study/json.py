"""Studies as JSON: the keys that scripts rely on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from contend.congestion import SampleMean
from contend.report.study.simulated import ImpactJson, impacts, references_of, scaled
from contend.studies import Record, SimulatedPlan, SimulatedStudy


class DifferenceJson(msgspec.Struct, frozen=True, kw_only=True):
    """A number known from elsewhere, beside ours."""

    source: Annotated[str, "who published it."]
    average: Annotated[str, "which of our averages it is compared with."]
    value: Annotated[float, "the published number, as a fraction of the link speed."]
    difference: Annotated[float, "ours, multiplied by the cell's scale, minus theirs."]


class StudyCellJson(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of a study of simulations; of one that failed there are the first five keys."""

    fabric: Annotated[str, "name of the fabric."]
    engine: Annotated[str, "what computed its routes;  is its own."]
    pattern: Annotated[str, "the traffic pattern."]
    status: Annotated[str, "``done`` or ``failed``."]
    cause: Annotated[str | UnsetType, "why it failed."] = UNSET
    samples: Annotated[int | UnsetType, "number of patterns that were drawn."] = UNSET
    seed: Annotated[int | UnsetType, "of every random choice."] = UNSET
    rated_bisection: Annotated[
        float | UnsetType | None,
        "narrowest cut found between halves of the hosts that take part, of full bisection.",
    ] = UNSET
    scale: Annotated[
        float | UnsetType,
        "what averages may be multiplied by to leave out the pattern's own end points.",
    ] = UNSET
    averages: Annotated[
        dict[str, SampleMean] | UnsetType, "bandwidths by name, as fractions of the link speed."
    ] = UNSET
    references: Annotated[list[DifferenceJson] | UnsetType, "numbers known from elsewhere."] = UNSET
    elapsed_s: Annotated[float | UnsetType, "seconds that the simulation took."] = UNSET


class StudyJson(msgspec.Struct, frozen=True, kw_only=True):
    """A study of simulations."""

    verdict: Annotated[str, "one-sentence verdict."] = ""
    study: Annotated[str, "name of the plan."]
    run: Annotated[str, "folder of the study."]
    average: Annotated[str, "the average that the plan compares."]
    notes: Annotated[list[str], "what a reader must know, as the plan says it."]
    cells: Annotated[list[StudyCellJson], "one for each fabric, engine and pattern."]
    applications: Annotated[
        list[ImpactJson] | UnsetType,
        "what full bandwidth would leave of run times; there if the plan has applications.",
    ] = UNSET


def study_json(study: SimulatedStudy) -> StudyJson:
    """The result of ``contend study --json`` for a plan of simulations."""
    plan, records = study.plan, [outcome.record for outcome in study.outcomes]
    return StudyJson(
        study=plan.name,
        run=str(study.folder),
        average=plan.average,
        notes=list(plan.notes),
        cells=[_cell(plan, record) for record in records],
        applications=list(impacts(plan, records)) or UNSET,
    )


def _cell(plan: SimulatedPlan, record: Record) -> StudyCellJson:
    names = {name: getattr(record, name) for name in ("fabric", "engine", "pattern", "status")}
    if record.status == "failed":
        return StudyCellJson(**names, cause=record.cause)
    return StudyCellJson(
        **names,
        samples=record.simulation["samples"],
        seed=record.simulation["seed"],
        rated_bisection=record.rated_bisection,
        scale=record.scale,
        averages=record.averages,
        references=list(_differences(plan, record)),
        elapsed_s=record.simulation["elapsed_s"],
    )


def _differences(plan: SimulatedPlan, record: Record) -> Iterator[DifferenceJson]:
    for reference in references_of(plan, record):
        average = reference.average or plan.average
        if (ours := scaled(record, average)) is not None:
            theirs = reference.percent / 100
            yield DifferenceJson(
                source=reference.source,
                average=average,
                value=theirs,
                difference=ours.mean - theirs,
            )
