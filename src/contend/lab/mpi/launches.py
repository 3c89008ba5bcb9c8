"""Launches: what to start, what each kind of launcher can do, how it ended, and its folder."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from contend.base.errors import UsageError
from contend.base.process import Finished, is_in_use, left_folders, scratch_folder
from contend.lab.mpi.hosts import HostRanks, HostResources, is_local, this_machine
from contend.lab.mpi.search import Library

# Set within a job of a batch system, whose hosts launchers then use.
_BATCH_JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE")
# What ends a rank whose program has a reason: one line of the program's own.
_OWN_WORDS = re.compile(r"(?:^|[\]>] ?)contend-[a-z]+: (.+)$", re.MULTILINE)
_TAIL = 40


@dataclass(frozen=True)
class Launch:
    """Ranks of one program, where they go and by which launcher."""

    library: Library
    """MPI library that the program is built with."""
    ranks: int
    """Ranks in all."""
    ranks_per_host: int | None = None
    """Ranks of every host where the launcher itself knows the hosts (a job of a batch system); None
    leaves it to the launcher."""
    hosts: tuple[HostRanks, ...] = ()
    """Ranks of every host, in order; empty where the launcher knows them or where all ranks run on
    this machine."""
    launcher: str = ""
    """Launcher: "" for the library's own; ``mpirun``, ``srun`` or ``sbatch``; or the beginning of a
    command line, in which ``{ranks}`` and the like may stand."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables to set on top of the library's; every rank sees them."""
    extra: tuple[str, ...] = ()
    """Words that are added to the launcher's options."""
    bind: bool | None = None
    """Whether every rank is bound to a core of its own; None: where there are enough."""
    scratch: Path | None = None
    """Folder that all hosts see, for batch systems; None for the working folder."""
    resources: HostResources | None = None
    """What each host offers; None: what this one does where the ranks are here, else unknown."""

    def __post_init__(self) -> None:
        """Refuses numbers that do not fit together.

        Raises:
            UsageError: saying which.
        """
        if self.ranks < 1:
            raise UsageError(f"expected at least 1 rank, got {self.ranks}")
        if self.ranks_per_host is not None and self.ranks_per_host < 1:
            raise UsageError(f"expected at least 1 rank per host, got {self.ranks_per_host}")
        placed = sum(host.ranks for host in self.hosts)
        if self.hosts and placed != self.ranks:
            raise UsageError(f"expected hosts for {self.ranks} ranks, got hosts for {placed}")

    @property
    def fullest(self) -> int:
        """Ranks on the host that has most of them, as far as it is known."""
        if self.hosts:
            return max(host.ranks for host in self.hosts)
        return self.ranks if self.ranks_per_host is None else min(self.ranks_per_host, self.ranks)

    @property
    def local(self) -> bool:
        """Whether all ranks are on this machine for certain."""
        if self.hosts:
            return is_local(self.hosts)
        words = self.launcher.split()
        own = not words or Path(words[0]).name.startswith(("mpirun", "mpiexec"))
        return own and not any(name in self.variables() for name in _BATCH_JOBS)

    @property
    def binds(self) -> bool:
        """Whether ranks are to be bound: one to a core, unless there are too few."""
        if self.bind is not None:
            return self.bind
        resources = self._resources()
        return resources is None or self.fullest <= resources.cores

    @property
    def crowded(self) -> bool:
        """Whether a host has more ranks than processors, so that waiting ranks must yield."""
        resources = self._resources()
        return resources is not None and self.fullest > resources.cpus

    def variables(self) -> dict[str, str]:
        """The whole environment of the launcher, before its own settings."""
        return {**self.library.environment, **self.environment}

    def _resources(self) -> HostResources | None:
        if self.resources is None and self.local:
            return this_machine()
        return self.resources


@dataclass(frozen=True)
class Death:
    """A rank that a signal ended, as far as the launcher tells."""

    signal: int
    """Number of the signal."""
    rank: int | None = None
    """Number of the rank; None when the launcher does not tell."""
    pid: int = 0
    """Number of its process; 0 when the launcher does not tell."""
    host: str = ""
    """Where it ran; "" when the launcher does not tell."""
    first: bool = True
    """Whether it surely died of itself, and was not ended because another had died."""

    def __str__(self) -> str:
        who = "a rank" if self.rank is None else f"rank {self.rank}"
        process = [f"process {self.pid}"] if self.pid else []
        process += [f"on {self.host}"] if self.host else []
        where = f" ({' '.join(process)})" if process else ""
        sentence = f"{who}{where} was ended by {signal_name(self.signal)}"
        if self.signal == signal.SIGKILL:
            sentence += ", which Linux also sends when memory runs out"
        return sentence


