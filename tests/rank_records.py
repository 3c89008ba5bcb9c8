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
OTHERS = 2
SECTIONS = (
    "routines",
    "modules",
    "communicators",
    "members",
    "cells",
    "peers",
    "collectives",
    "threads",
    "events",
)


def _fields(text: str) -> list[tuple[str, str]]:
    """Fields of a structure, given as type and name, in turns."""
    words = text.split()
    return list(zip(words[1::2], words[::2], strict=True))


_SECTION = np.dtype(_fields("u8 offset u8 capacity u8 used u8 lost u8 bytes"))
_OFFSET = np.dtype(_fields("i8 at i8 offset i8 uncertainty"))
_CLOCK = np.dtype(
    [
        *_fields(
            "u8 start_ticks u8 end_ticks i8 start_ns i8 end_ns u8 begun_ticks i8 start_unix_ns"
        ),
        ("offsets", _OFFSET, 2),
        *_fields("u4 known i4 parent"),
    ]
)
_HEADER = np.dtype(
    [
        *_fields("S8 magic u4 version u4 header_bytes i4 rank i4 size i8 pid u4 state"),
        *_fields("i4 exit_code u4 thread_level u4 fortran_calls u4 stride u4 requests_lost"),
        *_fields("u4 spawned u4 spawns S64 host S256 library S256 program S192 launch"),
        *_fields(
            "u8 died u8 died_at u4 signal u4 died_thread S32 error"
            " 24u8 died_by S252 died_file u4 died_line u8 told u4 errors u4 error_routine"
            " u8 error_site S32 first_error u8 whole u8 least"
        ),
        ("clock", _CLOCK),
        ("sections", _SECTION, 9),
    ]
)
_ITEMS = {
    "communicators": "u8 id u4 parent u4 kind u4 size i4 rank u8 members u4 collectives"
    " u4 dimensions 8i4 extent u4 more S36 name",
    "cells": "u8 site u4 communicator u2 routine u2 size_class u8 calls u8 bytes u8 ticks"
    " u8 longest",
    "peers": "u8 bytes u8 messages u8 collective_bytes u8 collective_messages u8 one_sided_bytes"
    " u8 one_sided_operations u8 taken_bytes u8 taken_operations",
    "collectives": "u8 entry u8 exit u4 communicator u4 number u4 cell u4 turn",
    "threads": "u8 start u8 left u8 site u4 routine u4 count u8 asking u8 asked_left u4 asked"
    " u4 asked_for 64u4 awaited",
    "events": "u8 start u8 end u8 bytes u4 cell i4 peer i4 tag u4 request u1 kind u1 weight"
    " u2 thread u4 turn",
}
_PLAIN = {"members": "i4"}


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
        dtype = np.dtype(_fields(_ITEMS[name]) if name in _ITEMS else _PLAIN.get(name, "u1"))
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
