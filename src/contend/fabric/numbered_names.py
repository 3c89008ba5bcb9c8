"""Names that follow from numbers, so that a million of them need no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True, eq=False)
class NumberedNames(Sequence[str]):
    """Names counted from 1, such as ``host 1``, ``host 2``, made each time that one is asked for.

    They compare and hash as a tuple of the same names does.

    Attributes:
        what: stands before the number.
        size: how many there are.
    """

    what: str
    size: int

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[str, ...]: ...
    def __getitem__(self, key: int | slice) -> str | tuple[str, ...]:
        numbers = range(1, self.size + 1)[key]
        if isinstance(numbers, range):
            return tuple(f"{self.what} {number}" for number in numbers)
        return f"{self.what} {numbers}"

    def __iter__(self) -> Iterator[str]:
        return (f"{self.what} {number}" for number in range(1, self.size + 1))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return (self.what, self.size) == (other.what, other.size)
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))
