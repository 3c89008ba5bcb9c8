"""The folder of a run: kept whole, folded, read again, refused when damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from contend.base.errors import InputError, UsageError
from contend.lab.runs import (
    SCHEMA,
    Kind,
    LaunchRecord,
    LibraryRecord,
    Run,
    RunRecord,
    Warned,
    find_runs,
)
from contend.lab.runs import run as run_module
from sample_files import Launch


def launched(ranks: int = 4, *sizes: int, **labels: Any) -> Launch:
    launch = Launch(ranks)
    for size in sizes or (8, 1024):
        launch.cell([1e-3, 2e-3, 3e-3], algorithm="linear", bytes=size, **labels)
    return launch


def record(*launches: int) -> RunRecord:
    return RunRecord(
        "alltoall",
        library=LibraryRecord("Open MPI", "5.0.11"),
        launches=tuple(LaunchRecord(number, 4) for number in launches),
        warnings=(Warned("unbound", "bind ranks"),),
    )


def names(run: Run) -> list[str]:
    return sorted(path.name for path in run.folder.iterdir())


def test_what_is_folded_is_read_again(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    launched().write(run.raw_path(0))
    folded = run.fold()
    loaded = Run.load(run.folder)
    assert names(run) == ["run.json", "samples.parquet"]
    assert loaded.record == folded.record
    assert loaded.samples.equals(folded.samples)
    assert dict(loaded.samples.schema) == dict(SCHEMA)
    # Two cells of one warm-up and three samples, four ranks each.
    assert loaded.samples.height == 2 * 4 * 4


def test_what_the_launch_said_is_in_the_record(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    launched().write(run.raw_path(0))
    measured = run.fold().record.launches[0].measured
    assert [(host.name, host.ranks, host.cpus) for host in measured.hosts] == [
        ("n0", 2, 2),
        ("n1", 2, 2),
    ]
    assert [end.reason for end in measured.ends] == ["repetitions"] * 2
    assert measured.probe.timer_s == 2.1e-8
    assert measured.done is not None


def test_a_run_under_way_can_be_read(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    assert Run.load(run.folder).samples.is_empty()
    run.raw_path(0).write_bytes(b"")
    assert Run.load(run.folder).samples.is_empty()
    content = launched().content()
    run.raw_path(0).write_bytes(content[: len(content) - 200])
    loaded = Run.load(run.folder)
    assert loaded.samples["cell"].n_unique() == 2
    measured = loaded.record.launches[0].measured
    assert measured.ends[-1].reason == "cut"
    assert names(run) == ["launch-000.samples", "run.json"]


def test_cells_of_launches_in_other_order_are_the_same_cells(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0, 1))
    launched(4, 8, 1024).write(run.raw_path(0))
    launched(4, 1024, 8, 64).write(run.raw_path(1))
    folded = run.fold()
    assert [(cell.cell, cell.bytes) for cell in folded.record.cells] == [(0, 8), (1, 1024), (2, 64)]
    pairs = folded.samples.select("cell", "bytes").unique().sort("cell")
    assert pairs.rows() == [(0, 8), (1, 1024), (2, 64)]
    assert [cell.launches for cell in folded.summaries] == [2, 2, 1]


def test_other_ranks_hosts_or_labels_are_other_cells(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0, 1, 2))
    launched(4, 8).write(run.raw_path(0))
    launched(2, 8).write(run.raw_path(1))
    launched(4, 8, counts="even").write(run.raw_path(2))
    assert len(run.fold().record.cells) == 3


def test_launches_can_be_added_later(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    launched(4, 8).write(run.raw_path(0))
    run.fold()
    again = Run.load(run.folder)
    launched(4, 8, 16).write(again.raw_path(1))
    folded = again.fold(record(0, 1))
    assert folded.samples["launch"].unique().to_list() == [0, 1]
    assert [launch.measured is not None for launch in folded.record.launches] == [True, True]
    assert folded.record.cells == Run.load(run.folder).record.cells


@pytest.mark.parametrize("step", ["write_record", "unlink"])
def test_an_interrupted_fold_can_be_done_again(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.create(tmp_path / "run", record(0, 1))
    launched(4, 8).write(run.raw_path(0))
    run = run.fold()
    launched(4, 64, 8).write(run.raw_path(1))

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if step == "unlink":
            patch.setattr(Path, "unlink", interrupted)
        else:
            patch.setattr(run_module, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            run.fold()
    expected = [(0, 8), (1, 64)]
    between = Run.load(run.folder)
    assert between.samples.select("cell", "bytes").unique().sort("cell").rows() == expected
    again = between.fold()
    assert again.samples.equals(between.samples)
    assert names(run) == ["run.json", "samples.parquet"]


def test_a_damaged_launch_stays_with_a_warning(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0, 1))
    launched(4, 8).write(run.raw_path(0))
    run.raw_path(1).write_bytes(launched().content() + b"garbage")
    folded = run.fold().fold()
    assert [warning.code for warning in folded.record.warnings] == ["unbound", "unreadable"]
    assert "launch-001.samples: expected" in folded.record.warnings[1].text
    assert names(run) == ["launch-001.samples", "run.json", "samples.parquet"]
    assert folded.samples["launch"].unique().to_list() == [0]


def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", record())
    with pytest.raises(UsageError, match="a run is here already"):
        Run.create(tmp_path / "run", record())


def test_no_run_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run is here"):
        Run.load(tmp_path)
    with pytest.raises(UsageError, match="no run is here"):
        find_runs(tmp_path / "nowhere")


def test_runs_within_a_folder_are_found(tmp_path: Path) -> None:
    for name in ("b", "a/c"):
        Run.create(tmp_path / name, record())
    assert find_runs(tmp_path) == [tmp_path / "a/c", tmp_path / "b"]
    assert find_runs(tmp_path / "b") == [tmp_path / "b"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "a run of version 1 or older, got version 2"),
        ({"version": "x"}, "what contend keeps of a run"),
        ({"probe": 3}, "what contend keeps of a run"),
        ({"cells": []}, "launches and cells of run.json"),
        ({"launches": []}, "launches and cells of run.json"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    run = Run.create(tmp_path / "run", record(0))
    launched().write(run.raw_path(0))
    run.fold()
    path = run.folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=message):
        Run.load(run.folder)


def test_what_later_versions_add_to_a_record_is_passed_over(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    path = run.folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"weather": "fine"}))
    assert Run.load(run.folder).record.probe == "alltoall"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.lit(1).alias("rank"), "column rank of UInt32, got Int32"),
        (pl.lit(None, pl.Float64()).alias("end_s"), "values in all columns"),
        (pl.lit("x").alias("barriers_s"), "column barriers_s of Float64, got String"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(
    change: pl.Expr, message: str, tmp_path: Path
) -> None:
    run = Run.create(tmp_path / "run", record(0))
    launched().write(run.raw_path(0))
    path = run.fold().folder / "samples.parquet"
    pl.read_parquet(path).with_columns(change).write_parquet(path)
    with pytest.raises(InputError, match=message):
        Run.load(run.folder)


def test_no_half_table_is_left_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.create(tmp_path / "run", record(0))
    launched().write(run.raw_path(0))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(OSError, match="No space left"):
        run.fold()
    assert names(run) == ["launch-000.samples", "run.json"]


def test_the_result_of_a_sample_is_latest_end_minus_earliest_start(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    launch = Launch(3).cell([0.5], warmups=0, algorithm="a", durations={"barriers_s": 0.25})
    launch.write(run.raw_path(0))
    row = run.fold().results.row(0, named=True)
    assert row["result_s"] == pytest.approx(0.5)
    # Rank 2 starts a millionth of the result late.
    assert row["late_by_s"] == pytest.approx(0.5e-6)
    assert row["barriers_s"] == pytest.approx(0.125)


def test_cells_are_a_table_with_their_labels(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    Launch(4).cell([1e-3] * 7, algorithm="linear", bytes=1000, n=5, late=[1]).write(run.raw_path(0))
    row = run.fold().cells().row(0, named=True)
    assert (row["n"], row["used"], row["late"], row["label_n"]) == (7, 6, 1, "5")
    # Three others get 1,000 bytes within a millisecond.
    assert row["rate_Bps_per_rank"] == pytest.approx(3e6)
    assert row["verified"] is True


def test_late_samples_count_when_too_few_others_are_there(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    launch = Launch(4).cell([1e-3] * 7, algorithm="linear", bytes=8, late=[1, 2])
    launch.write(run.raw_path(0))
    cell = run.fold().summaries[0]
    assert (cell.n, cell.late, cell.used, cell.late_count) == (7, 2, 7, True)


def test_a_kept_run_has_the_figures_that_it_had(tmp_path: Path) -> None:
    kept = Path(__file__).parents[2] / "data" / "run-1"
    run = Run.load(Path(shutil.copytree(kept, tmp_path / "run")))
    figures = {(one.schedule, one.record.bytes): one for one in run.findings.cells}
    assert len(figures) == 4
    library = figures["library", 4096]
    assert (library.n, library.late) == (12, 2)
    assert library.median.value == pytest.approx(0.0006114322570225927, rel=1e-12)
    # The same interval; of two launches, it covers half.
    assert library.median.interval == pytest.approx(
        (0.0005891830669451092, 0.0006285087582789117), rel=1e-12
    )
    assert library.median.coverage == 0.5
    modes = figures["library", 16384].two_kinds
    assert (modes.slow, modes.count) == (6, 12)
    (collapse,) = run.findings.collapses
    assert (collapse.kind, collapse.worst.record.bytes) == (Kind.FALLS, 16384)
    assert collapse.factor.value == pytest.approx(82.65776968404477, rel=1e-9)
    assert [(one.bytes, one.winner.schedule) for one in run.findings.contests] == [
        (4096, "library"),
        (16384, "pairwise"),
    ]
    assert run.record.question == {}
    assert run.record.errors == ()
    assert run.findings.errors == ()
    # Going on with it keeps what it has.
    Launch(16).cell([1e-3] * 7, algorithm="library", bytes=4096).write(run.raw_path(2))
    assert run.fold().samples.height == run.samples.height + 8 * 16
