"""A pattern's ranks on a placement's hosts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric import Fabric
from contend.pattern import Pattern
from contend.pattern import parse as parse_pattern
from contend.placement import Placement
from contend.placement import parse as parse_placement


@dataclass(frozen=True, eq=False)
class Seating:
    """A placement in the core's terms: the hosts that take part, and the slots among them."""

    hosts: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    ranks_per_slot: int
    random: bool


def choose(
    fabric: Fabric,
    pattern: str | Pattern,
    placement: str | Placement,
    hosts: str | None,
    ranks_per_host: int,
    ranks: int | None,
) -> tuple[Pattern, Placement]:
    """A pattern and a placement that fit together; see `contend.simulate` for the arguments.

    Raises:
        UsageError: when they do not.
    """
    if isinstance(placement, str):
        wanted = pattern.ranks if ranks is None and isinstance(pattern, Pattern) else ranks
        placement = parse_placement(
            placement, fabric, ranks_per_host=ranks_per_host, hosts=hosts, ranks=wanted
        )
    elif hosts is not None or ranks_per_host != 1:
        raise UsageError("hosts and ranks per host belong to the placement, which is made already")
    if ranks is None:
        ranks = placement.ranks
    if not 1 <= ranks <= placement.ranks:
        raise UsageError(f"between 1 and {placement.ranks} ranks on these hosts, got {ranks}")
    if isinstance(pattern, str):
        pattern = parse_pattern(pattern, ranks)
    if pattern.ranks > placement.ranks:
        raise UsageError(f"a pattern of at most {placement.ranks} ranks, got {pattern.ranks}")
    return pattern, placement


def check_seed(seed: int) -> None:
    """Refuses a number that is no seed.

    Raises:
        UsageError: it is negative or has more than 64 bits.
    """
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"a seed between 0 and 2^64 - 1, got {seed}")


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
