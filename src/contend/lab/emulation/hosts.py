"""The hosts of an emulated fabric as a place to measure, and how such a place is known again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol

import numpy as np

from contend.base.errors import ContendError
from contend.base.schema import plain
from contend.base.units import format_link_speed
from contend.fabric import Fabric, is_generator
from contend.lab.emulation.network import Network
from contend.lab.emulation.settings import HOST_PACKETS, RTO_MIN
from contend.lab.mpi import Launch, Launching, this_machine
from contend.routes import load

_LONGEST_REST = 0.25


class Ranks(Protocol):
    """Whatever says how many ranks there are."""

    @property
    def ranks(self) -> int: ...  # noqa: D102


class EmulatedHosts(Launching):
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
        asked: fabric, routes, cables and order of the hosts, as they were asked for.
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
        self.asked: dict[str, str] = _asked(network, order)

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
        return f"{self.name} ({self._network.cables})"

    @property
    def wire(self) -> float:
        """Bytes per second of the fastest host's port each way."""
        return self._network.settings.rate

    @property
    def rest(self) -> float:
        """Seconds in which every cable's burst is whole again; a quarter of a second at most."""
        slowest = float(self._network.rates.min())
        return min(self._network.settings.burst / slowest, _LONGEST_REST)

    def numbers_of(self, names: Sequence[str]) -> list[int]:
        """Numbers in the fabric of hosts by their names here."""
        number = dict(zip(self._network.hosts, self._network.numbers, strict=True))
        return [number[name] for name in names]

    def memory(self, shape: Ranks) -> tuple[int, int] | None:
        """All ranks share this machine's free memory."""
        free = this_machine().memory
        return None if free is None else (shape.ranks, free)

    def ready(self, request: Launch) -> Launch:
        """A launch as it is started on the emulated hosts."""
        return self._network.on_hosts(request)

    def counters(self) -> dict[str, Any]:
        """What crossed every channel since this was asked last, or this place was made."""
        now = self._network.counters()
        crossed, self._before = now - self._before, now
        counts: dict[str, Any] = plain(crossed.of(self._network.fabric))
        return counts


def _asked(network: Network, order: Sequence[int] | None) -> dict[str, str]:
    """What was asked for, whatever of it the machine carries."""
    fabric, settings = network.fabric, network.settings
    rate = settings.rate if network.headroom is None else network.headroom.asked
    asked = {
        **identity(fabric),
        "rate": format_link_speed(rate),
        "buffer": f"{settings.buffer} B",
        "host_queue": held(settings.host_queue),
        "burst": f"{settings.burst} B",
    }
    if settings.rto_min != RTO_MIN:
        asked["rto_min"] = f"{settings.rto_min:g} s"
    if order is not None and list(order) != sorted(network.numbers):
        asked["placement"] = ",".join(map(str, order))
    return asked


def held(host_queue: int | None) -> str:
    """What waits at a host's port at most, as `EmulatedHosts.asked` tells it."""
    return f"{HOST_PACKETS} packets" if host_queue is None else f"{host_queue} B"


def identity(fabric: Fabric) -> dict[str, str]:
    """What tells a fabric and its routes from others."""
    # Routes that are computed are told by the tables that they stand for.
    routes = fabric.routes if fabric.tables is None else fabric.tables
    return {
        "fabric": fabric.name,
        "cables": _digest(fabric),
        "routes": "" if routes is None else f"{routes.engine} {_digest(routes)}".strip(),
    }


def was_emulated(asked: Mapping[str, str], fabric: Fabric) -> bool:
    """Whether a place that was asked for (`EmulatedHosts.asked`) has this fabric and these routes.

    Names of fabric and engine do not matter.
    """
    here = identity(fabric)
    digest = here["routes"].rpartition(" ")[2]
    return asked.get("cables") == here["cables"] and (
        asked.get("routes", "").rpartition(" ")[2] == digest
    )


def emulated_fabric(asked: Mapping[str, str]) -> Fabric | None:
    """The fabric of a place that was asked for (`EmulatedHosts.asked`), made again, with routes.

    None for a fabric that came from a file, or where that gives other cables or routes.
    """
    name, engine = asked.get("fabric", ""), asked.get("routes", "").rpartition(" ")[0]
    if not name or not is_generator(name):
        return None
    try:
        fabric = load(name, route=engine or None, need_routes=True)
    except ContendError:
        return None
    return fabric if was_emulated(asked, fabric) else None


def _digest(value: Any) -> str:
    """The same for all that have the same arrays."""
    digest = hashlib.sha256()
    for column in fields(value):
        array = getattr(value, column.name)
        # No other has a part in an emulation.
        if isinstance(array, np.ndarray) and not column.name.startswith("other_"):
            digest.update(f"{column.name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]
