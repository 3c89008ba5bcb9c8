"""Sentences on where a program was stuck, and what to change in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from contend.profiling.hang.deadlock import circles, deadlocked, waits_for_any
from contend.profiling.hang.stuck import Awaited, Stuck, UnderWay
from contend.profiling.programs import rank_words
from contend.units import counted, format_bytes, format_seconds

# What is on its way when a program is ended arrives sooner: only what lasts longer is a hang.
_STILL_S = 5.0
# Where the record cannot tell whether a message was under way: no network takes so long for one.
_UNTOLD_S = 600.0
_MOST_LINES = 8
_MOST_PAIRS = 4
# Of less, where nobody saw the end, nothing is told.
_TOLD_S = 1.0


@dataclass(frozen=True)
class StuckWords:
    """Sentences on where a program was stuck.

    Attributes:
        stuck: the places of its ranks.
        places: of sites, by number.
        communicators: names by number.
        finished: ranks that reached the end.
        members: of communicators on which any rank may send, or that have a collective under way,
            by number.
        under_way: messages that ranks waited for, and that were on their way.
        hosts: of ranks, where they ran on several; "" for unknown ones.
    """

    stuck: Sequence[Stuck]
    places: Sequence[str]
    communicators: Sequence[str]
    finished: frozenset[int] = frozenset()
    members: Mapping[int, Sequence[int]] = field(default_factory=dict)
    under_way: Sequence[UnderWay] = ()
    hosts: Sequence[str] = ()

    @cached_property
    def hung(self) -> bool:
        """Whether it is proven that the program could not go on."""
        here = [thread for thread in self.stuck if not thread.ended]
        if self._aborted:
            return False
        moved = {thread.rank for thread in here if thread.since_s < _still_s(thread)}
        still = [thread for thread in here if thread.rank not in moved]
        ended = self.finished | {thread.rank for thread in self.stuck if thread.ended}
        return bool(deadlocked(still, self.members, ended))

    @property
    def still_s(self) -> float:
        """For how long no rank had begun or ended a call when the program was ended."""
        here = [thread for thread in self.stuck if not thread.ended]
        return 0.0 if self._aborted else min((thread.since_s for thread in here), default=0.0)

    @property
    def untold(self) -> bool:
        """Whether nobody can tell of some message that a rank waits for if it was under way."""
        return any(one.under_way is None for thread in self.stuck for one in thread.awaits)

    @property
    def stood_still(self) -> bool:
        """Whether nothing moved for longer than what is on its way usually takes."""
        return self.hung or self.still_s >= _STILL_S

    def since_when(self, run_s: float) -> str:
        """When ranks came to a stop, in words.

        Args:
            run_s: from the first MPI_Init to the end.
        """
        here = [thread for thread in self.stuck if not thread.ended]
        first = max(here, key=lambda thread: thread.since_s)
        last = min(here, key=lambda thread: thread.since_s)

        began, ended = (format_seconds(max(run_s - t.since_s, 0.0)) for t in (first, last))
        inside = [f"in {thread.routine or 'no MPI call'}" for thread in (first, last)]
        words = f"rank {first.rank} stopped first, {began} into the run, {inside[0]}"
        if ended != began:
            words += f", and rank {last.rank} last, {ended} into the run, {inside[1]}"
        share = 100 * last.since_s / max(run_s, last.since_s, 1e-9)
        return f"{words}; nothing moved after that for {self.since(last)}, {share:.0f} % of the run"

    def verdict(self) -> str:
        """Where it was stuck, in one sentence; "" where nobody was in a call."""
        if not self.stuck:
            return ""
        return f"{self._head()}: {'; '.join(self._chain() or self.lines())}"

    def _head(self) -> str:
        if self.hung:
            return "The run hung"
        if not self.stood_still:
            return "When the run was ended"
        if self.under_way:
            return f"When the run was ended, {self._moving()}"
        still = format_seconds(self.still_s)
        return f"No rank began or ended an MPI call in the last {still} of the run"

    def _moving(self) -> str:
        """What was under way, in words."""
        shown = self.under_way[:_MOST_PAIRS]
        more = len(self.under_way) - len(shown)
        words = [
            f"{format_bytes(one.bytes) if one.bytes else counted(one.messages, 'message')} "
            f"from {self._end(one.source)} to {self._end(one.destination)}"
            for one in shown
        ]
        words += [f"more between {counted(more, 'other pair')} of ranks"] if more else []
        joined = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        one = len(words) == 1 and not shown[0].bytes and shown[0].messages == 1
        return f"{joined} {'was' if one else 'were'} under way"

    def _end(self, rank: int) -> str:
        host = self.hosts[rank] if rank < len(self.hosts) else ""
        return f"rank {rank}{f' on {host}' if host else ''}"

    @property
    def _aborted(self) -> bool:
        return any(thread.ended == "called MPI_Abort" for thread in self.stuck)

    def _chain(self) -> list[str]:
        """The circles, each told from rank to rank."""
        by_rank = {thread.rank: thread for thread in reversed(self.stuck)}
        told = []
        for circle in circles(self.stuck):
            if len(circle) == 1:
                one = by_rank[circle[0]]
                told.append(
                    f"rank {circle[0]} waits for itself {self._call(one)} for {self.since(one)}"
                )
                continue
            links = [
                f"waits for rank {following} {self._call(by_rank[rank])}"
                for rank, following in zip(circle, [*circle[1:], circle[0]], strict=True)
            ]
            since = min((by_rank[rank] for rank in circle), key=lambda thread: thread.since_s)
            chain = ", which ".join(links[:_MOST_LINES])
            told.append(f"rank {circle[0]} {chain}, for {self.since(since)}")
        if told:
            around = {rank for circle in circles(self.stuck) for rank in circle}
            rest = [thread for thread in self.stuck if thread.rank not in around]
            told += [*self.mistakes(), *replace(self, stuck=rest).lines()]
        return told

    def mistakes(self) -> Iterator[str]:
        """What can be seen to be wrong: collectives, tags that do not meet."""
        by_rank = {thread.rank: thread for thread in self.stuck}
        for thread in self.stuck:
            if thread.others:
                other = by_rank[thread.others[0]]
                yield (
                    f"rank {thread.rank} is in {thread.routine} where rank {other.rank} is in "
                    f"{other.routine}"
                )
                return
        for thread in self.stuck:
            for one in thread.awaits:
                if one.kind != "sender" or one.peer is None or one.tag is None:
                    continue
                there = by_rank.get(one.peer)
                if there is None:
                    continue
                sent = _of(there, "receiver", thread.rank)
                # Of several messages each may be for another receive.
                if len(sent) != 1 or len(_of(thread, "sender", there.rank)) != 1:
                    continue
                if sent[0].communicator != one.communicator:
                    yield (
                        f"rank {there.rank} sends on {self._on(sent[0])}, and rank "
                        f"{thread.rank} receives on {self._on(one)}"
                    )
                    return
                if sent[0].tag not in (one.tag, None):
                    yield (
                        f"rank {there.rank} sends with tag {sent[0].tag}, and rank "
                        f"{thread.rank} receives tag {one.tag}"
                    )
                    return

    def cure(self) -> str:
        """What to change in the program, in plain words."""
        mistakes = list(self.mistakes())
        if any(thread.others for thread in self.stuck):
            return (
                "All members of a communicator must call the same collectives on it in the same "
                f"order: {mistakes[0]}."
            )
        if mistakes:
            return f"Give both the same tag and communicator: {mistakes[0]}."
        entered = any(
            self._all_entered(thread, one) and not thread.routine.startswith("MPI_File_")
            for thread in self.stuck
            for one in thread.awaits
        )
        if (self.under_way or entered) and not self.hung:
            return (
                "These ranks wait for the network: see whether it carries their messages as fast "
                "as it should, and whether all their hosts are up."
            )
        by_rank = {thread.rank: thread for thread in self.stuck}
        for circle in circles(self.stuck):
            kinds = {one.kind for rank in circle for one in by_rank[rank].awaits}
            if len(circle) == 1:
                return (
                    "A rank that sends to itself needs a receive that was begun before: use "
                    "MPI_Irecv first, or MPI_Sendrecv."
                )
            if kinds == {"receiver"}:
                return (
                    "A send of a large message returns when its receiver takes it: exchange with "
                    "MPI_Sendrecv, or begin the sends or the receives without waiting."
                )
            if kinds == {"sender"}:
                return "One of these ranks has to send before it receives: use MPI_Sendrecv."
            return "Change the order of these calls so that one of the ranks can go on."
        for thread in self.stuck:
            for rank in thread.ranks:
                there = by_rank.get(rank)
                if rank in self.finished or (there is not None and there.ended):
                    return (
                        f"Rank {rank} ended while rank {thread.rank} needed it in "
                        f"{thread.routine}: have it take part, or do without it there."
                    )
                if there is not None and not there.routine:
                    return (
                        f"See what rank {rank} does outside of MPI: a debugger (gdb -p) or py-spy "
                        "shows the line while it runs; a rank without processor time is stopped, "
                        "or waits for a file, a lock or a pipe that nobody reads."
                    )
        return "Look for the call that these ranks wait for: no rank had made it."

    def lines(self) -> list[str]:
        """Ranks that were in the same call together, those that wait for others first."""
        groups: dict[tuple[object, ...], list[Stuck]] = {}
        for thread in self.stuck:
            alike = (thread.routine, thread.site, thread.ended, thread.ranks, thread.awaits)
            groups.setdefault(alike if thread.routine else ("", thread.ended), []).append(thread)
        told = [self._group(group) for group in groups.values()]
        more = len(told) - _MOST_LINES
        return [*told[:_MOST_LINES], f"{counted(more, 'other place')}"] if more > 0 else told

    def _group(self, group: Sequence[Stuck]) -> str:
        one, who = group[0], rank_words({thread.rank for thread in group})
        several = len({thread.rank for thread in group}) > 1
        since = self.since(max(group, key=lambda thread: thread.since_s))
        if one.ended:
            return f"{who} {one.ended}"
        if not one.routine:
            verb = "have" if several else "has"
            return (
                f"{who} {verb} been in no MPI call for {since}: computing, stopped, dead, or "
                "waiting for something other than MPI, such as a full pipe"
            )
        wait = "wait" if several else "waits"
        whom = self.whom(one)
        return f"{who} {wait} {whom + ' ' if whom else ''}{self._call(one)} for {since}"

    def since(self, thread: Stuck) -> str:
        """For how long, in words."""
        if thread.at_least and thread.since_s < _TOLD_S:
            return "an unknown time"
        return f"{'at least ' if thread.at_least else ''}{format_seconds(thread.since_s)}"

    def whom(self, thread: Stuck) -> str:
        """For whom a call waits, in words; "" where that is not known."""
        gone = [rank for rank in thread.ranks if rank in self.finished]
        if thread.ranks:
            ended = " (which has ended)" if gone == [*thread.ranks] and len(gone) == 1 else ""
            any_of = "any of " if waits_for_any(thread) and len(thread.ranks) > 1 else ""
            return f"for {any_of}{rank_words(thread.ranks)}{ended}"
        return "for any rank" if any(one.any_source for one in thread.awaits) else ""

    def _call(self, thread: Stuck) -> str:
        place = self.places[thread.site] if thread.site < len(self.places) else "?"
        return f"in {thread.routine} at {place}{self.details(thread)}"

    def details(self, thread: Stuck) -> str:
        """Tags, communicator, requests of a call, in brackets."""
        words: list[str] = []
        for one in thread.awaits:
            match one.kind:
                case "sender" | "receiver" | "exchange":
                    which = {"sender": "receive", "receiver": "send", "exchange": "exchange"}
                    tag = "any tag" if one.tag is None else f"tag {one.tag}"
                    text = f"{tag}, {self._on(one)}"
                    if len(thread.awaits) > 1 or "Wait" in thread.routine:
                        way = "from" if one.kind == "sender" else "to"
                        peer = "any rank" if one.peer is None else f"rank {one.peer}"
                        text = f"{which[one.kind]} {way} {peer}, {text}"
                case "members":
                    text = f"collective {one.number + 1} on {self._on(one)}"
                    if self._all_entered(thread, one):
                        text += ", which all members have entered"
                case "target":
                    text = f"window on {self._on(one)}"
                case _:
                    continue
            if text not in words:
                words.append(text)
        if thread.requests > len(thread.awaits):
            words.append(f"{thread.requests} requests in all")
        return f" ({'; '.join(words)})" if words else ""

    def _all_entered(self, thread: Stuck, one: Awaited) -> bool:
        """Whether nobody is missing in a collective that has not ended."""
        return one.kind == "members" and not thread.ranks and one.communicator in self.members

    def _on(self, one: Awaited) -> str:
        name = self.communicators[one.communicator]
        return name or f"communicator {one.communicator}"


def _still_s(thread: Stuck) -> float:
    """How long a thread must have been in place before it is said never to go on."""
    unknown = any(one.under_way is None for one in thread.awaits)
    return _UNTOLD_S if unknown else _STILL_S


def _of(thread: Stuck, kind: str, peer: int) -> list[Awaited]:
    """Messages of one kind that a call waits for, and that may be of one peer."""
    return [
        one for one in thread.awaits if one.kind == kind and (one.peer == peer or one.any_source)
    ]
