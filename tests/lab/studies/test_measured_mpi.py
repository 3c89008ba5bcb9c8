"""Studies under a real MPI library, and what may go wrong in them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.lab.measurement import RealHosts
from contend.lab.mpi import Library, select
from contend.lab.runs import read_samples
from contend.lab.session import Observer, Step
from contend.lab.studies import (
    Answer,
    MeasuredPlan,
    MeasuredStudy,
    Result,
    read_plan,
    run_measurements,
)
from processes import state_of

# So many samples that nothing ends before somebody ends it.
_ENDLESS: dict[str, Any] = {"repetitions": (10**6, 10**6), "precision": 1e-9}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def library(require_program: Callable[[str], str]) -> Library:
    return select(require_program("mpicc.openmpi"))


@pytest.fixture
def plan(grid_file: Path) -> MeasuredPlan:
    text = grid_file.read_text().replace(
        "[1, 2]\nranks_per_host = [2]", "[1, 2]\nranks_per_host = [1]"
    )
    grid_file.write_text(text)
    plan = read_plan(grid_file)
    return plan.changed(repetitions=(6, 10), budget_s=120.0, label=())


class Progressed(Observer):
    """Does something when a launch has written something."""

    def __init__(self, action: Callable[[Step], None]) -> None:
        self._action = action

    def progressed(self, step: Step, done: int, whole: int) -> None:
        self._action(step)


def go(
    plan: MeasuredPlan, library: Library, memory: int = 1 << 30, **options: Any
) -> MeasuredStudy:
    place = RealHosts(free_memory=memory)
    return run_measurements(plan, Path("run"), place, libraries={"": library}, **options)


def failure_of(answer: Answer) -> tuple[tuple[str, str], list[Result]]:
    """Cause and reason of the only failure of a cell's only launch, and its points."""
    (failure,) = answer.failures(0).items()
    return failure


def ranks_of(step: Step) -> tuple[int, ...]:
    """Processes of the ranks of a launch that is under way."""
    raw = read_samples(Path("run/runs", step.cell.folder_name, "launch-000.samples"))
    return tuple(raw.ranks.pid)


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_small_study_from_plan_to_figures(plan: MeasuredPlan, library: Library) -> None:
    ended = go(plan, library)
    assert [answer.failures(0) for answer in ended.cells] == [{}] * 6
    assert {answer.library for answer in ended.cells} == {f"Open MPI {library.version}"}
    sort = next(a for a in ended.cells if a.cell.label == "sort, 2 × 1, m = 8N")
    end = sort.ends[(None, None), 0]
    assert end.verified
    assert end.reason in ("precision", "repetitions")
    (result,) = sort.results
    assert set(result.parts.seconds) == {"local_sort", "splitters", "counts", "final_sort"}
    # 2 arrays of 64 / 2 vectors of 16 doubles on each of 2 ranks of one host.
    assert sort.host_bytes == 2 * 2 * 32 * 16 * 8

    results = ended.results
    assert len(results) == 4 + 2 * 2 * 4
    summaries = [result.summary for result in results if result.summary is not None]
    assert len(summaries) == len(results)
    assert all(6 <= s.used + len(s.left_out) <= 10 for s in summaries)
    sweep = next(result for result in results if result.place.bytes == 1024)
    assert sweep.median_s is not None
    assert sweep.rate == pytest.approx(3 * 1024 / sweep.median_s)


def test_barriers_of_a_schedule_stand_apart(plan: MeasuredPlan, library: Library) -> None:
    chosen = plan.changed(
        only=("sweep",), algorithm=("shift-barrier",), bytes=("64",), ranks_per_host=(1,)
    )
    (result,) = go(chosen, library).results
    assert result.median_s is not None
    assert 0 < result.parts.seconds["barriers"] < 10 * result.median_s


def test_the_points_after_a_crash_are_measured(plan: MeasuredPlan, library: Library) -> None:
    """A rank dies in the first of two points; the other one has figures, and so has the sort."""
    chosen = plan.changed(
        only=("sweep",), ranks_per_host=(1,), algorithm=("shift",), bytes=("4,8",), budget_s=8.0
    )
    killed: list[int] = []

    def kill(step: Step) -> None:
        if not killed:
            killed.append(ranks_of(step)[1])
            os.kill(killed[0], signal.SIGKILL)

    (answer,) = go(chosen.changed(**_ENDLESS), library, observer=Progressed(kill)).cells
    causes = sorted(r.failure.cause if r.failure else "" for r in answer.results)
    assert causes == ["", "crash"]
    ((_, said), _) = failure_of(answer)
    assert "SIGKILL" in said
    assert all(result.median_s for result in answer.results if result.failure is None)


def test_a_launch_that_stands_still_is_a_timeout(plan: MeasuredPlan, library: Library) -> None:
    chosen = plan.changed(only=("sort",), hosts=(2,), length=("8",), budget_s=6.0)
    stopped: list[int] = []

    def stop(step: Step) -> None:
        if not stopped:
            ranks = ranks_of(step)
            # The launcher, too: it would wake its ranks before it ends them.
            stopped.extend((parent_of(ranks[1]), *ranks))
            for process in stopped:
                os.kill(process, signal.SIGSTOP)

    (answer,) = go(chosen.changed(**_ENDLESS), library, observer=Progressed(stop)).cells
    ((cause, _), _) = failure_of(answer)
    assert cause == "timeout"
    assert not any(map(state_of, stopped))


def test_a_library_that_runs_out_of_memory_says_so(plan: MeasuredPlan, library: Library) -> None:
    """2^33 vectors of 1024 doubles are 64 TiB each way: more than any host that runs this."""
    chosen = plan.changed(only=("sort",), hosts=(2,), length=("1024",), vectors=1 << 33)
    (answer,) = go(chosen, library, memory=1 << 60).cells
    ((cause, said), _) = failure_of(answer)
    assert cause == "memory"
    assert "not enough memory" in said


def test_a_schedule_that_makes_no_sense_is_told_apart(plan: MeasuredPlan, library: Library) -> None:
    chosen = plan.changed(
        only=("sweep",), ranks=(3,), ranks_per_host=(1,), algorithm=("xor",), bytes=("8",)
    )
    (answer,) = go(chosen, library).cells
    ((cause, _), _) = failure_of(answer)
    assert cause == "unsuited"
    assert answer.failed == 0
