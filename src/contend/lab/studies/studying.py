"""Plans of any kind carried out, as ``contend study`` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from contend.base.errors import Argument, UsageError
from contend.lab.measurement import Place, RealHosts, place_of
from contend.lab.session import Observer
from contend.lab.studies.measured import MeasuredStudy, run_measurements
from contend.lab.studies.measured_plan import MeasuredPlan
from contend.lab.studies.memory import PredictedMemory, predict_memory
from contend.lab.studies.plan import StudyPlan
from contend.lab.studies.plan_file import changed_plan, find_plan, read_plan
from contend.lab.studies.simulated import run_simulations
from contend.lab.studies.simulated_plan import SimulatedPlan
from contend.lab.studies.simulated_study import SimulatedStudy
from contend.lab.studies.verification import VerificationPlan, VerifiedStudy, run_verification

Study: TypeAlias = SimulatedStudy | MeasuredStudy | VerifiedStudy | PredictedMemory


def study(
    plan: str | Path | StudyPlan,
    *,
    on: str | Path | Sequence[str] | Place | None = None,
    launcher: str = "",
    output: str | Path | None = None,
    retry: bool = False,
    progress: Observer | None = None,
    **options: Any,
) -> Study:
    """Carries out a plan, as ``contend study`` does: simulates, measures, or verifies.

    Results are kept as they are made; the same call goes on with a study that was interrupted.

    Args:
        plan: one of contend's studies by name, a TOML file, or what `lab.studies.read_plan`
            made of one.
        on: where a plan of measurements runs: a host file, names of hosts, or a place such as an
            emulated fabric; None for this machine, or the hosts of the job that this runs in.
        launcher: ``srun``, ``sbatch``, or the beginning of a command line; "" for the library's.
        output: folder of the results; None for one in the current folder that has the plan's name.
        retry: make cells again that failed before.
        progress: is told what happens.
        **options: what is to be otherwise than the plan says, such as ``only="chic"``,
            ``samples=1000`` or ``bytes="1K:1M"``: those of the command line, with ``_`` for ``-``.
            With ``predict=True`` nothing runs, and the memory that sorts need is predicted.

    Returns:
        Its cells, with verdict, tables, figures and record as the command line tells them.

    Raises:
        UsageError: for what does not fit together.
        MissingError: the machine lacks an MPI library, a compiler, rights, or room.
    """
    beside = Path()
    if not isinstance(plan, StudyPlan):
        path = find_plan(str(plan))
        plan, beside = read_plan(path), path.parent
    if places := sorted(plan.places.intersection(options)):
        raise UsageError(
            Argument(places[0]),
            ": ",
            Argument("on"),
            " is where a study measures, with all that is so there",
        )
    predicted = options.pop("predict", False)
    plan = changed_plan(plan, options)
    if predicted and isinstance(plan, MeasuredPlan):
        return predict_memory(plan, options)
    place = place_of(on, launcher)
    if isinstance(on, str | Path) and isinstance(place, RealHosts):
        place = replace(place, described=str(on))
    folder = Path(plan.name) if output is None else Path(output)
    return carry_out(plan, folder, place, beside=beside, retry=retry, observer=progress)


def carry_out(
    plan: StudyPlan,
    folder: Path,
    place: Place,
    *,
    beside: Path,
    retry: bool = False,
    observer: Observer | None = None,
) -> Study:
    """Carries out a plan of any kind.

    Args:
        plan: with all that options changed.
        folder: where results are kept.
        place: where a plan of measurements runs.
        beside: where files that the plan names are looked for first.
        retry: make cells again that failed before.
        observer: is told what happens.
    """
    if isinstance(plan, MeasuredPlan):
        if isinstance(place, RealHosts) and place.free_memory is None:
            place = replace(place, free_memory=plan.memory)
        return run_measurements(plan, folder, place, retry=retry, observer=observer)
    if isinstance(plan, VerificationPlan):
        return run_verification(plan, folder, beside=beside, retry=retry, observer=observer)
    assert isinstance(plan, SimulatedPlan)
    return run_simulations(plan, folder, beside=beside, retry=retry, observer=observer)
