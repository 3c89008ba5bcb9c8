"""Gathers what the ranks of one program left into the tables of a profile.

Headers are read before: they give the ranks, their hosts and the common clock. Every record is read
once for its tables and once more for its collectives, which can be judged when the entries of all
ranks are known: one file after the other, so that memory stays small.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import InputError, ShortfallError
from contend.base.files import whole_file
from contend.base.process import Run
from contend.lab.runs import Host, Warned, write_table
from contend.profiling.clocks import LinearClock, common_clocks
from contend.profiling.communicators import Communicators
from contend.profiling.folder import EVENTS, LeftOut, Phase, ProfileColumns, ProfileRecord
from contend.profiling.hang.awaited_ranks import Past, where_stuck
from contend.profiling.hang.deadlock import with_messages
from contend.profiling.hang.mistakes import Mistakes
from contend.profiling.hang.stuck import Seen, cells_under_way, died_of, look, since_when
from contend.profiling.phases import phases_of
from contend.profiling.programs import LeftRecords, RankHeader, left_out, nothing
from contend.profiling.record_file import RankRecord, read_record
from contend.profiling.record_form import NO_CALL, NO_CELL, State, packed_events
from contend.profiling.routines import is_own
from contend.profiling.sites import Places, place_words
from contend.profiling.waits.lateness import Entries, Origins, Waits
from contend.profiling.waits.messages import (
    MOST_EVENTS,
    Messages,
    left_out_of,
    left_out_of_all,
)

Progress = Callable[[int, int], None]

# What is counted of a peer, of which of `KINDS` it is, and whether it came from the peer.
_OF_PEERS = (
    ("bytes", "messages", 0, False),
    ("collective_bytes", "collective_messages", 1, False),
    ("one_sided_bytes", "one_sided_operations", 2, False),
    ("taken_bytes", "taken_operations", 2, True),
)


class Gathering:
    """One program's records: all are gathered into tables, then these are written."""

    def __init__(
        self,
        folder: Path,
        record: ProfileRecord,
        seen_unix: float | None,
        ranks: dict[int, RankHeader],
        left: LeftRecords,
        progress: Progress,
    ) -> None:
        self._folder = folder
        self._record = record
        self._ranks = ranks
        self._left = left
        self._progress = progress
        self._seen_unix = seen_unix
        self._size = max(int(rank.header["size"]) for rank in ranks.values())
        self._clocks: dict[int, LinearClock] = common_clocks(
            {number: rank.header["clock"] for number, rank in ranks.items()},
            {number: rank.host for number, rank in ranks.items()},
        )
        self._origin = min(
            int(self._instants(number, rank.header["clock"]["begun_ticks"].reshape(1))[0])
            for number, rank in ranks.items()
        )
        self._routines: dict[str, int] = {}
        self._communicators = Communicators()
        self._places = Places()
        self._entries = Entries()
        self._calls, self._peers, self._rows = ProfileColumns(), ProfileColumns(), ProfileColumns()
        self._collectives, self._waits = ProfileColumns(), ProfileColumns()
        self._messages = Messages()
        self._mistakes = Mistakes()
        self._origins = Origins()
        self._left_out: list[LeftOut] = []
        self._programs: dict[str, None] = {}
        self._events_at = 0
        self._events: dict[int, tuple[int, int, int]] = {}
        self._last: dict[int, float] = {}
        self._seen: dict[int, Seen] = {}
        self._mpi: dict[int, float] = {}
        self._lost: dict[int, Mapping[str, int]] = {}
        self._library = ""

    def whole(self, run: Run) -> ProfileRecord:
        """Reads everything and writes all tables; returns what ``profile.json`` shall be."""
        with whole_file(self._folder / EVENTS) as events:
            self._read_all(events)
        if not self._ranks:
            raise ShortfallError(nothing(self._folder, self._left))
        self._judge_collectives()
        self._judge_messages()
        calls = self._calls.table("calls")
        phases = self._phases(calls)
        caused = self._origins.caused(self._size)
        for number, rank in self._ranks.items():
            self._add_rank(number, rank, float(caused[number]))
        self._write("calls", calls)
        self._write("collectives", self._collectives.table("collectives"))
        self._write("waits", self._waits.table("waits"))
        self._write("peers", self._peers.table("peers"))
        self._write("communicators", self._communicators.table())
        self._write("members", self._communicators.members())
        ranks = self._rows.table("ranks")
        self._write("ranks", ranks)
        described = self._described(ranks, phases)
        sites = self._places.table(run)
        self._write("sites", sites)
        places = [place_words(site) for site in sites.iter_rows(named=True)]
        ended = bool(ranks["state"].eq(int(State.FINISHED)).all()) and len(ranks) == self._size
        # What was cancelled need not be received.
        ended &= self._routines.get("MPI_Cancel", -1) not in calls["routine"].unique().to_list()
        found = self._mistakes.told(self._messages, partial(self._cell, calls), places, ended=ended)
        return msgspec.structs.replace(described, mistakes=tuple(found))

    def _cell(self, calls: pl.DataFrame, rank: int, cell: int) -> tuple[str, int]:
        """The routine and the number of the place of a rank's cell."""
        row = calls.filter(pl.col("rank") == rank, pl.col("cell") == cell).row(0, named=True)
        return list(self._routines)[row["routine"]], int(row["site"])

    def _instants(self, rank: int, ticks: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Ticks of a rank as nanoseconds of the common clock."""
        return self._clocks[rank].on(self._ranks[rank].counter.at(ticks))

    def _seconds(self, rank: int, ticks: np.uint64) -> float:
        """An instant of a rank's in seconds since the first one entered MPI_Init."""
        return 1e-9 * float(self._instants(rank, np.array([ticks], np.uint64))[0] - self._origin)

    def _read_all(self, events: BinaryIO) -> None:
        for done, number in enumerate(list(self._ranks)):
            self._progress(done, len(self._ranks))
            try:
                record = read_record(self._ranks[number].path)
            except InputError as error:
                self._left.add(self._ranks.pop(number).path, "unreadable", str(error))
                continue
            self._add_calls(self._with_calls_under_way(record))
            self._add_peers(record)
            self._keep_events(record, events)
            if record.lost["events"]:
                full = np.append(record.header["clock"]["start_ticks"], record.events["end"])[-1]
                after_s = self._seconds(number, full)
                self._left_out.append(left_out_of(record, self._ranks[number].counter, after_s))
            numbers = self._communicators.numbers_of(record)
            first_error = np.array([record.header["error_site"]], np.uint64)
            [site] = self._places.number(first_error, record.modules)
            self._mistakes.add(record, numbers, int(site))
            if self._clocks[number].uncertainty is not None:
                collectives = self._renumbered(record)
                entries = self._instants(number, collectives["entry"])
                self._entries.add(number, collectives, entries)
                self._messages.add(record, numbers, partial(self._instants, number))
            self._programs.setdefault(record.program)
            self._lost[number] = record.lost
            self._library = self._library or record.library

    def _add_calls(self, record: RankRecord) -> None:
        cells, number = record.cells, record.rank
        counter = self._ranks[number].counter
        known = [self._routines.setdefault(name, len(self._routines)) for name in record.routines]
        seconds = counter.seconds(cells["ticks"])
        own = np.array([is_own(name) for name in record.routines], bool)[cells["routine"]]
        self._mpi[number] = float(seconds[~own].sum())
        self._calls.add(
            rank=np.full(len(cells), number, np.uint32),
            cell=np.arange(len(cells), dtype=np.uint32),
            routine=np.array(known, np.uint16)[cells["routine"]],
            communicator=self._communicators.numbers_of(record)[cells["communicator"]],
            site=self._places.number(cells["site"], record.modules),
            size_class=cells["size_class"],
            calls=cells["calls"],
            bytes=cells["bytes"],
            seconds=seconds,
            longest_s=counter.seconds(cells["longest"]),
        )

    def _with_calls_under_way(self, record: RankRecord) -> RankRecord:
        """A rank's record, with the calls that it was in as cells of their own."""
        clock, threads = self._ranks[record.rank].header["clock"], record.threads
        ended_s, since_s, asking_s = since_when(
            record, self._ranks[record.rank].counter, self._seen_unix
        )
        gone_s = self._seconds(record.rank, np.uint64(record.header["died"] or clock["end_ticks"]))
        killed = self._killed(record)
        if killed and (first := self._record.first_gone) is not None:
            gone_s = self._seconds(record.rank, clock["start_ticks"]) + (
                first.unix - 1e-9 * int(clock["start_unix_ns"])
            )
        self._seen[record.rank] = look(
            record,
            self._communicators.numbers_of(record),
            self._places.number(threads["site"], record.modules),
            self._places.of_death(record.header, record.modules),
            since_s.tolist(),
            asking_s.tolist(),
            gone_s=gone_s,
            since_gone_s=ended_s - 1e-9 * (int(clock["end_ns"]) - int(clock["start_ns"])),
            at_least=self._record.ended_unix is None,
            killed=killed,
        )
        if record.state is State.RUNNING or (threads["routine"] != NO_CALL).any():
            started_s = self._seconds(record.rank, clock["start_ticks"])
            self._last[record.rank] = max(started_s + ended_s, 0.0)
        period = 1e-9 * (self._ranks[record.rank].counter.period or 1.0)
        cells = cells_under_way(threads, np.clip(since_s, 0, 1e9) / period)
        return replace(record, cells=np.concatenate([record.cells, cells]))

    def _killed(self, record: RankRecord) -> str:
        """How a rank ended that was the first to, with no word of its own and none of contend's.

        Launchers end with what the first rank died of: with 128 more, as shells do, or MPICH's as
        it is. Only SIGKILL: what else ends the launcher too, it passes on to all ranks, as it does
        where it ends otherwise.
        """
        first, status = self._record.first_gone, self._record.status
        if first is None or first.record != self._ranks[record.rank].path.name:
            return ""
        by_kill = status in (signal.SIGKILL, 128 + signal.SIGKILL)
        if record.header["told"]:
            alone = not self._told() and (by_kill or status == signal.SIGTERM)
            return died_of(signal.SIGTERM) if alone else ""
        return died_of(signal.SIGKILL) if by_kill else ""

    def _told(self) -> bool:
        """Whether somebody had told all ranks to end."""
        return all(rank.header["told"] for rank in self._ranks.values())

    def _add_peers(self, record: RankRecord) -> None:
        for size, messages, kind, taken in _OF_PEERS:
            others = np.flatnonzero(record.peers[messages] | record.peers[size])
            own = np.full(len(others), record.rank, np.uint32)
            ends = (own, others.astype(np.uint32))
            source, destination = reversed(ends) if taken else ends
            self._peers.add(
                source=source,
                destination=destination,
                kind=np.full(len(others), kind, np.uint8),
                bytes=record.peers[size][others],
                messages=record.peers[messages][others],
            )

    def _keep_events(self, record: RankRecord, events: BinaryIO) -> None:
        starts = self._instants(record.rank, record.events["start"]) - self._origin
        ends = self._instants(record.rank, record.events["end"]) - self._origin
        packed = packed_events(record.events, starts, ends)
        events.write(packed)
        self._events[record.rank] = (len(record.events), self._events_at, len(packed))
        self._events_at += len(packed)
        # A rank that was ended from outside read its clock some time before.
        self._last[record.rank] = max(
            self._last.get(record.rank, 0.0), 1e-9 * float(ends.max(initial=0))
        )

    def _renumbered(self, record: RankRecord) -> NDArray[Any]:
        """Collectives with the profile's numbers of communicators."""
        collectives = record.collectives.copy()
        numbers = self._communicators.numbers_of(record)
        collectives["communicator"] = numbers[collectives["communicator"]]
        return collectives

    @property
    def _unsure(self) -> NDArray[np.float64]:
        """Nanoseconds of every rank's clock."""
        unsure = np.zeros(self._size)
        for number in self._ranks:
            unsure[number] = self._clocks[number].uncertainty or 0.0
        return unsure

    def _judge_collectives(self) -> None:
        sizes, unsure = self._communicators.comparable(), self._unsure
        for number, rank in self._ranks.items():
            if self._clocks[number].uncertainty is None:
                continue
            record = read_record(rank.path, events=False)
            collectives = self._renumbered(record)
            totals = np.zeros((4, len(record.cells)))
            for share in self._entries.shares(
                number,
                collectives,
                self._instants(number, collectives["entry"]),
                self._instants(number, collectives["exit"]),
                sizes=sizes,
                uncertainty=unsure,
            ):
                known = share.cells != NO_CELL
                for row, weights in enumerate((known, share.seconds, share.waiting, share.last)):
                    totals[row] += np.bincount(
                        share.cells[known], weights[known], len(record.cells)
                    )
                self._add_waits(number, share.waits())
            self._add_collectives(record, totals)

    def _judge_messages(self) -> None:
        hosts = {number: rank.host for number, rank in self._ranks.items()}
        sizes = self._communicators.comparable()
        for number, waits in self._messages.waits(sizes, self._unsure, hosts):
            self._add_waits(number, waits)

    def _add_waits(self, number: int, waits: Waits) -> None:
        self._origins.add(number, waits)
        sums = waits.sums()
        self._waits.add(rank=np.full(len(sums["cell"]), number, np.uint32), **sums)

    def _add_collectives(self, record: RankRecord, totals: NDArray[np.float64]) -> None:
        rows = np.flatnonzero(totals[0])
        # The last rows that were added for this rank's calls.
        of_cell = self._calls_of(record)
        self._collectives.add(
            **{name: column[rows] for name, column in of_cell.items()},
            occurrences=totals[0][rows].astype(np.uint64),
            seconds=totals[1][rows],
            waiting_s=totals[2][rows],
            last=totals[3][rows].astype(np.uint64),
        )

    def _calls_of(self, record: RankRecord) -> dict[str, NDArray[Any]]:
        """What tells the cells of a rank apart, from the table of calls."""
        at = list(self._ranks).index(record.rank)
        names = ("rank", "cell", "routine", "communicator", "site", "size_class")
        return {name: self._calls.parts[name][at] for name in names}

    def _add_rank(self, number: int, rank: RankHeader, caused: float) -> None:
        clock = rank.header["clock"]
        begun, started, ended = (
            self._seconds(number, clock[f"{name}_ticks"]) for name in ("begun", "start", "end")
        )
        unsure = self._clocks[number].uncertainty
        kept, at, length = self._events[number]
        values = {
            "rank": number,
            "pid": int(rank.header["pid"]),
            "state": int(rank.header["state"]),
            "exit_code": int(rank.header["exit_code"]),
            "begun_s": begun,
            "started_s": started,
            "ended_s": max(ended, self._last[number]),
            "uncertainty_s": np.nan if unsure is None else 1e-9 * unsure,
            "mpi_s": self._mpi[number],
            "caused_s": caused,
            "stride": int(rank.header["collective_stride"]),
            "events": kept,
            "events_at": at,
            "events_bytes": length,
        }
        self._rows.add(
            host=np.array([rank.host], object),
            **{name: np.array([value]) for name, value in values.items()},
        )

    def _phases(self, calls: pl.DataFrame) -> tuple[Phase, ...]:
        """Phases by what the lowest rank called that has most events."""
        number = max(self._ranks, key=lambda rank: self._events[rank][0])
        record = read_record(self._ranks[number].path)
        cells = calls.filter(pl.col("rank") == number)
        return phases_of(
            record,
            [cells[name].to_numpy() for name in ("routine", "communicator", "site")],
            lambda ticks: 1e-9 * (self._instants(number, ticks) - self._origin),
        )

    def _unmatched(self) -> Iterator[Warned]:
        if not self._messages.whole:
            yield Warned(
                "unmatched",
                f"the ranks' records have more than {MOST_EVENTS:,} events, so late senders and "
                "receivers are not identified",
            )

    def _write(self, name: str, table: pl.DataFrame) -> None:
        write_table(self._folder / f"{name}.parquet", table)

    def _record_of(self, rank: int) -> tuple[RankRecord, NDArray[np.uint32]] | None:
        if rank not in self._ranks:
            return None
        record = read_record(self._ranks[rank].path)
        return record, self._communicators.numbers_of(record)

    def _lasts(self, ranks: pl.DataFrame) -> float | None:
        """After how long the first record is full at the mean rate of its events."""
        run_s = (ranks["ended_s"] - ranks["started_s"]).to_list()
        events = [self._ranks[rank].header["sections"][-1] for rank in ranks["rank"]]
        rooms = [
            int(one["capacity"]) / max(int(one["used"]) + int(one["lost"]), 1) for one in events
        ]
        return min(map(float.__mul__, run_s, rooms), default=None)

    def _place(self, record: RankRecord, address: int) -> int:
        return int(self._places.number(np.array([address], np.uint64), record.modules)[0])

    def _described(self, ranks: pl.DataFrame, phases: tuple[Phase, ...]) -> ProfileRecord:
        held = Counter(rank.host for rank in self._ranks.values())
        names = list(held)
        hosts = [
            names.index(self._ranks[number].host) if number in self._ranks else None
            for number in range(self._size)
        ]
        headers = [rank.header for rank in self._ranks.values()]
        unsure = ranks["uncertainty_s"].to_numpy()
        members = self._communicators.by_number
        stuck, under_way = with_messages(
            where_stuck(self._seen, self._size, members, Past(self._record_of, self._place)),
            members,
            self._size,
            self._record_of,
        )
        full = left_out_of_all(self._left_out, self._messages.untold_s)
        return msgspec.structs.replace(
            self._record,
            merged=True,
            told=self._told(),
            ranks=self._size,
            library=self._library,
            programs=tuple(self._programs),
            hosts=tuple(Host(name, count) for name, count in held.items()),
            rank_hosts=tuple(hosts),
            record_bytes=max(rank.path.stat().st_size for rank in self._ranks.values()),
            lasts_s=self._lasts(ranks),
            run_s=float(ranks["ended_s"].max()),  # type: ignore[arg-type]
            uncertainty_s=None if np.isnan(unsure).any() else float(unsure.max()),
            thread_level=max(int(header["thread_level"]) for header in headers),
            fortran=any(header["fortran_calls"] for header in headers),
            routines=tuple(self._routines),
            phases=phases,
            stuck=stuck,
            under_way=under_way,
            left=tuple(self._left.names),
            left_out=full,
            missing=(
                *self._left.warnings,
                *left_out(
                    ranks,
                    self._size,
                    self._lost,
                    headers,
                    {thread.rank: thread.died for thread in stuck if thread.died},
                    full=full,
                    cut_short=self._record.ended_unix is not None and self._record.status is None,
                    status=self._record.status or 0,
                ),
                *self._unmatched(),
            ),
        )
