"""Starting ranks: one small file for each launcher, and what all of them share."""

from contend.mpi.launch.ended import Death, Ended
from contend.mpi.launch.hosts import HostRanks, share_out
from contend.mpi.launch.request import Launch
from contend.mpi.launch.run import launch, prepare

__all__ = ["Death", "Ended", "HostRanks", "Launch", "launch", "prepare", "share_out"]
