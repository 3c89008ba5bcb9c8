"""The hosts of an emulated fabric as a place to measure, and for a command of one's own."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Protocol, TextIO

import numpy as np

from contend.base.errors import ContendError, UsageError
from contend.base.process import run_foreground
from contend.base.schema import PythonOnly, Shown, plain
from contend.base.units import format_link_speed, parse_rate, parse_seconds, parse_size, valued
from contend.fabric import Fabric, FabricSize, is_generator
from contend.lab.emulation.headroom import Headroom
from contend.lab.emulation.network import Network, bring_up
from contend.lab.emulation.settings import HOST_PACKETS, RTO_MIN, Settings
from contend.lab.emulation.traffic import CountedTraffic
from contend.lab.mpi import Launch, Launching, launch_folder, prepare, select, this_machine
from contend.routes import load
from contend.traffic.placement import parse

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
    """

    launcher = ""
    """Always "": the library's own is used."""
    alone = False
    """Always False: there are several hosts, if on one machine."""

    def __init__(
        self, network: Network, order: Sequence[int] | None = None, ranks_per_host: int = 1
    ) -> None:
        self._network = network
        self._before = network.counters()
        names = network.hosts if order is None else network.labels_of(order)
        self.name = f"emulated:{network.fabric.name}"
        self.slots: Sequence[tuple[str, int | None]] = [(name, ranks_per_host) for name in names]
        """Names of the hosts, and ranks that each takes."""
        self.asked: dict[str, str] = _asked(network, order)
        """Fabric, routes, cables and order of the hosts, as they were asked for."""

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


@dataclass(frozen=True)
class EmulatedHost:
    """A host that was up."""

    name: str
    """Name in the fabric."""
    label: str
    """Name by which programs reach it."""
    address: str
    """IP address."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Emulation(Shown, told="emulation_document"):
    """A command that ran on an emulated fabric; rates are bytes per second."""

    network: PythonOnly[Network]
    """What was up; nothing can be started in it any more."""
    fabric: FabricSize
    """Size of what was emulated."""
    engine: str
    """Engine that computed the routes."""
    settings: Settings
    """Rate, queues and burst of every cable, and the hosts' shortest time-out."""
    piece: int
    """Most packets that cross cables as one piece; a drop is that of a piece."""
    tcp: dict[str, str]
    """What decided how hosts send, by the kernel's names of it."""
    headroom: Headroom | None
    """What the machine carries; null if that was not checked."""
    hosts: tuple[EmulatedHost, ...]
    """Hosts in their order."""
    command: tuple[str, ...]
    """Command that ran."""
    status: int
    """Exit status of the command."""
    traffic: CountedTraffic
    """What it sent."""


def emulate(
    fabric: Fabric,
    command: str | Sequence[str],
    *,
    rate: float | str | None = None,
    buffer: int | str | None = None,
    burst: int | str | None = None,
    rto_min: float | str | None = None,
    host_queue: int | str | None = None,
    hosts: str | None = None,
    placement: str = "linear",
    ranks: int | None = None,
    ranks_per_host: int | None = None,
    mpi: str | None = None,
    keep_rate: bool = False,
    unchecked: bool = False,
    output: TextIO | None = None,
    up: Callable[[Network], None] = lambda network: None,
) -> Emulation:
    """Runs a command inside a fabric of network namespaces, as ``contend emulate`` does.

    Needs root. The command has the terminal's input and output.

    Args:
        fabric: with routes.
        command: words, or a line; with `ranks` an MPI program.
        rate: of the fastest host's port: bytes per second, or a rate such as ``100Mbit``; None for
            100 Mbit/s.
        buffer: bytes that wait for a switch's channel before it drops packets, or a size; None for
            200 kB.
        burst: bytes that a channel may send at once after a pause, or a size; None for 16 KiB.
        rto_min: seconds of the shortest time-out of TCP, or a time; None for 200 ms.
        host_queue: bytes that wait at a host's port before it drops packets, or a size; None for
            the 1,000 packets of a Linux host.
        hosts: only these, and what their routes use: names, patterns, or numbers; None for all.
        placement: the order in which ranks fill hosts, such as ``linear`` or ``file:PATH``.
        ranks: that are started, each on a host; None where the command starts its own.
        ranks_per_host: ranks on every host.
        mpi: the MPI library that starts them; see `contend.measure`.
        keep_rate: fails if this machine carries less than the rate, instead of lowering it.
        unchecked: skips the test of what this machine carries.
        output: where the command's standard output goes; None for where it would go anyway.
        up: is told when the network is up.

    Returns:
        The command's exit status, and what crossed every channel.

    Raises:
        UsageError: for what does not fit together, or cannot be emulated.
        MissingError: rights, parts of the kernel, or an MPI library that are not there.
    """
    words = tuple(shlex.split(command) if isinstance(command, str) else command)
    if not words:
        raise UsageError("expected a command, got none")
    if not words[0]:
        raise UsageError("the command after -- is empty")
    if ranks is None and (ranks_per_host is not None or mpi is not None):
        raise UsageError("--ranks-per-host and --mpi need -n")
    order = order_of(fabric, placement, hosts)
    given: dict[str, Any] = {
        "rate": valued(rate, parse_rate),
        "buffer": valued(buffer, parse_size),
        "burst": valued(burst, parse_size),
        "rto_min": valued(rto_min, parse_seconds),
        "host_queue": valued(host_queue, parse_size),
    }
    with bring_up(
        fabric,
        **{name: value for name, value in given.items() if value is not None},
        hosts=None if hosts is None else sorted(order),
        check=not unchecked,
        lower=not keep_rate,
    ) as network:
        up(network)
        before = network.counters()
        with _ready(network, words, ranks, ranks_per_host, mpi, order) as (line, environment):
            status = run_foreground(line, environment, output=output)
        fabric = network.fabric
        traffic = (network.counters() - before).of(fabric)
        names = (fabric.host_name[host] for host in network.numbers)
        each = zip(names, network.hosts, network.addresses, strict=True)
        return Emulation(
            network=network,
            fabric=FabricSize(
                fabric.name, len(network.hosts), network.switches, len(traffic.channels)
            ),
            engine="" if fabric.routes is None else fabric.routes.engine,
            settings=network.settings,
            piece=network.piece,
            tcp=network.tcp,
            headroom=network.headroom,
            hosts=tuple(EmulatedHost(*host) for host in each),
            command=words,
            status=status,
            traffic=traffic,
        )


def order_of(fabric: Fabric, placement: str = "linear", hosts: str | None = None) -> list[int]:
    """The chosen hosts of a fabric in the order in which ranks fill them.

    Raises:
        UsageError: a placement that is drawn.
    """
    placed = parse(placement, fabric, hosts=hosts)
    if placed.random:
        raise UsageError(
            "--placement random: ranks need one placement here, such as linear or file:PATH"
        )
    return list(dict.fromkeys(placed.hosts.tolist()))


@contextmanager
def _ready(
    network: Network,
    words: Sequence[str],
    ranks: int | None,
    ranks_per_host: int | None,
    mpi: str | None,
    order: Sequence[int],
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The command line and the environment of what is to run."""
    if ranks is None:
        yield network.inside(words), network.environment()
        return
    if shutil.which(words[0]) is None:
        raise UsageError(f"{words[0]}: no such program")
    request = Launch(select(mpi), ranks, ranks_per_host=ranks_per_host)
    with launch_folder() as folder:
        _, launched, environment = prepare(network.on_hosts(request, order), folder)
        yield [*launched, *words], environment
