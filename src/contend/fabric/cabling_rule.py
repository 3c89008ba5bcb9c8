"""The rule by which a fabric is cabled; more servers, leaves, pods, groups and spines by it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.units import counted, verb
from contend.fabric.altered import Cable, free_ports, with_cables
from contend.fabric.fabric import Fabric, connected_parts
from contend.fabric.faults.incomplete import MissingCables, missing_cables
from contend.fabric.groups import group_circle
from contend.fabric.grown import Grown
from contend.fabric.levels import few_hosts, is_tree, switch_levels
from contend.fabric.rails import find_rails, strays_of

# Switches are of one row where so much of what is below them is the same.
_ALIKE = 0.75


def _uneven(level: int, sizes: Sequence[int]) -> str:
    """What is missing of rows of one level that have as many switches as the longest."""
    missing = sum(max(sizes) - size for size in sizes)
    if not missing:
        return ""
    return (
        f"Its {len(sizes)} rows of switches on level {level} have {min(sizes)} to {max(sizes)} "
        f"each now, and traffic waits for the shortest: {missing} more would make them alike"
    )


def _completed(fabric: Fabric, missing: Sequence[MissingCables]) -> Fabric:
    """A fabric with the cables that it lacks, as far as both switches have ports for them."""
    left = [len(ports) for ports in free_ports(fabric)]
    pairs = []
    for lacking in missing:
        near, far = lacking.switches
        count = min(lacking.usual - lacking.cables, left[near], left[far])
        left[near] -= count
        left[far] -= count
        pairs += [lacking.switches] * count
    return with_cables(fabric, pairs)[0] if pairs else fabric


@dataclass(frozen=True)
class _Link:
    port: int
    far: int
    rate: int


class CablingRule:
    """How a fabric is cabled, and what is added by it."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self.grown = Grown(fabric)
        """Fabric with what was added."""
        self.servers = 0
        """Number of servers that were added."""
        self.reasons: list[str] = []
        """Why the last switch above others stands on no lower level."""
        self.uneven = ""
        """Rows above others that have fewer switches than others of their level now, in words."""
        self.level = switch_levels(fabric)
        """Level of every switch that was there."""
        self.missing = missing_cables(fabric)
        """Pairs of switches that lack cables; copies have them."""
        self._whole = _completed(fabric, self.missing)
        near, far = fabric.cable_from.astype(np.int64), fabric.cable_to.astype(np.int64)
        self._tree = is_tree(self.level, near, far)
        self._up: dict[int, list[_Link]] = defaultdict(list)
        self._down: dict[int, list[_Link]] = defaultdict(list)
        for ends, rate in self._ends():
            for here, port, there in (ends[:3], (ends[2], ends[3], ends[0])):
                links = self._up if self.level[here] < self.level[there] else self._down
                links[here].append(_Link(port, there, rate))
        self._cabled = [
            {link.port for link in (*self._down[switch], *self._up[switch])}
            for switch in range(fabric.switches)
        ]
        self._find_places()

    def _ends(self) -> Iterable[tuple[Cable, int]]:
        """Cables by the rule, each with its rate's number: those that are missing, too."""
        whole = self._whole
        return zip(whole.cable_ends(), whole.cable_rate.tolist(), strict=True)

    # Places of servers.

    def _find_places(self) -> None:
        """Which leaves servers hang on together, and which of their ports are for hosts."""
        fabric = self._fabric
        found = find_rails(fabric)
        usual = int(np.bincount(found.kind).argmax())
        rails = int(found.size[usual])
        of_server: dict[int, list[int]] = defaultdict(list)
        for host in np.flatnonzero((found.kind == usual) & (found.rail >= 0)).tolist():
            of_server[int(found.server[host])].append(host)
        stray = strays_of(fabric, found) if rails > 1 else {}
        few = few_hosts(fabric)
        members: dict[tuple[int, ...], list[list[int]]] = defaultdict(list)
        for hosts in of_server.values():
            ordered = sorted(hosts, key=lambda host: int(found.rail[host]))
            leaves = tuple(fabric.host_switch[ordered].tolist())
            by_rule = not few[list(leaves)].any() and not stray.keys() & set(hosts)
            if len(hosts) == rails and by_rule:
                members[leaves].append(ordered)
        # Leaves of one group only, the one that most servers have.
        self._groups: list[tuple[int, ...]] = []
        owned: set[int] = set()
        for leaves in sorted(members, key=lambda leaves: -len(members[leaves])):
            if not owned & set(leaves):
                owned |= set(leaves)
                self._groups.append(leaves)
        if not self._groups:
            raise UsageError(
                f"{fabric.name}: servers of one kind hang on no leaves together, so that nothing "
                "tells where more of them belong"
            )
        self._groups.sort()
        self._like = members[self._groups[0]][0]
        self._on_leaf = Counter(fabric.host_switch.tolist())
        rows = list(zip(*self._groups, strict=True))
        self._capacity = [max(self._on_leaf[leaf] for leaf in row) for row in rows]
        of_leaf: dict[int, set[int]] = defaultdict(set)
        for host, switch in enumerate(fabric.host_switch.tolist()):
            of_leaf[switch].add(int(fabric.host_port[host]))
        self._host_ports = [set[int]().union(*(of_leaf[leaf] for leaf in row)) for row in rows]
        self._rail_of = {leaf: rail for rail, row in enumerate(rows) for leaf in row}
        self._new_groups: list[tuple[int, ...]] = []

    def _places(self, leaves: Sequence[int]) -> list[list[int]]:
        """Free ports of each leaf of a group for hosts, as many on each."""
        each = []
        for rail, leaf in enumerate(leaves):
            like = self._original(leaf)
            free = self.grown.free[leaf] & self._host_ports[rail]
            own = sorted(free, key=lambda port: (port in self._cabled[like], port))
            each.append(own[: max(self._capacity[rail] - self._on_leaf[leaf], 0)])
        least = min(map(len, each))
        same = sorted(set(each[0]).intersection(*each[1:]))
        if len(same) >= least:
            return [same[:least]] * len(each)
        return [sorted(own[:least]) for own in each]

    def _original(self, switch: int) -> int:
        more = switch - self._fabric.switches
        return switch if more < 0 else self.grown.alike[more]

    def _fill(self, leaves: Sequence[int], most: int) -> int:
        """Puts so many servers on the leaves of a group, as far as there are places."""
        columns = [ports[:most] for ports in self._places(leaves)]
        for ports in zip(*columns, strict=True):
            self.grown.new_server(self._like, list(zip(leaves, ports, strict=True)))
            self._on_leaf.update(leaves)
        self.servers += len(columns[0])
        return len(columns[0])

    def add_servers(self, count: int) -> None:
        """Servers on places that are left, then on new leaves."""
        groups = [*self._groups, *self._new_groups]
        left = count
        for leaves in groups:
            left -= self._fill(leaves, left)
        while left:
            try:
                group = self._add_leaves()
            except UsageError as error:
                raise UsageError(
                    f"{counted(count, 'server')} {'do' if count > 1 else 'does'} not fit: leaves "
                    f"have places for {count - left:,}, and {error}"
                ) from None
            left -= self._fill(group, left)

    # Leaves and pods.

    def add_unit(self) -> None:
        """A pod, a dragonfly's group, or leaves for all rails, full of servers."""
        if pods := self._pods:
            added = self._add_pod(pods)
        else:
            added = self._add_group() if self._dragonfly else [self._add_leaves()]
        for group in added:
            self._fill(group, self._fabric.hosts)

    @cached_property
    def _pods(self) -> list[NDArray[np.int64]]:
        """Switches of every part that only the highest level joins; none where servers join them.

        Those of two levels or more: a leaf alone is no pod.
        """
        fabric, top = self._fabric, int(self.level.max())
        if not self._tree or top < 3 or len(self._like) > 1:
            return []
        inside = (self.level[fabric.cable_from] < top) & (self.level[fabric.cable_to] < top)
        part = connected_parts(fabric.switches, fabric.cable_from[inside], fabric.cable_to[inside])
        grouped = {leaf for leaves in self._groups for leaf in leaves}
        pods = [np.flatnonzero((part == number) & (self.level < top)) for number in np.unique(part)]
        return [pod for pod in pods if len(pod) > 1 and grouped & set(pod.tolist())]

    def _add_pod(self, pods: list[NDArray[np.int64]]) -> list[tuple[int, ...]]:
        if len(pods) < 2:
            raise UsageError(f"{self._fabric.name} has one pod only: nothing tells how to join two")
        members = [pod.tolist() for pod in pods]
        for pod in sorted(members, key=len, reverse=True):
            if (copy := self._copy(pod, list(zip(*members, strict=False)))) is not None:
                return [
                    tuple(copy[leaf] for leaf in leaves)
                    for leaves in self._groups
                    if set(leaves) <= copy.keys()
                ]
        raise UsageError(self._no_room("pod", members[0]))

    @cached_property
    def _dragonfly(self) -> list[list[int]]:
        """Switches of every group of a dragonfly, new ones included; none for other networks.

        Fewer cables join two groups than either has switches: lines of a grid are joined by one
        for each switch.
        """
        number = None if self._tree else group_circle(self._fabric)
        if number is None or not 0 < self._between(number)[0] < np.bincount(number).max():
            return []
        return [np.flatnonzero(number == group).tolist() for group in range(int(number.max()) + 1)]

    def _between(self, number: NDArray[np.int64]) -> tuple[int, int]:
        """How many cables join most pairs of groups, and the rate that most of these have."""
        fabric = self._fabric
        ends = np.sort(number[np.stack([fabric.cable_from, fabric.cable_to])], axis=0)
        across = ends[0] != ends[1]
        cables = Counter(zip(*ends[:, across].tolist(), strict=True))
        groups = int(number.max()) + 1
        pairs = Counter(cables.values())
        pairs[0] = groups * (groups - 1) // 2 - len(cables)
        rates = Counter(fabric.cable_rate[across].tolist())
        return max(pairs, key=pairs.__getitem__), max(rates, key=rates.__getitem__, default=0)

    def _add_group(self) -> list[tuple[int, ...]]:
        """A copy of a group, joined to every other one by as many cables as most pairs are."""
        fabric, groups = self._fabric, self._dragonfly
        first = [own for own in groups if own[0] < fabric.switches]
        number = np.zeros(fabric.switches, dtype=np.int64)
        for group, own in enumerate(first):
            number[own] = group
        each, usual = self._between(number)
        like = max(first, key=len)
        rows = {switch: row for row in zip(*first, strict=False) for switch in row}
        made = self.grown.new_switches(like, [rows.get(switch, (switch,)) for switch in like])
        copy = dict(zip(like, made, strict=True))
        for (near, near_port, far, far_port), rate in self._ends():
            if near in copy and far in copy:
                self.grown.join(copy[near], near_port, copy[far], far_port, rate)
        for own, needed in [(made, each * len(groups)), *((other, each) for other in groups)]:
            if (left := sum(map(self._count_left, own))) < needed:
                whose = "its own switches" if own is made else self._name_of(own)
                raise UsageError(
                    f"another group takes {counted(needed, 'port')} of {whose} for cables to "
                    f"others, and {left} {verb(left, 'is')} left beside places of hosts; switches "
                    "with more ports (--ports) would do"
                )
        for other in groups:
            for _ in range(each):
                near, far = (max(own, key=self._count_left) for own in (made, other))
                ports = self._ups_left(near)[0], self._ups_left(far)[0]
                self.grown.join(near, ports[0], far, ports[1], usual)
        groups.append(made)
        return [tuple(copy[s] for s in leaves) for leaves in self._groups if {*leaves} <= {*copy}]

    def _count_left(self, switch: int) -> int:
        return len(self._ups_left(switch))

    def _name_of(self, group: Sequence[int]) -> str:
        return f'the group of "{self._fabric.switch_label[self._original(group[0])]}"'

    def _add_leaves(self) -> tuple[int, ...]:
        """Leaves for all rails like those of a group, joined to the same switches above."""
        if not self._tree:
            raise UsageError(
                f"{self._fabric.name} is no tree, so that nothing tells how another switch is "
                "joined; contend fabric make makes larger networks of its kind"
            )

        def uplinks(leaves: tuple[int, ...]) -> int:
            return sum(len(self._up[leaf]) for leaf in leaves)

        groups = sorted(self._groups, key=uplinks, reverse=True)
        for leaves in groups:
            if (copy := self._copy(leaves, list(zip(*self._groups, strict=True)))) is not None:
                made = tuple(copy[leaf] for leaf in leaves)
                self._new_groups.append(made)
                return made
        raise UsageError(self._no_room("leaf", groups[0]))

    def _copy(self, switches: Sequence[int], rows: list[tuple[int, ...]]) -> dict[int, int] | None:
        """Copies of switches with the cables between them, joined to others as they are.

        None where a switch that they are joined to has too few ports left.
        """
        within = set(switches)
        needed = self._needed(switches)
        if self._lacking(needed):
            return None
        times = self._free_on(needed)
        row_of = {switch: row for row in rows for switch in row}
        peers = [row_of.get(switch, (switch,)) for switch in switches]
        copy = dict(zip(switches, self.grown.new_switches(switches, peers), strict=True))
        for switch, made in copy.items():
            for link in sorted(self._up[switch], key=lambda link: link.port):
                if link.far in within:
                    port = next(
                        back.port
                        for back in self._down[link.far]
                        if back.far == switch and back.port in self.grown.free[copy[link.far]]
                    )
                    self.grown.join(made, link.port, copy[link.far], port, link.rate)
                else:
                    port = self._port(link.far, times)
                    self.grown.join(made, link.port, link.far, port, link.rate)
        return copy

    def _free_on(self, switches: Iterable[int]) -> Counter[int]:
        """On how many of some switches each port is free."""
        return Counter(port for switch in switches for port in self._ups_left(switch))

    def _port(self, switch: int, times: Counter[int]) -> int:
        """The free port for a cable, the lowest of those that most of its like have free too."""
        return min(self._ups_left(switch), key=lambda port: (-times[port], port))

    def _needed(self, switches: Sequence[int]) -> Counter[int]:
        """How many cables join switches to each that stands above them, without their own."""
        links = (link for switch in switches for link in self._up[switch])
        return Counter(link.far for link in links if link.far not in set(switches))

    def _lacking(self, needed: Counter[int]) -> list[int]:
        """Switches that have fewer free ports than are needed of them."""
        return [far for far, count in needed.items() if len(self.grown.free[far]) < count]

    def _no_room(self, what: str, switches: Sequence[int]) -> str:
        """Why no switch like these can be joined, by the one above that has the fewest ports."""
        needed = self._needed(switches)
        if not needed:
            return f"no switch above joins its leaves, so that another {what} would stand alone"
        full = min(needed, key=lambda far: len(self.grown.free[far]) - needed[far])
        free, label = len(self.grown.free[full]), self._fabric.switch_label[full]
        return (
            f'another {what} needs {counted(needed[full], "free port")} of switch "{label}", '
            f"which has {free}; switches with more ports (--ports) or another level above would do"
        )

    # Switches above others.

    def add_spine(self) -> None:
        """A switch like one whose row has the fewest, where those below have ports for it."""
        if not self._tree:
            raise UsageError(
                f"--spines: {self._fabric.name} is no tree, so that no switch stands above others"
            )
        reasons: list[str] = []
        self.reasons = reasons
        for level in range(2, int(self.level.max()) + 1):
            here = np.flatnonzero(self.level == level).tolist()
            if self._add_above(here, reasons):
                return
            reasons[-1] = f"level {level}: {reasons[-1]}"
        raise UsageError(f"--spines: no room for another one: {'; '.join(reasons)}")

    def _add_above(self, here: list[int], reasons: list[str]) -> bool:
        """One more switch like some of a level; says why not where none fits."""
        below = {switch: Counter(link.far for link in self._down[switch]) for switch in here}
        row = {switch: self._row(switch, here, below) for switch in here}
        made, few = Counter(self.grown.alike), few_hosts(self._fabric)
        usual = float(np.median([len(row[switch]) for switch in here]))
        fitting = [one for one in here if not self._lacking(self._needed([one]))]
        reason = ""
        for like in sorted(
            here,
            key=lambda one: (
                len(row[one]) + sum(made[other] for other in row[one]),
                -below[one].total(),
                one,
            ),
        ):
            left = {far: len(self._ups_left(far)) for far in below[like]}
            lacking = [far for far, count in below[like].items() if left[far] < count]
            # Such as one for management alone.
            odd = 2 * len(row[like]) < usual or few[list(below[like])].all()
            if odd:
                continue
            if not lacking and fitting:
                self._place_above(like, like if like in fitting else fitting[0], row[like])
                made[like] += 1
                regular = [own for own in row.values() if 2 * len(own) >= usual]
                rows = {frozenset(own) for own in regular}
                sizes = [len(own) + sum(made[one] for one in own) for own in rows]
                self.uneven = _uneven(int(self.level[like]), sizes)
                return True
            if not reason and lacking:
                name = self._fabric.switch_label[lacking[0]]
                reason = (
                    f'one like "{self._fabric.switch_label[like]}" takes '
                    f'{counted(below[like][lacking[0]], "port")} of switch "{name}", which has '
                    f"{left[lacking[0]]} left beside places of hosts"
                )
            elif not reason:
                reason = self._no_room("spine", [like])
        reasons.append(reason or "no switch of its kind joins others")
        return False

    def _place_above(self, like: int, upper: int, row: list[int]) -> None:
        (made,) = self.grown.new_switches([like], [row])
        below = self._free_on({link.far for link in self._down[like]})
        above = self._free_on({link.far for link in self._up[upper]})
        for link in sorted(self._down[like], key=lambda link: link.port):
            port = self._port(link.far, below)
            self.grown.join(link.far, port, made, link.port, link.rate)
        for link in sorted(self._up[upper], key=lambda link: link.port):
            free = self.grown.free[made]
            port = link.port if link.port in free else min(free)
            self.grown.join(made, port, link.far, self._port(link.far, above), link.rate)

    def _row(self, switch: int, here: list[int], below: dict[int, Counter[int]]) -> list[int]:
        """Switches of a level that stand above nearly the same ones, itself included."""
        own = below[switch].keys()
        return [
            other
            for other in here
            if len(own & below[other].keys()) >= _ALIKE * max(len(own), len(below[other]))
        ]

    def _ups_left(self, switch: int) -> list[int]:
        """Free ports of a switch that are no places for hosts, ascending."""
        like = self._original(switch)
        rail = self._rail_of.get(like)
        places = set[int]() if rail is None else self._host_ports[rail] - self._cabled[like]
        return sorted(self.grown.free[switch] - places)
