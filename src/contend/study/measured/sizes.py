"""Lists of message sizes as people write them: ``1KiB``, ``4:2MiB`` for its powers of two."""

from __future__ import annotations

from collections.abc import Iterable

from contend.errors import UsageError
from contend.units import parse_bytes

_SHORT = {"K": "KiB", "M": "MiB", "G": "GiB"}
_LARGEST = 1 << 40


def read_sizes(items: Iterable[str | int]) -> tuple[int, ...]:
    """Bytes of every size and range, each once, in the order given.

    A range ``LOW:HIGH`` doubles from its lower end. ``K``, ``M`` and ``G`` are binary here, as in
    the options of the probes.

    Raises:
        UsageError: naming what is no size.
    """
    found: dict[int, None] = {}
    for item in items:
        low, colon, high = str(item).partition(":")
        size, last = _bytes(low), _bytes(high if colon else low)
        if colon and not 0 < size <= last:
            raise UsageError(f"expected a range of sizes such as 4:2MiB, got {item!r}")
        while size <= last:
            found[size] = None
            if size == 0:
                break
            size *= 2
    return tuple(found)


def read_rate(text: str) -> float:
    """Bytes per second of a rate such as ``1Gbit/s`` (decimal), ``117 MB/s`` or ``68.2 MiB/s``.

    Raises:
        UsageError: when it is none.
    """
    amount, slash, per = text.partition("/")
    bits = amount.rstrip().endswith("bit")
    size = parse_bytes(f"{amount.rstrip().removesuffix('bit')}{'B' if bits else ''}".strip())
    if slash != "/" or per.strip() != "s" or size is None:
        raise UsageError(f"expected a rate such as 1Gbit/s or 117 MB/s, got {text!r}")
    return size / 8 if bits else float(size)


def _bytes(text: str) -> int:
    text = text.strip()
    if text == "0":
        return 0
    if text[-1:].upper() in _SHORT:
        text = text[:-1] + _SHORT[text[-1].upper()]
    size = parse_bytes(text)
    if size is None or size > _LARGEST:
        raise UsageError(f"expected a size such as 4096 or 64KiB, got {text!r}")
    return size
