"""The simulation held against a network: fabrics emulated, measured, and compared pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import polars as pl

from contend.emulation import EmulatedHosts, bring_up
from contend.errors import ContendError, InputError, MissingError, ShortfallError, UsageError
from contend.fabric import Fabric
from contend.files import read_json, write_whole
from contend.loading import load
from contend.measurement import (
    Agreement,
    BisectWork,
    DrawnAgreement,
    Measured,
    MeasuredCell,
    MeasuredWork,
    RealHosts,
    compared_pairs,
)
from contend.runs import Run
from contend.schema import LeftOut, PythonOnly, Rate, Spread
from contend.session import Observer, Session
from contend.shown import Shown
from contend.studies.simulated import beside_plan, digest
from contend.studies.verification_plan import Case, VerificationPlan

_RUNS = "runs"
_HOSTS = "hosts.json"
# Starting ranks and bringing patterns into order takes its time beside sending.
_LEAST_BUDGET_S, _BUDGET = 300.0, 10.0


@dataclass(frozen=True, eq=False)
class Verified:
    """A fabric of the study ``verification``."""

    fabric: str
    """Its name in the study."""
    source: str
    """What describes it."""
    engine: str | None
    """What computed its routes; null is its own."""
    rate_Bps: Rate
    """Bytes per second of an emulated cable."""
    pairs: PythonOnly[pl.DataFrame]
    """Its messages, see `contend.measurement.MeasuredPairs`."""


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
        about = (case.name, case.source, case.engine, rate, found.messages)
        if isinstance(found.agreement, DrawnAgreement):
            return DrawnFabric(*about, found.agreement)
        assert found.agreement is not None
        return VerifiedFabric(*about, found.agreement)
    except (MissingError, UsageError):
        raise
    except ContendError as error:
        return f"{case.name}: {error}"


def verified_cell(case: Case, plan: VerificationPlan, fabric: Fabric, beside: Path) -> MeasuredCell:
    """What is asked of a case: all that decides its figures, as it was asked for."""
    work = BisectWork(plan.patterns, two_way=plan.two_way, bytes=plan.bytes, packets=plan.packets)
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
        options=dict(work.workload.options),
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
