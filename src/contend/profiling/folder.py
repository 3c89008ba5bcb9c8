"""The folder of a profile: what ``profile.json`` and its tables hold, and where the rest is."""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
import polars as pl
from msgspec import Meta
from numpy.typing import NDArray

from contend.base.errors import InputError, UsageError
from contend.base.files import json_text, read_json, write_whole
from contend.base.schema import PythonOnly, Seconds, Share
from contend.lab.emulation import Drops
from contend.lab.runs import Host, Warned
from contend.profiling.hang.stuck import Stuck, UnderWay

VERSION = 1
"""Of the form of ``profile.json`` and the tables together."""
PROFILE = "profile.json"
"""The file that every profile's folder has."""
RECORDS = "records"
"""Folder of what ranks leave, until it is merged."""
OTHER_LIBRARY = "other-library"
"""Among them: the path of the library of ranks for which the recorder was not compiled."""
SEEN = "seen"
"""Among them: when contend last saw the program run, in seconds since 1970."""
UNRECORDED = "unrecorded-"
"""Among them: how names begin that end with the number of the system's error by which ranks have
no record."""
EVENTS = "events.zst"

_MOST_RANKS = 1 << 24
_SEEN_BYTES = 32
_PATH_BYTES = 8192

Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]

_CELL = {
    "rank": pl.UInt32(),
    "cell": pl.UInt32(),
    "routine": pl.UInt16(),
    "communicator": pl.UInt32(),
    "site": pl.UInt32(),
    "size_class": pl.UInt16(),
}
SCHEMAS: dict[str, dict[str, pl.DataType]] = {
    "calls": {
        **_CELL,
        "calls": pl.UInt64(),
        "bytes": pl.UInt64(),
        "seconds": pl.Float64(),
        "longest_s": pl.Float64(),
    },
    "collectives": {
        **_CELL,
        "occurrences": pl.UInt64(),
        "seconds": pl.Float64(),
        "waiting_s": pl.Float64(),
        "last": pl.UInt64(),
    },
    "waits": {
        "rank": pl.UInt32(),
        "cell": pl.UInt32(),
        "awaited": pl.UInt32(),
        "kind": pl.UInt8(),
        "occurrences": pl.UInt64(),
        "seconds": pl.Float64(),
        "uncertainty_s": pl.Float64(),
    },
    "peers": {
        "source": pl.UInt32(),
        "destination": pl.UInt32(),
        "kind": pl.UInt8(),
        "bytes": pl.UInt64(),
        "messages": pl.UInt64(),
    },
    "communicators": {
        "communicator": pl.UInt32(),
        "parent": pl.UInt32(),
        "kind": pl.UInt8(),
        "size": pl.UInt32(),
        "dimensions": pl.UInt32(),
        "extent": pl.String(),
        "name": pl.String(),
    },
    "members": {
        "communicator": pl.UInt32(),
        "member": pl.UInt32(),
        "rank": pl.Int32(),
    },
    "sites": {
        "site": pl.UInt32(),
        "module": pl.String(),
        "offset": pl.UInt64(),
        "symbol": pl.String(),
        "file": pl.String(),
        "line": pl.UInt32(),
    },
    "ranks": {
        "rank": pl.UInt32(),
        "host": pl.String(),
        "pid": pl.Int64(),
        "state": pl.UInt8(),
        "exit_code": pl.Int32(),
        "begun_s": pl.Float64(),
        "started_s": pl.Float64(),
        "ended_s": pl.Float64(),
        "uncertainty_s": pl.Float64(),
        "mpi_s": pl.Float64(),
        "caused_s": pl.Float64(),
        "stride": pl.UInt32(),
        "events": pl.UInt64(),
        "events_at": pl.UInt64(),
        "events_bytes": pl.UInt64(),
    },
}
"""Columns of every table by its name; ``docs/reference/profile.md`` tells what they hold."""

KINDS = ("point to point", "collective", "one-sided")
"""Kinds of traffic between peers, by their numbers."""

WAITS = ("a late rank", "a late sender", "a late receiver", "a late partner in a window")
"""What ranks wait for in calls, by their numbers."""

COMMUNICATOR_KINDS = ("intra", "Cartesian", "graph", "distributed graph", "inter", "window")
"""Kinds of communicators, by their numbers."""


