"""A small plan of measurements, and launches that answer at once and say what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from contend.study import Point
from contend.study.measured.cell import Cell
from contend.study.measured.services import Attempt

PLAN = """
name = "small"
budget_s = 100
label = "flow control=on"
wire = "1Gbit/s"

[[measure]]
name = "sort"
probe = "sort"
hosts = [1, 2]
ranks_per_host = [2]
vectors = 64
length = ["8", "8N"]

[[measure]]
name = "sweep"
probe = "alltoall"
ranks = [4]
ranks_per_host = [1, 2]
bytes = [16, "1K:4K"]
algorithm = ["library", "shift"]

[[reference]]
source = "paper"
measure = "sort"
vectors = 64
ranks_per_host = 2
length = "8N"
hosts = [1, 2, 3]
seconds = [0.5, 0.25, "ERR"]

[[reference]]
source = "2005"
library = "LAM"
measure = "sweep"
ranks = 4
ranks_per_host = 1
bytes = "1K"
algorithm = "library"
rate = "2 MiB/s"

[[table]]
title = "Of 1 KiB"
measure = "sweep"
head = "CPUs/node"
columns = ["MPI_Alltoall", "own"]

[[table.row]]
label = "1"
ranks = 4
ranks_per_host = 1
bytes = "1K"
algorithms = ["library", "shift"]
"""


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(PLAN)
    return path


@dataclass
class Launches:
    """Launches that succeed at once, but for cells that `answers` has another answer for."""

    prepared: list[str] = field(default_factory=list)
    asked: list[tuple[str, list[Any], float]] = field(default_factory=list)
    answers: dict[str, list[Callable[[Path], Attempt]]] = field(default_factory=dict)

    def prepare(self, cells: Sequence[Cell]) -> None:
        self.prepared = [cell.file_name for cell in cells]

    def __call__(
        self, cell: Cell, points: Sequence[Any], terms: Any, *, folder: Path, budget_s: float,
        progress: Callable[[float], None],
    ) -> Attempt:  # fmt: skip
        self.asked.append((cell.file_name, list(points), budget_s))
        progress(1.0)
        if waiting := self.answers.get(cell.file_name):
            return waiting.pop(0)(folder)
        folder.mkdir(parents=True)
        return Attempt(done(points), library="Test MPI 1.0")


def done(points: Sequence[Any]) -> tuple[Point, ...]:
    return tuple(Point(*place, samples=6, median_s=0.5, ended="precision") for place in points)


@pytest.fixture
def launches() -> Launches:
    return Launches()
