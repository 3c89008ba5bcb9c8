"""The folder of a profile: what ``profile.json`` and its tables hold, and where the rest is."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
import polars as pl
from msgspec import Meta

from contend.emulation import Drops
from contend.errors import InputError, UsageError
from contend.files import json_text, read_json, write_whole
from contend.profiling.hang.stuck import Stuck, UnderWay
from contend.runs import Host, Warned

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


class Phase(msgspec.Struct, frozen=True):
    """A part of a program that repeats itself, by what one rank called.

    Attributes:
        rank: whose calls were looked at.
        routine: index of the call that each round begins with.
        site: number of the place of that call.
        rounds: how many.
        calls: of a usual round.
        begun_s: when the first round begins.
        ended_s: when the last round ends.
        mean_s: of a round.
        longest_s: of a round.
        mpi_share: part of the rounds' time that is in MPI.
    """

    rank: Count
    routine: Count
    site: Count
    rounds: Count
    calls: Count
    begun_s: float
    ended_s: float
    mean_s: float
    longest_s: float
    mpi_share: float


class LeftOut(msgspec.Struct, frozen=True):
    """What records that were full have left out, of calls in which ranks may have waited.

    Attributes:
        after_s: from the first MPI_Init until the first of the records was full.
        below_s: what such calls took at most.
        calls: how many there are.
        seconds: that ranks may have waited in them and in the following.
        unmatched_s: likewise in longer calls that are there, whose messages were left out.
    """

    after_s: float
    below_s: float
    calls: Count
    seconds: float
    unmatched_s: float = 0.0


class OtherProgram(msgspec.Struct, frozen=True):
    """Another MPI program of a command, with a profile of its own.

    Attributes:
        folder: of that profile, from where the first one's folder is.
        launch: what its records call it.
        origin: how it came after the first, for people.
        begun_unix: seconds since 1970 when it began by itself; None where it was spawned, or where
            that is not known.
    """

    folder: str
    launch: str
    origin: str
    begun_unix: float | None


class ProfileRecord(msgspec.Struct, frozen=True):
    """``profile.json``.

    Attributes:
        command: what was run.
        version: of this form.
        merged: whether what ranks left is merged; all that follows `status` is known then.
        created: instant in ISO 8601 with its zone.
        contend: version of contend that made it.
        labels: conditions that no program can see.
        place: where ranks were started, for people; "" where the command did it by itself.
        asked: what decides figures there as it was asked for (`EmulatedHosts.asked`); empty for
            real hosts.
        wire_Bps: bytes per second of a host's port each way; None where it is not known.
        machine: name of the machine that contend ran on.
        cpus: its processors that ranks could use; None where they are not known.
        drops: packets that found queues of an emulated fabric full; None where nobody counted.
        drops_by_place: the same by where the queue was; None likewise.
        elapsed_s: of the command.
        status: its exit status; None while it runs, or when contend ended before it did.
        ended_unix: seconds since 1970 when it was seen to end; None likewise.
        ranks: of MPI_COMM_WORLD.
        library: first line of what the MPI library says of its version.
        programs: files that ran.
        hosts: with how many ranks they held.
        rank_hosts: index of each rank's host; None for ranks without a record.
        record_bytes: what a rank's record may take at most: the bound of memory.
        lasts_s: after how long the first record is full, or would be at the rate of this run; None
            where that is not known.
        run_s: from the first MPI_Init to the last end.
        uncertainty_s: of the synchronised clock, at most; None where clocks could not be compared.
        thread_level: that MPI was started with, at most; 0 to 3.
        fortran: whether any call came through the Fortran interface.
        routines: names, by index.
        phases: in their order.
        missing: what is not in the profile, and why.
        left_out: what records that were full have left out; None where none was.
        stuck: where ranks were when the program was ended; empty if all had finished.
        under_way: messages that ranks waited for then, and that were on their way.
        left: names of records that could not be merged and stay in the folder.
        origin: which of several programs of the command it is, for people; "" of a single one.
        others: the other programs, in the profile of the first.
    """

    command: tuple[str, ...]
    version: int = VERSION
    merged: bool = False
    created: str = ""
    contend: str = ""
    labels: dict[str, str] = {}
    place: str = ""
    asked: dict[str, str] = {}
    wire_Bps: Annotated[float, Meta(gt=0)] | None = None
    machine: str = ""
    cpus: Count | None = None
    drops: Count | None = None
    drops_by_place: Drops | None = None
    elapsed_s: float | None = None
    status: int | None = None
    ended_unix: float | None = None
    ranks: Annotated[int, Meta(ge=0, le=_MOST_RANKS)] = 0
    library: str = ""
    programs: tuple[str, ...] = ()
    hosts: tuple[Host, ...] = ()
    rank_hosts: tuple[Count | None, ...] = ()
    record_bytes: Count = 0
    lasts_s: float | None = None
    run_s: float = 0.0
    uncertainty_s: float | None = None
    thread_level: Count = 0
    fortran: bool = False
    routines: tuple[str, ...] = ()
    phases: tuple[Phase, ...] = ()
    missing: tuple[Warned, ...] = ()
    left_out: LeftOut | None = None
    stuck: tuple[Stuck, ...] = ()
    under_way: tuple[UnderWay, ...] = ()
    left: tuple[str, ...] = ()
    origin: str = ""
    others: tuple[OtherProgram, ...] = ()


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
