"""A hot spot as JSON."""

from __future__ import annotations

import msgspec

from contend.congestion import HotSpot
from contend.fabric import Fabric


class HotspotPairsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of hosts whose messages share a channel.

    Attributes:
        channel: the channel that all pairs share.
        victim: source and target of the pair that is measured.
        rivals: source and target of every pair that may load the channel.
    """

    channel: str
    victim: tuple[str, str]
    rivals: list[tuple[str, str]]


def hotspot_json(spot: HotSpot, fabric: Fabric) -> HotspotPairsJson:
    """The channel, the victim and its rivals by name; rivals in their order."""

    def names(pair: tuple[int, int]) -> tuple[str, str]:
        source, target = pair
        return str(fabric.host_name[source]), str(fabric.host_name[target])

    return HotspotPairsJson(
        channel=fabric.channel_name(spot.channel),
        victim=names(spot.victim),
        rivals=[names(rival) for rival in spot.rivals],
    )
