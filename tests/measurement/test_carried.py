"""What cables between switches let a rank send, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import contend
from contend.measurement import RealHosts, carried
from contend.runs import LaunchRecord, Run, RunRecord
from sample_files import Launch

WIRE = 2.5e6
HOSTS = ["host 1", "host 2", "host 3", "host 4"]


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
        # Its patterns are not there.
        ("bisect", {"packets": 1}, None),
    ],
)
def test_of_a_tree_with_one_cable_from_each_leaf(
    probe: str, labels: dict[str, Any], share: float | None, tmp_path: Path
) -> None:
    record = RunRecord(probe, wire_Bps=WIRE, launches=(LaunchRecord(0, 4),))
    run = Run.create(tmp_path / "run", record)
    launch = Launch(4, name=probe, hosts=HOSTS)
    launch.cell([1.0] * 6, algorithm="library", bytes=1024, **labels)
    launch.cell([1.0] * 6, algorithm="bruck", bytes=1024, **labels)
    launch.write(run.raw_path(0))
    fabric = contend.load("xgft:2;2,2;1,1", route="dmodk")
    found = carried(run.fold(), RealHosts(fabric=fabric))
    assert found == ({} if share is None else {0: pytest.approx(share * WIRE)})


def test_of_random_pairs_in_the_median_pattern(tmp_path: Path) -> None:
    """Of three patterns one crosses with a message a cable, two with two."""
    record = RunRecord("bisect", wire_Bps=WIRE, launches=(LaunchRecord(0, 4),))
    run = Run.create(tmp_path / "run", record)
    (run.folder / "patterns.txt").write_text("2 3 - -\n2 - - 1\n3 2 - -\n")
    launch = Launch(4, name="bisect", hosts=HOSTS)
    launch.cell([1.0] * 6, algorithm="bisect", bytes=1024, packets=1, repeats=2)
    launch.write(run.raw_path(0))
    place = RealHosts(fabric=contend.load("xgft:2;2,2;1,1", route="dmodk"))
    assert carried(run.fold(), place) == {0: pytest.approx(WIRE / 2)}
    elsewhere = RealHosts(fabric=contend.load("crossbar:4", route="minhop"))
    assert carried(run.fold(), elsewhere) == {}
