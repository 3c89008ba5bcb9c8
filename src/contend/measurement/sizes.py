"""Message sizes as probes write them on their command lines."""

from __future__ import annotations

import re

from contend.errors import UsageError

_SIZE = re.compile(r"(\d{1,19})(?:([KMGT])?(?:I?B)?)", re.IGNORECASE)
_SHIFT = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_MOST = 2**63 - 1


def parse_size(text: str) -> int:
    """Bytes of ``512``, ``4K`` or ``1MiB``; units are powers of 1024.

    Raises:
        UsageError: for what is no size, or more than 64 bits can count.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"expected a size such as 512, 4K or 1M, got {text!r}")
    count = int(match[1]) << _SHIFT[(match[2] or "").upper()]
    if count > _MOST:
        raise UsageError(f"{text!r} is more bytes than 64 bits can count")
    return count


def parse_sizes(text: str) -> tuple[int, ...]:
    """Several sizes: ``1,2,4K``, ``1:1M`` (doubling while not above the last), or both.

    Raises:
        UsageError: for what is none.
    """
    sizes: list[int] = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        size = parse_size(first)
        if not colon:
            sizes.append(size)
            continue
        most = parse_size(last)
        if size < 1 or most < size:
            raise UsageError(f"expected a range that doubles from at least 1, got {part!r}")
        while size <= most:
            sizes.append(size)
            size *= 2
    return tuple(sizes)
