"""What ranks leave, read as `record.h` says, and with nothing else than numpy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

RUNNING, FINISHED, ABORTED, EXITED = range(4)
CALL, COMPLETION, PART = range(3)
NO_PEER = -1
SECTIONS = (
    "routines",
    "modules",
    "communicators",
    "members",
    "cells",
    "peers",
    "collectives",
    "events",
)
_SECTION = np.dtype([(name, "u8") for name in ("offset", "capacity", "used", "lost", "bytes")])
_OFFSET = np.dtype([("at", "i8"), ("offset", "i8"), ("uncertainty", "i8")])
_CLOCK = np.dtype(
    [("start_ticks", "u8"), ("end_ticks", "u8"), ("start_ns", "i8"), ("end_ns", "i8")]
    + [("begun_ticks", "u8"), ("offsets", _OFFSET, 2), ("known", "u4"), ("parent", "i4")]
)
_HEADER = np.dtype(
    [("magic", "S8"), ("version", "u4"), ("header_bytes", "u4"), ("rank", "i4"), ("size", "i4")]
    + [("pid", "i8"), ("state", "u4"), ("exit_code", "i4"), ("thread_level", "u4")]
    + [("fortran_calls", "u4"), ("stride", "u4"), ("requests_lost", "u4"), ("host", "S64")]
    + [("library", "S256"), ("program", "S256"), ("clock", _CLOCK), ("sections", _SECTION, 8)]
)
_ITEMS = {
    "communicators": [("id", "u8"), ("parent", "u4"), ("kind", "u4"), ("size", "u4")]
    + [("rank", "i4"), ("members", "u8"), ("dimensions", "u4"), ("extent", "i4", 8)]
    + [("name", "S36")],
    "members": "i4",
    "cells": [("site", "u8"), ("communicator", "u4"), ("routine", "u2"), ("size_class", "u2")]
    + [("calls", "u8"), ("bytes", "u8"), ("ticks", "u8"), ("longest", "u8")],
    "peers": [
        (name, "u8") for name in ("bytes", "messages", "collective_bytes", "collective_messages")
    ]
    + [("one_sided_bytes", "u8"), ("one_sided_operations", "u8")],
    "collectives": [("entry", "u8"), ("exit", "u8"), ("communicator", "u4"), ("number", "u4")]
    + [("cell", "u4"), ("reserved", "u4")],
    "events": [("start", "u8"), ("end", "u8"), ("bytes", "u8"), ("cell", "u4"), ("peer", "i4")]
    + [("tag", "i4"), ("request", "u4"), ("kind", "u2"), ("thread", "u2"), ("reserved", "u4")],
}


@dataclass(frozen=True)
class RankRecord:
    """The record of one rank: header and sections by their names; texts are text."""

    header: Any
    sections: dict[str, Any] = field(repr=False)
    lost: dict[str, int]

    def __getattr__(self, name: str) -> Any:
        return self.sections[name]

    def totals(self) -> dict[str, tuple[int, int]]:
        """Calls and bytes of each routine that was called."""
        calls: Counter[str] = Counter()
        moved: Counter[str] = Counter()
        for cell in self.cells:
            calls[self.routines[cell["routine"]]] += int(cell["calls"])
            moved[self.routines[cell["routine"]]] += int(cell["bytes"])
        return {name: (calls[name], moved[name]) for name in calls}

    def sites(self, routine: str) -> list[int]:
        """Return addresses of a routine's calls."""
        return [
            int(cell["site"]) for cell in self.cells if self.routines[cell["routine"]] == routine
        ]

    def members_of(self, communicator: int) -> tuple[int, ...]:
        """Ranks of the world in a communicator."""
        item = self.communicators[communicator]
        return tuple(map(int, self.members[int(item["members"]) :][: int(item["size"])]))

    def module_of(self, address: int) -> str:
        """The file that an address lies in; "" when none does."""
        for line in self.modules:
            words = line.split()
            start, end = (int(bound, 16) for bound in words[0].split("-"))
            if start <= address < end:
                return words[5]
        return ""


def read_record(path: Path) -> RankRecord:
    """Reads a record, and checks that all of it lies within the file."""
    whole = path.read_bytes()
    header = np.frombuffer(whole, _HEADER, 1)[0]
    assert header["magic"] == b"contendR"
    assert header["header_bytes"] == _HEADER.itemsize
    sections: dict[str, Any] = {}
    for name, section in zip(SECTIONS, header["sections"], strict=True):
        dtype = np.dtype(_ITEMS.get(name, "u1"))
        assert dtype.itemsize == section["bytes"]
        assert section["used"] <= section["capacity"]
        assert section["offset"] + section["capacity"] * section["bytes"] <= len(whole)
        items = np.frombuffer(whole, dtype, int(section["used"]), int(section["offset"]))
        text = name in ("routines", "modules")
        sections[name] = items.tobytes().decode().splitlines() if text else items
    lost = {name: int(s["lost"]) for name, s in zip(SECTIONS, header["sections"], strict=True)}
    return RankRecord(header, sections, lost)


def read_records(folder: Path) -> list[RankRecord]:
    """The records in a folder, by rank."""
    return [read_record(path) for path in sorted(folder.glob("rank-*.record"))]
