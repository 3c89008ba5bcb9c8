"""Bus bandwidths of collectives as libraries for GPUs carry them out, on servers of several rails.

Every server has as many GPUs as adapters, and GPU r sends by adapter r. Ranks are numbered server
by server, so that ``8 * ring`` is a step of eight rings, one on each rail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.base.schema import LeftOut, PythonOnly, Rate, Seconds, Share, Size, told
from contend.base.units import rate_of
from contend.congestion.packets.model import Queues
from contend.congestion.packets.slowdown import Slowdown
from contend.congestion.simulation.counting import simulate
from contend.congestion.simulation.simulation import Simulation
from contend.fabric import Fabric
from contend.traffic.placement import Placement

PORTS = "ports of adapters"
"""What holds a collective back where no channel between switches and no link in a server does."""
NVLINK = "NVLink"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CollectiveTime:
    """How long a collective takes."""

    bytes: Size
    """Bytes of a message; of what GPUs do, bytes as nccl-tests count them."""
    seconds: Seconds | None
    """Seconds that it takes; null if the rates of links are not known."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Timed:
    """What takes as long as its bytes say."""

    name: str
    """What it is, in words."""
    pattern: str
    """Pattern that it is simulated as; of GPUs, with ranks numbered server by server."""
    seconds_per_byte: PythonOnly[float | None]
    """Seconds for each byte; None where no rate is known."""
    sizes: PythonOnly[tuple[int, ...]] = ()
    """Bytes whose times are told."""
    packet_shares: LeftOut[dict[Queues, Share]] = None
    """What `share` is packet by packet with messages of the largest size, by kind of queues: 0 if
    packets lock up; left out without packets."""

    @told
    def times(self) -> tuple[CollectiveTime, ...]:
        """Times by size."""
        return tuple(CollectiveTime(size, self.seconds(size)) for size in self.sizes)

    def seconds(self, size: float) -> float | None:
        """How long it takes with so many bytes; None where no rate is known."""
        return None if self.seconds_per_byte is None else size * self.seconds_per_byte


@dataclass(frozen=True, eq=False, kw_only=True)
class GpuCollective(Timed):
    """A collective of GPUs, carried out in one way."""

    share: Share
    """Share of what the ports of adapters alone would allow."""
    bus_factor: PythonOnly[float]
    """Bus bandwidth over algorithm bandwidth: 2(n - 1)/n for all-reduces, else (n - 1)/n."""
    limit: str
    """What holds it back: the name of a channel, the ports of adapters, or NVLink."""

    @told
    def bus_Bps(self) -> Rate | None:
        """Bytes per second of a rank on the bus, as nccl-tests define it; null if not known."""
        return None if self.seconds_per_byte is None else self.bus_factor / self.seconds_per_byte

    @told
    def algorithm_Bps(self) -> Rate | None:
        """Bytes over seconds; null if not known."""
        return None if self.seconds_per_byte is None else 1 / self.seconds_per_byte


@dataclass(frozen=True, eq=False)
class GpuCollectives:
    """What GPUs get in collectives."""

    servers: int
    """Number of servers that take part: those with the usual number of adapters."""
    rails: int
    """Number of adapters of each."""
    nvlink_Bps: Rate | None
    """Bytes per second that a GPU sends to others of its server; null: without bound."""
    collectives: tuple[GpuCollective, ...]
    """Collectives, the rings first."""
    left_out: str = ""
    """Sentence on servers with other numbers of adapters; "" if there are none."""


@dataclass(frozen=True)
class _Way:
    """How a collective of `size` bytes uses the network and the links inside servers."""

    name: str
    """Name of the collective."""
    pattern: str
    """Pattern of its messages between servers."""
    bus_factor: float
    """Factor of bus bandwidth, see `GpuCollective`."""
    message: float
    """Bytes of each of those messages, as a share of the size."""
    inside: float
    """Bytes that a GPU sends within its server, as a share of the size."""
    in_turn: bool = False
    """Whether a GPU sends within its server before and after, not meanwhile."""


def _ways(servers: int, rails: int) -> list[_Way]:
    """The ways that libraries choose among.

    Sources: NVIDIA, nccl-tests, doc/PERFORMANCE.md, for bus bandwidth; NCCL's documentation for
    rings and trees over rails and for PXN, which gathers messages on the GPU of the target's rail.
    """
    n = servers * rails
    once, rest = (n - 1) / n, (rails - 1) / rails
    rings = f"{rails} * ring"
    ways = [
        _Way("all-reduce by rings", rings, 2 * once, 2 * once / rails, 2 * once * rest),
        _Way("all-gather or reduce-scatter by rings", rings, once, once / rails, once * rest),
        _Way(
            "all-reduce within servers, then by rings",
            rings,
            2 * once,
            2 * (servers - 1) / servers / rails,
            2 * rest,
            in_turn=True,
        ),
        _Way("all-to-all without PXN", f"alltoall:{rails},between", once, 1 / n, (rails - 1) / n),
        _Way(
            "all-to-all with PXN, within rails",
            f"{rails} * alltoall",
            once,
            1 / servers,
            rest,
        ),
    ]
    if servers > 2:
        # Each tree carries half of what its rail does, up and down.
        trees = f"{rails} * double-tree:allreduce"
        ways.insert(1, _Way("all-reduce by double trees", trees, 2 * once, 0.5 / rails, 2 * rest))
    return ways


