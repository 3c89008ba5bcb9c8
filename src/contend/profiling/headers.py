"""Which ranks left a record, by the headers of their files, and which records cannot be merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from contend.errors import InputError
from contend.profiling.clocks import TickCounter, counter_of
from contend.profiling.folder import OTHER_PROGRAM
from contend.profiling.record_file import read_header
from contend.runs import Warned

_ANOTHER_PROGRAM = (
    "the command started other MPI programs too, or ranks that did not find each other: of those "
    "nothing is here; profile each program by itself"
)


@dataclass
class Left:
    """Records that are not merged and stay as they are, and why."""

    names: list[str] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)

    def add(self, path: Path, code: str, text: str) -> None:
        """Leaves one."""
        self.names.append(path.name)
        self.warnings.append(Warned(code, f"{text}; the file is left as it is"))


def nothing(folder: Path, left: Left) -> str:
    """Why a profile has no rank at all."""
    if left.warnings:
        return f"{folder}: no rank left a record that can be read: {left.warnings[0].text}"
    return f"{folder}: no rank left a record"


@dataclass(frozen=True)
class RankHeader:
    """What is known of a rank by its header.

    Attributes:
        path: of its record.
        header: as it stands there.
        counter: its ticks on its host's clock.
        host: where it ran.
    """

    path: Path
    header: np.void
    counter: TickCounter
    host: str


def read_headers(records: Path, paths: Sequence[Path], left: Left) -> dict[int, RankHeader]:
    """Ranks by number; records that cannot be read, or are of another program, are left.

    Of programs that one command starts one after the other the first writes rank 0's record, and
    others those of ranks that it does not have.
    """
    ranks: dict[int, RankHeader] = {}
    size = 0
    others: list[Path] = []
    for path in paths:
        try:
            header = read_header(path)
        except InputError as error:
            left.add(path, "unreadable", str(error))
            continue
        size = size or int(header["size"])
        if int(header["size"]) != size or int(header["rank"]) in ranks:
            others.append(path)
            continue
        host = header["host"].partition(b"\0")[0].decode(errors="replace")
        rank = RankHeader(path, header, counter_of(header["clock"]), host)
        ranks[int(header["rank"])] = rank
    if others or (records / OTHER_PROGRAM).exists():
        left.names += [path.name for path in others]
        left.warnings.append(Warned("another-program", _ANOTHER_PROGRAM))
    return _with_periods(ranks)


def _with_periods(ranks: Mapping[int, RankHeader]) -> dict[int, RankHeader]:
    """Ranks that ended before their counter was read twice have the period of the others."""
    known = [rank.counter.period for rank in ranks.values() if rank.counter.period is not None]
    usual = float(np.median(known)) if known else None
    return {
        number: RankHeader(
            rank.path,
            rank.header,
            TickCounter(rank.counter.ticks, rank.counter.nanoseconds, rank.counter.period or usual),
            rank.host,
        )
        for number, rank in sorted(ranks.items())
    }
