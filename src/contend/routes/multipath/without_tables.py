"""Routes that switches find by themselves, on what is there: no tables say where they lead."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.routes.routes import Routes


@dataclass(frozen=True)
class RoutesWithoutTables(Routes):
    """Routes between hosts, whatever their LIDs; after a failure they are found anew."""

    @property
    def several(self) -> bool:
        """Over all that the switches find."""
        return True

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

    @abstractmethod
    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """As switches find them on what is left of a fabric; None is all of it."""
