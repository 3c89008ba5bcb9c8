"""Samples shared out over processes: the whole is the same, and a world that cannot be is named."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from contend.congestion import Simulation, launched_communicator, simulate
from contend.errors import MissingError
from contend.fabric import Fabric
from small_fabrics import fat_tree, shortest_path_tables


class Thread:
    """One of several threads that stand in for MPI processes."""

    def __init__(self, rank: int, size: int, barrier: Barrier, board: list[Any]) -> None:
        self.rank = rank
        self.size = size
        self._barrier = barrier
        self._board = board

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
    fabric = fat_tree(4, 4, 2)
    return fabric.replace(routes=shortest_path_tables(fabric))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {"pattern": "bisect", "samples": 1000},
        {"pattern": "tree", "precision": 0.01},
        # Fewer samples than processes: some have nothing to do.
        {"pattern": "shift:3", "placement": "linear"},
        {"pattern": "bisect", "hosts": "6", "exhaustive": True},
    ],
)
def test_everybody_gets_the_whole(tree: Fabric, size: int, settings: dict[str, Any]) -> None:
    alone = simulate(tree, **settings, threads=1)
    for found in on_threads(
        size, lambda world: simulate(tree, **settings, threads=1, communicator=world)
    ):
        assert found.samples == alone.samples
        assert found.messages == alone.messages
        for name in (
            *("bandwidth", "mean_congestion", "max_congestion", "round_mean_congestion"),
            *("round_max_congestion", "histogram", "channel_load"),
        ):
            assert np.array_equal(getattr(found, name), getattr(alone, name))


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
    assert world is not None
    assert world.size == 3
