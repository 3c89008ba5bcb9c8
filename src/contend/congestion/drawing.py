"""Ranks seated on hosts, and the very samples that a simulation counts: who sends to whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import ArgumentError, UsageError
from contend.base.files import whole_file
from contend.base.units import counted
from contend.fabric import Fabric
from contend.traffic.pattern import Pattern
from contend.traffic.pattern import parse as parse_pattern
from contend.traffic.placement import HostChoice, Placement
from contend.traffic.placement import parse as parse_placement

PatternSource = str | Pattern | NDArray[np.integer]
"""A specification, a pattern, or destinations of shape [ranks] or [rounds, ranks]."""
PlacementSource = str | Placement | Sequence[int] | Sequence[str] | NDArray[np.integer]
"""A specification, a placement, or the host of every rank by number or name."""


@dataclass(frozen=True, eq=False)
class Seating:
    """A placement in the core's terms: the hosts that take part, and the slots among them."""

    hosts: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    ranks_per_slot: int
    random: bool

    @property
    def core(self) -> _core.Seating:
        """The same in the core."""
        return _core.Seating(self.slots, self.ranks_per_slot, self.random)


def arrange(
    fabric: Fabric,
    pattern: PatternSource,
    placement: PlacementSource,
    hosts: HostChoice | None,
    ranks_per_host: int,
    ranks: int | None,
) -> tuple[Pattern, Placement]:
    """A pattern and a placement that fit together; see `contend.simulate` for the arguments.

    Raises:
        UsageError: they do not fit.
    """
    if isinstance(pattern, np.ndarray):
        pattern = Pattern.from_destinations(pattern)
    if isinstance(placement, str):
        needed = pattern.ranks if ranks is None and isinstance(pattern, Pattern) else ranks
        placement = parse_placement(
            placement, fabric, ranks_per_host=ranks_per_host, hosts=hosts, ranks=needed
        )
    elif hosts is not None or ranks_per_host != 1:
        raise UsageError(
            "the placement already says which host every rank sits on: leave out hosts and "
            "ranks_per_host"
        )
    elif not isinstance(placement, Placement):
        placement = Placement.from_hosts(fabric, placement)
    if len(placement.hosts) and int(placement.hosts.max()) >= fabric.hosts:
        raise UsageError(
            f"the placement has host {placement.hosts.max()}, but {fabric.name} has hosts "
            f"0 .. {fabric.hosts - 1}"
        )
    if ranks is None:
        ranks = placement.ranks
    if not 1 <= ranks <= placement.ranks:
        raise ArgumentError(
            "ranks", f"expected 1 to {placement.ranks}, which have a host, got {ranks}"
        )
    if isinstance(pattern, str):
        pattern = parse_pattern(pattern, ranks)
    if pattern.ranks > placement.ranks:
        raise UsageError(
            f"the pattern has {counted(pattern.ranks, 'rank')}, but these hosts have place for "
            f"{placement.ranks:,}"
        )
    return pattern, placement


def check_seed(seed: int) -> None:
    """Refuses a number that is no seed.

    Raises:
        UsageError: it is negative or has more than 64 bits.
    """
    if not 0 <= seed < 1 << 64:
        raise ArgumentError("seed", f"expected 0 to 2^64 - 1, got {seed}")


def seat(pattern: Pattern, placement: Placement) -> Seating:
    """Seats a pattern's ranks; drawing is spared where it would change nothing."""
    hosts, first, slots = np.unique(placement.hosts, return_index=True, return_inverse=True)
    # Hosts in the order in which ranks fill them: neighbouring ranks share cache lines.
    order = np.argsort(first, kind="stable")
    position = np.empty(len(order), dtype=np.uint32)
    position[order] = np.arange(len(order), dtype=np.uint32)
    # Shuffling the slots of a pattern that treats all ranks alike would change nothing, unless some
    # slots stay empty.
    full = pattern.ranks == placement.ranks
    drawn = placement.random and not (pattern.core.symmetric and full)
    return Seating(hosts[order], position[slots], placement.ranks_per_host, drawn)


