"""Merging: what ranks left becomes one profile, whole or not at all; what is missing is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from built_records import (
    ALLREDUCE,
    ALLTOALL,
    RECEIVE,
    SEND,
    Rank,
    full_after,
    leave_records,
    no_program,
)
from contend.base.errors import InputError, ShortfallError, UsageError
from contend.profiling import (
    RECORDS,
    ProgramProfile,
    gathering,
    load_profile,
    merge,
    merging,
    record_form,
)
from contend.profiling.folder import record_files
from contend.profiling.record_form import HEADER


def _ring(size: int = 4, **settings: Any) -> list[Rank]:
    """Every rank sends 1,000 bytes to the next and enters a collective 100 ns after the last."""
    ranks = []
    for number in range(size):
        rank = Rank(number, size, **settings)
        send = rank.cell(SEND, calls=10, size=1000, ticks=20_000, size_class=7)
        reduce = rank.cell(ALLREDUCE, calls=2, ticks=8_000)
        rank.sent = {(number + 1) % size: (1000, 10)}
        rank.collective(1000 + 100 * number, 5000, reduce)
        rank.collective(11_000, 15_000, reduce, number=1)
        for step in range(10):
            rank.event(20_000 + 1000 * step, 20_500 + 1000 * step, send, peer=(number + 1) % size)
            rank.event(20_600 + 1000 * step, 20_900 + 1000 * step, reduce)
        ranks.append(rank)
    return ranks


def _merged(folder: Path, ranks: Sequence[Rank]) -> ProgramProfile:
    merge(leave_records(folder, ranks), run=no_program)
    return ProgramProfile.load(folder)


def test_totals_are_those_of_the_ranks(tmp_path: Path) -> None:
    profile = _merged(tmp_path / "p", _ring())
    assert profile.calls["calls"].sum() == 4 * 12
    assert profile.calls["seconds"].sum() == pytest.approx(4 * 28e-6)
    expected = 1000 * np.roll(np.eye(4), 1, axis=1)
    assert np.array_equal(profile.matrix(), expected)
    assert profile.matrix("messages").sum() == 40
    assert profile.matrix(kind="collective").sum() == 0
    assert profile.record.missing == ()


def test_waiting_is_until_the_last_member_enters(tmp_path: Path) -> None:
    """Entries at 1000, 1100, 1200 and 1300 ns: 300 + 200 + 100 ns of waiting for rank 3."""
    profile = _merged(tmp_path / "p", _ring())
    waiting = profile.collectives.sort("rank")["waiting_s"].to_numpy()
    assert np.allclose(1e9 * waiting, [300, 200, 100, 0])
    assert profile.collectives["occurrences"].to_list() == [2] * 4
    assert np.allclose(1e9 * profile.ranks["caused_s"].to_numpy(), [0, 0, 0, 600])
    # 8 µs in the calls, of which 4 to 3.7 + 4 µs are recorded.
    part = 8e-6 * (0.3 / 8 + 0.2 / 7.9 + 0.1 / 7.8)
    assert profile.findings.waiting_s == pytest.approx(part)


def test_sampled_collectives_stand_for_all(tmp_path: Path) -> None:
    """Of 200 calls 2 are recorded: their waiting is scaled to the time of all calls."""
    ranks = [Rank(number, 2, stride=100) for number in range(2)]
    for rank in ranks:
        cell = rank.cell(ALLREDUCE, calls=200, ticks=400_000)
        rank.collective(1000 * rank.rank, 2000, cell)
    profile = _merged(tmp_path / "p", ranks)
    assert profile.findings.waiting_s == pytest.approx(400e-6 / 2)


def test_communicators_of_one_identity_are_one(tmp_path: Path) -> None:
    ranks = _ring()
    for rank in ranks:
        half = [0, 1] if rank.rank < 2 else [2, 3]
        index = rank.communicator(50 + half[0], half, name="half")
        rank.cell(ALLTOALL, communicator=index)
    profile = _merged(tmp_path / "p", ranks)
    halves = profile.communicators.filter(pl.col("name") == "half")
    assert halves["communicator"].to_list() == [3, 4]
    assert profile.members["rank"].to_list() == [0, 1, 2, 3]
    used = profile.calls.filter(pl.col("routine") == "MPI_Alltoall").sort("rank")
    assert used["communicator"].to_list() == [3, 3, 4, 4]


def test_places_are_the_same_wherever_modules_lie(tmp_path: Path) -> None:
    here, there = Rank(0, 2), Rank(1, 2)
    here.cell(SEND, site=0x400200)
    there.modules = ("00700000-00800000 r-xp 00001000 08:01 17 /nowhere/app",)
    there.cell(SEND, site=0x700200)
    there.cell(RECEIVE, site=0x123)
    profile = _merged(tmp_path / "p", [here, there])
    assert profile.calls["site"].to_list() == [1, 1, 0]
    assert profile.sites["place"].to_list() == ["an unknown place", "app+0x1200"]


def test_clocks_of_hosts_are_brought_together(tmp_path: Path) -> None:
    """The other host's clock is 5,000 ns behind: what it calls 1,000 is 6,000 here."""
    first = Rank(0, 2)
    second = Rank(1, 2, host="node2", offsets=((0, 5000, 40), (10**6, 5000, 40)))
    for rank in (first, second):
        rank.collective(1000, 9000, rank.cell(ALLREDUCE, ticks=8000))
    profile = _merged(tmp_path / "p", [first, second])
    waiting = profile.collectives.sort("rank")["waiting_s"].to_numpy()
    assert np.allclose(1e9 * waiting, [5000, 0])
    assert profile.record.uncertainty_s == pytest.approx(40e-9)
    assert profile.record.rank_hosts == (0, 1)