def gpu_collectives(
    fabric: Fabric,
    seats: NDArray[np.uint32],
    *,
    nvlink: float | None = None,
    count: Callable[..., Simulation] = simulate,
    left_out: str = "",
    sizes: tuple[int, ...] = (),
    carry: Callable[..., Slowdown] | None = None,
) -> GpuCollectives:
    """What collectives get on servers of several rails.

    All that counts is what links carry, as in `contend.collectives`; messages of all rails are sent
    at once, and a collective ends with its slowest.

    Args:
        fabric: with routes.
        seats: hosts of every server by rail, shape [servers, rails], at least two of each.
        nvlink: bytes per second that a GPU sends within its server; None: without bound.
        count: simulates a pattern, as `contend.simulate` does.
        left_out: a sentence on servers that are not among them.
        sizes: bytes whose times are told.
        carry: carries a pattern out by packets, as `RoundsByPackets` does; None: nothing does.
    """
    servers, rails = seats.shape
    placed = Placement("servers", seats.ravel())
    if rails_apart(fabric, seats):
        within = _of_rails_apart(fabric, seats, nvlink, count, sizes, carry)
        return GpuCollectives(servers, rails, nvlink, within, left_out)
    found: dict[str, tuple[Simulation, Slowdown | None]] = {}
    collectives = []
    for way in _ways(servers, rails):
        if way.pattern not in found:
            found[way.pattern] = (
                count(fabric, way.pattern, placement=placed),
                carry and carry(fabric, way.pattern, placement=placed, message_bytes=sizes[-1]),
            )
        collectives.append(_judge(way, fabric, *found[way.pattern], nvlink, sizes))
    return GpuCollectives(servers, rails, nvlink, tuple(collectives), left_out)


def rails_apart(fabric: Fabric, seats: NDArray[np.uint32]) -> bool:
    """Whether no cable joins the rails of servers, though each of them hangs together.

    Args:
        fabric: whose hosts.
        seats: hosts of every server by rail, shape [servers, rails].
    """
    part = fabric.switch_part[fabric.host_switch[seats]]
    return bool((part == part[:1]).all() and (part != part[:, :1]).any())


def _of_rails_apart(
    fabric: Fabric,
    seats: NDArray[np.uint32],
    nvlink: float | None,
    count: Callable[..., Simulation],
    sizes: tuple[int, ...],
    carry: Callable[..., Slowdown] | None,
) -> tuple[GpuCollective, ...]:
    """Collectives that stay within rails, each as fast as its slowest rail.

    What is for another rail goes by NVLink of a server to the GPU there, which is all-to-alls with
    PXN (Wang et al., "Rail-only", 2023).
    """
    servers, rails = seats.shape
    on_rails = f"{rails} * "
    found: dict[str, list[tuple[Simulation, Slowdown | None]]] = {}
    collectives = []
    for way in _ways(servers, rails):
        pattern = way.pattern.removeprefix(on_rails)
        if pattern == way.pattern:
            continue
        if pattern not in found:
            placed = [Placement("servers", rail) for rail in seats.T]
            found[pattern] = [
                (
                    count(fabric, pattern, placement=one),
                    carry and carry(fabric, pattern, placement=one, message_bytes=sizes[-1]),
                )
                for one in placed
            ]
        each = (_judge(way, fabric, *one, nvlink, sizes) for one in found[pattern])
        collectives.append(max(each, key=lambda judged: judged.seconds(1) or 1 / judged.share))
    return tuple(collectives)


def _judge(
    way: _Way,
    fabric: Fabric,
    simulation: Simulation,
    slowdown: Slowdown | None,
    nvlink: float | None,
    sizes: tuple[int, ...],
) -> GpuCollective:
    between, own = np.split(simulation.channel_heat, [2 * fabric.cables])
    # Those of hosts are counted only where messages share them.
    ports = max(simulation.slowest_port, float(own.max(initial=0)))
    limit = PORTS
    if between.max(initial=0) > ports * (1 + _ROUNDING):
        limit = fabric.channel_name(int(between.argmax()))
    by_round = simulation.round_max_seconds_per_byte
    port = simulation.port_rate or rate_of(simulation.heat_unit)
    network, inside = float(simulation.round_max_congestion.sum()), 0.0
    if by_round is None or port is None:
        best = max(1.0, float(simulation.channel_load[2 * fabric.cables :].max(initial=0)))
    else:
        network = way.message * float(by_round.sum())
        inside = 0.0 if nvlink is None else way.inside / nvlink
        best = way.message * ports / port
        limit = NVLINK if inside > network else limit

    def takes(slower: float = 1.0) -> float:
        return network * slower + inside if way.in_turn else max(network * slower, inside)

    return GpuCollective(
        name=way.name,
        pattern=way.pattern,
        seconds_per_byte=None if by_round is None or port is None else takes(),
        sizes=sizes,
        share=best / takes(),
        packet_shares=None
        if slowdown is None
        else {queues: best / takes(times) for queues, times in slowdown.items()},
        bus_factor=way.bus_factor,
        limit=limit,
    )
