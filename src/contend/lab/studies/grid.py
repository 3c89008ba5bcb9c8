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
    """A place of the grid under one library and its conditions: what one run answers."""

    measure: str
    """Name of the measurement."""
    probe: str
    """Name of the probe."""
    library: str
    """MPI library as ``--mpi`` takes it; "" is the first usable one."""
    hosts: int
    """Number of hosts."""
    ranks_per_host: int
    """Ranks on every host; the last may have fewer."""
    ranks: int
    """Ranks in all."""
    conditions: str = ""
    """What programs cannot see."""
    algorithms: tuple[str, ...] = ()
    """Schedules (alltoall), or kinds of messages (pingpong)."""
    sizes: tuple[int, ...] = ()
    """Bytes of messages (alltoall, pingpong)."""
    vectors: int | None = None
    """Vectors that are sorted (sort)."""
    length: VectorLength | None = None
    """Length of a vector in doubles, as the plan has it (sort)."""
    input: str | None = None
    """Kind of input (sort)."""

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
    """A number of somebody else's and its place."""

    source: str = ""
    """Whose it is, with the library."""
    said: str = ""
    """What the source calls the algorithm or the case."""
    conditions: str = ""
    """Conditions under which it was measured."""
    seconds: float | None = None
    """Time; None for a rate or an error."""
    failed: bool = False
    """Whether the source has an error there."""
    spread_s: float | None = None
    """Standard deviation of the time."""
    rate_Bps: float | None = None
    """Bytes per second of a rank; None for a time."""
    wire_Bps: float | None = None
    """Bytes per second of a host's port; None where it is not known."""

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
    """One number, or a row of them over numbers of hosts; what is not said is not known."""

    source: Annotated[Text, Meta(min_length=1)]
    """Whose numbers these are; with `library` the name they go by in tables."""
    measure: Text
    """Name of a measurement of the plan."""
    said: Text = ""
    """What the source calls it, where that differs."""
    library: Text = ""
    """MPI library of the source."""
    conditions: Text = ""
    """Conditions of the source."""
    hosts: Count | tuple[Count, ...] | None = None
    """Numbers of hosts, one or several."""
    ranks: Count | None = None
    """Ranks in all."""
    ranks_per_host: Count | None = None
    """Ranks on every host."""
    vectors: Count | None = None
    """Vectors that were sorted."""
    length: Length | None = None
    """Doubles in a vector, as a measurement has them."""
    algorithm: Text | None = None
    """Nearest one of contend's schedules."""
    bytes: Size | None = None
    """Bytes of a message to one destination."""
    seconds: _Seconds | tuple[_Seconds, ...] | None = None
    """Times, one for each of `hosts`; ERR where the source has an error."""
    spread_s: Annotated[float, Meta(ge=0, lt=1e12)] | None = None
    """Standard deviation, in seconds."""
    rate: Rate | None = None
    """Rate of a rank, such as ``68.2 MiB/s``, in place of `seconds`."""
    wire: Rate | None = None
    """What a port of the source's hosts carries, such as ``3.5 GB/s``."""

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
