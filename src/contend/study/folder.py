"""The folder of a study's run: its plan, its routed fabrics, a file for every cell."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec

from contend.congestion import Simulation
from contend.errors import InputError, UsageError
from contend.files import write_whole
from contend.study.plan import Cell, Plan
from contend.study.record import Outcome, Record, Request, read_record, write_cell

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 60


class RunFolder:
    """Results reach the disk as they are made; what is there is not made again.

    ``plan.json`` is the plan as it last ran, ``fabrics/`` holds routed fabrics and their rated
    bisection, ``cells/`` the results.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        """Opens or makes the folder.

        Raises:
            UsageError: when it cannot be made, or two cells of the plan would share a file.
        """
        self.path = path
        self._plan = plan
        for file, count in Counter(self.cell_path(cell).name for cell in plan.cells()).items():
            if count > 1:
                raise UsageError(f"plan {plan.name}: {count} cells would be {file}: rename some")
        try:
            for name in ("cells", "fabrics"):
                (path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None
        text = msgspec.json.format(msgspec.json.encode(plan), indent=2)
        write_whole(path / "plan.json", text + b"\n")

    def request(self, cell: Cell) -> Request:
        """What the plan asks of a cell."""
        plan, pattern = self._plan, cell.pattern
        return Request(
            source=cell.fabric.source,
            routes=cell.fabric.routes,
            engine=cell.engine,
            pattern=pattern.pattern,
            placement=plan.placement if pattern.placement is None else pattern.placement,
            samples=plan.samples if pattern.samples is None else pattern.samples,
            precision=plan.precision,
            seed=plan.seed,
        )

    def kept(self, cell: Cell) -> Record | None:
        """The record of a cell that has ended before.

        Raises:
            UsageError: when it was asked for otherwise.
        """
        path = self.cell_path(cell)
        if not path.exists():
            return None
        record = read_record(path)
        wanted = self.request(cell)
        if record.request != wanted:
            differing = next(
                key
                for key in Request.__struct_fields__
                if getattr(record.request, key) != getattr(wanted, key)
            )
            raise UsageError(
                f"{path} was made with {differing} {getattr(record.request, differing)}, "
                f"not {getattr(wanted, differing)}: choose another folder with --out"
            )
        return record

    def keep(self, cell: Cell, record: Record, simulation: Simulation | None = None) -> None:
        """Writes a cell that has ended."""
        write_cell(self.cell_path(cell), record, simulation)

    def outcomes(self) -> list[Outcome]:
        """All cells of the plan that have ended, in the plan's order."""
        paths = [self.cell_path(cell) for cell in self._plan.cells()]
        return [Outcome(read_record(path), path) for path in paths if path.exists()]

    def cell_path(self, cell: Cell) -> Path:
        """File of a cell."""
        names = (cell.fabric.name, cell.engine or "own", cell.pattern.name)
        return self.path / "cells" / f"{'.'.join(map(_file_name, names))}.json"

    def fabric_path(self, cell: Cell) -> Path:
        """File of a cell's routed fabric."""
        names = (cell.fabric.name, cell.engine or "own")
        return self.path / "fabrics" / f"{'.'.join(map(_file_name, names))}.fabric"

    def rated(self, cell: Cell) -> float | None:
        """Rated bisection of a cell's fabric, where it has been found before."""
        path = self._rated_path(cell)
        if not path.exists():
            return None
        try:
            return msgspec.json.decode(path.read_bytes(), type=float)
        except msgspec.DecodeError as error:
            raise InputError(str(path), 0, "a number", str(error)) from None

    def keep_rated(self, cell: Cell, rated: float) -> None:
        """Writes the rated bisection of a cell's fabric."""
        write_whole(self._rated_path(cell), msgspec.json.encode(rated))

    def _rated_path(self, cell: Cell) -> Path:
        return self.path / "fabrics" / f"{_file_name(cell.fabric.name)}.rated.json"


def _file_name(name: str) -> str:
    return _UNFIT.sub("-", name).strip("-")[:_LONGEST]
