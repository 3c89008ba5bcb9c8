"""Studies under a real MPI library, and what may go wrong in them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.measurement import RealHosts
from contend.mpi import Library, select
from contend.runs import read_samples
from contend.study import (
    Ended,
    MeasuredPlan,
    RealLaunch,
    StudyFolder,
    gather,
    read_plan,
    read_runs,
    site_of,
)
from contend.study.measured.record import Record
from contend.study.measured.runner import in_order, run


def read_measured(path: Path) -> MeasuredPlan:
    plan = read_plan(path)
    assert isinstance(plan, MeasuredPlan)
    return plan


def changed(plan: MeasuredPlan, changes: dict[str, Any]) -> MeasuredPlan:
    return plan.changed(**changes)


# So many samples that nothing ends before somebody ends it.
_ENDLESS = {"repetitions": (10**6, 10**6), "precision": 1e-9, "launches": 1}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def library(require_program: Callable[[str], str]) -> Library:
    return select(require_program("mpicc.openmpi"))


@pytest.fixture
def plan(plan_file: Path) -> MeasuredPlan:
    text = plan_file.read_text().replace(
        "[1, 2]\nranks_per_node = [2]", "[1, 2]\nranks_per_node = [1]"
    )
    plan_file.write_text(text)
    return changed(
        read_measured(plan_file), {"repetitions": (6, 10), "budget_s": 120.0, "label": ()}
    )


def go(plan: MeasuredPlan, library: Library, memory: int = 1 << 30, **options: object) -> Ended:
    place = RealHosts(host_memory=memory)
    launch = RealLaunch(place, site_of(place, "", memory), plan.wire, {"": library})
    return run(plan, StudyFolder(Path("run"), plan), launch, launch.site, **options)  # type: ignore[arg-type]


def record_of(ended: Ended, name: str) -> Record:
    return next(record for record in ended.records if record.cell.file_name == name)


def ranks_of(cell: str) -> tuple[int, ...]:
    """Processes of the ranks of a cell that is under way."""
    raw = read_samples(Path("run/runs", cell, "launch-000.samples"))
    assert raw.ranks is not None
    return tuple(raw.ranks.pid)


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def is_alive(process: int) -> bool:
    """Whether a process is there and no corpse that nobody has buried."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_small_study_from_plan_to_figures(plan: MeasuredPlan, library: Library) -> None:
    ended = go(plan, library)
    assert [record.failures for record in ended.records] == [[]] * 6
    assert {record.library for record in ended.records} == {f"Open MPI {library.version}"}
    sort = record_of(ended, "sort.2x1.8N.built.1")
    (point,) = sort.points
    assert point.verified
    assert point.ended in ("precision", "repetitions")
    assert set(point.steps_s) == {"local sort", "splitters", "counts", "final sort"}
    # 2 arrays of 64 / 2 vectors of 16 doubles on each of 2 ranks of one host.
    assert sort.host_bytes == 2 * 2 * 32 * 16 * 8

    results = gather(ended.records, Path("run"), read_runs)
    assert len(results) == 4 + 2 * 2 * 4
    assert all(6 <= len(result.counted) + len(result.left_out) <= 10 for result in results)
    sweep = next(result for result in results if result.place.bytes == 1024)
    assert sweep.median_s is not None
    assert sweep.rate == pytest.approx(3 * 1024 / sweep.median_s)


def test_barriers_of_a_schedule_stand_apart(plan: MeasuredPlan, library: Library) -> None:
    chosen = changed(
        plan,
        {
            "only": ("sweep",),
            "algorithm": ("shift-barrier",),
            "bytes": ("64",),
            "ranks_per_host": (1,),
        },
    )
    (record,) = go(chosen, library).records
    (point,) = record.points
    assert point.median_s is not None
    assert 0 < point.steps_s["barriers"] < 10 * point.median_s


def test_launches_are_joined(plan: MeasuredPlan, library: Library) -> None:
    chosen = changed(plan, {"only": ("sort",), "hosts": (2,), "length": ("8",), "launches": 2})
    ended = go(chosen, library)
    (result,) = gather(ended.records, Path("run"), read_runs)
    assert len(result.points) == 2
    assert result.summary is not None
    assert result.summary.numbers == (1, 2)


