from .headroom import Headroom as Headroom
from .layout import Settings as Settings
from .network import EmulatedHosts as EmulatedHosts
from .network import Network as Network
from .network import bring_up as bring_up
from .traffic import Traffic as Traffic
