"""What is found in a run: once, for all who show it, and why points have no figures."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from contend.lab.runs import (
    LaunchRecord,
    PointError,
    Run,
    RunRecord,
    collapses,
    contests,
    find,
    summarise,
)
from contend.report.run.tables import cell_tables
from measured_runs import alltoall_run, pingpong_run
from sample_files import Launch


def test_findings_are_those_of_their_functions_and_computed_once(tmp_path: Path) -> None:
    run = alltoall_run(tmp_path / "run", count=8, schedules=("library", "pairwise"))
    findings = run.findings
    assert run.findings is findings
    assert run.summaries is findings.cells
    cells = summarise(run.record, run.results)
    assert [cell.median for cell in findings.cells] == [cell.median for cell in cells]
    assert [one.bytes for one in findings.contests] == [one.bytes for one in contests(cells)]
    assert [one.worst.record for one in findings.collapses] == [
        one.worst.record for one in collapses(cells)
    ]
    assert findings.collapses
    assert findings.clock_residual_s == 2e-7
    assert findings.timer_s == 2.1e-8
    assert find(run.record, run.results).remarks == findings.remarks


def test_ways_of_a_ping_pong_do_not_compete(tmp_path: Path) -> None:
    findings = pingpong_run(tmp_path / "run").findings
    assert findings.cells
    assert findings.contests == ()
    assert findings.collapses == ()


@pytest.mark.parametrize(("launches", "covered"), [(2, "50 %"), (3, "75 %"), (5, "93.8 %")])
def test_few_launches_are_remarked_on(launches: int, covered: str, tmp_path: Path) -> None:
    sizes, schedules = (1024,), ("library",)
    run = alltoall_run(
        tmp_path / "run", launches=launches, count=8, sizes=sizes, schedules=schedules
    )
    (remark,) = (one for one in run.findings.remarks if one.code == "few-launches")
    assert f"{launches} launches" in remark.text
    assert f"with at least {covered}" in remark.text
    row = run.cells().row(0, named=True)
    assert (row["ci95_low_s"], row["ci95_high_s"]) == (None, None)
    assert row["low_s"] <= row["median_s"] <= row["high_s"]


@pytest.mark.parametrize("launches", [1, 6])
def test_one_launch_and_six_have_95_intervals(launches: int, tmp_path: Path) -> None:
    sizes, schedules = (1024,), ("library",)
    run = alltoall_run(
        tmp_path / "run", launches=launches, count=8, sizes=sizes, schedules=schedules
    )
    assert "few-launches" not in {one.code for one in run.findings.remarks}
    row = run.cells().row(0, named=True)
    assert (row["coverage"], row["ci95_low_s"]) == (0.95, row["low_s"])


def ended(folder: Path, status: str, why: str = "", done: bool = False) -> Run:
    """A launch whose cells ended in all the ways that a probe tells."""
    record = RunRecord("alltoall", launches=(LaunchRecord(0, 4, status=status, why=why),))
    run = Run.create(folder, record)
    launch = Launch(4)
    launch.cell([1e-3] * 7, algorithm="right", bytes=8)
    launch.cell([1e-3] * 7, algorithm="wrong", bytes=8, verified=False, reason="failed")
    launch.cell([], algorithm="bruck", bytes=8, reason="skipped", verified=None, said="powers of 2")
    launch.cell([], algorithm="late", bytes=8, reason="skipped", verified=None)
    launch.cell(
        [], algorithm="big", bytes=8, reason="failed", verified=None, said="not enough memory"
    )
    launch.cell([1e-3] * 7, algorithm="cut", bytes=8, reason=None)
    launch.write(run.raw_path(0), done=done)
    return run.fold()


def test_points_without_a_figure_have_their_cause(tmp_path: Path) -> None:
    run = ended(tmp_path / "run", "killed", "rank 2 died of signal 9")
    assert run.findings.errors == (
        PointError("data", "the data were wrong", 0, "wrong", 8),
        PointError("unsuited", "powers of 2", 0, "bruck", 8),
        PointError("budget", "no time was left for it", 0, "late", 8),
        PointError("memory", "not enough memory", 0, "big", 8),
        PointError("crash", "rank 2 died of signal 9", 0, "cut", 8),
    )


@pytest.mark.parametrize(
    ("status", "why", "cause"),
    [
        ("killed", "rank 1 died", "crash"),
        ("timeout", "did not end within 5 s and was ended", "timeout"),
        ("failed", "mpirun: out of memory", "memory"),
        ("failed", "mpirun: no such host", "launch"),
        ("skipped", "the budget was spent before it began", "budget"),
    ],
)
def test_a_launch_that_wrote_nothing_is_an_error_of_all_points(
    status: str, why: str, cause: str, tmp_path: Path
) -> None:
    record = RunRecord("sort", launches=(LaunchRecord(0, 4, status=status, why=why),))
    run = Run.create(tmp_path / "run", record)
    (error,) = run.findings.errors
    assert (error.cause, error.reason) == (cause, why)
    assert (error.launch, error.algorithm, error.bytes) == (0, None, None)


def test_samples_up_to_an_interruption_count(tmp_path: Path) -> None:
    run = ended(tmp_path / "run", "interrupted", "contend was interrupted")
    assert "cut" in {cell.schedule for cell in run.findings.cells}
    assert "cut" not in {error.algorithm for error in run.findings.errors}


def test_what_the_record_says_of_a_point_counts_first(tmp_path: Path) -> None:
    run = ended(tmp_path / "run", "killed", "rank 2 died of signal 9")
    known = PointError("memory", "the kernel ended rank 2 for want of memory", 0, "cut", 8)
    hosts = PointError("hosts", "4 hosts are asked for, 2 are there")
    folded = run.fold(msgspec.structs.replace(run.record, errors=(known, hosts)))
    errors = Run.load(folded.folder).findings.errors
    assert errors[:2] == (known, hosts)
    assert [error.algorithm for error in errors].count("cut") == 1


def test_a_launch_that_was_begun_again_counts_once(tmp_path: Path) -> None:
    """A point ended the first start; the second measured the others: one launch of each."""
    launches = (
        LaunchRecord(0, 4, status="killed", why="rank 0 died"),
        LaunchRecord(1, 4),
        LaunchRecord(2, 4, of=0),
    )
    run = Run.create(tmp_path / "run", RunRecord("alltoall", launches=launches))
    first = Launch(4).cell([1e-3] * 7, algorithm="a", bytes=8)
    first.cell([1e-3] * 2, algorithm="b", bytes=8, reason=None).write(run.raw_path(0), done=False)
    every = Launch(4)
    for algorithm in "abc":
        every.cell([2e-3] * 7, algorithm=algorithm, bytes=8)
    every.write(run.raw_path(1))
    Launch(4).cell([3e-3] * 7, algorithm="c", bytes=8).write(run.raw_path(2))
    run = run.fold()
    numbers = {cell.schedule: tuple(cell.by_launch) for cell in run.findings.cells}
    assert (numbers["a"], numbers["c"]) == ((0, 1), (0, 1))
    assert [(e.cause, e.launch, e.algorithm) for e in run.findings.errors] == [("crash", 0, "b")]


def test_rates_beyond_the_wire_are_told(tmp_path: Path) -> None:
    """15 messages of 1 KiB in 0.1 ms are 154 MB/s where a port carries 6.25, those of 1 MiB not."""
    record = RunRecord("alltoall", wire_Bps=6.25e6, launches=(LaunchRecord(0, 16),))
    run = Run.create(tmp_path / "run", record)
    launch = Launch(16, hosts=[f"n{rank}" for rank in range(16)])
    # 15 MiB take such a port 2.52 s: 6 % less may be a burst, 15 % less are bytes in buffers.
    for size, seconds in (
        (1024, 1e-4),
        (1 << 20, 2.7),
        ((1 << 20) + 1, 2.37),
        ((1 << 20) + 2, 2.14),
    ):
        launch.cell([seconds] * 8, algorithm="library", bytes=size)
    launch.write(run.raw_path(0))
    run = run.fold()
    assert [cell.beyond_wire for cell in run.summaries] == [True, False, False, True]
    assert run.cells()["beyond_wire"].to_list() == [True, False, False, True]
    (remark,) = (one for one in run.findings.remarks if one.code == "beyond-wire")
    assert remark.text.startswith(
        "in 2 cells of up to 1 MiB ranks sent faster than the hosts' ports"
    )
    assert [cell.beyond_wire for cell in run.every_cell] == [True, False, False, True]
    (table,) = cell_tables(run)
    assert ["beyond the wire" in row[-1] for row in table.rows] == [True, False, False, True]


def test_shares_of_parts_are_of_single_samples(tmp_path: Path) -> None:
    """Barriers are within samples: no share of theirs is above one, however these are spread.

    Half of every sample is barriers. All but one are late, so that late ones count; the one on time
    spends longer in barriers than the median sample takes.
    """
    run = Run.create(tmp_path / "run", RunRecord("alltoall", launches=(LaunchRecord(0, 4),)))
    launch = Launch(4)
    times = [0.1] * 7 + [0.9]
    launch.cell(
        times,
        late=list(range(7)),
        durations={"barriers_s": 0.5},
        algorithm="shift-barrier",
        bytes=1024,
    )
    launch.write(run.raw_path(0))
    (parts,) = run.fold().findings.parts
    assert parts.seconds == {"barriers": pytest.approx(0.05)}
    assert parts.shares == {"barriers": pytest.approx(0.5)}


def test_launches_of_two_kinds_are_told(tmp_path: Path) -> None:
    """Of four launches one takes 265 ms a sample, the others 109: 1 in 4, and no sample between."""
    record = RunRecord("alltoall", launches=tuple(LaunchRecord(n, 4) for n in range(4)))
    run = Run.create(tmp_path / "run", record)
    for number, seconds in enumerate((0.109, 0.265, 0.109, 0.109)):
        launch = Launch(4)
        launch.cell(seconds * np.linspace(0.99, 1.01, 8), algorithm="library", bytes=16384)
        launch.cell(0.1 * np.linspace(0.99, 1.01, 8), algorithm="shift", bytes=16384)
        launch.write(run.raw_path(number))
    run = run.fold()
    told, alike = run.every_cell
    assert told.two_kinds_of_launches.slow_share == 0.25
    assert told.two_kinds_of_launches.slow_s == pytest.approx(0.265)
    assert alike.two_kinds_of_launches is None
    (table,) = cell_tables(run)
    words = "two kinds of launches: 1 of 4 near 265 ms, the others near 109 ms"
    assert [words in row[-1] for row in table.rows] == [False, True]
