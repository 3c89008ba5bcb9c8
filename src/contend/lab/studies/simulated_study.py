"""A study of simulations: what its cells ask, what is kept of them, and what it says."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from contend.base.errors import InputError
from contend.base.files import json_text, read_json, write_whole
from contend.base.schema import LeftOut, PythonOnly, Seconds, Share, Shown, plain, told
from contend.congestion import Average, Links, SampleMean, Simulation
from contend.fabric import FabricSize
from contend.lab.session import Cell
from contend.lab.studies.simulated_plan import Application, Reference, SimulatedPlan

# All that reading a damaged archive of arrays ends with.
_DAMAGED = (
    OSError, ValueError, EOFError, RuntimeError, LookupError, ArithmeticError, MemoryError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


class SimulatedCell(Cell, frozen=True, forbid_unknown_fields=True, tag="simulate"):
    """Everything that decides the figures of a simulation."""

    source: str
    """Generator or topology file, as the plan names it."""
    routes: str | None
    """File of forwarding tables; None for none."""
    engine: str
    """What computes the routes; "" for the fabric's own."""
    pattern: str
    placement: str
    samples: int
    """Number of patterns and placements to draw."""
    precision: float | None
    """Relative half-width of the interval at which it may stop before; None for never."""
    seed: int
    files: tuple[str, ...] = ()
    """SHA-256 of every file that the others name, so that another file is another question."""

    @property
    def words(self) -> str:
        """The cell in a few words, for names of folders and for people."""
        return ", ".join(filter(None, (self.source, self.engine, self.pattern)))

    @property
    def topology(self) -> str:
        """Names the fabric without its routes: the same for cells on the same fabric."""
        return _short((self.source, *self.files[:1]))

    @property
    def routed(self) -> str:
        """Names the fabric with its routes: the same for cells on the same routes."""
        return _short((self.source, self.routes, self.engine, *self.files[:2]))


class Record(msgspec.Struct, frozen=True):
    """``run.json`` of a simulated cell."""

    fabric: str
    """Name of the fabric."""
    engine: str
    """Its routing; "" for its own."""
    pattern: str
    """Name of the pattern."""
    status: Literal["done", "failed"]
    request: SimulatedCell
    cause: str = ""
    """Why it failed."""
    rated_bisection: float | None = None
    """That of the hosts that take part, as a fraction of full bisection."""
    scale: float = 1.0
    """What the averages may be multiplied by to take out the pattern's own ends."""
    averages: dict[str, SampleMean] = {}
    """Bandwidths as fractions of the link speed, by their names in a plan."""
    simulation: dict[str, Any] = {}
    """Everything of the simulation that is no array."""
    probe: str = "simulate"
    """What made it, as in the records of measured runs."""
    version: int = 1
    """Version of this form."""
    created: str = ""
    """Instant in ISO 8601 with its zone."""

    def scaled(self, average: str) -> SampleMean | None:
        """An average, multiplied by the scale; None where the cell failed."""
        plain = self.averages.get(average)
        return None if plain is None else plain.times(self.scale)


class _Scalars(msgspec.Struct, frozen=True):
    """What every record of a cell that is done has of its simulation."""

    samples: int
    seed: int
    elapsed_s: float


class _Averages(msgspec.Struct, frozen=True):
    """What every record of a cell that is done has of averages."""

    effective_bandwidth: SampleMean
    of_mean_congestion: SampleMean
    of_max_congestion: SampleMean


@dataclass(frozen=True)
class SimulatedOutcome:
    """A cell that has ended; its samples stay on the disk until they are asked for."""

    record: Record
    path: Path

    def simulation(self) -> Simulation:
        """The whole simulation of a cell that is done.

        Raises:
            InputError: when the cell's files are not what `write_cell` writes.
        """
        samples = self.path.with_suffix(".npz")
        try:
            with samples.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            values = dict(self.record.simulation)
            values["fabric"] = FabricSize(**values.get("fabric", {}))
            values["links"] = tuple(Links(**links) for links in values.get("links", ()))
            return Simulation(**values, **arrays)
        except _DAMAGED as error:
            raise InputError(str(samples), 0, "the samples of a cell", str(error)) from None
        except TypeError:
            got = "those of another version; remove the cell to have it run again"
            raise InputError(str(self.path), 0, "the keys of a simulation", got) from None


def record_of(
    names: tuple[str, str, str],
    request: SimulatedCell,
    simulation: Simulation | None,
    rated: float | None = None,
    cause: str = "",
) -> Record:
    """The record of a cell that is named by fabric, engine and pattern.

    Args:
        names: these three.
        request: what was asked for.
        simulation: None where there is none.
        rated: see `Record`.
        cause: why there is none.
    """
    record = Record(
        *names,
        "failed",
        request,
        cause,
        rated,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if simulation is None:
        return record
    values = _values(simulation).items()
    return replace(
        record,
        status="done",
        scale=simulation.scale,
        averages={average: simulation.averaged(average) for average in Average},
        simulation={name: value for name, value in values if not isinstance(value, np.ndarray)},
    )


def write_cell(path: Path, record: Record, simulation: Simulation | None) -> None:
    """Writes a cell; its JSON file comes last, so that a cell with one is whole."""
    if simulation is not None:
        values = _values(simulation).items()
        arrays: dict[str, Any] = {n: v for n, v in values if isinstance(v, np.ndarray)}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        write_whole(path.with_suffix(".npz"), buffer.getvalue())
    write_whole(path, json_text(record))


def read_record(path: Path) -> Record:
    """Reads a cell's JSON file.

    Raises:
        InputError: when it is not what `write_cell` writes.
    """
    try:
        record = read_json(path, Record, "a cell of a study")
        if record.status == "done":
            msgspec.convert(record.simulation, _Scalars)
            msgspec.convert(msgspec.to_builtins(record.averages), _Averages)
    except msgspec.ValidationError as error:
        raise InputError(str(path), 0, "a cell of a study", str(error)) from None
    return record


def _values(simulation: Simulation) -> dict[str, Any]:
    """What is kept of a simulation; of its fabric the size alone."""
    values = {column.name: getattr(simulation, column.name) for column in fields(simulation)}
    return values | {"fabric": plain(simulation.fabric)}


def _short(words: Sequence[str | None]) -> str:
    return hashlib.sha256(msgspec.json.encode(words)).hexdigest()[:16]


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

    @told
    def study(self) -> str:
        """Name of the plan."""
        return self.plan.name

    @told
    def run(self) -> str:
        """Folder of the study."""
        return str(self.folder)

    @told
    def average(self) -> str:
        """The average that the plan compares."""
        return self.plan.average

    @told
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, as the plan says it."""
        return self.plan.notes

    @told
    def cells(self) -> list[StudyCell]:
        """One for each fabric, engine and pattern."""
        return [_cell(self.plan, record) for record in self.records]

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
