"""Sharing a simulation out over MPI ranks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol

from contend.errors import MissingError

# How the launchers of Open MPI, MPICH and its relatives, and Slurm tell a process of its world.
_WORLD_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")


class Communicator(Protocol):
    """What is needed of an MPI communicator (mpi4py's has it)."""

    @property
    def rank(self) -> int:
        """This process's number."""
        ...

    @property
    def size(self) -> int:
        """How many processes there are."""
        ...

    def allgather(self, sendobj: Any) -> list[Any]:
        """Everybody's object, in the order of ranks."""
        ...


def launched_communicator(environment: Mapping[str, str] = os.environ) -> Communicator | None:
    """The world that an MPI launcher started this process in, or None when it is alone.

    Raises:
        MissingError: there is a world, but mpi4py is not installed, or belongs to another MPI
            library than the launcher.
    """
    sizes = [int(environment[name]) for name in _WORLD_SIZES if environment.get(name, "").isdigit()]
    expected = max(sizes, default=1)
    if expected < 2:
        return None
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingError(
            f"started as one of {expected} MPI processes, but mpi4py cannot be used "
            f"({' '.join(str(error).split())[:200]}): pip install 'contend[mpi]'"
        ) from None
    world: Communicator = MPI.COMM_WORLD
    if world.size != expected:
        raise MissingError(
            f"the launcher started {expected} processes, but mpi4py sees {world.size}: it belongs "
            "to another MPI library than the launcher"
        )
    return world
