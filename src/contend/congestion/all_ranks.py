"""Bandwidths of what programs do most, at the rates of links: all-to-alls, shifts, rings, trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.progress import Progress, shown_progress, step
from contend.base.schema import LeftOut, PythonOnly, Rate, Share, Shown, told
from contend.base.units import parse_rate, parse_sizes, rate_of, valued
from contend.congestion.drawing import PlacementSource, arrange, seat
from contend.congestion.gpus import GpuCollectives, Timed, gpu_collectives, rails_apart
from contend.congestion.packets.model import PacketModel
from contend.congestion.packets.slowdown import RoundsByPackets, Slowdown
from contend.congestion.processes import thread_count
from contend.congestion.rates import link_rates, rated
from contend.congestion.simulation.counting import simulate
from contend.congestion.simulation.simulation import Simulation
from contend.fabric import Fabric
from contend.routes import ONE_WAY, Ways, make_resolver
from contend.traffic.pattern import shift_distances
from contend.traffic.placement import HostChoice, Placement, seats_by_server

# Of what is drawn: random placements, hashed routes.
_PRECISION = 0.01
_ALL = slice(None)
_PATTERNS = ("alltoall", "shifts", "ring", "tree", "tree:reduce")
_WORST = "worst shift"
# Messages of shifts, and flows of those that are drawn: a minute of one core. Fewer where they are
# counted several times, for routes that are drawn, and again where a round is solved as a whole.
_FOLLOWED, _DRAWN, _SOLVED = 1 << 33, 1 << 24, 1 << 17
# Messages of shifts that are carried out by packets.
_CARRIED = 1 << 17


@dataclass(frozen=True, eq=False)
class SlowestRounds:
    """A pattern's rounds, each of which waits for its slowest message; as `Simulation` has them."""

    pattern: str
    round_max_congestion: NDArray[np.float64]
    round_max_seconds_per_byte: NDArray[np.float64] | None
    port_rate: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Collective(Timed):
    """An operation of all ranks, or one step of it: rounds that each wait for their slowest."""

    rounds: int
    """Number of rounds; each waits for its slowest message."""
    messages_of_a_host: float
    """Messages that a host sends and receives; of a tree, the one that it gets or gives."""
    congestion: PythonOnly[float]
    """Sum over the rounds of their largest."""
    port: PythonOnly[float | None]
    """Bytes per second of the slowest host's port; None where it is not known."""

    @told
    def rate_Bps(self) -> Rate | None:
        """Bytes per second that a host gets; null if the rates of links are not known."""
        if self.seconds_per_byte is None:
            return None
        return self.messages_of_a_host / self.seconds_per_byte

    @told
    def share(self) -> Share:
        """Share of the slowest host's port that a host gets; of a link's rate if none is known."""
        rate = self.rate_Bps
        return (
            self.messages_of_a_host / self.congestion
            if rate is None or self.port is None
            else rate / self.port
        )


@dataclass(frozen=True, eq=False)
class Collectives(Shown, told="collectives_document"):
    """Bandwidths of operations of all ranks, at the rates of links."""

    fabric: Fabric
    """The fabric."""
    placement: str
    """Which rank runs on which host."""
    ranks: int
    """Number of ranks."""
    hosts: int
    """Number of hosts that they run on."""
    worst_shift: int
    """Distance at which a shift takes longest; 0 without operations."""
    shifts: int
    """Number of distances that were counted; fewer than all, evenly spread, if these would take
    minutes."""
    operations: tuple[Collective, ...]
    """Operations, the all-to-all at once first; none if no cable joins the rails of servers."""
    gpu: GpuCollectives | None = None
    """What GPUs beside the adapters get; null if hosts do not share servers."""
    circle: LeftOut[Sequence[str]] = None
    """Channels whose packets wait for each other for ever in the first operation that locks up;
    empty if none does; left out without packets."""

    @told
    def engine(self) -> str:
        """What computed the routes; "" if they were read and their file does not say."""
        return "" if self.fabric.routes is None else self.fabric.routes.engine


