"""What to change in a program that was stuck or died."""

from __future__ import annotations

import signal

from contend.profiling.hang.deadlock import circles
from contend.profiling.hang.stuck import Stuck, died_of
from contend.profiling.hang.stuck_words import ABORTED, StuckWords, meets_another_program

_KILLED = (
    "The network has no part in it: somebody ended {}. The kernel does so where memory runs out "
    "(dmesg tells), and batch systems where a job takes more than it asked for."
)
_CURES = {
    "MPI_ERR_TRUNCATE": "A receive needs room for the whole message: give both sides the same "
    "count and type.",
    "MPI_ERR_RANK": "Name a rank that the communicator has: they count from 0, and "
    "MPI_Comm_size tells how many there are.",
    "MPI_ERR_TAG": "Use a tag from 0 to MPI_TAG_UB.",
    "MPI_ERR_COMM": "Use a communicator that this rank is in and has not freed.",
    "MPI_ERR_TYPE": "Commit the datatype before it is used, and do not free it before.",
}


def cure_of(stuck: StuckWords) -> str:
    """What to change in the program, in plain words; "" where nothing is known to be wrong."""
    mistakes = list(stuck.mistakes())
    if any(thread.entered for thread in stuck.stuck):
        return (
            "All members of a communicator must call the same collectives on it in the same "
            f"order, with the same root, operation and amount of data: {mistakes[0]}."
        )
    if (first := stuck.ended_first) is not None:
        return _cure_of_death(first)
    if stuck.killed_unseen:
        return _KILLED.format("one of these processes")
    if mistakes:
        return f"Give both the same tag and communicator: {mistakes[0]}."
    for thread in stuck.stuck:
        if meets_another_program(thread):
            return (
                f"See what the other program does that rank {thread.rank} waits for in "
                f"{thread.routine}, or whether it is there at all: this profile is of one "
                "program, and those that the same command started have others beside it."
            )
    entered = any(
        stuck.all_entered(thread, one) and not thread.routine.startswith("MPI_File_")
        for thread in stuck.stuck
        for one in thread.awaits
    )
    if (stuck.under_way or entered) and not stuck.hung:
        # Within a short time nothing is wrong with a network.
        if not stuck.stood_still:
            return ""
        return (
            "These ranks wait for the network: see whether it carries their messages as fast "
            "as it should, and whether all their hosts are up."
        )
    for thread in stuck.stuck:
        if any(one.kind == "memory" for one in thread.awaits):
            return (
                f"Look for the call that writes what rank {thread.rank} waits for: no rank had "
                "made it, or MPI_Win_flush, MPI_Win_unlock or the like had not completed it."
            )
    by_rank = {thread.rank: thread for thread in stuck.stuck}
    for circle in circles(stuck.stuck):
        kinds = {one.kind for rank in circle for one in by_rank[rank].awaits}
        if kinds == {"ready"}:
            return (
                "A send in partitions ends when MPI_Pready has marked each of them: mark the "
                "others, or use fewer."
            )
        if len(circle) == 1:
            return (
                "A rank that sends to itself needs a receive that was begun before: use "
                "MPI_Irecv first, or MPI_Sendrecv."
            )
        if kinds == {"receiver"}:
            return (
                "A send of a large message returns when its receiver takes it: exchange with "
                "MPI_Sendrecv, or begin the sends or the receives without waiting."
            )
        if kinds == {"sender"}:
            return "One of these ranks has to send before it receives: use MPI_Sendrecv."
        if "finalize" in kinds:
            return "Look for the call that these ranks wait for: the others ended without it."
        return "Change the order of these calls so that one of the ranks can go on."
    for thread in stuck.stuck:
        for rank in thread.ranks:
            there = by_rank.get(rank)
            if rank in stuck.finished or (there is not None and there.ended):
                return (
                    f"Rank {rank} ended while rank {thread.rank} needed it in "
                    f"{thread.routine}: have it take part, or do without it there."
                )
            if there is not None and not there.routine and stuck.stood_still:
                return (
                    f"See what rank {rank} does outside of MPI: a debugger (gdb -p) or py-spy "
                    "shows the line while it runs; a rank without processor time is stopped, "
                    "or waits for a file, a lock or a pipe that nobody reads."
                )
    return "Look for the call that these ranks wait for: no rank had made it."


def _cure_of_death(thread: Stuck) -> str:
    who = f"rank {thread.rank}"
    if thread.died == died_of(signal.SIGKILL):
        return _KILLED.format(who)
    if thread.died == died_of(signal.SIGTERM) and not thread.through:
        return (
            f"The network has no part in it: somebody told {who} to end, such as a time limit of "
            "its own (timeout) or a batch system."
        )
    if "signal" in thread.died:
        return (
            f"The network has no part in it: run {who} in a debugger, or look at its core "
            "(ulimit -c unlimited, then gdb PROGRAM CORE)."
        )
    if thread.died:
        error = thread.died.rpartition(" ")[2]
        return _CURES.get(error, f"Correct what {who} gives to this call.")
    if thread.ended == ABORTED:
        return f"See why {who} calls MPI_Abort."
    return f"See why {who} ends before MPI_Finalize: it returns from main, or calls exit()."
