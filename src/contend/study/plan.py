"""What all plans of studies share: their names, their words, and the checks of what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from contend.errors import InputError, UsageError
from contend.study.toml_file import SEVERAL_LINES

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 60

Name = Annotated[str, Meta(min_length=1, max_length=80)]
Text = Annotated[str, Meta(max_length=4096)]
Note = Annotated[str, Meta(max_length=4096, title=SEVERAL_LINES)]
Count = Annotated[int, Meta(ge=1, le=2**40)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Precision = Annotated[float, Meta(ge=1e-9, lt=1)]


class StudyPlan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every plan has.

    Attributes:
        name: what the study is called, and by itself the folder of its results.
        title: what it is about.
        seed: of all random choices.
        notes: sentences that readers of the results must know.
    """

    kind: ClassVar[str] = ""
    """How its figures are made, in one word."""

    takes: ClassVar[frozenset[str]] = frozenset()
    """Options of the command line that change such a plan, by their names in Python."""

    name: Name
    title: Text = ""
    seed: Seed = 1
    notes: tuple[Note, ...] = ()

    def check(self, source: str) -> None:
        """Refuses a plan whose parts do not fit together, as one changed by options may not.

        Raises:
            InputError: naming `source` and the key.
        """
        if self.name[:1] in (".", " ") or any(mark in self.name for mark in "/\\"):
            wanted = (
                "a name that a folder can have, without / or \\ and no dot or space first, at name"
            )
            raise InputError(source, 0, wanted, self.name)

    def refuse_foreign(self, options: Iterable[str]) -> None:
        """Refuses options that belong to plans of another kind.

        Raises:
            UsageError: naming the first of them.
        """
        for option in options:
            if option not in self.takes:
                name = option.replace("_", "-")
                raise UsageError(f"--{name} does not belong to the study {self.name}")


def check_each_once(source: str, what: str, names: Iterable[str]) -> None:
    """Refuses names of a plan of which one is there twice.

    Raises:
        InputError: naming `source` and the name.
    """
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(source, 0, f"every {what} once", f"{name} {count} times")


def file_name(text: str) -> str:
    """A name of a plan as part of the name of a file."""
    return _UNFIT.sub("-", text).strip("-")[:_LONGEST]