def test_a_killed_rank_is_a_crash_and_the_study_goes_on(
    plan: MeasuredPlan, library: Library
) -> None:
    chosen = changed(plan, {"only": ("sort",), "hosts": (2,), "budget_s": 12.0})
    first, second = (cell.file_name for cell in in_order(chosen))
    endless = changed(chosen, _ENDLESS)
    killed: list[int] = []

    def kill(_: float) -> None:
        if not killed:
            killed.append(ranks_of(first)[1])
            os.kill(killed[0], signal.SIGKILL)

    ended = go(endless, library, on_progress=kill)
    failures = {record.cell.file_name: record.failures for record in ended.records}
    assert failures[second] == []
    (failure,) = failures[first]
    assert failure.cause == "crash"
    assert "rank 1" in failure.said
    assert "SIGKILL" in failure.said
    assert (Path("run") / record_of(ended, first).runs[0] / "samples.parquet").exists()


def test_the_points_after_a_crash_are_measured(plan: MeasuredPlan, library: Library) -> None:
    """A rank dies in the first of two points; the other one has figures."""
    sizes = {"only": ("sweep",), "ranks_per_host": (1,), "algorithm": ("shift",), "bytes": ("4,8",)}
    chosen = changed(changed(plan, sizes), {"budget_s": 12.0})
    (cell,) = in_order(chosen)
    killed: list[int] = []

    def kill(_: float) -> None:
        if not killed:
            killed.append(ranks_of(cell.file_name)[1])
            os.kill(killed[0], signal.SIGKILL)

    (record,) = go(changed(chosen, _ENDLESS), library, on_progress=kill).records
    causes = sorted(point.failure.cause if point.failure else "" for point in record.points)
    assert causes == ["", "crash"]
    assert len(record.runs) == 2
    assert all(point.median_s for point in record.points if point.failure is None)


def test_a_launch_that_stands_still_is_a_timeout(plan: MeasuredPlan, library: Library) -> None:
    chosen = changed(plan, {"only": ("sort",), "hosts": (2,), "length": ("8",), "budget_s": 8.0})
    (cell,) = in_order(chosen)
    stopped: list[int] = []

    def stop(_: float) -> None:
        if not stopped:
            ranks = ranks_of(cell.file_name)
            # The launcher, too: it would wake its ranks before it ends them.
            stopped.extend((parent_of(ranks[1]), *ranks))
            for process in stopped:
                os.kill(process, signal.SIGSTOP)

    (record,) = go(changed(chosen, _ENDLESS), library, on_progress=stop).records
    (failure,) = record.failures
    assert failure.cause == "timeout"
    assert not any(map(is_alive, stopped))


def test_what_cannot_fit_is_never_launched(plan: MeasuredPlan, library: Library) -> None:
    """Two arrays of 64 vectors of 8 doubles are 8 KiB; of 16 doubles, on two nodes, 16 KiB."""
    chosen = changed(plan, {"only": ("sort",), "hosts": (2,)})
    ended = go(chosen, library, memory=10_000)
    causes = {record.cell.doubles: [f.cause for f in record.failures] for record in ended.records}
    assert causes == {"8": [], "8N": ["memory"]}


def test_a_library_that_runs_out_of_memory_says_so(plan: MeasuredPlan, library: Library) -> None:
    """2^40 vectors of 8 doubles are 64 TiB each way: more than any host that runs this."""
    chosen = changed(plan, {"only": ("sort",), "hosts": (2,), "length": ("8",), "vectors": 1 << 40})
    (record,) = go(chosen, library, memory=1 << 60).records
    (failure,) = record.failures
    assert failure.cause == "memory"
    assert "not enough memory" in failure.said


def test_an_interrupted_study_goes_on(plan: MeasuredPlan, library: Library) -> None:
    chosen = changed(plan, {"only": ("sort",), "hosts": (2,), "budget_s": 12.0})
    first, second = (cell.file_name for cell in in_order(chosen))
    ranks: list[int] = []

    def interrupt(_: float) -> None:
        if Path("run/cells", f"{first}.json").exists():
            ranks.extend(ranks_of(second))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(changed(chosen, _ENDLESS), library, on_progress=interrupt)
    assert ranks
    assert not any(map(is_alive, ranks))
    assert [path.stem for path in Path("run/cells").iterdir()] == [first]


def test_a_schedule_that_makes_no_sense_is_told_apart(plan: MeasuredPlan, library: Library) -> None:
    chosen = changed(
        plan,
        {
            "only": ("sweep",),
            "ranks": (3,),
            "ranks_per_host": (1,),
            "algorithm": ("xor",),
            "bytes": ("8",),
        },
    )
    (record,) = go(chosen, library).records
    (failure,) = record.failures
    assert failure.cause == "unsuited"
    assert not record.failed
