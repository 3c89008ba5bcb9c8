"""Emulated hosts as a place where a measurement runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from contend.emulate.network import Network
from contend.fabric import Fabric
from contend.mpi import Ended, Launch, this_machine
from contend.units import format_bandwidth, format_bytes


class Ranks(Protocol):
    """Whatever says how many ranks there are."""

    @property
    def ranks(self) -> int: ...  # noqa: D102


class EmulatedHosts:
    """The hosts of a network that is up, in an order.

    Args:
        network: up.
        order: the fabric's hosts in the order in which ranks fill them; None for all in their own.
        ranks_per_host: that each takes, where nobody says otherwise.

    Attributes:
        name: ``emulated:`` and the fabric's name.
        slots: names of the hosts, and ranks that each takes.
        launcher: "": the library's own is used.
        alone: False: there are several hosts, if on one machine.
    """

    launcher = ""
    alone = False

    def __init__(
        self, network: Network, order: Sequence[int] | None = None, ranks_per_host: int = 1
    ) -> None:
        self._network = network
        self._before = network.counters()
        names = network.hosts if order is None else network.labels_of(order)
        self.name = f"emulated:{network.fabric.name}"
        self.slots: Sequence[tuple[str, int | None]] = [(name, ranks_per_host) for name in names]

    @property
    def fabric(self) -> Fabric:
        """What is emulated."""
        return self._network.fabric

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know of figures from here."""
        return self._network.remarks

    @property
    def described(self) -> str:
        """Fabric and cables for people: what decides figures here beside the program."""
        settings = self._network.settings
        rate, buffer = format_bandwidth(settings.rate), format_bytes(settings.buffer)
        return f"{self.name} ({rate} a cable, buffers of {buffer})"

    @property
    def wire(self) -> float:
        """Bytes per second of every cable each way."""
        return self._network.settings.rate

    def numbers_of(self, names: Sequence[str]) -> list[int]:
        """Numbers in the fabric of hosts by their names here."""
        number = dict(zip(self._network.hosts, self._network.numbers, strict=True))
        return [number[name] for name in names]

    def memory(self, shape: Ranks) -> tuple[int, int] | None:
        """All ranks share this machine's free memory."""
        free = this_machine().memory
        return None if free is None else (shape.ranks, free)

    def launch(
        self,
        request: Launch,
        program: Path,
        arguments: Sequence[str],
        *,
        limit: float,
        watch: Callable[[], None],
    ) -> Ended:
        """Starts ranks on the emulated hosts."""
        return self._network.launch(request, program, arguments, limit=limit, watch=watch)

    def counters(self) -> dict[str, Any]:
        """What crossed every channel since this place was made."""
        return (self._network.counters() - self._before).json(self._network.fabric)
