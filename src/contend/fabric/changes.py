"""What differs between two states of a network: nodes, cables and speeds, told apart by GUID."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from contend.base.schema import PythonOnly
from contend.fabric.fabric import Fabric

_Port = tuple[int, int]
_Ends = tuple[_Port, _Port]
_Key = TypeVar("_Key", int, str)


@dataclass(frozen=True)
class Change:
    """Something that differs."""

    what: str
    """``host``, ``switch`` or ``cable``."""
    how: str
    """``added``, ``removed``, ``renamed``, ``replaced`` (its place has other hardware), ``moved``
    or ``speed``."""
    number: PythonOnly[int]
    """Its number in the later state, or in the earlier one where it was removed."""
    name: str
    """Name of it, as it is called now, or was where it is gone."""
    before: str = ""
    """What was there; "" for what was added."""
    after: str = ""
    """What is there; "" for what was removed."""
    former: PythonOnly[int] = -1
    """Number of a moved cable in the earlier state; -1 for everything else."""


@dataclass(frozen=True, eq=False)
class Difference:
    """What differs between two states of a network."""

    changes: tuple[Change, ...]
    """Changes of hosts, of switches, then of cables between switches."""
    hosts: tuple[tuple[int, int], ...]
    """Pairs of numbers of hosts that both have, before and after."""
    switches: tuple[tuple[int, int], ...]
    """The same of switches."""
    cables: tuple[tuple[int, int], ...]
    """The same of cables between switches whose ends are the same ports."""


def difference(old: Fabric, new: Fabric) -> Difference:
    """Compares two states of a network.

    Nodes are the same where their GUIDs are, so that what was renamed or plugged elsewhere is told
    as such; what is left is the same where names are, and was replaced if its GUID is another.
    Names that several of the rest bear tell nothing.
    """
    hosts = _matched(
        (old.host_port_guid.tolist(), old.host_name), (new.host_port_guid.tolist(), new.host_name)
    )
    switches = _matched(
        (old.switch_guid.tolist(), old.switch_name), (new.switch_guid.tolist(), new.switch_name)
    )
    node_of = {after: before for before, after in switches.pairs}
    # Switches that are new get numbers of their own, beyond the old ones.
    now = [node_of.get(number, old.switches + number) for number in range(new.switches)]
    before, after = dict(_cables(old, range(old.switches))), dict(_cables(new, now))
    changes = [
        *_of_nodes("host", hosts, old.host_name, new.host_name),
        *_of_host_links(old, new, hosts.pairs, node_of),
        *_of_nodes("switch", switches, old.switch_name, new.switch_name),
        *_of_cables(old, new, before, after),
    ]
    cables = tuple((number, after[ends]) for ends, number in before.items() if ends in after)
    return Difference(tuple(changes), tuple(hosts.pairs), tuple(switches.pairs), cables)


@dataclass(frozen=True)
class _Matched:
    pairs: list[tuple[int, int]]
    replaced: set[int]  # numbers after, whose GUID is another
    removed: list[int]
    added: list[int]


def _matched(
    old: tuple[Sequence[int], Sequence[str]], new: tuple[Sequence[int], Sequence[str]]
) -> _Matched:
    """Nodes of both states: by GUID, then by name."""
    pairs = _pairs_by(old[0], new[0], lambda guid: guid != 0)
    before, after = ({pair[end] for pair in pairs} for end in (0, 1))
    left = [number for number in range(len(old[1])) if number not in before]
    came = [number for number in range(len(new[1])) if number not in after]
    named = _pairs_by([old[1][n] for n in left], [new[1][n] for n in came], bool)
    by_name = [(left[first], came[second]) for first, second in named]
    return _Matched(
        sorted(pairs + by_name),
        {second for first, second in by_name if old[0][first] != new[0][second]},
        [number for number in left if number not in {first for first, _ in by_name}],
        [number for number in came if number not in {second for _, second in by_name}],
    )


def _pairs_by(
    old: Sequence[_Key], new: Sequence[_Key], counts: Callable[[_Key], bool]
) -> list[tuple[int, int]]:
    """Numbers before and after of what has the same key, where only one on each side has it."""
    once = [Counter(keys) for keys in (old, new)]
    place = {key: number for number, key in enumerate(new)}
    return [
        (number, place[key])
        for number, key in enumerate(old)
        if counts(key) and once[0][key] == once[1][key] == 1
    ]


def _of_nodes(
    what: str, found: _Matched, old: Sequence[str], new: Sequence[str]
) -> Iterator[Change]:
    yield from (
        Change(what, "removed", number, old[number], before=old[number]) for number in found.removed
    )
    yield from (
        Change(what, "added", number, new[number], after=new[number]) for number in found.added
    )
    for before, after in found.pairs:
        if after in found.replaced:
            yield Change(what, "replaced", after, new[after], "another GUID")
        elif old[before] != new[after]:
            yield Change(what, "renamed", after, new[after], old[before], new[after])


def _of_host_links(
    old: Fabric, new: Fabric, hosts: Sequence[tuple[int, int]], node_of: dict[int, int]
) -> Iterator[Change]:
    """Hosts that hang elsewhere, or by another speed."""
    for before, after in hosts:
        place = int(old.host_switch[before]), int(old.host_port[before])
        now = node_of.get(int(new.host_switch[after])), int(new.host_port[after])
        if place != now:
            there = (old.port_name(*place), new.port_name(new.host_switch[after], now[1]))
            yield Change("host", "moved", after, new.host_name[after], *there)
        rates = (old.rates[old.host_rate[before]], new.rates[new.host_rate[after]])
        if rates[0] != rates[1]:
            yield Change("host", "speed", after, new.host_name[after], *rates)


def _of_cables(
    old: Fabric, new: Fabric, before: Mapping[_Ends, int], after: Mapping[_Ends, int]
) -> Iterator[Change]:
    """Cables between switches, by their ends; one that kept one end was moved."""
    for ends in before:
        if ends not in after:
            continue
        rates = (
            old.rates[old.cable_rate[before[ends]]],
            new.rates[new.cable_rate[after[ends]]],
        )
        if rates[0] != rates[1]:
            yield Change("cable", "speed", after[ends], _cable(new, after[ends]), *rates)
    gone = {ends: k for ends, k in before.items() if ends not in after}
    came = {ends: k for ends, k in after.items() if ends not in before}
    at = {end: ends for ends in came for end in ends}
    for ends, cable in gone.items():
        kept = next((at[end] for end in ends if at.get(end) in came), None)
        if kept is None:
            yield Change("cable", "removed", cable, _cable(old, cable), before=_cable(old, cable))
        else:
            moved = came.pop(kept)
            then, there = _cable(old, cable), _cable(new, moved)
            yield Change("cable", "moved", moved, there, then, there, former=cable)
    for cable in came.values():
        yield Change("cable", "added", cable, _cable(new, cable), after=_cable(new, cable))


def _cables(fabric: Fabric, number_of: Sequence[int]) -> Iterator[tuple[_Ends, int]]:
    """The ends of every cable, in an order of their own, and its number."""
    for cable, (near, near_port, far, far_port) in enumerate(fabric.cable_ends()):
        one, other = sorted([(number_of[near], near_port), (number_of[far], far_port)])
        yield (one, other), cable


def _cable(fabric: Fabric, cable: int) -> str:
    return fabric.channel_name(2 * cable).replace(" -> ", " - ")
