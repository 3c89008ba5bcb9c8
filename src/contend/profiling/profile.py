"""A profile: what an MPI program communicated, as frames, a matrix, findings and lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import InputError, UsageError
from contend.base.schema import PythonOnly, Shown, Spread, told, told_once
from contend.lab.runs import read_table
from contend.profiling.findings import ProfileFindings
from contend.profiling.folder import (
    COMMUNICATOR_KINDS,
    EVENTS,
    KINDS,
    SCHEMAS,
    WAITS,
    ProfileRecord,
    read_profile_record,
)
from contend.profiling.hang import deadlock
from contend.profiling.record_form import read_events
from contend.profiling.rows import PlacedPhase, StuckThread
from contend.profiling.sites import place_words, short_names

# Bytes that a table may become: that of 4,096 ranks which all send to all takes a third of it.
_ROOM = 1 << 32
_LARGEST_MATRIX = 20_000


@dataclass(frozen=True)
class ProgramProfile(Shown, told="profile_document", drawn="draw_profile"):
    """A profile of an MPI program; seconds and bytes."""

    folder: PythonOnly[Path]
    """Folder that it is kept in; its tables are read when they are used."""
    record: Spread[ProfileRecord]
    """What ran, where, and what is missing."""

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Reads a profile; its tables are read when they are used.

        Raises:
            UsageError: no profile is there, or it is not merged yet.
            InputError: it is damaged, or of a newer version.
        """
        folder = Path(folder)
        record = read_profile_record(folder)
        if not record.merged:
            raise UsageError(
                f"{folder}: what the ranks left is not merged yet: contend report {folder}"
            )
        return cls(folder, record)

    @property
    def name(self) -> str:
        """What the profile is called where two are compared."""
        return self.folder.resolve().name

    @property
    def size(self) -> int:
        """Ranks of MPI_COMM_WORLD."""
        return self.record.ranks

    @cached_property
    def calls(self) -> pl.DataFrame:
        """One row for each rank, routine, communicator, class of sizes and place of the call.

        Columns ``rank``, ``cell`` (its number in the rank's record), ``routine``, ``communicator``,
        ``site``, ``size_class``, ``calls``, ``bytes``, ``seconds``, ``longest_s``.
        """
        return self._named("calls")

    @cached_property
    def collectives(self) -> pl.DataFrame:
        """Waiting for late ranks in blocking collectives, by rank and cell.

        Columns as of `calls` up to ``size_class``, then ``occurrences`` that were compared, their
        ``seconds``, ``waiting_s`` until the last member entered, and how often this rank was
        ``last``.
        """
        return self._named("collectives")

    @cached_property
    def waits(self) -> pl.DataFrame:
        """Who waited for whom in which calls, as far as events and compared clocks tell.

        Columns ``rank``, ``cell``, ``awaited`` (the rank that was waited for), ``kind`` (of
        `WAITS`), ``occurrences``, ``seconds`` (0 where nobody was late) and ``uncertainty_s``, by
        which the clocks may put them wrong.
        """
        table = self._table("waits")
        bounds = {"rank": self.size, "awaited": self.size, "kind": len(WAITS)}
        self._check("waits", table, bounds)
        return table.with_columns(_words("kind", WAITS))

    @cached_property
    def peers(self) -> pl.DataFrame:
        """Who sent how much to whom.

        Columns ``source``, ``destination``, ``kind``, ``bytes``, ``messages``.

        Pairs that exchanged nothing have no row.
        """
        table = self._table("peers")
        self._check("peers", table, {"source": self.size, "destination": self.size, "kind": 3})
        return table.with_columns(_words("kind", KINDS))

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """One row for every rank that left a record, in order; instants from the first MPI_Init."""
        table = self._table("ranks")
        self._check("ranks", table, {"rank": self.size})
        return table

    @cached_property
    def communicators(self) -> pl.DataFrame:
        """One row for every communicator, by number; 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF."""
        table = self._table("communicators")
        self._check("communicators", table, {"kind": len(COMMUNICATOR_KINDS)})
        return table.with_columns(_words("kind", COMMUNICATOR_KINDS))

    @cached_property
    def members(self) -> pl.DataFrame:
        """Ranks of the communicators other than MPI_COMM_WORLD and MPI_COMM_SELF, -1 for others."""
        return self._table("members")

    @cached_property
    def sites(self) -> pl.DataFrame:
        """Places in the program by number, with a column ``place`` for people."""
        table = self._table("sites")
        table = table.with_columns(pl.col("symbol").replace(short_names(table["symbol"].unique())))
        places = [place_words(site) for site in table.iter_rows(named=True)]
        return table.with_columns(pl.Series("place", places, pl.String))

    def events(self, rank: int) -> pl.DataFrame:
        """What a rank did, in order, as far as there was room; to be carried out again.

        Columns ``start_ns`` and ``end_ns`` from the first MPI_Init, on the common clock, then those
        of ``contend_event`` in ``record.h``, and ``routine``, ``communicator``, ``site`` of the
        cell; these are null where the record had no room for the cell.

        Raises:
            UsageError: the rank left no record.
            InputError: the events are damaged.
        """
        row = self.ranks.filter(pl.col("rank") == rank)
        if row.is_empty():
            raise UsageError(f"rank {rank} left no record in {self.folder}")
        [found] = row.to_dicts()
        kept = read_events(
            self.folder / EVENTS, found["events_at"], found["events_bytes"], found["events"]
        )
        cells = self.calls.filter(pl.col("rank") == rank).select(
            "cell", "routine", "communicator", "site"
        )
        table = pl.DataFrame({name: kept[name] for name in kept.dtype.names or ()})
        return table.join(cells, on="cell", how="left", maintain_order="left")

    @told
    def profile(self) -> str:
        """Its folder, which has everything by rank."""
        return str(self.folder)

    @told_once
    def findings(self) -> Spread[ProfileFindings]:
        """What the profile says; see `contend.profiling.ProfileFindings`."""
        return ProfileFindings(self)

    @told
    def phases(self) -> tuple[PlacedPhase, ...]:
        """Parts of the program that repeat themselves, in order."""
        routines, places = self.record.routines, self.sites["place"]
        return tuple(
            PlacedPhase(phase=one, routine=routines[one.routine], place=places[one.site])
            for one in self.record.phases
        )

    @told
    def hung(self) -> bool:
        """Whether it is proven that the program could not go on."""
        return self.findings.stuck.hung

    @told
    def stuck(self) -> tuple[StuckThread, ...]:
        """Where ranks were when the program was ended; empty if all had finished."""
        places = self.sites["place"]
        return tuple(
            StuckThread(thread=one, place=places[one.site] if one.routine else "")
            for one in self.record.stuck
        )

    @told
    def circles(self) -> list[list[int]]:
        """Circles of ranks that wait for each other; no rank is in two."""
        return deadlock.circles(self.record.stuck)

    def matrix(self, what: str = "bytes", kind: str | None = None) -> NDArray[np.uint64]:
        """Who sent how much to whom.

        Args:
            what: ``bytes`` or ``messages``.
            kind: one of `KINDS`; None for all of them.

        Returns:
            Shape [ranks, ranks]: source, destination.

        Raises:
            UsageError: for other words, or more than 20,000 ranks; `peers` has any number.
        """
        if what not in ("bytes", "messages"):
            raise UsageError(f"expected bytes or messages, got {what!r}")
        if kind is not None and kind not in KINDS:
            raise UsageError(f"kind: expected one of {', '.join(KINDS)}, got {kind!r}")
        if self.size > _LARGEST_MATRIX:
            raise UsageError(f"a matrix has at most {_LARGEST_MATRIX} ranks, not {self.size}")
        table = self.peers if kind is None else self.peers.filter(pl.col("kind") == kind)
        matrix = np.zeros((self.size, self.size), np.uint64)
        at = (table["source"].to_numpy(), table["destination"].to_numpy())
        np.add.at(matrix, at, table[what].to_numpy())
        return matrix

    def __repr__(self) -> str:
        return f"<ProgramProfile of {' '.join(self.record.command)}: {self.findings.verdict}>"

    def _table(self, name: str) -> pl.DataFrame:
        path = self.folder / f"{name}.parquet"
        table = read_table(path, SCHEMAS[name], what="a table of a profile", room=_ROOM)
        if table.select(pl.any_horizontal(pl.all().is_null()).any()).item():
            raise InputError(str(path), 0, "values in all columns", "gaps")
        return table

    def _named(self, name: str) -> pl.DataFrame:
        """A table of cells, with names of routines instead of their numbers."""
        table = self._table(name)
        bounds = {
            "rank": self.size,
            "routine": len(self.record.routines),
            "site": len(self.sites),
            "communicator": len(self.communicators),
        }
        self._check(name, table, bounds)
        # One line of the program is one place, however often it stands in the machine's code.
        lines = self.sites.filter(pl.col("line") > 0)
        first = pl.col("site").first().over("module", "file", "line").alias("first")
        of_line = lines.with_columns(first).filter(pl.col("site") != pl.col("first"))
        return table.with_columns(
            _words("routine", self.record.routines),
            pl.col("site").replace(of_line["site"], of_line["first"]),
        )

    def _check(self, name: str, table: pl.DataFrame, bounds: dict[str, int]) -> None:
        """Whether numbers in a table stand for something.

        Raises:
            InputError: one does not.
        """
        for column, bound in bounds.items():
            most: Any = table[column].max()
            if most is not None and most >= bound:
                path = str(self.folder / f"{name}.parquet")
                raise InputError(path, 0, f"{column} below {bound}", str(most))


def _words(column: str, words: tuple[str, ...]) -> pl.Expr:
    """Words in the place of their numbers."""
    return pl.col(column).replace_strict(
        dict(enumerate(words)), return_dtype=pl.Enum(list(dict.fromkeys(words)))
    )
