"""A switched fabric on this machine: network namespaces, joined as the fabric's cables say."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .headroom import Headroom
    from .hosts import (
        EmulatedHost,
        EmulatedHosts,
        Emulation,
        emulate,
        emulated_fabric,
        identity,
        order_of,
        was_emulated,
    )
    from .layout import PACKET, host_labels, packets_at_once
    from .network import Network, bring_up
    from .settings import Settings
    from .traffic import ChannelTraffic, CountedTraffic, Drops, Traffic, counted_together, drops_of
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