@dataclass
class ProfileColumns:
    """Columns of one of the tables, gathered rank by rank."""

    parts: dict[str, list[NDArray[Any]]] = field(default_factory=dict)

    def add(self, **columns: NDArray[Any]) -> None:
        """Adds rows, of which each column is as long as the others."""
        for name, column in columns.items():
            self.parts.setdefault(name, []).append(column)

    def table(self, name: str) -> pl.DataFrame:
        """All rows as the table of a name in `SCHEMAS`; nothing is left here."""
        schema = SCHEMAS[name]
        return pl.DataFrame(
            {
                column: np.concatenate(self.parts.pop(column)) if column in self.parts else []
                for column in schema
            },
            schema=schema,
        )


class Phase(msgspec.Struct, frozen=True):
    """Part of a program that repeats itself, by what one rank called."""

    rank: Count
    """Rank whose calls were looked at."""
    routine: PythonOnly[Count]
    """Index of the routine that each round begins with."""
    site: PythonOnly[Count]
    """Number of the place of that call."""
    rounds: Count
    """Number of rounds."""
    calls: Count
    """Calls of a usual round."""
    begun_s: Seconds
    """Seconds into the run at which the first round begins."""
    ended_s: Seconds
    """Seconds into the run at which the last round ends."""
    mean_s: Seconds
    """Seconds of a round, on average."""
    longest_s: Seconds
    """Seconds of the longest round."""
    mpi_share: Share
    """Part of the rounds' time in MPI."""


class LeftOut(msgspec.Struct, frozen=True):
    """What records that were full have left out, of calls in which ranks may have waited."""

    after_s: float
    """Seconds from the first MPI_Init until the first of the records was full."""
    below_s: float
    """Seconds that such calls took at most."""
    calls: Count
    """Number of such calls."""
    seconds: float
    """Seconds that ranks may have waited in them and in the following."""
    unmatched_s: float = 0.0
    """Seconds that ranks may have waited in longer calls that are there, whose messages were left
    out."""


class OtherProgram(msgspec.Struct, frozen=True):
    """Another MPI program of a command, with a profile of its own."""

    folder: str
    """Folder of that profile, from where the first one's folder is."""
    launch: str
    """What its records call it."""
    origin: str
    """How it came after the first, for people."""
    begun_unix: float | None
    """Seconds since 1970 when it began by itself; None where it was spawned, or where that is not
    known."""


class FirstGone(msgspec.Struct, frozen=True):
    """The rank that ended before all others, and before what had started it."""

    record: str
    """Name of its record's file."""
    unix: float
    """Seconds since 1970 when it was seen to end."""


class ProfileRecord(msgspec.Struct, frozen=True):
    """What ``profile.json`` holds."""

    command: tuple[str, ...]
    """Program that ran, with its arguments."""
    version: PythonOnly[int] = VERSION
    """Version of this form."""
    merged: PythonOnly[bool] = False
    """Whether what ranks left is merged; all that follows `status` is known then."""
    created: str = ""
    """Instant at which it began, in ISO 8601 with its zone."""
    contend: PythonOnly[str] = ""
    """Version of contend that made it."""
    labels: dict[str, str] = {}
    """Conditions that no program can see."""
    place: str = ""
    """Place where ranks were started; empty where the command did it by itself."""
    asked: PythonOnly[dict[str, str]] = {}
    """What decides figures there as it was asked for (`EmulatedHosts.asked`); empty for real
    hosts."""
    wire_Bps: PythonOnly[Annotated[float, Meta(gt=0)] | None] = None
    """Bytes per second of a host's port each way; None where it is not known."""
    machine: PythonOnly[str] = ""
    """Name of the machine that contend ran on."""
    cpus: PythonOnly[Count | None] = None
    """Its processors that ranks could use; None where they are not known."""
    drops: PythonOnly[Count | None] = None
    """Packets that found queues of an emulated fabric full; None where nobody counted."""
    drops_by_place: PythonOnly[Drops | None] = None
    """The same by where the queue was; None likewise."""
    elapsed_s: PythonOnly[float | None] = None
    """Seconds that the command took."""
    status: int | None = None
    """Exit status of the command; null when contend ended before it did."""
    ended_unix: PythonOnly[float | None] = None
    """Seconds since 1970 when it was seen to end; None likewise."""
    first_gone: PythonOnly[FirstGone | None] = None
    """The rank that ended first; None where nobody saw that."""
    told: PythonOnly[bool] = False
    """Whether somebody had told all ranks to end, by SIGTERM."""
    ranks: Annotated[int, Meta(ge=0, le=_MOST_RANKS)] = 0
    """Number of ranks of MPI_COMM_WORLD."""
    library: str = ""
    """First line of what the MPI library says of its version."""
    programs: PythonOnly[tuple[str, ...]] = ()
    """Files that ran."""
    hosts: tuple[Host, ...] = ()
    """Hosts, with how many ranks each held."""
    rank_hosts: PythonOnly[tuple[Count | None, ...]] = ()
    """Index of each rank's host; None for ranks without a record."""
    record_bytes: Count = 0
    """Bytes that the record of a rank took at most."""
    lasts_s: PythonOnly[float | None] = None
    """Seconds after which the first record is full, or would be at the rate of this run; None where
    that is not known."""
    run_s: PythonOnly[float] = 0.0
    """Seconds from the first MPI_Init to the last end."""
    uncertainty_s: float | None = None
    """Uncertainty of a rank's clock against that of rank 0, at most; null if not known."""
    thread_level: PythonOnly[Count] = 0
    """Level of threads that MPI was started with, at most; 0 to 3."""
    fortran: PythonOnly[bool] = False
    """Whether any call came through the Fortran interface."""
    routines: PythonOnly[tuple[str, ...]] = ()
    """Names of routines, by index."""
    phases: PythonOnly[tuple[Phase, ...]] = ()
    """Parts that repeat themselves, in their order."""
    missing: tuple[Warned, ...] = ()
    """What is not in the profile, and why."""
    mistakes: tuple[Warned, ...] = ()
    """What the program did wrong though it went on: the first of each kind."""
    left_out: PythonOnly[LeftOut | None] = None
    """What records that were full have left out; None where none was."""
    stuck: PythonOnly[tuple[Stuck, ...]] = ()
    """Where ranks were when the program was ended; empty if all had finished."""
    under_way: tuple[UnderWay, ...] = ()
    """Messages that ranks waited for then, and that were on their way."""
    left: PythonOnly[tuple[str, ...]] = ()
    """Names of records that could not be merged and stay in the folder."""
    origin: str = ""
    """Which of several MPI programs of the command it is; empty of a single one."""
    others: PythonOnly[tuple[OtherProgram, ...]] = ()
    """The other programs, in the profile of the first."""


