"""Message sizes and rates as plans write them."""

from __future__ import annotations

from collections.abc import Iterable

from contend.errors import UsageError
from contend.measurement import parse_sizes
from contend.units import parse_bytes, parse_rate


def read_sizes(items: Iterable[str | int]) -> tuple[int, ...]:
    """Bytes of every size and range, each once, in the order given.

    Raises:
        UsageError: naming what is no size.
    """
    return tuple(dict.fromkeys(size for item in items for size in parse_sizes(str(item))))


def read_rate(text: str) -> float:
    """Bytes per second of a rate such as ``1Gbit/s``, ``117 MB/s`` (decimal) or ``68.2 MiB/s``.

    Raises:
        UsageError: when it is none.
    """
    rate = parse_rate(text)
    if rate is None and text.endswith("iB/s"):
        rate = parse_bytes(text.removesuffix("/s"))
    if rate is None:
        raise UsageError(f"expected a rate such as 1Gbit/s or 117 MB/s, got {text!r}")
    return float(rate)
