"""Profiles of records that a test builds, of programs that hit one limit each; times in ns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import contend
from built_records import (
    ROUTINES,
    Rank,
    leave_records,
    no_program,
)
from contend.explanation import Explanation, Verdict
from contend.profiling import merge

SECOND, MS, US = 10**9, 10**6, 10**3
FINALIZE = len(ROUTINES)
# Run times of exactly one second.
RUN: dict[str, Any] = {
    "started": 0,
    "ended": SECOND,
    "offsets": ((0, 0, 0), (SECOND, 0, 0)),
    "routines": (*ROUTINES, "MPI_Finalize"),
}


def explained(folder: Path, ranks: Sequence[Rank], known: Any = None, **more: Any) -> Explanation:
    merge(leave_records(folder, ranks, **(known or {})), run=no_program)
    return contend.explain(folder, **more)


def of(explanation: Explanation, cell: str = "its communication") -> Verdict:
    (only,) = (v for v in explanation.cells if v.evidence.cell == cell)
    return only


def pair(*hosts: str) -> list[Rank]:
    return [Rank(n, 2, host=host, **RUN) for n, host in enumerate(hosts or ("node1", "node1"))]


def finish(rank: Rank) -> None:
    """The last event of a rank whose events are whole."""
    rank.event(SECOND, SECOND + 1, rank.cell(FINALIZE, ticks=1))
