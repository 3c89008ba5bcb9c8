"""What a launcher must know of itself: its command, and how it tells of a dead rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from contend.mpi.launch.ended import Death
from contend.mpi.launch.request import Launch


@dataclass(frozen=True)
class Options:
    """What a launcher is told before the program.

    Attributes:
        words: its options.
        environment: variables that it and its ranks need.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def _never(_: str) -> bool:
    return False


def _no_file(_: Launch) -> str:
    return ""


@dataclass(frozen=True)
class Form:
    """One kind of launcher.

    Attributes:
        name: for people.
        options: from a launch and its host file (None for none) to the options.
        host_file: the text of the host file that it reads; "" for none.
        death: which rank a signal ended, by what the launcher said; None when it does not tell.
        waits: whether a batch system keeps it waiting, by what it has said so far.
    """

    name: str
    options: Callable[[Launch, Path | None], Options]
    host_file: Callable[[Launch], str]
    death: Callable[[str], Death | None]
    waits: Callable[[str], bool] = _never


@dataclass(frozen=True)
class Launcher:
    """A launcher of this machine: its form, and the command line's beginning."""

    form: Form
    command: Sequence[str]
