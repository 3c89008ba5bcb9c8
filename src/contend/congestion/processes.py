"""Work shared out over processes: the MPI world, failures known to all, and the threads."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

from contend import _core
from contend.base.errors import ContendError, MissingError, UsageError

# How the launchers of Open MPI, MPICH and its relatives, and Slurm tell a process of its world.
_WORLD_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")
# More threads than cores gain nothing, and tens of thousands are more than the runtime survives.
_MOST_THREADS_PER_CORE = 4

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


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


class SimulationInterrupted(KeyboardInterrupt, Generic[_Result]):
    """A simulation was interrupted; `simulation` holds what had been done by then."""

    def __init__(self, simulation: _Result) -> None:
        super().__init__()
        self.simulation = simulation


class OtherProcessError(ContendError):
    """Another MPI process failed, so this one ends too; the other one tells what happened."""

    def __init__(self, rank: int, status: int, parts: tuple[object, ...]) -> None:
        super().__init__(f"MPI process {rank} failed: ", *parts)
        self.status = status


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
        # Only a process with a world loads an MPI library.
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingError(
            f"started as one of {expected} MPI processes, but mpi4py cannot be used "
            f"({' '.join(str(error).split())[:200]}): pip install 'contend[mpi]'"
        ) from None
    world: Communicator = MPI.COMM_WORLD
    if world.size != expected:
        raise MissingError(
            f"the launcher started {expected} processes, but mpi4py sees {world.size}: mpi4py "
            "belongs to another MPI library than the launcher"
        )
    return world


def gather(communicator: Communicator | None, work: Callable[[], _Result]) -> list[_Result]:
    """What `work` returns in every process, in the order of ranks; alone, a list of one.

    A failure in one process ends all of them, where an ``allgather`` alone would leave the others
    waiting for ever.

    Raises:
        OtherProcessError: in all processes but the first that failed, which raises its own error.
    """
    if communicator is None:
        return [work()]
    error: Exception | None = None
    message: tuple[_Result | None, tuple[int, tuple[object, ...]] | None]
    try:
        try:
            message = (work(), None)
        except Exception as caught:  # Whatever it is, the others must hear of it.
            error = caught
            parts = caught.parts if isinstance(caught, ContendError) else (str(caught),)
            message = (None, (_exit_status(caught), parts))
        messages = communicator.allgather(message)
    except BaseException:
        # Interrupted or without a connection, nothing can be told to the others any more.
        end_all(communicator)
        raise
    failures = [(rank, failure) for rank, (_, failure) in enumerate(messages) if failure]
    if failures:
        rank, (status, parts) = failures[0]
        if error is not None and rank == communicator.rank:
            raise error
        raise OtherProcessError(rank, status, parts) from None
    return [result for result, _ in messages]


def end_all(communicator: Communicator | None) -> None:
    """Ends all other processes too, where a communicator can do so."""
    if abort := getattr(communicator, "Abort", None):
        abort(1)


def agree(communicator: Communicator | None, work: Callable[[], _Result]) -> _Result:
    """What `work` returns here, once it is known that it succeeded in every process.

    Raises:
        OtherProcessError: as in `gather`.
    """
    results: list[_Result] = []
    gather(communicator, lambda: results.append(work()))
    return results[0]


def _exit_status(error: Exception) -> int:
    if isinstance(error, ContendError):
        return error.status
    return 3 if isinstance(error, MemoryError) else 2 if isinstance(error, OSError) else 70


def thread_count(
    threads: int | None,
    communicator: Communicator | None = None,
    environment: Mapping[str, str] = os.environ,
) -> int:
    """How many threads this process counts on.

    Args:
        threads: asked for, for each process; None: the cores that this process may use, shared with
            the other processes that may use them too, and not more than ``OMP_NUM_THREADS``.
        communicator: the processes that count together.
        environment: for ``OMP_NUM_THREADS``.

    Returns:
        At most four for each core of the machine, whatever was asked for.

    Raises:
        UsageError: less than one was asked for.
    """
    if threads is not None:
        if threads < 1:
            raise UsageError(f"expected at least 1 thread, got {threads}")
        return min(threads, _MOST_THREADS_PER_CORE * (os.cpu_count() or 1))
    everybody = gather(communicator, lambda: (platform.node(), os.sched_getaffinity(0)))
    node, cores = everybody[communicator.rank if communicator else 0]
    # A launcher may have given each process cores of its own.
    sharing = sum(there == node and bool(theirs & cores) for there, theirs in everybody)
    share = max(len(cores) // sharing, 1)
    # Beyond nine digits it is no bound anyway.
    text = environment.get("OMP_NUM_THREADS", "")[:9]
    return min(share, int(text)) if text.isdecimal() and int(text) > 0 else share


def part_of(first: int, size: int, communicator: Communicator | None) -> tuple[int, int]:
    """The part of `size` things from number `first` on that this process does: begin and end."""
    processes, rank = (communicator.size, communicator.rank) if communicator else (1, 0)
    return first + size * rank // processes, first + size * (rank + 1) // processes


class Workers:
    """Threads that work in the core, here and in the other processes of a communicator."""

    def __init__(self, pool: Executor, communicator: Communicator | None) -> None:
        self._pool = pool
        self._communicator = communicator

    def map(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """What `work` makes of every item, in their order, in every process the same.

        Alone, as soon as each is done. With others, when all are: neighbours are done by one
        process, as they often share what is looked up once.

        Raises:
            OtherProcessError: as in `gather`.
        """
        if self._communicator is None:
            yield from self._pool.map(work, items)
            return
        everything = list(items)
        begin, end = part_of(0, len(everything), self._communicator)
        mine = everything[begin:end]
        for done in gather(self._communicator, lambda: list(self._pool.map(work, mine))):
            yield from done


@contextmanager
def core_threads(
    threads: int | None, communicator: Communicator | None = None
) -> Iterator[Workers]:
    """Threads that work in the core; None: as many as there are cores for this process.

    An interrupt reaches the main thread alone. What ends the block ends the threads too, in the
    middle of what they do.
    """
    stop = _core.Stop()
    with ThreadPoolExecutor(thread_count(threads, communicator), initializer=stop.heed) as pool:
        try:
            yield Workers(pool, communicator)
        except BaseException as error:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            if not isinstance(error, Exception):
                end_all(communicator)
            raise
