"""Given messages between hosts: the congestion and the fair share of each, and when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.congestion.drawing import DrawnPattern
from contend.congestion.rates import link_rates
from contend.congestion.split_messages import shares_by_ways
from contend.fabric import Fabric
from contend.routes import ONE_WAY, Ways, make_resolver

if TYPE_CHECKING:
    import polars

Hosts = Sequence[int] | NDArray[np.integer]
"""Host numbers, shape [messages]."""

_COLUMNS = (
    *("pattern", "round", "source_rank", "target_rank", "source_host", "target_host"),
    *("congestion", "share", "fair_share", "port"),
)


@dataclass(frozen=True, eq=False)
class MessageCongestion:
    """The congestion that simultaneous messages give each other."""

    congestion: NDArray[np.uint32]
    """Pi of every message, shape [messages], uint32: the largest number of messages on any channel
    of its route, its hosts' channels included; 0 from a host to itself."""
    bandwidth: NDArray[np.float64]
    """Share that every message gets of what the slower of its two hosts' ports carries, shape
    [messages]: the least, over its channels, of rate over messages; 1/pi where all links have the
    same rate, and 1 from a host to itself."""
    channel_messages: NDArray[np.uint64]
    """Messages on every channel, shape [channels], uint64."""


def message_congestion(
    fabric: Fabric,
    source: Hosts,
    target: Hosts,
    *,
    spread: bool = False,
    equal_rates: bool = False,
    draw: int | None = None,
) -> MessageCongestion:
    """Counts simultaneous messages from hosts `source` to hosts `target` (Hoefler 2008, 3.1).

    Args:
        fabric: with routes.
        source: host numbers, shape [messages].
        target: host numbers, shape [messages].
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        equal_rates: count all links alike, whatever they carry.
        draw: which drawing of the routes, where they are drawn: a number, as another drawing has
            other figures.

    Raises:
        UsageError: when a host does not exist, there is no route, or they are drawn and `draw` says
            nothing.
    """
    drawing = _drawing(fabric, draw)
    placed = place_messages(fabric, [(source, target)], spread=spread, follows=Ways.DRAWN)
    rates = link_rates(fabric, placed.hosts, equal=equal_rates).by_place
    congestion, share, counted = _core.message_congestion(
        placed.resolver, *placed.rounds[0], rates, drawing
    )
    return MessageCongestion(congestion, share, channels_of_fabric(fabric, placed.hosts, counted))


def _drawing(fabric: Fabric, draw: int | None) -> int:
    """The drawing that is meant; any where routes stay."""
    if draw is None and fabric.draws_routes:
        assert fabric.routes is not None
        raise UsageError(
            f"routes by {fabric.routes.engine} are drawn anew for every sample: choose one drawing "
            "with draw=NUMBER"
        )
    return draw or 0


def channel_bytes(
    fabric: Fabric, source: Hosts, target: Hosts, size: Sequence[int] | NDArray[np.integer]
) -> NDArray[np.float64]:
    """Bytes that cross every channel when hosts `source` have sent so many to hosts `target`.

    Args:
        fabric: with routes.
        source: host numbers, shape [messages].
        target: host numbers, shape [messages].
        size: bytes of every message, shape [messages].

    Returns:
        Shape [channels].

    Raises:
        UsageError: when a host does not exist, there is no route, or shapes differ.
    """
    senders, receivers = np.asarray(source, np.int64), np.asarray(target, np.int64)
    sizes = np.asarray(size, np.uint64)
    if not len(senders) == len(receivers) == len(sizes):
        raise UsageError(
            f"expected as many targets and sizes as sources, got {len(receivers)} and "
            f"{len(sizes)} of {len(senders)}"
        )
    placed = place_messages(fabric, [(senders, receivers)])
    counted = _core.channel_amounts(placed.resolver, *placed.rounds[0], sizes)
    return channels_of_fabric(fabric, placed.hosts, counted).astype(np.float64)


