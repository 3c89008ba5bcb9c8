"""The run of one library within a measurement, as it grows."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from contend.mpi import Library
from contend.runs import LaunchRecord, Run, RunRecord, Warned, write_record


@dataclass
class Series:
    """A library, its probe, and what has been made with them.

    Attributes:
        library: the MPI library.
        program: the probe, compiled for it.
        run: its folder and record.
    """

    library: Library
    program: Path
    run: Run

    def warn(self, warning: Warned) -> bool:
        """Keeps a warning; False when it is kept already."""
        if warning in self.run.record.warnings:
            return False
        self._change(warnings=(*self.run.record.warnings, warning))
        return True

    def keep(self, launch: LaunchRecord) -> None:
        """Keeps how a launch ended, in place of an earlier launch of its number."""
        others = [one for one in self.run.record.launches if one.number != launch.number]
        launches = sorted([*others, launch], key=lambda one: one.number)
        self._change(launches=tuple(launches))

    def count(self, counters: Mapping[str, Any]) -> None:
        """Keeps what the network counted while all this ran; nothing where it counts nothing."""
        if counters:
            self._change(counters=dict(counters))

    def done(self) -> frozenset[int]:
        """Numbers of launches that are complete."""
        return frozenset(one.number for one in self.run.record.launches if one.status == "done")

    def fold(self) -> Run:
        """Brings the samples of all launches together."""
        self.run = self.run.fold()
        return self.run

    def _change(self, **changed: object) -> None:
        record: RunRecord = msgspec.structs.replace(self.run.record, **changed)
        with contextlib.suppress(OSError):
            # On a full disk samples matter more; folding them says that it is full.
            write_record(self.run.folder / "run.json", record)
        self.run = replace(self.run, record=record)
