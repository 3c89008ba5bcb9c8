"""The table of samples: no start's samples are lost, and no other file is read in its place."""

from __future__ import annotations

import os
import struct
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from contend.base.errors import ContendError, InputError
from contend.lab.runs import SCHEMA, LaunchRecord, Run, RunRecord, find_runs
from contend.lab.runs.parquet import read_table, write_table
from processes import finished
from sample_files import Launch


def record(*numbers: int) -> RunRecord:
    return RunRecord("alltoall", launches=tuple(LaunchRecord(number, 2) for number in numbers))


def launched(count: int, seconds: float = 1e-3, **more: Any) -> Launch:
    return Launch(2, **more).cell([seconds] * count, warmups=0, algorithm="linear", bytes=8)


def one_run(folder: Path, count: int = 5) -> Run:
    run = Run.create(folder, record(0))
    launched(count).write(run.raw_path(0))
    return run.fold()


# Names that some program somewhere takes for more than a name.
@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("q[1]", "q1"),
        ("r *?", "r xy"),
        ("{a,b}", "a"),
        ("x=1", "x"),
        ("**", "y"),
        ("~", "z"),
        ("s3:", "s"),
        ("%71", "q"),
        ("hf:", "h"),
    ],
)
@pytest.mark.parametrize("relative", [True, False])
def test_a_runs_path_stands_for_itself(
    name: str, beside: str, relative: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    base = Path() if relative else tmp_path
    one_run(base / beside, 3)
    one_run(base / name, 5)
    loaded = Run.load(base / name)
    assert loaded.samples.height == 5 * 2
    assert find_runs(base / name) == [base / name]
    # Folding again, as going on with a run does, takes its own samples too.
    launched(2).write(loaded.raw_path(1))
    assert loaded.fold(record(0, 1)).samples.height == (5 + 2) * 2
    assert Run.load(base / beside).samples.height == 3 * 2


def test_a_second_start_under_one_number_loses_no_sample(tmp_path: Path) -> None:
    """As after an interruption: launch 0 is started anew, and interrupted again, sooner."""
    run = Run.create(tmp_path / "run", record(0))
    heights = []
    for count, seconds in ((50, 1e-3), (20, 2e-3), (30, 3e-3)):
        launched(count, seconds).write(run.raw_path(0), done=False)
        run = run.fold(record(0))
        heights.append(run.samples.height)
    assert heights == [100, 140, 200]
    loaded = Run.load(run.folder)
    assert loaded.samples.equals(run.samples)
    # Each start is a launch: the newest has the number.
    assert [launch.number for launch in loaded.record.launches] == [0, 1, 2]
    assert [cell.launches for cell in loaded.findings.cells] == [3]
    newest = loaded.results.filter(pl.col("launch") == 0)["result_s"]
    assert newest.len() == 30
    assert newest[0] == pytest.approx(3e-3)
    assert loaded.next_launch() == 3


def test_a_start_whose_record_was_replaced_keeps_its_samples(tmp_path: Path) -> None:
    """What going on does: it keeps a new record of the launch before anything is measured."""
    run = one_run(tmp_path / "run", 40)
    run = Run(run.folder, record(0), run.samples)
    launched(10, 5e-3).write(run.raw_path(0))
    assert run.fold().samples.height == (40 + 10) * 2


def test_two_starts_alike_in_their_instants_are_told_by_their_words(tmp_path: Path) -> None:
    run = one_run(tmp_path / "run", 6)
    launched(6, epoch_unix_s=1.8e9).write(run.raw_path(0))
    assert run.fold().samples.height == 2 * 6 * 2


@pytest.mark.parametrize("step", ["write_record", "unlink"])
def test_a_fold_of_a_second_start_can_be_interrupted(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = one_run(tmp_path / "run", 40)
    launched(10, 5e-3).write(run.raw_path(0))

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if step == "unlink":
            patch.setattr(Path, "unlink", interrupted)
        else:
            patch.setattr("contend.lab.runs.run.write_record", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run.fold()
    between = Run.load(run.folder)
    assert between.samples.height == (40 + 10) * 2
    again = between.fold()
    assert again.samples.height == (40 + 10) * 2
    assert Run.load(run.folder).samples.equals(again.samples)


def test_a_file_that_lost_its_end_takes_nothing_away(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record(0))
    content = launched(30).content()
    run.raw_path(0).write_bytes(content)
    run = run.fold()
    run.raw_path(0).write_bytes(content[: len(content) // 2])
    again = run.fold()
    assert again.samples.height == 30 * 2
    assert again.record == run.record


def test_a_launch_takes_a_number_that_none_had(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record())
    assert run.next_launch() == 0
    run = one_run(tmp_path / "one")
    assert run.next_launch() == 1
    run.raw_path(7).write_bytes(b"")
    assert run.next_launch() == 8


def zeros(path: Path, rows: int, columns: int) -> Path:
    """A table whose columns are nothing but equal values, which takes next to no room."""
    one = pl.DataFrame(
        {name: pl.Series([0], dtype=pl.Int64).cast(kind) for name, kind in SCHEMA.items()}
    )
    more = {f"c{number}_s": 0.0 for number in range(columns)}
    row = one.with_columns(**{name: pl.lit(value) for name, value in more.items()})
    row.select(pl.all().repeat_by(rows).explode()).write_parquet(path, compression="zstd")
    return path


def test_a_small_table_that_claims_very_much_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = zeros(tmp_path / "samples.parquet", 1_000_000, 10)
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="that would become more than"):
            read_table(path, SCHEMA)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def test_a_long_text_that_packs_well_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    names = pl.Series(["a" * (1 << 28)])
    zeros(path, 1, 0)
    pl.read_parquet(path).with_columns(algorithm=names).write_parquet(path, compression="zstd")
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError, match="that would become more than"):
        read_table(path, SCHEMA)


def test_a_footer_that_understates_its_rows_is_refused(tmp_path: Path) -> None:
    path = zeros(tmp_path / "samples.parquet", 300, 0)
    content = path.read_bytes()
    length = struct.unpack("<I", content[-8:-4])[0]
    footer = content[-8 - length : -8]
    # Zigzag: 300 rows are written as 600, which takes two bytes; 299 as 598.
    changed = footer.replace(b"\xd8\x04", b"\xd6\x04")
    assert changed != footer
    path.write_bytes(content[: -8 - length] + changed + content[-8:])
    with pytest.raises(InputError, match="other numbers of rows"):
        read_table(path, SCHEMA)


def test_what_is_written_is_read_again_whatever_its_size(tmp_path: Path) -> None:
    path = tmp_path / "samples.parquet"
    for count in (0, 1, 2000):
        table = one_run(tmp_path / f"run-{count}", count).samples
        assert table.height == 2 * count
        write_table(path, table)
        assert read_table(path, SCHEMA).equals(table)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_no_table(make: Any, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", record())
    make(run.folder / "samples.parquet")
    with pytest.raises(InputError, match="a table of samples, got no file"):
        Run.load(run.folder)


LOADER = """
import sys
from pathlib import Path
from contend.base.errors import ContendError
from contend.lab.runs import Run

folder, refused = Path(sys.argv[1]), 0
whole = (folder / "samples.parquet").read_bytes()
for at in range(4, len(whole), 7):
    changed = bytearray(whole)
    changed[at] ^= 0x55
    (folder / "samples.parquet").write_bytes(changed)
    try:
        Run.load(folder)
    except ContendError as error:
        assert "\\n" not in str(error), error
        refused += 1
print(refused)
"""


def test_damaged_tables_print_no_panics(tmp_path: Path) -> None:
    run = one_run(tmp_path / "run", 40)
    ended = finished([sys.executable, "-c", LOADER, str(run.folder)])
    assert (ended.stderr, ended.returncode) == ("", 0)
    assert int(ended.stdout) > 100


def test_a_panic_of_the_decoder_is_one_error_and_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = one_run(tmp_path / "run")

    def panicking(*_: Any, **__: Any) -> None:
        os.write(2, b"thread '<unnamed>' panicked at src/read.rs:1:1\n")
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl, "read_parquet", panicking)
    with pytest.raises(InputError, match="a table of samples, got index out of bounds"):
        Run.load(run.folder)
    assert capfd.readouterr().err == ""


def test_what_others_print_meanwhile_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = one_run(tmp_path / "run")
    read = pl.read_parquet

    def chatting(*arguments: Any, **options: Any) -> pl.DataFrame:
        os.write(2, b"by the way\n")
        return read(*arguments, **options)

    monkeypatch.setattr(pl, "read_parquet", chatting)
    assert Run.load(run.folder).samples.height == 10
    assert capfd.readouterr().err == "by the way\n"


@pytest.mark.parametrize(
    ("path", "number"),
    [
        (("cells", 0, "ranks"), f"{-(1 << 63)}"),
        (("cells", 0, "ranks"), f"{1 << 40}"),
        (("cells", 0, "hosts"), "0"),
        (("cells", 0, "cell"), f"{1 << 70}"),
        (("cells", 0, "bytes"), f"{1 << 63}"),
        (("cells", 0, "bytes"), "-1"),
        (("launches", 0, "number"), f"{1 << 62}"),
        (("launches", 0, "number"), "-1"),
        (("launches", 0, "ranks"), f"{-(1 << 63)}"),
        (("launches", 0, "measured", "hosts", 0, "ranks"), f"{-(1 << 63)}"),
        (("launches", 0, "measured", "torn_bytes"), f"{-(1 << 63)}"),
        (("launches", 0, "measured", "ends", 0, "cell"), "9" * 400),
        (("wire_Bps",), "-1.0"),
        (("version",), "9" * 5000),
    ],
)
def test_absurd_numbers_in_a_record_are_one_clear_error(
    path: tuple[Any, ...], number: str, tmp_path: Path
) -> None:
    run = one_run(tmp_path / "run")
    file = run.folder / "run.json"
    content = msgspec.json.decode(file.read_bytes())
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = "a number stands here"
    text = msgspec.json.encode(content).replace(b'"a number stands here"', number.encode())
    file.write_bytes(text)
    with pytest.raises(ContendError) as caught:
        Run.load(run.folder)
    assert isinstance(caught.value, InputError)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_a_record_that_is_no_file_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run" / "run.json")
    with pytest.raises(ContendError, match="no run is here"):
        Run.load(tmp_path / "run")
