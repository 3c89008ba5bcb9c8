"""What is measured: a probe with its options, and every condition that changes its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from contend.base.errors import UsageError
from contend.base.units import counted, nearest
from contend.lab.emulation import identity
from contend.lab.measurement.memory import (
    Memory,
    alltoall_memory,
    bisect_memory,
    hotspot_memory,
    numbers_of,
    pingpong_memory,
    sizes_of,
    sort_memory,
)
from contend.lab.measurement.standard import OF_ALL_PROBES, STANDARD
from contend.lab.session import Cell

if TYPE_CHECKING:
    from contend.lab.measurement.place import Place

OptionValue = str | int | float | bool | None | Sequence[str | int | float]
"""A value of a probe's option: True for one that stands alone, None and False for none."""

# What a probe's own program calls its options.
_OF_PROGRAMS = {"vectors": "n", "length": "m"}
_SIZES = frozenset({"bytes", "load_bytes", "sample_bytes"})
_NUMBERS = frozenset(
    {
        *("vectors", "length", "batch", "in_flight", "radix", "ranks_per_node", "rivals_active"),
        *("inner", "window", "packets", "operations"),
    }
)

_MEMORY: Mapping[str, Callable[[Mapping[str, str]], Memory]] = {
    "alltoall": alltoall_memory,
    "sort": sort_memory,
    "pingpong": pingpong_memory,
    "bisect": bisect_memory,
    "hotspot": hotspot_memory,
}
LARGEST_LOAD = "8M"
"""Bytes of a rival's messages in a hot spot at most."""


def options_of(probe: str, options: Mapping[str, OptionValue]) -> dict[str, str]:
    """A probe's options as words of a command line; those that are not given have their usual ones.

    Args:
        probe: such as ``alltoall``.
        options: by names in which ``_`` stands for ``-``, such as
            ``{"algorithm": "all", "bytes": "1:1M", "verify": True}``.

    Returns:
        Words by names; "" for an option that stands alone.

    Raises:
        UsageError: when there is no such probe or option, or a size is none.
    """
    if probe not in STANDARD:
        hint = nearest(probe, STANDARD)
        raise UsageError(f"expected one of {', '.join(STANDARD)}, got {probe!r}{hint}")
    usual = {**STANDARD[probe], **OF_ALL_PROBES}
    for name in options:
        if name not in usual:
            raise UsageError(f"{probe} has no option {name!r}{nearest(name, usual)}")
    given = {name: word for name, value in options.items() if (word := _word(value)) is not None}
    words = {name: given.get(name, word) for name, word in usual.items()}
    told = {name: word for name, word in words.items() if word is not None}
    # Sizes and numbers that are none are told here and not by the probe.
    memory_of(probe, told)(1, 1)
    arguments_of(told)
    return told


def arguments_of(options: Mapping[str, str]) -> tuple[str, ...]:
    """Options on a probe's command line, with sizes and ranges as plain numbers.

    Raises:
        UsageError: a size or a number is none.
    """
    words = dict(options)
    for names, read in ((_SIZES, sizes_of), (_NUMBERS, numbers_of)):
        for name in names & words.keys():
            words[name] = ",".join(map(str, read(options, name)))
    # In one word, so that a value may begin with a dash.
    return tuple(
        f"--{_OF_PROGRAMS.get(name, name).replace('_', '-')}{'=' if word else ''}{word}"
        for name, word in words.items()
    )


def memory_of(probe: str, options: Mapping[str, str]) -> Memory:
    """Predicts what a host needs at most for a probe's data.

    Raises:
        UsageError: a size or a number is none.
    """
    return _MEMORY[probe]({"load_bytes": LARGEST_LOAD, **options})


def _word(value: OptionValue) -> str | None:
    """An option's value on the command line; "" for one that stands alone, None for no option."""
    if value is None or value is False:
        return None
    if value is True:
        return ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)


class MeasuredCell(Cell, frozen=True, tag="measured"):
    """A probe under one MPI library, with every condition that changes its figures."""

    probe: str
    """Name of the probe."""
    options: dict[str, str]
    """Options of the probe, as `options_of` has them."""
    ranks: tuple[int, ...]
    """Numbers of ranks, measured in turns."""
    ranks_per_host: tuple[int, ...] = ()
    """Numbers on every host, measured in turns; empty leaves it to the hosts."""
    mpi: str = ""
    """MPI library as it was asked for; "" for the first usable one."""
    launcher: str = ""
    """Launcher as it was asked for; "" for the library's own."""
    hosts: tuple[tuple[str, int | None], ...] = ()
    """Hosts of a host file, with the ranks that each takes; empty where the launcher knows them."""
    place: dict[str, str] = msgspec.field(default_factory=dict)
    """Emulated fabric as it was asked for: its name, routes, cables."""
    wire: float | None = None
    """What a host's port carries, in bytes per second, where somebody said."""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    """Conditions that no program can see."""
    seed: int = 1
    """Seed of the order of launches and cells, and of drawn patterns."""
    fabric: dict[str, str] = msgspec.field(default_factory=dict)
    """Real hosts' fabric and its routes, where schedules may go by them."""

    @property
    def words(self) -> str:
        """The cell in a few words, for names of folders and for people."""
        ranks = counted(self.ranks[0], "rank") if len(self.ranks) == 1 else "several ranks"
        each = "+".join(f"{count} a host" for count in self.ranks_per_host)
        labels = [" ".join(filter(None, label)) for label in self.labels.items()]
        library = self.mpi.rstrip("/").rpartition("/")[2]
        words = (self.probe, library, ranks, each, self.place.get("fabric", ""), *labels)
        return " ".join(filter(None, words))

    @property
    def memory(self) -> Memory:
        """Predicts what a host needs at most for its data."""
        return memory_of(self.probe, self.options)

    @property
    def variants(self) -> int:
        """How many numbers of ranks are measured in turns, on so many numbers of hosts."""
        return len(self.ranks) * max(1, len(self.ranks_per_host))

    def wire_in(self, place: Place) -> float | None:
        """What a host's port carries, said or known; None for neither."""
        return place.wire if self.wire is None else self.wire


def ask(
    probe: str,
    options: Mapping[str, OptionValue],
    place: Place,
    mpi: str = "",
    *,
    ranks: tuple[int, ...],
    ranks_per_host: tuple[int, ...] = (),
    seed: int = 1,
    labels: Mapping[str, str] | None = None,
    wire: float | None = None,
) -> MeasuredCell:
    """The question that a probe's options are under a library and conditions, in a place."""
    return MeasuredCell(
        probe=probe,
        options=options_of(probe, options),
        ranks=ranks,
        ranks_per_host=ranks_per_host,
        mpi=mpi,
        launcher=place.launcher,
        hosts=() if place.asked else tuple((name, count) for name, count in place.slots),
        place=dict(place.asked),
        wire=wire,
        labels=dict(labels or {}),
        seed=seed,
        fabric=fabric_of(place),
    )


def fabric_of(place: Place) -> dict[str, str]:
    """What tells real hosts' fabric from others, where it is known; an emulated place says it."""
    return {} if place.asked or place.fabric is None else identity(place.fabric)
