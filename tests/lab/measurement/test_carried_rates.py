"""What cables between switches let a rank send, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import contend
from contend.lab.measurement import PATTERNS, RealHosts, carried
from contend.lab.runs import LaunchRecord, Run, RunRecord
from sample_files import Launch

WIRE = 2.5e6


@pytest.mark.parametrize(
    ("probe", "labels", "share"),
    [
        # Two hosts of a leaf send two messages each over its only cable, and three in all.
        ("alltoall", {"counts": "even"}, 3 / 4),
        ("sort", {"n": 8, "m": 8}, 3 / 4),
        ("pingpong", {"pairs": "0-2"}, 1),
        ("pingpong", {"pairs": "shift-2"}, 1 / 2),
        # Both are on one leaf.
        ("pingpong", {"pairs": "0-1"}, None),
        ("pingpong", {"pairs": "0-9"}, None),
        ("hotspot", {"rivals-active": 1}, None),
        # Of three patterns one crosses with a message a cable, two with two.
        ("bisect", {"packets": 1}, 1 / 2),
    ],
)
def test_of_a_tree_with_one_cable_from_each_leaf(
    probe: str, labels: dict[str, Any], share: float | None, tmp_path: Path
) -> None:
    record = RunRecord(probe, wire_Bps=WIRE, launches=(LaunchRecord(0, 4),))
    run = Run.create(tmp_path / "run", record)
    (run.folder / PATTERNS).write_text("2 3 - -\n2 - - 1\n3 2 - -\n")
    launch = Launch(4, name=probe, hosts=[f"host {rank + 1}" for rank in range(4)])
    for algorithm in ("library", "bruck"):
        launch.cell([1.0] * 6, algorithm=algorithm, bytes=1024, **labels)
    launch.write(run.raw_path(0))
    run = run.fold()
    found = carried(run, RealHosts(fabric=contend.load("xgft:2;2,2;1,1", route="dmodk")))
    assert found == ({} if share is None else {0: pytest.approx(share * WIRE)})
    assert carried(run, RealHosts(fabric=contend.load("crossbar:4", route="minhop"))) == {}
