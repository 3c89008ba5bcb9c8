"""A plan of verification: which fabrics are emulated, and what is sent on them."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta, Struct, field

from contend.errors import InputError, UsageError
from contend.study.plan import Count, Name, StudyPlan, Text, at_key, check_each_once, check_only
from contend.units import parse_rate, parse_size

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
    bytes: Text | Count = "100K"
    packets: Annotated[int, Meta(ge=1, le=1_000_000)] = 20
    two_way: bool = False
    rate: Text = "100Mbit"
    buffer: Text | Count = "200kB"
    mpi: Text | None = None

    @property
    def packet_bytes(self) -> int:
        """Bytes of a packet."""
        return parse_size(str(self.bytes))

    @property
    def least_seconds(self) -> float:
        """How long a fabric takes at least, from what its messages and cables are."""
        message = self.packet_bytes * self.packets / (parse_rate(self.rate) * _OF_WIRE)
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
        if isinstance(rate := values.get("rate"), float):
            values["rate"] = f"{8 * rate:.0f}bit/s"
        for option, given in (("bytes", bytes), ("mpi", mpi)):
            if given is not None:
                if len(given) > 1:
                    raise UsageError(f"--{option}: {self.name} takes one, got {len(given)}")
                values[option] = given[0]
        kept = tuple(each for each in cases if only is None or each.name in only)
        plan = msgspec.structs.replace(self, cases=kept, **values)
        plan.check(self.name)
        return plan

    def check(self, source: str) -> None:
        """Refuses names that are there twice, and what is no size or rate.

        Raises:
            InputError: naming `source` and the key.
        """
        super().check(source)
        check_each_once(source, "case", (case.name for case in self.cases))
        for key, parse in (("bytes", parse_size), ("buffer", parse_size), ("rate", parse_rate)):
            with at_key(source, key):
                value = parse(str(getattr(self, key)))
            if value == 0:
                raise InputError(source, 0, f"a size above 0 at {key}", "0")
