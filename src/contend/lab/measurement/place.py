"""Where ranks run: how many on which hosts, and the seam to machines, real or emulated."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from contend.base.errors import MissingError, UsageError
from contend.base.units import counted
from contend.fabric import Fabric
from contend.lab.mpi import (
    HostRanks,
    Launch,
    Launching,
    Library,
    Preloaded,
    launch_folder,
    library_of,
    prepare,
    select,
    share_out,
    this_machine,
)

Slots = Sequence[tuple[str, int | None]]
"""Hosts by name, and how many ranks each takes; None where nobody said."""

# Of a launch that is only looked at.
_NOBODYS = Library("", "", usable=False)
# Far above any machine: more is a typing error.
_MOST = 1 << 24


@dataclass(frozen=True)
class Shape:
    """Ranks and their places."""

    ranks: int
    """Ranks in all."""
    ranks_per_host: int | None = None
    """Ranks per host as they were asked for; None where hosts decide."""
    hosts: tuple[HostRanks, ...] = ()
    """Ranks of every host; empty where the launcher decides, or all are on this machine."""

    @property
    def fullest(self) -> int:
        """Ranks on the host that has most of them; all of them where no hosts are known."""
        return Launch(_NOBODYS, self.ranks, self.ranks_per_host, self.hosts).fullest

    def __str__(self) -> str:
        ranks = counted(self.ranks, "rank")
        if self.hosts:
            return f"{ranks} on {counted(len(self.hosts), 'host')}"
        return ranks if self.ranks_per_host is None else f"{ranks}, {self.ranks_per_host} a host"


def make_shapes(
    ranks: Sequence[int], ranks_per_host: Sequence[int], slots: Slots, *, alone: bool
) -> tuple[Shape, ...]:
    """A shape for every number of ranks and every number of ranks per host.

    Args:
        ranks: numbers of ranks.
        ranks_per_host: numbers on every host; empty leaves it to the hosts.
        slots: hosts to use; empty for those that the launcher knows.
        alone: whether without hosts all ranks are on this machine.

    Raises:
        UsageError: when some combination has no place, or two are the same.
    """
    if not ranks:
        raise UsageError("expected a number of ranks")
    for number in (*ranks, *ranks_per_host):
        if not 1 <= number <= _MOST:
            raise UsageError(f"expected 1 to {_MOST:,} ranks, got {number:,}")
    shapes = [
        _shape(count, each, slots, alone) for count in ranks for each in ranks_per_host or (None,)
    ]
    for shape in shapes:
        if shapes.count(shape) > 1:
            raise UsageError(f"{shape} is given twice")
    return tuple(shapes)


def _shape(ranks: int, ranks_per_host: int | None, slots: Slots, alone: bool) -> Shape:
    if slots:
        return Shape(ranks, ranks_per_host, share_out(slots, ranks, ranks_per_host))
    if alone and ranks_per_host is not None:
        if ranks_per_host < ranks:
            needed = -(-ranks // ranks_per_host)
            raise UsageError(
                f"{ranks} ranks with {ranks_per_host} on every host need {needed} hosts, and only "
                "this machine is known: name the hosts with --on HOSTFILE"
            )
        return Shape(ranks)
    return Shape(ranks, ranks_per_host)


class Place(Launching, Protocol):
    """Hosts, and a way to start ranks on them.

    Attributes:
        name: what it is called in the record, such as ``emulated:fig1``; "" for real hosts.
        slots: its hosts, and ranks that each takes; empty where launchers know them.
        launcher: how ranks are started there; "" for the library's own launcher.
        alone: whether all ranks are on this machine and a single host.
        remarks: what a reader must know of figures from there.
        wire: bytes per second of a host's port each way; None where it is not known.
        rest: seconds after which its network is at rest again, as each sample is to find it.
        described: for people, with all that decides figures there; "" where others describe it.
        asked: what decides figures there as it was asked for, by name; empty for real hosts, which
            their names tell.
        fabric: that the hosts are part of, with routes; None where nobody knows.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def slots(self) -> Slots: ...  # noqa: D102
    @property
    def launcher(self) -> str: ...  # noqa: D102
    @property
    def alone(self) -> bool: ...  # noqa: D102
    @property
    def remarks(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def wire(self) -> float | None: ...  # noqa: D102
    @property
    def rest(self) -> float: ...  # noqa: D102
    @property
    def described(self) -> str: ...  # noqa: D102
    @property
    def asked(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def fabric(self) -> Fabric | None: ...  # noqa: D102

    def numbers_of(self, names: Sequence[str]) -> list[int]:
        """Numbers in the fabric of hosts by the names of `slots`.

        Raises:
            UsageError: for a host that is not in the fabric.
        """
        ...

    def memory(self, shape: Shape) -> tuple[int, int] | None:
        """Ranks that share a memory at most, and its free bytes; None when it is not known."""
        ...

    def counters(self) -> dict[str, Any]:
        """What the network counted since it was asked last; empty where nothing can be told."""
        ...


@dataclass(frozen=True)
class RealHosts(Launching):
    """This machine, hosts of a host file, or those that a launcher knows."""

    slots: Slots = ()
    """Hosts of a host file."""
    launcher: str = ""
    """How ranks are started; "" for the library's own launcher."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that all ranks see."""
    free_memory: int | None = None
    """Bytes of each host where somebody said; None to look where possible."""
    name: str = ""
    """Always ""."""
    remarks: tuple[str, ...] = ()
    """Always empty."""
    wire: float | None = None
    """Always None."""
    rest: float = 0.0
    """Always 0, as what real switches store is nobody's to say."""
    described: str = ""
    """Always ""."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Always empty."""
    fabric: Fabric | None = None
    """Fabric that the hosts are part of, with routes; None where nobody said."""

    @property
    def alone(self) -> bool:
        """Whether all ranks run on this machine."""
        nobodys = replace(_NOBODYS, environment=os.environ)
        return not self.slots and Launch(nobodys, 1, launcher=self.launcher).local

    def memory(self, shape: Shape) -> tuple[int, int] | None:
        """Ranks of the fullest host; this machine's free memory where it is the host."""
        if self.free_memory is not None:
            return shape.fullest, self.free_memory
        free = this_machine().memory if self.alone else None
        return None if free is None else (shape.fullest, free)

    def ready(self, request: Launch) -> Launch:
        """A launch with this place's launcher and variables."""
        environment = {**request.environment, **self.environment}
        return replace(request, launcher=self.launcher, environment=environment)

    def numbers_of(self, names: Sequence[str]) -> list[int]:
        """Numbers of hosts in the fabric: of the one with that name, or an adapter of that server.

        Raises:
            UsageError: for a server that is not there, or has several adapters there.
        """
        if self.fabric is None:
            raise UsageError("expected a fabric of these hosts, got none")
        adapters: dict[str, list[int]] = {}
        for number, full in enumerate(self.fabric.host_name):
            for name in {full, full.split()[0]}:
                adapters.setdefault(name, []).append(number)
        for name in names:
            if len(adapters.get(name, ())) != 1:
                number = len(adapters.get(name, ()))
                raise UsageError(
                    f'host "{name}": expected one host of that name in {self.fabric.name}, got '
                    f"{number or 'none'}"
                )
        return [adapters[name][0] for name in names]

    def counters(self) -> dict[str, Any]:
        """Real networks are not asked."""
        return {}


Load = Callable[[str | None], Preloaded]
"""The command with what its ranks load first; given the library as `select` takes it, or None."""


@contextmanager
def ready_command(
    words: Sequence[str], load: Load, mpi: str | None, shape: Shape | None, place: Place | None
) -> Iterator[tuple[list[str], Mapping[str, str]]]:
    """The whole command line and environment of a program whose ranks load a library first.

    Args:
        words: the command; where `shape` is None it starts its ranks by itself.
        load: what ranks load.
        mpi: the MPI library; None: that of the command, or else the first usable one.
        shape: ranks that contend starts.
        place: where it does so; None for this machine.

    Raises:
        MissingError: no library can be told, or it is not usable.
    """
    if shape is None:
        loaded = load(mpi)
        yield list(loaded.words), {**os.environ, **loaded.variables}
        return
    library = _library(words, mpi)
    loaded = load(library.wrapper)
    # The launch itself passes variables on to all hosts.
    variables = {
        name: value for name, value in loaded.variables.items() if not name.startswith("OMPI_")
    }
    request = Launch(library, shape.ranks, shape.ranks_per_host, shape.hosts, environment=variables)
    with launch_folder() as scratch:
        _, started, environment = prepare((place or RealHosts()).ready(request), scratch)
        yield [*started, *words], environment


def _library(words: Sequence[str], mpi: str | None) -> Library:
    """The library of a program whose ranks contend starts; scripts do not tell theirs."""
    if mpi is not None:
        return select(mpi)
    try:
        return library_of(words)
    except MissingError:
        return select()