def test_events_come_back_as_they_were(tmp_path: Path) -> None:
    profile = _merged(tmp_path / "p", _ring(begun=50))
    events = profile.events(2)
    assert events["start_ns"].to_list()[:3] == [19_950, 20_550, 20_950]
    assert events["end_ns"].to_list()[:3] == [20_450, 20_850, 21_450]
    assert events["peer"].to_list()[:2] == [3, -1]
    assert events["routine"].to_list()[:2] == ["MPI_Send", "MPI_Allreduce"]


def test_rounds_are_found(tmp_path: Path) -> None:
    """Ten rounds of 1 µs, of which 0.8 µs are in MPI."""
    [phase] = _merged(tmp_path / "p", _ring()).record.phases
    assert (phase.rounds, phase.calls) == (10, 2)
    assert phase.mean_s == pytest.approx(0.99e-6)
    assert phase.mpi_share == pytest.approx(8 / 9.9)


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    ranks = _ring(6)
    ranks[0].state, ranks[1].state = 0, 2
    ranks[1].exit_code, ranks[2].state = 7, 3
    ranks[3].lost = {"events": 12, "cells": 3}
    ranks[3].requests_lost = 2
    profile = _merged(tmp_path / "p", ranks[:4])
    told = {warning.code: warning.text for warning in profile.record.missing}
    assert told["no-record"].startswith("ranks 4 and 5 left no record")
    assert told["killed"].startswith("rank 0 was ended with the others")
    assert told["aborted"] == "rank 1 called MPI_Abort with 7"
    assert told["exited"] == "rank 2 ended without MPI_Finalize"
    assert "12 events of rank 3 did not fit" in told["lost-events"]
    assert "3 calls of rank 3" in told["lost-cells"]
    assert told["lost-requests"].startswith("2 requests")
    assert profile.record.rank_hosts == (0, 0, 0, 0, None, None)
    assert profile.matrix().shape == (6, 6)


def test_waiting_after_the_record_was_full_is_unknown(tmp_path: Path) -> None:
    """Sends of 16 KiB take rank 0, which was full, 20 µs; events tell 2.5 µs of it.

    What is unknown of collectives is none of it: their entries were kept.
    """
    whole, cut = _ring(), _ring()
    cut[0].lost["events"] = len(cut[0].events) - 10
    del cut[0].events[10:]
    cut[0].cells = [(*cell[:3], 15, *cell[4:]) for cell in cut[0].cells]
    assert _merged(tmp_path / "whole", whole).record.left_out is None
    findings = _merged(tmp_path / "cut", cut).findings
    assert findings.untold_s == pytest.approx(20e-6 - 2.5e-6)
    assert " may be waiting" not in findings.verdict  # 0.2 % of the run


def test_what_a_rank_takes_was_sent_by_another(tmp_path: Path) -> None:
    """Rank 2 gets 3,000 bytes of rank 0 in two operations, and puts 500 there."""
    ranks = _ring()
    ranks[2].sent = {0: (0, 0, 0, 0, 500, 1, 3000, 2)}
    profile = _merged(tmp_path / "p", ranks)
    sent = profile.matrix(kind="one-sided")
    assert (sent[0, 2], sent[2, 0], sent.sum()) == (3000, 500, 3500)
    assert profile.matrix("messages", "one-sided")[0, 2] == 2


