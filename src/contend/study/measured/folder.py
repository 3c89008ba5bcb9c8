"""The folder of a measured study: its plan, a file for every cell, the runs with their samples."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from contend.errors import UsageError
from contend.files import write_whole
from contend.study.measured.cell import Cell
from contend.study.measured.record import Record, Terms, read_record, write_record
from contend.study.measured_plan import MeasuredPlan


class StudyFolder:
    """Cells reach the disk as they end; what is there is not run again.

    ``plan.json`` is the plan as it last ran, ``cells/`` has the results, ``runs/`` the run folders
    that `contend report` reads.
    """

    def __init__(self, path: Path, plan: MeasuredPlan) -> None:
        """Opens or makes the folder.

        Raises:
            UsageError: when it cannot be made.
        """
        self.path = path
        self._plan = plan
        try:
            for name in ("cells", "runs"):
                (path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None
        text = msgspec.json.format(msgspec.json.encode(plan), indent=2)
        write_whole(path / "plan.json", text + b"\n")

    def kept(self, cell: Cell, terms: Terms) -> Record | None:
        """The record of a cell that has ended before.

        Raises:
            UsageError: when it was asked for otherwise.
        """
        path = self._cell_path(cell)
        if not path.exists():
            return None
        record = read_record(path)
        pairs = ((record.cell, cell), (record.terms, terms))
        for there, wanted in pairs:
            for key in there.__struct_fields__:
                if (old := getattr(there, key)) != (new := getattr(wanted, key)):
                    raise UsageError(
                        f"{path} was made with {key} {_words(old)}, not {_words(new)}: "
                        "choose another folder with --out"
                    )
        return record

    def keep(self, record: Record) -> None:
        """Writes a cell that has ended."""
        write_record(self._cell_path(record.cell), record)

    def new_run(self, cell: Cell, attempt: int) -> Path:
        """Where a launch is to put its run; what an interrupted one left there is removed."""
        path = self.path / self.run_name(cell, attempt)
        if path.exists():
            shutil.rmtree(path)
        return path

    def run_name(self, cell: Cell, attempt: int) -> str:
        """Name of a run folder below this one; a launch that was begun again has several."""
        again = f".again-{attempt}" if attempt else ""
        return f"runs/{cell.file_name}{again}"

    def records(self) -> list[Record]:
        """All cells of the plan that have ended, under all conditions, in the plan's order."""
        by_name: dict[str, list[Record]] = {}
        for path in sorted((self.path / "cells").glob("*.json")):
            record = read_record(path)
            by_name.setdefault(_without_conditions(record.cell), []).append(record)
        return [
            record
            for cell in self._plan.cells()
            for record in by_name.get(_without_conditions(cell), [])
        ]

    def _cell_path(self, cell: Cell) -> Path:
        return self.path / "cells" / f"{cell.file_name}.json"


def _without_conditions(cell: Cell) -> str:
    return msgspec.structs.replace(cell, conditions="").file_name


def _words(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)
