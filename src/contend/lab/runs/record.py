"""``run.json``: what a run was, in a form that later versions can read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from contend.base.errors import InputError, UsageError
from contend.base.files import json_text, read_json, write_whole
from contend.base.schema import PythonOnly
from contend.lab.runs.frames import (
    CellEnd,
    CellNumber,
    ClockFrame,
    Count,
    DoneFrame,
    Label,
    ProbeFrame,
    Ranks,
)

VERSION = 1
"""Of the form of ``run.json`` and ``samples.parquet`` together."""

LAST_LAUNCH = 65_535
"""Numbers of launches fit 16 bits, as their column does."""

LaunchNumber: TypeAlias = Annotated[int, Meta(ge=0, le=LAST_LAUNCH)]
Cause: TypeAlias = Literal[
    "memory", "hosts", "crash", "timeout", "budget", "data", "unsuited", "launch"
]
"""Why there is no figure: the data do not fit the memory, or a rank ran out of it; there are too
few hosts; a signal ended a rank; the launch did not end in time; no time was left; data came out
wrong; the algorithm is not made for this (one for powers of two on 12 ranks); or the launch failed
in another way."""


_CAUSES: dict[str, Cause] = {"killed": "crash", "timeout": "timeout", "skipped": "budget"}

NO_TIME = "no time left"
"""What a probe says of a cell for which no time was left."""


class Warned(msgspec.Struct, frozen=True):
    """Something to know about a run."""

    code: str
    """Word for scripts."""
    text: str
    """Sentence that names the remedy."""


@dataclass(frozen=True)
class LibraryRecord:
    """The MPI library that was measured, as `lab.mpi.Library` tells it."""

    name: str = ""
    """What it calls itself."""
    version: str = ""
    """Its version."""
    standard: str = ""
    """Version of the MPI standard that it follows."""
    reported: PythonOnly[str] = ""
    """All that it says of itself."""
    wrapper: str = ""
    """Compiler wrapper that the probe was built with."""

    @property
    def title(self) -> str:
        """What it is called, with its version."""
        return f"{self.name} {self.version}".strip()

    @property
    def spec(self) -> str:
        """How `lab.mpi.select` is asked for it by name: ``openmpi-4.1.4``."""
        name = "".join(letter for letter in self.name.lower() if letter in ascii_lowercase)
        return f"{name}-{self.version}"


class Host(msgspec.Struct, frozen=True):
    """A host that took part, and how many ranks it held."""

    name: str
    """Name of the host."""
    ranks: Ranks
    """Number of ranks on it."""
    cpus: Count | None = None
    """Number of its processors; null if not known."""


@dataclass(frozen=True)
class CellRecord:
    """A cell of the run; launches that measured the same share its number."""

    cell: PythonOnly[CellNumber]
    """Its number in ``samples.parquet``."""
    algorithm: str
    """Name that the probe was given, or the probe's own if there is none."""
    bytes: Count | None
    """Bytes to each other rank; null if the probe has no sizes."""
    ranks: Ranks
    """Number of ranks."""
    hosts: Ranks
    """Number of hosts."""
    labels: dict[str, Label] = field(default_factory=dict)
    """Everything else that the probe says about it."""


class Failure(msgspec.Struct, frozen=True):
    """Why there is no figure."""

    cause: Cause
    """One of eight words."""
    reason: str
    """One line for people."""

    @classmethod
    def of_ending(cls, status: str, why: str, otherwise: str) -> Failure:
        """Why a launch ended before its time.

        Args:
            status: ``timeout``, ``killed`` or another word.
            why: one line about that; "" where nobody told.
            otherwise: what is said then.
        """
        if status == "failed" and "memory" in why.lower():
            return Failure("memory", why)
        return Failure(_CAUSES.get(status, "launch"), why or otherwise)

    def __str__(self) -> str:
        return f"ERR {self.cause}: {self.reason}"


class PointError(Failure, frozen=True):
    """Why a point, one algorithm at one size, has no figure: what a table shows as ``ERR``."""

    launch: LaunchNumber | None = None
    """Number of the first start of the launch in which it has none; None: in every one, since none
    could begin it."""
    algorithm: str | None = None
    """Algorithm of the point; None with `bytes` None for all points that were asked for."""
    bytes: Count | None = None
    """Bytes of the point; None where the probe has no sizes."""
    labels: dict[str, Label] = {}
    """What else tells the point from others."""

    @property
    def whole(self) -> bool:
        """Whether it is of all points that were asked for, or that a launch had left."""
        return self.algorithm is None and self.bytes is None and not self.labels


