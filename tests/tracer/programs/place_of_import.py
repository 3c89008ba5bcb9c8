"""Imports what begins MPI."""

from mpi4py import MPI  # Init_thread 1

__all__ = ["MPI"]
