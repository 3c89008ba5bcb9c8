from .headroom import Headroom as Headroom
from .layout import Settings as Settings
from .layout import host_labels as host_labels
from .network import EmulatedHosts as EmulatedHosts
from .network import Network as Network
from .network import bring_up as bring_up
from .network import was_emulated as was_emulated
from .traffic import Traffic as Traffic
