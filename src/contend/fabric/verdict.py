"""What a check of a fabric says: a value that names its remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MOST_DETAILS = 10


class Status(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: what was checked, in a few words.
        status: a warning may be meant so; what is wrong needs repair.
        summary: what was found, in one line.
        details: the places by name, at most `MOST_DETAILS`.
        remedy: what to do; "" when all is well.
    """

    name: str
    status: Status
    summary: str
    details: tuple[str, ...] = ()
    remedy: str = ""
