"""Sentences on where a program was stuck."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from contend.base.units import counted, format_bytes, format_seconds, listed
from contend.profiling import routines
from contend.profiling.hang.deadlock import circles, deadlocked, waits_for_any
from contend.profiling.hang.stuck import Awaited, Entered, Stuck, UnderWay, died_of
from contend.profiling.programs import rank_words

# What is on its way when a program is ended arrives sooner: only what lasts longer is a hang.
_STILL_S = 5.0
# Where the record cannot tell whether a message was under way: no network takes so long for one.
_UNTOLD_S = 600.0
ABORTED = "called MPI_Abort"
"""How a rank ended that aborted the program."""
_BY_OTHERS = {died_of(number) for number in (signal.SIGKILL, signal.SIGTERM)}
_MOST_LINES = 8
_MOST_PAIRS = 4
# Of less, where nobody saw the end, nothing is told.
_TOLD_S = 1.0


@dataclass(frozen=True)
class StuckWords:
    """Sentences on where a program was stuck."""

    stuck: Sequence[Stuck]
    """Places of its ranks."""
    places: Sequence[str]
    """Places of sites, by number."""
    communicators: Sequence[str]
    """Names of communicators, by number."""
    finished: frozenset[int] = frozenset()
    """Ranks that reached the end."""
    members: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Members of communicators on which any rank may send, or that have a collective under way, by
    number."""
    under_way: Sequence[UnderWay] = ()
    """Messages that ranks waited for, and that were on their way."""
    hosts: Sequence[str] = ()
    """Hosts of ranks, where they ran on several; "" for unknown ones."""
    killed: bool = False
    """Whether the command's exit status is that of SIGKILL."""

    @cached_property
    def hung(self) -> bool:
        """Whether it is proven that the program could not go on."""
        return self._locked and not self.ended_first

    @cached_property
    def _locked(self) -> bool:
        here = [thread for thread in self.stuck if not thread.ended]
        moved = {thread.rank for thread in here if thread.since_s < _still_s(thread)}
        still = [thread for thread in here if thread.rank not in moved]
        ended = self.finished | {thread.rank for thread in self.stuck if thread.ended}
        return bool(deadlocked(still, self.members, ended))

    @property
    def killed_unseen(self) -> bool:
        """Whether the run ended early by SIGKILL, and nobody saw which rank did."""
        return self.killed and not self.ended_first and not self.stood_still

    @property
    def still_s(self) -> float:
        """For how long no rank had begun or ended a call when the program was ended."""
        here = [thread for thread in self.stuck if not thread.ended]
        return 0.0 if self.ended_first else min((thread.since_s for thread in here), default=0.0)

    @property
    def untold(self) -> bool:
        """Whether nobody can tell of some message that a rank waits for if it was under way."""
        return any(
            one.under_way is None and one.kind != "memory"
            for thread in self.stuck
            for one in thread.awaits
        )

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
        first = self.ended_first
        rest = self if first is None else replace(self, stuck=[t for t in self.stuck if t != first])
        lines = [] if first is not None else self._chain()
        lines = lines or [*self.mistakes(), *rest.lines()]
        if first is not None:
            return "; ".join((self._head(), *lines))
        return f"{self._head()}: {'; '.join(lines)}" if lines else self._head()

    @property
    def ended_first(self) -> Stuck | None:
        """The thread that ended the run: the first to die or to end by itself; None for none.

        Launchers end the others when a rank ends without MPI_Finalize, but not all of them do. Who
        is killed of ranks that cannot go on ends nothing.
        """
        gone = [
            thread
            for thread in self.stuck
            if thread.died
            or thread.ended == ABORTED
            or (thread.ended and thread.since_s < _STILL_S)
        ]
        first = min(gone, key=lambda thread: thread.gone_s or 0.0, default=None)
        return None if first and first.died in _BY_OTHERS and self._locked else first

    def _head(self) -> str:
        if (first := self.ended_first) is not None:
            when = format_seconds(max(first.gone_s or 0.0, 0.0))
            return (
                f"The run ended early: rank {first.rank} {self._death(first)}, {when} into the run"
            )
        if self.hung:
            return "The run hung"
        if self.killed_unseen:
            return (
                f"The run ended early: a rank or the launcher {died_of(signal.SIGKILL)}, and it is "
                "not known which was the first"
            )
        if not self.stood_still:
            return "When the run was ended"
        if self.under_way:
            return f"When the run was ended, {self._moving()}"
        still = format_seconds(self.still_s)
        if any(thread.asks for thread in self.stuck):
            return f"No rank got any further in the last {still} of the run"
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
        one = len(words) == 1 and not shown[0].bytes and shown[0].messages == 1
        return f"{listed(words)} {'was' if one else 'were'} under way"

    def _end(self, rank: int) -> str:
        host = self.hosts[rank] if rank < len(self.hosts) else ""
        return f"rank {rank}{f' on {host}' if host else ''}"

    def _death(self, thread: Stuck) -> str:
        if not thread.died:
            return thread.ended
        place = self.places[thread.site] if 0 < thread.site < len(self.places) else ""
        if thread.routine:
            return f"{thread.died} {self._call(thread)}"
        if thread.through:
            caller = f"called at {place}" if place else "called from an unknown place"
            return f"{thread.died} {thread.through}, {caller}"
        return f"{thread.died} in the program's own code{f' at {place}' if place else ''}"

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
            if thread.entered:
                mine, other = (
                    entered_words(*pair, self.places) for pair in _pairs(*thread.entered)
                )
                yield f"{mine} where {other}"
                return
        for thread in self.stuck:
            for one in thread.awaits:
                if one.kind != "sender" or one.peer is None or one.tag is None:
                    continue
                there = by_rank.get(one.peer)
                if self.hung and not one.under_way and len(one.unclaimed) == 1:
                    yield self._unclaimed(thread.rank, one)
                    return
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

    def _unclaimed(self, rank: int, one: Awaited) -> str:
        """What was sent to a rank by the one that it waits for, and is for no receive."""
        [(communicator, tag)] = one.unclaimed
        there, here = f"with tag {tag}", f"tag {one.tag}"
        if communicator != one.communicator:
            there += f" on {self._named(communicator)}"
            here += f" on {self._on(one)}"
        return (
            f"rank {one.peer} has sent rank {rank} a message {there}, which no receive has taken, "
            f"and rank {rank} receives {here}"
        )

    def lines(self) -> list[str]:
        """Ranks that were in the same call together, those that wait for others first."""
        groups: dict[tuple[object, ...], list[Stuck]] = {}
        for thread in self.stuck:
            alike = (
                *(thread.routine, thread.site, thread.ended, thread.died),
                *(thread.ranks, thread.awaits, thread.asks),
            )
            known = thread.routine or thread.died
            groups.setdefault(alike if known else ("", thread.ended), []).append(thread)
        told = [self._group(group) for group in groups.values()]
        more = len(told) - _MOST_LINES
        return [*told[:_MOST_LINES], f"{counted(more, 'other place')}"] if more > 0 else told

    def _group(self, group: Sequence[Stuck]) -> str:
        one, who = group[0], rank_words({thread.rank for thread in group})
        several = len({thread.rank for thread in group}) > 1
        since = self.since(max(group, key=lambda thread: thread.since_s))
        if one.died or one.ended:
            return f"{who} {self._death(one)}"
        if not one.routine:
            verb = "have" if several else "has"
            return (
                f"{who} {verb} been in no MPI call for {since}: computing, stopped, dead, or "
                "waiting for something other than MPI, such as a full pipe"
            )
        wait = "wait" if several else "waits"
        whom = self.whom(one)
        asking = ", asking again and again," if one.asks else ""
        return f"{who} {wait} {whom + ' ' if whom else ''}{self._call(one)}{asking} for {since}"

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
            reads = any(one.kind == "memory" for one in thread.awaits)
            several = len(thread.ranks) > 1 and (reads or waits_for_any(thread))
            any_of = "any of " if several else ""
            return f"for {any_of}{rank_words(thread.ranks)}{ended}"
        if meets_another_program(thread):
            return "for another program"
        return "for any rank" if any(one.any_source for one in thread.awaits) else ""

    def _call(self, thread: Stuck) -> str:
        place = self.places[thread.site] if thread.site < len(self.places) else "?"
        return f"in {thread.routine} at {place}{self.details(thread)}"

    def details(self, thread: Stuck) -> str:
        """Tags, communicator, requests of a call, in brackets."""
        words: list[str] = []
        for one in thread.awaits:
            match one.kind:
                case "sender" | "receiver" if one.invalid:
                    way, rank = "from" if one.kind == "sender" else "to", _signed(one.number)
                    text = f"{way} rank {rank}, but {self._on(one)} has {one.bytes} ranks"
                case "ready":
                    text = (
                        f"{one.number} of {one.bytes} partitions of a send to rank {one.peer} are "
                        f"marked as ready, tag {one.tag}, {self._on(one)}"
                    )
                case "sender" | "receiver" | "exchange":
                    which = {"sender": "receive", "receiver": "send", "exchange": "exchange"}
                    tag = "any tag" if one.tag is None else f"tag {one.tag}"
                    text = f"{tag}, {self._on(one)}"
                    named = "Wait" in thread.routine or "Buffer" in thread.routine
                    if len(thread.awaits) > 1 or named:
                        way = "from" if one.kind == "sender" else "to"
                        peer = "any rank" if one.peer is None else f"rank {one.peer}"
                        text = f"{which[one.kind]} {way} {peer}, {text}"
                case "members":
                    text = f"collective {one.number + 1} on {self._on(one)}"
                    if one.routine not in ("", thread.routine):
                        text = f"{one.routine}, {text}"
                    if self.all_entered(thread, one):
                        text += ", which all members have entered"
                # Those that sessions make have a name in place of a tag, which is not kept.
                case "group" if "_from_group" not in thread.routine:
                    text = f"tag {one.tag}, {self._on(one)}"
                case "post" | "complete":
                    text = f"MPI_Win_{one.kind} of rank {one.peer}, {self._on(one)}"
                case "memory":
                    whose = "its own" if one.peer == thread.rank else f"rank {one.peer}'s"
                    whose = "a" if one.peer is None else whose
                    text = f"polls {whose} window until somebody writes there, {self._on(one)}"
                case "target":
                    where = "all ranks" if one.peer is None else f"rank {one.peer}"
                    text = f"{self._on(one)} at {where}"
                    if one.holders:
                        text += f", which is locked by {rank_words(one.holders)}"
                case _:
                    continue
            if text not in words:
                words.append(text)
        if thread.requests > len(thread.awaits):
            words.append(f"{thread.requests} requests in all")
        return f" ({'; '.join(words)})" if words else ""

    def all_entered(self, thread: Stuck, one: Awaited) -> bool:
        """Whether nobody is missing in a collective that has not ended."""
        return one.kind == "members" and not thread.ranks and one.communicator in self.members

    def _on(self, one: Awaited) -> str:
        return self._named(one.communicator)

    def _named(self, communicator: int) -> str:
        return self.communicators[communicator] or f"communicator {communicator}"


