"""contend: how much of a network's rated bandwidth will this communication get?"""

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
    "message_congestion",
    "predict",
    "simulate",
    "write_destinations",
]
