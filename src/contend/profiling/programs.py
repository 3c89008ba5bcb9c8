"""The MPI programs of one command: which ranks began together, which records cannot be merged."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby, islice
from math import isinf
from pathlib import Path

import numpy as np
import polars as pl

from contend.base.errors import InputError
from contend.base.units import counted, format_seconds
from contend.lab.runs import Warned
from contend.profiling.clocks import TickCounter, counter_of
from contend.profiling.folder import LeftOut, OtherProgram, read_other_library
from contend.profiling.record_file import read_header, text_of
from contend.profiling.record_form import State

_SHOWN = 6
_LOST = {
    "communicators": (
        "communicator",
        "their calls are counted together as others, and who waited in their collectives is not "
        "known",
    ),
    "members": ("list of members", "it is unknown who is in that communicator"),
    "cells": ("call", "only counted by routine, without size, communicator and place"),
    "peers": ("peer", "without a row in the matrix"),
    "collectives": ("collective", "those that are kept stand for all"),
    "events": ("event", "a replay ends at the first of them"),
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
    died: Mapping[int, str],
    *,
    full: LeftOut | None,
    cut_short: bool,
    status: int,
) -> Iterator[Warned]:
    """What is missing, each with what follows from it.

    Args:
        ranks: the profile's table of ranks.
        size: of MPI_COMM_WORLD.
        lost: items that found no room, by rank and section.
        headers: of all records.
        died: of what, by rank, as far as it is known.
        full: what records without room for all events have left out; None where none has.
        cut_short: whether contend was told to end while the program ran.
        status: that the command ended with; 0 where that is not known.
    """
    absent = sorted(set(range(size)) - set(ranks["rank"].to_list()))
    if absent:
        text = f"{rank_words(absent)} left no record: their calls are missing"
        yield Warned("no-record", text)
    yield from _endings(ranks, died, cut_short=cut_short, status=status)
    for section, (thing, consequence) in _LOST.items():
        number = sum(sections.get(section, 0) for sections in lost.values())
        if number:
            those = [rank for rank, sections in lost.items() if sections.get(section, 0)]
            text = (
                f"{counted(number, thing)} of {rank_words(those)} did not fit into the record: "
                f"{consequence}; give --record a larger size"
            )
            if section == "events" and full is not None:
                text = f"{_left_out_words(full)}: {text}"
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


def _left_out_words(full: LeftOut) -> str:
    shorter = f"calls below {format_seconds(full.below_s)}" if full.below_s else "all calls"
    return (
        f"from {format_seconds(full.after_s)} on {shorter} were left out; ranks may have waited up "
        f"to {format_seconds(full.seconds)} more in all"
    )


def _endings(
    ranks: pl.DataFrame, died: Mapping[int, str], *, cut_short: bool, status: int
) -> Iterator[Warned]:
    state = {kind: ranks.filter(pl.col("state") == int(kind))["rank"].to_list() for kind in State}
    for rank, cause in sorted(died.items()):
        yield Warned("killed", f"rank {rank} {cause}")
    if killed := sorted({*state[State.RUNNING]} - died.keys()):
        were, each = ("was", "it") if len(killed) == 1 else ("were", "each")
        if cut_short:
            how = f"{were} still running when contend was told to end, and ended with it"
        elif died or state[State.ABORTED] or state[State.EXITED]:
            how = f"{were} ended with the others"
        else:
            how = f"{were} killed from outside, or crashed without a word"
            # As shells and launchers say it.
            if status in (signal.SIGKILL, 128 + signal.SIGKILL):
                how += f" (exit status {status} means SIGKILL, as where memory runs out)"
        text = f"{rank_words(killed)} {how}: the call that {each} was in counts until the end"
        yield Warned("killed", text)
    for rank in state[State.ABORTED]:
        code = ranks.filter(pl.col("rank") == rank)["exit_code"].item()
        yield Warned("aborted", f"rank {rank} called MPI_Abort with {code}")
    if exited := sorted({*state[State.EXITED]} - died.keys()):
        text = f"{rank_words(exited)} ended without MPI_Finalize"
        yield Warned("exited", text)


_Launch = tuple[int, str, str]


@dataclass(frozen=True)
class RankHeader:
    """What is known of a rank by its header."""

    path: Path
    """Path of its record."""
    header: np.void
    """Header as it stands there."""
    counter: TickCounter
    """Ticks of the rank on its host's clock."""
    host: str
    """Host on which it ran."""

    @property
    def begun_unix(self) -> float:
        """When it entered MPI_Init, in seconds since 1970; infinite where it never left it."""
        clock = self.header["clock"]
        if not int(clock["start_unix_ns"]):
            return float("inf")
        ticks = np.array([clock["start_ticks"] - clock["begun_ticks"]], np.uint64)
        return 1e-9 * int(clock["start_unix_ns"]) - float(self.counter.seconds(ticks)[0])

    @property
    def seen_unix(self) -> float:
        """When it last read its clock, likewise."""
        clock = self.header["clock"]
        since = int(clock["end_ns"]) - int(clock["start_ns"])
        return 1e-9 * (int(clock["start_unix_ns"]) + since)