def collectives(
    fabric: Fabric,
    *,
    placement: PlacementSource = "linear",
    hosts: HostChoice | None = None,
    ranks_per_host: int = 1,
    ranks: int | None = None,
    spread: bool = False,
    rate: float | str | None = None,
    equal_rates: bool = False,
    nvlink: float | str | None = None,
    bytes: str | int | Sequence[int] = "1M",  # noqa: A002
    packets: PacketModel | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress = False,
) -> Collectives:
    """Bandwidths of all-to-alls, shifts, a ring and binomial trees, and how long they take.

    Where servers have several adapters, also the bus bandwidths of all-reduces and all-to-alls as
    libraries for GPUs carry them out, between those hosts. Where no cable joins the rails of these
    servers, only what stays within rails.

    All that counts is what links carry: there is no latency, no overhead, and messages of a round
    start together. An all-to-all at once cannot be faster than its fullest channel; the rounds of
    all others wait for their slowest message.

    Args:
        fabric: with routes.
        placement: which rank runs on which host, as in `contend.simulate`; so are the following.
        hosts: those that take part.
        ranks_per_host: ranks that share a host.
        ranks: number of ranks; None fills the placement.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        rate: as in `contend.simulate`.
        equal_rates: count all links alike, whatever they carry.
        nvlink: bytes per second that a GPU sends to others of its server, or words such as
            ``450GB/s``; None: without bound.
        bytes: of messages whose times are told: numbers, or words such as ``64K,1M``.
        packets: how switches keep packets: the rounds are carried out with messages of the largest
            of `bytes`, too; None: they are only counted.
        seed: of all random choices.
        threads: to count on.
        progress: True shows a bar; a function is told how many patterns are done, of how many.

    Raises:
        UsageError: these do not fit together, or all ranks are on one host.
    """
    fabric, every_rate = rated(fabric, rate)
    pattern, placed = arrange(fabric, "shifts", placement, hosts, ranks_per_host, ranks)
    on_hosts = np.bincount(placed.host_of_rank[: pattern.ranks])
    taking_part = np.flatnonzero(on_hosts)
    if len(taking_part) < 2:
        raise UsageError("expected ranks on two hosts or more, got one host")
    sizes = parse_sizes(bytes)
    count = partial(
        simulate,
        precision=_PRECISION,
        seed=seed,
        threads=threads,
        spread=spread,
        rate=every_rate,
        equal_rates=equal_rates,
    )
    taking_turns = placed.host_of_rank[: pattern.ranks]
    first = np.sort(np.unique(taking_turns, return_index=True)[1])
    seats, left_out = seats_by_server(fabric, taking_turns[first])
    carry = circle = None
    if packets is not None:
        by_packets = RoundsByPackets(packets, spread, rate, equal_rates, seed)
        carry = partial(by_packets.slowdown, message_bytes=sizes[-1])
        circle = by_packets.circle
    of_gpus = partial(
        gpu_collectives,
        *(fabric, seats),
        nvlink=valued(nvlink, parse_rate),
        count=count,
        left_out=left_out,
        sizes=sizes,
        carry=carry,
    )
    if min(seats.shape) > 1 and rails_apart(fabric, seats):
        size = len(taking_part)
        return Collectives(fabric, placed.name, pattern.ranks, size, 0, 0, (), of_gpus(), circle)
    quickly = partial(
        slowest_rounds,
        *(fabric, _shifts(pattern.ranks, _FOLLOWED)),
        placement=placed,
        ranks=pattern.ranks,
        spread=spread,
        rate=every_rate,
        equal_rates=equal_rates,
        threads=threads,
    )
    on_all = partial(count, fabric, placement=placed, ranks=pattern.ranks)
    most = _DRAWN
    if fabric.routes is not None:
        most = _SOLVED if fabric.routes.ways & Ways.TOGETHER else _DRAWN // fabric.routes.flows
    found: dict[str, Simulation | SlowestRounds] = {}
    with shown_progress(progress, fabric.name, "patterns") as tell:
        for name in _PATTERNS:
            tell(len(found), len(_PATTERNS))
            if name == "shifts":
                # They are many, and nothing else counts than how long each takes.
                found[name] = quickly() or on_all(_shifts(pattern.ranks, most))
            else:
                found[name] = on_all(name)
    shifts = found["shifts"]
    by_round = shifts.round_max_seconds_per_byte
    longest = int(np.argmax(shifts.round_max_congestion if by_round is None else by_round))
    rounds = len(shifts.round_max_congestion)
    worst = int(shift_distances(pattern.ranks, rounds)[longest])
    among = "the worst shift" if rounds == pattern.ranks - 1 else f"the worst of {rounds:,} shifts"
    exchange = found["alltoall"]
    assert isinstance(exchange, Simulation)
    fastest = shifts.port_rate or rate_of(exchange.heat_unit)
    port = None if fastest is None else fastest / exchange.slowest_port
    gpu = of_gpus() if min(seats.shape) > 1 else None
    slower: dict[str, Slowdown] = {}
    if carry is not None:
        # One of several shifts stands for the others, but for the worst.
        few = {"shifts": _shifts(pattern.ranks, _CARRIED), _WORST: f"shift:{worst}"}
        for name in (*_PATTERNS, _WORST):
            slower[name] = carry(fabric, few.get(name, name), placement=placed, ranks=pattern.ranks)
    sharing = int(on_hosts.max())
    all_others = float(sharing * (pattern.ranks - sharing))

    def of(name: str, pattern: str, messages: float, of_rounds: slice = _ALL) -> Collective:
        simulation = found[pattern]
        by_round = simulation.round_max_seconds_per_byte
        largest = simulation.round_max_congestion[of_rounds]
        counted = Collective(
            name=name,
            pattern=simulation.pattern,
            seconds_per_byte=None if by_round is None else float(by_round[of_rounds].sum()),
            sizes=sizes,
            rounds=len(largest),
            messages_of_a_host=messages,
            congestion=float(largest.sum()),
            port=port,
        )
        by_queues = slower.get(pattern if of_rounds is _ALL else _WORST)
        if by_queues is None:
            return counted
        shares = {queues: counted.share / times for queues, times in by_queues.items()}
        return replace(counted, packet_shares=shares)

    by_shifts = _repeated(of("all-to-all, shift by shift", "shifts", all_others), pattern.ranks - 1)
    return Collectives(
        fabric=fabric,
        placement=placed.name,
        ranks=pattern.ranks,
        hosts=len(taking_part),
        worst_shift=worst,
        shifts=rounds,
        operations=(
            of("all-to-all, at once", "alltoall", all_others),
            by_shifts,
            _a_round_of("a shift, on average", by_shifts),
            of(f"{among}, by {worst:,}", "shifts", 1.0, slice(longest, longest + 1)),
            of("a step of a ring", "ring", 1.0),
            of("broadcast by a binomial tree", "tree", 1.0),
            of("reduction by a binomial tree", "tree:reduce", 1.0),
        ),
        gpu=gpu,
        circle=circle,
    )


