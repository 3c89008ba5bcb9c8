"""What every verb of measure tells at its end, whatever its probe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from contend.cli.measure.measuring import judged
from contend.congestion import hotspot as choose
from contend.lab.runs import LaunchRecord, PointError, Run, RunRecord
from contend.report import Document, hotspot_document
from contend.routes import load

KEPT = Path(__file__).resolve().parents[2] / "data" / "kept"


def _run(folder: Path, probe: str, *launches: LaunchRecord, **changes: object) -> Run:
    return Run.create(folder, RunRecord(probe, launches=launches, **changes))  # type: ignore[arg-type]


def _failures(runs: Sequence[Run]) -> str:
    return judged(Document(), runs).shortfall


@pytest.mark.parametrize("probe", ["alltoall", "hotspot", "bisect"])
def test_a_launch_that_failed_falls_short(probe: str, tmp_path: Path) -> None:
    good = Run.load(KEPT / probe)
    assert _failures([good]) == ""
    killed = LaunchRecord(0, 2, status="killed", why="rank 1 was ended by SIGKILL")
    bad = _run(tmp_path / "bad", probe, killed)
    assert "rank 1 was ended by SIGKILL" in _failures([good, bad])


def test_points_that_failed_are_named_and_those_that_make_no_sense_are_not(tmp_path: Path) -> None:
    unsuited = PointError("unsuited", "only for powers of two", 0, "bruck", 64)
    crashed = PointError("crash", "rank 3 was ended by SIGSEGV", 0, "linear", 1024)
    run = _run(tmp_path / "run", "alltoall", LaunchRecord(0, 2), errors=(unsuited, crashed))
    assert _failures([run]).endswith("linear of 1,024 bytes: rank 3 was ended by SIGSEGV")


def test_a_library_without_a_sample_leaves_the_others_their_report() -> None:
    run = Run.load(KEPT / "hotspot")
    record = msgspec.structs.replace(run.record, launches=(), cells=())
    failed = Run(run.folder, record, run.samples.clear())
    fabric = load("fig1", need_routes=True)
    spot = choose(fabric, 2)
    alone, both = (hotspot_document(runs, spot, fabric) for runs in ([run], [failed, run]))
    assert [table.title for table in both.tables] == [table.title for table in alone.tables]
    assert both.content() == alone.content()
