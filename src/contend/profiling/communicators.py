"""Communicators of all ranks by one number each: what members call by one identity is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.profiling.folder import SCHEMAS
from contend.profiling.record_file import RankRecord
from contend.profiling.record_form import INTER, OTHERS, SELF, WINDOW, WORLD

_RESERVED = ("MPI_COMM_WORLD", "MPI_COMM_SELF", "others")
_MOST_DIMENSIONS = 8
_KINDS = 6


class Communicators:
    """All communicators of a profile, numbered as they come, after the three that always are."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._rows: list[dict[str, Any]] = [
            _row(number, name) for number, name in enumerate(_RESERVED)
        ]
        self._members: dict[int, NDArray[np.int32]] = {}
        self._sides: dict[int, dict[bytes, NDArray[np.int32]]] = {}
        self._of_rank: dict[int, NDArray[np.uint32]] = {}

    def numbers_of(self, record: RankRecord) -> NDArray[np.uint32]:
        """Numbers of a rank's communicators, by their index in its record; adds those not known."""
        if record.rank not in self._of_rank:
            self._of_rank[record.rank] = self._numbered(record)
        return self._of_rank[record.rank]

    def _numbered(self, record: RankRecord) -> NDArray[np.uint32]:
        self._rows[WORLD]["size"] = record.size
        numbers = np.arange(len(record.communicators), dtype=np.uint32)
        for index in range(OTHERS + 1, len(numbers)):
            own = record.communicators[index]
            identity = int(own["id"])
            known = self._numbers.get(identity)
            if known is None:
                known = self._numbers[identity] = len(self._rows)
                # A parent comes before its children.
                parent = int(numbers[min(int(own["parent"]), index)])
                name = own["name"].decode(errors="replace")
                self._rows.append(_row(known, name, own, parent if parent < known else WORLD))
            members = record.members_of(index)
            if members is not None and int(own["kind"]) == INTER:
                # Each side has the ranks of the other, and both enter its collectives.
                both = self._sides.setdefault(known, {})
                both[members.tobytes()] = members.copy()
                if len(both) > 1:
                    self._members[known] = np.concatenate([*both.values()])
            elif members is not None and known not in self._members:
                self._members[known] = members.copy()
            numbers[index] = known
        return numbers

    def comparable(self) -> NDArray[np.int64]:
        """Members of every communicator; 0 where members' calls cannot be matched."""
        sizes = np.array([row["size"] for row in self._rows], np.int64)
        sizes[[row["kind"] == INTER for row in self._rows]] = 0
        sizes[[SELF, OTHERS]] = 0
        return sizes

    def table(self) -> pl.DataFrame:
        """A row for every communicator."""
        return pl.DataFrame(self._rows, schema=SCHEMAS["communicators"])

    @property
    def by_number(self) -> dict[int, NDArray[np.int32]]:
        """Ranks of all communicators whose members are known, but for those that always are."""
        return self._members

    def members(self) -> pl.DataFrame:
        """Ranks of all communicators whose members are known, but for those that always are."""
        schema = SCHEMAS["members"]
        parts = list(self._members.items())
        none = np.zeros(0, np.int32)
        columns = (
            np.concatenate([none, *(np.full(len(part), number) for number, part in parts)]),
            np.concatenate([none, *(np.arange(len(part)) for _, part in parts)]),
            np.concatenate([none, *(part for _, part in parts)]),
        )
        table = pl.DataFrame(dict(zip(schema, columns, strict=True)))
        return table.select(pl.col(name).cast(kind) for name, kind in schema.items())


def _row(number: int, name: str, own: np.void | None = None, parent: int = WORLD) -> dict[str, Any]:
    dimensions = 0 if own is None else min(int(own["dimensions"]), _MOST_DIMENSIONS)
    dimensions *= own is not None and int(own["kind"]) != WINDOW
    extent = "" if own is None else "x".join(map(str, own["extent"][:dimensions].tolist()))
    return {
        "communicator": number,
        "parent": parent,
        "kind": 0 if own is None else min(int(own["kind"]), _KINDS - 1),
        "size": 1 if own is None else int(own["size"]),
        "dimensions": dimensions,
        "extent": extent,
        "name": name,
    }
