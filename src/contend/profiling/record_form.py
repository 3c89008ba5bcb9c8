"""Forms of files: what a rank leaves, as ``tracer/record.h`` has it, and events that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from contend.base.errors import InputError

MAGIC = b"contendR"
VERSION = 10
NO_CELL = 2**32 - 1
"""Stands for the cell of a call for which there was no room any more."""
NO_PEER = -1
"""Stands for a peer outside MPI_COMM_WORLD, any source, or none."""
ANY_PEER, FOREIGN_PEER, INVALID_PEER, ANY_TAG = -2, -3, -4, -1
"""Of what a call waits for: any source, a peer outside MPI_COMM_WORLD, a rank that the communicator
has not, any tag."""
NO_CALL = 2**32 - 1
"""Stands for the routine of a thread that is in no call."""
WORLD, SELF, OTHERS = 0, 1, 2
"""Indices of communicators that every rank has; the last stands for those that did not fit."""
ALL_SIZES = 255
"""Class of sizes of a cell that stands for all calls of a routine without a cell of their own."""

UNKNOWN_MEMBERS = 2**64 - 1
"""Stands for the members of a communicator for which there was no room."""
MOST_AWAITED = 8
"""Of the things that a call waits for so many are kept."""


INTER, WINDOW = 4, 5
"""Kinds of communicators: between groups, and a window's own."""
UNKNOWN_BYTES = 2**64 - 1
"""Stands for what members must give alike to a collective, where that is not known."""
_OPERATIONS = "SUM MAX MIN PROD LAND BAND LOR BOR LXOR BXOR MAXLOC MINLOC REPLACE"
OPERATIONS = (
    "",
    *(f"MPI_{name}" for name in _OPERATIONS.split()),
    "an operation of its own",
)
"""Operations of reductions by their numbers."""


class State(IntEnum):
    """How a rank ended."""

    RUNNING = 0
    FINISHED = 1
    ABORTED = 2
    EXITED = 3


class Awaits(IntEnum):
    """What a call waits for; see ``record.h``."""

    UNKNOWN = 0
    RECEIVER = 1
    SENDER = 2
    MEMBERS = 3
    TARGET = 4
    FINALIZE = 5
    EXCHANGE = 6
    READY = 7
    POST = 8
    COMPLETE = 9
    GROUP = 10


class EventKind(IntEnum):
    """A call; a request that the call before completed; bytes to or from one peer in that call."""

    CALL = 0
    COMPLETION = 1
    PART = 2


SECTION = np.dtype(
    [
        ("offset", "<u8"),
        ("capacity", "<u8"),
        ("used", "<u8"),
        ("lost", "<u8"),
        ("item_bytes", "<u8"),
    ]
)
OFFSET = np.dtype([("at_ns", "<i8"), ("offset_ns", "<i8"), ("uncertainty_ns", "<i8")])
CLOCK = np.dtype(
    [
        ("start_ticks", "<u8"),
        ("end_ticks", "<u8"),
        ("start_ns", "<i8"),
        ("end_ns", "<i8"),
        ("begun_ticks", "<u8"),
        ("start_unix_ns", "<i8"),
        ("offsets", OFFSET, 2),
        ("known", "<u4"),
        ("parent", "<i4"),
    ]
)
COMMUNICATOR = np.dtype(
    [
        ("id", "<u8"),
        ("parent", "<u4"),
        ("kind", "<u4"),
        ("size", "<u4"),
        ("rank", "<i4"),
        ("members", "<u8"),
        ("collectives", "<u4"),
        ("dimensions", "<u4"),
        ("extent", "<i4", 8),
        ("more", "<u4"),
        ("name", "S36"),
    ]
)
CELL = np.dtype(
    [
        ("site", "<u8"),
        ("communicator", "<u4"),
        ("routine", "<u2"),
        ("size_class", "<u2"),
        ("calls", "<u8"),
        ("bytes", "<u8"),
        ("ticks", "<u8"),
        ("longest", "<u8"),
    ]
)
PEER = np.dtype(
    [
        ("bytes", "<u8"),
        ("messages", "<u8"),
        ("collective_bytes", "<u8"),
        ("collective_messages", "<u8"),
        ("one_sided_bytes", "<u8"),
        ("one_sided_operations", "<u8"),
        ("taken_bytes", "<u8"),
        ("taken_operations", "<u8"),
    ]
)
COLLECTIVE = np.dtype(
    [
        ("entry", "<u8"),
        ("exit", "<u8"),
        ("communicator", "<u4"),
        ("number", "<u4"),
        ("cell", "<u4"),
        ("turn", "<u4"),
    ]
)
AWAITED = np.dtype(
    [
        ("kind", "<u4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("communicator", "<u4"),
        ("number", "<u4"),
        ("routine", "<u4"),
        ("bytes", "<u8"),
    ]
)
UNDER_WAY = np.dtype(
    [
        ("start", "<u8"),
        ("left", "<u8"),
        ("site", "<u8"),
        ("routine", "<u4"),
        ("count", "<u4"),
        ("asking", "<u8"),
        ("asked_left", "<u8"),
        ("asked", "<u4"),
        ("asked_for", "<u4"),
        ("awaited", AWAITED, MOST_AWAITED),
    ]
)
EVENT = np.dtype(
    [
        ("start", "<u8"),
        ("end", "<u8"),
        ("bytes", "<u8"),
        ("cell", "<u4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("request", "<u4"),
        ("kind", "u1"),
        ("weight", "u1"),
        ("thread", "<u2"),
        ("turn", "<u4"),
    ]
)
SECTIONS: Mapping[str, np.dtype[Any]] = {
    "routines": np.dtype("u1"),
    "modules": np.dtype("u1"),
    "communicators": COMMUNICATOR,
    "members": np.dtype("<i4"),
    "cells": CELL,
    "peers": PEER,
    "collectives": COLLECTIVE,
    "threads": UNDER_WAY,
    "events": EVENT,
}
"""Sections in their order, and what each holds."""

HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("rank", "<i4"),
        ("size", "<i4"),
        ("pid", "<i8"),
        ("state", "<u4"),
        ("exit_code", "<i4"),
        ("thread_level", "<u4"),
        ("fortran_calls", "<u4"),
        ("collective_stride", "<u4"),
        ("requests_lost", "<u4"),
        ("spawned", "<u4"),
        ("spawns", "<u4"),
        ("host", "S64"),
        ("library", "S256"),
        ("program", "S256"),
        ("launch", "S192"),
        ("died", "<u8"),
        ("died_at", "<u8"),
        ("signal", "<u4"),
        ("died_thread", "<u4"),
        ("error", "S32"),
        ("died_by", "<u8", 24),
        ("died_file", "S252"),
        ("died_line", "<u4"),
        ("told", "<u8"),
        ("errors", "<u4"),
        ("error_routine", "<u4"),
        ("error_site", "<u8"),
        ("first_error", "S32"),
        ("whole", "<u8"),
        ("least", "<u8"),
        ("clock", CLOCK),
        ("sections", SECTION, len(SECTIONS)),
    ]
)


