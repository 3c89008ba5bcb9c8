"""What a plan for a network is for, and what its traffic gets with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from contend import routes
from contend.base.errors import ShortfallError, UsageError
from contend.base.schema import Share
from contend.congestion import (
    Communicator,
    Simulation,
    gpu_collectives,
    half_width,
    simulate,
)
from contend.cure.tables import EVEN_PATTERNS, demand_of
from contend.fabric import Fabric, find_rails, leaf_rails, missing_cables, strays_of, with_cables
from contend.routes import (
    CheckReport,
    Demand,
    Repair,
    RepairFigure,
    compute,
    default_engine,
    engine_names,
    fewest_collisions,
)
from contend.traffic.placement import by_name, seats_by_server
from contend.traffic.placement import parse as parse_placement

# Messages that plans are chosen by, and the fewest patterns of them: others than those that count
# in the end.
_CHOOSING, _FEWEST = 1 << 18, 200
# What hosts of different rails send each other in tables for GPUs, as a share of what those of one
# rail do: other collectives and storage cross rails too.
_ELSEWHERE = 0.05
OWN_ENGINE = "contend"
# Hosts of the largest fabric of whose traffic each pair is weighed: some seconds.
MOST_HOSTS = 5000
# What rounding of shares can make of no gain at all.
ROUNDING = 1e-9


def gain_over(before: Simulation, after: Simulation) -> tuple[float, float]:
    """What the same samples gain in the mean by what they are judged by; half of its interval."""
    differences = after.judged_shares - before.judged_shares
    exact = after.exhaustive
    return float(differences.mean()), 0.0 if exact else half_width(differences)


@dataclass(frozen=True, kw_only=True)
class CollectiveGain:
    """What GPUs get in a collective, before and after."""

    name: str
    """What it is, in words."""
    pattern: str
    """Pattern that it is simulated as, with ranks numbered server by server."""
    before: Share
    """Share of what the ports of adapters alone would allow, before."""
    after: Share
    """The same after."""


@dataclass(frozen=True)
class Purpose:
    """The traffic that a plan is for."""

    pattern: str
    placement: str
    on_rails: bool
    """Whether it is what GPUs send, chosen as servers have several adapters on rails."""
    samples: int | None
    seed: int
    communicator: Communicator | None = None

    @classmethod
    def of(
        cls,
        fabric: Fabric,
        pattern: str | None,
        placement: str | None,
        samples: int | None,
        seed: int,
        communicator: Communicator | None = None,
    ) -> Self:
        """What is asked for, else all-to-alls within rails if servers have some, or random pairs.

        Raises:
            UsageError: no such pattern or placement.
        """
        rest = samples, seed, communicator
        if pattern is None and placement is None:
            servers, rails = _seats(fabric).shape
            if rails > 1 and 2 * servers * rails > fabric.hosts and (leaf_rails(fabric) >= 0).any():
                return cls(f"{rails} * alltoall", "servers", True, *rest)
        return cls(pattern or "bisect", placement or "random", False, *rest)

    def demand(self, fabric: Fabric) -> Demand | None:
        """Who sends how much to whom; None where all pairs do alike."""
        if self.on_rails:
            rail = np.full(fabric.hosts, -1)
            for number, hosts in enumerate(_seats(fabric).T):
                rail[hosts] = number
            source, target = (ends.ravel() for ends in np.indices((fabric.hosts, fabric.hosts)))
            apart = source != target
            source, target = source[apart], target[apart]
            return source, target, np.where(rail[source] == rail[target], 1.0, _ELSEWHERE)
        if self.pattern in EVEN_PATTERNS or parse_placement(self.placement, fabric).random:
            return None
        return demand_of(fabric, self.pattern, self.placement, self.seed)

    def routed(
        self,
        fabric: Fabric,
        engine: str,
        demand: Demand | None,
        tell: Callable[[float], None] | None = None,
    ) -> tuple[Fabric, Simulation]:
        """By this engine, of ours by those tables that give more; what plans are chosen by.

        What is told is how much of `tables_made` is done.
        """
        each = [compute(fabric, engine)]
        if tell is not None:
            tell(1)
        if demand is not None and engine == OWN_ENGINE:
            each.append(fewest_collisions(fabric, demand=demand))
        outcomes = [(one, self.quick(one)) for one in each]
        return max(outcomes, key=lambda outcome: outcome[1].judged_share)

    def tables_made(self, engine: str, demand: Demand | None) -> int:
        """How many tables `routed` takes the time of: what is sent is weighed, too."""
        return 4 if demand is not None and engine == OWN_ENGINE else 1

    def quick(self, fabric: Fabric) -> Simulation:
        """What plans are chosen by. On one thread: fabrics are tried side by side."""
        samples = max(_FEWEST, _CHOOSING // fabric.hosts)
        return self._count(fabric, samples=samples, seed=(self.seed + 1) % 2**64, threads=1)

    def count(self, fabric: Fabric, samples: int | None) -> Simulation:
        """What ``contend simulate`` says, counted by all processes together."""
        by_all = self.communicator
        return self._count(fabric, samples=samples, seed=self.seed, communicator=by_all)

    def _count(self, fabric: Fabric, **how: object) -> Simulation:
        simulating: Callable[..., Simulation] = simulate
        return simulating(fabric, self.pattern, placement=self.placement, **how)

    def collectives(self, before: Fabric, after: Fabric) -> tuple[CollectiveGain, ...]:
        """What collectives of GPUs get on both; none where the purpose is another."""
        if not self.on_rails:
            return ()
        return tuple(
            CollectiveGain(name=each.name, pattern=each.pattern, before=each.share, after=now.share)
            for each, now in zip(
                *(gpu_collectives(one, _seats(one)).collectives for one in (before, after)),
                strict=True,
            )
        )


def check(fabric: Fabric, *, lanes: bool = True) -> CheckReport:
    """Checks a fabric and, if it has them, its routes, and says what a repair would gain.

    Args:
        fabric: the fabric.
        lanes: whether virtual lanes may keep a dependency cycle from locking up; tables do not
            tell, so a cycle is a warning. Without lanes it is wrong.
    """
    return replace(routes.check(fabric, lanes=lanes), repair=gain_of_repair(fabric))


def gain_of_repair(fabric: Fabric) -> Repair | None:
    """What missing cables gain, and adapters cabled to their own rails, where that is quick.

    Both states are routed anew by one engine: that of the fabric's routes, or the default. Where
    servers have rails it is what GPUs get in collectives; else all-to-alls and random pairs.

    Returns:
        None where nothing of this kind is wrong.
    """
    back = _back_on_their_rails(fabric)
    moved = {name: getattr(fabric, name).copy() for name in ("host_switch", "host_port")}
    for host, place in back.items():
        for name, column in moved.items():
            column[host] = getattr(fabric, name)[place]
    whole = fabric.replace(**moved, routes=None)
    pairs = [
        pair.switches for pair in missing_cables(fabric) for _ in range(pair.usual - pair.cables)
    ]
    if not back and not pairs:
        return None
    found = Repair(cables=len(pairs), adapters=len(back), engine="", figures=(), not_counted="")
    if fabric.hosts > MOST_HOSTS:
        return replace(found, not_counted=f"it has more than {MOST_HOSTS:,} hosts")
    engine = "" if fabric.routes is None else fabric.routes.engine
    engine = engine if engine in engine_names() else default_engine(fabric)
    try:
        whole, _ = with_cables(whole, pairs) if pairs else (whole, [])
        purpose = Purpose.of(fabric, None, None, None, 1)
        states = (fabric.replace(routes=None), whole)
        routed = [purpose.routed(each, engine, purpose.demand(each))[0] for each in states]
        by_others = fabric.routes is not None and fabric.routes.engine != engine
        routed += [fabric] if by_others else []
        figures = _figures(*routed, gpus=purpose.on_rails)
    except (ShortfallError, UsageError) as error:
        return replace(found, not_counted=str(error))
    routes = routed[1].routes
    return replace(found, engine="" if routes is None else routes.engine, figures=figures)


def _back_on_their_rails(fabric: Fabric) -> dict[int, int]:
    """Hosts on leaves of other rails, each with the host of its server that is in its place."""
    rails = find_rails(fabric)
    astray = strays_of(fabric, rails) if rails.rail.any() else {}
    back = {
        host: other
        for host in astray
        for other, leaf in astray.items()
        if rails.server[host] == rails.server[other] and leaf == rails.rail[host]
    }
    # Places that are taken in turn: of others nobody knows where they belong.
    return back if set(back) == set(back.values()) else {}


def _figures(*states: Fabric, gpus: bool) -> tuple[RepairFigure, ...]:
    """What traffic gets before and after, and in a third state by the tables in use."""
    if gpus:
        each = [gpu_collectives(state, _seats(state)).collectives for state in states]
        return tuple(
            RepairFigure(
                name=ways[0].name,
                pattern=ways[0].pattern,
                before=ways[0].share,
                after=ways[1].share,
                before_Bps=ways[0].bus_Bps,
                after_Bps=ways[1].bus_Bps,
                in_use=ways[2].share if len(ways) > 2 else None,
            )
            for ways in zip(*each, strict=True)
        )
    figures = []
    for name, pattern in (("all-to-all", "alltoall"), ("random pairs", "bisect")):
        found = [simulate(state, pattern) for state in states]
        figures.append(
            RepairFigure(
                name=name,
                pattern=pattern,
                before=found[0].judged_share,
                after=found[1].judged_share,
                before_Bps=found[0].judged_Bps,
                after_Bps=found[1].judged_Bps,
                in_use=found[2].judged_share if len(found) > 2 else None,
            )
        )
    return tuple(figures)


def _seats(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts of every server by rail, shape [servers, rails]; servers by name, as ranks come."""
    return seats_by_server(fabric, by_name(fabric))[0]
