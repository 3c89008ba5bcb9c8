"""contend: how much of a network's rated bandwidth will this communication get?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contend.congestion import (
    DrawnPattern,
    HotSpot,
    MessageCongestion,
    Simulation,
    draw_patterns,
    fair_share,
    fluid_times,
    hotspot,
    message_congestion,
    predict,
    simulate,
    write_destinations,
)
from contend.errors import ContendError, InputError, MissingError, ShortfallError, UsageError
from contend.fabric.fabric import Fabric
from contend.routes.forwarding import ForwardingTables

if TYPE_CHECKING:
    from contend.measurement.notebook import measure

__all__ = [
    "ContendError",
    "DrawnPattern",
    "Fabric",
    "ForwardingTables",
    "HotSpot",
    "InputError",
    "MessageCongestion",
    "MissingError",
    "ShortfallError",
    "Simulation",
    "UsageError",
    "draw_patterns",
    "fair_share",
    "fluid_times",
    "hotspot",
    "measure",
    "message_congestion",
    "predict",
    "simulate",
    "write_destinations",
]


def __getattr__(name: str) -> Any:
    # Loaded when it is first used: tables of samples take longer to load than most verbs run.
    if name != "measure":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from contend.measurement.notebook import measure

    return measure