def slowest_rounds(
    fabric: Fabric,
    pattern: str,
    *,
    placement: Placement,
    ranks: int,
    spread: bool = False,
    rate: float | None = None,
    equal_rates: bool = False,
    threads: int | None = None,
) -> SlowestRounds | None:
    """What `contend.simulate` tells of rounds, in less than half of its time.

    Args:
        fabric: with routes.
        pattern: of which nothing is drawn; this and what follows as in `contend.simulate`.
        placement: which rank runs on which host.
        ranks: how many.
        spread: use all addresses of hosts in turn.
        rate: bytes per second of every link.
        equal_rates: count all links alike.
        threads: to count on.

    Returns:
        None where routes or seats are drawn, or messages split.

    Raises:
        UsageError: as `contend.simulate`.
    """
    parsed, placed = arrange(fabric, pattern, placement, None, 1, ranks)
    seating = seat(parsed, placed)
    if seating.random or fabric.draws_routes:
        return None
    resolver = make_resolver(
        fabric,
        seating.hosts,
        spread=spread,
        messages=parsed.rounds * parsed.ranks,
        follows=~ONE_WAY,
    )
    if resolver.unit > 1 or resolver.splits:
        return None
    rates = link_rates(fabric, seating.hosts, rate=rate, equal=equal_rates)
    with step(f"{parsed.name} on {fabric.name}"):
        congestion, time = _core.slowest_rounds(
            resolver, parsed.core, seating.core, thread_count(threads, None), rates.by_place
        )
    return SlowestRounds(
        pattern=parsed.name,
        round_max_congestion=congestion.astype(np.float64),
        round_max_seconds_per_byte=rates.seconds_per_byte(congestion, time, fabric.cables),
        port_rate=rates.port,
    )


def _shifts(ranks: int, most: int) -> str:
    """All shifts between so many ranks, or fewer that have about so many messages."""
    count = max(most // ranks, 2)
    return "shifts" if count >= ranks - 1 else f"shifts:{count}"


def _repeated(some: Collective, rounds: int) -> Collective:
    """What so many rounds take that are like some of them."""
    times, each = rounds / some.rounds, some.seconds_per_byte
    return replace(
        some,
        rounds=rounds,
        congestion=some.congestion * times,
        seconds_per_byte=None if each is None else each * times,
    )


def _a_round_of(name: str, whole: Collective) -> Collective:
    """What a round of it takes on average."""
    each = whole.seconds_per_byte
    return replace(
        whole,
        name=name,
        rounds=1,
        messages_of_a_host=whole.messages_of_a_host / whole.rounds,
        congestion=whole.congestion / whole.rounds,
        seconds_per_byte=None if each is None else each / whole.rounds,
    )
