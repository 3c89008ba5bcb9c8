"""An emulated fabric: brought up, and launches on its hosts while it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ArgumentError, UsageError
from contend.base.units import format_bytes, format_link_speed, format_seconds
from contend.fabric import Fabric
from contend.lab.emulation import headroom, kernel, programs
from contend.lab.emulation.claims import claim, end_inside, remove_left, state_folder
from contend.lab.emulation.headroom import Headroom
from contend.lab.emulation.layout import Layout, lay_out
from contend.lab.emulation.programs import Scripts, compiled_connect, compiled_nap
from contend.lab.emulation.settings import RTO_MIN, SMALLEST_RATE, Settings
from contend.lab.emulation.spaces import Spaces, seeds_hashes
from contend.lab.emulation.traffic import Traffic
from contend.lab.mpi import Launch, Library, launch_environment, share_out

_Result = TypeVar("_Result")

_USUAL = Settings()
_OPEN_MPI = "Open MPI"
_PRELOAD = "LD_PRELOAD"
_TCP = (
    "ipv4.tcp_congestion_control",
    "ipv4.tcp_early_retrans",
    "ipv4.tcp_limit_output_bytes",
    "ipv4.tcp_no_metrics_save",
    "ipv4.tcp_recovery",
    "ipv4.tcp_reordering",
    "ipv4.tcp_rmem",
    "ipv4.tcp_sack",
    "ipv4.tcp_slow_start_after_idle",
    "ipv4.tcp_wmem",
)
_ONE_HASH = (
    "this kernel hashes alike at all switches (before Linux 6.11): choices of one connection along "
    "its way are not independent, as they are in the simulation"
)


class Network:
    """A fabric of network namespaces; `bring_up` makes one."""

    def __init__(
        self, layout: Layout, spaces: Spaces, scripts: Scripts, settings: Settings
    ) -> None:
        self.fabric: Fabric = layout.fabric
        """Fabric that it emulates."""
        self.settings = settings
        """Settings of its cables, with the rate that this machine carries."""
        self.headroom: Headroom | None = None
        """What this machine carries; None if that was not checked."""
        self.hosts: tuple[str, ...] = tuple(node.label for node in layout.host_nodes)
        """Names of its hosts as launchers know them, in the fabric's order."""
        self._layout = layout
        self._spaces = spaces
        self._scripts = scripts

    @property
    def switches(self) -> int:
        """How many switches there are."""
        return len(self._layout.nodes) - len(self.hosts)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know of figures from here."""
        remarks = []
        if self.headroom is not None and self.headroom.lowered:
            remarks.append(self.headroom.lowering())
        if self._layout.each_hashes and not seeds_hashes():
            remarks.append(_ONE_HASH)
        if (flows := self._layout.flows) > 1:
            remarks.append(
                f"ranks of Open MPI that contend starts have {flows} connections for each pair, as "
                "the routes ask; all other programs have as many as they open"
            )
        return tuple(remarks)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the hosts in the fabric, in the order of `hosts`."""
        return self._layout.hosts

    @property
    def rates(self) -> NDArray[np.float64]:
        """Bytes per second of every channel of the fabric on the wire, shape [channels]."""
        return self.settings.rate * self._layout.parts

    @property
    def cables(self) -> str:
        """What cables carry and hold, in words, and for how long hosts wait after a drop."""
        settings = self.settings
        words = f"{format_link_speed(settings.rate)} per "
        if self._layout.alike:
            words += "cable"
        else:
            slowest = format_link_speed(settings.rate * self._layout.slowest)
            words += (
                "port of the fastest hosts, other cables in proportion to their rates, "
                f"{slowest} the slowest"
            )
        words += f", buffers of {format_bytes(settings.buffer)}"
        if settings.host_queue is not None:
            words += f" in switches and {format_bytes(settings.host_queue)} in hosts"
        if settings.rto_min != RTO_MIN:
            words += f", time-outs of at least {format_seconds(settings.rto_min)}"
        return words

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses of the hosts on the fabric, in the order of `hosts`."""
        return tuple(node.address for node in self._layout.host_nodes)

    def counters(self) -> Traffic:
        """What every channel has sent so far; the difference of two is what was sent between."""
        return self._spaces.count()

    @property
    def piece(self) -> int:
        """Packets that cross cables as one piece at most; what finds a queue full is a piece."""
        return self._spaces.piece(self.settings)

    @property
    def tcp(self) -> dict[str, str]:
        """What decides how hosts send, as the kernel's settings of the first host."""
        told = self.within(self.hosts[0], lambda: {name: kernel.setting(name) for name in _TCP})
        return {name: value for name, value in told.items() if value is not None}

    def within(self, host: str, work: Callable[[], _Result]) -> _Result:
        """Does work in the network of a host; sockets that it opens stay there."""
        return self._spaces.within(self.hosts.index(host), work)

    def labels_of(self, hosts: Sequence[int]) -> list[str]:
        """Names of the fabric's hosts as launchers know them.

        Raises:
            UsageError: for a host that is not emulated.
        """
        label = {node.number: node.label for node in self._layout.host_nodes}
        for host in hosts:
            if host not in label:
                raise UsageError(f'host "{self.fabric.host_name[host]}" is not emulated')
        return [label[host] for host in hosts]

    def environment(self) -> dict[str, str]:
        """The environment in which a launcher of any MPI library starts ranks on these hosts.

        What this process's own says of MPI libraries stays.
        """
        scripts = self._scripts
        return {
            **launch_environment({}),
            **programs.open_mpi(scripts),
            "OMPI_MCA_orte_default_hostfile": str(scripts.host_file),
            "PRTE_MCA_prte_default_hostfile": str(scripts.host_file),
            **programs.mpich(scripts.agent),
            "HYDRA_HOST_FILE": str(scripts.host_file),
            **os.environ,
            "CONTEND_HOSTS": str(scripts.host_file),
            "CONTEND_AGENT": str(scripts.agent),
            "PATH": f"{scripts.programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }

    def inside(self, command: Sequence[str]) -> list[str]:
        """A command that becomes another one on the management side."""
        return self._scripts.inside(list(command))

    def on_hosts(self, request: Launch, order: Sequence[int] | None = None) -> Launch:
        """A launch as it is started here.

        Args:
            request: ranks and library; hosts only if they are these, by the names in `hosts`.
            order: the fabric's hosts in the order in which ranks fill them; None for all in their
                own order.

        Raises:
            UsageError: for hosts that are not here, or ranks that do not fit them.
        """
        hosts = request.hosts
        if not hosts:
            names = self.hosts if order is None else self.labels_of(order)
            each = request.ranks_per_host or -(-request.ranks // len(names))
            hosts = share_out([(name, each) for name in names], request.ranks, None)
        for host in hosts:
            if host.name not in self.hosts:
                raise UsageError(f"this emulated fabric has no host {host.name}")
        library = request.library
        return replace(
            request,
            library=replace(library, launcher=str(self._scripts.launcher(library.launcher))),
            hosts=hosts,
            ranks_per_host=None,
            environment=_joined(self._settings_of(library), request),
            # There are more ranks than processors, and the kernel's own work between them.
            bind=False,
        )

    def _settings_of(self, library: Library) -> dict[str, str]:
        flows = self._layout.flows
        if library.name == _OPEN_MPI:
            settings = programs.open_mpi(self._scripts)
            if flows == 1:
                return settings
            connect = compiled_connect(library, flows)
            return {**settings, **programs.several_connections(flows), _PRELOAD: str(connect)}
        if flows > 1:
            raise UsageError(
                f"{library.name} has one connection for a pair of ranks, and these routes need "
                f"{flows}: choose an Open MPI with --mpi"
            )
        settings = programs.mpich(self._scripts.agent)
        nap = compiled_nap(library)
        return settings if nap is None else {**settings, _PRELOAD: str(nap)}


@contextmanager
def bring_up(
    fabric: Fabric,
    rate: float = _USUAL.rate,
    buffer: int = _USUAL.buffer,
    *,
    burst: int = _USUAL.burst,
    rto_min: float = _USUAL.rto_min,
    host_queue: int | None = None,
    hosts: Sequence[int] | None = None,
    check: bool = True,
    lower: bool = True,
) -> Iterator[Network]:
    """A fabric as network namespaces of this machine, as long as the context lasts.

    Leftovers of owners that are dead are removed first. At the end, whatever it is, all processes
    in the namespaces are ended and nothing stays.

    Args:
        fabric: with routes.
        rate: of the fastest host's port in each direction, in bytes per second; cables of other
            rates have it in proportion.
        buffer: bytes that wait for a switch's channel before it drops packets.
        burst: bytes that may leave at once after a pause.
        rto_min: seconds of the shortest time-out of TCP.
        host_queue: bytes that wait at a host's port before it drops packets; None for the 1,000
            packets of a Linux host.
        hosts: only these hosts of the fabric, and what their routes use; None for all.
        check: whether to find out what this machine carries.
        lower: lowers the rate to that; False refuses instead.

    Raises:
        UsageError: a fabric or settings that cannot be emulated.
        MissingError: rights or parts of the kernel that are not there, or a machine that would be
            the bottleneck.
    """
    settings = Settings(rate, buffer, burst, rto_min, host_queue)
    layout = lay_out(fabric, hosts)
    if rate * layout.slowest < SMALLEST_RATE:
        raise ArgumentError(
            "rate",
            "expected at least 1 Mbit/s on the slowest cable, which carries "
            f"{100 * layout.slowest:.3g} % of the fastest port: {format_link_speed(rate)} is too "
            "low",
        )
    root = state_folder()
    remove_left(root)
    claimed = claim(root)
    spaces = Spaces(layout, claimed.mark)
    try:
        spaces.build(settings)
        scripts = Scripts(claimed.path)
        scripts.write(spaces)
        network = Network(layout, spaces, scripts, settings)
        if check:
            network.settings, network.headroom = headroom.fit(spaces, settings, lower=lower)
        yield network
    finally:
        if spaces.nodes:
            end_inside(claimed.mark)
        spaces.close()
        claimed.remove()


def _joined(settings: Mapping[str, str], request: Launch) -> dict[str, str]:
    """What is set for a launch: its own variables count, and all libraries are preloaded."""
    joined = {**settings, **request.environment}
    if _PRELOAD in joined:
        preloaded = (request.variables().get(_PRELOAD), settings.get(_PRELOAD))
        joined[_PRELOAD] = ":".join(filter(None, preloaded))
    return joined
