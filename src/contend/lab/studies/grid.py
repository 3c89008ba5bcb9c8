"""The grid of a measured plan: its places and cells, and numbers known from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Annotated, Literal

from msgspec import Meta, Struct

from contend.base.errors import UsageError
from contend.base.units import counted
from contend.lab.measurement import BYTES_OF_DOUBLE, VectorLength
from contend.lab.studies.plan import Count, Length, Rate, Size, Text

_OF_ALL_NUMBERS = (
    *("measure", "said", "conditions", "ranks", "ranks_per_host"),
    *("vectors", "length", "algorithm", "bytes", "spread_s"),
)
_Seconds = Annotated[float, Meta(gt=0, lt=1e12)] | Literal["ERR"]


@dataclass(frozen=True)
class GridPlace:
    """Where in a plan's grid something stands; None is not known or does not apply."""

    measure: str
    """Name of the measurement in the plan."""
    hosts: int | None = None
    """Number of hosts."""
    ranks: int | None = None
    """Number of ranks."""
    ranks_per_host: int | None = None
    """Ranks on every host."""
    vectors: int | None = None
    """Number of vectors that were sorted."""
    length: VectorLength | None = None
    """Length of a vector, as the plan has it."""
    algorithm: str | None = None
    """The schedule."""
    bytes: int | None = None
    """Bytes to each other rank."""

    def beside(self, place: GridPlace) -> bool:
        """Whether everything that is known of this place is so at another."""
        return all(
            mine is None or mine == getattr(place, field.name)
            for field in fields(GridPlace)
            for mine in [getattr(self, field.name)]
        )

    def least_s(self, wire: float) -> float | None:
        """Seconds that the exchange of a sort takes at least: what leaves a host over its wire.

        Each of N hosts sends the share (N - 1) / N of its arrays. None on one host.
        """
        hosts, vectors, length = self.hosts, self.vectors, self.length
        if hosts is None or hosts < 2 or vectors is None or length is None:
            return None
        vector = BYTES_OF_DOUBLE * length.at(hosts)
        return vectors / hosts * vector * (hosts - 1) / hosts / wire


@dataclass(frozen=True)
class GridCell:
    """A place of the grid under one library and its conditions: what one run answers.

    Attributes:
        measure: name of the measurement.
        probe: which program.
        library: MPI library as ``--mpi`` takes it; "" is the first usable one.
        hosts: on how many.
        ranks_per_host: ranks on every host; the last may have fewer.
        ranks: in all.
        conditions: what programs cannot see.
        algorithms: schedules (alltoall), or kinds of messages (pingpong).
        sizes: bytes of messages (alltoall, pingpong).
        vectors: that are sorted (sort).
        length: of a vector in doubles, as the plan has it (sort).
        input: kind of input (sort).
    """

    measure: str
    probe: str
    library: str
    hosts: int
    ranks_per_host: int
    ranks: int
    conditions: str = ""
    algorithms: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    vectors: int | None = None
    length: VectorLength | None = None
    input: str | None = None

    @property
    def vector(self) -> int | None:
        """Doubles in a vector."""
        return None if self.length is None else self.length.at(self.hosts)

    def place(self, point: tuple[str | None, int | None] = (None, None)) -> GridPlace:
        """Where one of its points stands, or all together."""
        return GridPlace(
            self.measure,
            self.hosts,
            self.ranks,
            self.ranks_per_host,
            self.vectors,
            self.length,
            *point,
        )

    def points(self) -> list[tuple[str | None, int | None]]:
        """Algorithm and bytes of everything that it measures; None where there are none."""
        return [
            (name, size) for name in self.algorithms or (None,) for size in self.sizes or (None,)
        ]

    @property
    def label(self) -> str:
        """The cell for people; the usual input goes without saying."""
        even = self.ranks == self.hosts * self.ranks_per_host
        said = [
            self.measure,
            self.library,
            f"{self.hosts} × {self.ranks_per_host}",
            "" if even else counted(self.ranks, "rank"),
            f"m = {self.length}" if self.length else "",
            self.input if self.input not in (None, "built") else "",
            self.conditions,
        ]
        return ", ".join(filter(None, said))


