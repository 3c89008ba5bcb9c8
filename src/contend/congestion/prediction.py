"""What drawn patterns predict of every message, to be held against a measurement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.congestion.drawn import DrawnPattern
from contend.congestion.placed import place_messages
from contend.fabric import Fabric

if TYPE_CHECKING:
    import polars


def predict(
    fabric: Fabric, patterns: Iterable[DrawnPattern], *, spread: bool = False
) -> polars.DataFrame:
    """Congestion and max-min fair share of every message of drawn patterns.

    Host channels count, as in `message_congestion`.

    Args:
        fabric: with routes.
        patterns: from `draw_patterns` on this fabric.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.

    Returns:
        One row a message: ``pattern`` (the sample's number), ``round``, ``source_rank``,
        ``target_rank``, ``source_host``, ``target_host``, ``congestion`` (pi; 0 on one host) and
        ``fair_share`` (of a link's rate).

    Raises:
        UsageError: when there is no route.
    """
    # Imported here: it takes longer to load than most predictions take.
    import polars

    cases = [(one, number) for one in patterns for number in range(len(one.rounds))]
    ends = [one.between_hosts(number) for one, number in cases]
    placed = place_messages(fabric, ends, spread=spread)
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _COLUMNS}
    for (one, number), hosts, (source, target) in zip(cases, ends, placed.rounds, strict=True):
        pi, _ = _core.message_congestion(placed.resolver, source, target)
        share = _core.fair_share(placed.resolver, source, target)
        names = (
            np.full(len(source), one.number, dtype=np.uint64),
            np.full(len(source), number, dtype=np.uint32),
        )
        found: tuple[NDArray[Any], ...] = (*names, *one.rounds[number], *hosts, pi, share)
        for name, values in zip(_COLUMNS, found, strict=True):
            columns[name].append(values)
    empty = np.zeros(0, dtype=np.float64)
    return polars.DataFrame(
        {name: np.concatenate(parts) if parts else empty for name, parts in columns.items()}
    )


_COLUMNS = (
    *("pattern", "round", "source_rank", "target_rank", "source_host", "target_host"),
    *("congestion", "fair_share"),
)
