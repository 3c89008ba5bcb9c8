"""Which ranks left a record, which records cannot be merged, and what a profile lacks and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl

from contend.errors import InputError
from contend.profiling.clocks import TickCounter, counter_of
from contend.profiling.folder import OTHER_PROGRAM
from contend.profiling.record_file import read_header
from contend.profiling.record_layout import State
from contend.runs import Warned
from contend.units import counted

_SHOWN = 6
_LOST = {
    "communicators": (
        "communicator",
        "calls there stand together as others, and who waited in their collectives is not known",
    ),
    "members": ("list of members", "nothing can be said of who is in that communicator"),
    "cells": ("call", "only counted by routine, without size, communicator and place"),
    "peers": ("peer", "without a row in the matrix"),
    "collectives": ("collective", "those that are kept stand for all"),
    "events": ("event", "a replay ends where the first is missing"),
    "modules": ("memory map", "places in it have no name"),
    "routines": ("routine name", "not kept"),
}
_WORD_BYTES = 8192


@dataclass
class Left:
    """Records that are not merged and stay as they are, and why."""

    names: list[str] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)

    def add(self, path: Path, code: str, text: str) -> None:
        """Leaves one."""
        self.names.append(path.name)
        self.warnings.append(Warned(code, f"{text}; the file is left as it is"))


def nothing(folder: Path, left: Left) -> str:
    """Why a profile has no rank at all."""
    if left.warnings:
        return f"{folder}: no rank left a record that can be read: {left.warnings[0].text}"
    return f"{folder}: no rank left a record"


@dataclass(frozen=True)
class RankHeader:
    """What is known of a rank by its header.

    Attributes:
        path: of its record.
        header: as it stands there.
        counter: its ticks on its host's clock.
        host: where it ran.
    """

    path: Path
    header: np.void
    counter: TickCounter
    host: str


def read_headers(records: Path, paths: Sequence[Path], left: Left) -> dict[int, RankHeader]:
    """Ranks by number; records that cannot be read, or are of another program, are left.

    Of programs that one command starts one after the other the first writes rank 0's record, and
    others those of ranks that it does not have.
    """
    ranks: dict[int, RankHeader] = {}
    size = 0
    others: list[Path] = []
    for path in paths:
        try:
            header = read_header(path)
        except InputError as error:
            left.add(path, "unreadable", str(error))
            continue
        size = size or int(header["size"])
        if int(header["size"]) != size or int(header["rank"]) in ranks:
            others.append(path)
            continue
        host = header["host"].partition(b"\0")[0].decode(errors="replace")
        rank = RankHeader(path, header, counter_of(header["clock"]), host)
        ranks[int(header["rank"])] = rank
    words = [_word(path) for path in records.glob(f"{OTHER_PROGRAM}*")]
    if others or words:
        left.names += [path.name for path in others]
        left.warnings.append(Warned("another-program", _of_others(words)))
    return _with_periods(ranks)


def _word(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_WORD_BYTES).decode(errors="replace")


def _of_others(words: Sequence[str]) -> str:
    """Which programs are not recorded, and what to do about it."""
    programs: Counter[tuple[str, str, str]] = Counter()
    for word in words:
        size, how, path = (word.split(maxsplit=2) + [""] * 3)[:3]
        programs[Path(path.strip()).name or "a program", size, how] += 1
    shown = [
        f"{name} ({'' if how != 'spawned' else 'spawned, '}"
        f"{size} {'rank' if size == '1' else 'ranks'}{f', {times} times' if times > 1 else ''})"
        for (name, size, how), times in sorted(programs.items())[:_SHOWN]
    ]
    named = f": {', '.join(shown)}" if shown else ""
    more = ", ..." if len(programs) > _SHOWN else ""
    started = [size for _, size, how in programs if how != "spawned"]
    spawned = len(started) < len(programs)
    apart = all(size == "1" for size in started) and (started or not spawned)
    return (
        "only the first MPI program of a command is recorded, and others started under this one"
        f"{', or ranks that did not find each other' if apart else ''}{named}{more}"
        f"{'; profile each program by itself' if started or not spawned else ''}"
        f"{'; processes that a program spawns are not recorded yet' if spawned else ''}"
    )


def _with_periods(ranks: Mapping[int, RankHeader]) -> dict[int, RankHeader]:
    """Ranks that ended before their counter was read twice have the period of the others."""
    known = [rank.counter.period for rank in ranks.values() if rank.counter.period is not None]
    usual = float(np.median(known)) if known else None
    return {
        number: RankHeader(
            rank.path,
            rank.header,
            TickCounter(rank.counter.ticks, rank.counter.nanoseconds, rank.counter.period or usual),
            rank.host,
        )
        for number, rank in sorted(ranks.items())
    }


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
        text = f"{rank_words(absent)} left no record: nothing that they called is here"
        yield Warned("no-record", text)
    yield from _endings(ranks)
    for section, (thing, consequence) in _LOST.items():
        number = sum(sections.get(section, 0) for sections in lost.values())
        if number:
            those = [rank for rank, sections in lost.items() if sections.get(section, 0)]
            text = (
                f"{counted(number, thing)} of {rank_words(those)} found no room in the record: "
                f"{consequence}; --record takes a larger size"
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