def test_a_damaged_record_is_left_and_named(tmp_path: Path) -> None:
    folder = leave_records(tmp_path / "p", _ring())
    damaged = folder / RECORDS / "rank-000002.record"
    damaged.write_bytes(damaged.read_bytes()[:2000])
    record = merge(folder, run=no_program)
    [unreadable, absent] = record.missing
    assert str(damaged) in unreadable.text
    assert absent.text.startswith("rank 2 left no record")
    assert [path.name for path in record_files(folder)] == [damaged.name]
    assert ProgramProfile.load(folder).ranks["rank"].to_list() == [0, 1, 3]


def test_a_rank_that_ended_in_init_is_no_damage(tmp_path: Path) -> None:
    """Nor is its clock, which nobody read, the beginning of the run."""
    folder = leave_records(tmp_path / "p", _ring())
    before = merge(leave_records(tmp_path / "q", _ring()), run=no_program)
    empty = folder / RECORDS / "rank-000002.record"
    content = bytearray(empty.read_bytes())
    header = np.frombuffer(content, HEADER, 1)
    header["clock"]["start_ticks"] = header["clock"]["begun_ticks"] = 0
    empty.write_bytes(content)
    record = merge(folder, run=no_program)
    assert [warned.text for warned in record.missing] == [
        "rank 2 ended in MPI_Init, before it began to record",
        "rank 2 left no record: their calls are missing",
    ]
    assert record.run_s == before.run_s
    assert record_files(folder) == []


def test_records_go_when_the_profile_is_there(tmp_path: Path) -> None:
    folder = leave_records(tmp_path / "p", _ring())
    merge(folder, run=no_program)
    assert not (folder / RECORDS).exists()
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("tables", range(8))
def test_a_merge_that_was_interrupted_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: int
) -> None:
    """The disk is full after some tables, or all of them."""
    folder = leave_records(tmp_path / "p", _ring())
    write = full_after(tables)
    monkeypatch.setattr(gathering, "write_table", write)
    monkeypatch.setattr(merging, "write_profile_record", lambda *_: write(folder, pl.DataFrame()))
    with pytest.raises(OSError, match="No space left"):
        merge(folder)
    monkeypatch.undo()
    with pytest.raises(UsageError, match="not merged yet"):
        ProgramProfile.load(folder)
    assert len(record_files(folder)) == 4
    again = load_profile(folder)
    other = _merged(tmp_path / "q", _ring())
    assert again.calls.equals(other.calls)
    assert again.collectives.equals(other.collectives)


def test_records_that_outlived_a_merge_go(tmp_path: Path) -> None:
    folder = leave_records(tmp_path / "p", _ring())
    kept = {path: path.read_bytes() for path in record_files(folder)}
    merge(folder, run=no_program)
    (folder / RECORDS).mkdir()
    for path, content in kept.items():
        path.write_bytes(content)
    profile = load_profile(folder)
    assert not (folder / RECORDS).exists()
    assert profile.calls["calls"].sum() == 48


def test_no_record_at_all(tmp_path: Path) -> None:
    folder = leave_records(tmp_path / "p", [])
    with pytest.raises(ShortfallError, match="no rank left a record"):
        merge(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("calls.parquet", "a table of a profile"),
        ("peers.parquet", "a table of a profile"),
        ("events.zst", "events in"),
    ],
)
def test_damaged_tables_are_named(tmp_path: Path, name: str, message: str) -> None:
    profile = _merged(tmp_path / "p", _ring())
    path = profile.folder / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=message) as raised:
        (profile.calls, profile.peers, profile.events(3))
    assert raised.value.source == str(path)


def test_numbers_that_lead_nowhere_are_named(tmp_path: Path) -> None:
    profile = _merged(tmp_path / "p", _ring())
    path = profile.folder / "peers.parquet"
    pl.read_parquet(path).with_columns(pl.lit(9, pl.UInt32).alias("source")).write_parquet(path)
    with pytest.raises(InputError, match="source below 4, got 9"):
        profile.matrix()


def test_a_newer_profile_is_refused(tmp_path: Path) -> None:
    profile = _merged(tmp_path / "p", _ring())
    path = profile.folder / "profile.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 99'))
    with pytest.raises(InputError, match="version 99"):
        ProgramProfile.load(profile.folder)


def test_calls_without_a_cell_are_borne(tmp_path: Path) -> None:
    """The record had no room for their cell: they are events, and late, but of no routine."""
    ranks = _ring(2)
    for rank in ranks:
        rank.event(40_000, 40_100, record_form.NO_CELL)
        rank.collective(50_000 + 700 * rank.rank, 51_000, record_form.NO_CELL, number=2)
    profile = _merged(tmp_path / "p", ranks)
    assert profile.events(0)["routine"].to_list()[-1] is None
    assert profile.collectives["occurrences"].to_list() == [2, 2]
    assert np.allclose(1e9 * profile.ranks["caused_s"].to_numpy(), [0, 800])
