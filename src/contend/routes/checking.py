"""Checks of a fabric and its routes: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.progress import step
from contend.base.schema import Rate, Share, Shown
from contend.base.units import counted
from contend.fabric import (
    MOST_DETAILS,
    TOPOLOGY_FAULTS,
    Check,
    Fabric,
    Status,
    at_most_ten,
    capacities,
    check_soundness,
    switch_levels,
)
from contend.routes.multipath.adaptive_checks import AdaptiveShare, adaptive_share, check_groups
from contend.routes.routes import tables_of
from contend.routes.tracing import TraceEnd, describe_fault


@dataclass(frozen=True)
class Balance:
    """The channels of one kind."""

    kind: str
    """Kind: ``up``, ``down``, ``across`` (between switches of one level) or ``parallel`` (those of
    several cables from one switch to another)."""
    level: int
    """Level of the switches that the channels leave; 0 for ``parallel``."""
    channels: int
    """Number of channels."""
    idle: int
    """Number of those that no route uses."""
    mean_routes: float
    """Mean number of routes per channel."""
    most_routes: int
    """Number of routes over the busiest channel."""
    imbalance: float
    """The largest, over all groups, of what a group's busiest channel carries over its fair share.
    A group is what could share the load: the upward or sideward channels out of one switch, the
    downward ones into one switch, or parallel ones. 1 is even."""
    worst_channel: str
    """Name of the channel with that imbalance."""


def balance(
    fabric: Fabric, load: NDArray[np.uint64], addresses: NDArray[np.uint32]
) -> tuple[Balance, ...]:
    """The balance of every kind of channel that routes use.

    Args:
        fabric: the fabric.
        load: routes over every channel between switches, shape [2 cables].
        addresses: addresses that are reached over each of them, shape [2 cables].

    A group's fair share is its routes over its channels, by capacity; where it leads to fewer
    addresses than it has channels, only as many channels can be used, and the share is larger.
    """
    level = switch_levels(fabric)
    tail = np.stack([fabric.cable_from, fabric.cable_to], axis=1).ravel().astype(np.int64)
    head = np.stack([fabric.cable_to, fabric.cable_from], axis=1).ravel().astype(np.int64)
    capacity = np.repeat(capacities(fabric).cable, 2)
    columns = _Columns(fabric, load.astype(np.float64), addresses.astype(np.float64), capacity)
    step = level[head] - level[tail]
    judged = [
        columns.judge(kind, at, members & (level[tail] == at), group)
        for kind, members, group in (
            ("up", step > 0, tail),
            ("across", step == 0, tail),
            ("down", step < 0, head),
        )
        for at in np.unique(level[tail[members]]).tolist()
    ]
    pair = tail * fabric.switches + head
    _, group, count = np.unique(pair, return_inverse=True, return_counts=True)
    judged.append(columns.judge("parallel", 0, count[group] > 1, group))
    return tuple(kind for kind in judged if kind is not None)


@dataclass(frozen=True, eq=False)
class _Columns:
    fabric: Fabric
    load: NDArray[np.float64]
    addresses: NDArray[np.float64]
    capacity: NDArray[np.float64]

    def judge(
        self, kind: str, level: int, members: NDArray[np.bool_], group: NDArray[np.int64]
    ) -> Balance | None:
        """One kind of channels; None when no route uses any."""
        channels = np.flatnonzero(members)
        load = self.load[channels]
        if not load.any():
            return None
        labels, groups = np.unique(group[channels], return_inverse=True)
        size = len(labels)
        members_in = np.bincount(groups, minlength=size)
        reached = np.bincount(groups, self.addresses[channels], size)
        usable = np.minimum(members_in, np.maximum(reached, 1)) / members_in
        total = np.bincount(groups, load, size)
        room = np.bincount(groups, self.capacity[channels], size) * usable
        fair = (total / room)[groups] * self.capacity[channels]
        excess = np.divide(load, fair, out=np.zeros_like(load), where=fair > 0)
        worst = int(excess.argmax())
        return Balance(
            kind=kind,
            level=level,
            channels=len(channels),
            idle=int(np.count_nonzero(load == 0)),
            mean_routes=float(load.mean()),
            most_routes=int(load.max()),
            imbalance=float(excess[worst]),
            worst_channel=self.fabric.channel_name(int(channels[worst])),
        )


# The busiest of some channels that could share carries twice its fair share or more.
UNBALANCED = 2.0


@dataclass(frozen=True)
class RoutesSummary:
    """What following every route found; a route leads from a host to an address of another."""

    engine: str
    """Engine that made the tables; "" when not known."""
    delivered: int
    """Number of routes that arrive."""
    undelivered: int
    """Number of routes that do not."""
    hops: dict[int, int]
    """Number of delivered routes by that of channels between switches."""
    balance: tuple[Balance, ...]
    """How evenly routes load channels, by kind of channel."""
    dependencies: int
    """Number of pairs of channels of which a route uses one right after the other."""
    dependency_cycle: tuple[str, ...]
    """Names of channels that wait for each other in a circle; none when none do."""
    adaptive: AdaptiveShare | None = None
    """How much of the tables leaves the choice of a port to the switch; null: nothing."""


@dataclass(frozen=True, kw_only=True)
class RepairFigure:
    """What traffic gets before and after a repair, both routed anew by the same engine."""

    name: str
    """Collective of GPUs, ``all-to-all`` or ``random pairs``."""
    pattern: str
    """Pattern that it is simulated as; of GPUs, with ranks numbered server by server."""
    before: Share
    """Share that hosts get until the last message is done, of what ports allow; of random pairs the
    mean over messages, of a link's rate."""
    after: Share
    """The same after the repair."""
    before_Bps: Rate | None
    """The same in bytes per second, of GPUs their bus bandwidth; null if rates are not known."""
    after_Bps: Rate | None
    """`before_Bps` after the repair."""
    in_use: Share | None = None
    """`before` by the tables in use; null unless others routed both states."""


