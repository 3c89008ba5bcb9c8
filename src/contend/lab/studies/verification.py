"""The simulation held against a network: fabrics emulated, measured, and compared pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
import polars as pl
from msgspec import Meta, Struct, field

from contend.base.errors import ContendError, InputError, MissingError, ShortfallError, UsageError
from contend.base.files import read_json, write_whole
from contend.base.schema import LeftOut, PythonOnly, Shown, Spread
from contend.base.schema import Rate as BytesPerSecond
from contend.fabric import Fabric
from contend.lab.emulation import EmulatedHosts, bring_up
from contend.lab.measurement import (
    Agreement,
    DrawnAgreement,
    Measured,
    MeasuredCell,
    MeasuredWork,
    RealHosts,
    bisect_options,
    compared_pairs,
)
from contend.lab.runs import Run
from contend.lab.session import Observer, Session
from contend.lab.studies.plan import (
    Name,
    Rate,
    Size,
    StudyPlan,
    Text,
    changed_by,
    check_each_once,
    check_only,
)
from contend.lab.studies.simulated import beside_plan, digest
from contend.routes import load

_RUNS = "runs"
_HOSTS = "hosts.json"
# Starting ranks and bringing patterns into order takes its time beside sending.
_LEAST_BUDGET_S, _BUDGET = 300.0, 10.0
# TCP headers, acknowledgements and the start of every message take their part of the wire.
_OF_WIRE = 0.9
# Random pairs on small fabrics get a little more than half of a link's rate.
_MEAN_SLOWEST = 2.5


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """A fabric that is emulated."""

    name: Name
    """What it is called in tables and figures."""
    source: Text
    """Generator or topology file."""
    routes: Text | None = None
    """File of forwarding tables."""
    engine: Text | None = None
    """What computes the routes; both None for the fabric's own."""

    @staticmethod
    def parse(text: str) -> Case:
        """A case as an option names it: ``FABRIC``, or ``FABRIC@ENGINE``."""
        source, _, engine = text.partition("@")
        return Case(text, source, engine=engine or None)