def fair_share(
    fabric: Fabric,
    source: Hosts,
    target: Hosts,
    *,
    spread: bool = False,
    equal_rates: bool = False,
    draw: int | None = None,
) -> NDArray[np.float64]:
    """The max-min fair share that each of simultaneous messages gets.

    No message could get more without taking from one that has no more than itself (Bertsekas and
    Gallager, Data Networks, 1992, section 6.5.2). It is never less than the bandwidth of
    `message_congestion`, and more where rivals are held back on other channels. Like that it is a
    share of what the slower of the message's two hosts' ports carries.

    Args:
        fabric: with routes.
        source: host numbers, shape [messages].
        target: host numbers, shape [messages].
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        equal_rates: count all links alike, whatever they carry.
        draw: as in `message_congestion`.

    Returns:
        Shape [messages]; 1 from a host to itself.

    Raises:
        UsageError: as `message_congestion`.
    """
    drawing = _drawing(fabric, draw)
    placed = place_messages(
        fabric, [(source, target)], spread=spread, follows=Ways.DRAWN | Ways.TOGETHER
    )
    if fabric.routes is not None and placed.resolver.splits:
        raise UsageError(
            f"routes by {fabric.routes.engine} send every message over several paths at once, and "
            "fair shares follow each along one path"
        )
    rates = link_rates(fabric, placed.hosts, equal=equal_rates).by_place
    return _core.fair_share(placed.resolver, *placed.rounds[0], rates, drawing)


def fluid_times(
    fabric: Fabric,
    source: Hosts,
    target: Hosts,
    *,
    size: Sequence[float] | NDArray[np.floating] | None = None,
    spread: bool = False,
    equal_rates: bool = False,
) -> NDArray[np.float64]:
    """When messages that start together end, each getting its max-min fair share all the time.

    A message that ends leaves its share to the others from then on. The mean bandwidth of a message
    over its whole transfer is its size over its time. Messages of equal size end at one over their
    `fair_share` where links are alike: on the channel that holds a message back no other is faster,
    so none ends before it and makes room.

    Args:
        fabric: with routes.
        source: host numbers, shape [messages].
        target: host numbers, shape [messages].
        size: of every message, above 0, shape [messages]; None: all have size 1.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        equal_rates: count all links alike, whatever they carry.

    Returns:
        Shape [messages], in units of what size 1 takes on an empty fabric between the fastest of
        the hosts' ports; its size for a message from a host to itself.

    Raises:
        UsageError: when a host does not exist, there is no route, or a size is not above 0.
    """
    placed = place_messages(fabric, [(source, target)], spread=spread)
    sizes = np.array([] if size is None else size, dtype=np.float64)
    rates = link_rates(fabric, placed.hosts, equal=equal_rates).by_place
    fastest = rates[2 * fabric.cables :].max(initial=0.0) if len(rates) else 1.0
    return _core.fluid_times(placed.resolver, *placed.rounds[0], sizes, rates / fastest)


def message_shares(
    fabric: Fabric,
    patterns: Iterable[DrawnPattern],
    *,
    spread: bool = False,
    draw: int | None = None,
) -> polars.DataFrame:
    """Congestion and max-min fair share of every message of drawn patterns.

    Host channels count, and links by their rates, as in `message_congestion`.

    Args:
        fabric: with routes.
        patterns: from `draw_patterns` on this fabric.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        draw: which drawing of the routes all patterns take, where routes are drawn; None gives each
            the one that a simulation gives that sample.

    Returns:
        One row a message: ``pattern`` (the sample's number), ``round``, ``source_rank``,
        ``target_rank``, ``source_host``, ``target_host``, ``congestion`` (pi; 0 on one host; where
        messages take several ways at once, load, which may be no whole number), ``share`` (the
        least of rate over load) and ``fair_share``, both of the slower of its hosts' ports, and
        ``port``: that as a part of the fastest host's.

    Raises:
        UsageError: when there is no route.
    """
    cases = [(sample, number) for sample in patterns for number in range(len(sample.rounds))]
    ends = [sample.between_hosts(number) for sample, number in cases]
    placed = place_messages(fabric, ends, spread=spread, follows=Ways.DRAWN | Ways.SPLIT)
    rates = link_rates(fabric, placed.hosts).by_place
    ways = ONE_WAY if fabric.routes is None else fabric.routes.ways
    port = _ports(rates, len(placed.hosts))
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _COLUMNS}
    for (sample, number), hosts, (source, target) in zip(cases, ends, placed.rounds, strict=True):
        drawing = _core.routes_draw(sample.seed, sample.number) if draw is None else draw
        pi, share, fair = shares_by_ways(ways, placed.resolver, source, target, rates, drawing)
        slower = np.minimum(port[source], port[target])
        names = (
            np.full(len(source), sample.number, dtype=np.uint64),
            np.full(len(source), number, dtype=np.uint32),
        )
        row: tuple[NDArray[Any], ...] = (*names, *sample.rounds[number], *hosts, pi)
        for name, values in zip(_COLUMNS, (*row, share, fair, slower), strict=True):
            columns[name].append(values)
    # It takes longer to load than most predictions take.
    import polars

    empty = np.zeros(0, dtype=np.float64)
    return polars.DataFrame(
        {name: np.concatenate(parts) if parts else empty for name, parts in columns.items()}
    )