def taking_part(seating: Seating, ranks: int) -> NDArray[np.uint32]:
    """Host of every slot that a rank may sit in: the first ones, unless ranks are drawn."""
    used = len(seating.slots) if seating.random else -(-ranks // seating.ranks_per_slot)
    return seating.hosts[seating.slots[:used]]


Round = tuple[NDArray[np.uint32], NDArray[np.uint32]]
"""Source and target ranks of simultaneous messages, each of shape [messages]."""


@dataclass(frozen=True, eq=False)
class DrawnPattern:
    """One sample of a pattern on a placement."""

    pattern: str
    """Specification of the pattern."""
    placement: str
    """Specification of the placement."""
    seed: int
    """Seed of the sample."""
    number: int
    """Number of the sample."""
    hosts: NDArray[np.uint32]
    """Host of every rank, shape [ranks], uint32."""
    rounds: tuple[Round, ...]
    """Messages of every round."""

    @property
    def ranks(self) -> int:
        """Number of ranks, silent ones included."""
        return len(self.hosts)

    def between_hosts(self, number: int = 0) -> Round:
        """Source and target hosts of the messages of round `number`."""
        source, target = self.rounds[number]
        return self.hosts[source], self.hosts[target]

    def destinations(self, number: int = 0) -> NDArray[np.int64]:
        """The rank that every rank sends to in round `number`, -1 where it is silent.

        Raises:
            UsageError: a rank sends or receives several messages.
        """
        source, target = self.rounds[number]
        if min(len(np.unique(source)), len(np.unique(target))) < len(source):
            raise UsageError(f"{self.pattern}: a rank sends or receives several messages at once")
        to = np.full(self.ranks, -1, dtype=np.int64)
        to[source] = target
        return to


def draw_patterns(
    fabric: Fabric,
    pattern: PatternSource = "bisect",
    *,
    placement: PlacementSource = "random",
    hosts: HostChoice | None = None,
    ranks_per_host: int = 1,
    ranks: int | None = None,
    seed: int = 1,
    first: int = 0,
    count: int = 1,
) -> Iterator[DrawnPattern]:
    """Draws what `contend.simulate` counts as samples `first`, `first` + 1, ... of a seed.

    A simulation that counts every outcome, because there are few, has no samples; drawn patterns
    are samples always.

    Args:
        fabric: on which; routes are not needed.
        pattern: as in `contend.simulate`, and so are the following.
        placement: which rank runs on which host.
        hosts: a choice among the fabric's hosts.
        ranks_per_host: ranks that share a host.
        ranks: number of ranks; None fills the placement.
        seed: of all random choices.
        first: number of the first sample.
        count: how many.

    Returns:
        The samples, drawn one after the other as they are asked for.

    Raises:
        UsageError: when fabric, pattern and placement do not fit together.
    """
    check_seed(seed)
    if not 0 <= first <= first + count <= 1 << 64:
        raise UsageError(
            f"expected samples from 0 to 2^64 - 1, got {counted(count, 'sample')} from {first}"
        )
    pattern, placement = arrange(fabric, pattern, placement, hosts, ranks_per_host, ranks)
    return _draw(pattern, placement, seed, range(first, first + count))


def _draw(
    pattern: Pattern, placement: Placement, seed: int, numbers: range
) -> Iterator[DrawnPattern]:
    seating = seat(pattern, placement)
    fixed = tuple(pattern.messages(r) for r in range(pattern.rounds)) if not pattern.random else ()
    for number in numbers:
        slots = seating.slots
        if seating.random:
            slots = _core.shuffle_slots(slots, seed, number)
        on = np.repeat(seating.hosts[slots], seating.ranks_per_slot)[: pattern.ranks]
        rounds = fixed or tuple(
            pattern.messages(r, seed=seed, sample=number) for r in range(pattern.rounds)
        )
        yield DrawnPattern(pattern.name, placement.name, seed, number, on, rounds)


def write_destinations(path: str | Path, patterns: Iterable[DrawnPattern]) -> int:
    """Writes a line for every round: the rank that each rank sends to, ``-`` where it is silent.

    The file is what ``contend-bisect --patterns`` measures. Lines that begin with ``#`` say what
    the samples were drawn from.

    Returns:
        The number of lines that hold a round.

    Raises:
        UsageError: a rank sends or receives several messages at once; the file is not written.
    """
    written = 0
    with whole_file(Path(path)) as file:
        drawn = iter(patterns)
        head = next(drawn, None)
        if head is not None:
            origin = f"{head.pattern} of {head.ranks} ranks, seed {head.seed}, from sample "
            file.write(f"# {origin}{head.number}: the rank that every rank sends to\n".encode())
        for sample in chain([] if head is None else [head], drawn):
            for number in range(len(sample.rounds)):
                words = ("-" if to < 0 else str(to) for to in sample.destinations(number).tolist())
                file.write(f"{' '.join(words)}\n".encode())
                written += 1
    return written
