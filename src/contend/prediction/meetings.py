"""Collectives of a profiled program: the calls of all members, put together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from contend.errors import InputError
from contend.prediction.calls import Call, RankCalls
from contend.profiling import ProgramProfile
from contend.profiling.routines import COLLECTIVES

_WORLD = 0
_NOBODY = -1
_FINALIZE = "Finalize"

SETTING_UP = frozenset(
    {
        _FINALIZE,
        "Comm_dup",
        "Comm_dup_with_info",
        "Comm_create",
        "Comm_split",
        "Comm_split_type",
        "Cart_create",
        "Cart_sub",
        "Graph_create",
        "Dist_graph_create",
        "Dist_graph_create_adjacent",
    }
)
"""Calls in which all members meet and what they send is not known."""
BEGUN = {f"I{name[0].lower()}{name[1:]}": name for name in COLLECTIVES}
"""Blocking routines by the names of those that are begun and waited for later."""
TOGETHER = COLLECTIVES | SETTING_UP | frozenset(BEGUN)


@dataclass(frozen=True)
class Meeting:
    """A collective of all members of a communicator.

    Attributes:
        calls: every member's, by its rank in MPI_COMM_WORLD.
    """

    calls: Mapping[int, Call]

    @cached_property
    def quickest_s(self) -> float:
        """What it took the member that spent least in it."""
        return min(call.seconds for call in self.calls.values())

    @cached_property
    def mean_bytes(self) -> float:
        """What a member gives."""
        return sum(call.bytes for call in self.calls.values()) / len(self.calls)

    @cached_property
    def sent(self) -> Mapping[int, Mapping[int, float]]:
        """Bytes from rank to other rank, where calls say who gets what."""
        sent: dict[int, dict[int, float]] = {rank: defaultdict(float) for rank in self.calls}
        for rank, call in self.calls.items():
            for part in call.parts:
                if part.peer in sent and part.peer != rank and part.bytes:
                    sent[rank][part.peer] += part.bytes
        return sent

    @cached_property
    def sources(self) -> Mapping[int, Sequence[int]]:
        """Who sends anything to a rank, by that rank."""
        sources: dict[int, list[int]] = {rank: [] for rank in self.calls}
        for rank, targets in self.sent.items():
            for target in targets:
                sources[target].append(rank)
        return sources


def communicator_of(call: Call) -> int:
    """The communicator whose members meet in a call."""
    return _WORLD if call.routine == _FINALIZE else call.communicator


def groups_of(profile: ProgramProfile) -> Mapping[int, Sequence[int]]:
    """Ranks of the communicators whose members are all known and of one group, by number."""
    groups: dict[int, Sequence[int]] = {_WORLD: range(profile.size)}
    table = profile.members.sort("communicator", "member")
    for (communicator,), rows in table.group_by("communicator", maintain_order=True):
        groups[int(str(communicator))] = rows["rank"].to_list()
    inter = profile.communicators.filter(pl.col("kind").cast(pl.String) == "inter")
    for communicator in inter["communicator"].to_list():
        groups.pop(communicator, None)
    return {number: group for number, group in groups.items() if _NOBODY not in group}


def meetings_of(
    ranks: Sequence[RankCalls], groups: Mapping[int, Sequence[int]], folder: Path
) -> Mapping[int, Sequence[Meeting]]:
    """Collectives of every communicator that all members have told of, in their order.

    Raises:
        InputError: members met in different routines, or somebody who is no member.
    """
    own: dict[int, dict[int, list[Call]]] = defaultdict(lambda: defaultdict(list))
    for kept in ranks:
        for call in kept.calls:
            if call.routine in TOGETHER and communicator_of(call) in groups:
                own[communicator_of(call)][kept.rank].append(call)
    met: dict[int, list[Meeting]] = {}
    for communicator, by_rank in own.items():
        group = groups[communicator]
        what = f"communicator {communicator}"
        if not set(by_rank) <= set(group):
            raise InputError(str(folder), 0, f"collectives of members of {what}", "others")
        met[communicator] = []
        for number in range(min(len(by_rank[rank]) for rank in group)):
            calls = {rank: by_rank[rank][number] for rank in group}
            routines = {call.routine for call in calls.values()}
            if len(routines) > 1:
                expected = f"one routine as collective {number} of {what}"
                raise InputError(str(folder), 0, expected, " and ".join(sorted(routines)))
            met[communicator].append(Meeting(calls))
    return met
