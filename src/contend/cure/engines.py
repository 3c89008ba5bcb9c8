"""Routing engines side by side: what each makes of a fabric, or why it refuses it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from contend.congestion import Simulation, simulate
from contend.errors import ContendError, MissingError
from contend.fabric import Fabric
from contend.placement import HostChoice
from contend.routes import check_engine, compute, dependency_cycle, engine_names

PRESENT = "present"
"""What the tables are called that the fabric comes with."""
# One is for one fabric alone, the other makes no tables.
_NOT_COMPARED = ("fig1", "ecmp")
_BY_OPENSM = "opensm:"


@dataclass(frozen=True, eq=False)
class RoutedBy:
    """What an engine makes of a fabric.

    Attributes:
        engine: with its options, or `PRESENT`.
        seconds: that computing the tables took; None for present ones.
        bisect: random pairs of hosts by its tables; None where it refuses.
        shifts: all hosts by every distance in turn, in the fabric's order of hosts.
        lanes: virtual lanes that the tables say they use.
        dependency_cycle: channels that wait for each other in a circle on one of these lanes: a
            lossless network can lock up.
        refusal: why there are no tables, or none by which all messages arrive; "" where there are.
    """

    engine: str
    seconds: float | None = None
    bisect: Simulation | None = None
    shifts: Simulation | None = None
    lanes: int = 1
    dependency_cycle: tuple[int, ...] = ()
    refusal: str = ""

    @property
    def bandwidth(self) -> float:
        """Effective bisection bandwidth, as a share of a link's rate; 0 where it refuses."""
        return 0.0 if self.bisect is None else self.bisect.effective_bandwidth

    @property
    def worst_shift(self) -> float:
        """1 over the mean congestion of the distance that meets most; 0 where it refuses."""
        return 0.0 if self.shifts is None else 1 / float(self.shifts.round_mean_congestion.max())

    @property
    def alltoall(self) -> float:
        """What an all-to-all gets at most: the slowest port's time over the hottest channel's.

        Where links are alike, a port's messages over those of the fullest channel. No schedule of
        its messages is faster.
        """
        if self.shifts is None:
            return 0.0
        # Ports of hosts are not counted where no two messages of a round meet there.
        slowness = 1 / self.shifts.relative_rates[-2 * self.shifts.hosts :]
        through_port = (self.shifts.ranks - 1) * float(slowness.max(initial=1.0))
        hottest = float(self.shifts.channel_heat.max()) * self.shifts.rounds
        return through_port / max(hottest, through_port, 1)


def compare_engines(
    fabric: Fabric,
    engines: Sequence[str] = (),
    *,
    hosts: HostChoice | None = None,
    limit: float = 60.0,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> list[RoutedBy]:
    """Computes a fabric's tables with one engine after the other, and judges them alike.

    Args:
        fabric: with its present tables, if any, which are judged too.
        engines: names with their options; none: all that there are, OpenSM's if it is installed.
        hosts: that take part, as `contend.simulate` takes them; None is all.
        limit: seconds after which an engine of OpenSM is given up.
        seed: of every random choice, the same for all.
        progress: told the name of each engine before its turn.

    Returns:
        The best first; those that refuse the fabric last, in the order in which they were asked.

    Raises:
        UsageError: there is no such engine.
    """
    for engine in engines:
        check_engine(engine)
    judged = []
    if fabric.routes is not None:
        judged.append(_judge(PRESENT, lambda: fabric, hosts, seed))
    for engine in engines or _all_engines():
        if progress is not None:
            progress(engine)
        limited = engine
        if engine.startswith(_BY_OPENSM) and "limit=" not in engine:
            limited = f"{engine},limit={limit:g}"
        try:
            judged.append(_judge(engine, partial(compute, fabric, limited), hosts, seed))
        except MissingError as error:
            judged.append(RoutedBy(engine, refusal=str(error)))
    return sorted(judged, key=lambda one: -one.bandwidth)


def _all_engines() -> list[str]:
    names = [name for name in engine_names() if name not in _NOT_COMPARED]
    return [names[0], f"{names[0]},lanes=8", *names[1:]]


def _judge(
    engine: str, route: Callable[[], Fabric], hosts: HostChoice | None, seed: int
) -> RoutedBy:
    began = time.perf_counter()
    try:
        routed = route()
        seconds = None if engine == PRESENT else time.perf_counter() - began
        assert routed.routes is not None
        return RoutedBy(
            engine,
            seconds,
            simulate(routed, "bisect", hosts=hosts, seed=seed),
            simulate(routed, "shifts", placement="linear", hosts=hosts, seed=seed),
            routed.routes.lanes,
            dependency_cycle(routed)[1],
        )
    except MissingError:
        raise
    except ContendError as error:
        return RoutedBy(engine, refusal=str(error))
