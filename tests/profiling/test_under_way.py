"""Messages that were under way when a program was ended: who waits for them has not hung."""

from __future__ import annotations

from pathlib import Path

import pytest

from contend.profiling import ProgramProfile, UnderWay, cure_of
from contend.profiling.folder import FirstGone
from contend.profiling.record_form import ANY_PEER, ANY_TAG, NO_CALL, Awaits, State
from written_programs import MS, ROUTINES, Script, profile_of

SENDER, RECEIVER = int(Awaits.SENDER), int(Awaits.RECEIVER)
LARGE = 20_000_000


class Side:
    """A rank that sends, posts receives, and then is in a call until its program was ended."""

    def __init__(self, rank: int) -> None:
        self.script = Script(rank, 2)
        self._at, self._requests = 1.0, 0

    def _next(self) -> tuple[float, float]:
        self._at += 1
        return self._at - 1, self._at - 0.5

    def isend(self, tag: int = 1, size: int = LARGE) -> Side:
        self._requests += 1
        peer = 1 - self.script.rank.rank
        more = {"peer": peer, "tag": tag, "size": size, "request": self._requests}
        self.script.call("Isend", *self._next(), **more)
        return self

    def irecv(self, tag: int = 1, *, peer: int | None = None, routine: str = "Irecv") -> Side:
        self._requests += 1
        peer = 1 - self.script.rank.rank if peer is None else peer
        more = {"peer": peer, "tag": tag, "request": self._requests}
        self.script.call(routine, *self._next(), **more)
        return self

    def received(self, tag: int = 1, size: int = LARGE) -> Side:
        peer = 1 - self.script.rank.rank
        self.script.call("Recv", *self._next(), peer=peer, tag=tag, size=size)
        return self

    def inside(self, routine: str, *awaited: tuple[int, int, int]) -> Side:
        rank = self.script.rank
        rank.state, rank.ended = int(State.RUNNING), round(self._at * MS)
        rank.in_call(round(self._at * MS), ROUTINES.index(f"MPI_{routine}"), *awaited)
        return self


def ended(folder: Path, *sides: Side, lost: int = 0, after_s: float = 60) -> ProgramProfile:
    for side in sides:
        side.script.rank.lost["events"] = lost
    return profile_of(folder, *(side.script.rank for side in sides), ended_unix=1e9 + after_s)


def test_two_large_messages_cross_on_a_slow_cable(tmp_path: Path) -> None:
    """Both were sent by MPI_Isend, and both ranks are in MPI_Recv for a minute."""
    sides = [Side(rank).isend().inside("Recv", (SENDER, 1 - rank, 1)) for rank in (0, 1)]
    profile = ended(tmp_path / "p", *sides)
    assert profile.record.under_way == (UnderWay(0, 1, 1, LARGE), UnderWay(1, 0, 1, LARGE))
    assert not profile.findings.stuck.hung
    assert profile.findings.verdict.startswith(
        "When the run was ended, 19.07 MiB from rank 0 on node1 to rank 1 on node2 and "
        "19.07 MiB from rank 1 on node2 to rank 0 on node1 were under way: rank 0 waits for "
    )


def test_what_was_received_is_not_under_way(tmp_path: Path) -> None:
    sides = [Side(rank).isend().received().inside("Recv", (SENDER, 1 - rank, 1)) for rank in (0, 1)]
    profile = ended(tmp_path / "p", *sides)
    assert profile.record.under_way == ()
    assert profile.findings.verdict.startswith("The run hung: rank 0 waits for rank 1 in MPI_Recv")


@pytest.mark.parametrize(
    ("first", "second", "hung"),
    [
        # A send and its receive: neither waits for the other to do anything.
        (Side(0).inside("Send", (RECEIVER, 1, 1)), Side(1).inside("Recv", (SENDER, 0, 1)), False),
        (Side(0).inside("Send", (RECEIVER, 1, 2)), Side(1).inside("Recv", (SENDER, 0, 1)), True),
        (Side(0).inside("Send", (RECEIVER, 1, 2)),
         Side(1).inside("Recv", (SENDER, ANY_PEER, ANY_TAG)), False),
        # Both have posted the receive before they send, and both send.
        (Side(0).irecv().inside("Send", (RECEIVER, 1, 1)),
         Side(1).irecv().inside("Send", (RECEIVER, 0, 1)), False),
        (Side(0).irecv(tag=ANY_TAG, peer=-1).inside("Send", (RECEIVER, 1, 1)),
         Side(1).irecv(tag=ANY_TAG, peer=-1).inside("Send", (RECEIVER, 0, 1)), False),
        (Side(0).inside("Send", (RECEIVER, 1, 1)), Side(1).inside("Send", (RECEIVER, 0, 1)), True),
        # The receive that is posted is for the message before this one.
        (Side(0).irecv().isend().inside("Send", (RECEIVER, 1, 1)),
         Side(1).irecv().isend().inside("Send", (RECEIVER, 0, 1)), True),
        # An exchange of both at once, by Isend, Irecv and Waitall.
        (Side(0).isend().irecv().inside("Waitall", (RECEIVER, 1, 1), (SENDER, 1, 1)),
         Side(1).isend().irecv().inside("Waitall", (RECEIVER, 0, 1), (SENDER, 0, 1)), False),
        # ... of which one side has taken another tag.
        (Side(0).isend().irecv(tag=2).inside("Waitall", (RECEIVER, 1, 1), (SENDER, 1, 2)),
         Side(1).isend().irecv(tag=2).inside("Waitall", (RECEIVER, 0, 1), (SENDER, 0, 2)), True),
    ],
)  # fmt: skip
def test_what_fits_is_under_way(tmp_path: Path, first: Side, second: Side, hung: bool) -> None:
    profile = ended(tmp_path / "p", first, second)
    assert profile.findings.stuck.hung == hung
    assert bool(profile.record.under_way) == (not hung)


