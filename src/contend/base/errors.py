"""Every error that contend raises on purpose; only the command line turns them into text."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass

_LONGEST_LINE = 500

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Numbers of the system's errors where a disk has no room, or this user may not fill it further."""


def legible(text: str) -> str:
    r"""A text with what is no printable character written out, ``\x1b``: equal texts stay equal.

    Names in files of strangers may hold escape sequences of terminals, and what no XML may hold.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def printable_line(text: str, longest: int = _LONGEST_LINE) -> str:
    r"""A text from anywhere as one line that a terminal can show.

    Line ends become spaces, and what else is no printable character, such as an escape sequence in
    a host's name, is written out: ``\x1b``. A line that is too long loses its middle.
    """
    if len(text) > 8 * longest:
        # Before all of it is looked at: names may be as long as files.
        text = f"{text[: 4 * longest]} ... {text[-4 * longest :]}"
    shown = legible(" ".join(text.split()))
    if len(shown) <= longest:
        return shown
    half = (longest - 5) // 2
    return f"{shown[:half]} ... {shown[-half:]}"


@dataclass(frozen=True)
class Argument:
    """A function's argument that an error speaks of, for which a command has an option."""

    name: str
    """Name as in Python, such as ``ranks_per_host``."""
    value: str | None = ""
    """What it takes, such as ``FILE``; "" where the error does not say, None at an error's head."""

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value}"


ROUTES, ROUTE = Argument("routes", "FILE"), Argument("route", "ENGINE")
"""Where a fabric's routes come from, wherever it lacks some."""


class ContendError(Exception):
    """Base of all errors of contend; `status` is the exit status of the command line.

    It is made of pieces of its text, among which stand the arguments that it speaks of. Its text is
    one line of at most 500 characters, whatever it was made of.
    """

    status = 2

    @property
    def parts(self) -> tuple[object, ...]:
        """Pieces of the text, `Argument` among them."""
        return self.args

    def worded(self, say: Callable[[Argument], str] = str) -> str:
        """The text with its arguments as somebody calls them; Python's way where nobody says."""
        pieces = (say(part) if isinstance(part, Argument) else str(part) for part in self.parts)
        return printable_line("".join(pieces))

    def __str__(self) -> str:
        return self.worded()


class UsageError(ContendError):
    """A request that cannot be met: an option out of range, things that do not fit together."""


class ArgumentError(UsageError):
    """An argument of a value that it cannot take: its name, and what is wrong with the value."""

    def __init__(self, name: str, text: object) -> None:
        super().__init__(name, text)

    @property
    def parts(self) -> tuple[object, ...]:
        """Its name as an `Argument`, and what is wrong."""
        name, text = self.args
        return (Argument(name, None), f": {text}")


class UnreachableError(UsageError):
    """A host that the forwarding tables do not lead to, by the core's numbers."""

    def __init__(self, host: int, address: int, start: int, end: int, why: str) -> None:
        super().__init__(
            f"host {host} (address {address}) cannot be reached from switch {start}: "
            f"switch {end} {why}"
        )
        self.host = host
        """Number of the host that is not reached."""
        self.address = address
        """Number of its address that was tried."""
        self.start = start
        """Switch where the walk began."""
        self.end = end
        """Switch where it ended."""
        self.why = why
        """What that switch does with the address."""


class InputError(ContendError):
    """Something in a file that is not what it should be."""

    def __init__(self, source: str | Argument, line: int, expected: str, got: str) -> None:
        super().__init__(source, line, expected, got)
        self.source = source
        """Name of the file, or the argument that stands for one."""
        self.line = line
        """Number of the line, from 1; 0 when the file as a whole is meant."""
        self.expected = expected
        """What should stand there."""
        self.got = got
        """What stands there."""

    @property
    def parts(self) -> tuple[object, ...]:
        """Where, and what stands there."""
        where = f"{self.source}:{self.line}" if self.line else self.source
        return (where, f": expected {self.expected}, got {self.got}")


class IncompleteInput(ContendError, UserWarning):  # noqa: N818
    """A file that lacks what it should hold: a warning, which ``--strict`` makes an error."""


class ShortfallError(ContendError):
    """The work was done, but something fell short: a failed check, a failed cell."""

    status = 1


class MissingError(ContendError):
    """The machine lacks something: a program, a right, memory."""

    status = 3


EXIT_STATUSES = {
    0: "done",
    ShortfallError.status: "done, but a check failed or a cell could not be measured",
    UsageError.status: "bad input or usage: a file that cannot be read, an invalid option, or, "
    "with --strict, an incomplete topology file",
    MissingError.status: "the machine lacks something: a program, a permission, memory, disk "
    "space, threads or an MPI library",
    70: "a bug in contend; the message names a file to send with the report",
    129: "ended by SIGHUP, as when a terminal closes",
    130: "interrupted with Ctrl-C (SIGINT)",
    143: "ended by SIGTERM, as kill and batch systems send it",
}
"""What the exit statuses of the command line mean."""
