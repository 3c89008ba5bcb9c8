"""Runs with realistic figures: a gigabit network of 2005 whose unordered schedules collapse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from contend.lab.runs import (
    CellEnd,
    CellRecord,
    CellSummary,
    LaunchRecord,
    LibraryRecord,
    Run,
    RunRecord,
    condition,
)
from contend.lab.runs.statistics import combine_launches, modes_of
from contend.lab.runs.summary import bytes_sent
from sample_files import Launch

SIZES = tuple(4 << (2 * step) for step in range(10))
RANKS = 16
# Latency of a message, of a phase with its barrier, and bytes per second of a port.
_LATENCY, _BARRIER, _WIRE = 6e-6, 60e-6, 118e6
_TIME_OUT = 0.2
COLLAPSED = (16384, 65536)


def typical(schedule: str, size: int) -> float:
    """Seconds without congestion."""
    carried = (RANKS - 1) * size / _WIRE
    match schedule:
        case "bruck":
            return 4 * 2 * _LATENCY + RANKS / 2 * 4 * size / _WIRE
        case "pairwise-barrier":
            return (RANKS - 1) * (_LATENCY + _BARRIER) + 1.1 * carried
        case "pairwise":
            return (RANKS - 1) * 2 * _LATENCY + 1.05 * carried
        case _:
            return (RANKS - 1) * _LATENCY + carried


SCHEDULES = ("library", "linear", "pairwise", "pairwise-barrier", "bruck")


def times(
    schedule: str, size: int, count: int, generator: np.random.Generator, slower: float = 1.0
) -> np.ndarray:
    """Samples: a little noise and, where unordered schedules collapse, time-outs in most."""
    values = slower * typical(schedule, size) * generator.lognormal(0, 0.04, count)
    if schedule in ("library", "linear") and size in COLLAPSED:
        stalled = generator.random(count) < 0.7
        values = values + stalled * _TIME_OUT * generator.integers(1, 3, count)
    return values


def alltoall_run(
    folder: Path,
    *,
    launches: int = 3,
    count: int = 25,
    seed: int = 1,
    slower: float = 1.0,
    schedules: tuple[str, ...] = SCHEDULES,
    sizes: tuple[int, ...] = SIZES,
    each: int = 1,
    behind_barrier: float | None = None,
    hosts: Sequence[str] = (),
    **changes: Any,
) -> Run:
    """An all-to-all's run, folded: `each` ranks on a host; `slower` stretches all times alike.

    With `behind_barrier` all is measured once more, started so, where the library takes so many
    times as long.
    """
    generator = np.random.default_rng(seed)
    settings: dict[str, Any] = {
        "probe": "alltoall",
        "created": "2005-12-02T06:05:05+00:00",
        "library": LibraryRecord("Open MPI", "5.0.11", "3.1"),
        "budget_s": 600.0,
        "wire_Bps": _WIRE,
        "labels": {"flow control": "off"},
    }
    record = RunRecord(
        **{**settings, **changes},
        launches=tuple(
            LaunchRecord(number, RANKS, 1, ("mpirun", "-n", "16"), elapsed_s=80.0)
            for number in range(launches)
        ),
    )
    run = Run.create(folder, record)
    for number in range(launches):
        # A launch has its own luck with memory and neighbours.
        luck = slower * generator.lognormal(0, 0.02)
        launch = Launch(RANKS, hosts=hosts or [f"n{rank // each}" for rank in range(RANKS)])
        starts = (None,) if behind_barrier is None else (None, behind_barrier)
        cells = [(name, size, start) for name in schedules for size in sizes for start in starts]
        for place in generator.permutation(len(cells)):
            schedule, size, start = cells[place]
            stretched = start if start is not None and schedule == "library" else 1.0
            barriers = {"barriers_s": 0.2} if schedule.endswith("barrier") else {}
            launch.cell(
                times(schedule, size, count, generator, luck * stretched),
                late=[3] if place % 7 == 0 else [],
                durations=barriers,
                algorithm=schedule,
                bytes=int(size),
                counts="even",
                **({} if behind_barrier is None else {"start": "barrier" if start else "clock"}),
            )
        launch.write(run.raw_path(number))
    return run.fold()


def sort_run(folder: Path, *, count: int = 12, seed: int = 1) -> Run:
    """A sort's run over four sizes of vectors; steps beside the exchange."""
    generator = np.random.default_rng(seed)
    run = Run.create(folder, RunRecord("sort", launches=(LaunchRecord(0, 8),)))
    launch = Launch(8, name="sort")
    for vector in (8, 64, 512, 4096):
        size = 1_492_992 * vector * 8 // 64
        launch.cell(
            (8 - 1) * size / 1e9 * generator.lognormal(0, 0.05, count),
            durations={
                "local_sort_s": 40 / vector,
                "splitters_s": 0.05,
                "counts_s": 0.01,
                "final_sort_s": 25 / vector,
            },
            algorithm="alltoallv",
            bytes=size,
            n=1_492_992,
            m=vector,
            input="uniform",
        )
    launch.write(run.raw_path(0))
    return run.fold()


def pingpong_run(folder: Path, *, count: int = 30, seed: int = 1, pairs: str = "0-1") -> Run:
    """A ping-pong's run: 1.5 µs and 12.5 GB/s, a protocol step at 8 KiB; and a stream."""
    generator = np.random.default_rng(seed)
    record = RunRecord("pingpong", launches=(LaunchRecord(0, 2),), wire_Bps=12.5e9)
    run = Run.create(folder, record)
    launch = Launch(2, name="pingpong", hosts=["n0", "n1"])
    for size in (1 << step for step in range(0, 23, 2)):
        one_way = 1.5e-6 + size / 12.0e9 + (1e-6 if size >= 8192 else 0)
        launch.cell(
            2 * 10 * one_way * generator.lognormal(0, 0.05, count),
            algorithm="pingpong",
            bytes=size,
            pairs=pairs,
            window=1,
            inner=10,
        )
        launch.cell(
            64 * max(size / 12.2e9, 0.2e-6) * generator.lognormal(0, 0.05, count),
            algorithm="stream",
            bytes=size,
            pairs=pairs,
            window=64,
            inner=1,
        )
    launch.write(run.raw_path(0))
    return run.fold()


def cell(
    number: int,
    algorithm: str,
    size: int,
    *launches: np.ndarray,
    ranks: int = 32,
    limit: float | None = None,
    carried: float | None = None,
) -> CellSummary:
    """A cell of an all-to-all, made without files where a test needs thousands."""
    record = CellRecord(number, algorithm, size, ranks, ranks)
    times = np.concatenate(launches)
    return CellSummary(
        record=record,
        schedule=algorithm,
        condition=condition(record),
        in_a_row=1,
        sent=bytes_sent("alltoall", record),
        limit=limit,
        by_launch=dict(enumerate(launches)),
        left_out=times[:0],
        n=len(times),
        late=0,
        median=combine_launches(launches),
        p99_s=float(times.max()),
        max_s=float(times.max()),
        mean_s=float(times.mean()),
        two_kinds=modes_of(launches),
        ends=(CellEnd(number, "repetitions", verified=True),),
        carried=carried,
    )
