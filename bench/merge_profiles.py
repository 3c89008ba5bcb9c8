"""Merges records of 4,096 ranks of a typical size: seconds, peak memory, and what is kept of them.

A rank has 26 neighbours, 200 cells, 5,000 collectives of its own communicators and of all ranks,
and 10,000 events. Every record is written to the disk first, so give TMPDIR one with a few
gigabytes. With the word dense every rank sends to all others.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from contend.profiling import RECORDS, ProfileRecord, ProgramProfile, merge, write_profile_record
from contend.profiling.record_form import (
    CELL,
    COLLECTIVE,
    COMMUNICATOR,
    EVENT,
    HEADER,
    MAGIC,
    PEER,
    SECTIONS,
    UNDER_WAY,
    VERSION,
)

RANKS, NEIGHBOURS, CELLS, COLLECTIVES, EVENTS, ROUTINES, ROW = 4096, 26, 200, 5000, 10_000, 40, 64
BASE = 10**15


def record(rank: int, random: np.random.Generator, *, dense: bool) -> bytes:
    """What one rank leaves."""
    world = (1, 0, 0, RANKS, rank, 2**64 - 1, 0, 0, [0] * 8, 1, b"MPI_COMM_WORLD")
    row = (100 + rank // ROW, 0, 0, ROW, rank % ROW, 0, 0, 0, [0] * 8, 1, b"row")
    others = [(2, 0, 0, 1, 0, 2**64 - 1, 0, 0, [0] * 8, 1, b"")] * 2
    cells = np.zeros(CELLS, CELL)
    cells["site"] = 0x400100 + 16 * np.arange(CELLS)
    cells["routine"] = np.arange(CELLS) % ROUTINES
    cells["communicator"] = np.where(np.arange(CELLS) % 2, 3, 0)
    cells["size_class"] = np.arange(CELLS) % 20
    cells["calls"], cells["bytes"] = 100, 10_000
    cells["ticks"] = random.integers(10**6, 10**7, CELLS)
    peers = np.zeros(RANKS, PEER)
    near = np.arange(RANKS) if dense else (rank + 1 + np.arange(NEIGHBOURS) ** 2) % RANKS
    peers["bytes"][near], peers["messages"][near] = random.integers(1, 10**6, len(near)), 100
    collectives = np.zeros(COLLECTIVES, COLLECTIVE)
    begin = BASE + 10**6 * np.arange(COLLECTIVES)
    collectives["entry"] = begin + random.integers(0, 10**5, COLLECTIVES)
    collectives["exit"] = begin + 2 * 10**5
    collectives["communicator"] = np.where(np.arange(COLLECTIVES) % 2, 3, 0)
    collectives["number"] = np.arange(COLLECTIVES) // 2
    collectives["cell"] = np.arange(COLLECTIVES) % CELLS
    events = np.zeros(EVENTS, EVENT)
    events["start"] = BASE + 10**5 * np.arange(EVENTS) + random.integers(0, 10**4, EVENTS)
    events["end"] = events["start"] + random.integers(500, 10**4, EVENTS)
    events["cell"] = np.arange(EVENTS) % CELLS
    events["bytes"], events["peer"] = 1024, near[np.arange(EVENTS) % len(near)]
    return _packed(
        rank,
        {
            "routines": np.frombuffer(
                "".join(f"MPI_Routine_{number}\n" for number in range(ROUTINES)).encode(), "u1"
            ),
            "modules": np.frombuffer(b"00400000-00500000 r-xp 00001000 08:01 17 /app\n" * 50, "u1"),
            "communicators": np.array([world, *others, row], COMMUNICATOR),
            "members": np.arange(ROW, dtype="<i4") + rank // ROW * ROW,
            "cells": cells,
            "peers": peers,
            "collectives": collectives,
            "threads": np.zeros(0, UNDER_WAY),
            "events": events,
        },
    )


def _packed(rank: int, sections: dict[str, np.ndarray]) -> bytes:
    header = np.zeros(1, HEADER)
    header["magic"], header["version"], header["header_bytes"] = MAGIC, VERSION, HEADER.itemsize
    header["rank"], header["size"], header["state"] = rank, RANKS, 1
    header["host"] = f"node{rank // 64}".encode()
    clock = header["clock"]
    clock["start_ticks"] = clock["begun_ticks"] = BASE
    clock["end_ticks"] = BASE + 10**10
    clock["end_ns"], clock["known"], clock["parent"] = 10**10, 2, rank & (rank - 1)
    clock["offsets"]["at_ns"], clock["offsets"]["uncertainty_ns"] = (0, 10**10), 500
    at, body = -(-HEADER.itemsize // 64) * 64, bytearray()
    for index, (name, kind) in enumerate(SECTIONS.items()):
        items = sections[name]
        header["sections"][0, index] = (at + len(body), len(items), len(items), 0, kind.itemsize)
        body += items.tobytes()
        body += bytes(-len(body) % 64)
    return header.tobytes().ljust(at, b"\0") + bytes(body)


def main() -> None:
    """Writes the records, merges them, loads the profile."""
    dense = "dense" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / RECORDS).mkdir()
        random = np.random.default_rng(1)
        for rank in range(RANKS):
            content = record(rank, random, dense=dense)
            (folder / RECORDS / f"rank-{rank:06}.record").write_bytes(content)
        write_profile_record(folder, ProfileRecord(("./app",)))
        print(f"{RANKS} records of {len(content) / 2**20:.1f} MiB")
        merge_began = _now()
        merge(folder)
        _tell("merge", merge_began)
        kept = sum(path.stat().st_size for path in folder.iterdir())
        print(f"kept {kept / 2**20:.0f} MiB")
        load_began = _now()
        print(ProgramProfile.load(folder).findings.verdict)
        _tell("load and judge", load_began)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _tell(what: str, since: tuple[float, float]) -> None:
    wall, cpu = (now - before for now, before in zip(_now(), since, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:20} {wall:6.2f} s {cpu:7.2f} s cpu {peak:7.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
