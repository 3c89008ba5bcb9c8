"""`handle.py LIBRARY`: MPI from a handle of its library, as Julia's MPI.jl and ctypes take it."""

from __future__ import annotations

import ctypes
import os
import sys

library = ctypes.CDLL(sys.argv[1])


def handle(name: str, number: int) -> ctypes.c_void_p | ctypes.c_int:
    """Open MPI's handles are addresses of its variables, MPICH's are numbers."""
    if "mpich" in sys.argv[1]:
        return ctypes.c_int(number)
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, name)))


world = handle("ompi_mpi_comm_world", 0x44000000)
integer = handle("ompi_mpi_int", 0x4C000405)
total = handle("ompi_mpi_op_sum", 0x58000003)
rank, size, one, all_ = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(1), ctypes.c_int()
library.MPI_Init(None, None)
library.MPI_Comm_rank(world, ctypes.byref(rank))
library.MPI_Comm_size(world, ctypes.byref(size))
count = 100 * size.value
given = (ctypes.c_int * count)(*(1000 * rank.value + at for at in range(count)))
got = (ctypes.c_int * count)()
for _ in range(10):
    library.MPI_Alltoall(given, 100, integer, got, 100, integer, world)
library.MPI_Allreduce(ctypes.byref(one), ctypes.byref(all_), 1, integer, total, world)
os.write(1, f"{rank.value}: {sum(got)} of {all_.value}\n".encode())
if folder := os.environ.get("KNOWN"):
    with open(f"{folder}/{rank.value}", "w", encoding="ascii") as file:
        print(f"MPI_Alltoall 10 {4000 * size.value}\nMPI_Allreduce 1 4", file=file)
library.MPI_Finalize()