def _ports(rates: NDArray[np.float64], places: int) -> NDArray[np.float64]:
    """Rate of every place's port as a part of the fastest's, shape [places]."""
    if len(rates) == 0:
        return np.ones(places)
    of_hosts = rates[len(rates) - places :]
    return np.asarray(of_hosts / of_hosts.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class PlacedMessages:
    """Messages between places, which are the hosts that send or receive any."""

    resolver: _core.Resolver
    """Routes between the places."""
    hosts: NDArray[np.int64]
    """Host of every place, shape [places]."""
    rounds: tuple[tuple[NDArray[np.uint32], NDArray[np.uint32]], ...]
    """Source and target places of the messages of every round, shape [messages] each."""


def place_messages(
    fabric: Fabric,
    rounds: Sequence[tuple[Hosts, Hosts]],
    *,
    spread: bool = False,
    follows: Ways = ONE_WAY,
) -> PlacedMessages:
    """Prepares the routes of messages, given as source and target hosts of every round.

    What the caller does with them is as `make_resolver` takes it.

    Raises:
        UsageError: when a host does not exist, there is no route, one drawing would stand for all,
            or not as many targets as sources.
    """
    ends = [tuple(np.asarray(end, dtype=np.int64) for end in messages) for messages in rounds]
    for source, target in ends:
        if len(source) != len(target):
            raise UsageError(
                f"expected as many targets as sources, got {len(target)} and {len(source)}"
            )
    every_end = np.concatenate([np.zeros(0, np.int64), *(end for both in ends for end in both)])
    hosts = np.unique(every_end)
    if len(hosts) and not 0 <= hosts[0] <= hosts[-1] < fabric.hosts:
        raise UsageError(f"expected hosts 0 .. {fabric.hosts - 1}, got {hosts[0]} .. {hosts[-1]}")
    resolver = make_resolver(
        fabric,
        hosts.astype(np.uint32),
        spread=spread,
        messages=len(every_end) // 2,
        follows=follows,
    )
    place = np.zeros(fabric.hosts, dtype=np.uint32)
    place[hosts] = np.arange(len(hosts), dtype=np.uint32)
    return PlacedMessages(
        resolver, hosts, tuple((place[source], place[target]) for source, target in ends)
    )


def channels_of_fabric(
    fabric: Fabric, hosts: NDArray[np.integer], counted: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Spreads counts by place over the fabric's channels, those of other hosts being 0.

    Args:
        fabric: whose channels.
        hosts: host of every place, shape [places].
        counted: channels between switches, then injection and ejection by place.
    """
    between = 2 * fabric.cables
    channels = np.zeros(fabric.channels, dtype=np.uint64)
    channels[:between] = counted[:between]
    channels[between + hosts] = counted[between : between + len(hosts)]
    channels[between + fabric.hosts + hosts] = counted[between + len(hosts) :]
    return channels
