"""Who is deadlocked, by the AND-OR model: cases whose answers follow by hand."""

from __future__ import annotations

import msgspec
import pytest

from contend.profiling import Awaited, circles, cure_of
from contend.profiling.hang.awaited_ranks import in_the_way
from contend.profiling.hang.deadlock import deadlocked
from contend.profiling.hang.stuck import Lock, Stuck
from contend.profiling.hang.stuck_words import StuckWords

WORLD = {0: range(4)}


def sender(peer: int | None, tag: int = 1) -> Awaited:
    return Awaited("sender", peer, peer is None, tag, 0, 0)


def receiver(peer: int, tag: int = 1) -> Awaited:
    return Awaited("receiver", peer, False, tag, 0, 0)


def stuck(rank: int, routine: str, *awaits: Awaited, ranks: tuple[int, ...] = ()) -> Stuck:
    peers = {one.peer for one in awaits if one.peer is not None} | {*ranks}
    return Stuck(
        rank, 0, routine, 0, 60.0, False, "", len(awaits), awaits, tuple(sorted(peers))
    )  # fmt: skip


def collective(rank: int, routine: str, *missing: int) -> Stuck:
    return stuck(rank, routine, Awaited("members", None, False, None, 0, 0), ranks=missing)


LOCKED = Awaited("target", 1, False, None, 0, 0, exclusive=True)
READ = Awaited("memory", 1, False, None, 0, 0)
COMPUTES = stuck(2, "")
ZERO_FOR_ONE = stuck(0, "MPI_Recv", sender(1))
ONE_FOR_ZERO = stuck(1, "MPI_Recv", sender(0))
TWO_FOR_ZERO = stuck(2, "MPI_Recv", sender(0))


@pytest.mark.parametrize(
    ("places", "ended", "ranks", "told"),
    [
        ([ZERO_FOR_ONE, ONE_FOR_ZERO, COMPUTES], (), {0, 1}, [[0, 1]]),
        # Of all requests one that cannot be met is enough, of any it is not.
        ([stuck(0, "MPI_Waitall", sender(1), sender(2)), ONE_FOR_ZERO, COMPUTES],
         (), {0, 1}, [[0, 1]]),
        ([stuck(0, "MPI_Waitany", sender(1), sender(2)), ONE_FOR_ZERO, COMPUTES], (), set(), []),
        ([stuck(0, "MPI_Waitsome", sender(1), receiver(2)), ONE_FOR_ZERO, COMPUTES], (), set(), []),
        # All alternatives: proven, but no circle leads through a single one.
        ([stuck(0, "MPI_Waitany", sender(1), sender(2)), ONE_FOR_ZERO, TWO_FOR_ZERO],
         (), {0, 1, 2}, []),
        ([stuck(0, "MPI_Waitany", sender(1)), ONE_FOR_ZERO, COMPUTES], (), {0, 1}, [[0, 1]]),
        # Any source: rank 3, of which nothing is known, may send.
        ([stuck(0, "MPI_Recv", sender(None)), ONE_FOR_ZERO, collective(2, "MPI_Barrier", 0)],
         (), set(), []),
        ([stuck(0, "MPI_Recv", sender(None)), ONE_FOR_ZERO, collective(2, "MPI_Barrier", 0)],
         (3,), {0, 1, 2}, []),
        # A broadcast's rank 1 waits for the root alone, which may be 0 and computes.
        ([stuck(0, ""), collective(1, "MPI_Bcast", 0, 2), stuck(2, "MPI_Recv", sender(1))],
         (), set(), []),
        ([stuck(0, ""), collective(1, "MPI_Barrier", 0, 2), stuck(2, "MPI_Recv", sender(1))],
         (), {1, 2}, [[1, 2]]),
        # Who has ended sends nothing; who asks again and again may do something else.
        ([stuck(0, "MPI_Recv", sender(1))], (1,), {0}, []),
        ([stuck(0, "MPI_Test", sender(1)), ONE_FOR_ZERO], (), set(), []),
        ([stuck(0, "MPI_File_write"), ONE_FOR_ZERO], (), set(), []),
        # Of buffered messages any may be the one that is left; any other rank may write a window.
        ([stuck(0, "MPI_Buffer_detach", receiver(1), receiver(2)), ONE_FOR_ZERO, COMPUTES],
         (), set(), []),
        ([stuck(0, "MPI_Buffer_detach", receiver(1), receiver(2)), ONE_FOR_ZERO, TWO_FOR_ZERO],
         (), {0, 1, 2}, []),
        ([stuck(0, "MPI_Get", READ, ranks=(1, 2)), ONE_FOR_ZERO, COMPUTES], (), set(), []),
        ([stuck(0, "MPI_Get", READ, ranks=(1, 2)), ONE_FOR_ZERO, TWO_FOR_ZERO],
         (), {0, 1, 2}, []),
        ([stuck(0, "MPI_Ssend", receiver(0))], (), {0}, [[0]]),
        # A target that no lock is in the way of may answer; who has a lock has to unlock it.
        ([stuck(0, "MPI_Win_flush", LOCKED), ONE_FOR_ZERO], (), set(), []),
        ([stuck(0, "MPI_Win_flush", msgspec.structs.replace(LOCKED, holders=(1,))), ONE_FOR_ZERO],
         (), {0, 1}, [[0, 1]]),
        ([stuck(0, "MPI_Win_start", Awaited("post", 1, False, None, 0, 0)), ONE_FOR_ZERO],
         (), {0, 1}, [[0, 1]]),
        # Two circles through rank 0, of which one is told.
        ([stuck(0, "MPI_Waitall", sender(1), sender(2)), ONE_FOR_ZERO, TWO_FOR_ZERO],
         (), {0, 1, 2}, [[0, 1]]),
        # Another thread of rank 0 may send.
        ([ZERO_FOR_ONE, msgspec.structs.replace(stuck(0, ""), thread=1), ONE_FOR_ZERO],
         (), set(), []),
    ],
)  # fmt: skip
def test_who_is_deadlocked(
    places: list[Stuck], ended: tuple[int, ...], ranks: set[int], told: list[list[int]]
) -> None:
    assert deadlocked(places, WORLD, ended) == ranks
    assert circles(places) == told


