"""Studies as JSON: the keys that scripts rely on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from contend.congestion import SampleMean
from contend.measurement import Agreement
from contend.report.pairs import AgreementJson, agreement_keys
from contend.report.study.simulated import ImpactJson, impacts, references_of, scaled
from contend.studies import (
    Case,
    Record,
    SimulatedOutcome,
    SimulatedPlan,
)


class DifferenceJson(msgspec.Struct, frozen=True, kw_only=True):
    """A number known from elsewhere, beside ours.

    Attributes:
        source: who published it.
        average: which of our averages it is compared with.
        value: the published number, as a fraction of the link speed.
        difference: ours, multiplied by the cell's scale, minus theirs.
    """

    source: str
    average: str
    value: float
    difference: float


class StudyCellJson(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of a study of simulations; of one that failed there are the first five keys.

    Attributes:
        fabric: name of the fabric.
        engine: what computed its routes; "" is its own.
        pattern: the traffic pattern.
        status: ``done`` or ``failed``.
        cause: why it failed.
        samples: number of patterns that were drawn.
        seed: of every random choice.
        rated_bisection: capacity of the narrowest cut found between halves of the hosts that take
            part, as a fraction of full bisection.
        scale: what averages may be multiplied by to leave out the pattern's own end points.
        averages: bandwidths by name, as fractions of the link speed.
        references: numbers known from elsewhere.
        elapsed_s: seconds that the simulation took.
    """

    fabric: str
    engine: str
    pattern: str
    status: str
    cause: str | UnsetType = UNSET
    samples: int | UnsetType = UNSET
    seed: int | UnsetType = UNSET
    rated_bisection: float | UnsetType | None = UNSET
    scale: float | UnsetType = UNSET
    averages: dict[str, SampleMean] | UnsetType = UNSET
    references: list[DifferenceJson] | UnsetType = UNSET
    elapsed_s: float | UnsetType = UNSET


class StudyJson(msgspec.Struct, frozen=True, kw_only=True):
    """A study of simulations.

    Attributes:
        verdict: what it comes to, in words.
        study: name of the plan.
        run: folder of the study.
        average: the average that the plan compares.
        notes: what a reader must know, as the plan says it.
        cells: one for each fabric, engine and pattern.
        applications: what full bandwidth would leave of applications' run times; there if the plan
            has applications.
    """

    verdict: str = ""
    study: str
    run: str
    average: str
    notes: list[str]
    cells: list[StudyCellJson]
    applications: list[ImpactJson] | UnsetType = UNSET


class VerifiedFabricJson(AgreementJson, frozen=True, kw_only=True):
    """A fabric whose measured bandwidths were compared with the simulation's.

    Attributes:
        fabric: its name in the study.
        source: what describes it.
        engine: what computed its routes; null is its own.
        rate_Bps: bytes per second of an emulated cable.
    """

    fabric: str
    source: str
    engine: str | None
    rate_Bps: float


class VerificationJson(msgspec.Struct, frozen=True, kw_only=True):
    """The study ``verification``.

    Attributes:
        verdict: how far measured and simulated bandwidths are apart, in words.
        study: always ``verification``.
        seed: of every random choice.
        results: one for each fabric.
    """

    verdict: str = ""
    study: str = "verification"
    seed: int
    results: list[VerifiedFabricJson]


def study_json(plan: SimulatedPlan, outcomes: Sequence[SimulatedOutcome], run: str) -> StudyJson:
    """The result of ``contend study --json`` for a plan of simulations.

    Args:
        plan: what was asked for.
        outcomes: the cells that have ended.
        run: folder of the study.
    """
    return StudyJson(
        study=plan.name,
        run=run,
        average=plan.average,
        notes=list(plan.notes),
        cells=[_cell(plan, outcome.record) for outcome in outcomes],
        applications=list(impacts(plan, [outcome.record for outcome in outcomes])) or UNSET,
    )


def verification_json(seed: int, results: Sequence[VerifiedFabricJson]) -> VerificationJson:
    """The result of ``contend study verification --json``."""
    return VerificationJson(seed=seed, results=list(results))


def verified_json(case: Case, agreement: Agreement, rate: float) -> VerifiedFabricJson:
    """A fabric of the study ``verification``.

    Args:
        case: which fabric.
        agreement: of its measured and predicted bandwidths.
        rate: bytes per second of a cable.
    """
    return VerifiedFabricJson(
        fabric=case.name,
        source=case.source,
        engine=case.engine,
        rate_Bps=rate,
        **agreement_keys(agreement),
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
