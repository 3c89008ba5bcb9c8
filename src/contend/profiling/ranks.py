"""Which records cannot be merged, and what a profile lacks and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl

from contend.profiling.record_layout import State
from contend.runs import Warned
from contend.units import counted

_SHOWN = 6
_LOST = {
    "communicators": (
        "communicator",
        "their calls are counted together as others, and who waited in their collectives is not "
        "known",
    ),
    "members": ("list of members", "nothing can be said of who is in that communicator"),
    "cells": ("call", "only counted by routine, without size, communicator and place"),
    "peers": ("peer", "without a row in the matrix"),
    "collectives": ("collective", "those that are kept stand for all"),
    "events": ("event", "a replay ends where the first is missing"),
    "modules": ("memory map", "places in it have no name"),
    "routines": ("routine name", "not kept"),
}


@dataclass
class LeftRecords:
    """Records that are not merged and stay as they are, and why."""

    names: list[str] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)

    def add(self, path: Path, code: str, text: str) -> None:
        """Leaves one."""
        self.names.append(path.name)
        self.warnings.append(Warned(code, f"{text}; the file is left as it is"))


def nothing(folder: Path, left: LeftRecords) -> str:
    """Why a profile has no rank at all."""
    if left.warnings:
        return f"{folder}: no rank left a record that can be read: {left.warnings[0].text}"
    return f"{folder}: no rank left a record"


def rank_words(ranks: Iterable[int]) -> str:
    """Ranks for people, runs of them shortened: ``rank 3``, ``ranks 0-2, 5 and 7``."""
    numbers = sorted(ranks)
    runs = []
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in group]
        wide = len(members) > 2
        runs += [f"{members[0]}-{members[-1]}"] if wide else [str(member) for member in members]
    more = len(runs) > _SHOWN
    if more:
        return f"{counted(len(numbers), 'rank')} ({', '.join(runs[:_SHOWN])}, ...)"
    joined = " and ".join(filter(None, [", ".join(runs[:-1]), *runs[-1:]]))
    return f"rank{'' if len(numbers) == 1 else 's'} {joined}"


def left_out(
    ranks: pl.DataFrame,
    size: int,
    lost: Mapping[int, Mapping[str, int]],
    headers: Sequence[np.void],
) -> Iterator[Warned]:
    """What is missing, each with what follows from it.

    Args:
        ranks: the profile's table of ranks.
        size: of MPI_COMM_WORLD.
        lost: items that found no room, by rank and section.
        headers: of all records.
    """
    absent = sorted(set(range(size)) - set(ranks["rank"].to_list()))
    if absent:
        text = f"{rank_words(absent)} left no record: their calls are missing"
        yield Warned("no-record", text)
    yield from _endings(ranks)
    for section, (thing, consequence) in _LOST.items():
        number = sum(sections.get(section, 0) for sections in lost.values())
        if number:
            those = [rank for rank, sections in lost.items() if sections.get(section, 0)]
            text = (
                f"{counted(number, thing)} of {rank_words(those)} did not fit into the record: "
                f"{consequence}; give --record a larger size"
            )
            yield Warned(f"lost-{section}", text)
    requests = sum(int(header["requests_lost"]) for header in headers)
    if requests:
        text = f"{counted(requests, 'request')} could not be followed: too many were under way"
        yield Warned("lost-requests", text)
    unsure = ranks.filter(pl.col("uncertainty_s").is_nan())["rank"].to_list()
    if unsure:
        text = (
            f"the clocks of {rank_words(unsure)} were never compared with the others: waiting and "
            "transfer cannot be told apart where they take part"
        )
        yield Warned("clock", text)


def _endings(ranks: pl.DataFrame) -> Iterator[Warned]:
    state = {kind: ranks.filter(pl.col("state") == int(kind))["rank"].to_list() for kind in State}
    if state[State.RUNNING]:
        killed = state[State.RUNNING]
        were, each = ("was", "it") if len(killed) == 1 else ("were", "each")
        text = (
            f"{rank_words(killed)} crashed or {were} killed from outside: the call that {each} was "
            "in counts until the end"
        )
        yield Warned("killed", text)
    for rank in state[State.ABORTED]:
        code = ranks.filter(pl.col("rank") == rank)["exit_code"].item()
        yield Warned("aborted", f"rank {rank} called MPI_Abort with {code}")
    if state[State.EXITED]:
        text = f"{rank_words(state[State.EXITED])} ended without MPI_Finalize"
        yield Warned("exited", text)
