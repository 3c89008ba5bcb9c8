"""Numbers known from elsewhere, which of our points they stand beside, and what wires allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta, Struct

from contend.errors import UsageError
from contend.measurement import BYTES_OF_DOUBLE, VectorLength
from contend.study.plan import Count, Text
from contend.units import parse_rate, parse_size

_Seconds = Annotated[float, Meta(gt=0, lt=1e12)] | Literal["ERR"]


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
    length: Text | None = None
    algorithm: Text | None = None
    bytes: Count | Text | None = None
    seconds: _Seconds | tuple[_Seconds, ...] | None = None
    spread_s: Annotated[float, Meta(ge=0, lt=1e12)] | None = None
    rate: Text | None = None
    wire: Text | None = None

    def known(self) -> Iterator[Known]:
        """Every single number.

        Raises:
            UsageError: for a size or rate that is none, when there are not as many seconds as
                hosts, or neither seconds nor a rate.
        """
        hosts = self.hosts if isinstance(self.hosts, tuple) else (self.hosts,)
        seconds = self.seconds if isinstance(self.seconds, tuple) else (self.seconds,)
        if (self.seconds is None) == (self.rate is None):
            got = "neither" if self.rate is None else "both"
            raise UsageError(f"expected either seconds or a rate, got {got}")
        if len(hosts) != len(seconds):
            wanted = f"seconds for each of its {len(hosts)} numbers of hosts"
            raise UsageError(f"expected {wanted}, got {len(seconds)}")
        for count, time in zip(hosts, seconds, strict=True):
            yield Known(
                source=" ".join(filter(None, (self.source, self.library))),
                measure=self.measure,
                said=self.said,
                conditions=self.conditions,
                nodes=count,
                ranks=self.ranks,
                ranks_per_node=self.ranks_per_host,
                numbers=self.vectors,
                doubles=self.length,
                algorithm=self.algorithm,
                bytes=None if self.bytes is None else parse_size(str(self.bytes)),
                seconds=None if time == "ERR" else time,
                failed=time == "ERR",
                spread_s=self.spread_s,
                rate_Bps=None if self.rate is None else parse_rate(self.rate),
                wire_Bps=None if self.wire is None else parse_rate(self.wire),
            )


@dataclass(frozen=True)
class Coordinates:
    """Where in a plan's grid something stands; None is not known or does not apply."""

    measure: str
    nodes: int | None = None
    ranks: int | None = None
    ranks_per_node: int | None = None
    numbers: int | None = None
    doubles: str | None = None
    algorithm: str | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class Known(Coordinates):
    """A number of somebody else's and its place.

    Attributes:
        source: whose, with the library.
        said: what the source calls the algorithm or the case.
        conditions: under which it was measured.
        seconds: the time; None for a rate or an error.
        failed: whether the source has an error there.
        spread_s: standard deviation of the time.
        rate_Bps: bytes per second of a rank; None for a time.
        wire_Bps: bytes per second of a node's port; None where it is not known.
    """

    source: str = ""
    said: str = ""
    conditions: str = ""
    seconds: float | None = None
    failed: bool = False
    spread_s: float | None = None
    rate_Bps: float | None = None  # noqa: N815
    wire_Bps: float | None = None  # noqa: N815

    @property
    def placed(self) -> bool:
        """Whether enough is known of its place to compare it with a single point."""
        ranks = self.ranks is not None or self.nodes is not None
        return ranks and (self.bytes is None or self.algorithm is not None)

    def beside(self, place: Coordinates) -> bool:
        """Whether everything that is known of its place is so at another."""
        return all(
            mine is None or mine == getattr(place, name)
            for name in Coordinates.__dataclass_fields__
            for mine in [getattr(self, name)]
        )

    def rate_of(self, ranks: int | None) -> float | None:
        """Bytes per second of a rank: said, or (p - 1) times the message over the time."""
        if self.rate_Bps is not None:
            return self.rate_Bps
        if self.seconds is None or self.bytes is None or ranks is None:
            return None
        return (ranks - 1) * self.bytes / self.seconds


def time_limit(place: Coordinates, wire: float) -> float | None:
    """Seconds that the exchange of a sort takes at least: bytes that leave a node over its wire.

    Each of N nodes sends the share (N - 1) / N of its arrays. None on one node.
    """
    nodes, numbers = place.nodes, place.numbers
    if nodes is None or nodes < 2 or numbers is None or place.doubles is None:
        return None
    vector = BYTES_OF_DOUBLE * VectorLength.parse(place.doubles).at(nodes)
    return numbers / nodes * vector * (nodes - 1) / nodes / wire
