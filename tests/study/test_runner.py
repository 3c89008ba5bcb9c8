"""Running a plan: order, resuming, failing cells, what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from contend.errors import InputError, UsageError
from contend.study import Outcome, Plan, RunFolder, Step, read_plan, run


def go(plan_file: Path, rooms: Any, plan: Plan | None = None, **options: Any) -> list[Outcome]:
    plan = plan or read_plan(plan_file)
    folder = RunFolder(plan_file.parent.parent / "run", plan)
    return run(
        plan.cells(),
        folder,
        rooms.services(),
        plan_folder=plan_file.parent,
        on_samples=lambda done, expected: None,
        **options,
    )


def test_every_cell_ends_and_failures_tell_their_cause(plan_file: Path, rooms: Any) -> None:
    outcomes = go(plan_file, rooms)
    ended = [(o.record.fabric, o.record.engine, o.record.status) for o in outcomes]
    assert ended == [
        ("one", "good", "done"),
        ("one", "good", "done"),
        ("one", "bad", "failed"),
        ("one", "bad", "failed"),
        ("two", "good", "done"),
    ]
    assert outcomes[2].record.cause == "bad can't route this fabric"


def test_routes_are_computed_once_and_rated_once_a_fabric(plan_file: Path, rooms: Any) -> None:
    go(plan_file, rooms)
    assert rooms.asked("route") == [
        ("crossbar:4", "", "good"),
        ("crossbar:4", "", "bad"),
        ("two.fabric", "", "good"),
    ]
    assert rooms.asked("rate") == [("one",), ("two",)]


def test_what_has_ended_is_not_run_again(plan_file: Path, rooms: Any) -> None:
    first = go(plan_file, rooms)
    rooms.calls.clear()
    steps: list[Step] = []
    second = go(plan_file, rooms, on_step=steps.append)
    assert rooms.calls == []
    assert {step.state for step in steps} == {"kept"}
    assert [o.record for o in second] == [o.record for o in first]


def test_only_what_is_missing_is_run_on_the_kept_fabric(plan_file: Path, rooms: Any) -> None:
    outcomes = go(plan_file, rooms)
    outcomes[1].path.unlink()
    rooms.calls.clear()
    go(plan_file, rooms)
    assert rooms.calls == [("load", "one.good.fabric"), ("simulate", "one", "tree", "random")]


def test_failed_cells_run_again_only_when_asked(plan_file: Path, rooms: Any) -> None:
    go(plan_file, rooms)
    rooms.calls.clear()
    go(plan_file, rooms, retry=True)
    assert rooms.asked("route") == [("crossbar:4", "", "bad")]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (UsageError("no tree for 2 ranks"), "no tree for 2 ranks"),
        (MemoryError(), "not enough memory"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
    ],
)
def test_a_failing_simulation_leaves_the_others(
    error: BaseException, cause: str, plan_file: Path, rooms: Any
) -> None:
    rooms.failing["tree"] = error
    outcomes = go(plan_file, rooms)
    assert outcomes[1].record.cause == cause
    assert [o.record.status for o in outcomes if o.record.pattern == "bisect"] == [
        "done",
        "failed",
        "done",
    ]


def test_an_interrupted_study_keeps_what_has_ended(plan_file: Path, rooms: Any) -> None:
    rooms.failing["tree"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        go(plan_file, rooms)
    folder = RunFolder(plan_file.parent.parent / "run", read_plan(plan_file))
    assert [o.record.pattern for o in folder.outcomes()] == ["bisect"]


def test_files_of_a_plan_are_found_beside_it(plan_file: Path, rooms: Any) -> None:
    beside = plan_file.parent
    for name in ("two.fabric", "tables", "rounds.csv", "hosts"):
        (beside / name).write_text("")
    text = plan_file.read_text()
    text = text.replace('engines = ["good"]\n', 'routes = "tables"\n')
    text = text.replace('pattern = "tree"', 'pattern = "file:rounds.csv"\nplacement = "file:hosts"')
    plan_file.write_text(text)
    go(plan_file, rooms)
    assert rooms.asked("route")[-1] == (str(beside / "two.fabric"), str(beside / "tables"), "")
    assert ("one", f"file:{beside / 'rounds.csv'}", f"file:{beside / 'hosts'}") in rooms.asked(
        "simulate"
    )


def test_samples_come_back_from_the_disk(plan_file: Path, rooms: Any) -> None:
    simulation = go(plan_file, rooms)[0].simulation()
    assert simulation.fabric_name == "one"
    assert simulation.bandwidth == pytest.approx([2 / 3] * 3)
    assert simulation.histogram.dtype == np.uint64
    assert simulation.of_mean_congestion == 0.5


def test_records_hold_every_average(plan_file: Path, rooms: Any) -> None:
    record = go(plan_file, rooms)[0].record
    means = {name: average.mean for name, average in record.averages.items()}
    assert means == pytest.approx(
        {"effective_bandwidth": 2 / 3, "of_mean_congestion": 1 / 2, "of_max_congestion": 1 / 3}
    )
    assert record.rated_bisection == 0.5


def test_single_samples_have_no_interval(plan_file: Path, rooms: Any) -> None:
    outcomes = go(plan_file, rooms, read_plan(plan_file).with_samples(1))
    assert outcomes[0].record.averages["effective_bandwidth"].low is None


def test_a_folder_of_other_samples_is_refused(plan_file: Path, rooms: Any) -> None:
    go(plan_file, rooms)
    with pytest.raises(UsageError, match=r"made with samples 3, not 9: .* --out"):
        go(plan_file, rooms, read_plan(plan_file).with_samples(9))


def test_a_plan_may_grow_in_its_folder(plan_file: Path, rooms: Any) -> None:
    go(plan_file, rooms, read_plan(plan_file).only(("two",)))
    assert len(go(plan_file, rooms)) == 5
    assert rooms.asked("route").count(("two.fabric", "", "good")) == 1


def test_cells_that_would_share_a_file_are_refused(plan_file: Path) -> None:
    plan_file.write_text(
        plan_file.read_text().replace('["good", "bad"]', '["good", "go:od", "go-od"]')
    )
    with pytest.raises(UsageError, match=r"2 cells would be one\.go-od\.bisect\.json"):
        RunFolder(plan_file.parent / "run", read_plan(plan_file))


@pytest.mark.parametrize("content", [b"", b"{}", b'{"fabric": 3}', b"\xff"])
def test_a_spoilt_record_is_named(content: bytes, plan_file: Path, rooms: Any) -> None:
    path = go(plan_file, rooms)[0].path
    path.write_bytes(content)
    with pytest.raises(InputError, match="expected a cell of a study"):
        go(plan_file, rooms)


def test_spoilt_samples_are_named(plan_file: Path, rooms: Any) -> None:
    outcome = go(plan_file, rooms)[0]
    outcome.path.with_suffix(".npz").write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(InputError, match="expected the samples of a cell"):
        outcome.simulation()


def test_cells_of_another_version_are_named(plan_file: Path, rooms: Any) -> None:
    outcome = go(plan_file, rooms)[0]
    plain = {**outcome.record.simulation, "flux": 1}
    changed = msgspec.structs.replace(outcome.record, simulation=plain)
    with pytest.raises(InputError, match="another version"):
        Outcome(changed, outcome.path).simulation()


def test_a_folder_that_cannot_be_made(plan_file: Path) -> None:
    with pytest.raises(UsageError, match=r"File exists|Not a directory"):
        RunFolder(plan_file / "run", read_plan(plan_file))