def write_profile_record(folder: Path, record: ProfileRecord) -> None:
    """Writes ``profile.json`` whole or not at all."""
    write_whole(folder / PROFILE, json_text(record))


def read_profile_record(folder: Path) -> ProfileRecord:
    """Reads ``profile.json``.

    Raises:
        UsageError: none is there.
        InputError: it is damaged, or of a newer version.
    """
    path = folder / PROFILE
    try:
        record = read_json(path, ProfileRecord, "a profile", version=VERSION)
    except OSError as error:
        raise UsageError(f"{folder}: no profile is here ({error.strerror})") from None
    if len(record.rank_hosts) != (record.ranks if record.merged else 0):
        got = f"{len(record.rank_hosts)} of {record.ranks}"
        raise InputError(str(path), 0, "hosts of all ranks", got)
    most = max((at for at in record.rank_hosts if at is not None), default=-1)
    if most >= len(record.hosts):
        raise InputError(str(path), 0, f"hosts below {len(record.hosts)} of ranks", str(most))
    return record


def beside(folder: Path, name: str) -> Path:
    """The folder of another program's profile, by what the first one's record calls it."""
    return (folder if folder.name not in ("", "..") else folder.resolve()).parent / name


def is_profile(folder: Path) -> bool:
    """Whether a profile is there, merged or not."""
    return (folder / PROFILE).is_file()


def write_seen(records: Path, now_unix: float) -> None:
    """Leaves word of when the program was seen to run: contend may be killed with it."""
    # Without room the word is missing, and the program goes on. A new one is written over the old,
    # and as long, so that whoever is killed meanwhile leaves a whole one.
    with contextlib.suppress(OSError):
        handle = os.open(records / SEEN, os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            os.pwrite(handle, f"{now_unix:20.3f}\n".encode(), 0)
        finally:
            os.close(handle)


def read_seen(records: Path) -> float | None:
    """When the program was last seen to run; None where nobody left word of that."""
    try:
        with (records / SEEN).open(encoding="ascii") as file:
            seen = float(file.read(_SEEN_BYTES))
    except (OSError, ValueError):
        return None
    return seen if math.isfinite(seen) else None


def read_other_library(records: Path) -> str | None:
    """The library of ranks for which the recorder was not compiled; None where no rank told."""
    try:
        with (records / OTHER_LIBRARY).open("rb") as file:
            return file.read(_PATH_BYTES).decode(errors="replace").strip()
    except OSError:
        return None


def record_files(folder: Path) -> list[Path]:
    """The records that ranks have left in a profile's folder."""
    return sorted((folder / RECORDS).glob("*.record"))
