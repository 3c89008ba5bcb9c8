"""Simulated studies over the engine: order, failing cells, what is kept."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from contend.base.errors import InputError, UsageError
from contend.congestion import Links
from contend.lab.session import Attempt, Observer, Step
from contend.lab.studies import SimulatedOutcome, SimulatedPlan, read_plan, run_simulations


def go(
    plan_file: Path, rooms: Any, plan: SimulatedPlan | None = None, **options: Any
) -> list[SimulatedOutcome]:
    folder = plan_file.parent.parent / "run"
    plan = plan or read_plan(plan_file)
    return list(run_simulations(plan, folder, beside=plan_file.parent, **options).outcomes)


class Listener(Observer):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []

    def ended(self, step: Step, attempt: Attempt) -> None:
        self.attempts.append(attempt)


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


def test_every_simulation_is_told_with_its_average(plan_file: Path, rooms: Any) -> None:
    listener = Listener()
    go(plan_file, rooms, observer=listener)
    assert [a.summary for a in listener.attempts if a.failure is None] == ["50.0 %"] * 3


def test_routes_are_computed_once_and_rated_once_a_fabric(plan_file: Path, rooms: Any) -> None:
    go(plan_file, rooms)
    assert rooms.asked("route") == [
        ("crossbar:4", "", "good"),
        ("crossbar:4", "", "bad"),
        ("two.fabric", "", "good"),
    ]
    assert len(rooms.asked("rate")) == 2


def test_only_what_is_missing_is_run_on_the_kept_fabric(plan_file: Path, rooms: Any) -> None:
    outcomes = go(plan_file, rooms)
    outcomes[1].path.unlink()
    rooms.calls.clear()
    go(plan_file, rooms)
    assert [call[0] for call in rooms.calls] == ["load", "simulate"]
    assert rooms.calls[1] == ("simulate", "one", "tree", "random")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (UsageError("no tree for 2 ranks"), "no tree for 2 ranks"),
        (MemoryError(), "not enough memory"),
        (OSError(5, "Input/output error"), "[Errno 5] Input/output error"),
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
    assert (simulation.fabric.name, simulation.fabric.hosts) == ("one", 2)
    assert simulation.links == (Links("4xHDR", 25e9, 2),)
    assert simulation.bandwidth == pytest.approx([2 / 3] * 3)
    assert simulation.histogram.dtype == np.uint64
    assert simulation.effective_bandwidth.of_mean_congestion == 0.5


def test_records_hold_every_average(plan_file: Path, rooms: Any) -> None:
    record = go(plan_file, rooms)[0].record
    means = {name: average.mean for name, average in record.averages.items()}
    assert means == pytest.approx(
        {"effective_bandwidth": 2 / 3, "of_mean_congestion": 1 / 2, "of_max_congestion": 1 / 3}
    )
    assert record.rated_bisection == 0.5


def test_single_samples_have_no_interval(plan_file: Path, rooms: Any) -> None:
    outcomes = go(plan_file, rooms, read_plan(plan_file).changed(samples=1))
    assert outcomes[0].record.averages["effective_bandwidth"].low is None


def test_other_questions_stand_beside_the_first(plan_file: Path, rooms: Any) -> None:
    """Samples, precision and seed are conditions: none is shown for another."""
    first = go(plan_file, rooms)
    for changes in ({"samples": 9}, {"precision": 0.5}, {"seed": 2}):
        rooms.calls.clear()
        outcomes = go(plan_file, rooms, read_plan(plan_file).changed(**changes))
        assert len(rooms.asked("simulate")) == 3
        for name, value in changes.items():
            assert all(getattr(o.record.request, name) == value for o in outcomes)
    rooms.calls.clear()
    assert [o.record for o in go(plan_file, rooms)] == [o.record for o in first]
    assert rooms.calls == []


def test_another_file_of_the_same_name_is_another_question(plan_file: Path, rooms: Any) -> None:
    beside = plan_file.parent / "two.fabric"
    beside.write_text("as it was")
    go(plan_file, rooms)
    rooms.calls.clear()
    beside.write_text("as it is")
    go(plan_file, rooms)
    assert rooms.asked("route") == [(str(beside), "", "good")]
    assert [name for name, *_ in rooms.asked("simulate")] == ["two"]


def test_two_names_of_one_question_share_its_answer(plan_file: Path, rooms: Any) -> None:
    text = plan_file.read_text().replace(
        "[[pattern]]", '[[fabric]]\nname = "again"\nsource = "crossbar:4"\n\n[[pattern]]', 1
    )
    plan_file.write_text(text)
    outcomes = go(plan_file, rooms)
    assert [o.record.fabric for o in outcomes] == ["one"] * 4 + ["two"] + ["again"] * 2
    assert len(rooms.asked("simulate")) == 3


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
        SimulatedOutcome(changed, outcome.path).simulation()


def test_a_folder_that_cannot_be_made(plan_file: Path, rooms: Any) -> None:
    with pytest.raises(UsageError, match=r"File exists|Not a directory"):
        run_simulations(read_plan(plan_file), plan_file / "run", beside=plan_file.parent)


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda record: record["averages"].pop("of_mean_congestion"),
        lambda record: record["averages"]["of_mean_congestion"].pop("mean"),
        lambda record: record["simulation"].pop("samples"),
        lambda record: record["simulation"].update(samples="many"),
        lambda record: record.update(averages={}),
    ],
)
def test_a_record_without_its_figures_is_named(spoilt: Any, plan_file: Path, rooms: Any) -> None:
    path = go(plan_file, rooms)[0].path
    record = json.loads(path.read_text())
    spoilt(record)
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="expected a cell of a study"):
        go(plan_file, rooms)


def test_flipped_bits_of_samples_are_named(plan_file: Path, rooms: Any) -> None:
    outcome = go(plan_file, rooms)[0]
    samples = outcome.path.with_suffix(".npz")
    whole = samples.read_bytes()
    for place in range(0, len(whole), 3):
        samples.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        # What is damaged without harm to the arrays may be read; nothing else may be raised.
        with contextlib.suppress(InputError):
            outcome.simulation()


def test_hosts_that_take_part_are_rated(tmp_path: Path) -> None:
    """All share half as many cables up as there are hosts; hosts of one leaf need none."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        """
name = "part"
engines = ["minhop"]
samples = 5
[[fabric]]
name = "tree"
source = "xgft:2;8,8;1,4"
[[pattern]]
name = "all"
pattern = "bisect"
[[pattern]]
name = "leaf"
pattern = "bisect"
placement = "same-leaf"
"""
    )
    outcomes = run_simulations(read_plan(plan), tmp_path / "results", beside=tmp_path).outcomes
    assert [outcome.record.rated_bisection for outcome in outcomes] == [0.5, 1.0]
