"""How a workload is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.errors import UsageError

if TYPE_CHECKING:
    from contend.measurement.place import Place

DEFAULT_BUDGET = 300.0
_MOST_LAUNCHES = 10_000


@dataclass(frozen=True)
class Conditions:
    """How a workload is measured.

    Attributes:
        ranks: numbers of ranks, each measured.
        ranks_per_host: numbers on every host, each measured; empty leaves it to the hosts.
        launches: how often everything is launched.
        budget: seconds for all launches together.
        seed: of the order of launches and cells.
        labels: conditions that no program can see, such as ``{"flow control": "on"}``.
        wire: bytes per second that a host's port carries each way; None for what the place knows.
    """

    ranks: tuple[int, ...]
    ranks_per_host: tuple[int, ...] = ()
    launches: int = 1
    budget: float = DEFAULT_BUDGET
    seed: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)
    wire: float | None = None

    def wire_in(self, place: Place) -> float | None:
        """What a host's port carries, said or known; None for neither."""
        return place.wire if self.wire is None else self.wire

    def __post_init__(self) -> None:
        """Refuses what cannot be measured.

        Raises:
            UsageError: saying why.
        """
        if not 1 <= self.launches <= _MOST_LAUNCHES:
            raise UsageError(f"expected 1 to {_MOST_LAUNCHES:,} launches, got {self.launches:,}")
        if not 0 < self.budget < 1e9:
            raise UsageError(f"expected a budget above 0 s, got {self.budget:g} s")