def entered_words(call: Entered, other: Entered, places: Sequence[str]) -> str:
    """How a rank entered a collective, with what another one did otherwise."""
    words = [f"rank {call.rank} called {call.routine}"]
    place = places[call.site] if call.site < len(places) else "?"
    if call.routine != other.routine:
        return f"{words[0]} at {place}"
    if call.bytes != other.bytes and None not in (call.bytes, other.bytes):
        words.append(f"of {format_bytes(call.bytes or 0)}")
    if call.operation != other.operation and call.operation:
        words.append(f"with {call.operation}")
    if call.root != other.root and call.root is not None:
        words.append(f"with rank {call.root} as its root")
    return f"{' '.join(words)} at {place}"


def meets_another_program(thread: Stuck) -> bool:
    """Whether a call waits for what is not among the program's ranks."""
    meets = routines.plain(thread.routine) in routines.MEETINGS
    return not thread.ranks and (meets or any(one.foreign for one in thread.awaits))


def _pairs(one: Entered, other: Entered) -> tuple[tuple[Entered, Entered], ...]:
    return (one, other), (other, one)


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number


def _still_s(thread: Stuck) -> float:
    """How long a thread must have been in place before it is said never to go on."""
    unknown = any(one.under_way is None for one in thread.awaits)
    return _UNTOLD_S if unknown else _STILL_S


def _of(thread: Stuck, kind: str, peer: int) -> list[Awaited]:
    """Messages of one kind that a call waits for, and that may be of one peer."""
    return [
        one for one in thread.awaits if one.kind == kind and (one.peer == peer or one.any_source)
    ]
