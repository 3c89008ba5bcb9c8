"""A switched fabric on this machine: network namespaces, joined as the fabric's cables say."""

from contend.emulate.counters import Traffic
from contend.emulate.headroom import Headroom
from contend.emulate.network import Network, bring_up
from contend.emulate.place import EmulatedHosts
from contend.emulate.settings import Settings

__all__ = ["EmulatedHosts", "Headroom", "Network", "Settings", "Traffic", "bring_up"]
