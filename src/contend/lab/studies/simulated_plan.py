"""A plan of simulations: patterns on fabrics, numbers known elsewhere, recorded applications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta, Struct, field

from contend.base.errors import InputError, UsageError
from contend.base.units import nearest
from contend.congestion import Average
from contend.lab.studies.plan import (
    Count,
    Name,
    Precision,
    StudyPlan,
    Text,
    check_each_once,
    check_only,
)

_Percent = Annotated[float, Meta(gt=0, le=100)]
Source = Annotated[Text, Meta(min_length=1)]


class FabricEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A fabric of the plan."""

    name: Name
    """What it is called in tables and figures."""
    source: Source
    """Generator or topology file."""
    routes: Text | None = None
    """File of forwarding tables."""
    engines: tuple[Text, ...] | None = None
    """Routings to compute; None takes the plan's, or the fabric's own when it has `routes`. An
    empty name stands for the fabric's own routes."""


class PatternEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern of the plan; what is None is taken from the plan."""

    name: Name
    """What it is called in tables and figures."""
    pattern: Source
    """Specification, such as ``neighbour:6``."""
    placement: Text | None = None
    """Which rank runs on which host."""
    samples: Count | None = None
    """Number of patterns and placements to draw."""
    fabrics: tuple[Text, ...] | None = None
    """Names of the fabrics it runs on; None is all."""


class Reference(Struct, frozen=True, forbid_unknown_fields=True):
    """A number known from elsewhere, printed beside ours."""

    fabric: Text
    """Name of a fabric of the plan."""
    pattern: Text
    """Name of a pattern of the plan."""
    percent: Annotated[float, Meta(gt=0, le=10_000)]
    """Bandwidth, in per cent of the link speed."""
    source: Name
    """Whose number it is."""
    engine: Text | None = None
    """Routing that it was found with; None: unknown, it stands beside every routing."""
    average: Average | None = None
    """Which average it is; None is the plan's."""


class ApplicationPart(Struct, frozen=True, forbid_unknown_fields=True):
    """Communication of an application that goes by one pattern."""

    routine: Name
    """What the application calls."""
    percent: _Percent
    """Share of the communication's time, in per cent."""
    pattern: Text = ""
    """Name of the pattern of the plan that it counts as; "" leaves it out."""
    run_time_percent: _Percent | None = None
    """Share of the run time, where the source says it otherwise than by the product of the two
    shares."""


class PrintedTime(Struct, frozen=True, forbid_unknown_fields=True):
    """What the source says of an application on a fabric."""

    fabric: Text
    """Name of a fabric of the plan."""
    percent: _Percent
    """Run time with full bandwidth, in per cent of today's."""


class Application(Struct, frozen=True, forbid_unknown_fields=True):
    """A recorded application."""

    name: Name
    """What it is called in tables."""
    source: Name
    """Whose record it is."""
    ranks: Count
    """Ranks of the recorded run."""
    seconds: Annotated[float, Meta(gt=0)]
    """Seconds of the recorded run."""
    percent: _Percent
    """Share of the run time that is communication, in per cent."""
    parts: Annotated[tuple[ApplicationPart, ...], Meta(min_length=1)] = field(name="part")
    """Parts of the communication."""
    rest: Text = ""
    """Name of the pattern that communication outside all parts counts as; "" leaves it out."""
    printed: tuple[PrintedTime, ...] = ()
    """What the source prints."""

    def patterns(self) -> set[str]:
        """Names of the patterns that its communication counts as."""
        return {name for name in (self.rest, *(part.pattern for part in self.parts)) if name}

    def shares(self) -> dict[str, float]:
        """Fractions of the run time by the patterns that they count as."""
        shares = dict.fromkeys(sorted(self.patterns()), 0.0)
        left = self.percent
        for part in self.parts:
            percent = part.run_time_percent or self.percent * part.percent / 100
            left -= percent
            if part.pattern:
                shares[part.pattern] += percent / 100
        if self.rest:
            shares[self.rest] += max(0.0, left) / 100
        return shares

    def run_time(self, bandwidths: Mapping[str, float]) -> float:
        """Run time if every pattern had full bandwidth, as a fraction of today's.

        Each share of the run time shrinks by the bandwidth that its pattern gets today: 1 minus the
        sum of share * (1 - bandwidth). (Hoefler, Schneider, Lumsdaine 2008, section 5.2.)

        Args:
            bandwidths: effective bandwidths of all its patterns, as fractions of full bandwidth.
        """
        return 1 - sum(
            share * (1 - min(1.0, bandwidths[name])) for name, share in self.shares().items()
        )


