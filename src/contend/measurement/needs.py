"""Memory that the data of a probe needs, predicted from its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from contend.errors import UsageError
from contend.measurement.sort_memory import ARRAYS, BYTES_OF_DOUBLE
from contend.units import parse_sizes

Memory = Callable[[int, int], int]
"""Bytes that a host needs for a number of ranks, of which so many are on it."""

# The probes' own values of options that are not given.
_SIZES = "1:1M"
_ALGORITHMS = "all"
_COUNTS = "even"
_NUMBERS = "1492992"
_DOUBLES = "8"
_WINDOW = "64"
_PACKET = "1M"
_LOAD = "8M"
_STREAM = "16"
_MOST_IN_FLIGHT = 256 << 20

# Schedules that pass blocks on, and so hold them a second time.
_PASSING_ON = ("all", "bruck", "hierarchical")


def alltoall_memory(options: Mapping[str, str]) -> Memory:
    """A block for every rank is sent and one is received: 2 p bytes on each of p ranks.

    Twice that where blocks differ in size, as the largest are twice the size that is named, and
    twice that again for schedules that pass blocks on.
    """
    largest = _largest(options)
    uneven = options.get("counts", _COUNTS) != "even"
    algorithms = options.get("algorithm", _ALGORITHMS).split(",")
    copies = 4 if any(name in _PASSING_ON for name in algorithms) else 2
    return lambda ranks, here: here * copies * ranks * largest * (2 if uneven else 1)


def sort_memory(options: Mapping[str, str]) -> Memory:
    """The arrays before and after: see `contend.measurement.sort_memory`."""
    numbers = max(_whole_numbers(options, "n", _NUMBERS))
    doubles = max(_whole_numbers(options, "m", _DOUBLES))
    bytes_of_vector = BYTES_OF_DOUBLE * doubles
    return lambda ranks, here: ARRAYS * here * -(-numbers // ranks) * bytes_of_vector


def pingpong_memory(options: Mapping[str, str]) -> Memory:
    """A message each way, or a window of them, but for large ones at most 256 MiB."""
    largest = _largest(options)
    window = max(_whole_numbers(options, "window", _WINDOW))
    held = max(largest, min(window * largest, _MOST_IN_FLIGHT))
    return lambda _, here: 2 * here * held


def bisect_memory(options: Mapping[str, str]) -> Memory:
    """A packet that is sent, and a ring of four that are received."""
    largest = _largest(options, _PACKET)
    return lambda _, here: 5 * here * largest


def hotspot_memory(options: Mapping[str, str]) -> Memory:
    """Two of a rival's messages, or a window of the victim's and one more."""
    load = max(parse_sizes(options.get("load_bytes", _LOAD)))
    largest = _largest(options)
    window = max(_whole_numbers(options, "window", _STREAM))
    return lambda _, here: here * max(2 * load, (window + 1) * largest)


def _largest(options: Mapping[str, str], standard: str = _SIZES) -> int:
    try:
        return max(parse_sizes(options.get("bytes", standard)))
    except UsageError as error:
        raise UsageError(f"--bytes: {error}") from None


def _whole_numbers(options: Mapping[str, str], name: str, standard: str) -> list[int]:
    text = options.get(name, standard)
    parts = text.split(",")
    if not all(part.isdecimal() and len(part) < 20 for part in parts):
        raise UsageError(f"--{name}: expected whole numbers, got {text!r}")
    return [int(part) for part in parts]