@dataclass(frozen=True)
class Known(GridPlace):
    """A number of somebody else's and its place.

    Attributes:
        source: whose, with the library.
        said: what the source calls the algorithm or the case.
        conditions: under which it was measured.
        seconds: the time; None for a rate or an error.
        failed: whether the source has an error there.
        spread_s: standard deviation of the time.
        rate_Bps: bytes per second of a rank; None for a time.
        wire_Bps: bytes per second of a host's port; None where it is not known.
    """

    source: str = ""
    said: str = ""
    conditions: str = ""
    seconds: float | None = None
    failed: bool = False
    spread_s: float | None = None
    rate_Bps: float | None = None
    wire_Bps: float | None = None

    @property
    def placed(self) -> bool:
        """Whether enough is known of its place to compare it with a single point."""
        ranks = self.ranks is not None or self.hosts is not None
        return ranks and (self.bytes is None or self.algorithm is not None)

    def rate_of(self, ranks: int | None) -> float | None:
        """Bytes per second of a rank: said, or (p - 1) times the message over the time."""
        if self.rate_Bps is not None:
            return self.rate_Bps
        if self.seconds is None or self.bytes is None or ranks is None:
            return None
        return (ranks - 1) * self.bytes / self.seconds


class Published(Struct, frozen=True, forbid_unknown_fields=True):
    """One number, or a row of them over numbers of hosts; what is not said is not known.

    Attributes:
        source: whose numbers these are; with `library` the name they go by in tables.
        measure: name of a measurement of the plan.
        said: what the source calls it, where that differs.
        library: the MPI library of the source.
        conditions: those of the source.
        hosts: numbers of hosts, one or several.
        ranks: ranks in all.
        ranks_per_host: ranks on every host.
        vectors: vectors that were sorted.
        length: doubles in a vector, as a measurement has them.
        algorithm: the nearest of contend's.
        bytes: of a message to one destination.
        seconds: one for each of `hosts`; ERR where the source has an error.
        spread_s: standard deviation, in seconds.
        rate: of a rank, such as ``68.2 MiB/s``, in place of `seconds`.
        wire: what a port of the source's hosts carries, such as ``3.5 GB/s``.
    """

    source: Annotated[Text, Meta(min_length=1)]
    measure: Text
    said: Text = ""
    library: Text = ""
    conditions: Text = ""
    hosts: Count | tuple[Count, ...] | None = None
    ranks: Count | None = None
    ranks_per_host: Count | None = None
    vectors: Count | None = None
    length: Length | None = None
    algorithm: Text | None = None
    bytes: Size | None = None
    seconds: _Seconds | tuple[_Seconds, ...] | None = None
    spread_s: Annotated[float, Meta(ge=0, lt=1e12)] | None = None
    rate: Rate | None = None
    wire: Rate | None = None

    def known(self) -> Iterator[Known]:
        """Every single number.

        Raises:
            UsageError: there are not as many seconds as hosts, or neither seconds nor a rate.
        """
        hosts = self.hosts if isinstance(self.hosts, tuple) else (self.hosts,)
        seconds = self.seconds if isinstance(self.seconds, tuple) else (self.seconds,)
        if (self.seconds is None) == (self.rate is None):
            got = "neither" if self.rate is None else "both"
            raise UsageError(f"expected either seconds or a rate, got {got}")
        if len(hosts) != len(seconds):
            wanted = f"seconds for each of its {len(hosts)} numbers of hosts"
            raise UsageError(f"expected {wanted}, got {len(seconds)}")
        same = {name: getattr(self, name) for name in _OF_ALL_NUMBERS}
        for count, time in zip(hosts, seconds, strict=True):
            yield Known(
                **same,
                source=" ".join(filter(None, (self.source, self.library))),
                hosts=count,
                seconds=None if time == "ERR" else time,
                failed=time == "ERR",
                rate_Bps=self.rate,
                wire_Bps=self.wire,
            )