class MeasuredLaunch(msgspec.Struct, frozen=True):
    """What a launch's file of samples says about the launch; made when it is folded in."""

    probe: ProbeFrame
    """First words of the probe."""
    hosts: tuple[Host, ...] = ()
    """Hosts in the order of ranks."""
    rank_hosts: tuple[str, ...] = ()
    """Name of each rank's host."""
    rank_cpus: tuple[str, ...] = ()
    """Processors that each rank may use, in the kernel's list form."""
    oversubscribed: bool = False
    """Whether ranks shared processors."""
    clocks: tuple[ClockFrame, ...] = ()
    """Every synchronisation."""
    ends: tuple[CellEnd, ...] = ()
    """How every cell ended that began."""
    done: DoneFrame | None = None
    """Last words of the probe; None when it did not come to its end."""
    torn_bytes: Count = 0
    """What was cut off at the end of the file."""


class LaunchRecord(msgspec.Struct, frozen=True):
    """One start of a probe."""

    number: LaunchNumber
    """Number from 0; its samples carry it."""
    ranks: Ranks
    """Number of ranks that was asked for."""
    ranks_per_host: Ranks | None = None
    """How many each host was to hold; None when the launcher decided."""
    command: tuple[str, ...] = ()
    """Whole command line."""
    started: str = ""
    """Instant in ISO 8601 with its zone."""
    elapsed_s: float | None = None
    """Seconds from start to end."""
    status: str = "done"
    """Word ``done``, or what happened instead, such as ``timeout`` or ``killed``."""
    why: str = ""
    """One line about that."""
    labels: dict[str, str] = {}
    """Conditions of this launch alone."""
    of: LaunchNumber | None = None
    """First start of the launch that this one goes on with, as when a point ended it; None for one
    that stands for itself. Their samples count as those of one launch."""
    measured: MeasuredLaunch | None = None
    """What its file says; None until that is folded in, or when it wrote nothing."""

    @property
    def whole(self) -> int:
        """Number of the launch that this start is part of: its own, or that of the first start."""
        return self.number if self.of is None else self.of

    @property
    def ends(self) -> tuple[CellEnd, ...]:
        """How every cell ended that began in this start."""
        return () if self.measured is None else self.measured.ends


class RunRecord(msgspec.Struct, frozen=True):
    """``run.json``."""

    probe: str
    """Name of the probe, such as ``alltoall``."""
    version: int = VERSION
    """Version of this form."""
    created: str = ""
    """Instant in ISO 8601 with its zone."""
    contend: str = ""
    """Version of contend that made it."""
    library: LibraryRecord = LibraryRecord()
    """MPI library."""
    machine: dict[str, Any] = {}
    """What is known of the machine: host name, kernel, processor ..."""
    environment: dict[str, str] = {}
    """Environment variables that matter."""
    seed: int | None = None
    """Seed of all random choices."""
    budget_s: float | None = None
    """Seconds for the whole run."""
    labels: dict[str, str] = {}
    """Conditions that no program can see, such as ``{"flow control": "on"}``."""
    placement: str = ""
    """How ranks were placed."""
    wire_Bps: Annotated[float, Meta(gt=0)] | None = None
    """What a host's port carries each way at most, where that is known; drawn as a line."""
    carried_Bps: dict[int, Annotated[float, Meta(gt=0)]] = {}
    """Bytes per second that a rank can send at most by what cables between switches carry, by
    number of the cell, where the fabric is known."""
    launches: tuple[LaunchRecord, ...] = ()
    """Launches in order."""
    cells: tuple[CellRecord, ...] = ()
    """Cells in the order in which they first began."""
    warnings: tuple[Warned, ...] = ()
    """Warnings about the whole run."""
    memory: Annotated[int, Meta(ge=0)] | None = None
    """Bytes that a host had free when the run began, where that is known."""
    counters: dict[str, Any] = {}
    """Counters of an emulated fabric."""
    question: dict[str, Any] = {}
    """What was asked, as the cell of a session tells it; empty without one."""
    errors: tuple[PointError, ...] = ()
    """Points without a figure whose reason no launch's own file tells: those that could not begin,
    and those that ended their launch."""

    @property
    def measured(self) -> list[MeasuredLaunch]:
        """What the launches' files say, in order; nothing of launches that wrote none."""
        return [launch.measured for launch in self.launches if launch.measured is not None]

    def ends_of(self, cell: int) -> list[CellEnd]:
        """How a cell ended, in every start that began it."""
        return [end for launch in self.launches for end in launch.ends if end.cell == cell]


def write_record(path: Path, record: RunRecord) -> None:
    """Writes ``run.json`` whole or not at all."""
    write_whole(path, json_text(record))


def read_record(path: Path) -> RunRecord:
    """Reads ``run.json`` of this version or an older one.

    Raises:
        UsageError: there is none.
        InputError: it is not what `write_record` writes, or of a newer version.
    """
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path}: no run is here (it is not a file)")
        record = read_json(path, RunRecord, "a run", version=VERSION)
    except OSError as error:
        raise UsageError(f"{path}: no run is here ({error.strerror})") from None
    numbers = [launch.number for launch in record.launches]
    if len(set(numbers)) < len(numbers) or [c.cell for c in record.cells] != list(
        range(len(record.cells))
    ):
        raise InputError(str(path), 0, "launches and cells numbered in order", "others")
    return record
