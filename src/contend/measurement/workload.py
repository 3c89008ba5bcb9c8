"""What a probe is to do on its ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from contend.errors import UsageError
from contend.measurement.needs import (
    Memory,
    alltoall_memory,
    bisect_memory,
    hotspot_memory,
    pingpong_memory,
    sort_memory,
)


@dataclass(frozen=True)
class Workload:
    """A probe and the options of its own; those that every probe has are added to them.

    Attributes:
        probe: its name.
        arguments: its options, on a command line.
        memory: predicts what a host needs at most for its data; None when nothing is known.
    """

    probe: str
    arguments: tuple[str, ...] = ()
    memory: Memory | None = None


OptionValue = str | int | float | bool | None | Sequence[str | int | float]
"""A value of a probe's option: True for one that stands alone, None and False for none."""


def make_workload(probe: str, options: Mapping[str, OptionValue]) -> Workload:
    """A probe with options by their names, in which ``_`` stands for ``-``.

    Args:
        probe: such as ``alltoall``.
        options: such as ``{"algorithm": "all", "bytes": "1:1M", "verify": True}``.

    Raises:
        UsageError: when there is no such probe, or a size is none.
    """
    if probe not in _MEMORY:
        raise UsageError(f"expected one of {', '.join(_MEMORY)}, got {probe!r}")
    words = {name: word for name, value in options.items() if (word := _word(value)) is not None}
    arguments: list[str] = []
    for name, word in words.items():
        # In one word, so that a value may begin with a dash.
        arguments.append(f"--{name.replace('_', '-')}{'=' if word else ''}{word}")
    return Workload(probe, tuple(arguments), _MEMORY[probe](words))


def _word(value: OptionValue) -> str | None:
    """An option's value on the command line; "" for one that stands alone, None for no option."""
    if value is None or value is False:
        return None
    if value is True:
        return ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)


_MEMORY: Mapping[str, Callable[[Mapping[str, str]], Memory]] = {
    "alltoall": alltoall_memory,
    "sort": sort_memory,
    "pingpong": pingpong_memory,
    "bisect": bisect_memory,
    "hotspot": hotspot_memory,
}
"""The probes that can be measured, and what their data needs."""
