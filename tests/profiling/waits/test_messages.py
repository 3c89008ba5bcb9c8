"""Who waited for whom in messages and nonblocking collectives, where the answers are known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from built_records import SITE, Rank, leave_records
from contend.base.process import Finished
from contend.profiling import ProgramProfile, merge

ROUTINES = (
    "MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Irecv", "MPI_Isend", "MPI_Wait", "MPI_Waitall",
    "MPI_Waitany", "MPI_Ibarrier", "MPI_Test", "MPI_Probe", "MPI_Sendrecv",
    "MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait", "MPI_Win_lock",
    "MPI_Win_flush", "MPI_Win_unlock",
)  # fmt: skip
(
    SEND, SSEND, RECEIVE, BEGIN_RECEIVE, BEGIN_SEND, WAIT, WAIT_ALL, WAIT_ANY, BARRIER, TEST, PROBE,
    EXCHANGE, POST, START, COMPLETE, WINDOW_WAIT, LOCK, FLUSH, UNLOCK,
) = range(len(ROUTINES))  # fmt: skip
COMPLETION, PART = 1, 2


class Doing(Rank):
    """A rank whose every call has its own cell, so that each can be told apart."""

    def call(self, routine: int, start: int, end: int, **event: Any) -> int:
        cell = self.cell(routine, ticks=end - start, site=SITE + len(self.cells))
        self.event(start, end, cell, **event)
        return cell

    def done(self, request: int, peer: int = -1, **event: Any) -> None:
        last = self.events[-1]
        self.event(
            last[0] - self.base, last[1] - self.base, last[3],
            kind=COMPLETION, request=request, peer=peer, **event,
        )  # fmt: skip


def doing(size: int, **more: Any) -> list[Doing]:
    return [
        Doing(rank, size, routines=ROUTINES, offsets=((0, 0, 0),) * 2, **more)
        for rank in range(size)
    ]


def waits(folder: Path, ranks: Sequence[Rank]) -> dict[tuple[int, int], tuple[int, str, int]]:
    """By rank and cell: the rank that was waited for, as what, and nanoseconds."""
    merge(leave_records(folder, ranks), run=lambda *_: Finished(1))
    profile = ProgramProfile.load(folder)
    return {
        (row["rank"], row["cell"]): (row["awaited"], row["kind"], round(1e9 * row["seconds"]))
        for row in profile.waits.to_dicts()
    }


def test_messages_do_not_overtake_each_other(tmp_path: Path) -> None:
    """Two receives from anyone: the first that was posted takes what was sent first, at 100.

    The second is waited for first, from 50 on, and its message is sent at 500.
    """
    zero, one = doing(2)
    zero.call(BEGIN_RECEIVE, 10, 11, request=1)
    zero.call(BEGIN_RECEIVE, 20, 21, request=2)
    second = zero.call(WAIT, 50, 510)
    zero.done(2, peer=1, tag=3)
    first = zero.call(WAIT, 520, 530)
    zero.done(1, peer=1, tag=3)
    one.call(SEND, 100, 101, peer=0, tag=3)
    one.call(SEND, 500, 501, peer=0, tag=3)
    told = waits(tmp_path / "p", [zero, one])
    assert told[0, second] == (1, "a late sender", 450)
    assert told[0, first] == (1, "a late sender", 0)


def test_tags_and_communicators_are_told_apart(tmp_path: Path) -> None:
    """What is received first was sent last, as its tag says."""
    zero, one = doing(2)
    last = zero.call(RECEIVE, 50, 410, peer=1, tag=2)
    first = zero.call(RECEIVE, 420, 430, peer=1, tag=1)
    one.call(SEND, 100, 101, peer=0, tag=1)
    one.call(SEND, 400, 401, peer=0, tag=2)
    told = waits(tmp_path / "p", [zero, one])
    assert told == {
        (0, last): (1, "a late sender", 350),
        (0, first): (1, "a late sender", 0),
    }


def test_pairs_whose_sizes_differ_tell_nothing(tmp_path: Path) -> None:
    """A message of 8 bytes cannot be the one of 16 that arrived: something was not recorded."""
    zero, one = doing(2)
    zero.call(RECEIVE, 50, 410, peer=1, size=16)
    one.call(SEND, 400, 401, peer=0, size=8)
    assert waits(tmp_path / "p", [zero, one]) == {}


@pytest.mark.parametrize(("routine", "expected"), [(WAIT_ALL, (2, 650)), (WAIT_ANY, (1, 50))])
def test_of_several_the_last_counts_or_the_first(
    routine: int, expected: tuple[int, int], tmp_path: Path
) -> None:
    """Waiting from 50 to 800 for what rank 1 sends at 100 and rank 2 at 700."""
    zero, one, two = doing(3)
    zero.call(BEGIN_RECEIVE, 10, 11, request=1)
    zero.call(BEGIN_RECEIVE, 20, 21, request=2)
    waiting = zero.call(routine, 50, 800)
    zero.done(1, peer=1)
    zero.done(2, peer=2)
    one.call(SEND, 100, 101, peer=0)
    two.call(SEND, 700, 701, peer=0)
    told = waits(tmp_path / "p", [zero, one, two])
    assert told == {(0, waiting): (expected[0], "a late sender", expected[1])}


def test_late_receivers_are_those_of_sends_in_step(tmp_path: Path) -> None:
    """4 KiB went out before anybody received them, so they wait for no receiver; 8 KiB do.

    Those are sent from 300 on and received from 700 on. MPI_Ssend waits however small it is.
    """
    zero, one = doing(2)
    zero.call(SEND, 10, 20, peer=1, size=4096)
    zero.call(SEND, 30, 200, peer=1, size=4096)
    large = zero.call(SEND, 300, 800, peer=1, size=8192)
    small = zero.call(SSEND, 810, 900, peer=1, size=8)
    for start, end, size in ((50, 60, 4096), (100, 201, 4096), (700, 810, 8192), (850, 910, 8)):
        one.call(RECEIVE, start, end, peer=0, size=size)
    told = waits(tmp_path / "p", [zero, one])
    assert {key: row for key, row in told.items() if key[0] == 0} == {
        (0, large): (1, "a late receiver", 400),
        (0, small): (1, "a late receiver", 40),
    }


def test_both_halves_of_an_exchange_are_matched(tmp_path: Path) -> None:
    """Rank 1 begins its exchange 300 ns after rank 0, which waits so long."""
    ranks = doing(2)
    cells = []
    for rank, start in zip(ranks, (100, 400), strict=True):
        cells.append(rank.call(EXCHANGE, start, 450, peer=1 - rank.rank))
        rank.event(start, 450, cells[-1], peer=1 - rank.rank, kind=PART, role=1)
    told = waits(tmp_path / "p", ranks)
    assert told == {
        (0, cells[0]): (1, "a late sender", 300),
        (1, cells[1]): (0, "a late sender", 0),
    }


def test_a_probe_waits_for_what_a_later_receive_takes(tmp_path: Path) -> None:
    zero, one = doing(2)
    probe = zero.call(PROBE, 50, 410, peer=1)
    receive = zero.call(RECEIVE, 415, 420, peer=1)
    one.call(SEND, 400, 401, peer=0)
    told = waits(tmp_path / "p", [zero, one])
    assert told[0, probe] == (1, "a late sender", 350)
    assert told[0, receive] == (1, "a late sender", 0)


def test_nonblocking_collectives_wait_for_the_last_to_begin(tmp_path: Path) -> None:
    """Rank 2 begins at 600: others wait from their Test's beginning on, or not at all."""
    ranks = doing(3)
    ends = []
    for rank, (begun, asked) in zip(ranks, ((10, 100), (20, 650), (600, 610)), strict=True):
        rank.call(BARRIER, begun, begun + 1, request=1, number=0)
        ends.append(rank.call(TEST, asked, 700))
        rank.done(1)
    told = waits(tmp_path / "p", ranks)
    assert told == {(0, ends[0]): (2, "a late rank", 500), (1, ends[1]): (2, "a late rank", 0)}


