"""A cell: one question with every condition that changes its answer, and why it has none."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Literal

import msgspec

Cause = Literal[
    "memory", "hosts", "crash", "timeout", "budget", "data", "unsuited", "launch", "interrupted"
]
"""Why there is no figure: the data does not fit the memory (or memory ran out), there are not
enough hosts, a signal ended a rank, it did not end in time, no time was left for it, its data was
wrong, it makes no sense there (a schedule for powers of two on 12 ranks), it did not start or ended
itself, or somebody interrupted it."""

UNSUITED: Cause = "unsuited"
"""The one cause that is no fault: where a schedule makes no sense, nothing is missing."""

_UNFIT = re.compile(r"[^A-Za-z0-9._=+]+")
_LONGEST = 80
_SHORT = 8


class Failure(msgspec.Struct, frozen=True):
    """Why there is no figure.

    Attributes:
        cause: in one word.
        text: in one line.
    """

    cause: Cause
    text: str

    def __str__(self) -> str:
        return f"ERR {self.cause}: {self.text}"


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all questions; a kind of cell is a subclass with fields of its own.

    Every field changes the answer, and whatever changes the answer is a field; what is only known
    afterwards belongs to the result. Values that are their defaults do not count towards the key,
    so a new field with a default leaves the keys of all older cells as they were, and a default
    must never change.
    """

    @property
    def words(self) -> str:
        """The cell in a few words, for names of folders and for people."""
        return type(self).__name__

    def question(self) -> dict[str, Any]:
        """All that was asked, as it is kept in JSON."""
        asked: dict[str, Any] = msgspec.to_builtins(self)
        # Once around, so that 1 and 1.0 in a field of floats are the same.
        return dict(msgspec.to_builtins(msgspec.convert(asked, type(self))))

    @property
    def key(self) -> str:
        """The same for equal questions and for no others: SHA-256 of the canonical JSON."""
        text = msgspec.json.encode(self.question(), order="deterministic")
        return hashlib.sha256(text).hexdigest()

    @property
    def folder_name(self) -> str:
        """Readable words and the beginning of the key."""
        words = _UNFIT.sub("-", self.words).strip("-.").lower()[:_LONGEST].rstrip("-.")
        return f"{words}-{self.key[:_SHORT]}"
