"""What a study needs done: fabrics loaded, routed, kept and rated, patterns simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from contend.congestion import Simulation
from contend.fabric import Fabric

OnSamples = Callable[[int, int], None]
"""Called with the samples done and to do."""


class Simulate(Protocol):
    """`contend.congestion.simulate`, as far as a study needs it."""

    def __call__(
        self,
        fabric: Fabric,
        pattern: str,
        *,
        placement: str,
        samples: int | None,
        precision: float | None,
        seed: int,
        progress: OnSamples | None,
    ) -> Simulation:
        """Simulates a pattern."""
        ...


@dataclass(frozen=True)
class Services:
    """The other rooms as a study sees them.

    Attributes:
        route: loads a fabric from source and file of routes, or routes it with an engine.
        load: reads a fabric that was kept.
        save: keeps a fabric.
        rate: rated bisection bandwidth as a fraction of full bisection.
        simulate: simulates a pattern on a routed fabric.
    """

    route: Callable[[str, str | None, str | None], Fabric]
    load: Callable[[Path], Fabric]
    save: Callable[[Fabric, Path], None]
    rate: Callable[[Fabric], float]
    simulate: Simulate


def real_services() -> Services:
    """The real rooms."""
    # Imported here: graph partitioning and maximum flows take longer to load than other verbs run.
    from contend.congestion import simulate
    from contend.fabric import bisection
    from contend.loading import load
    from contend.routes import save

    return Services(
        route=lambda source, routes, engine: load(
            source, routes=routes, route=engine, need_routes=True
        ),
        load=lambda path: load(str(path)),
        save=save,
        rate=lambda fabric: bisection(fabric).share,
        simulate=simulate,
    )
