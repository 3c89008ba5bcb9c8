"""Numbers known from elsewhere, and which of our points they stand beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta, Struct

from contend.units import parse_rate, parse_sizes

_Count = Annotated[int, Meta(ge=1)]
_Seconds = Annotated[float, Meta(gt=0)] | Literal["ERR"]


class Reference(Struct, frozen=True, forbid_unknown_fields=True):
    """One number, or a row of them over numbers of nodes; what is not said is not known.

    Attributes:
        source: whose numbers these are; with `library` the name they go by in tables.
        measure: name of a measurement of the plan.
        said: what the source calls it, where that differs.
        library: the MPI library of the source.
        conditions: those of the source.
        nodes: nodes, one or several.
        ranks: ranks in all.
        ranks_per_node: ranks on every node.
        numbers: vectors that were sorted.
        doubles: doubles in a vector, as a measurement has them.
        algorithm: the nearest of contend's.
        bytes: of a message to one destination.
        seconds: one for each of `nodes`; ERR where the source has an error.
        spread_s: standard deviation, in seconds.
        rate: of a rank, such as ``68.2 MiB/s``, in place of `seconds`.
        wire: what a port of the source's nodes carries, such as ``3.5 GB/s``.
    """

    source: Annotated[str, Meta(min_length=1)]
    measure: str
    said: str = ""
    library: str = ""
    conditions: str = ""
    nodes: _Count | tuple[_Count, ...] | None = None
    ranks: _Count | None = None
    ranks_per_node: _Count | None = None
    numbers: _Count | None = None
    doubles: str | None = None
    algorithm: str | None = None
    bytes: int | str | None = None
    seconds: _Seconds | tuple[_Seconds, ...] | None = None
    spread_s: float | None = None
    rate: str | None = None
    wire: str | None = None

    def known(self) -> Iterator[Known]:
        """Every single number.

        Raises:
            UsageError: for a size or rate that is none.
            ValueError: when there are not as many seconds as nodes, or neither seconds nor a rate.
        """
        nodes = self.nodes if isinstance(self.nodes, tuple) else (self.nodes,)
        seconds = self.seconds if isinstance(self.seconds, tuple) else (self.seconds,)
        if (self.seconds is None) == (self.rate is None):
            raise ValueError("either seconds or a rate")
        for count, time in zip(nodes, seconds, strict=True):
            yield Known(
                source=" ".join(filter(None, (self.source, self.library))),
                measure=self.measure,
                said=self.said,
                conditions=self.conditions,
                nodes=count,
                ranks=self.ranks,
                ranks_per_node=self.ranks_per_node,
                numbers=self.numbers,
                doubles=self.doubles,
                algorithm=self.algorithm,
                bytes=None if self.bytes is None else parse_sizes(str(self.bytes))[0],
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
