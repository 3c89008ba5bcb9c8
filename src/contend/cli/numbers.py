"""Lists of numbers as options take them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from contend.errors import UsageError

# Ten digits hold every number of nodes that MPI could number the processes of.
_COUNTS = re.compile(r"[1-9][0-9]{0,9}(?:,[1-9][0-9]{0,9})*")


def counts(option: str, text: str | None) -> tuple[int, ...] | None:
    """Numbers from 1 such as ``1,2,4``; None for an option that was not given.

    Raises:
        UsageError: naming the option.
    """
    if text is None:
        return None
    if not _COUNTS.fullmatch(text):
        raise UsageError(f"{option}: expected numbers such as 1,2,4, got {text!r}")
    found = tuple(int(part) for part in text.split(","))
    if (repeated := repetition(found)) is not None:
        raise UsageError(f"{option}: expected every number once, got {repeated} again")
    return found


def words(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    """Words of an option that may be repeated and take several with commas; None for none."""
    return tuple(part.strip() for part in ",".join(texts).split(",")) if texts else None


def repetition(values: Sequence[object]) -> object:
    """A value that stands there more than once, None when there is none."""
    return next((value for value, count in Counter(values).items() if count > 1), None)
