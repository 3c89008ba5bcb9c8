"""Damaged files of samples and run folders are borne or refused; nothing else escapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contend.report import measure_json
from contend.report.run.tables import run_tables
from contend.runs import LaunchRecord, Run, RunRecord, SampleTail
from contend.runs.frames import Frames
from contend.runs.launch_file import parse
from fuzzing import drive
from sample_files import Launch

ROUNDS = 1500


def seeds() -> list[bytes]:
    small = Launch(2).cell([1e-3, 2e-3], algorithm="linear", bytes=1024, counts="even")
    mixed = (
        Launch(3, name="sort")
        .cell(np.full(7, 1e-3), algorithm="a", bytes=0, durations={"barriers_s": 0.1})
        .cell([], reason="skipped", verified=None, algorithm="b", bytes=8)
        .cell(np.full(7, 1e-3), algorithm="a", bytes=9, instants={"counted": 0.5}, late=[1, 2])
    )
    return [small.content(), mixed.content(), mixed.content(done=False)[:-20]]


def test_damaged_files_of_samples() -> None:
    def read(content: bytes) -> None:
        raw = parse(np.frombuffer(content, np.uint8), "fuzz")
        assert raw.frame.height <= len(content) / 16
        assert raw.frame["rank"].is_between(0, raw.probe.ranks - 1).all()

    assert drive(read, seeds(), rounds=ROUNDS) == []


def test_a_tail_bears_what_a_reader_refuses(tmp_path: Path) -> None:
    path = tmp_path / "launch-000.samples"

    def follow(content: bytes) -> None:
        path.write_bytes(content[: len(content) // 2])
        tail = SampleTail(path)
        before = tail.poll()
        path.write_bytes(content)
        after = tail.poll()
        assert after.samples >= before.samples

    assert drive(follow, seeds(), rounds=ROUNDS // 3) == []


def test_a_run_whose_launch_is_damaged_is_shown_all_the_same(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", RunRecord("alltoall", launches=(LaunchRecord(0, 2),)))

    def show(content: bytes) -> None:
        run.raw_path(0).write_bytes(content)
        loaded = Run.load(run.folder)
        run_tables(loaded)
        measure_json(loaded)

    assert drive(show, seeds(), rounds=ROUNDS // 3) == []


@pytest.mark.parametrize("name", ["run.json", "samples.parquet"])
def test_damaged_files_of_a_run(name: str, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", RunRecord("alltoall", launches=(LaunchRecord(0, 2),)))
    run.raw_path(0).write_bytes(seeds()[0])
    whole = (run.fold().folder / name).read_bytes()

    def load(content: bytes) -> None:
        (run.folder / name).write_bytes(content)
        loaded = Run.load(run.folder)
        run_tables(loaded)
        measure_json(loaded)

    # A table's compressed pages have few places where damage is not found by their checksums.
    assert drive(load, [whole], rounds=ROUNDS // 5) == []


def test_the_driver_finds_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if lengths were not looked at before cells are.
    def unchecked(self: object, frames: Frames, number: int) -> object:
        return self._cells[number]  # type: ignore[attr-defined]

    monkeypatch.setattr("contend.runs.launch_file._Parser._cell_of", unchecked)
    faults = drive(
        lambda content: parse(np.frombuffer(content, np.uint8), "fuzz"), seeds(), rounds=ROUNDS
    )
    assert {type(fault.error) for fault in faults} >= {KeyError, ValueError}