@dataclass(frozen=True)
class Ended:
    """How a launch ended."""

    status: int | None
    """Exit status of the launcher; None when it ran out of time and was ended."""
    why: str = ""
    """One line about why it is no success; "" when it is."""
    output: str = ""
    """Last lines that launcher and ranks wrote."""
    death: Death | None = None
    """Rank that a signal ended; None when none did or the launcher does not tell."""
    waited: float = 0.0
    """Seconds that a batch system kept it waiting."""
    said: str = ""
    """The program's own line about why, without its name; "" when it said none."""
    command: tuple[str, ...] = ()
    """What was run to start the ranks, with the program and its arguments."""


def judge(
    finished: Finished, death: Death | None, command: Sequence[str], waited: float = 0.0
) -> Ended:
    """How a launch ended, by what launcher and ranks wrote."""
    everything = finished.error_text + finished.text
    own = _OWN_WORDS.search(everything)
    said = own[1].strip() if own else ""
    if death is None and not said:
        # Launchers do not always write what their status tells, in the way of shells.
        death = _by_status(finished.status)
    if finished.status == 0:
        why = ""
    elif finished.status is None:
        why = finished.why()
    elif said or death is None:
        why = said or finished.why()
    else:
        why = str(death)
    return Ended(
        status=finished.status,
        why=why,
        output="\n".join(everything.splitlines()[-_TAIL:]),
        death=None if finished.status == 0 else death,
        waited=waited,
        said=said,
        command=tuple(command),
    )


def _by_status(status: int | None) -> Death | None:
    number = (status or 0) - 128
    return Death(number) if number in signal.valid_signals() else None


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def signal_number(words: str) -> int:
    """The number of a signal that is given in words, such as ``Segmentation fault``; 0 for none."""
    for number in signal.valid_signals():
        if (signal.strsignal(number) or "").casefold() == words.strip().casefold():
            return int(number)
    return 0


@dataclass(frozen=True)
class LauncherOptions:
    """The options that a launcher gets before the program."""

    words: tuple[str, ...]
    """Options of the launcher."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that it and its ranks need."""


@dataclass(frozen=True)
class LauncherKind:
    """One kind of launcher."""

    name: str
    """Name for people."""
    options: Callable[[Launch, Path | None], LauncherOptions]
    """What makes the options of a launch and its host file (None for none)."""
    host_file: Callable[[Launch], str]
    """What writes the text of the host file that it reads; "" for none."""
    death: Callable[[str], Death | None] = lambda _: None
    """What tells which rank a signal ended, by what the launcher wrote; None when it does not
    tell."""
    waits: Callable[[str], bool] = lambda _: False
    """What tells whether a batch system keeps it waiting, by what it has written so far."""


@dataclass(frozen=True)
class Launcher:
    """A launcher of this machine: its kind, and the command line's beginning."""

    kind: LauncherKind
    command: Sequence[str]


_SHARED_MEMORY = Path("/dev/shm")
_KIND, _MEMORY = "contend-launch", "memory"
_SEGMENTS, _TICK = "mpich_shar_tmp*", 0.02


@contextmanager
def launch_folder() -> Iterator[Path]:
    """A folder for what a launch leaves on this machine, its shared memory too, while it lasts.

    A launcher or a rank that is killed removes nothing of its own.
    """
    began = remove_left()
    with ExitStack() as folders:
        folders.callback(_remove_segments, began)
        folder = folders.enter_context(scratch_folder(_KIND))
        if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK):
            memory = folders.enter_context(scratch_folder(_KIND, _SHARED_MEMORY))
            (folder / _MEMORY).symlink_to(memory)
        yield folder


def remove_left() -> float:
    """Removes what launches of contends that were killed have left.

    Returns:
        Since when it came about, in seconds of the clock that files are dated by.
    """
    began = time.time()
    for root in (Path(tempfile.gettempdir()), _SHARED_MEMORY):
        for left in left_folders(root, _KIND):
            began = min(began, left.path.stat().st_ctime)
            left.remove()
    _remove_segments(began)
    return began


def _remove_segments(since: float) -> None:
    """Removes shared memory that ranks of MPICH left as they were killed: it has one place only."""
    for segment in _SHARED_MEMORY.glob(_SEGMENTS):
        with contextlib.suppress(OSError):
            state = segment.lstat()
            # A clock tick, by which the kernel dates files, earlier.
            recent = state.st_ctime >= since - _TICK
            if recent and state.st_uid == os.geteuid() and not is_in_use(segment):
                segment.unlink()


def shared_memory_folders(scratch: Path) -> dict[str, str]:
    """Tells Open MPI 4 and 5, and UCX, where to leave what launchers and ranks of one host share.

    Args:
        scratch: of `launch_folder`, or another folder that goes.
    """
    memory = (scratch / _MEMORY).resolve() if (scratch / _MEMORY).exists() else scratch
    return {
        "OMPI_MCA_orte_tmpdir_base": str(scratch),
        "PRTE_MCA_prte_tmpdir_base": str(scratch),
        "OMPI_MCA_btl_vader_backing_directory": str(memory),
        "OMPI_MCA_btl_sm_backing_directory": str(memory),
        "UCX_POSIX_DIR": str(memory),
    }
