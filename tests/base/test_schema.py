"""Results that are their own schema: what programs get of them, and how tables read."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from contend.base.schema import (
    FieldMark,
    LeftOut,
    PythonOnly,
    Rate,
    Share,
    Spread,
    members,
    plain,
    rows,
    told_once,
)
from contend.report.table import Number, table_of
from contend.routes import load


@dataclass(frozen=True)
class Part:
    name: str
    share: Share | None
    hosts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    from_: Part
    rate_Bps: Rate
    matrix: NDArray[np.float64]
    secret: PythonOnly[NDArray[np.float64]]
    remark: LeftOut[str] = None

    @told_once
    def size(self) -> int:
        """Number of parts."""
        return len(self.parts)

    @property
    def inside(self) -> int:
        """For Python alone."""
        return 1


@dataclass(frozen=True)
class Numbered:
    number: int
    part: Spread[Part]


class Held(msgspec.Struct):
    numbered: Numbered
    remark: LeftOut[str] = None
    secret: PythonOnly[int] = 0


PART = Part("a", 0.5, (1, 2))
WHOLE = Whole((PART, Part("b", None)), PART, 2.5e9, np.eye(2), np.ones(1))


def test_members_and_their_marks() -> None:
    found = {member.name: member.marks for member in members(Whole)}
    assert list(found) == ["parts", "from_", "rate_Bps", "matrix", "remark", "size"]
    assert found["rate_Bps"] == {FieldMark.RATE}
    assert found["remark"] == {FieldMark.LEFT_OUT}
    share = members(Part)[1]
    assert (share.marks, share.alternatives) == ({FieldMark.SHARE}, {float})


def test_what_programs_get() -> None:
    part = {"name": "a", "share": 0.5, "hosts": [1, 2]}
    assert plain(WHOLE) == {
        "parts": [part, {"name": "b", "share": None, "hosts": []}],
        "from": part,
        "rate_Bps": 2.5e9,
        "matrix": [[1, 0], [0, 1]],
        "size": 2,
    }
    assert plain({"fabric": load("crossbar:4"), 3: np.float64(1)}) == {
        "fabric": {"name": "crossbar:4", "hosts": 4, "switches": 1, "channels": 8},
        "3": 1.0,
    }
    assert plain(Held(Numbered(7, PART))) == {"numbered": {"number": 7, **part}}


def test_rows_are_flat() -> None:
    assert rows(WHOLE) == [plain(part) for part in WHOLE.parts]
    [row] = rows({"first": PART, "n": 1})
    assert row == {"first.name": "a", "first.share": 0.5, "first.hosts": [1, 2], "n": 1}
    with pytest.raises(KeyError):
        rows(WHOLE, "nothing")


def test_a_table_reads_as_marks_say() -> None:
    columns = {
        "name": "name",
        "share": "share",
        "hosts": Number[Part](lambda part: f"{len(part.hosts)} of 2"),
        "first": lambda part: str(part.hosts[:1]),
    }
    table = table_of("Parts", WHOLE.parts, columns)
    assert table.rows == (("a", "50.0 %", "2 of 2", "(1,)"), ("b", "-", "0 of 2", "()"))
    assert table.numeric == {"share", "hosts"}
    assert table_of("Rates", [WHOLE], {"rate": "rate_Bps"}).rows == (("2.5 GB/s",),)
    assert table_of("Nothing", [], {"name": "name"}).rows == ()
