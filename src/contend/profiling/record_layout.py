"""The form of the file that a rank of a profiled program leaves, as ``tracer/record.h`` has it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np

MAGIC = b"contendR"
VERSION = 5
NO_CELL = 2**32 - 1
"""Stands for the cell of a call for which there was no room any more."""
NO_PEER = -1
"""Stands for a peer outside MPI_COMM_WORLD, any source, or none."""
ANY_PEER, FOREIGN_PEER, ANY_TAG = -2, -3, -1
"""Of what a call waits for: any source, a peer outside MPI_COMM_WORLD, any tag."""
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


class EventKind(IntEnum):
    """What an event is; see ``record.h``."""

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
    ]
)
UNDER_WAY = np.dtype(
    [
        ("start", "<u8"),
        ("left", "<u8"),
        ("site", "<u8"),
        ("routine", "<u4"),
        ("count", "<u4"),
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
        ("kind", "<u2"),
        ("thread", "<u2"),
        ("role", "<u4"),
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
        ("clock", CLOCK),
        ("sections", SECTION, len(SECTIONS)),
    ]
)
