"""What is learnt from runs: rules where a schedule is proven faster, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from contend.base.errors import UsageError
from contend.cure import LIBRARY, learn
from contend.cure.rules import schedule_of
from contend.lab.runs import LibraryRecord
from measured_runs import COLLAPSED, RANKS, SIZES, alltoall_run

_MEASURED = ("library", "linear", "shift", "shift-barrier")


def test_rules_are_for_sizes_that_collapse(tmp_path: Path) -> None:
    lessons = learn([alltoall_run(tmp_path / "run", launches=8, schedules=_MEASURED)])
    assert [lesson.bytes for lesson in lessons.cells] == list(SIZES)
    changed = {lesson.bytes: lesson for lesson in lessons.cells if lesson.schedule != LIBRARY}
    assert set(COLLAPSED) <= set(changed)
    for size in COLLAPSED:
        lesson = changed[size]
        assert lesson.schedule in ("shift", "shift-barrier")
        assert lesson.gain.low > 1
        assert lesson.gain.value == pytest.approx(lesson.library_s / lesson.best_s)
    assert lessons.learnt.mpi == "Open MPI 5.0.11"
    per_host = lessons.cells[0].ranks_per_host
    for lesson in lessons.cells:
        rules = lessons.learnt.rules
        assert schedule_of(rules, RANKS, per_host, lesson.bytes) == lesson.schedule
        # The nearest measured size decides, and nothing is said beyond what was measured.
        assert schedule_of(rules, RANKS, per_host, lesson.bytes * 3 // 2) == lesson.schedule or (
            lesson.bytes == SIZES[-1]
        )
    assert schedule_of(rules, RANKS + 1, per_host, COLLAPSED[0]) == LIBRARY
    assert schedule_of(rules, RANKS, per_host + 1, COLLAPSED[0]) == LIBRARY
    assert schedule_of(rules, RANKS, per_host, 2 * SIZES[-1]) == LIBRARY


def test_a_schedule_that_is_not_carried_wins_nothing(tmp_path: Path) -> None:
    run = alltoall_run(tmp_path / "run", launches=5, schedules=("library", "bruck", "linear"))
    assert "bruck" not in {lesson.schedule for lesson in learn([run]).cells}


def test_a_later_run_has_the_last_word(tmp_path: Path) -> None:
    faster = alltoall_run(tmp_path / "faster", launches=5, schedules=_MEASURED)
    alike = alltoall_run(
        tmp_path / "alike",
        launches=5,
        schedules=("library", "linear"),
        created="2005-12-03T06:05:05+00:00",
    )
    assert learn([faster, alike]) == learn([alike, faster])
    assert all(lesson.schedule == LIBRARY for lesson in learn([faster, alike]).cells)


def test_what_starts_behind_a_barrier_has_the_last_word(tmp_path: Path) -> None:
    both = alltoall_run(
        tmp_path / "both",
        launches=5,
        schedules=("library", "shift"),
        sizes=(1 << 20,),
        behind_barrier=1.5,
    )
    (lesson,) = learn([both]).cells
    assert lesson.schedule == "shift"
    assert (
        lesson.library.record.labels["start"] == lesson.fastest.record.labels["start"] == "barrier"
    )
    clock = alltoall_run(
        tmp_path / "clock", launches=5, schedules=("library", "shift"), sizes=(1 << 20,)
    )
    assert learn([clock]).cells[0].schedule == LIBRARY


def test_runs_of_several_libraries_are_refused(tmp_path: Path) -> None:
    first = alltoall_run(tmp_path / "first", schedules=_MEASURED)
    other = alltoall_run(
        tmp_path / "other", schedules=_MEASURED, library=LibraryRecord("MPICH", "4.0.2", "4.0")
    )
    with pytest.raises(UsageError, match=r"Open MPI 5\.0\.11, MPICH 4\.0\.2"):
        learn([first, other])


def test_runs_without_the_librarys_call_are_refused(tmp_path: Path) -> None:
    run = alltoall_run(tmp_path / "run", schedules=("shift", "linear"))
    with pytest.raises(UsageError, match="--algorithm library,shift"):
        learn([run])
    with pytest.raises(UsageError, match="no run of contend measure alltoall"):
        learn([])
