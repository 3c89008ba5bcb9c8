"""A plan of verification: which fabrics are emulated, and what is sent on them."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta, Struct, field

from contend.errors import InputError, UsageError
from contend.studies.plan import (
    Name,
    Rate,
    Size,
    StudyPlan,
    Text,
    changed_by,
    check_each_once,
    check_only,
)

# TCP headers, acknowledgements and the start of every message take their part of the wire.
_OF_WIRE = 0.9
# Random pairs on small fabrics get a little more than half of a link's rate.
_MEAN_SLOWEST = 2.5


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """A fabric that is emulated.

    Attributes:
        name: what it is called in tables and figures.
        source: a generator or a topology file.
        routes: a file of forwarding tables.
        engine: computes the routes; both None for the fabric's own.
    """

    name: Name
    source: Text
    routes: Text | None = None
    engine: Text | None = None

    @staticmethod
    def parse(text: str) -> Case:
        """A case as an option names it: ``FABRIC``, or ``FABRIC@ENGINE``."""
        source, _, engine = text.partition("@")
        return Case(text, source, engine=engine or None)


class VerificationPlan(StudyPlan, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole study that holds the simulation against emulated fabrics.

    Attributes:
        cases: the fabrics.
        patterns: random bisect patterns on each fabric.
        bytes: of a packet.
        packets: that make up a message.
        two_way: whether both ranks of a pair send.
        rate: of every emulated cable each way.
        buffer: bytes that wait for an emulated channel at most.
        mpi: the MPI library as ``--mpi`` takes it; None for the first usable one.
    """

    kind: ClassVar[str] = "emulated"
    takes: ClassVar[frozenset[str]] = frozenset(
        (
            "only",
            "case",
            "patterns",
            "bytes",
            "packets",
            "two_way",
            "rate",
            "buffer",
            "mpi",
            "seed",
        )
    )

    cases: Annotated[tuple[Case, ...], Meta(min_length=1)] = field(name="case")
    patterns: Annotated[int, Meta(ge=1, le=1_000_000)] = 40
    bytes: Size = 100 << 10
    packets: Annotated[int, Meta(ge=1, le=1_000_000)] = 20
    two_way: bool = False
    rate: Rate = 12.5e6
    buffer: Size = 200_000
    mpi: Text | None = None

    @property
    def least_seconds(self) -> float:
        """How long a fabric takes at least, from what its messages and cables are."""
        message = self.bytes * self.packets / (self.rate * _OF_WIRE)
        return self.patterns * message * _MEAN_SLOWEST

    def changed(
        self,
        *,
        only: tuple[str, ...] | None = None,
        case: tuple[str, ...] | None = None,
        bytes: tuple[str, ...] | None = None,  # noqa: A002
        mpi: tuple[str, ...] | None = None,
        **values: object,
    ) -> VerificationPlan:
        """The plan with other values, checked as a whole.

        Args:
            only: names of the cases to keep.
            case: cases in place of the plan's, as `Case.parse` takes them.
            bytes: one size.
            mpi: one library.
            values: for keys of the plan.

        Raises:
            UsageError: the plan has no such case, or there are several sizes or libraries.
            InputError: when the plan does not fit together any more.
        """
        cases = self.cases if case is None else tuple(map(Case.parse, case))
        check_only(only, [each.name for each in cases], between="; ")
        for option, given in (("bytes", bytes), ("mpi", mpi)):
            if given is not None:
                if len(given) > 1:
                    raise UsageError(f"--{option}: {self.name} takes one, got {len(given)}")
                values[option] = given[0]
        kept = tuple(each for each in cases if only is None or each.name in only)
        plan = msgspec.structs.replace(changed_by(self.name, self, values), cases=kept)
        plan.check(self.name)
        return plan

    def check(self, source: str) -> None:
        """Refuses names that are there twice, and sizes of nothing.

        Raises:
            InputError: naming `source` and the key.
        """
        super().check(source)
        check_each_once(source, "case", (case.name for case in self.cases))
        for key in ("bytes", "buffer", "rate"):
            if getattr(self, key) == 0:
                raise InputError(source, 0, f"a size above 0 at {key}", "0")
