"""contend: how much of a network's rated bandwidth will this communication get?"""

from contend.congestion import MessageCongestion, Simulation, message_congestion, simulate
from contend.errors import ContendError, InputError, MissingError, ShortfallError, UsageError
from contend.fabric.fabric import Fabric
from contend.routes.forwarding import ForwardingTables

__all__ = [
    "ContendError",
    "Fabric",
    "ForwardingTables",
    "InputError",
    "MessageCongestion",
    "MissingError",
    "ShortfallError",
    "Simulation",
    "UsageError",
    "message_congestion",
    "simulate",
]
