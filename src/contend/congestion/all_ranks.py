"""Bandwidths of what programs do most, at the rates of links: all-to-alls, shifts, rings, trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from contend.congestion.drawing import PlacementSource, arrange
from contend.congestion.gpus import GpuCollectives, gpu_collectives, rails_apart
from contend.congestion.simulation.counting import simulate
from contend.congestion.simulation.simulation import Simulation
from contend.congestion.simulation.slowest_rounds import SlowestRounds, slowest_rounds
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.pattern import shift_distances
from contend.placement import HostChoice, seats_by_server
from contend.progress import Progress, shown_progress
from contend.shown import Shown
from contend.units import parse_rate, rate_of, valued

# Of what is drawn: random placements, hashed routes.
_PRECISION = 0.01
_ALL = slice(None)
_PATTERNS = ("alltoall", "shifts", "ring", "tree", "tree:reduce")
# Messages of shifts, and flows of those that are drawn: some minutes of one core. Fewer where they
# are counted several times, for routes that are drawn, or where a round is solved as a whole.
_FOLLOWED, _DRAWN, _SOLVED = 1 << 33, 1 << 25, 1 << 24


@dataclass(frozen=True, eq=False)
class Collective:
    """An operation of all ranks, or one step of it: rounds that each wait for their slowest.

    Attributes:
        name: what it is, in words.
        pattern: the pattern that it is simulated as.
        rounds: how many it has.
        messages_of_a_host: that it sends and receives; of a tree, the one that it gets or gives.
        congestion: sum over the rounds of their largest.
        seconds_per_byte: that it takes for each byte of its messages; None where no rate is known.
        port: bytes per second of a host's port, on average; None where it is not known.
    """

    name: str
    pattern: str
    rounds: int
    messages_of_a_host: float
    congestion: float
    seconds_per_byte: float | None
    port: float | None

    def seconds(self, size: float) -> float | None:
        """How long it takes with messages of so many bytes; None where no rate is known."""
        return None if self.seconds_per_byte is None else size * self.seconds_per_byte

    @property
    def rate_Bps(self) -> float | None:
        """Bytes per second of a host; None where no rate is known."""
        if self.seconds_per_byte is None:
            return None
        return self.messages_of_a_host / self.seconds_per_byte

    @property
    def share(self) -> float:
        """The same as a share of its port, or of a link's rate where no rate is known."""
        rate = self.rate_Bps
        return (
            self.messages_of_a_host / self.congestion
            if rate is None or self.port is None
            else rate / self.port
        )


@dataclass(frozen=True, eq=False)
class Collectives(Shown, told="collectives_document"):
    """What hosts get in operations of all ranks.

    Attributes:
        fabric: with routes.
        placement: which rank runs on which host.
        ranks: how many.
        hosts: on how many hosts.
        worst_shift: the distance at which a shift takes longest; 0 without operations.
        shifts: distances that were counted: all, or what takes minutes of them, evenly spread.
        operations: the all-to-all at once first; none where no cable joins the rails of servers.
        gpu: the same where ranks are GPUs, each beside an adapter; None where hosts do not share
            servers.
    """

    fabric: Fabric
    placement: str
    ranks: int
    hosts: int
    worst_shift: int
    shifts: int
    operations: tuple[Collective, ...]
    gpu: GpuCollectives | None = None


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
        rate: bytes per second of every link, or words such as ``4xNDR``; None for the fabric's own.
        equal_rates: count all links alike, whatever they carry.
        nvlink: bytes per second that a GPU sends to others of its server, or words such as
            ``450GB/s``; None: without bound.
        seed: of all random choices.
        threads: to count on.
        progress: True shows a bar; a function is told how many patterns are done, of how many.

    Raises:
        UsageError: these do not fit together, or all ranks are on one host.
    """
    pattern, placed = arrange(fabric, "shifts", placement, hosts, ranks_per_host, ranks)
    on_hosts = np.bincount(placed.host_of_rank[: pattern.ranks])
    taking_part = np.flatnonzero(on_hosts)
    if len(taking_part) < 2:
        raise UsageError("expected ranks on two hosts or more, got one host")
    inside = valued(nvlink, parse_rate)
    count = partial(
        simulate,
        precision=_PRECISION,
        seed=seed,
        threads=threads,
        spread=spread,
        rate=rate,
        equal_rates=equal_rates,
    )
    taking_turns = placed.host_of_rank[: pattern.ranks]
    first = np.sort(np.unique(taking_turns, return_index=True)[1])
    seats, left_out = seats_by_server(fabric, taking_turns[first])
    if min(seats.shape) > 1 and rails_apart(fabric, seats):
        within = gpu_collectives(fabric, seats, nvlink=inside, count=count, left_out=left_out)
        return Collectives(fabric, placed.name, pattern.ranks, len(taking_part), 0, 0, (), within)
    quickly = partial(
        slowest_rounds,
        *(fabric, _shifts(pattern.ranks, _FOLLOWED)),
        placement=placed,
        ranks=pattern.ranks,
        spread=spread,
        rate=valued(rate, parse_rate),
        equal_rates=equal_rates,
        threads=threads,
    )
    on_all = partial(count, fabric, placement=placed, ranks=pattern.ranks)
    most = _DRAWN
    if fabric.routes is not None:
        most = _SOLVED if fabric.routes.together else _DRAWN // fabric.routes.flows
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
    port = shifts.port_rate
    if port is None and by_round is not None:
        labels = [fabric.rates[label] for label in fabric.host_rate[taking_part]]
        port = float(np.mean([rate_of(label) or 0.0 for label in labels]))
    gpu = None
    if min(seats.shape) > 1:
        gpu = gpu_collectives(fabric, seats, nvlink=inside, count=count, left_out=left_out)
    sharing = int(on_hosts.max())
    all_others = float(sharing * (pattern.ranks - sharing))

    def of(name: str, pattern: str, messages: float, of_rounds: slice = _ALL) -> Collective:
        return _collective(name, found[pattern], messages, of_rounds, port)

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
            of(f"the worst shift, by {worst:,}", "shifts", 1.0, slice(longest, longest + 1)),
            of("a step of a ring", "ring", 1.0),
            of("broadcast by a binomial tree", "tree", 1.0),
            of("reduction by a binomial tree", "tree:reduce", 1.0),
        ),
        gpu=gpu,
    )


def _collective(
    name: str,
    simulation: Simulation | SlowestRounds,
    messages: float,
    rounds: slice,
    port: float | None,
) -> Collective:
    by_round = simulation.round_max_seconds_per_byte
    largest = simulation.round_max_congestion[rounds]
    return Collective(
        name=name,
        pattern=simulation.pattern,
        rounds=len(largest),
        messages_of_a_host=messages,
        congestion=float(largest.sum()),
        seconds_per_byte=None if by_round is None else float(by_round[rounds].sum()),
        port=port,
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
