"""Rails: the adapters of the same place in every server, and the leaves that they hang on."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contend.base.names import natural, shorten
from contend.base.units import listed
from contend.fabric.fabric import Fabric
from contend.fabric.servers import (
    adapter_words,
    are_numbered,
    server_names,
    servers_of,
    split_adapters,
)
from contend.fabric.told.told_rails import NONE

# So many of a leaf's hosts must agree for it to have a rail, and a server must have so many of the
# adapters of its kind to be of that kind.
_MOST = 0.75
# Of the cables that leaves of most rails have.
_ALIKE = 0.9


@dataclass(frozen=True, eq=False)
class Rails:
    """On which rail every host is."""

    rail: NDArray[np.int64]
    """Rail of every host, from 0, shape [hosts]: the place of its adapter in its server; -1 where a
    file tells the server's rails and it is on none."""
    kind: NDArray[np.int64]
    """Kind of its server, shape [hosts]: those with adapters of the same names."""
    size: NDArray[np.int64]
    """Number of adapters that servers of each kind have, shape [kinds]."""
    server: NDArray[np.int64]
    """Number of the server of every host, shape [hosts]."""


@dataclass(frozen=True)
class Rail:
    """A rail of the kind of servers with the most hosts."""

    number: int
    """Number from 1."""
    adapters: str
    """Names of the adapters on it: ``mlx5_2``; "" where descriptions name none."""
    hosts: int
    """Number of its hosts."""
    leaves: int
    """Number of leaves that they are plugged into."""
    astray: int
    """Number of them that are plugged into a leaf of another rail."""


