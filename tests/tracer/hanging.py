"""Where ranks of a program that hangs are, as their records tell while it runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from contend.base.errors import InputError
from contend.profiling.record_file import RankRecord, read_record
from contend.profiling.record_form import NO_CALL, State

OUT = "MPI"
"""Stands for a rank that is in no call of MPI."""


def left_records(folder: Path) -> list[RankRecord]:
    """Of ranks that have begun to write one."""
    records = []
    for path in sorted(folder.glob("*.record")):
        with suppress(InputError):
            records.append(read_record(path))
    return records


def place(record: RankRecord) -> str:
    """The routine that a rank is in, once it has passed its first barrier."""
    barrier = [cell for cell in record.cells if record.routines[cell["routine"]] == "MPI_Barrier"]
    if record.state is State.EXITED or not len(record.threads) or not barrier:
        return "begins"
    routine = int(record.threads[0]["routine"])
    return OUT if routine == NO_CALL else record.routines[routine].removeprefix("MPI_")
