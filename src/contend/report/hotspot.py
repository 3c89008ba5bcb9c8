"""A hot spot for programs."""

from __future__ import annotations

from typing import Any

from contend.congestion import HotSpot
from contend.fabric import Fabric


def hotspot_json(found: HotSpot, fabric: Fabric) -> dict[str, Any]:
    """The channel, the victim and its rivals, by numbers and names; rivals in their order."""
    return {
        "fabric": fabric.name,
        "channel": found.channel,
        "channel_name": fabric.channel_name(found.channel),
        "victim": _pair(found.victim, fabric),
        "rivals": [
            {**_pair(rival, fabric), "shared_channels": shared}
            for rival, shared in zip(found.rivals, found.shared, strict=True)
        ],
        "asked": found.asked,
    }


def _pair(pair: tuple[int, int], fabric: Fabric) -> dict[str, Any]:
    source, target = pair
    return {
        "source": source,
        "target": target,
        "source_name": fabric.host_name[source],
        "target_name": fabric.host_name[target],
    }