@dataclass(frozen=True, kw_only=True)
class Repair:
    """What cables gain that are plugged in where they are missing, or where they belong."""

    cables: int
    """Number of missing cables that were plugged in."""
    adapters: int
    """Number of adapters that were cabled to the leaves of their own rails."""
    engine: str
    """Engine that routed both states; "" if nothing was counted."""
    figures: tuple[RepairFigure, ...]
    """What traffic gets before and after; none if that was not counted."""
    not_counted: str
    """Why the gain was not counted; "" if it was."""


@dataclass(frozen=True)
class CheckReport(Shown, told="check_document"):
    """All checks of a fabric."""

    fabric: Fabric
    """The fabric."""
    passed: bool
    """True when nothing is wrong; warnings are no failure."""
    checks: tuple[Check, ...]
    """Checks in the order of reading."""
    routes: RoutesSummary | None
    """What following every route found; null if the fabric has no routes."""
    repair: Repair | None = None
    """What a repair gains; null where no cable is missing or on another rail, and from
    ``contend.check``."""


def check(fabric: Fabric, *, lanes: bool = True) -> CheckReport:
    """Checks a fabric and, if it has them, its routes.

    Args:
        fabric: the fabric.
        lanes: whether virtual lanes may keep a dependency cycle from locking up; tables do not
            tell, so a cycle is a warning. Without lanes it is wrong.

    Cost: addresses x switches, on all cores.
    """
    # Tables for which memory is short are refused before the rest is looked at.
    followed = None if fabric.routes is None else _follow(fabric, MOST_DETAILS)
    checks, summary = check_soundness(fabric), None
    if fabric.routes is not None and followed is not None:
        summary = _summarise(fabric, followed)
        grouped = fabric.routes.grouped
        checks += (
            check_tables(fabric),
            *check_faults(fabric, followed.seen),
            *(() if grouped is None else check_groups(fabric, grouped, followed.astray)),
            _check_balance(summary.balance),
            _check_cycle(summary.dependency_cycle, lanes),
        )
    else:
        checks += (Check("routes", Status.NOT_CHECKED, "there are no forwarding tables"),)
    return CheckReport(
        fabric=fabric,
        passed=all(item.status != Status.WRONG for item in checks),
        checks=checks,
        routes=summary,
    )