class VerificationPlan(StudyPlan, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole study that holds the simulation against emulated fabrics."""

    kind: ClassVar[str] = "emulated"
    takes: ClassVar[frozenset[str]] = frozenset(
        (
            "only",
            "case",
            "patterns",
            "bytes",
            "packets",
            "two_way",
            "rate",
            "buffer",
            "mpi",
            "seed",
        )
    )

    cases: Annotated[tuple[Case, ...], Meta(min_length=1)] = field(name="case")
    """Fabrics."""
    patterns: Annotated[int, Meta(ge=1, le=1_000_000)] = 40
    """Random bisect patterns on each fabric."""
    bytes: Size = 100 << 10
    """Bytes of a packet."""
    packets: Annotated[int, Meta(ge=1, le=1_000_000)] = 20
    """Packets that make up a message."""
    two_way: bool = False
    """Whether both ranks of a pair send."""
    rate: Rate = 12.5e6
    """Rate of every emulated cable each way."""
    buffer: Size = 200_000
    """Bytes that wait for an emulated channel at most."""
    mpi: Text | None = None
    """MPI library as ``--mpi`` takes it; None for the first usable one."""

    @property
    def least_seconds(self) -> float:
        """How long a fabric takes at least, from what its messages and cables are."""
        message = self.bytes * self.packets / (self.rate * _OF_WIRE)
        return self.patterns * message * _MEAN_SLOWEST

    def changed(
        self,
        *,
        only: tuple[str, ...] | None = None,
        case: tuple[str, ...] | None = None,
        bytes: tuple[str, ...] | None = None,  # noqa: A002
        mpi: tuple[str, ...] | None = None,
        **values: object,
    ) -> VerificationPlan:
        """The plan with other values, checked as a whole.

        Args:
            only: names of the cases to keep.
            case: cases in place of the plan's, as `Case.parse` takes them.
            bytes: one size.
            mpi: one library.
            values: for keys of the plan.

        Raises:
            UsageError: the plan has no such case, or there are several sizes or libraries.
            InputError: when the plan does not fit together any more.
        """
        cases = self.cases if case is None else tuple(map(Case.parse, case))
        check_only(only, [each.name for each in cases], between="; ")
        for option, given in (("bytes", bytes), ("mpi", mpi)):
            if given is not None:
                if len(given) > 1:
                    raise UsageError(f"--{option}: {self.name} takes one, got {len(given)}")
                values[option] = given[0]
        kept = tuple(each for each in cases if only is None or each.name in only)
        plan = msgspec.structs.replace(changed_by(self.name, self, values), cases=kept)
        plan.check(self.name)
        return plan

    def check(self, source: str) -> None:
        """Refuses names that are there twice, and sizes of nothing.

        Raises:
            InputError: naming `source` and the key.
        """
        super().check(source)
        check_each_once(source, "case", (case.name for case in self.cases))
        for key in ("bytes", "buffer", "rate"):
            if getattr(self, key) == 0:
                raise InputError(source, 0, f"a size above 0 at {key}", "0")


@dataclass(frozen=True, eq=False)
class Verified:
    """A fabric of the study ``verification``."""

    fabric: str
    """Its name in the study."""
    source: str
    """What describes it."""
    engine: str | None
    """What computed its routes; null is its own."""
    rate_Bps: BytesPerSecond
    """Bytes per second of an emulated cable."""
    pairs: PythonOnly[pl.DataFrame]
    """Its messages, see `lab.measurement.MeasuredPairs`."""


@dataclass(frozen=True, eq=False)
class VerifiedFabric(Verified):
    """A fabric whose measured bandwidths were compared with the simulation's."""

    agreement: Spread[Agreement]
    """Message by message."""


@dataclass(frozen=True, eq=False)
class DrawnFabric(Verified):
    """A fabric with hashed routes whose measured bandwidths were compared with simulated draws."""

    agreement: Spread[DrawnAgreement]
    """As distributions."""


@dataclass(frozen=True, eq=False, kw_only=True)
class VerifiedStudy(Shown, told="verification_document"):
    """The study ``verification``: the simulation, held against a network."""

    study: str = "verification"
    """Always ``verification``."""
    seed: int
    """Seed of every random choice."""
    results: list[VerifiedFabric]
    """One for each fabric whose routes are known."""
    drawn: LeftOut[list[DrawnFabric]]
    """One for each fabric whose routes a hash chose."""
    failures: PythonOnly[list[str]]
    """Fabrics of which nothing can be said, and why."""


def run_verification(
    plan: VerificationPlan,
    folder: Path,
    *,
    beside: Path,
    retry: bool = False,
    observer: Observer | None = None,
) -> VerifiedStudy:
    """Measures bisect patterns on every fabric, and predicts what messages get by its routes.

    What is kept in the folder is not measured again, and needs no emulation.

    Args:
        plan: what is sent on which fabrics, over which cables.
        folder: of the study.
        beside: where files that the plan names are looked for first.
        retry: measure again what failed before.
        observer: is told what happens.

    Raises:
        UsageError: for what does not fit together.
        MissingError: this machine cannot emulate, or lacks an MPI library.
    """
    told = observer or Observer()
    verified = [_verify(case, plan, folder, beside, retry, told) for case in plan.cases]
    return VerifiedStudy(
        seed=plan.seed,
        results=[one for one in verified if isinstance(one, VerifiedFabric)],
        drawn=[one for one in verified if isinstance(one, DrawnFabric)] or None,
        failures=[one for one in verified if isinstance(one, str)],
    )


def _verify(
    case: Case, plan: VerificationPlan, folder: Path, beside: Path, retry: bool, observer: Observer
) -> VerifiedFabric | DrawnFabric | str:
    """What came of a fabric, or why nothing did."""
    try:
        fabric = load(
            beside_plan(beside, case.source),
            routes=None if case.routes is None else beside_plan(beside, case.routes),
            route=case.engine,
            need_routes=True,
        )
        run, hosts = _measured(case, plan, fabric, folder, beside, retry, observer)
        found = compared_pairs(run, fabric, hosts)
        rate = run.record.wire_Bps or 0.0
        about = (case.name, case.source, case.engine, rate, found.bandwidths)
        if found.draws is not None:
            return DrawnFabric(*about, found.draws)
        assert found.agreement is not None
        return VerifiedFabric(*about, found.agreement)
    except (MissingError, UsageError):
        raise
    except ContendError as error:
        return f"{case.name}: {error}"


def verified_cell(case: Case, plan: VerificationPlan, fabric: Fabric, beside: Path) -> MeasuredCell:
    """What is asked of a case: all that decides its figures, as it was asked for."""
    options = bisect_options(
        patterns=plan.patterns, two_way=plan.two_way, bytes=plan.bytes, packets=plan.packets
    )
    place = {
        "fabric": case.source,
        "routes": case.routes or "",
        "engine": case.engine or "",
        "rate": f"{8 * plan.rate:.0f} bit/s",
        "buffer": f"{plan.buffer} B",
        "files": " ".join(digest(beside_plan(beside, n)) for n in (case.source, case.routes or "")),
    }
    return MeasuredCell(
        probe="bisect",
        options=options,
        ranks=(fabric.hosts,),
        mpi=plan.mpi or "",
        place={name: text for name, text in place.items() if text.strip()},
        seed=plan.seed,
    )


def _measured(
    case: Case,
    plan: VerificationPlan,
    fabric: Fabric,
    folder: Path,
    beside: Path,
    retry: bool,
    observer: Observer,
) -> tuple[Run, Sequence[int]]:
    """The run of a case, and the number in the fabric of every rank's host."""
    cell = verified_cell(case, plan, fabric, beside)
    observer.named({cell.key: case.name})
    budget = max(_LEAST_BUDGET_S, _BUDGET * plan.least_seconds)
    run_folder = folder / _RUNS / cell.folder_name
    kept = Measured(RealHosts()).open(cell, run_folder)
    hosts = _kept_hosts(run_folder / _HOSTS)
    if not kept.left(1, retry=retry) and hosts is not None:
        observer.kept(cell)
        return _with_samples(kept), hosts
    with bring_up(fabric, plan.rate, plan.buffer) as network:
        place = EmulatedHosts(network)
        session = Session(
            kind=plan.name,
            cells=(cell,),
            method=Measured(place, budget, strict=False, observer=observer),
            folder=folder,
            budget=budget,
            seed=plan.seed,
            below=_RUNS,
            plan=msgspec.to_builtins(plan),
            retry=retry,
            observer=observer,
        )
        (work,) = session.run().works
        assert isinstance(work, MeasuredWork)
        run = _with_samples(work)
        hosts = place.numbers_of(run.record.measured[0].rank_hosts)
    write_whole(run_folder / _HOSTS, msgspec.json.encode(hosts))
    return run, hosts


def _with_samples(work: MeasuredWork) -> Run:
    """The run of a case that was measured.

    Raises:
        ShortfallError: it was not.
    """
    run = work.run
    if run.samples.is_empty():
        reasons = [error.reason for error in run.findings.errors]
        raise ShortfallError((reasons or ["no sample was written"])[0])
    return run


def _kept_hosts(path: Path) -> list[int] | None:
    try:
        return read_json(path, list[int], "the number of every rank's host")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(str(path), 0, "the number of every rank's host", str(error)) from None
