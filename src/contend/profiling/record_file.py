"""Reads the file that one rank of a profiled program left; `record_layout` has its form.

The file may have been cut short by whatever ended the rank, or be none of ours: all that it says of
itself is compared with its size, and all numbers in it with each other, before memory is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError
from contend.profiling.record_form import (
    HEADER,
    MAGIC,
    NO_CALL,
    NO_CELL,
    NO_PEER,
    OTHERS,
    SECTIONS,
    UNKNOWN_MEMBERS,
    VERSION,
    Awaits,
    EventKind,
    State,
)

_MOST_RANKS = 1 << 24
# Far above any bound that a user sets.
_MOST_BYTES = 1 << 36

Items = NDArray[Any]


@dataclass(frozen=True)
class RankRecord:
    """What one rank left."""

    path: Path
    """Path of its file."""
    rank: int
    """Rank in MPI_COMM_WORLD."""
    size: int
    """Size of MPI_COMM_WORLD."""
    state: State
    """How the rank ended."""
    host: str
    """Host on which it ran."""
    library: str
    """First line of what its MPI library says of its version."""
    program: str
    """File that ran."""
    header: np.void
    """All of the header, of dtype `HEADER`."""
    lost: Mapping[str, int]
    """Items that no longer fitted, by section."""
    routines: tuple[str, ...]
    """Names of routines, by index."""
    modules: tuple[str, ...]
    """Executable lines of ``/proc/self/maps``."""
    communicators: Items
    """Communicators of dtype `COMMUNICATOR`."""
    members: NDArray[np.int32]
    """Ranks in MPI_COMM_WORLD; communicators name their parts of it."""
    cells: Items
    """Cells of dtype `CELL`."""
    peers: Items
    """Peers of dtype `PEER`, by rank in MPI_COMM_WORLD."""
    collectives: Items
    """Collectives of dtype `COLLECTIVE`."""
    threads: Items
    """Threads of dtype `UNDER_WAY`: the call that each thread is in."""
    events: Items
    """Events of dtype `EVENT`, from the beginning to the first that was left out."""
    later: Items
    """Longest of the events from there on."""

    def members_of(self, index: int) -> NDArray[np.int32] | None:
        """Ranks of a communicator in MPI_COMM_WORLD, by their rank in it; None if not kept."""
        communicator = self.communicators[index]
        first = int(communicator["members"])
        if first == UNKNOWN_MEMBERS:
            return None
        return self.members[first : first + int(communicator["size"])]


def read_record(path: Path, *, events: bool = True) -> RankRecord:
    """Reads a rank's file.

    Args:
        path: of the file.
        events: whether to read its events too, by far the most of it.

    Raises:
        InputError: it is none, or damaged: what was expected and what is there.
    """
    with _opened(path) as reader:
        return reader.record(events=events)


def read_header(path: Path) -> np.void:
    """Reads only the header of a rank's file, of dtype `HEADER`.

    Raises:
        InputError: it is none, or damaged.
    """
    with _opened(path) as reader:
        return reader.header()


@contextmanager
def _opened(path: Path) -> Iterator[_Reader]:
    try:
        with path.open("rb", buffering=0) as file:
            yield _Reader(path, file)
    except OSError as error:
        raise InputError(str(path), 0, "the record of a rank", str(error.strerror)) from None


class _Reader:
    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._bytes = os.fstat(file.fileno()).st_size

    def record(self, *, events: bool) -> RankRecord:
        header = self.header()
        parts = {
            name: self._section(name, kind, section, read=events or name != "events")
            for (name, kind), section in zip(SECTIONS.items(), header["sections"], strict=True)
        }
        sections = dict(zip(SECTIONS, header["sections"], strict=True))
        state = int(header["state"])
        if state not in list(State):
            raise self._wrong("a state from 0 to 3", str(state))
        # Where none has been left out, all are whole.
        whole = int(header["whole"] if header["least"] else header["sections"][-1]["used"])
        every = parts.pop("events")
        if whole > header["sections"][-1]["used"]:
            raise self._wrong(f"at most {header['sections'][-1]['used']} whole events", str(whole))
        record = RankRecord(
            path=self._path,
            rank=int(header["rank"]),
            size=int(header["size"]),
            state=State(state),
            host=text_of(header["host"]),
            library=text_of(header["library"]),
            program=text_of(header["program"]),
            header=header,
            lost={name: int(section["lost"]) for name, section in sections.items()},
            routines=_lines(parts.pop("routines")),
            modules=_lines(parts.pop("modules")),
            events=every[:whole],
            later=every[whole:],
            **parts,
        )
        self._check(record, every)
        return record

    def header(self) -> np.void:
        if not HEADER.itemsize <= self._bytes <= _MOST_BYTES:
            expected = f"{HEADER.itemsize} to {_MOST_BYTES} bytes"
            raise self._wrong(expected, f"{self._bytes} bytes")
        content = self._read(0, HEADER.itemsize)
        header: np.void = np.frombuffer(content, HEADER)[0]
        if bytes(header["magic"]) != MAGIC:
            raise self._wrong(f"the record of a rank, which begins with {MAGIC.decode()}", "others")
        if header["version"] != VERSION or header["header_bytes"] != HEADER.itemsize:
            raise self._wrong(
                f"version {VERSION} with a header of {HEADER.itemsize} bytes",
                f"version {header['version']} with {header['header_bytes']}",
            )
        if not 0 <= header["rank"] < header["size"] <= _MOST_RANKS:
            got = f"rank {header['rank']} of {header['size']}"
            raise self._wrong(f"a rank of 1 to {_MOST_RANKS}", got)
        return header

    def _section(
        self, name: str, kind: np.dtype[Any], section: np.void, *, read: bool = True
    ) -> Items:
        offset, capacity, used, item_bytes = (
            int(section[field]) for field in ("offset", "capacity", "used", "item_bytes")
        )
        if item_bytes != kind.itemsize:
            raise self._wrong(f"{name} of {kind.itemsize} bytes", f"of {item_bytes}")
        if used > capacity:
            raise self._wrong(f"at most {capacity} {name}", str(used))
        end = offset + capacity * item_bytes
        if offset < HEADER.itemsize or end > self._bytes:
            got = f"{name} from {offset} to {end}"
            raise self._wrong(f"sections within {self._bytes} bytes", got)
        return np.frombuffer(self._read(offset, used * item_bytes if read else 0), kind)

    def _read(self, offset: int, count: int) -> bytes:
        content = bytearray()
        self._file.seek(offset)
        while len(content) < count:
            # One reading returns 2 GiB at most.
            part = self._file.read(count - len(content))
            if not part:
                raise self._wrong(f"{offset + count} bytes", f"{offset + len(content)}")
            if len(part) == count:
                return part
            content += part
        return bytes(content)

    def _check(self, record: RankRecord, events: Items) -> None:
        """Whether what refers to each other is there.

        Raises:
            InputError: it is not.
        """
        known = len(record.communicators)
        if known <= OTHERS:
            raise self._wrong("at least 3 communicators", str(known))
        if len(record.peers) not in (0, record.size):
            raise self._wrong(f"peers for {record.size} ranks", str(len(record.peers)))
        bounds = (
            ("communicators of cells", record.cells["communicator"], known),
            ("routines of cells", record.cells["routine"], len(record.routines)),
            ("communicators of collectives", record.collectives["communicator"], known),
            ("cells of collectives", _known_cells(record.collectives), len(record.cells)),
            ("cells of events", _known_cells(events), len(record.cells)),
            ("routines of threads", _in_calls(record.threads)["routine"], len(record.routines)),
            ("routines that threads asked with", record.threads["asked"], len(record.routines)),
            ("what threads wait for", _awaited(record.threads)["kind"], len(Awaits)),
            ("awaited communicators", _awaited(record.threads)["communicator"], known),
            ("kinds of events", events["kind"], len(EventKind)),
            ("parents of communicators", record.communicators["parent"], known),
            ("members", record.members, record.size),
            ("peers of events", events["peer"], record.size),
        )
        for what, numbers, bound in bounds:
            if len(numbers) and (numbers.max() >= bound or numbers.min() < NO_PEER):
                got = f"{numbers.min()} to {numbers.max()}"
                raise self._wrong(f"{what} below {bound}", got)
        self._check_members(record)

    def _check_members(self, record: RankRecord) -> None:
        kept = record.communicators[record.communicators["members"] != UNKNOWN_MEMBERS]
        # As floats, which do not wrap around.
        ends = kept["members"].astype(np.float64) + kept["size"]
        if len(ends) and ends.max() > len(record.members):
            raise self._wrong(f"members within {len(record.members)}", f"up to {ends.max():.0f}")

    def _wrong(self, expected: str, got: str) -> InputError:
        return InputError(str(self._path), 0, expected, got)


def _known_cells(items: Items) -> NDArray[np.uint32]:
    cells: NDArray[np.uint32] = items["cell"]
    known: NDArray[np.uint32] = cells[cells != NO_CELL]
    return known


def _in_calls(threads: Items) -> Items:
    here: Items = threads[threads["routine"] != NO_CALL]
    return here


def _awaited(threads: Items) -> Items:
    """All that threads wait for, or asked for."""
    count = np.where(threads["routine"] == NO_CALL, threads["asked_for"], threads["count"])
    count = np.maximum(count, np.where(threads["asking"] > 0, threads["asked_for"], 0))
    return threads["awaited"][np.arange(threads["awaited"].shape[1]) < count[:, None]]


def text_of(content: bytes) -> str:
    """A text in a record, up to its first zero."""
    return content.partition(b"\0")[0].decode(errors="replace")


def _lines(content: Items) -> tuple[str, ...]:
    return tuple(content.tobytes().decode(errors="replace").splitlines())
