"""What routes are to those who follow them, whatever kind they are of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import ROUTE, ROUTES, Argument, UnreachableError, UsageError
from contend.base.progress import step
from contend.fabric import Fabric, servers_of

if TYPE_CHECKING:
    from contend.routes.multipath.adaptive import AdaptiveTables
    from contend.routes.multipath.without_tables import NextHops
    from contend.routes.tables import ForwardingTables

_OTHERS = (ROUTES, " or another ", ROUTE)


class Ways(Flag):
    """What ways messages take; nothing of it: each has one, the same whenever it is sent."""

    DRAWN = auto()
    """Every sample draws them anew, so that one drawing tells of no other."""
    SPLIT = auto()
    """A message takes several ways at once."""
    TOGETHER = auto()
    """How it splits depends on which others are sent with it."""
    SOLVED = auto()
    """These splits are found for all messages of a round, and can be told of each."""
    EVERYWHERE = auto()
    """A message goes over all of the fabric, wherever its hosts are."""


ONE_WAY = Ways(0)
"""Each message has one way, the same whenever it is sent."""


@dataclass(frozen=True, eq=False)
class Round:
    """Messages under way together."""

    source: NDArray[np.uint32]
    """Place that every message comes from, shape [messages]."""
    target: NDArray[np.uint32]
    """Place that every message goes to, shape [messages]."""
    draw: int
    """Which drawing of the routes they take, where these are drawn."""
    spread: bool = False
    """Whether they use all addresses of hosts with LMC > 0 in turn."""


@dataclass(frozen=True)
class Routes(ABC):
    """Which ways messages take between hosts."""

    engine: str = field(default="", kw_only=True)
    """What made them, such as ``minhop``, ``opensm:ftree`` or ``ecmp``; "" when they were read from
    a file."""

    @property
    def ways(self) -> Ways:
        """What ways messages take."""
        return ONE_WAY

    @property
    def drawn(self) -> bool:
        """Whether every sample draws them anew."""
        return Ways.DRAWN in self.ways

    @property
    def flows(self) -> int:
        """Parts of a message, each of which takes a way of its own."""
        return 1

    @property
    def alike(self) -> bool:
        """Whether all switches choose by the same hash."""
        return False

    @property
    def each_alone(self) -> Routes:
        """Near ones that say of each message how it splits, whatever else is sent."""
        return self

    @property
    def lanes(self) -> int:
        """Number of virtual lanes that they are spread over."""
        return 1

    @property
    def tables(self) -> ForwardingTables | None:
        """The forwarding tables that say where all of them lead; None where none do."""
        return None

    def found_anew(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains
    ) -> _core.Resolver | None:
        """The routes of what failures leave, where switches look for new ones by themselves.

        Args:
            fabric: whole.
            hosts: that take part; those that are gone have no routes.
            rest: what is left of it.

        Returns:
            None where routes stay as they are until tables are mended.
        """
        return None

    def as_they_were(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains
    ) -> RoutesLeft | None:
        """What these lead to where parts have died and nobody has changed tables yet.

        Args:
            fabric: whole.
            hosts: that take part.
            rest: what is left of it.

        Returns:
            None where switches find new routes by themselves, or tables are mended.
        """
        return None

    def in_groups(self, fabric: Fabric) -> AdaptiveTables | None:
        """Tables with groups of ports that say the same; None where there are none.

        Raises:
            UsageError: a host cannot be reached, or no tables could say that.
        """
        return self.grouped

    @property
    def grouped(self) -> AdaptiveTables | None:
        """The tables that say where they lead where entries name groups of ports; else None."""
        return None

    def next_hops(self, fabric: Fabric, hosts: NDArray[np.uint32]) -> NextHops | None:
        """The channels among which switches choose by themselves; None where tables tell them.

        Raises:
            UsageError: when one of the hosts cannot be reached from another.
        """
        return None

    def packet_routes(
        self, fabric: Fabric, hosts: NDArray[np.uint32], resolver: _core.Resolver, messages: Round
    ) -> _core.PacketRoutes:
        """Where the packets of messages may go, of which switches or hosts may choose.

        Args:
            fabric: with these routes.
            hosts: host of every place, shape [places].
            resolver: what `resolver` gave for them.
            messages: that are under way together.
        """
        lane = self.lanes_taken(fabric, hosts, messages)
        return _core.packet_routes(resolver, messages.source, messages.target, messages.draw, lane)

    def lanes_taken(
        self, fabric: Fabric, hosts: NDArray[np.uint32], messages: Round
    ) -> NDArray[np.uint8]:
        """The virtual lane of every message, shape [messages]; empty where all are on the first."""
        return np.zeros(0, dtype=np.uint8)

    @abstractmethod
    def resolver(
        self, fabric: Fabric, hosts: NDArray[np.uint32], *, spread: bool, messages: float
    ) -> _core.Resolver:
        """As `make_resolver` gives it.

        Raises:
            UnreachableError: a host cannot be reached.
            UsageError: hosts cannot be told apart, or have no further addresses to spread over.
        """


@dataclass(frozen=True, eq=False)
class RoutesLeft:
    """Routes of which some do not arrive."""

    resolver: _core.Resolver
    """Resolver of routes that arrive; it must be asked for no others."""
    row: NDArray[np.uint32]
    """Row of every host as a target, in `cut`, shape [hosts]."""
    column: NDArray[np.uint32]
    """Column of every host as a source, shape [hosts]."""
    cut: NDArray[np.uint8]
    """Whether some way does not arrive (1), shape [rows, columns]."""


def make_resolver(
    fabric: Fabric,
    hosts: NDArray[np.uint32],
    *,
    spread: bool = False,
    messages: float = np.inf,
    follows: Ways = ONE_WAY,
) -> _core.Resolver:
    """Prepares the routes between hosts.

    Args:
        fabric: with routes.
        hosts: the hosts that take part, shape [places], each once.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        messages: how many are expected; a table that costs more than it saves is not built.
        follows: what ways the caller can follow; routes that take others are refused. `DRAWN`: it
            says of every message which drawing it takes; for all others one drawing would stand for
            the fabric's routes. `SPLIT`: it counts messages that take several ways at once.
            `TOGETHER`: it counts whole rounds of messages, so that these may split as is best
            beside the others. `SOLVED`: it has whole rounds solved.

    Raises:
        UsageError: when the fabric has no routes, or drawn ones that the caller does not draw, or a
            host cannot be reached.
    """
    routes = routes_of(fabric)
    ways = routes.ways
    if ways & Ways.DRAWN and not follows & Ways.DRAWN:
        raise UsageError(
            f"routes by {routes.engine} are drawn anew for every sample, and this needs fixed "
            "routes: give ",
            *_OTHERS,
        )
    if ways & Ways.TOGETHER and not follows & (Ways.TOGETHER | ways & Ways.SOLVED):
        raise UsageError(
            f"routes by {routes.engine} split each message depending on all the others, and this "
            "looks at each by itself: give ",
            *_OTHERS,
            ", such as spray",
        )
    if ways & Ways.SPLIT and not (ways & Ways.TOGETHER or follows & Ways.SPLIT):
        raise UsageError(
            f"routes by {routes.engine} send every message over several paths at once, and this "
            "follows each along one path: give ",
            *_OTHERS,
        )
    try:
        with step(f"routes on {fabric.name}"):
            return routes.resolver(fabric, hosts, spread=spread, messages=messages)
    except UnreachableError as error:
        raise unreachable(fabric, error) from None


def each_alone(fabric: Fabric) -> Fabric:
    """The fabric with near routes that say of each message how it splits, see `Routes`."""
    return fabric if fabric.routes is None else fabric.replace(routes=fabric.routes.each_alone)


def tables_of(fabric: Fabric) -> ForwardingTables:
    """The tables of a fabric.

    Raises:
        UsageError: it has none, or routes that no tables tell.
    """
    routes = routes_of(fabric)
    if routes.tables is None:
        raise UsageError(f"{without_tables(routes)}, and this needs tables: give ", *_OTHERS)
    return routes.tables


def without_tables(routes: Routes) -> str:
    """Why some routes have no tables of one port for each address, in words."""
    why = "have no tables" if routes.grouped is None else "name groups of ports"
    return f"routes by {routes.engine} {why}"


def routes_of(fabric: Fabric) -> Routes:
    """The routes of a fabric.

    Raises:
        UsageError: it has none.
    """
    if fabric.routes is None:
        raise UsageError(f"{fabric.name} has no routes: give ", ROUTES, " or ", ROUTE)
    return fabric.routes


def unreachable(fabric: Fabric, error: UnreachableError) -> UsageError:
    """What the core says of a host that cannot be reached, with names and what to do."""
    host, start = fabric.host_name[error.host], fabric.switch_label[error.start]
    if error.address:
        end = fabric.switch_label[error.end]
        said = (
            f'host "{host}" (LID {error.address}) cannot be reached from switch "{start}": '
            f'switch "{end}" {error.why}'
        )
    else:
        said = f'host "{host}" cannot be reached from switch "{start}", which {error.why}'
    return UsageError(f"{said}; ", *_way_out(fabric, error))


def _share_servers(fabric: Fabric, one: int, other: int) -> bool:
    """Whether a server has adapters in both of two parts of a fabric."""
    server, part = servers_of(fabric), fabric.switch_part[fabric.host_switch]
    return bool(np.isin(server[part == one], server[part == other]).any())


def _way_out(fabric: Fabric, error: UnreachableError) -> tuple[str, Argument]:
    """What to do where a host cannot be reached; loading a fabric offers all of it."""
    part = fabric.switch_part
    parts = part[error.start], part[fabric.host_switch[error.host]]
    if parts[0] != parts[1]:
        if _share_servers(fabric, *parts):
            words = "no cables join them, only servers do: load one plane after the other with "
        else:
            words = "no cables join them: choose one part of the fabric with "
        return words, Argument("part")
    return "see contend fabric check, or leave the host out with ", Argument("without")
