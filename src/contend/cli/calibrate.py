"""``contend calibrate``: what messages cost, taken from measurements."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from contend import prediction, report
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import BudgetOption, MpiOption, RunFolderOption, SeedOption
from contend.cli.options.where import Where
from contend.cli.watching import watched_run
from contend.lab import measurement, session
from contend.report import Document


def calibrate(
    where: Where,
    outputs: TextOutputs,
    mpi: MpiOption = None,
    budget: BudgetOption = None,
    seed: SeedOption = 1,
    output: RunFolderOption = None,
) -> Document:
    """Measure what messages cost, for contend predict.

    Measures ping-pongs and streams between two hosts and within one host; on an emulated fabric
    also all-to-alls of four ranks. Use a crossbar, or hosts on one leaf switch.

    Example: contend calibrate --on emulated:crossbar:4 --rate 50Mbit --output costs
    """
    folder = output or session.new_folder("calibrate", datetime.now(UTC).date())
    with where.place(outputs.console) as place, watched_run(outputs.console) as observer:
        calibration = prediction.calibrate(
            place,
            mpi=mpi,
            budget=measurement.DEFAULT_BUDGET if budget is None else budget,
            seed=seed,
            output=folder,
            progress=observer,
        )
    kept = (f"kept in {folder / prediction.FILE}",)
    return replace(report.calibration_document(calibration), closing=kept)
