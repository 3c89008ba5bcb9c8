"""The collapse of 2005 and its cure, on an emulated network of small buffers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contend.base.units import format_link_speed
from contend.cli.app import run
from contend.lab.runs import Run, find_runs

_GRID = ["--only", "sweep", "--ranks", "16", "--ranks-per-host", "1", "--bytes", "64K"]
_SCHEDULES = ["--algorithm", "library,linear,shift"]
# TCP sends again after so many seconds what it has not heard of.
_TIME_OUT = 1.0


@pytest.fixture(scope="module")
def measured(
    tmp_path_factory: pytest.TempPathFactory, permitted: None, require_program: Callable[[str], str]
) -> Path:
    """All-to-alls of 16 hosts, whose messages to one do not fit the switch's buffer before it."""
    require_program("mpicc.openmpi")
    folder = tmp_path_factory.mktemp("kutzner")
    where = ["--on", "emulated:fig1", "--rate", "50Mbit", "--mpi", "openmpi-4"]
    # A third of it: then all at once loses packets in every call, and not in some.
    where += ["--buffer", "30kB", "--rto-min", "1s"]
    how = ["--launches", "2", "--budget", "32s", "--output", str(folder / "out")]
    files = ["--json", str(folder / "found.json"), "--plot", str(folder / "rates.svg")]
    assert run(["study", "kutzner2005", *_GRID, *_SCHEDULES, *where, *how, *files]) == 0
    return folder


def test_all_at_once_waits_for_time_outs_and_one_after_the_other_does_not(measured: Path) -> None:
    runs = [Run.load(path) for path in find_runs(measured / "out" / "runs")]
    # All launches of a cell are one run.
    assert [len(one.record.launches) for one in runs] == [2]
    times: dict[str, list[float]] = {}
    for one in runs:
        drops = one.record.counters["drops_by_place"]
        assert drops["in_hosts"] == 0
        assert drops["before_hosts"] > 0
        for cell in one.summaries:
            times.setdefault(cell.schedule, []).extend(cell.results)
    ordered = np.array(times["shift"])
    unordered = np.array(times["library"] + times["linear"])
    slow = float(np.median(ordered)) + _TIME_OUT / 2
    # How many do depends on how fast a cable the machine could carry.
    assert (unordered > slow).mean() > 2 * (ordered > slow).mean()


def test_the_run_says_which_network_it_was(measured: Path) -> None:
    found = json.loads((measured / "found.json").read_text())
    assert {point["algorithm"] for point in found["points"]} == {"library", "linear", "shift"}
    said = found["on"]
    for path in find_runs(measured / "out" / "runs"):
        wire = Run.load(path).record.wire_Bps
        assert wire is not None
        # What the cables are, unless this machine carries less.
        assert 1e6 / 8 < wire <= 50e6 / 8
        cable = (
            f"{format_link_speed(wire)} per cable, buffers of 29.3 KiB, time-outs of at least 1 s"
        )
        assert said == f"emulated:fig1 ({cable})"
    assert list(measured.glob("rates*.svg"))
