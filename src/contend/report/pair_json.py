"""What pairs of ranks got in bisect patterns, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import polars as pl

from contend.measurement import agreement, usable


def pair_json(pairs: pl.DataFrame) -> dict[str, Any]:
    """Mean and median of all messages; the agreement with predictions where there are any.

    Every message is in what ``--pairs`` writes.
    """
    used = usable(pairs)
    found: dict[str, Any] = {
        "messages": len(used),
        "late": len(pairs) - len(used),
        "patterns": used["pattern"].n_unique(),
        "mean_Bps": used["bandwidth_Bps"].mean(),
        "median_Bps": used["bandwidth_Bps"].median(),
    }
    if "congestion" in pairs.columns:
        compared = agreement(pairs)
        found["agreement"] = {**asdict(compared), "nearest": compared.nearest.name}
    return found