def rails_of(fabric: Fabric, server: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """The rail of every host, from 0, shape [hosts]; -1 for none; see `find_rails`."""
    return find_rails(fabric, server).rail


def find_rails(fabric: Fabric, server: NDArray[np.int64] | None = None) -> Rails:
    """The rail of every host, and which servers are alike.

    Places are told apart by the adapters' names and ports, or where descriptions have none by the
    order of GUIDs. A server that lacks some adapters of a more common kind of servers keeps that
    kind's places: without ``mlx5_2`` its ``mlx5_3`` is still on the fourth rail. Where a file tells
    a server's rails it is right; such servers are alike if they have as many.

    Args:
        fabric: the fabric.
        server: number of the server of every host, where `servers_of` has told it.
    """
    server = servers_of(fabric) if server is None else server
    if are_numbered(fabric, server):
        none = np.zeros(fabric.hosts, dtype=np.int64)
        return Rails(none, none, np.ones(1, dtype=np.int64), server)
    rails_told = _rails_told(fabric, server)
    order = np.lexsort((fabric.host_adapter_port, fabric.host_guid, server))
    adapters: dict[int, list[tuple[_Place, int]]] = {}
    times: Counter[tuple[int, object]] = Counter()
    untold = order[rails_told[order] == 0]
    ports = fabric.host_adapter_port[untold].tolist()
    split = split_adapters(fabric.host_name)
    for host, owner, port in zip(untold.tolist(), server[untold].tolist(), ports, strict=True):
        own = adapters.setdefault(owner, [])
        word = split[host][1]
        # Places without a name count on by GUID.
        adapter = _in_order(word), port if word else len(own)
        own.append(((*adapter, times[owner, adapter]), host))
        times[owner, adapter] += 1
    kinds = Counter(frozenset(place for place, _ in own) for own in adapters.values())
    number = {kind: position for position, kind in enumerate(kinds)}
    kind_of = {kind: _kind_with(kind, kinds) for kind in kinds}
    rail = np.zeros(fabric.hosts, dtype=np.int64)
    kind = np.zeros(fabric.hosts, dtype=np.int64)
    for own in adapters.values():
        chosen = kind_of[frozenset(place for place, _ in own)]
        places = {place: position for position, place in enumerate(sorted(chosen))}
        for place, host in own:
            rail[host], kind[host] = places[place], number[chosen]
    size = np.array([len(each) for each in kinds], dtype=np.int64)
    if fabric.told is not None:
        told = rails_told > 0
        sizes, which = np.unique(rails_told[told], return_inverse=True)
        rail[told], kind[told] = fabric.told.rail[told], len(size) + which.reshape(-1)
        size = np.concatenate([size, sizes])
    return Rails(rail, kind, size, server)


def _rails_told(fabric: Fabric, server: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many rails a file gives to the server of every host, shape [hosts]; 0: it says none."""
    rails_of_server = np.zeros(fabric.hosts, dtype=np.int64)
    if fabric.told is not None:
        known = fabric.told.server >= 0
        rails_of_server[server[known]] = fabric.told.sizes[fabric.told.server[known]]
    return rails_of_server[server]


_Place = tuple[tuple[tuple[str, int, str], ...], int, int]
"""An adapter by its name, its port, and how many there were before of the same ones."""
# Kinds of servers that each is compared with, the most common.
_MOST_KINDS = 64


@lru_cache(1 << 12)
def _in_order(word: str) -> tuple[tuple[str, int, str], ...]:
    """Sorts ``mlx5_9`` before ``mlx5_10``; servers share their adapters' words."""
    # Adapter 01 is adapter 1.
    return tuple(part[:3] for part in natural(word.lower()))


def _kind_with(kind: frozenset[_Place], kinds: Counter[frozenset[_Place]]) -> frozenset[_Place]:
    """The most common kind of servers that has all these adapters."""
    having = [other for other, _ in kinds.most_common(_MOST_KINDS) if kind <= other]
    return max([kind, *having], key=lambda other: (kinds[other], len(other)))


def count_rails(fabric: Fabric) -> int:
    """How many rails the kind of servers has that most hosts belong to; 0 for servers of one."""
    found = find_rails(fabric)
    size = int(found.size[np.bincount(found.kind).argmax()]) if fabric.hosts else 0
    return size if size > 1 else 0


def rails(fabric: Fabric) -> tuple[Rail, ...]:
    """The rails of the kind of servers that most hosts belong to; none of servers of one host."""
    found = find_rails(fabric)
    usual = int(np.bincount(found.kind).argmax()) if fabric.hosts else 0
    if fabric.hosts == 0 or found.size[usual] < 2:
        return ()
    own = _rail_of_leaf(fabric, found)
    adapters = np.bincount(found.server, found.rail >= 0)[found.server]
    whole = (found.kind == usual) & (adapters >= _MOST * found.size[usual])
    words = adapter_words(fabric, server_names(fabric))
    each = []
    for number in range(int(found.size[usual])):
        hosts = np.flatnonzero(whole & (found.rail == number))
        names = {words[host] for host in hosts.tolist()} - {""}
        astray = np.count_nonzero((own[hosts] >= 0) & (own[hosts] != number))
        leaves = len(np.unique(fabric.host_switch[hosts]))
        each.append(Rail(number + 1, ", ".join(sorted(names)), len(hosts), leaves, int(astray)))
    return tuple(each)


def incomplete_servers(fabric: Fabric) -> dict[str, int]:
    """Sentences on servers that lack adapters which servers like them have, with their numbers.

    Servers beside each other that lack the same are one sentence, which says where neighbours have
    it, or that no leaf near them has. One that lacks more than a quarter of its adapters is another
    kind of server, unless a file tells that it should have them.
    """
    found = find_rails(fabric)
    if fabric.told is None and (found.size < 2).all():
        return {}
    first: dict[tuple[int, int], int] = {}
    of_server: dict[int, list[int]] = defaultdict(list)
    for host in range(fabric.hosts):
        first.setdefault((int(found.kind[host]), int(found.rail[host])), host)
        if found.rail[host] >= 0:
            of_server[int(found.server[host])].append(host)
    names = server_names(fabric)
    words = adapter_words(fabric, names)
    alike: dict[tuple[_Lacking, tuple[int, ...]], list[int]] = defaultdict(list)
    for hosts in of_server.values():
        present = set(found.rail[hosts].tolist())
        lacking = _lacking_as_told(fabric, hosts[0], present)
        if lacking is None:
            kind = int(found.kind[hosts[0]])
            size = int(found.size[kind])
            whole = size if len(hosts) >= _MOST * size else 0
            lacking = {
                rail: words[first[kind, rail]] for rail in range(whole) if rail not in present
            }
        if lacking:
            leaves = np.unique(fabric.host_switch[hosts]).tolist()
            alike[tuple(lacking.items()), tuple(leaves)].append(hosts[0])
    railed = (_rail_of_leaf(fabric, found) >= 0).any()
    sentences: dict[str, int] = {}
    for (gone, leaves), members in alike.items():
        called = sorted({names[host] for host in members}, key=natural)
        who = shorten(called)
        who = who if len(who) <= _LONGEST_LIST else f"{called[0]} to {called[-1]}"
        who = f"{len(called):,} servers, {who}" if len(called) > 1 else f"server {who}"
        adapters = " and ".join(
            f'adapter "{word}" of rail {rail + 1}' if word else f"its adapter of rail {rail + 1}"
            for rail, word in gone
        )
        what = f"{adapters} {'is' if len(gone) == 1 else 'are'} missing"
        if railed and len(called) > 2 and len(sentences) < _MOST_PLACED:
            what += _where_neighbours_have(fabric, found, leaves, gone)
        sentences[f"{who}: {what}"] = len(members)
    return sentences


_Lacking = tuple[tuple[int, str], ...]
"""Rails, from 0, with the names of the adapters that are not there."""
_LONGEST_LIST = 120
# Groups of servers whose neighbours are looked at, each of which costs a look at all hosts.
_MOST_PLACED = 16


def _where_neighbours_have(
    fabric: Fabric, found: Rails, leaves: tuple[int, ...], gone: _Lacking
) -> str:
    """Where servers on the same leaves have what some lack; or that none of them has it."""
    near = np.isin(found.server, found.server[np.isin(fabric.host_switch, leaves)])
    theirs = near & np.isin(found.rail, [rail for rail, _ in gone])
    own = np.unique(fabric.host_switch[theirs]).tolist()
    if not own:
        return f", and with {'it its whole leaf' if len(gone) == 1 else 'them their whole leaves'}"
    switches = " and ".join(f'"{fabric.switch_label[leaf]}"' for leaf in own)
    return f"; their neighbours have it on switch {switches}" if len(own) < 3 else ""


def _lacking_as_told(fabric: Fabric, host: int, present: set[int]) -> dict[int, str] | None:
    """Adapters by rail that a file gives to a host's server and that are not there, if it does."""
    told = fabric.told
    if told is None or (server := int(told.server[host])) < 0:
        return None
    adapters = enumerate(told.adapters[server])
    return {rail: word for rail, word in adapters if word != NONE and rail not in present}


def several_adapters(fabric: Fabric) -> bool:
    """Whether a server has several adapters, or should have."""
    return fabric.told is not None or bool(np.bincount(servers_of(fabric)).max(initial=0) > 1)


@dataclass(frozen=True)
class AstrayServer:
    """A server with adapters on leaves of other rails."""

    words: str
    """Its adapters, where they hang, and what is wrong, in a sentence."""
    brief: str
    """Which of its rails are concerned, as a clause."""


def hosts_on_other_rails(fabric: Fabric) -> list[AstrayServer]:
    """Every server with adapters on leaves of other rails, where leaves have one.

    A leaf has the rail of most of its hosts, of servers with the same adapters. Where few leaves
    have one the network knows no rails, and nothing is out of place.
    """
    found = find_rails(fabric)
    if not found.rail.any():
        return []
    rail, leaf, own = found.rail, fabric.host_switch, _rail_of_leaf(fabric, found)
    stray = strays_of(fabric, found)
    if not stray:
        return []
    names = server_names(fabric)
    strays: dict[int, list[int]] = defaultdict(list)
    for host in stray:
        strays[int(found.server[host])].append(host)
    sentences = []
    for hosts in strays.values():
        where = [
            f'"{fabric.host_name[host].strip()}" on switch '
            f'"{fabric.switch_label[leaf[host]]}" port {int(fabric.host_port[host])}'
            for host in hosts
        ]
        crossed = len(hosts) == 2 and own[hosts[0]] == rail[hosts[1]] != own[hosts[1]]
        crossed = crossed and own[hosts[1]] == rail[hosts[0]]
        verb = (
            "are cabled to each other's rails" if crossed else "are cabled to leaves of other rails"
        )
        if len(hosts) == 1:
            wrong, right = int(own[hosts[0]]) + 1, int(rail[hosts[0]]) + 1
            verb = f"is cabled to a leaf of rail {wrong}, not {right}"
        shown = [*where[:2], f"{len(hosts) - 2:,} more"] if len(hosts) > 2 else where
        server = names[hosts[0]]
        own_rails = " and ".join(str(number) for number in sorted(rail[hosts] + 1))
        brief = f"{server}'s rails {own_rails} are swapped"
        if not crossed:
            rails_are = f"rail {own_rails} hangs" if len(hosts) == 1 else "adapters hang"
            leaf_is = "a leaf of another rail" if len(hosts) == 1 else "leaves of other rails"
            brief = f"{server}'s {rails_are} on {leaf_is}"
        sentence = f"server {server.removeprefix('server ')}: {listed(shown)} {verb}"
        sentences.append(AstrayServer(sentence, brief))
    return sentences


def strays_of(fabric: Fabric, found: Rails) -> dict[int, int]:
    """Hosts on leaves of other rails, by number, with the rail of the leaf, from 0."""
    own = _rail_of_leaf(fabric, found)
    stray = np.flatnonzero((own >= 0) & (own != found.rail))
    return dict(zip(stray.tolist(), own[stray].tolist(), strict=True))


def leaf_rails(fabric: Fabric) -> NDArray[np.int64]:
    """The rail of every switch, from 0, shape [switches]: that of most of its hosts; -1 for none.

    Only leaves of rail-optimised networks have one, see `hosts_on_other_rails`.
    """
    server = servers_of(fabric)
    rail = np.full(fabric.switches, -1, dtype=np.int64)
    if len(np.unique(server)) == fabric.hosts:
        return rail
    own = _rail_of_leaf(fabric, find_rails(fabric, server))
    times: dict[int, Counter[int]] = defaultdict(Counter)
    known = own >= 0
    for leaf, here in zip(fabric.host_switch[known].tolist(), own[known].tolist(), strict=True):
        times[leaf][here] += 1
    for leaf, counts in times.items():
        rail[leaf] = counts.most_common(1)[0][0]
    return rail


def narrower_rails(fabric: Fabric) -> list[str]:
    """A sentence for every rail whose leaves have fewer cables to other switches than most rails'.

    By more than a tenth on average: single cables that are missing are another matter.
    """
    rail = leaf_rails(fabric)
    if not (rail >= 0).any():
        return []
    across = fabric.cable_from != fabric.cable_to
    ends = np.concatenate([fabric.cable_from[across], fabric.cable_to[across]])
    cables = np.bincount(ends, minlength=fabric.switches)
    each = {number: float(cables[rail == number].mean()) for number in np.unique(rail[rail >= 0])}
    usual = float(np.median(list(each.values())))
    return [
        f"leaves of rail {number + 1} have {mean:.3g} of the {usual:.3g} cables to other switches "
        "that leaves of most rails have, on average"
        for number, mean in each.items()
        if mean < _ALIKE * usual
    ]


def _rail_of_leaf(fabric: Fabric, found: Rails) -> NDArray[np.int64]:
    """Of every host the rail that most hosts of its kind on its leaf have, -1 where none is."""
    several = (np.bincount(found.server)[found.server] > 1) & (found.rail >= 0)
    rail, kind = found.rail, found.kind
    own = np.full(fabric.hosts, -1, dtype=np.int64)
    members: dict[tuple[int, int], list[int]] = defaultdict(list)
    for host in np.flatnonzero(several).tolist():
        members[int(kind[host]), int(fabric.host_switch[host])].append(host)
    agreeing: Counter[int] = Counter()
    rails: dict[int, set[int]] = defaultdict(set)
    for (sort, _), hosts in members.items():
        usual, times = Counter(rail[hosts].tolist()).most_common(1)[0]
        if len(hosts) > 2 and times >= _MOST * len(hosts):
            own[hosts] = usual
            agreeing[sort] += times
            rails[sort].add(usual)
    for sort, count in Counter(kind[several].tolist()).items():
        if len(rails[sort]) < 2 or agreeing[sort] < _MOST * count:
            own[kind == sort] = -1
    return own