@pytest.mark.parametrize(
    ("waits", "told"),
    [
        (Side(0), True),
        # It has taken it, or has begun to.
        (Side(0).received(tag=2), False),
        (Side(0).irecv(tag=2), False),
        # What was matched by a probe before has its tag from there.
        (Side(0).irecv(tag=0, peer=-1, routine="Imrecv"), False),
    ],
)
def test_a_message_with_another_tag_than_is_received(
    tmp_path: Path, waits: Side, told: bool
) -> None:
    """A small one, so that its sender has gone on and waits for an answer."""
    answer = Side(1).isend(tag=2, size=8).inside("Recv", (SENDER, 0, 3))
    profile = ended(tmp_path / "p", waits.inside("Recv", (SENDER, 1, 1)), answer)
    stuck = profile.findings.stuck
    assert stuck.hung
    said = "rank 1 has sent rank 0 a message with tag 2, which no receive has taken, and rank 0 "
    assert (f"{said}receives tag 1" in profile.findings.verdict) == told
    assert cure_of(stuck).startswith("Give both the same tag") == told


def test_where_events_found_no_room_only_time_tells(tmp_path: Path) -> None:
    """What was sent before is not known; but no message takes ten minutes."""
    for seconds, hung in ((60, False), (700, True)):
        sides = [Side(rank).inside("Recv", (SENDER, 1 - rank, 1)) for rank in (0, 1)]
        profile = ended(tmp_path / str(seconds), *sides, lost=1, after_s=seconds)
        assert profile.findings.stuck.hung == hung
        assert profile.record.stuck[0].awaits[0].under_way is None


@pytest.mark.parametrize("answered", [False, True])
def test_who_is_killed_before_an_answer_is_noted_has_waited(tmp_path: Path, answered: bool) -> None:
    """Between a question's end and the note of its answer are some nanoseconds of a short loop."""
    sides = [Side(rank) for rank in (0, 1)]
    rank = sides[0].script.rank
    rank.state, rank.ended = int(State.RUNNING), 60_000 * MS
    noted = 60_000 * MS
    rank.asking(1 * MS, noted, noted + 200, ROUTINES.index("MPI_Improbe"), (SENDER, 1, 4))
    if answered:
        sides[0].script.call("Improbe", 60_000, 60_000 + 2e-4, peer=1, tag=4)
    sides[1].inside("Recv", (SENDER, 0, 1))
    here = ended(tmp_path / "p", *sides).record.stuck[0]
    assert (here.routine, here.asks) == (("", False) if answered else ("MPI_Improbe", True))


@pytest.mark.parametrize(
    ("status", "first", "told", "number"),
    [
        (137, 1, "", 9),
        (9, 1, "", 9),
        (124, 1, "", 0),
        (137, 2, "", 0),
        (9, 1, "1", 15),
        (15, 1, "1", 15),
        (143, 1, "1", 0),
        (137, 1, "01", 0),
    ],
)
def test_a_rank_that_was_killed_first_is_told(
    tmp_path: Path, status: int, first: int, told: str, number: int
) -> None:
    """Rank 0 waits from 2 ms on for rank 1, which is in no call; the launcher ended with it at 4 s.

    With 124 a time limit has ended both, and where SIGTERM came to both, too; and of rank 2 nobody
    has heard.
    """
    waiting = Side(0).received().inside("Recv", (SENDER, 1, 1))
    killed = Side(1).script.rank
    killed.state, killed.ended = int(State.RUNNING), round(2 * MS)
    killed.in_call(round(2 * MS), NO_CALL)
    for rank in told:
        (waiting.script.rank, killed)[int(rank)].told = 4_000 * MS
    profile = profile_of(
        tmp_path / "p",
        waiting.script.rank,
        killed,
        ended_unix=1e9 + 4.1,
        status=status,
        first_gone=FirstGone(f"rank-{first:06}.record", 1e9 + 4),
    )
    verdict, warnings = profile.findings.verdict, [w.text for w in profile.record.missing]
    if number:
        died = f"rank 1 died of signal {number} ({'Killed' if number == 9 else 'Terminated'})"
        assert verdict.startswith(f"The run ended early: {died} in")
        assert ", 4 s into the run; rank 0 waits for rank 1 in MPI_Recv" in verdict
        assert warnings[0] == died
        helps = "where memory runs out" if number == 9 else "such as a time limit of its own"
        assert helps in cure_of(profile.findings.stuck)
    elif status == 137 and not told:
        assert verdict.startswith(
            "The run ended early: a rank or the launcher died of signal 9 (Killed), and it is not "
            "known which was the first: rank 0 waits for rank 1 in MPI_Recv"
        )
        assert "where memory runs out" in cure_of(profile.findings.stuck)
    else:
        assert "signal" not in verdict
