"""A profile: what an MPI program communicated, as frames, a matrix, findings and lists."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.profiling.findings import ProfileFindings
from contend.profiling.folder import KINDS, read_profile_record
from contend.profiling.hang import deadlock
from contend.profiling.rows import PlacedPhase, StuckThread
from contend.profiling.tables import ProfileTables
from contend.schema import Spread, told
from contend.shown import Shown

_LARGEST_MATRIX = 20_000


@dataclass(frozen=True)
class ProgramProfile(ProfileTables, Shown, told="profile_document"):
    """A profile of an MPI program; seconds and bytes."""

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
    @told
    def profile(self) -> str:
        """Its folder, which has everything by rank."""
        return str(self.folder)

    @cached_property
    @told
    def findings(self) -> Spread[ProfileFindings]:
        """What the profile says; see `contend.profiling.ProfileFindings`."""
        return ProfileFindings(self)

    @property
    @told
    def phases(self) -> tuple[PlacedPhase, ...]:
        """Parts of the program that repeat themselves, in order."""
        routines, places = self.record.routines, self.sites["place"]
        return tuple(
            PlacedPhase(phase=one, routine=routines[one.routine], place=places[one.site])
            for one in self.record.phases
        )

    @property
    @told
    def hung(self) -> bool:
        """Whether it is proven that the program could not go on."""
        return self.findings.stuck.hung

    @property
    @told
    def stuck(self) -> tuple[StuckThread, ...]:
        """Where ranks were when the program was ended; empty if all had finished."""
        names = [field.name for field in fields(StuckThread) if field.name != "place"]
        places = self.sites["place"]
        return tuple(
            StuckThread(
                place=places[thread.site] if thread.routine else "",
                **{name: getattr(thread, name) for name in names},
            )
            for thread in self.record.stuck
        )

    @property
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
