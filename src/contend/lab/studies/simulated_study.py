"""What a study of simulations says: its cells, beside numbers that are known from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from contend.base.schema import LeftOut, PythonOnly, Seconds, Share, told
from contend.base.shown import Shown
from contend.congestion import SampleMean
from contend.lab.studies.simulated_cell import Record, SimulatedOutcome
from contend.lab.studies.simulated_plan import Application, Reference, SimulatedPlan


@dataclass(frozen=True, kw_only=True)
class KnownDifference:
    """A number known from elsewhere, beside ours."""

    source: str
    """Name of who published it."""
    average: str
    """Which of our averages it is compared with."""
    value: Share
    """The published number, as a fraction of the link speed."""
    difference: Share
    """Ours, multiplied by the cell's scale, minus theirs."""


@dataclass(frozen=True, kw_only=True)
class StudyCell:
    """A cell of a study of simulations; of one that failed there are the first five keys."""

    fabric: str
    """Name of the fabric."""
    engine: str
    """What computed its routes; "" is its own."""
    pattern: str
    """Name of the pattern."""
    status: str
    """Word ``done`` or ``failed``."""
    cause: LeftOut[str] = None
    """Why it failed."""
    samples: LeftOut[int] = None
    """Number of patterns that were drawn."""
    seed: LeftOut[int] = None
    """Seed of every random choice."""
    rated_bisection: LeftOut[Share] = None
    """Narrowest cut found between halves of the hosts that take part, of full bisection."""
    scale: LeftOut[float] = None
    """What averages may be multiplied by to leave out the pattern's own end points."""
    averages: LeftOut[dict[str, SampleMean]] = None
    """Bandwidths by name, as fractions of the link speed."""
    references: LeftOut[list[KnownDifference]] = None
    """Numbers known from elsewhere."""
    elapsed_s: LeftOut[Seconds] = None
    """Seconds that the simulation took."""


@dataclass(frozen=True, kw_only=True)
class Impact:
    """Run time of a recorded application with full bandwidth, as a fraction of today's."""

    application: str
    """Name of the application."""
    fabric: str
    """Name of the fabric."""
    recomputed: Share | None
    """From the source's own bandwidths; null where it does not have all."""
    printed: Share
    """What the source prints."""
    simulated: Share | None
    """From the bandwidths of this study; null where a cell is missing."""
    routing: str
    """Routing that gave them, the one that costs the application least."""


@dataclass(frozen=True, eq=False)
class SimulatedStudy(Shown, told="study_document"):
    """A study of simulations."""

    plan: PythonOnly[SimulatedPlan]
    """What was simulated."""
    outcomes: PythonOnly[tuple[SimulatedOutcome, ...]]
    """All cells of the plan, in its order."""
    folder: PythonOnly[Path] = Path()
    """Folder in which results are kept."""

    @property
    def records(self) -> list[Record]:
        """What is kept of every cell."""
        return [outcome.record for outcome in self.outcomes]

    @property
    @told
    def study(self) -> str:
        """Name of the plan."""
        return self.plan.name

    @property
    @told
    def run(self) -> str:
        """Folder of the study."""
        return str(self.folder)

    @property
    @told
    def average(self) -> str:
        """The average that the plan compares."""
        return self.plan.average

    @property
    @told
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, as the plan says it."""
        return self.plan.notes

    @property
    @told
    def cells(self) -> list[StudyCell]:
        """One for each fabric, engine and pattern."""
        return [_cell(self.plan, record) for record in self.records]

    @property
    @told
    def applications(self) -> LeftOut[list[Impact]]:
        """What full bandwidth would leave of run times; there if the plan has applications."""
        return list(impacts(self.plan, self.records)) or None


def _cell(plan: SimulatedPlan, record: Record) -> StudyCell:
    names = {name: getattr(record, name) for name in ("fabric", "engine", "pattern", "status")}
    if record.status == "failed":
        return StudyCell(**names, cause=record.cause)
    return StudyCell(
        **names,
        samples=record.simulation["samples"],
        seed=record.simulation["seed"],
        rated_bisection=record.rated_bisection,
        scale=record.scale,
        averages=record.averages,
        references=list(_differences(plan, record)),
        elapsed_s=record.simulation["elapsed_s"],
    )


def _differences(plan: SimulatedPlan, record: Record) -> Iterator[KnownDifference]:
    for reference in references_of(plan, record):
        average = reference.average or plan.average
        if (ours := record.scaled(average)) is not None:
            theirs = reference.percent / 100
            yield KnownDifference(
                source=reference.source,
                average=average,
                value=theirs,
                difference=ours.mean - theirs,
            )


def references_of(plan: SimulatedPlan, record: Record) -> list[Reference]:
    """All numbers known from elsewhere for a cell."""
    return [
        reference
        for reference in plan.references
        if (reference.fabric, reference.pattern) == (record.fabric, record.pattern)
        and reference.engine in (None, record.engine)
    ]


def impacts(plan: SimulatedPlan, records: Sequence[Record]) -> Iterator[Impact]:
    """What routing costs the plan's applications, on each of its fabrics that the source names."""
    fabrics = {fabric.name for fabric in plan.fabrics}
    for application in plan.applications:
        for printed in application.printed:
            if printed.fabric not in fabrics:
                continue
            known = {
                reference.pattern: reference.percent / 100
                for reference in plan.references
                if (reference.source, reference.fabric) == (application.source, printed.fabric)
                and reference.average in (None, plan.average)
            }
            simulated, routing = _best_routing(plan, application, printed.fabric, records)
            yield Impact(
                application=application.name,
                fabric=printed.fabric,
                recomputed=application.run_time(known)
                if application.patterns() <= known.keys()
                else None,
                printed=printed.percent / 100,
                simulated=simulated,
                routing=routing,
            )


def _best_routing(
    plan: SimulatedPlan, application: Application, fabric: str, records: Sequence[Record]
) -> tuple[float | None, str]:
    """Run time at full bandwidth under the routing that costs the application least."""
    bandwidths: dict[str, dict[str, float]] = {}
    for record in records:
        ours = record.scaled(plan.average) if record.fabric == fabric else None
        if ours is not None:
            bandwidths.setdefault(record.engine, {})[record.pattern] = ours.mean
    times = {
        engine: application.run_time(known)
        for engine, known in bandwidths.items()
        if application.patterns() <= known.keys()
    }
    if not times:
        return None, ""
    best = max(times, key=lambda engine: times[engine])
    return times[best], best.removeprefix("opensm:") or "its own"
