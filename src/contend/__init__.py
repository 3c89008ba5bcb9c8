"""contend: how much of a network's rated bandwidth will this communication get?"""

from contend.errors import ContendError, InputError, MissingError, ShortfallError, UsageError
from contend.fabric.fabric import Fabric
from contend.routes.forwarding import ForwardingTables

__all__ = [
    "ContendError",
    "Fabric",
    "ForwardingTables",
    "InputError",
    "MissingError",
    "ShortfallError",
    "UsageError",
]
