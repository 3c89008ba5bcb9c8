"""``contend tune``: rules for all-to-alls, learnt from what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from contend.cli.common import console_for, write_json
from contend.cli.options import OUTPUT, JsonOption
from contend.cure import tune as learn_rules
from contend.report import print_tables, tuning_json, tuning_table, tuning_verdict

RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Run folders of contend measure alltoall, or folders that hold some, such as studies.",
    ),
]
RulesFolderOption = Annotated[
    Path | None, OUTPUT(": the folder of the rules, which all hosts of a job must see.")
]


def tune(runs: RunsArgument, output: RulesFolderOption = None, json: JsonOption = None) -> None:
    """Learn which all-to-all wins for which ranks and bytes, and write rules that apply it.

    A rule stands only where a schedule is proven faster than the MPI library's own choice. Rules
    work by contend run --tuned RULES, or as far as it goes by the library's own means.

    Example: contend tune contend-runs/alltoall-2026-11-21-1 -o rules
    """
    lessons = learn_rules(runs, output=output)
    console = console_for(json)
    console.print(Text(tuning_verdict(lessons), style="bold"), soft_wrap=True)
    console.print()
    print_tables(console, [tuning_table(lessons)])
    if output is not None:
        console.print(Text(f"written to {output}: contend run --tuned {output} -- COMMAND"))
    write_json(json, tuning_json(lessons, "" if output is None else str(output)))
