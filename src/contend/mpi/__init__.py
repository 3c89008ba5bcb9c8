"""The MPI libraries of this machine: found, tried, and told apart."""

from contend.mpi.candidate import Candidate
from contend.mpi.compile import compile_probe
from contend.mpi.examine import examine
from contend.mpi.find import find
from contend.mpi.library import Library, merge

__all__ = ["Candidate", "Library", "compile_probe", "examine", "find", "merge"]
