"""Rank 1 ends by a fault of a library that Python has called, in a line that ends with its name."""

import ctypes

from mpi4py import MPI


def read(address: int) -> bytes:
    return ctypes.string_at(address)  # libc


MPI.COMM_WORLD.Barrier()
if MPI.COMM_WORLD.rank == 1:
    read(8)
MPI.COMM_WORLD.Barrier()
