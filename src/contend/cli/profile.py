"""``contend profile``: records what an MPI program communicates, and says where its time goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from contend import profiling, report
from contend.base.errors import ShortfallError
from contend.base.progress import shown_steps, step
from contend.base.units import parse_size
from contend.cli.options.option import Bytes, Option, labels, parsed
from contend.cli.options.outputs import ProgramOutputs
from contend.cli.options.shared import OUTPUT, LabelOption
from contend.cli.options.where import CommandArgument, Started, Where


def profile(
    command: CommandArgument,
    started: Started,
    where: Where,
    outputs: ProgramOutputs,
    output: Annotated[
        Path | None,
        OUTPUT(
            ": a new folder for the profile, which all hosts see.",
            default="contend-runs/profile-DATE-NUMBER",
        ),
    ] = None,
    label: LabelOption = None,
    record: Annotated[
        Bytes | None,
        Option(
            ("--record",),
            "SIZE",
            "Size limit of a rank's record, in memory and on the disk",
            parsed("--record", parse_size),
        )(
            "16MiB hold 250,000 events: a call is one, and each message that it completes. Of "
            "longer runs the first half of them is kept, and then the longest waits.",
            default="16MiB",
        ),
    ] = None,
) -> None:
    """Record what an MPI program communicates, and show where its time in MPI goes.

    Put this before any command that starts MPI programs; the program stays as it is. With -n,
    contend starts the ranks itself. The exit status is the command's; contend prints its own lines
    to standard error.

    Example: contend profile -- mpirun -n 64 ./app
    """
    started.check(command, where)
    job = profiling.RecordedJob(
        tuple(command), mpi=started.mpi, labels=labels(label), memory=record
    )
    with (
        started.seated(where, outputs.console) as (shape, place),
        merging() as progress,
    ):
        job = replace(job, shape=shape, place=place)
        outcome = profiling.run_recorded(job, output, output=outputs.of_program, progress=progress)
    if outcome.profile is not None:
        outputs.deliver(report.recorded_document([outcome.profile, *outcome.others]))
    _leave(outcome)


@contextmanager
def merging() -> Iterator[Callable[[int, int], None]]:
    """A bar of records that are merged, if that lasts."""
    with shown_steps(), step("merging records") as tell:
        yield lambda done, total: tell(done / max(total, 1))


def _leave(outcome: profiling.RecordingOutcome) -> None:
    """Ends as the command ended.

    Raises:
        ShortfallError: the command was done, but nothing was recorded.
    """
    if outcome.interruption is not None:
        raise outcome.interruption
    if outcome.profile is None:
        if not outcome.status:
            raise ShortfallError(outcome.why)
        print(f"contend: {outcome.why}", file=sys.stderr)
    raise typer.Exit(outcome.status or 0)
