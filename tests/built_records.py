"""Records of ranks as the tracer leaves them, built from what a test says that ranks did."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.process import Finished
from contend.lab.runs import write_table
from contend.profiling.folder import PROFILE, RECORDS, ProfileRecord, write_profile_record
from contend.profiling.record_form import (
    CELL,
    COLLECTIVE,
    COMMUNICATOR,
    EVENT,
    HEADER,
    MAGIC,
    NO_CALL,
    NO_NUMBER,
    PEER,
    SECTIONS,
    UNDER_WAY,
    UNKNOWN_BYTES,
    VERSION,
    EventKind,
)

ROUTINES = ("MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Alltoall", "MPI_Wait", "MPI_Put")
SEND, RECEIVE, ALLREDUCE, ALLTOALL, WAIT, PUT = range(6)
MODULES = (
    "00400000-00500000 r-xp 00001000 08:01 17 /nowhere/app",
    "7f0000000000-7f0000100000 r-xp 00000000 08:01 18 /nowhere/libapp.so",
)
SITE = 0x400100
NEVER = 2**64 - 1


@dataclass
class Rank:
    """What one rank did; times in ticks of 1 ns from `base`, unless `period` says otherwise."""

    rank: int
    size: int
    host: str = "node1"
    state: int = 1
    told: int = 0
    exit_code: int = 0
    begun: int = 0
    started: int = 100
    ended: int = 1_000_000
    base: int = 10**15
    monotonic: int = 5 * 10**14
    period: float = 1.0
    known: int = 2
    offsets: Sequence[tuple[int, int, int]] = ((0, 0, 10), (0, 0, 10))
    stride: int = 1
    routines: Sequence[str] = ROUTINES
    modules: Sequence[str] = MODULES
    cells: list[tuple[int, ...]] = field(default_factory=list)
    sent: dict[int, tuple[int, ...]] = field(default_factory=dict)
    collectives: list[tuple[int, ...]] = field(default_factory=list)
    events: list[tuple[int, ...]] = field(default_factory=list)
    communicators: list[tuple[int, ...]] = field(default_factory=list)
    members: Sequence[int] = ()
    lost: dict[str, int] = field(default_factory=dict)
    requests_lost: int = 0
    whole: int = 0
    least: int = 0
    program: str = "/nowhere/app"
    launch: str = "launcher word"
    unix: int = 10**18
    spawned: int = 0
    spawns: int = 0
    pid: int = 1000
    threads: list[tuple[Any, ...]] = field(default_factory=list)

    def cell(
        self,
        routine: int,
        *,
        site: int = SITE,
        communicator: int = 0,
        size_class: int = 4,
        calls: int = 1,
        size: int = 8,
        ticks: int = 1000,
        longest: int | None = None,
    ) -> int:
        """Adds a cell; returns its index."""
        longest = ticks if longest is None else longest
        self.cells.append((site, communicator, routine, size_class, calls, size, ticks, longest))
        return len(self.cells) - 1

    def collective(
        self, entry: int, leaving: int, cell: int, *, number: int = 0, communicator: int = 0
    ) -> None:
        """Adds a blocking collective."""
        self.collectives.append(
            (self.base + entry, self.base + leaving, communicator, number, cell, 0)
        )

    def event(
        self,
        start: int,
        end: int,
        cell: int,
        *,
        peer: int = -1,
        size: int = 8,
        kind: int = 0,
        tag: int = 0,
        request: int = 0,
        thread: int = 0,
        role: int = 0,
        number: int = NO_NUMBER,
    ) -> None:
        """Adds an event; the cell of a completion is that of what made its request."""
        instants = (self.base + start, self.base + end)
        if kind == EventKind.COMPLETION:
            cell = next((one[3] for one in self.events[::-1] if one[6] == request), cell)
            role = int(peer >= 0)
        turn = number << 2 | role
        self.events.append((*instants, size, cell, peer, tag, request, kind, 0, thread, turn))

    def in_call(self, start: int, routine: int, *awaited: tuple[int, int, int]) -> None:
        """Adds a thread that is in a call which waits for kind, peer and tag."""
        nothing = (0, 0, 0, 0, 0, 0, UNKNOWN_BYTES)
        kept = [(*one, 0, 0, 0, UNKNOWN_BYTES) for one in awaited] + [nothing] * (8 - len(awaited))
        at = self.base + start
        self.threads.append((at, at, SITE, routine, len(awaited), 0, 0, 0, 0, kept))

    def asking(
        self, since: int, noted: int, left: int, routine: int, awaited: tuple[int, int, int]
    ) -> None:
        """Adds a thread that asks in vain; of its last question, none is noted behind `noted`."""
        nothing = (0, 0, 0, 0, 0, 0, UNKNOWN_BYTES)
        since, noted, left = (self.base + at for at in (since, noted, left))
        kept = [(*awaited, 0, 0, 0, UNKNOWN_BYTES)] + [nothing] * 7
        self.threads.append((left, left, SITE, NO_CALL, 1, since, noted, routine, 1, kept))

    def communicator(
        self, identity: int, members: Sequence[int], *, name: str = "", kind: int = 0
    ) -> int:
        """Adds a communicator; returns its index."""
        self.communicators.append(
            (
                identity,
                0,
                kind,
                len(members),
                list(members).index(self.rank),
                len(self.members),
                0,
                0,
                [0] * 8,
                1,
                name.encode(),
            )
        )
        self.members = [*self.members, *members]
        return 2 + len(self.communicators)

    def content(self) -> bytes:
        """The file."""
        world = (1, 0, 0, self.size, self.rank, NEVER, 0, 0, [0] * 8, 1, b"MPI_COMM_WORLD")
        own = (2, 0, 0, 1, 0, NEVER, 0, 0, [0] * 8, 1, b"MPI_COMM_SELF")
        others = (3, 0, 0, 1, 0, NEVER, 0, 0, [0] * 8, 1, b"")
        peers = np.zeros(self.size, PEER)
        for destination, counts in self.sent.items():
            peers[destination] = (*counts, *([0] * (8 - len(counts))))
        sections = {
            "routines": _lines(self.routines),
            "modules": _lines(self.modules),
            "communicators": np.array([world, own, others, *self.communicators], COMMUNICATOR),
            "members": np.array(self.members, "<i4"),
            "cells": np.array(self.cells, CELL),
            "peers": peers,
            "collectives": np.array(self.collectives, COLLECTIVE),
            "threads": np.array(self.threads, UNDER_WAY),
            "events": np.array(self.events, EVENT),
        }
        return self._packed(sections)

    def _packed(self, sections: dict[str, NDArray[Any]]) -> bytes:
        header = np.zeros(1, HEADER)
        header["magic"], header["version"] = MAGIC, VERSION
        header["header_bytes"] = HEADER.itemsize
        for name in (
            *("rank", "size", "state", "exit_code", "requests_lost", "spawned", "spawns", "told"),
        ):
            header[name] = getattr(self, name)
        header["whole"], header["least"] = self.whole, self.least
        header["pid"] = self.pid + self.rank
        header["collective_stride"] = self.stride
        header["host"] = self.host.encode()
        header["library"], header["program"] = b"Open MPI v4.1.4", self.program.encode()
        header["launch"] = self.launch.encode()
        clock = header["clock"]
        for name in ("begun", "started", "ended"):
            field_name = {"begun": "begun", "started": "start", "ended": "end"}[name]
            clock[f"{field_name}_ticks"] = self.base + getattr(self, name)
        clock["start_ns"] = self.monotonic + round(self.period * self.started)
        clock["end_ns"] = self.monotonic + round(self.period * self.ended)
        clock["start_unix_ns"] = self.unix + self.started
        clock["known"], clock["parent"] = self.known, self.rank & (self.rank - 1)
        clock["offsets"] = np.array(
            [[(self.monotonic + at, shift, unsure) for at, shift, unsure in self.offsets]],
            clock["offsets"].dtype,
        )
        body, at = bytearray(), -(-HEADER.itemsize // 64) * 64
        for index, (name, kind) in enumerate(SECTIONS.items()):
            items = sections[name]
            header["sections"][0, index] = (
                at + len(body),
                len(items),
                len(items),
                self.lost.get(name, 0),
                kind.itemsize,
            )
            body += items.tobytes()
            body += bytes(-len(body) % 64)
        return header.tobytes().ljust(at, b"\0") + bytes(body)


def _lines(lines: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("".join(f"{line}\n" for line in lines).encode(), np.uint8)


def leave_records(folder: Path, ranks: Sequence[Rank], **known: Any) -> Path:
    """The folder of a profile whose ranks have ended and are not merged yet."""
    (folder / RECORDS).mkdir(parents=True)
    write_profile_record(folder, ProfileRecord(("mpirun", "-n", "2", "./app"), **known))
    programs = list(dict.fromkeys(rank.launch for rank in ranks))
    for rank in ranks:
        turn = programs.index(rank.launch)
        name = f"rank-{rank.rank:06}{f'-{turn + 1}' if turn else ''}.record"
        (folder / RECORDS / name).write_bytes(rank.content())
    assert (folder / PROFILE).is_file()
    return folder


def no_program(_: Sequence[str], __: Mapping[str, str], ___: float) -> Finished:
    """Runs nothing for a merge, so that places in programs have no names."""
    return Finished(1)


def full_after(tables: int) -> Callable[[Path, pl.DataFrame], None]:
    """Writes tables as `write_table` does, until the disk is full."""
    left = iter(range(tables))

    def write(path: Path, table: pl.DataFrame) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write_table(path, table)

    return write