def summarise_routes(fabric: Fabric) -> RoutesSummary:
    """Follows every route. Cost: addresses x switches, on all cores.

    Raises:
        UsageError: when the fabric has no routes.
    """
    return _summarise(fabric, _follow(fabric, 0))


def all_to_all_load(fabric: Fabric) -> NDArray[np.uint64]:
    """Routes over every channel between switches, shape [2 cables], of all hosts to all addresses.

    With one address per host this is how often an all-to-all uses each channel.

    Raises:
        UsageError: when the fabric has no routes.
    """
    return _follow(fabric, 0).seen.load


def dependency_cycle(
    fabric: Fabric, *, from_all_switches: bool = False
) -> tuple[int, tuple[int, ...]]:
    """Number of channel dependencies, and one cycle of them, () when there is none.

    Channel b depends on channel a when a route uses b right after a; a lossless network whose
    dependencies form a cycle can lock up (Dally and Seitz, Deadlock-Free Message Routing in
    Multiprocessor Interconnection Networks, IEEE Transactions on Computers 36(5), 1987).

    Routes on different virtual lanes do not wait for each other: where the tables say which lane
    each keeps to, dependencies are counted lane by lane.

    Args:
        fabric: the fabric, with routes.
        from_all_switches: count routes that start at any switch, not only those from hosts.

    Raises:
        UsageError: when the fabric has no routes.
    """
    tables = tables_of(fabric)
    lane = np.zeros(0, dtype=np.uint8) if tables.lane is None else tables.lane
    count = 0
    cycle: list[int] = []
    for number in range(tables.lanes):
        with step(f"channels of {fabric.name} that wait for each other"):
            more, found = _core.dependency_cycle(
                fabric.core,
                tables.ports,
                fabric.host_lid,
                fabric.host_lmc,
                from_all_switches,
                lane,
                number,
            )
        count += more
        cycle = cycle or found
    return count, tuple(cycle)


@dataclass(frozen=True, eq=False)
class _Followed:
    """What following all routes found; dependencies are counted when somebody asks for them."""

    seen: _core.RouteCheck
    dependencies: Callable[[], tuple[int, Sequence[int]]]
    astray: NDArray[np.uint32]


def _follow(fabric: Fabric, examples: int) -> _Followed:
    grouped = None if fabric.routes is None else fabric.routes.grouped
    following = f"following routes of {fabric.name}"
    if grouped is not None:
        with step(following):
            seen, count, cycle, astray = grouped.follow(fabric, examples)
        return _Followed(seen, lambda: (count, cycle), astray)
    ports = tables_of(fabric).ports
    with step(following):
        seen = _core.check_routes(fabric.core, ports, fabric.host_lid, fabric.host_lmc, examples)
    return _Followed(seen, lambda: dependency_cycle(fabric), np.zeros(0, np.uint32))


def _summarise(fabric: Fabric, followed: _Followed) -> RoutesSummary:
    assert fabric.routes is not None
    dependencies, cycle = followed.dependencies()
    seen, grouped = followed.seen, fabric.routes.grouped
    return RoutesSummary(
        engine=fabric.routes.engine,
        delivered=int(seen.routes[0]),
        undelivered=int(seen.routes[1:].sum()),
        hops={hops: count for hops, count in enumerate(seen.hops.tolist()) if count},
        balance=balance(fabric, seen.load, seen.addresses),
        dependencies=dependencies,
        dependency_cycle=tuple(fabric.channel_name(channel) for channel in cycle),
        adaptive=None if grouped is None else adaptive_share(fabric, grouped),
    )


