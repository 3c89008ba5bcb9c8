"""What the slowest message of every round meets, where nothing is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.drawing import arrange, seat
from contend.congestion.processes import thread_count
from contend.congestion.rates import link_rates
from contend.fabric import Fabric
from contend.placement import Placement
from contend.progress import step
from contend.routes import make_resolver


@dataclass(frozen=True, eq=False)
class SlowestRounds:
    """A pattern's rounds, each of which waits for its slowest message; as `Simulation` has them."""

    pattern: str
    round_max_congestion: NDArray[np.float64]
    round_max_seconds_per_byte: NDArray[np.float64] | None
    port_rate: float | None


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
        draws=True,
        several=True,
        together=True,
        solved=True,
    )
    if resolver.unit > 1 or resolver.splits:
        return None
    rates = link_rates(fabric, seating.hosts, rate=rate, equal=equal_rates)
    with step(f"{parsed.name} on {fabric.name}"):
        congestion, time = _core.slowest_rounds(
            *(resolver, parsed.core, seating.slots, seating.ranks_per_slot),
            *(thread_count(threads, None), rates.by_place),
        )
    return SlowestRounds(
        pattern=parsed.name,
        round_max_congestion=congestion.astype(np.float64),
        round_max_seconds_per_byte=rates.seconds_per_byte(congestion, time, fabric.cables),
        port_rate=rates.port,
    )
