"""Routes that are drawn by hashes, as Ethernet fabrics have them: no tables say where they lead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HashedRoutes:
    """Equal-cost multipath (ECMP): shortest paths, chosen at every switch by a hash.

    At every switch a message takes one of the cables that begin a shortest way to its target's
    switch, each as likely as the others, chosen by a hash of source, target, switch and draw. A
    simulation draws anew for every sample. There is nothing to write to a file.

    Attributes:
        engine: what these routes are called.
    """

    engine: str = "ecmp"

    @property
    def drawn(self) -> bool:
        """Whether a sample draws them anew: one drawing tells of no other."""
        return True

    @property
    def lanes(self) -> int:
        """Number of virtual lanes, of which Ethernet has none to choose from."""
        return 1
