"""A measured study's launches as the measurement makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from contend.errors import ShortfallError
from contend.measurement import Conditions, Observer, Place, Step, compiled, measure_workload
from contend.mpi import Library, select, this_machine
from contend.runs import LaunchRecord, Progress, Run
from contend.study.measured.attempts import PointName
from contend.study.measured.cell import Cell
from contend.study.measured.points import points_of
from contend.study.measured.record import Cause, Failure, Terms
from contend.study.measured.services import Attempt, OnProgress
from contend.study.measured.site import Site
from contend.study.measured.workloads import workload_of
from contend.study.measured_plan import MeasuredPlan
from contend.units import format_bandwidth, parse_rate

_CAUSES: dict[str, Cause] = {"killed": "crash", "timeout": "timeout", "skipped": "budget"}


@dataclass(frozen=True)
class RealLaunch:
    """Launches cells with MPI; see `contend.study.measured.services.Launch`.

    Attributes:
        place: where ranks run.
        site: the same, as the study sees it.
        wire: what a node's port carries, as the plan has it.
        libraries: those that have been tried, by the names that plans have for them.
    """

    place: Place
    site: Site
    wire: str | None = None
    libraries: dict[str, Library] = field(default_factory=dict)

    def prepare(self, cells: Sequence[Cell]) -> None:
        """Tries every MPI library once, and compiles its probes."""
        for name, probe in dict.fromkeys((cell.library, cell.probe) for cell in cells):
            if name not in self.libraries:
                self.libraries[name] = select(name or None, launched=bool(self.place.launcher))
            compiled(self.libraries[name], probe, Observer())

    def __call__(
        self,
        cell: Cell,
        points: Sequence[PointName],
        terms: Terms,
        *,
        folder: Path,
        budget_s: float,
        progress: OnProgress,
    ) -> Attempt:
        """Launches a cell for some of its points."""
        conditions = Conditions(
            ranks=(cell.ranks,),
            ranks_per_host=() if self.site.alone else (cell.ranks_per_node,),
            budget=budget_s,
            # Every launch brings the points into another order.
            seed=terms.seed + cell.launch,
            labels={"conditions": cell.conditions} if cell.conditions else {},
            wire=None if self.wire is None else parse_rate(self.wire),
        )
        failure: Failure | None = None
        with workload_of(cell, points, terms, alone=self.site.alone) as workload:
            try:
                measure_workload(
                    workload,
                    conditions,
                    libraries=(self.libraries[cell.library],),
                    place=self.place,
                    folder=folder,
                    observer=_Watcher(progress),
                )
            except ShortfallError as error:
                failure = Failure("launch", str(error))
        if failure is not None and not (folder / "run.json").is_file():
            return Attempt((), failure)
        return _attempt(Run.load(folder), points, failure)


class _Watcher(Observer):
    """Tells how far the only launch of a measurement is."""

    def __init__(self, progress: OnProgress) -> None:
        self._progress = progress

    def progressed(self, step: Step, progress: Progress) -> None:
        """Called now and then."""
        if progress.cells:
            self._progress(min(1.0, progress.ended / progress.cells))


def _attempt(run: Run, points: Sequence[PointName], failure: Failure | None) -> Attempt:
    """What a run says of the points that were asked of it."""
    launch = run.record.launches[-1] if run.record.launches else None
    if launch is not None and launch.status != "done":
        failure = failure_of(launch)
    found, cut = points_of(run)
    warnings = [warned.text for warned in run.record.warnings]
    if failure is not None and all(place in found for place in points):
        # All was measured before; it is no failure of any point.
        warnings.append(f"a launch ended badly after its last sample: {failure.said}")
    library = run.record.library
    return Attempt(
        points=tuple(found[place] for place in points if place in found),
        failure=failure,
        fatal=cut,
        library=f"{library.name} {library.version}".strip(),
        warnings=tuple(warnings),
    )


def failure_of(launch: LaunchRecord) -> Failure:
    """Why a launch ended before its time."""
    said = launch.why or launch.status
    if "memory" in said.lower() and launch.status == "failed":
        return Failure("memory", said)
    return Failure(_CAUSES.get(launch.status, "launch"), said)


def with_known_wire(plan: MeasuredPlan, place: Place) -> MeasuredPlan:
    """The plan with what a host's port carries where the place knows, unless it says so itself."""
    if plan.wire is not None or place.wire is None:
        return plan
    return msgspec.structs.replace(plan, wire=format_bandwidth(place.wire))


def site_of(place: Place, on: str, node_memory: int | None) -> Site:
    """A place as a study sees it.

    Args:
        place: where ranks run.
        on: what it is called on the command line; "" for this machine or the launcher's hosts.
        node_memory: bytes of a host where somebody said.
    """
    machine = this_machine()
    shared = place.alone or bool(place.name)
    return Site(
        on=place.described or on,
        hosts=len(place.slots) or (1 if place.alone else None),
        shared=shared,
        memory=node_memory if node_memory is not None else machine.memory if shared else None,
    )