@dataclass(frozen=True)
class RecordedProgram:
    """Ranks of one MPI_COMM_WORLD."""

    launch: str
    """What tells the program from all others."""
    ranks: dict[int, RankHeader]
    """Ranks that left a record, by number."""

    @property
    def size(self) -> int:
        """Ranks of MPI_COMM_WORLD."""
        return max(int(rank.header["size"]) for rank in self.ranks.values())

    @property
    def files(self) -> frozenset[str]:
        """What its ranks run."""
        return frozenset(text_of(rank.header["program"]) for rank in self.ranks.values())

    @property
    def begun_unix(self) -> float:
        """When its first rank entered MPI_Init, in seconds since 1970."""
        return min(rank.begun_unix for rank in self.ranks.values())

    @property
    def seen_unix(self) -> float:
        """When its last rank was last heard of."""
        return max(rank.seen_unix for rank in self.ranks.values())

    @property
    def spawned(self) -> bool:
        """Whether another program started it by MPI_Comm_spawn."""
        return any(rank.header["spawned"] for rank in self.ranks.values())

    @property
    def spawns(self) -> bool:
        """Whether it called MPI_Comm_spawn."""
        return any(rank.header["spawns"] for rank in self.ranks.values())


def read_programs(paths: Sequence[Path], left: LeftRecords) -> list[RecordedProgram]:
    """Programs in the order in which they began; records that cannot be read are left."""
    ranks: dict[_Launch, dict[int, RankHeader]] = {}
    for path in paths:
        try:
            header = read_header(path)
        except InputError as error:
            left.add(path, "unreadable", str(error))
            continue
        number, size = int(header["rank"]), int(header["size"])
        if not int(header["clock"]["start_ticks"]):
            text = f"rank {number} ended in MPI_Init, before it began to record"
            left.warnings.append(Warned("no-record", text))
            continue
        launcher, _, word = text_of(header["launch"]).partition(" ")
        own = ranks.setdefault((size, launcher, word), {})
        if number in own:
            left.add(path, "unreadable", f"{own[number].path} is of the same rank")
            continue
        own[number] = RankHeader(path, header, counter_of(header["clock"]), text_of(header["host"]))
    for launch in [launch for launch in ranks if not launch[2]]:
        _join(ranks, launch)
    programs = [
        RecordedProgram(f"{launcher} {word}", _with_periods(own))
        for (_, launcher, word), own in ranks.items()
    ]
    return sorted(programs, key=lambda program: (program.begun_unix, program.launch))


def _join(ranks: dict[_Launch, dict[int, RankHeader]], launch: _Launch) -> None:
    """Ranks that did not see their rank 0 belong to the one program that they can be of."""
    programs = [
        other
        for other, own in ranks.items()
        if other != launch and other[:2] == launch[:2] and not own.keys() & ranks[launch].keys()
    ]
    if len(programs) == 1:
        ranks[programs[0]].update(ranks.pop(launch))


def _with_periods(ranks: dict[int, RankHeader]) -> dict[int, RankHeader]:
    """Ranks that ended before their counter was read twice have the period of the others."""
    known = [rank.counter.period for rank in ranks.values() if rank.counter.period is not None]
    usual = float(np.median(known)) if known else None
    return {
        number: replace(rank, counter=replace(rank.counter, period=rank.counter.period or usual))
        for number, rank in sorted(ranks.items())
    }


def plan(folder: Path, programs: Sequence[RecordedProgram]) -> tuple[str, tuple[OtherProgram, ...]]:
    """What the first of several programs is, and the others with the folders of their profiles.

    These are beside that of the first, or in it where nothing can be written beside it.
    """
    whole = folder.resolve()
    form = f"{whole.name}-{{}}" if os.access(whole.parent, os.W_OK) else f"{whole.name}/{{}}"
    free = (form.format(n) for n in count(2) if not (whole.parent / form.format(n)).exists())
    names = [whole.name, *islice(free, len(programs) - 1)]
    others = [
        OtherProgram(
            name,
            program.launch,
            _origin(at, programs, names),
            None if program.spawned or isinf(program.begun_unix) else program.begun_unix,
        )
        for at, (program, name) in enumerate(zip(programs, names, strict=True))
        if at
    ]
    return f"the first of {len(programs)} MPI programs of its command", tuple(others)


def _origin(at: int, programs: Sequence[RecordedProgram], names: Sequence[str]) -> str:
    """How a program came after others."""
    own = programs[at]
    before = list(zip(programs[:at], names[:at], strict=True))
    if own.spawned:
        by = [name for other, name in before if other.spawns]
        return f"spawned by {' or '.join(by)}" if by else "spawned by a program without a record"
    running = [name for other, name in before if other.seen_unix > own.begun_unix]
    if running:
        return f"begun while {running[-1]} ran"
    _, last = max(before, key=lambda pair: pair[0].seen_unix)
    return f"begun after {last}"


def until_the_end(program: RecordedProgram, others: Sequence[OtherProgram]) -> bool:
    """Whether a program may have been there until its command ended, as none came after it."""
    return not any(
        other.begun_unix is not None and other.begun_unix > program.seen_unix for other in others
    )


def not_recorded(records: Path, programs: Sequence[RecordedProgram]) -> Iterator[Warned]:
    """What else the command started, or did not start as it was meant."""
    if (path := read_other_library(records)) is not None:
        yield Warned(
            "another-library",
            f"a program of the command loaded {path}, and the recorder is for another MPI library: "
            "that program is not recorded",
        )
    alone = Counter(
        program.files for program in programs if program.size == 1 and not program.spawned
    )
    for files, number in alone.items():
        same = [program for program in programs if program.files == files]
        last_begun = max(program.begun_unix for program in same)
        if number > 1 and number == len(same) and last_begun < min(p.seen_unix for p in same):
            yield Warned(
                "apart",
                f"{counted(number, 'program')} of one rank ran {Path(min(files)).name} at the same "
                "time: if they were meant as ranks of one program, they did not find each other; "
                "the launcher may belong to another MPI library than the program",
            )
