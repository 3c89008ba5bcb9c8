"""A family of generated fabrics, and its parameters as a person writes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from contend.errors import UsageError
from contend.fabric.fabric import Fabric

# Nine digits are beyond every size that is built, and keep products small.
_NUMBER = re.compile(r"[0-9]{1,9}")


def require(holds: bool, what: str, expected: str, got: object) -> None:
    """Raises UsageError with one line when a parameter does not hold what the family needs."""
    if not holds:
        raise UsageError(f"{what}: expected {expected}, got {got}")


@dataclass(frozen=True)
class Family:
    """One kind of generated fabric.

    Attributes:
        name: what stands before the colon.
        form: the whole specification with its parameters' names; optional ones in brackets.
        summary: one line for a list.
        example: a small specification that works.
        build: makes the fabric from its parameters.
    """

    name: str
    form: str
    summary: str
    example: str
    build: Callable[[Parameters], Fabric] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Parameters:
    """What stands after the colon: groups between semicolons, numbers between commas.

    Every method raises UsageError, naming the family's form, when the text is not of that form.
    """

    spec: str
    form: str
    text: str

    @property
    def groups(self) -> list[str]:
        """The groups between semicolons; none for an empty text."""
        return self.text.split(";") if self.text else []

    def wrong(self, got: str) -> UsageError:
        """The error that tells the expected form."""
        return UsageError(f"{self.spec}: expected {self.form}, got {got}")

    def expect_groups(self, least: int, most: int) -> None:
        """Checks the number of groups."""
        count = len(self.groups)
        if not least <= count <= most:
            got = "no parameters" if count == 0 else f'"{self.text}"'
            raise self.wrong(got)

    def integers(
        self, group: int, least: int, most: int | None = None, separator: str = ","
    ) -> list[int]:
        """The numbers of a group, each at least 0; `least` to `most` of them."""
        words = self.groups[group].split(separator)
        most = least if most is None else most
        if not least <= len(words) <= most:
            raise self.wrong(f'"{self.groups[group]}"')
        for word in words:
            if not _NUMBER.fullmatch(word):
                raise self.wrong(f'"{word}" for a number')
        return [int(word) for word in words]

    def positive(
        self, group: int, least: int, most: int | None = None, separator: str = ","
    ) -> list[int]:
        """The numbers of a group, each at least 1."""
        numbers = self.integers(group, least, most, separator)
        if 0 in numbers:
            raise self.wrong(f'0 in "{self.groups[group]}"')
        return numbers

    def dimensions(self, group: int) -> list[int]:
        """Sizes written as ``4x4x8``."""
        return self.positive(group, 1, 16, separator="x")

    def optional(self, group: int, default: int) -> int:
        """One number that may be left out with its group."""
        return self.positive(group, 1)[0] if group < len(self.groups) else default


def named(name: str, summary: str, build: Callable[[], Fabric]) -> Family:
    """A family of one: a machine that is known by its name and takes no parameters."""

    def without_parameters(parameters: Parameters) -> Fabric:
        parameters.expect_groups(0, 0)
        return build()

    return Family(name, name, summary, name, without_parameters)
