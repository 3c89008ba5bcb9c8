"""Several programs of one command: each is a profile of its own, and says how it came."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from built_records import ALLREDUCE, Rank, full_after, leave_records, no_program
from contend.profiling import RECORDS, ProgramProfile, gathering, load_profile, merge
from contend.profiling.folder import record_files
from contend.report.profile.tables import profile_tables

SECOND = 10**9


def _program(word: str, size: int, begun: float, **settings: Any) -> list[Rank]:
    """A program of 1 ms whose ranks call MPI_Allreduce once for each of them."""
    unix = 10**18 + int(begun * SECOND)
    ranks = [
        Rank(rank, size, launch=f"launcher {word}", unix=unix, **settings) for rank in range(size)
    ]
    for rank in ranks:
        rank.cell(ALLREDUCE, calls=size)
    return ranks


def _calls(folder: Path) -> int:
    return int(ProgramProfile.load(folder).calls["calls"].sum())


def test_each_program_is_a_profile(tmp_path: Path) -> None:
    """4 ranks, then 2, which spawn 1 and 1, then 4 that overlap; their calls stay apart."""
    ranks = [
        *_program("second", 2, 1.0, spawns=1),
        *_program("first", 4, 0.0),
        *_program("child", 1, 1.0001, spawned=1, program="/nowhere/child"),
        *_program("other", 1, 1.0002, spawned=1, program="/nowhere/child"),
        *_program("fourth", 3, 1.0003),
    ]
    folder = leave_records(tmp_path / "p", ranks, ended_unix=1e9 + 5)
    record = merge(folder, run=no_program)
    assert (record.ranks, record.origin) == (4, "the first of 5 MPI programs of its command")
    assert [other.folder for other in record.others] == ["p-2", "p-3", "p-4", "p-5"]
    profiles = [ProgramProfile.load(tmp_path / f"p-{number}") for number in range(2, 6)]
    assert [profile.record.origin for profile in profiles] == [
        "begun after p",
        "spawned by p-2",
        "spawned by p-2",
        "begun while p-4 ran",
    ]
    assert [_calls(profile.folder) for profile in profiles] == [4, 1, 1, 9]
    assert (_calls(folder), profiles[1].record.programs) == (16, ("/nowhere/child",))
    assert [profile.record.missing for profile in profiles] == [()] * 4
    assert not (folder / RECORDS).exists()


def test_folders_that_are_there_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "p-2").mkdir()
    folder = leave_records(tmp_path / "p", [*_program("a", 1, 0.0), *_program("b", 2, 1.0)])
    [other] = merge(folder, run=no_program).others
    assert other.folder == "p-3"
    assert (_calls(tmp_path / "p-3"), list((tmp_path / "p-2").iterdir())) == (4, [])


def test_where_nothing_can_be_written_beside_it_others_are_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = leave_records(tmp_path / "p", [*_program("a", 1, 0.0), *_program("b", 2, 1.0)])
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)
    [other] = merge(folder, run=no_program).others
    monkeypatch.undo()
    assert (other.folder, other.origin) == ("p/2", "begun after p")
    assert (_calls(folder / "2"), _calls(folder)) == (4, 1)
    rows = {row[0]: row[1] for row in profile_tables(ProgramProfile.load(folder))[0].rows}
    assert rows["other programs"] == "p/2 (begun after p)"


def test_a_rank_that_did_not_see_rank_0_is_of_its_program(tmp_path: Path) -> None:
    ranks = _program("word", 3, 0.0)
    ranks[2].launch = "launcher "
    record = merge(leave_records(tmp_path / "p", ranks), run=no_program)
    assert (record.others, record.missing) == ((), ())
    assert _calls(tmp_path / "p") == 9


def test_ranks_of_whom_no_program_is_known_are_one(tmp_path: Path) -> None:
    """Of two programs that a rank could be of, it is put to neither."""
    lost = _program("", 3, 0.5)[2:]
    ranks = [*_program("a", 3, 0.0)[:2], *_program("b", 3, 1.0)[:2], *lost]
    record = merge(leave_records(tmp_path / "p", ranks), run=no_program)
    assert len(record.others) == 2
    assert [_calls(tmp_path / name) for name in ("p", "p-2", "p-3")] == [6, 3, 6]


@pytest.mark.parametrize("tables", range(0, 22, 3))
def test_a_merge_that_was_interrupted_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: int
) -> None:
    """The disk is full after some of the tables of three programs, of 8 each."""
    ranks = [rank for n, word in enumerate("abc") for rank in _program(word, n + 1, n)]
    folder = leave_records(tmp_path / "p", ranks)
    monkeypatch.setattr(gathering, "write_table", full_after(tables))
    with pytest.raises(OSError, match="No space left"):
        merge(folder, run=no_program)
    monkeypatch.undo()
    assert load_profile(folder).record.merged
    assert [_calls(tmp_path / name) for name in ("p", "p-2", "p-3")] == [1, 4, 9]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "p-2", "p-3"]


def test_a_damaged_record_of_another_program_stays(tmp_path: Path) -> None:
    folder = leave_records(tmp_path / "p", [*_program("a", 1, 0.0), *_program("b", 1, 1.0)])
    damaged = folder / RECORDS / "rank-000000-2.record"
    damaged.write_bytes(damaged.read_bytes()[:2000])
    [warning] = merge(folder, run=no_program).missing
    assert str(damaged) in warning.text
    assert record_files(folder) == [damaged]
    assert _calls(folder) == 1


def test_ranks_that_do_not_find_each_other_are_told(tmp_path: Path) -> None:
    """Four programs of one rank and one file at a time; and again one after the other."""
    together = [rank for word in "abcd" for rank in _program(word, 1, 0.0)]
    [warning] = merge(leave_records(tmp_path / "p", together), run=no_program).missing
    assert warning.code == "apart"
    assert warning.text.startswith("4 programs of one rank ran app at the same time")
    apart = [rank for n, word in enumerate("abcd") for rank in _program(word, 1, n)]
    assert merge(leave_records(tmp_path / "q", apart), run=no_program).missing == ()


def test_the_end_of_a_killed_program_is_not_that_of_the_next(tmp_path: Path) -> None:
    """Killed in its first millisecond, 10 s before the command ended; the next one came at 5 s."""
    ranks = [*_program("a", 1, 0.0, state=0), *_program("b", 1, 5.0, state=0)]
    merge(leave_records(tmp_path / "p", ranks, ended_unix=1e9 + 10), run=no_program)
    ends = [ProgramProfile.load(tmp_path / name).ranks["ended_s"].item() for name in ("p", "p-2")]
    assert ends == pytest.approx([1e-3, 5], abs=1e-3)


def test_a_program_of_another_library_is_told(tmp_path: Path) -> None:
    folder = leave_records(tmp_path / "p", _program("a", 1, 0.0))
    (folder / RECORDS / "other-library").write_text("/nowhere/libmpi.so\n")
    [warning] = merge(folder, run=no_program).missing
    assert warning.code == "another-library"
    assert "/nowhere/libmpi.so" in warning.text
