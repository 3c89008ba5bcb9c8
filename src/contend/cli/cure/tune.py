"""``contend tune``: rules for all-to-alls, learnt from what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend import cure, report
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import OUTPUT
from contend.report import Document

RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Runs of contend measure alltoall, or folders of several runs, such as studies.",
    ),
]
RulesFolderOption = Annotated[
    Path | None, OUTPUT(": the folder of the rules, which all hosts of a job must see.")
]


def tune(runs: RunsArgument, outputs: TextOutputs, output: RulesFolderOption = None) -> Document:
    """Learn which all-to-all is fastest for which ranks and sizes, and write rules for it.

    A rule is written only if a schedule is proven faster than the MPI library's own choice. Use the
    rules with contend run --tuned RULES or, within limits, with the library's own options.

    Example: contend tune contend-runs/alltoall-2026-11-21-1 -o rules
    """
    return report.tuning_document(cure.tune(runs, output=output))
