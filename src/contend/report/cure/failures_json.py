"""What failures cost, as JSON."""

from __future__ import annotations

from typing import Annotated

import msgspec

from contend.cure import FabricFailure
from contend.fabric import FabricSize
from contend.report.document import filled


class ServersHitJson(msgspec.Struct, frozen=True, kw_only=True):
    """Servers that lose as many of as many rails."""

    servers: Annotated[int, "how many."]
    lost: Annotated[int, "adapters that each loses."]
    rails: Annotated[int, "adapters of each before."]


class StillGetsJson(msgspec.Struct, frozen=True, kw_only=True):
    """What servers get that lose some of their rails, where random pairs send within rails."""

    before: Annotated[float, "on the whole fabric, as a share of the rate of their ports."]
    after: Annotated[float, "of the same ports: those gone get nothing."]


class FailureJson(msgspec.Struct, frozen=True, kw_only=True):
    """A failure of a switch, a cable, or two of them."""

    parts: Annotated[str, "what failed, as --without takes it."]
    kinds: Annotated[list[str], '"switch" or "cable", for each.']
    hosts: Annotated[int, "that are gone with it or cut off."]
    changed: Annotated[int, "table entries that had to change; 0 where there are no tables."]
    cut: Annotated[
        float,
        "share of pairs of the hosts left whose messages do not arrive; only where tables of "
        "adaptive routing stay as they were.",
    ]
    bandwidth: Annotated[
        float,
        "what random pairs of hosts get on average, with mended tables or, without tables, over "
        "the shortest paths that are left.",
    ]
    change: Annotated[float, "against what the same pairs get on the whole fabric."]
    margin: Annotated[float, "half of the 95 % interval of the change."]
    rerouted: Annotated[
        float | None, "the same mean with all tables recomputed; null where that was not tried."
    ]
    rerouted_change: Annotated[
        float | None,
        "against what the same pairs get on the whole fabric with recomputed tables; null "
        "likewise.",
    ]
    rerouted_margin: Annotated[
        float | None, "half of the 95 % interval of that change; null likewise."
    ]
    servers: Annotated[list[ServersHitJson], "of several adapters that lose some or all of them."]
    still: Annotated[
        StillGetsJson | None,
        "what those get that keep others; null where there are none, or it was not tried.",
    ]


class FailuresJson(msgspec.Struct, frozen=True, kw_only=True):
    """What failures cost."""

    fabric: Annotated[FabricSize, "whole."]
    verdict: Annotated[str, "one-sentence verdict."]
    hosts: Annotated[int, "that take part."]
    bandwidth: Annotated[float, "what random pairs of them get on average while nothing is broken."]
    rerouted: Annotated[
        float | None, "the same with recomputed tables; null where the engine refuses."
    ]
    samples: Annotated[int, "patterns of random pairs that each was judged by."]
    engine: Annotated[str, "that recomputed the tables."]
    alone: Annotated[list[FailureJson], "of one switch or cable each, the worst first."]
    possible: Annotated[
        int, "switches and cables; where alone has fewer, they were drawn from these at random."
    ]
    pairs: Annotated[list[FailureJson], "two of the worst at once."]


def failure_json(one: FabricFailure) -> FailureJson:
    """What one failure costs."""
    return filled(
        FailureJson,
        one,
        parts=one.name,
        kinds=[kind for kind, _ in one.parts],
        servers=[filled(ServersHitJson, hit) for hit in one.servers],
        still=None if one.still is None else filled(StillGetsJson, one.still),
        rerouted_change=None if one.rerouted is None else one.rerouted_change,
        rerouted_margin=None if one.rerouted is None else one.rerouted_margin,
    )
