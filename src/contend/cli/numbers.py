"""Lists of numbers as options take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from contend.errors import UsageError
from contend.units import parse_numbers

Value = TypeVar("Value")


def option_value(option: str, text: str, parse: Callable[[str], Value]) -> Value:
    """What an option says, by one of the parsers of `contend.units`.

    Raises:
        UsageError: as the parser's, naming the option.
    """
    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error}") from None


def optional(option: str, text: str | None, parse: Callable[[str], Value]) -> Value | None:
    """`option_value`, but None for an option that was not given."""
    return None if text is None else option_value(option, text, parse)


def counts(option: str, text: str | None) -> tuple[int, ...] | None:
    """Numbers from 1 such as ``1,2,4``; None for an option that was not given.

    Raises:
        UsageError: naming the option.
    """
    return optional(option, text, parse_numbers)


def words(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    """Words of an option that may be repeated and take several with commas; None for none."""
    return tuple(part.strip() for part in ",".join(texts).split(",")) if texts else None


def repetition(values: Sequence[object]) -> object:
    """A value that stands there more than once, None when there is none."""
    return next((value for value, count in Counter(values).items() if count > 1), None)
