"""Words for rates per rank."""

from __future__ import annotations

from contend.study import UNSUITED, Result

MEBI = 1 << 20


def mebibytes(rate: float) -> str:
    """A rate in MiB/s for a column of a table, to three digits."""
    value = rate / MEBI
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def rate_or_error(result: Result | None) -> str:
    """The rate of a result in MiB/s, or ERR with its cause."""
    if result is None:
        return ""
    if result.rate is None:
        if result.failure is None:
            return "ERR"
        return "–" if result.failure.cause == UNSUITED else f"ERR {result.failure.cause}"
    return mebibytes(result.rate)
