"""What a session works through: cells, launches of them, what answers them, and who is told."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from contend.base.errors import ContendError

# The help of commands names who is told, and loads none of these.
if TYPE_CHECKING:
    from contend.lab.runs import Cause, Failure, Warned

UNSUITED: Cause = "unsuited"
"""The one cause that is no fault: where a schedule makes no sense, nothing is missing."""

_UNFIT = re.compile(r"[^A-Za-z0-9._=+]+")
_LONGEST = 80
_SHORT = 8


class CellError(ContendError):
    """A cell that cannot be answered here at all."""

    status = 3

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure
        """Why it cannot be answered."""


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


C_contra = TypeVar("C_contra", bound=Cell, contravariant=True)


@dataclass(frozen=True)
class Step:
    """One launch of a cell."""

    cell: Cell
    """What is asked."""
    index: int
    """Index of the cell within its session."""
    number: int
    """Number of the launch within its cell: variants count up within each round."""
    variant: int
    """Which of the cell's variants."""
    round: int
    """How often that variant was launched before."""
    seed: int
    """Seed of this launch's own order, from 1."""


@dataclass(frozen=True)
class Attempt:
    """How one start of a launch ended; what it made is kept by then."""

    name: str = ""
    """Name of the launch, for people."""
    summary: str = ""
    """What it made, for people."""
    failure: Failure | None = None
    """Why it ended before its time; None when it did not."""
    point: str | None = None
    """Point of the cell at which it ended, as `Work.fail` takes it; None where nobody knows."""
    left: bool = False
    """Whether points are left that neither have figures nor failed by themselves; the point at
    which it ended does not count."""
    waited: float = 0.0
    """Seconds in the queue of a batch system."""
    elapsed_s: float = 0.0
    """Seconds that it took."""


class Observer:
    """Is told what goes on; everything by itself does nothing."""

    def named(self, names: Mapping[str, str]) -> None:
        """What a study's plan calls the cells, by their keys; told before anything else."""

    def preparing(self, text: str) -> None:
        """Something takes a while before launches begin."""

    def planned(self, title: str, steps: Sequence[Step], budget: float, folder: Path) -> None:
        """Everything is decided; the first of these launches comes next."""

    def kept(self, cell: Cell) -> None:
        """A cell has been answered before."""

    def launching(self, step: Step, seconds: float) -> None:
        """A launch begins, with a share of the budget."""

    def progressed(self, step: Step, done: int, whole: int) -> None:
        """A launch has made some of its parts; `whole` is 0 while nobody knows of how many."""

    def ended(self, step: Step, attempt: Attempt) -> None:
        """A start of a launch has ended."""

    def left(self, step: Step) -> None:
        """No time was left for a launch."""

    def warned(self, warning: Warned) -> None:
        """Something is to be known about the results."""


class Work(Protocol):
    """A cell and its run folder, which is read first and written from `begin` on.

    Attributes:
        variants: launches of every round, such as one for each number of ranks.
    """

    @property
    def variants(self) -> int: ...  # noqa: D102

    def left(self, launches: int, *, retry: bool) -> Sequence[int]:
        """Numbers of launches that are still to be made.

        Those that were interrupted, or that no time was left for, are among them.

        Args:
            launches: of every variant.
            retry: also those of which something failed.
        """
        ...

    def begin(self) -> None:
        """Makes the run folder, or brings together what is in it; called before its launches.

        Raises:
            CellError: the cell cannot be answered here; its run folder is there all the same.
        """
        ...

    def launch(
        self, step: Step, *, seconds: float, limit: float, observer: Observer
    ) -> Attempt | None:
        """Makes what is left of a launch, and keeps what it makes, whatever ends it.

        None where nothing is left, as all its points have failed before.

        Args:
            step: which.
            seconds: that it may take for its work.
            limit: seconds after which it is ended.
            observer: is told what happens within.

        Raises:
            NoRoomError: nothing more can be written; no other launch can do better.
            ContendError, OSError, MemoryError: this cell cannot be launched.
        """
        ...

    def fail(self, number: int, failure: Failure, point: str | None = None) -> None:
        """Keeps why there is no figure.

        Args:
            number: of the launch.
            failure: why. After a budget that was spent the launch is left for another time.
            point: of the cell, which this and all later launches then leave out; None for all that
                is left of this launch and, but for a budget, of the later ones of its variant.
        """
        ...

    def finish(self) -> None:
        """Brings together what launches left; called once no more come, also when interrupted."""
        ...


class Method(Protocol[C_contra]):
    """How cells are answered: measured, simulated."""

    def open(self, cell: C_contra, folder: Path) -> Work:
        """A cell and what its run folder has of it; writes nothing.

        Raises:
            InputError: the folder is damaged.
        """
        ...

    def title(self, cells: Sequence[C_contra]) -> str:
        """What is answered, for people; asked for once all is prepared."""
        ...

    def prepare(self, cells: Sequence[C_contra], observer: Observer) -> None:
        """Does what launches of these have in common, before time counts.

        Raises:
            ContendError: nothing of this can be launched.
        """
        ...