def test_a_lock_is_waited_for_where_it_is_certain_who_has_it() -> None:
    """Ranks 1 and 2 may both have an exclusive lock of rank 3 that rank 0 asks for."""
    asks = Awaited("target", 3, False, None, 5, 0, exclusive=True)
    locks = {1: [Lock(5, 3, True)], 2: [Lock(5, None, False)], 3: [Lock(4, 3, True)]}
    both = frozenset({1, 2})
    assert in_the_way(asks, locks, []) == (both, frozenset())
    shared = msgspec.structs.replace(asks, exclusive=False)
    assert in_the_way(shared, locks, []) == (frozenset({1}), frozenset())
    # Who waits for the same may have none yet.
    at_it = stuck(1, "MPI_Win_flush", asks)
    assert in_the_way(asks, locks, [at_it]) == (both, frozenset({1}))


def words(*places: Stuck) -> StuckWords:
    return StuckWords(places, ["app.c:1"], ["MPI_COMM_WORLD"], members=WORLD)


def test_what_is_on_its_way_is_no_hang() -> None:
    """Two ranks that send a message to and fro are both in a receive while it travels."""
    travelling = msgspec.structs.replace(ONE_FOR_ZERO, since_s=4.9)
    assert words(ZERO_FOR_ONE, travelling).verdict().startswith("When the run was ended: rank 0")
    assert words(ZERO_FOR_ONE, ONE_FOR_ZERO).verdict().startswith("The run hung: rank 0 waits for")
    assert not words(ZERO_FOR_ONE, travelling).hung


def test_who_is_killed_of_ranks_that_cannot_go_on_ends_nothing() -> None:
    for died, since, hung in (
        ("died of signal 9 (Killed)", 60.0, True),
        ("died of signal 15 (Terminated)", 60.0, True),
        ("died of signal 9 (Killed)", 4.0, False),
        ("died of signal 11 (Segmentation fault)", 60.0, False),
    ):
        killed = msgspec.structs.replace(ONE_FOR_ZERO, died=died, since_s=since, gone_s=70.0)
        told = words(ZERO_FOR_ONE, killed)
        assert (told.hung, told.ended_first is None) == (hung, hung)
        head = "hung: rank 0 waits for rank 1" if hung else f"ended early: rank 1 {died}"
        assert told.verdict().startswith(f"The run {head}")
        killed = msgspec.structs.replace(COMPUTES, died=died, since_s=since, gone_s=70.0)
        assert not words(ZERO_FOR_ONE, killed).hung


def test_what_is_not_proven_is_told_as_it_was_seen() -> None:
    told = words(stuck(0, "MPI_File_write"), collective(1, "MPI_Barrier", 0)).verdict()
    assert told.startswith(
        "No rank began or ended an MPI call in the last 60 s of the run: rank 0 waits in "
        "MPI_File_write"
    )


def test_a_collective_that_all_have_entered_waits_for_the_network() -> None:
    told = words(*(collective(rank, "MPI_Allreduce") for rank in range(4)))
    assert told.verdict().endswith(
        ": ranks 0-3 wait in MPI_Allreduce at app.c:1 (collective 1 on MPI_COMM_WORLD, which all "
        "members have entered) for 60 s"
    )
    assert cure_of(told).startswith("These ranks wait for the network")
    written = words(*(collective(rank, "MPI_File_write_all") for rank in range(4)))
    assert not cure_of(written).startswith("These ranks wait for the network")


def test_tags_are_wrong_only_where_no_other_message_fits() -> None:
    one = stuck(1, "MPI_Ssend", receiver(0, tag=6))
    assert [*words(stuck(0, "MPI_Recv", sender(1, tag=5)), one).mistakes()] == [
        "rank 1 sends with tag 6, and rank 0 receives tag 5"
    ]
    both = stuck(0, "MPI_Waitall", sender(1, tag=5), sender(1, tag=6))
    assert not [*words(both, one).mistakes()]
    both = stuck(1, "MPI_Waitall", receiver(0, tag=5), receiver(0, tag=6))
    assert not [*words(stuck(0, "MPI_Recv", sender(1, tag=5)), both).mistakes()]
