"""Routes that switches find by themselves, on what is there: no tables say where they lead."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.routes.room import expect_memory
from contend.routes.routes import Routes, Ways
from contend.routes.shapes import needing_none


@dataclass(frozen=True)
class RoutesWithoutTables(Routes):
    """Routes between hosts, whatever their LIDs; after a failure they are found anew."""

    @property
    def ways(self) -> Ways:
        """All that the switches find."""
        return Ways.SPLIT

    def resolver(
        self, fabric: Fabric, hosts: NDArray[np.uint32], *, spread: bool, messages: float
    ) -> _core.Resolver:
        """On the whole fabric."""
        if spread:
            raise UsageError(
                f"{self.engine} routes between hosts: they have no further LIDs to spread over"
            )
        return self.on_rest(fabric, hosts, None)

    def found_anew(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains
    ) -> _core.Resolver:
        """Likewise."""
        return self.on_rest(fabric, hosts, rest)

    def expect_room(
        self,
        fabric: Fabric,
        hosts: NDArray[np.uint32],
        rest: _core.Remains | None,
        *,
        between_leaves: int = 0,
    ) -> None:
        """Refuses next hops that are larger than this machine's memory.

        The core keeps four bytes or more for every switch and switch with hosts.

        Args:
            fabric: with the switches.
            hosts: that take part.
            rest: what is left of the fabric; None is all of it.
            between_leaves: further bytes for every two switches with hosts, those of a round among
                them.

        Raises:
            MissingError: with what they need, and what needs less.
        """

        def instead() -> str:
            return (needing_none(fabric) if rest is None else "") or "fewer hosts need less"

        leaves = len(np.unique(fabric.host_switch[hosts]))
        size = leaves * (4 * fabric.switches + between_leaves * leaves)
        what = f"next hops of {self.engine} on {fabric.name} need at least"
        expect_memory(size, what, instead=instead)

    def told_by_no_file(self) -> UsageError:
        """Where no tables with groups of ports say the same."""
        return UsageError(
            f"no file says that routes are those of {self.engine}: give route=ecmp or spray"
        )

    @abstractmethod
    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """As switches find them on what is left of a fabric; None is all of it."""
