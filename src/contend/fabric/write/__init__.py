"""Writers of fabrics, one per format; each yields the pieces of a file."""

from collections.abc import Callable, Iterable

from contend.fabric.fabric import Fabric
from contend.fabric.write import fabric_file, graphml, ibnetdiscover, ibsim, orcs

Writer = Callable[[Fabric], Iterable[str] | Iterable[bytes]]

WRITERS: dict[str, Writer] = {
    "fabric": fabric_file.write,
    "ibnetdiscover": ibnetdiscover.write,
    "ibsim": ibsim.write,
    "orcs": orcs.write,
    "graphml": graphml.write,
}
"""The writers by the names of their formats."""