class SimulatedPlan(StudyPlan, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole study of simulations."""

    kind: ClassVar[str] = "simulated"
    takes: ClassVar[frozenset[str]] = frozenset({"only", "samples", "precision", "seed"})

    fabrics: Annotated[tuple[FabricEntry, ...], Meta(min_length=1)] = field(name="fabric")
    """Fabrics in the order in which they run."""
    patterns: Annotated[tuple[PatternEntry, ...], Meta(min_length=1)] = field(name="pattern")
    """Patterns in the order in which they run."""
    engines: tuple[Text, ...] = ()
    """Routings for every fabric that names none."""
    placement: Text = "random"
    """Which rank runs on which host."""
    samples: Count = 10_000
    """Patterns and placements to draw for a cell."""
    precision: Precision | None = None
    """Relative half-width of the interval at which a cell may stop before."""
    average: Average = Average.EFFECTIVE_BANDWIDTH
    """Which average is compared first."""
    references: tuple[Reference, ...] = field(default=(), name="reference")
    """Numbers known from elsewhere."""
    applications: tuple[Application, ...] = field(default=(), name="application")
    """Recorded applications, whose loss follows from the bandwidths."""

    def engines_of(self, fabric: FabricEntry) -> tuple[str, ...]:
        """Routings of a fabric; an empty name stands for its own routes."""
        if fabric.engines is not None:
            return fabric.engines or ("",)
        return ("",) if fabric.routes is not None else self.engines or ("",)

    def patterns_of(self, fabric: FabricEntry) -> tuple[PatternEntry, ...]:
        """Patterns that run on a fabric."""
        return tuple(p for p in self.patterns if p.fabrics is None or fabric.name in p.fabrics)

    def cells(self) -> Iterator[PlanCell]:
        """All cells in the order in which they run: by fabric, routing, pattern."""
        for fabric in self.fabrics:
            for engine in self.engines_of(fabric):
                for pattern in self.patterns_of(fabric):
                    yield PlanCell(fabric, engine, pattern)

    def changed(
        self,
        *,
        only: tuple[str, ...] | None = None,
        samples: int | None = None,
        precision: float | None = None,
        seed: int | None = None,
    ) -> SimulatedPlan:
        """The plan with other values; None leaves the plan's.

        Args:
            only: names of the fabrics to keep.
            samples: for every cell, also of patterns that have their own number.
            precision: relative half-width of the interval at which a cell may stop before.
            seed: of all random choices.

        Raises:
            UsageError: the plan has no such fabric, or the precision is 0.
        """
        check_only(only, [fabric.name for fabric in self.fabrics])
        if precision == 0:
            raise UsageError("--precision: expected a share above 0: simulations stop there")
        patterns = self.patterns
        if samples is not None:
            patterns = tuple(msgspec.structs.replace(p, samples=None) for p in patterns)
        return msgspec.structs.replace(
            self,
            fabrics=tuple(f for f in self.fabrics if only is None or f.name in only),
            patterns=patterns,
            samples=self.samples if samples is None else samples,
            precision=self.precision if precision is None else precision,
            seed=self.seed if seed is None else seed,
        )

    def check(self, source: str) -> None:
        """Refuses names that are there twice, or that name nothing.

        Raises:
            InputError: naming `source` and the key.
        """
        super().check(source)
        check_each_once(source, "fabric", (fabric.name for fabric in self.fabrics))
        check_each_once(source, "pattern", (pattern.name for pattern in self.patterns))
        for fabric in self.fabrics:
            check_each_once(source, f"engine of {fabric.name}", self.engines_of(fabric))
        fabrics = {fabric.name for fabric in self.fabrics}
        for pattern in self.patterns:
            for name in pattern.fabrics or ():
                if name not in fabrics:
                    wanted = f"names of fabrics at fabrics of pattern {pattern.name}"
                    raise InputError(source, 0, wanted, f"{name}{nearest(name, fabrics)}")
        cells = {(cell.fabric.name, cell.pattern.name) for cell in self.cells()}
        routed = {(cell.fabric.name, cell.engine) for cell in self.cells()}
        for number, reference in enumerate(self.references, start=1):
            place = f"[[reference]] number {number}"
            if (reference.fabric, reference.pattern) not in cells:
                got = f"{reference.pattern} on {reference.fabric}"
                raise InputError(source, 0, f"a pattern and a fabric of the plan in {place}", got)
            engine = reference.engine
            if engine is not None and (reference.fabric, engine) not in routed:
                raise InputError(source, 0, f"an engine of that fabric in {place}", engine)
        check_each_once(source, "application", (entry.name for entry in self.applications))
        patterns = {pattern.name for pattern in self.patterns}
        for application in self.applications:
            place = f"application {application.name}"
            for name in sorted(application.patterns() - patterns):
                got = f"{name}{nearest(name, patterns)}"
                raise InputError(source, 0, f"patterns of the plan in {place}", got)
            for printed in application.printed:
                if printed.fabric not in fabrics:
                    got = f"{printed.fabric}{nearest(printed.fabric, fabrics)}"
                    raise InputError(source, 0, f"fabrics of the plan in {place}", got)


@dataclass(frozen=True)
class PlanCell:
    """One pattern on one fabric under one routing; what a study counts in."""

    fabric: FabricEntry
    engine: str
    pattern: PatternEntry

    @property
    def label(self) -> str:
        """The cell for people."""
        return ", ".join(filter(None, (self.fabric.name, self.engine, self.pattern.name)))
