"""Samples shared out over processes: the whole is the same, and a world that cannot be is named."""

from __future__ import annotations

import os
import pickle
import platform
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest

import contend
from contend.base.errors import MissingError, UsageError
from contend.congestion import (
    OtherProcessError,
    Simulation,
    agree,
    launched_communicator,
    simulate,
)
from contend.congestion.processes import thread_count
from contend.fabric import Fabric
from small_fabrics import fat_tree, routed


class Thread:
    """One of several threads that stand in for MPI processes."""

    def __init__(self, rank: int, size: int, barrier: Barrier, board: list[Any]) -> None:
        self.rank = rank
        self.size = size
        self._barrier = barrier
        self._board = board
        self.aborted = False

    def Abort(self, errorcode: int) -> None:  # noqa: N802 - as mpi4py has it
        self.aborted = True
        self._barrier.abort()

    def allgather(self, sendobj: Any) -> list[Any]:
        self._board[self.rank] = sendobj
        self._barrier.wait()
        everything = list(self._board)
        self._barrier.wait()
        return everything


def on_threads(size: int, work: Callable[[Thread], Simulation]) -> list[Simulation]:
    barrier, board = Barrier(size, timeout=60), [None] * size
    with ThreadPoolExecutor(size) as pool:
        worlds = [Thread(rank, size, barrier, board) for rank in range(size)]
        return list(pool.map(work, worlds))


@pytest.fixture(scope="module")
def tree() -> Fabric:
    return routed(fat_tree(4, 4, 2))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {"pattern": "bisect", "samples": 1000},
        {"pattern": "tree", "precision": 0.01},
        # Fewer samples than processes: some have nothing to do.
        {"pattern": "shift:3", "placement": "linear"},
        {"pattern": "bisect", "hosts": "6", "exhaustive": True},
        {"pattern": "uniform", "samples": 333, "channels": ["hottest:3"]},
        {"pattern": "bisect:two-way", "samples": 100},
    ],
)
def test_everybody_gets_the_whole(tree: Fabric, size: int, settings: dict[str, Any]) -> None:
    alone = simulate(tree, **settings, threads=1)
    for found in on_threads(
        size, lambda world: simulate(tree, **settings, threads=1, communicator=world)
    ):
        assert found.samples == alone.samples
        assert found.messages == alone.messages
        assert found.slower_direction == alone.slower_direction
        for name in (
            *("bandwidth", "mean_congestion", "max_congestion", "round_mean_congestion"),
            *("round_max_congestion", "histogram", "channel_load"),
        ):
            assert np.array_equal(getattr(found, name), getattr(alone, name))
        assert [user.channel for user in found.channels] == [
            user.channel for user in alone.channels
        ]
        for one, other in zip(found.channels, alone.channels, strict=True):
            for name in ("sources", "targets", "source_routes", "target_routes"):
                assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    "environment",
    [{}, {"OMPI_COMM_WORLD_SIZE": "1"}, {"PMI_SIZE": "1"}, {"SLURM_STEP_NUM_TASKS": "many"}],
)
def test_process_that_is_alone(environment: dict[str, str]) -> None:
    assert launched_communicator(environment) is None


WORLD = [
    {"OMPI_COMM_WORLD_SIZE": "3"},
    {"PMI_SIZE": "3"},
    {"MPI_LOCALNRANKS": "3"},
    {"SLURM_STEP_NUM_TASKS": "3"},
    {"MPI_LOCALNRANKS": "2", "PMI_SIZE": "3"},
]


