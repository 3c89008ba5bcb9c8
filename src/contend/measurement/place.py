"""Where ranks run: the seam between a measurement and machines, real or emulated."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from contend.measurement.shape import Shape, Slots
from contend.mpi import Ended, Launch, Library, launch, this_machine


class Place(Protocol):
    """Hosts, and a way to start ranks on them.

    Attributes:
        name: what it is called in the record, such as ``emulated:fig1``; "" for real hosts.
        slots: its hosts, and ranks that each takes; empty where launchers know them.
        launcher: how ranks are started there; "" for the library's own launcher.
        alone: whether all ranks are on this machine and a single host.
        remarks: what a reader must know of figures from there.
        wire: bytes per second of a host's port each way; None where it is not known.
        described: for people, with all that decides figures there; "" where others describe it.
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
    def described(self) -> str: ...  # noqa: D102

    def memory(self, shape: Shape) -> tuple[int, int] | None:
        """Ranks that share a memory at most, and its free bytes; None when it is not known."""
        ...

    def launch(
        self,
        request: Launch,
        program: Path,
        arguments: Sequence[str],
        *,
        limit: float,
        watch: Callable[[], None],
    ) -> Ended:
        """Starts ranks and waits for their end, as `contend.mpi.launch` does."""
        ...

    def counters(self) -> dict[str, Any]:
        """What the network counted so far; empty where nothing can be told."""
        ...


@dataclass(frozen=True)
class RealHosts:
    """This machine, hosts of a host file, or those that a launcher knows.

    Attributes:
        slots: hosts of a host file.
        launcher: how ranks are started; "" for the library's own launcher.
        environment: variables that all ranks see.
        host_memory: free bytes of each host where somebody said; None to look where possible.
        name: "".
        remarks: none.
        wire: None.
        described: "".
    """

    slots: Slots = ()
    launcher: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    host_memory: int | None = None
    name: str = ""
    remarks: tuple[str, ...] = ()
    wire: float | None = None
    described: str = ""

    @property
    def alone(self) -> bool:
        """Whether all ranks run on this machine."""
        nobody = Library("", "", usable=False, environment=os.environ)
        return not self.slots and Launch(nobody, 1, launcher=self.launcher).local

    def memory(self, shape: Shape) -> tuple[int, int] | None:
        """Ranks of the fullest host; this machine's free memory where it is the host."""
        if self.host_memory is not None:
            return shape.fullest, self.host_memory
        free = this_machine().memory if self.alone else None
        return None if free is None else (shape.fullest, free)

    def launch(
        self,
        request: Launch,
        program: Path,
        arguments: Sequence[str],
        *,
        limit: float,
        watch: Callable[[], None],
    ) -> Ended:
        """Starts ranks with the launcher."""
        return launch(self._told(request), program, arguments, limit=limit, watch=watch)

    def counters(self) -> dict[str, Any]:
        """Real networks are not asked."""
        return {}

    def _told(self, request: Launch) -> Launch:
        environment = {**request.environment, **self.environment}
        return replace(request, launcher=self.launcher, environment=environment)