def _full(rank: Doing, whole: int) -> None:
    """Makes the record one that has left out calls below 100 ns behind its first events."""
    rank.whole, rank.least, rank.lost = whole, 100, {"events": 9}


def test_the_longest_waits_of_a_full_record_are_told(tmp_path: Path) -> None:
    """Of ten messages the first, the eighth and the tenth are there, as their numbers say.

    The eighth is sent at 1800, 800 after the receive began. The tenth is sent after the ninth, at
    2500, 500 after the receive began: of its 900 another 400 may be waiting. So may 100 of each of
    the seven calls that are not there.
    """
    zero, one = doing(2)
    one.call(RECEIVE, 10, 20, peer=0, number=0)
    eighth = one.call(RECEIVE, 1000, 1900, peer=0, number=7)
    tenth = one.call(RECEIVE, 2000, 2900, peer=0, number=9)
    one.cell(RECEIVE, calls=7, ticks=5000)
    for number, at in ((0, 5), (7, 1800), (8, 2500)):
        zero.call(SEND, at, at + 1, peer=1, number=number)
    _full(zero, 1)
    _full(one, 1)
    told = waits(tmp_path / "p", [zero, one])
    assert told[1, eighth] == (0, "a late sender", 800)
    assert told[1, tenth] == (0, "a late sender", 500)
    profile = ProgramProfile.load(tmp_path / "p")
    full = profile.record.left_out
    assert full.calls == 7
    assert 1e9 * full.unmatched_s == pytest.approx(400)
    assert 1e9 * full.seconds == pytest.approx(400 + 7 * 100)
    # A replay has what is whole.
    assert profile.events(1)["end_ns"].to_list() == [20]


