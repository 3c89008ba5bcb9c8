"""Carries out a measurement: from what somebody wants to know to runs that say it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from contend.errors import ShortfallError, UsageError
from contend.measurement.conditions import Conditions
from contend.measurement.folder import (
    folders_of,
    new_folder,
    read_request,
    refuse_occupied,
    write_request,
)
from contend.measurement.memory import check_memory
from contend.measurement.new_record import new_record, new_request
from contend.measurement.observer import Observer
from contend.measurement.place import Place, RealHosts
from contend.measurement.ready import check_launcher, compiled
from contend.measurement.series import Series
from contend.measurement.session import Session
from contend.measurement.shape import make_shapes
from contend.measurement.step import Plan, make_steps
from contend.measurement.workload import Workload
from contend.mpi import Library, select
from contend.runs import Run, Warned, find_runs


def measure_workload(
    workload: Workload,
    conditions: Conditions,
    *,
    libraries: Sequence[str | Library | None] = (None,),
    place: Place | None = None,
    folder: Path | None = None,
    observer: Observer | None = None,
) -> list[Run]:
    """Measures a workload under one library, or under several in turns.

    Args:
        workload: what the probe is to do.
        conditions: on how many ranks, how often, how long.
        libraries: names, folders or wrappers, see `contend.mpi.select`; or libraries that
            have been tried before.
        place: where; None for this machine, or the hosts that a job of a batch system has.
        folder: of the run, or of the runs of several libraries; None for a new one in
            ``contend-runs``.
        observer: is told what happens.

    Returns:
        A run for every library. Launches that failed are in their records.

    Raises:
        UsageError: for what does not fit together.
        MissingError: the machine lacks a library, a compiler, memory, a launcher, or room for
            samples.
        ShortfallError: no launch left a sample.
    """
    place = place or RealHosts()
    observer = observer or Observer()
    if folder is not None:
        refuse_occupied(folder)
    shapes = make_shapes(
        conditions.ranks, conditions.ranks_per_host, place.slots, alone=place.alone
    )
    checked = [check_memory(workload, shape, place) for shape in shapes]
    warnings = [warning for warning in checked if warning is not None]
    warnings += [Warned("place", remark) for remark in place.remarks]
    found = _chosen(libraries, place)
    if place.launcher or not place.alone:
        for library in found:
            check_launcher(library, shapes[0], place, observer)
    programs = [compiled(library, workload.probe, observer) for library in found]
    target = folder or new_folder(workload.probe, datetime.now(UTC).date())
    series = []
    for library, program, path in zip(found, programs, folders_of(target, found), strict=True):
        record = new_record(workload, conditions, library, place, warnings)
        series.append(Series(library, program, Run.create(path, record)))
        write_request(path, new_request(workload, conditions, library, place))
    for warning in warnings:
        observer.warned(warning)
    steps = make_steps(len(series), shapes, conditions.launches, conditions.seed)
    plan = Plan(workload.probe, tuple(found), steps, conditions.budget, target)
    return _run(plan, workload, place, series, observer)


def resume(
    folder: Path,
    *,
    place: Place | None = None,
    budget: float | None = None,
    observer: Observer | None = None,
) -> list[Run]:
    """Goes on with a measurement: launches that are complete are not run again.

    Args:
        folder: of the run, or of the runs of several libraries.
        place: where it ran, when that was no real host.
        budget: seconds for what is left; None for what it was for all.
        observer: is told what happens.

    Raises:
        UsageError: nothing is there to go on with, or `place` is another.
        ContendError: as of `measure_workload`.
    """
    observer = observer or Observer()
    paths = find_runs(folder)
    asked = [read_request(path) for path in paths]
    first = asked[0]
    if any(replace(one, wrapper=first.wrapper) != first for one in asked):
        raise UsageError(f"{folder}: several measurements are here; name one")
    if place is None and not first.place:
        place = RealHosts(slots=first.slots, launcher=first.launcher)
    if place is None or place.name != first.place:
        raise UsageError(f"{folder}: ran on {first.place or 'real hosts'}; go on there")
    shapes = make_shapes(first.ranks, first.ranks_per_host, place.slots, alone=place.alone)
    series = []
    for path, request in zip(paths, asked, strict=True):
        library = select(request.wrapper, launched=bool(request.launcher))
        program = compiled(library, request.probe, observer)
        series.append(Series(library, program, Run.load(path)))
    done = [one.done() for one in series]
    steps = tuple(
        step
        for step in make_steps(len(series), shapes, first.launches, first.seed)
        if step.number not in done[step.series]
    )
    libraries = tuple(one.library for one in series)
    plan = Plan(first.probe, libraries, steps, budget or first.budget_s, folder)
    return _run(plan, Workload(first.probe, first.arguments), place, series, observer)


def _chosen(libraries: Sequence[str | Library | None], place: Place) -> list[Library]:
    found: list[Library] = []
    for wanted in libraries:
        library = (
            wanted if isinstance(wanted, Library) else select(wanted, launched=bool(place.launcher))
        )
        if any(library.file and library.file == other.file for other in found):
            raise UsageError(f"{library.name} {library.version} is asked for twice")
        found.append(library)
    return found


def _run(
    plan: Plan, workload: Workload, place: Place, series: Sequence[Series], observer: Observer
) -> list[Run]:
    observer.planned(plan)
    Session(workload, place, series, observer).run(plan)
    runs = [one.run for one in series]
    if plan.steps and all(run.samples.is_empty() for run in runs):
        failed = [launch.why for run in runs for launch in run.record.launches if launch.why]
        raise ShortfallError(f"nothing was measured: {(failed or ['no sample was written'])[0]}")
    return runs
