"""Routes that switches find by themselves or draw by hashes: no tables say where they lead."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UnreachableError, UsageError
from contend.fabric import Fabric
from contend.routes.addresses import expect_memory
from contend.routes.multipath.adaptive import AdaptiveTables, shortest_in_groups
from contend.routes.routes import Routes, Ways, unreachable

Shape: TypeAlias = _core.CompleteTree | _core.Dragonfly | _core.Grid
Finder: TypeAlias = Callable[[_core.Fabric], Shape | None]

# Functions of the core cannot be pickled, and what finds a shape goes with the routes.


def find_complete_tree(core: _core.Fabric) -> _core.CompleteTree | None:
    """The complete tree that a fabric is; None elsewhere."""
    return _core.find_complete_tree(core)


def tree_of_own_parents(core: _core.Fabric) -> _core.CompleteTree | None:
    """The complete tree that a fabric is, where no two planes share parents; None elsewhere.

    Routes of dmodk come down there as they go up, which makes them a formula.
    """
    tree = _core.find_complete_tree(core)
    return None if tree is None or tree.shared else tree


def find_grid(core: _core.Fabric) -> _core.Grid | None:
    """The torus, mesh, hypercube or HyperX that a fabric is; None elsewhere."""
    return _core.find_grid(core)


find_dragonfly = _core.find_dragonfly


def first_shape(core: _core.Fabric, finders: Iterable[Finder]) -> Shape | None:
    """What the first of some finders finds that finds anything; None where none does."""
    return next((found for find in finders if (found := find(core)) is not None), None)


# What finds networks on which some engines follow messages by a formula.
_FORMULAS: tuple[tuple[Finder, str], ...] = (
    (tree_of_own_parents, "minhop, dmodk, ecmp and spray need none on such a tree"),
    (find_complete_tree, "minhop, ecmp and spray need none on such a tree"),
    (find_dragonfly, "ecmp and spray need none on such a dragonfly"),
    (find_grid, "dor, ecmp and spray need none on such a grid"),
)


def needing_none(fabric: Fabric) -> str:
    """The engines that keep neither tables nor next hops of a fabric, in words; "" for none."""
    # The further addresses of hosts have no formula.
    known = () if fabric.host_lmc.any() else _FORMULAS
    return next((words for find, words in known if find(fabric.core) is not None), "")


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


# Leaves times switches: what next hops are kept of. Beyond it a formula counts where there is one.
# For sprayed messages sums of parts and the formula may differ by rounding, so small fabrics stay.
_MOST_WAYS = 1 << 22
_LARGE = (find_dragonfly, find_grid)


@dataclass(frozen=True)
class HashedRoutes(RoutesWithoutTables):
    """Equal-cost multipath (ECMP): shortest paths, chosen at every switch by a hash.

    At every switch a message takes one of the cables that begin a shortest way to its target's
    switch, each as likely as the others, chosen by a hash of source, target, switch and draw. A
    simulation draws anew for every sample. There is nothing to write to a file, and Ethernet has no
    virtual lanes to choose from.
    """

    engine: str = field(default="ecmp", kw_only=True)
    flows: int = field(default=1, kw_only=True)
    """Parts of a message that are hashed each by itself, as several queue pairs or TCP connections
    are. The message ends with its slowest part."""
    alike: bool = field(default=False, kw_only=True)
    """Whether all switches hash alike: what one chooses then decides what the next does."""

    @property
    def ways(self) -> Ways:
        """A hash of what no two samples share; each flow has one of its own."""
        return Ways.DRAWN | Ways.SPLIT if self.flows > 1 else Ways.DRAWN

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Chooses at every switch on the way; the same hashes among the ways that are left."""
        finders = (find_complete_tree, *(_LARGE if are_many(fabric, hosts) else ()))
        shape = first_shape(fabric.core, finders) if rest is None else None
        if shape is None:
            self.expect_room(fabric, hosts, rest)
        return _core.hashed_resolver(fabric.core, hosts, shape or rest, self.flows, self.alike)

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """Every switch chooses by a hash among all ports that begin a shortest way."""
        if self.flows > 1 or self.alike:
            raise self.told_by_no_file()
        return shortest_in_groups(fabric, hashed=True)

    def next_hops(self, fabric: Fabric, hosts: NDArray[np.uint32]) -> NextHops:
        """The channels among which a hash chooses."""
        return shortest_next_hops(fabric, hosts)


def are_many(fabric: Fabric, hosts: NDArray[np.uint32]) -> bool:
    """Whether ways from leaf to leaf take more memory than a formula is worth."""
    return len(np.unique(fabric.host_switch[hosts])) * fabric.switches > _MOST_WAYS


def shortest_next_hops(fabric: Fabric, hosts: NDArray[np.uint32]) -> NextHops:
    """The channels by which shortest ways to hosts begin, at every switch.

    Raises:
        UsageError: when one of the hosts cannot be reached from another.
    """
    try:
        leaves, set_of, first, members = _core.next_hops(fabric.core, hosts)
    except UnreachableError as error:
        raise unreachable(fabric, error) from None
    row = {leaf: number for number, leaf in enumerate(leaves.tolist())}
    return NextHops(fabric, row, set_of, first, members)


@dataclass(frozen=True, eq=False)
class NextHops:
    """Where equal ways may lead: the channels that begin a shortest way to switches with hosts."""

    fabric: Fabric
    """Fabric through which they lead."""
    leaf_row: dict[int, int]
    """Row of every such switch."""
    set_of: NDArray[np.uint32]
    """Number of the set that leads to them, shape [leaves, switches]; that of an empty one at the
    leaf itself, and where no way leads there."""
    first: NDArray[np.uint32]
    """Where every set begins among the members, and where the last one ends."""
    members: NDArray[np.uint32]
    """Channels of the sets."""

    def channels(self, switch: int, leaf: int) -> list[int]:
        """The channels by which a switch sends what is meant for a host on another, each alike."""
        number = int(self.set_of[self.leaf_row[leaf], switch])
        members: list[int] = self.members[self.first[number] : self.first[number + 1]].tolist()
        return members

    def length(self, start: int, leaf: int) -> int:
        """How many channels between switches a route from a switch to another crosses."""
        steps = 0
        while start != leaf:
            start = self._end(self.channels(start, leaf)[0])
            steps += 1
        return steps

    def between(self, start: int, leaf: int) -> list[int]:
        """All channels that a route from a switch to another may cross, each once."""
        crossed, seen, waiting = [], {start}, [start]
        while waiting:
            for channel in self.channels(waiting.pop(), leaf):
                crossed.append(channel)
                end = self._end(channel)
                if end not in seen:
                    seen.add(end)
                    waiting.append(end)
        return crossed

    def _end(self, channel: int) -> int:
        """The switch at which a channel ends."""
        cable, back = divmod(channel, 2)
        return int((self.fabric.cable_from if back else self.fabric.cable_to)[cable])