def test_what_completions_of_a_full_record_were_of_is_known_without_their_beginnings(
    tmp_path: Path,
) -> None:
    """A receive of rank 1's, and a collective, whose beginnings were left out."""
    zero, one = doing(2)
    begun = one.cell(BEGIN_RECEIVE)
    entered = one.cell(BARRIER)
    first = one.call(WAIT, 100, 500)
    one.done(7, peer=0, number=3)
    one.events[-1] = (*one.events[-1][:3], begun, *one.events[-1][4:])
    second = one.call(WAIT, 600, 900)
    one.done(8, number=2)
    one.events[-1] = (*one.events[-1][:3], entered, *one.events[-1][4:-1], 2 << 2 | 2)
    zero.call(SEND, 400, 401, peer=1, number=3)
    zero.call(BARRIER, 800, 801, request=1, number=2)
    _full(one, 0)
    _full(zero, 0)
    told = waits(tmp_path / "p", [zero, one])
    assert told[1, first] == (0, "a late sender", 300)
    assert told[1, second] == (0, "a late rank", 200)


def test_the_longest_waits_in_windows_of_a_full_record_are_told(tmp_path: Path) -> None:
    """Of four epochs the third of rank 0's, and of rank 1's posts the third and the fourth.

    Rank 0 then asks for a lock that rank 1 has until 1600; 500 of 900 are known to be waiting.
    """
    zero, one = doing(2)
    begun = zero.call(START, 100, 500)
    zero.event(100, 500, begun, kind=PART, peer=1, number=2)
    for number, at in ((2, 400), (3, 700)):
        posted = one.call(POST, at, at + 1)
        one.event(at, at + 1, posted, kind=PART, peer=0, number=number)
    asks = zero.call(LOCK, 1100, 2000, peer=1, tag=1)
    one.call(UNLOCK, 1600, 1601, peer=1, tag=1)
    _full(zero, 0)
    _full(one, 0)
    told = waits(tmp_path / "p", [zero, one])
    assert told[0, begun] == (1, "a late partner in a window", 300)
    assert told[0, asks] == (1, "a late partner in a window", 500)
    full = ProgramProfile.load(tmp_path / "p").record.left_out
    # Who unlocked later may be left out, and the unlocking itself took 1 ns.
    assert 1e9 * full.unmatched_s == pytest.approx(400 + 1)


def test_lateness_is_followed_to_where_it_began(tmp_path: Path) -> None:
    """Rank 0 sends at 900, so rank 1, which waits from 100 on, sends to rank 2 at 1000 only.

    Of the 950 that rank 2 waits from 50 on 800 are rank 0's, as are those that rank 1 waits.
    """
    ranks = doing(3)
    ranks[0].call(SEND, 900, 901, peer=1)
    ranks[1].call(RECEIVE, 100, 910, peer=0)
    ranks[1].call(SEND, 1000, 1001, peer=2)
    ranks[2].call(RECEIVE, 50, 1010, peer=1)
    waits(tmp_path / "p", ranks)
    profile = ProgramProfile.load(tmp_path / "p")
    caused = [round(1e9 * seconds) for seconds in profile.ranks["caused_s"]]
    assert caused == [1600, 150, 0]


def test_nothing_is_matched_behind_what_found_no_room(tmp_path: Path) -> None:
    """Rank 1's first message has no cell, so that its communicator is not known."""
    zero, one = doing(2)
    zero.call(RECEIVE, 50, 110, peer=1)
    zero.call(RECEIVE, 150, 510, peer=1)
    one.event(100, 101, 2**32 - 1, peer=0)
    one.call(SEND, 500, 501, peer=0)
    assert waits(tmp_path / "p", [zero, one]) == {}


