from .counters import Traffic as Traffic
from .foreground import run_foreground as run_foreground
from .headroom import Headroom as Headroom
from .network import Network as Network
from .network import bring_up as bring_up
from .place import EmulatedHosts as EmulatedHosts
from .settings import Settings as Settings
