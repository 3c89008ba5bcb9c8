"""MPI's routines by what they do, without ``MPI_``."""

from __future__ import annotations


def plain(routine: str) -> str:
    """``Send`` for ``MPI_Send``, and for ``MPI_Send_c``, which takes larger counts."""
    return routine.removeprefix("MPI_").removesuffix("_c")


def is_own(routine: str) -> bool:
    """Whether it stands for a function of the program's own that the library calls."""
    return routine.startswith("own ")


SENDS = frozenset({"Send", "Ssend", "Rsend", "Bsend"})
BEGUN_SENDS = frozenset({"Isend", "Issend", "Irsend", "Ibsend"})
RECEIVES = frozenset({"Recv", "Mrecv"})
BEGUN_RECEIVES = frozenset({"Irecv", "Imrecv"})
EXCHANGES = frozenset({"Sendrecv", "Sendrecv_replace"})
BEGUN_EXCHANGES = frozenset({"Isendrecv", "Isendrecv_replace"})
PROBES = frozenset({"Probe", "Iprobe", "Mprobe", "Improbe"})
WAITS = frozenset({"Wait", "Waitany", "Waitall", "Waitsome"})
TESTS = frozenset({"Test", "Testany", "Testall", "Testsome"})
QUESTIONS = TESTS | {"Iprobe", "Improbe", "Request_get_status", "Parrived", "Win_test"}
"""They return whether the answer is there or not."""
STARTS = frozenset({"Start", "Startall", "Pready", "Pready_range", "Pready_list"})
"""What is sent in partitions is begun by the call that marks the last of them as ready."""

UNLOCKS = frozenset({"Win_unlock", "Win_unlock_all"})
LOCKED = UNLOCKS | {"Win_flush", "Win_flush_local", "Win_flush_all", "Win_flush_local_all"}
"""They may wait until the library has a lock that was asked for before."""
LOCKS = frozenset({"Win_lock", "Win_lock_all"})
READS = frozenset({"Get", "Rget", "Get_accumulate", "Rget_accumulate"})
READS |= {"Fetch_and_op", "Compare_and_swap", "Win_sync"}
"""They bring back what they find in a window, or show it in memory. Who reads the same again and
again waits for a change of it; what makes operations complete comes in between."""

READING = READS | LOCKS | LOCKED | {"Wait"}

MEETINGS = frozenset({"Comm_accept", "Comm_connect", "Comm_spawn", "Comm_spawn_multiple"})
"""They wait for another program, too."""

AWAITING = RECEIVES | EXCHANGES | PROBES | WAITS | TESTS | LOCKS | LOCKED
AWAITING |= {"Ssend", "Win_start", "Win_complete", "Win_wait", "Win_test"}
"""They may wait for other ranks' messages, besides sends of large ones, or in a window."""

ALL_TO_ALLS = frozenset({"Alltoall", "Alltoallv", "Alltoallw"})
SYNCHRONISING = ALL_TO_ALLS | {
    "Barrier",
    "Allgather",
    "Allgatherv",
    "Allreduce",
    "Reduce_scatter",
    "Reduce_scatter_block",
}
"""Blocking collectives that no member leaves before all have entered."""
COLLECTIVES = SYNCHRONISING | {
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Reduce",
    "Scan",
    "Exscan",
    "Neighbor_allgather",
    "Neighbor_allgatherv",
    "Neighbor_alltoall",
    "Neighbor_alltoallv",
    "Neighbor_alltoallw",
}
"""Blocking collectives in which bytes move, and the barrier."""
