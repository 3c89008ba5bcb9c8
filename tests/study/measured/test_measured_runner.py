"""Running a plan of measurements: order, budget, failures, resuming."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.errors import InputError, MissingError, UsageError
from contend.study import (
    Ended,
    MeasuredPlan,
    Point,
    Site,
    StudyFolder,
    read_plan,
)
from contend.study.measured.record import Failure, Record
from contend.study.measured.runner import Step, in_order, run
from contend.study.measured.services import Attempt


def read_measured(path: Path) -> MeasuredPlan:
    plan = read_plan(path)
    assert isinstance(plan, MeasuredPlan)
    return plan


def changed(plan: MeasuredPlan, changes: dict[str, Any]) -> MeasuredPlan:
    return plan.changed(**changes)


CELL = "sort.1x2.8.built.flow-control-on.1"
SWEEP = "sweep.4x1.flow-control-on.1"
CRASH = Failure("crash", "rank 3 was ended by SIGSEGV")


def go(plan: MeasuredPlan | Path, launches: Any, site: Site | None = None, **options: Any) -> Ended:
    if isinstance(plan, Path):
        plan = read_measured(plan)
    folder = StudyFolder(Path(options.pop("out", "run")), plan)
    return run(plan, folder, launches, site or Site(memory=1 << 30), **options)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def record_of(ended: Ended, name: str) -> Record:
    return next(record for record in ended.records if record.cell.file_name == name)


def test_all_cells_end_in_the_plans_order(plan_file: Path, launches: Any) -> None:
    ended = go(plan_file, launches)
    plan = read_measured(plan_file)
    assert [record.cell for record in ended.records] == list(plan.cells())
    assert not any(record.failed for record in ended.records)
    assert ended.left == ()
    record = record_of(ended, SWEEP)
    assert record.library == "Test MPI 1.0"
    assert record.runs == (f"runs/{SWEEP}",)
    assert record.seats == "4 groups of 1 rank on one host"
    assert record.one_host


def test_cells_run_in_an_order_of_the_seed_within_each_launch(plan_file: Path) -> None:
    plan = changed(read_measured(plan_file), {"launches": 4})
    orders = [[c.file_name[:-2] for c in in_order(plan) if c.launch == n] for n in (1, 2, 3, 4)]
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert len({tuple(order) for order in orders}) > 1
    assert [c.launch for c in in_order(plan)] == sorted(c.launch for c in in_order(plan))
    assert in_order(plan) == in_order(plan)


def test_what_a_cell_does_not_use_is_left_to_the_others(plan_file: Path, launches: Any) -> None:
    """6 cells of 100 s: 100/6 s, then what is left over those that are left."""
    now = [0.0]

    def clock() -> float:
        return now[0]

    def slow(folder: Path) -> Attempt:
        now[0] += 10
        return Attempt((Point(median_s=1.0),))

    launches.answers = {CELL: [slow]}
    go(plan_file, launches, clock=clock)
    shares = [budget for _, _, budget in launches.asked]
    place = [name for name, _, _ in launches.asked].index(CELL)
    assert shares[: place + 1] == pytest.approx([100 / (6 - done) for done in range(place + 1)])
    if place < 5:
        assert shares[-1] == pytest.approx(90)


def test_cells_without_time_are_left_for_the_next_time(plan_file: Path, launches: Any) -> None:
    now = [0.0]

    class Slow:
        prepare = launches.prepare

        def __call__(self, *arguments: Any, **options: Any) -> Attempt:
            now[0] += 60
            return launches(*arguments, **options)

    ended = go(plan_file, Slow(), clock=lambda: now[0])
    assert (len(ended.records), len(ended.left)) == (2, 4)
    assert len(go(plan_file, launches).records) == 6


def test_too_much_memory_is_refused_with_the_figures(plan_file: Path, launches: Any) -> None:
    """n = 64 vectors of 8 doubles, two arrays, on one host: 8 KiB; of 16 doubles 16 KiB."""
    ended = go(plan_file, launches, Site(memory=10_000))
    failed = {
        r.cell.file_name: r.failures[0]
        for r in ended.records
        if r.cell.probe == "sort" and r.failed
    }
    assert list(failed) == ["sort.2x2.8N.built.flow-control-on.1"]
    (failure,) = failed.values()
    assert failure.cause == "memory"
    assert failure.said == (
        "data of 16 KiB (16,384 bytes) does not fit this machine, which has 9.766 KiB"
    )
    assert all("2x2.8N" not in name for name, _, _ in launches.asked)
    near = next(r for r in ended.records if r.cell.file_name == CELL)
    assert any("8 KiB comes near this machine" in said for said in near.warnings)


def test_nodes_of_a_cluster_are_compared_by_themselves(plan_file: Path, launches: Any) -> None:
    ended = go(plan_file, launches, Site(on="hosts", hosts=4, shared=False, memory=10_000))
    assert not any(record.failed for record in ended.records if record.cell.probe == "sort")


def test_only_sizes_that_do_not_fit_are_refused(plan_file: Path, launches: Any) -> None:
    """4 ranks hold 2 · 4 · 4 KiB each: 128 KiB; of 2 KiB 64 KiB."""
    ended = go(plan_file, launches, Site(memory=100_000))
    points = record_of(ended, SWEEP).points
    assert [point.bytes for point in points if point.failure is not None] == [4096, 4096]
    asked = next(points for name, points, _ in launches.asked if name == SWEEP)
    assert [size for _, size in asked] == [16, 1024, 2048] * 2


def test_not_enough_hosts(plan_file: Path, launches: Any) -> None:
    ended = go(plan_file, launches, Site(on="hosts.txt", hosts=3, shared=False))
    record = record_of(ended, SWEEP)
    assert {failure.cause for failure in record.failures} == {"hosts"}
    assert record.failures[0].said == "4 nodes asked for, hosts.txt has 3 hosts"


def test_points_after_a_crash_are_launched_again_without_its_point(
    plan_file: Path, launches: Any
) -> None:
    def crash(folder: Path) -> Attempt:
        folder.mkdir(parents=True)
        return Attempt((Point("library", 16, median_s=0.5),), CRASH, ("library", 2048))

    launches.answers = {SWEEP: [crash]}
    ended = go(plan_file, launches)
    record = record_of(ended, SWEEP)
    failed = [point for point in record.points if point.failure is not None]
    assert [(p.algorithm, p.bytes, p.failure) for p in failed] == [("library", 2048, CRASH)]
    assert record.runs == (f"runs/{SWEEP}", f"runs/{SWEEP}.again-1")
    again = [points for name, points, _ in launches.asked if name == SWEEP][1]
    assert len(again) == 6
    assert ("library", 2048) not in again


def test_a_crash_at_an_unknown_point_ends_the_cell(plan_file: Path, launches: Any) -> None:
    launches.answers = {SWEEP: [lambda folder: Attempt((), CRASH)]}
    record = record_of(go(plan_file, launches), SWEEP)
    assert record.failures == [CRASH]
    assert all(point.failure == CRASH for point in record.points)
    assert sum(name == SWEEP for name, _, _ in launches.asked) == 1


def test_crash_after_crash_ends_the_cell(plan_file: Path, launches: Any) -> None:
    def crash(size: int) -> Callable[[Path], Attempt]:
        return lambda folder: Attempt((), CRASH, ("library", size))

    launches.answers = {SWEEP: [crash(size) for size in (16, 1024, 2048, 4096)]}
    record = record_of(go(plan_file, launches), SWEEP)
    assert all(point.failure == CRASH for point in record.points)


@pytest.mark.parametrize("error", [MissingError("no compiler"), OSError(28, "disk full")])
def test_what_keeps_a_launch_from_starting_is_a_failure(
    error: Exception, plan_file: Path, launches: Any
) -> None:
    def broken(folder: Path) -> Attempt:
        raise error

    launches.answers = {CELL: [broken]}
    record = record_of(go(plan_file, launches), CELL)
    assert record.failures == [Failure("launch", str(error))]


def test_what_has_ended_is_not_run_again(plan_file: Path, launches: Any) -> None:
    first = go(plan_file, launches)
    launches.asked.clear()
    steps: list[Step] = []
    second = go(plan_file, launches, on_step=steps.append)
    assert launches.asked == launches.prepared == []
    assert {step.state for step in steps} == {"kept"}
    assert second == first


def test_an_interrupted_study_goes_on_where_it_stopped(plan_file: Path, launches: Any) -> None:
    def interrupted(folder: Path) -> Attempt:
        folder.mkdir(parents=True)
        (folder / "half").write_text("")
        raise KeyboardInterrupt

    launches.answers = {SWEEP: [interrupted]}
    with pytest.raises(KeyboardInterrupt):
        go(plan_file, launches)
    before = {name for name, _, _ in launches.asked}
    launches.asked.clear()
    ended = go(plan_file, launches)
    assert {name for name, _, _ in launches.asked} & before == {SWEEP}
    assert len(ended.records) == 6
    assert not (Path("run/runs") / SWEEP / "half").exists()


def test_failed_cells_run_again_only_when_asked(plan_file: Path, launches: Any) -> None:
    launches.answers = {CELL: [lambda folder: Attempt((), CRASH)]}
    go(plan_file, launches)
    launches.asked.clear()
    assert record_of(go(plan_file, launches), CELL).failed
    assert launches.asked == []
    assert not record_of(go(plan_file, launches, retry=True), CELL).failed
    assert [name for name, _, _ in launches.asked] == [CELL]


def test_schedules_that_make_no_sense_there_are_no_failure(plan_file: Path, launches: Any) -> None:
    unsuited = Failure("unsuited", "5 is no power of two")
    launches.answers = {CELL: [lambda folder: Attempt((Point(failure=unsuited),))]}
    assert not record_of(go(plan_file, launches), CELL).failed


def test_other_terms_need_another_folder(plan_file: Path, launches: Any) -> None:
    go(plan_file, launches)
    plan = read_measured(plan_file)
    with pytest.raises(UsageError, match=r"was made with seed 1, not 2: .* --out"):
        go(changed(plan, {"seed": 2}), launches)
    with pytest.raises(UsageError, match=r"was made with numbers 64, not 128: .* --out"):
        go(changed(plan, {"vectors": 128}), launches)


def test_other_conditions_stand_beside_the_first(plan_file: Path, launches: Any) -> None:
    go(plan_file, launches)
    ended = go(changed(read_measured(plan_file), {"label": "off"}), launches)
    assert len(ended.records) == 12
    assert [r.cell.conditions for r in ended.records[:2]] == ["flow control on", "off"]


def test_a_plan_may_grow_in_its_folder(plan_file: Path, launches: Any) -> None:
    plan = read_measured(plan_file)
    go(changed(plan, {"only": ("sort",)}), launches)
    launches.asked.clear()
    assert len(go(plan, launches).records) == 6
    assert all(name.startswith("sweep") for name, _, _ in launches.asked)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"cell": 3}', b"\xff"])
def test_a_spoilt_cell_is_named(content: bytes, plan_file: Path, launches: Any) -> None:
    go(plan_file, launches)
    Path("run/cells", f"{CELL}.json").write_bytes(content)
    with pytest.raises(InputError, match="expected a cell of a measured study"):
        go(plan_file, launches)


def test_limits_of_one_host_are_said(plan_file: Path, launches: Any) -> None:
    record = record_of(go(plan_file, launches), SWEEP)
    assert any("no network is measured" in said for said in record.warnings)


def test_a_cluster_has_neither(plan_file: Path, launches: Any) -> None:
    ended = go(plan_file, launches, Site(on="hosts", hosts=9, shared=False, memory=1 << 30))
    assert not any(record.warnings for record in ended.records)
    assert record_of(ended, SWEEP).seats == "4 nodes of 1 rank"
    assert not record_of(ended, SWEEP).one_host
