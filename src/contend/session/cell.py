"""A cell: one question with every condition that changes its answer, and why it has none."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from contend.errors import ContendError
from contend.runs import Cause

UNSUITED: Cause = "unsuited"
"""The one cause that is no fault: where a schedule makes no sense, nothing is missing."""

_UNFIT = re.compile(r"[^A-Za-z0-9._=+]+")
_LONGEST = 80
_SHORT = 8


class Failure(msgspec.Struct, frozen=True):
    """Why there is no figure.

    Attributes:
        cause: in one word; see `contend.runs.Cause`.
        reason: in one line.
    """

    cause: Cause
    reason: str

    def __str__(self) -> str:
        return f"ERR {self.cause}: {self.reason}"


class CellError(ContendError):
    """A cell that cannot be answered here at all.

    Attributes:
        failure: why.
    """

    status = 3

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


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
        # Once around, so that 1 and 1.0 in a field of floats are the same.
        same = msgspec.convert(msgspec.to_builtins(self), type(self))
        asked: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(same))
        return asked

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
