"""A cell's result as it is kept: one JSON file, beside the samples in a run folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from contend.errors import InputError
from contend.files import write_whole
from contend.study.measured.cell import Cell
from contend.study.references import Coordinates

Cause = Literal["memory", "hosts", "crash", "timeout", "budget", "data", "unsuited", "launch"]
"""Why there is no figure: it does not fit the memory (or ran out of it), there are not enough
hosts, a signal ended a rank, it did not end in time, no time was left for it, data came out wrong,
it makes no sense there (a schedule for powers of two on 12 ranks), or it did not start or ended
itself."""

UNSUITED = "unsuited"


class Failure(Struct, frozen=True):
    """Why there is no figure, and what was said."""

    cause: Cause
    said: str


class Point(Struct, frozen=True):
    """A point of a cell: its figures, or why there are none.

    Attributes:
        algorithm: the schedule; None where the probe has none.
        bytes: of a message; None where the probe has no sizes.
        failure: why it has no figures; None where it has.
        samples: how many count: neither warm-up nor late.
        late: samples that did not count because a rank started late.
        median_s: seconds, with its 95 % interval `low_s` to `high_s`.
        p99_s: seconds within which 99 % of the samples are.
        max_s: the longest.
        rate_Bps: bytes per second and rank; None where it has no meaning.
        verified: whether the data was right; None where it was not checked.
        ended: why sampling ended.
        steps_s: medians of the parts of a sample by name, where the probe times some.
    """

    algorithm: str | None = None
    bytes: int | None = None
    failure: Failure | None = None
    samples: int = 0
    late: int = 0
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    p99_s: float | None = None
    max_s: float | None = None
    rate_Bps: float | None = None  # noqa: N815
    verified: bool | None = None
    ended: str = ""
    steps_s: dict[str, float] = {}


class Terms(Struct, frozen=True, forbid_unknown_fields=True):
    """What decides a cell's figures beside the cell itself."""

    on: str
    precision: float
    repetitions: tuple[int, int]
    verify: bool
    seed: int


class Record(Struct, frozen=True):
    """A cell that has ended.

    Attributes:
        cell: what was asked for.
        terms: how.
        seats: where its ranks were, for people.
        one_host: whether its nodes were groups of ranks on one host.
        points: what came out.
        host_bytes: what the data on a host needs at most, as it was predicted.
        memory: bytes of a host that it was compared with; None where they are not known.
        library: MPI library as it calls itself.
        warnings: what a reader must know.
        runs: run folders below that of the study; several where a launch was begun again.
        budget_s: seconds that it had.
        elapsed_s: seconds that it took.
    """

    cell: Cell
    terms: Terms
    seats: str
    points: tuple[Point, ...]
    one_host: bool = False
    host_bytes: int = 0
    memory: int | None = None
    library: str = ""
    warnings: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    budget_s: float = 0.0
    elapsed_s: float = 0.0

    @property
    def failures(self) -> list[Failure]:
        """Why points have no figures, each reason once."""
        return list(dict.fromkeys(p.failure for p in self.points if p.failure is not None))

    @property
    def failed(self) -> bool:
        """Whether a point has no figures that could have some."""
        return any(failure.cause != UNSUITED for failure in self.failures)

    def place(self, point: Point) -> Coordinates:
        """Where a point stands in the plan's grid."""
        return replace(self.cell.place, algorithm=point.algorithm, bytes=point.bytes)


def write_record(path: Path, record: Record) -> None:
    """Writes a cell's file, whole or not at all."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def read_record(path: Path) -> Record:
    """Reads a cell's file.

    Raises:
        InputError: when it is not what `write_record` writes.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), 0, "a cell of a measured study", str(error)) from None