def _check_balance(spread: tuple[Balance, ...]) -> Check:
    """Upward and parallel channels could share their load freely; the others follow from them."""
    judged = [item for item in spread if item.kind in ("up", "parallel")]
    uneven = [item for item in judged if item.imbalance >= UNBALANCED]
    most = max((item.imbalance for item in judged), default=1.0)
    if not uneven:
        summary = f"no upward or parallel channel carries more than {most:.2f} times its fair share"
        return Check("balance", Status.OK, summary)
    details = tuple(
        f"{item.worst_channel}: {item.imbalance:.2f} times its fair share"
        + (f" (up from level {item.level})" if item.kind == "up" else " (parallel cables)")
        for item in uneven
    )
    return Check(
        "balance",
        Status.WARNING,
        f"a channel carries {most:.2f} times its fair share of the routes",
        details,
        "traffic arrives, but is congested: compare other engines with contend simulate",
    )


def _check_cycle(cycle: tuple[str, ...], lanes: bool) -> Check:
    if not cycle:
        return Check("deadlock", Status.OK, "channels never wait for each other in a circle")
    return Check(
        "deadlock",
        Status.WARNING if lanes else Status.WRONG,
        f"{len(cycle)} channels can wait for each other in a circle",
        at_most_ten(cycle),
        "this is safe only if the subnet manager keeps these routes on different virtual lanes "
        "(dfsssp, lash); otherwise route with updn or ftree",
    )


_NAMES = {
    TraceEnd.NO_ENTRY: (
        "missing entries",
        "every switch on a route has a port for it",
        "have the subnet manager route again; look for failed reads if the tables are a dump",
    ),
    TraceEnd.DEAD_END: (
        "dead ends",
        "no route leaves by a port with nothing plugged in",
        "the tables are older or newer than the topology: dump both again, one after the other",
    ),
    TraceEnd.WRONG_HOST: (
        "wrong hosts",
        "no route leaves the network at another host",
        "a host was moved or LIDs were reassigned: dump topology and tables again",
    ),
    TraceEnd.LOOP: (
        "loops",
        "no route returns to a switch",
        "the tables of these switches contradict each other: have the subnet manager route again",
    ),
}


def check_tables(fabric: Fabric) -> Check:
    """Whether the tables are those of this fabric's switches and hosts."""
    wrong = [f.message for f in fabric.findings if f.wrong and f.kind not in TOPOLOGY_FAULTS]
    if not wrong:
        return Check("tables", Status.OK, "the tables fit the switches and hosts")
    return Check(
        "tables",
        Status.WRONG,
        "the tables do not fit the switches and hosts",
        at_most_ten(wrong),
        "the dump may be cut short or older than the topology: dump both again",
    )


def check_faults(fabric: Fabric, seen: _core.RouteCheck) -> tuple[Check, ...]:
    """One check that all routes arrive, then one for every way in which they may not."""
    routes, faults = seen.routes.tolist(), seen.faults.tolist()
    lost, total = sum(routes[1:]), sum(routes)
    if lost == 0:
        arrival = Check("arrival", Status.OK, f"all {total:,} routes between hosts arrive")
    else:
        arrival = Check(
            "arrival",
            Status.WRONG,
            f"{lost:,} of {total:,} routes between hosts do not arrive",
            remedy="see below",
        )
    checks = [arrival]
    for end, (name, sound, remedy) in _NAMES.items():
        if faults[end] == 0:
            checks.append(Check(name, Status.OK, sound))
            continue
        details = tuple(
            describe_fault(fabric, *example) for example in seen.examples if example[0] == end
        )
        summary = f"affects {counted(routes[end], 'route')} in {counted(faults[end], 'place')}"
        if faults[end] > len(details):
            first = details[: MOST_DETAILS - 1]
            details = (*first, f"and {faults[end] - len(first):,} more")
        checks.append(Check(name, Status.WRONG, summary, details, remedy))
    return tuple(checks)