@pytest.mark.parametrize("environment", WORLD)
def test_world_without_mpi4py(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    # An entry of None makes the import fail as if it were not installed.
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(MissingError, match=r"one of 3 MPI processes, .*pip install") as caught:
        launched_communicator(environment)
    assert caught.value.status == 3
    assert "\n" not in str(caught.value)


class _Mpi4py:
    """Stands in for mpi4py: what `from mpi4py import MPI` finds."""

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def MPI(self) -> Any:  # noqa: N802
        if self.size == 0:
            raise RuntimeError("cannot load MPI library\nlibmpi.so.40: no such file")
        world = Thread(0, self.size, Barrier(1), [])
        return type("MPI", (), {"COMM_WORLD": world})


def test_world_of_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Started by one MPI library, mpi4py made for another sees a world of one."""
    monkeypatch.setitem(sys.modules, "mpi4py", _Mpi4py(1))
    with pytest.raises(MissingError, match="started 3 processes, but mpi4py sees 1"):
        launched_communicator({"OMPI_COMM_WORLD_SIZE": "3"})


def test_mpi_library_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", _Mpi4py(0))
    with pytest.raises(MissingError, match=r"libmpi\.so\.40: no such file") as caught:
        launched_communicator({"PMI_SIZE": "2"})
    assert "\n" not in str(caught.value)


def test_world_as_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", _Mpi4py(3))
    world = launched_communicator({"PMI_SIZE": "3"})
    assert world.size == 3


def outcomes_of(size: int, work: Callable[[Thread], Any]) -> list[Any]:
    """What every process returns or raises."""

    def attempt(world: Thread) -> Any:
        try:
            return work(world)
        except BaseException as error:
            return error

    return on_threads(size, attempt)


def test_a_process_that_fails_alone_ends_the_others(tree: Fabric) -> None:
    """The others would wait for ever in an allgather; one message tells which failed and why."""

    def work(world: Thread) -> Any:
        hosts = "6" if world.rank != 1 else "600"
        return simulate(tree, "bisect", hosts=hosts, samples=100, threads=1, communicator=world)

    first, failed, last = outcomes_of(3, work)
    assert isinstance(failed, UsageError)
    for other in (first, last):
        assert isinstance(other, OtherProcessError)
        assert str(other).startswith("MPI process 1 failed: hosts: expected 1 to")
        assert other.status == 2


@pytest.mark.parametrize(
    ("error", "status"),
    [(MemoryError("no memory"), 3), (FileNotFoundError("gone"), 2), (ZeroDivisionError("0"), 70)],
)
def test_whatever_fails_is_known_to_all(error: Exception, status: int) -> None:
    def work(world: Thread) -> int:
        def part() -> int:
            if world.rank == 0:
                raise error
            return world.rank

        return agree(world, part)

    failed, other = outcomes_of(2, work)
    assert failed is error
    assert isinstance(other, OtherProcessError)
    assert other.status == status


def test_one_error_is_told_where_all_fail(tree: Fabric) -> None:
    found = outcomes_of(3, lambda world: simulate(tree, "nothing", communicator=world))
    assert [type(error) for error in found] == [UsageError, OtherProcessError, OtherProcessError]


def test_an_interrupt_of_one_process_ends_the_world() -> None:
    """Nothing can be told to the others any more, so MPI is asked to end them."""

    def work(world: Thread) -> Any:
        def part() -> None:
            if world.rank == 0:
                raise KeyboardInterrupt

        try:
            agree(world, part)
        finally:
            aborted.append((world.rank, world.aborted))

    aborted: list[tuple[int, bool]] = []
    interrupted, other = outcomes_of(2, work)
    assert isinstance(interrupted, KeyboardInterrupt)
    assert isinstance(other, BrokenBarrierError)
    assert (0, True) in aborted


CORES = set(range(8))


@pytest.mark.parametrize(
    ("asked", "environment", "expected"),
    [
        (1, {}, 1),
        (3, {}, 3),
        (100_000, {}, 32),
        (10**12, {}, 32),
        (None, {}, 8),
        (None, {"OMP_NUM_THREADS": "3"}, 3),
        (None, {"OMP_NUM_THREADS": "100000"}, 8),
        (None, {"OMP_NUM_THREADS": "9" * 5000}, 8),
        (None, {"OMP_NUM_THREADS": "0"}, 8),
        (None, {"OMP_NUM_THREADS": "many"}, 8),
    ],
)
def test_threads_are_those_that_the_machine_has_room_for(
    asked: int | None,
    environment: dict[str, str],
    expected: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: CORES)
    assert thread_count(asked, environment=environment) == expected


class Node:
    """A process of a world whose other processes have these cores of these nodes."""

    def __init__(self, rank: int, everybody: list[tuple[str, set[int]]]) -> None:
        self.rank = rank
        self.size = len(everybody)
        self._everybody = everybody

    def allgather(self, sendobj: Any) -> list[Any]:
        assert sendobj == (self._everybody[self.rank], None)
        return [(cores, None) for cores in self._everybody]


@pytest.mark.parametrize(
    ("everybody", "expected"),
    [
        ([("a", CORES)] * 4, 2),
        ([("a", CORES)] * 16, 1),
        # Another node's processes take nothing away.
        ([("a", CORES), ("b", CORES), ("b", CORES)], 8),
        # A launcher that gave each its own cores has shared them out already.
        ([("a", CORES), ("a", {8, 9}), ("a", {10})], 8),
    ],
)
def test_processes_of_a_node_share_its_cores(
    everybody: list[tuple[str, set[int]]], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: CORES)
    monkeypatch.setattr(platform, "node", lambda: "a")
    assert thread_count(None, Node(0, everybody), environment={}) == expected


@pytest.mark.parametrize("engine", ["minhop", "dmodk", "ecmp", "spray", "adaptive"])
def test_a_fabric_that_was_used_goes_to_other_processes(engine: str) -> None:
    used = contend.load("fig1", route=engine)
    counted = contend.simulate(used, samples=20)
    sent = pickle.loads(pickle.dumps(counted)).fabric
    assert np.array_equal(contend.simulate(sent, samples=20).bandwidth, counted.bandwidth)
    assert not sent.cable_from.flags.writeable
