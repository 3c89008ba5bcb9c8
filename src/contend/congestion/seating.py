"""A placement in the core's terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.pattern import Pattern
from contend.placement import Placement


@dataclass(frozen=True, eq=False)
class Seating:
    """A placement in the core's terms: the hosts that take part, and the slots among them."""

    hosts: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    ranks_per_slot: int
    random: bool


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