def test_pairs_sum_up_and_balance_saves_the_mean(tmp_path: Path) -> None:
    """Rank 0 waits 350 ns and 50 ns for rank 1, which waits for nobody."""
    zero, one = doing(2)
    zero.call(RECEIVE, 50, 410, peer=1)
    zero.call(RECEIVE, 450, 510, peer=1)
    one.call(SEND, 400, 401, peer=0)
    one.call(SEND, 500, 501, peer=0)
    waits(tmp_path / "p", [zero, one])
    findings = ProgramProfile.load(tmp_path / "p").findings
    [pair] = findings.pair_waits.to_dicts()
    assert (pair["rank"], pair["awaited"], pair["routine"]) == (0, 1, "MPI_Recv")
    assert 1e9 * pair["seconds"] == pytest.approx(400)
    assert 1e9 * findings.balance_s == pytest.approx(200)
    assert findings.ranks["caused_s"].to_list() == pytest.approx([0, 4e-7])


def test_one_line_is_one_place(tmp_path: Path) -> None:
    """Two addresses that addr2line puts on one line are one place of two calls."""
    zero, one = doing(2)
    zero.call(RECEIVE, 50, 410, peer=1)
    zero.call(RECEIVE, 450, 510, peer=1)
    waits(tmp_path / "p", [zero, one])
    assert len(ProgramProfile.load(tmp_path / "p").findings.places) == 2
    sites = pl.read_parquet(tmp_path / "p" / "sites.parquet")
    lines = sites.with_columns(pl.lit("step.c").alias("file"), pl.lit(88, pl.UInt32).alias("line"))
    lines.write_parquet(tmp_path / "p" / "sites.parquet")
    [place] = ProgramProfile.load(tmp_path / "p").findings.place_times.to_dicts()
    assert (place["place"], place["calls"]) == ("step.c:88", 2)


def test_both_sides_of_an_epoch_wait_for_each_other(tmp_path: Path) -> None:
    """Rank 0 starts at 100 and rank 1 posts at 300; rank 1 waits from 350, rank 0 completes at 500.

    A start that left before the post waited for nothing, and then its complete did.
    """
    zero, one = doing(2)
    cells = []
    for at, leaves, completes in ((0, 310, 500), (1000, 1110, 1200)):
        cells.append(zero.call(START, at + 100, leaves))
        zero.event(at + 100, leaves, cells[-1], kind=PART, peer=1)
        cells.append(zero.call(COMPLETE, completes, at + 510))
        zero.event(completes, at + 510, cells[-1], kind=PART, peer=1)
        post = one.call(POST, at + 300, at + 301)
        one.event(at + 300, at + 301, post, kind=PART, peer=0)
        last = one.call(WINDOW_WAIT, at + 350, at + 520)
        one.event(at + 350, at + 520, last, kind=PART, peer=0)
    told = waits(tmp_path / "p", [zero, one])
    partner = "a late partner in a window"
    assert [told[0, cell] for cell in cells] == [
        (1, partner, 200), (1, partner, 0), (1, partner, 0), (1, partner, 100)
    ]  # fmt: skip
    assert told[1, 1] == (0, partner, 150)
    assert told[1, 3] == (0, partner, 0)


@pytest.mark.parametrize(
    ("mine", "other", "routine", "waited"),
    [
        (1, 1, LOCK, 400),
        (0, 1, LOCK, 400),
        (0, 0, LOCK, None),
        # The library asked for the lock when it was needed.
        (1, 1, FLUSH, 400),
        # What this rank has itself it does not wait for.
        (-1, 1, FLUSH, None),
    ],
)
def test_who_asks_for_a_lock_waits_for_its_release(
    tmp_path: Path, mine: int, other: int, routine: int, waited: int | None
) -> None:
    """Rank 1 has rank 2's part of a window from 10, and begins to unlock it at 500."""
    zero, one, two = doing(3)
    one.call(LOCK, 5, 10, peer=2, tag=other)
    asks = zero.call(routine, 100, 520, peer=2, tag=mine)
    one.call(UNLOCK, 500, 510, peer=2, tag=other)
    told = waits(tmp_path / "p", [zero, one, two])
    expected = None if waited is None else (1, "a late partner in a window", waited)
    assert told.get((0, asks)) == expected
