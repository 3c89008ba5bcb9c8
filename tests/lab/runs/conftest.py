"""Cells with samples that a test chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.lab.runs import CellSummary, LaunchRecord, Run, RunRecord
from sample_files import Launch

MakeCells = Callable[..., tuple[CellSummary, ...]]


@pytest.fixture
def make_cells(tmp_path: Path) -> MakeCells:
    """`make_cells({("linear", 1024): times, ...})` summarises them as cells of two ranks.

    Times are an array, or a list of arrays, one for each launch.
    """
    number = 0

    def make(
        measured: dict[tuple[str, int], Any], ranks: int = 2, **labels: Any
    ) -> tuple[CellSummary, ...]:
        nonlocal number
        number += 1
        launches = max(len(_launches(times)) for times in measured.values())
        records = tuple(LaunchRecord(at, ranks) for at in range(launches))
        run = Run.create(tmp_path / f"run-{number}", RunRecord("alltoall", launches=records))
        for at in range(launches):
            launch = Launch(ranks)
            for (algorithm, size), times in measured.items():
                if at < len(_launches(times)):
                    values = _launches(times)[at]
                    launch.cell(values, warmups=0, algorithm=algorithm, bytes=size, **labels)
            launch.write(run.raw_path(at))
        return run.fold().summaries

    return make


def _launches(times: Any) -> Sequence[np.ndarray]:
    return times if isinstance(times, list) else [times]
