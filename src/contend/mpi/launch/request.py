"""What is to be launched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from contend.errors import UsageError
from contend.mpi.launch.hosts import HostRanks, is_local
from contend.mpi.library import Library
from contend.mpi.machine import Machine, this_machine

# Set within a job of a batch system, whose hosts launchers then use.
_BATCH_JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE")


@dataclass(frozen=True)
class Launch:
    """Ranks of one program, where they go and by which launcher.

    Attributes:
        library: the MPI library that the program is built with.
        ranks: in all.
        ranks_per_host: ranks of every host where the launcher itself knows the hosts (a job of a
            batch system); None leaves it to the launcher.
        hosts: ranks of every host, in order; empty where the launcher knows them or where all
            ranks run on this machine.
        launcher: "" for the library's own; ``mpirun``, ``srun`` or ``sbatch``; or the beginning of
            a command line, in which ``{ranks}`` and the like may stand.
        environment: variables to set on top of the library's; every rank sees them.
        extra: words that are added to the launcher's options.
        bind: whether every rank is bound to a core of its own; None: where there are enough.
        scratch: a folder that all hosts see, for batch systems; None for the working folder.
        machine: what each host is like; None: like this one where the ranks are here, else unknown.
    """

    library: Library
    ranks: int
    ranks_per_host: int | None = None
    hosts: tuple[HostRanks, ...] = ()
    launcher: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    bind: bool | None = None
    scratch: Path | None = None
    machine: Machine | None = None

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
            raise UsageError(f"{placed} ranks have a host, expected {self.ranks}")

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
        machine = self._machine()
        return machine is None or self.fullest <= machine.cores

    @property
    def crowded(self) -> bool:
        """Whether a host has more ranks than processors, so that waiting ranks must yield."""
        machine = self._machine()
        return machine is not None and self.fullest > machine.cpus

    def variables(self) -> dict[str, str]:
        """The whole environment of the launcher, before its own settings."""
        return {**self.library.environment, **self.environment}

    def _machine(self) -> Machine | None:
        if self.machine is None and self.local:
            return this_machine()
        return self.machine