KEPT = np.dtype(
    [
        ("start_ns", "<i8"),
        ("end_ns", "<i8"),
        *EVENT.descr[2:7],
        ("kind", "<u2"),
        ("thread", "<u2"),
        ("role", "<u4"),
    ]
)
"""An event in a profile: times in nanoseconds of the common clock from the first MPI_Init; the cell
is that of the call also for completions, and a collective has its number as its role."""

NO_NUMBER = 2**30 - 1
"""Stands for the number of an event whose place in an order is not known."""
OF_SEND, OF_RECEIVE, OF_COLLECTIVE = range(3)
"""Roles of events."""


def roles(events: NDArray[Any]) -> NDArray[np.int64]:
    """What events of a record are of."""
    return events["turn"].astype(np.int64) & 3


def numbers(events: NDArray[Any]) -> NDArray[np.int64]:
    """Places of a record's messages in their flows, and of collectives on their communicators."""
    return events["turn"].astype(np.int64) >> 2


_LEVEL = 1
_MOST_EVENTS = 1 << 26


def packed_events(
    events: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> bytes:
    """A rank's events as they are kept.

    Starts are differences from one event to the next, and ends durations: small numbers.

    Args:
        events: of dtype `EVENT`.
        starts: in nanoseconds from the first MPI_Init, on the common clock.
        ends: likewise.
    """
    kept = np.empty(len(events), KEPT)
    for name in set(EVENT.names or ()) & set(KEPT.names or ()):
        kept[name] = events[name]
    kept["start_ns"], kept["end_ns"] = np.diff(starts, prepend=0), ends - starts
    role, number = roles(events), numbers(events)
    called, completed = events["kind"] == EventKind.CALL, events["kind"] == EventKind.COMPLETION
    numbered = called & (role == OF_COLLECTIVE) & (number != NO_NUMBER)
    kept["role"] = np.where(numbered, number, np.where(completed, 0, role))
    call = np.maximum.accumulate(np.where(called, np.arange(len(events)), 0))
    kept["cell"][completed] = events["cell"][call[completed]]
    besides = completed & (role != OF_RECEIVE)
    kept["peer"][besides], kept["tag"][besides], kept["bytes"][besides] = NO_PEER, 0, 0
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return compressor.compress(b"".join(kept[name].tobytes() for name in KEPT.names or ()))


def read_events(path: Path, at: int, length: int, count: int) -> NDArray[Any]:
    """A rank's events, of dtype `KEPT`.

    Args:
        path: of the file of all ranks.
        at: where the rank's part begins.
        length: of it in bytes.
        count: of its events.

    Raises:
        InputError: the file is damaged.
    """
    expected = f"{count} events in {length} bytes from {at}"
    try:
        size = path.stat().st_size
        if count > _MOST_EVENTS or at + length > size:
            raise InputError(str(path), 0, expected, f"a file of {size} bytes")
        with path.open("rb") as file:
            file.seek(at)
            frame = file.read(length)
        whole = zstandard.get_frame_parameters(frame).content_size
        if whole != count * KEPT.itemsize:
            raise InputError(str(path), 0, expected, f"{whole} bytes")
        content = zstandard.ZstdDecompressor().decompress(frame)
    except OSError as error:
        raise InputError(str(path), 0, "events of ranks", str(error.strerror)) from None
    except zstandard.ZstdError as error:
        raise InputError(str(path), 0, expected, str(error)) from None
    events = np.empty(count, KEPT)
    offset = 0
    for name in KEPT.names or ():
        events[name] = np.frombuffer(content, KEPT[name], count, offset)
        offset += count * KEPT[name].itemsize
    events["start_ns"] = np.cumsum(events["start_ns"])
    events["end_ns"] += events["start_ns"]
    return events
