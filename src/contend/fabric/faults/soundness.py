"""Checks of a fabric that need no routes: cables, GUIDs, LIDs, connectedness, speeds, places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from contend.fabric.assemble import UNEQUAL_RATES
from contend.fabric.fabric import Fabric, Finding
from contend.fabric.faults.incomplete import MissingCables, misnamed_switches, missing_cables
from contend.fabric.faults.link_speeds import slow_links, unknown_rates
from contend.fabric.rails import hosts_on_other_rails, incomplete_servers, narrower_rails
from contend.fabric.servers import servers_of, unnamed_hosts
from contend.units import counted

MOST_DETAILS = 10


class Status(StrEnum):
    """Result of a check."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: what was checked, in a few words.
        status: a warning may be intended; what is wrong needs repair.
        summary: what was found, in one line.
        details: the places by name, at most `MOST_DETAILS`.
        remedy: what to do; "" when all is well.
    """

    name: str
    status: Status
    summary: str
    details: tuple[str, ...] = ()
    remedy: str = ""


_PORT_TWICE = "port twice"
_CABLE_FAULTS = frozenset({_PORT_TWICE, "denied cable", "one-sided cable"})
_DUPLICATE_GUID = "duplicate GUID"
TOPOLOGY_FAULTS = _CABLE_FAULTS | {_DUPLICATE_GUID}
"""Kinds of findings that are judged here; the others that are wrong concern the routes."""


def check_soundness(fabric: Fabric) -> tuple[Check, ...]:
    """Checks what a fabric says of itself. Cost: n log n in hosts, switches and cables."""
    return (
        _check_cables(fabric),
        _check_guids(fabric),
        _check_lids(fabric),
        _check_parts(fabric),
        _check_speeds(fabric),
        _check_missing(fabric),
        _check_rails(fabric),
        _check_names(fabric),
    )


def _check_cables(fabric: Fabric) -> Check:
    wrong = [f for f in fabric.findings if f.wrong and f.kind in _CABLE_FAULTS]
    if not wrong:
        return _check_loops(fabric)
    kinds = Counter(finding.kind for finding in wrong)
    return Check(
        "cables",
        Status.WRONG,
        ", ".join(f"{kind}: {count:,}" for kind, count in kinds.items()),
        tuple(finding.message for finding in _some_of_each(wrong, kinds)),
        "check the named ports; if they are in order, the fabric changed while the topology file "
        "was written, so dump it again",
    )


def _check_loops(fabric: Fabric) -> Check:
    count = fabric.cables + fabric.hosts
    sound = f"{counted(count, 'cable')}, both ends of each agree"
    loops = np.flatnonzero(fabric.cable_from == fabric.cable_to).tolist()
    if not loops:
        return Check("cables", Status.OK, sound)
    lead = "leads" if len(loops) == 1 else "lead"
    return Check(
        "cables",
        Status.WARNING,
        f"{sound}; {counted(len(loops), 'cable')} {lead} from a switch back to itself",
        tuple(fabric.channel_name(2 * cable) for cable in loops[:MOST_DETAILS]),
        "unplug it or connect it to another switch: such a cable carries nothing and is left out",
    )


def _some_of_each(findings: list[Finding], kinds: Counter[str]) -> Iterator[Finding]:
    """As many of every kind as fit, the first of each."""
    left = dict.fromkeys(kinds, max(1, MOST_DETAILS // len(kinds)))
    for finding in findings:
        if left[finding.kind] > 0:
            left[finding.kind] -= 1
            yield finding


def _check_guids(fabric: Fabric) -> Check:
    owners: dict[int, set[str]] = {}
    for name, guid in zip(fabric.host_name, fabric.host_guid.tolist(), strict=True):
        # The ports of one adapter share its GUID, so an adapter's name counts once.
        owners.setdefault(guid, set()).add(f'host "{name}"')
    clashes = [f.message for f in fabric.findings if f.wrong and f.kind == _DUPLICATE_GUID]
    for switch, guid in enumerate(fabric.switch_guid.tolist()):
        label = f'switch "{fabric.switch_name[switch]}"'
        if label in owners.setdefault(guid, set()):
            label += f" (switch {switch})"
        owners[guid].add(label)
    clashes += [_shared("GUID", g, names) for g, names in owners.items() if g and len(names) > 1]
    clashes += _same_ports(fabric)
    if not clashes:
        return _check_ports_used_twice(fabric)
    return Check(
        "GUIDs",
        Status.WRONG,
        f"{counted(len(clashes), 'GUID')} used by more than one device or port",
        tuple(clashes[:MOST_DETAILS]),
        "give one of the devices another GUID; a subnet manager takes both for one device",
    )


def _check_ports_used_twice(fabric: Fabric) -> Check:
    """Ibnetdiscover takes devices with one GUID for a single device, with the cables of both."""
    twice = [f.message for f in fabric.findings if f.wrong and f.kind == _PORT_TWICE]
    if not twice:
        return Check("GUIDs", Status.OK, "every GUID is used once")
    return Check(
        "GUIDs",
        Status.WARNING,
        "some ports have two cables, as when two devices share a GUID",
        tuple(twice[:MOST_DETAILS]),
        "compare the GUIDs of the devices at the other ends of these cables",
    )


def _same_ports(fabric: Fabric) -> list[str]:
    """Hosts that claim the same adapter and port, or the same port GUID."""
    by_port: dict[tuple[int, int], list[str]] = {}
    by_guid: dict[int, list[str]] = {}
    columns = (fabric.host_guid, fabric.host_adapter_port, fabric.host_port_guid)
    for host, (guid, port, port_guid) in enumerate(
        zip(*(c.tolist() for c in columns), strict=True)
    ):
        label = _host(fabric, host)
        if guid:
            by_port.setdefault((guid, port), []).append(label)
        if port_guid:
            by_guid.setdefault(port_guid, []).append(label)
    clashes = [
        _shared(f"port {port} of GUID", guid, names)
        for (guid, port), names in by_port.items()
        if len(names) > 1
    ]
    return clashes + [
        _shared("port GUID", guid, names) for guid, names in by_guid.items() if len(names) > 1
    ]


def _host(fabric: Fabric, host: int) -> str:
    """A host and where it hangs, for people."""
    where = fabric.port_name(fabric.host_switch[host], fabric.host_port[host])
    return f'host "{fabric.host_name[host]}" on {where}'


def _shared(what: str, guid: int, names: set[str] | list[str]) -> str:
    return f"{what} 0x{guid:016x}: " + " and ".join(sorted(names))


def _check_lids(fabric: Fabric) -> Check:
    host_names = [f'host "{name}"' for name in fabric.host_name]
    names = host_names + [f'switch "{name}"' for name in fabric.switch_label]
    first = np.concatenate([fabric.host_lid, fabric.switch_lid]).astype(np.int64)
    lmc = np.concatenate([fabric.host_lmc, np.zeros(fabric.switches, dtype=np.uint8)])
    last = first + (1 << lmc.astype(np.int64)) - 1
    clashes = _overlaps(first, last, names)
    without = np.flatnonzero(fabric.host_lid == 0)
    if clashes:
        return Check(
            "LIDs",
            Status.WRONG,
            f"LIDs or ranges of LIDs with two owners: {len(clashes):,}",
            tuple(clashes[:MOST_DETAILS]),
            "have the subnet manager reassign LIDs (opensm -r), or look for a second one running",
        )
    if len(without) == fabric.hosts and fabric.routes is None:
        return Check("LIDs", Status.OK, "the file gives none")
    if len(without):
        return Check(
            "LIDs",
            Status.WARNING if fabric.routes is None else Status.WRONG,
            f"no route leads to {counted(len(without), 'host')} without a LID",
            tuple(names[host] for host in without[:MOST_DETAILS].tolist()),
            "check that their ports are active and that a subnet manager has swept the fabric",
        )
    return Check("LIDs", Status.OK, "every LID has one owner")


def _overlaps(first: NDArray[np.int64], last: NDArray[np.int64], names: list[str]) -> list[str]:
    """Neighbours by LID whose ranges overlap; 0 means no LID."""
    order = np.argsort(first, kind="stable")
    order = order[first[order] > 0]
    # The range that reaches furthest so far may not be the one just before.
    furthest = -1
    clashes = []
    for at in order.tolist():
        if furthest >= 0 and first[at] <= last[furthest]:
            clashes.append(f"LID {first[at]}: {names[furthest]} and {names[at]}")
        if furthest < 0 or last[at] > last[furthest]:
            furthest = at
    return clashes


def _check_parts(fabric: Fabric) -> Check:
    part = fabric.switch_part[fabric.host_switch]
    counts = np.bincount(part)
    parts = int(np.count_nonzero(counts))
    if parts == 1:
        return Check("connectedness", Status.OK, "a path of cables joins every pair of hosts")
    if _are_planes(part, servers_of(fabric)):
        hosts = ", ".join(f"{count:,}" for count in sorted(counts[counts > 0].tolist())[::-1][:8])
        return Check(
            "connectedness",
            Status.WARNING,
            f"no cable joins the {parts:,} planes of the fabric, on which servers have adapters; "
            f"hosts: {hosts}{', ...' if parts > 8 else ''}",
            remedy="--part N loads one of the planes; figures for the whole fabric mix them",
        )
    largest = int(counts.argmax())
    apart = np.flatnonzero(part != largest)
    return Check(
        "connectedness",
        Status.WRONG,
        f"the fabric falls into {parts:,} parts; "
        f"{counted(len(apart), 'host')} {'is' if len(apart) == 1 else 'are'} cut off from the "
        f"other {counts[largest]:,}",
        tuple(_host(fabric, host) for host in apart[:MOST_DETAILS].tolist()),
        "look for cables that are down; if the parts are planes, --part N checks one of them alone",
    )


def _are_planes(part: NDArray[np.int64], server: NDArray[np.int64]) -> bool:
    """Whether most hosts of every part are of servers that have adapters in other parts too."""
    pairs = np.unique(np.stack((server, part)), axis=1)
    several = np.bincount(pairs[0])[server] > 1
    hosts = np.bincount(part)
    return bool((2 * np.bincount(part, several) >= hosts)[hosts > 0].all())


def _check_speeds(fabric: Fabric) -> Check:
    found = slow_links(fabric)
    unequal = [f.message for f in fabric.findings if f.kind == UNEQUAL_RATES]
    unknown = unknown_rates(fabric)
    summaries, details, remedies = [], list(found.faults), []
    if count := len(found.faults):
        summaries.append(
            f"{counted(count, 'link')} {'is' if count == 1 else 'are'} slower than similar ones, "
            "with fewer lanes or a lower speed per lane"
        )
        remedies.append(
            "reseat or replace the cable unless it is meant to be slow: it slows every route over "
            "it"
        )
    if unequal:
        summaries.append(
            f"the ends of {counted(len(unequal), 'cable')} report different rates; the slower one "
            "counts"
        )
        details = [*details[: MOST_DETAILS // 2], *unequal, *details[MOST_DETAILS // 2 :]]
        remedies.append("compare both ports of cables whose ends differ, and dump the fabric again")
    if unknown:
        summaries.append(f"the rate of {counted(unknown, 'link')} is unknown")
        remedies.append("capacities count cables while a rate is unknown")
    others = "; ".join(found.generations[:MOST_DETAILS])
    if not summaries:
        summary = "no link is slower than similar ones"
        return Check("link speeds", Status.OK, f"{summary}; {others}" if others else summary)
    return Check(
        "link speeds",
        Status.WARNING,
        "; ".join(summaries),
        (*details, *found.generations)[:MOST_DETAILS],
        "; ".join(remedies),
    )


def _check_missing(fabric: Fabric) -> Check:
    found = missing_cables(fabric)
    if not found:
        return Check(
            "missing cables", Status.OK, "no pair of switches lacks a cable that similar pairs have"
        )
    count = sum(pair.usual - pair.cables for pair in found)
    verb = "is" if count == 1 else "are"
    return Check(
        "missing cables",
        Status.WARNING,
        f"{counted(count, 'cable')} that similar pairs of switches have {verb} missing",
        tuple(_missing_lines(fabric, found)),
        "look for cables that are unplugged or down between these switches",
    )


def _missing_lines(fabric: Fabric, found: tuple[MissingCables, ...]) -> list[str]:
    """A line for every pair, and one for all pairs of a switch that lacks cables to many."""
    times = Counter(switch for pair in found for switch in pair.switches)
    of_switch: dict[int, list[MissingCables]] = {}
    lines: list[tuple[int, str]] = []
    for pair in found:
        worst = max(pair.switches, key=lambda switch: times[switch])
        if times[worst] > 2:
            of_switch.setdefault(worst, []).append(pair)
        else:
            lines.append((1, pair.words(fabric)))
    for switch, pairs in of_switch.items():
        ends = [sum(pair.switches) - switch for pair in pairs]
        first = ", ".join(f'"{fabric.switch_label[end]}"' for end in ends[:3])
        more = f" and {len(ends) - 3:,} more" if len(ends) > 3 else ""
        text = f'switch "{fabric.switch_label[switch]}" lacks cables to {first}{more}'
        lines.append((len(pairs), text))
    lines.sort(key=lambda line: -line[0])
    if len(lines) <= MOST_DETAILS:
        return [text for _, text in lines]
    rest = sum(pairs for pairs, _ in lines[MOST_DETAILS - 1 :])
    some = [text for _, text in lines[: MOST_DETAILS - 1]]
    return [*some, f"and {rest:,} more pairs of switches"]


def _check_rails(fabric: Fabric) -> Check:
    astray, incomplete = hosts_on_other_rails(fabric), incomplete_servers(fabric)
    narrower = narrower_rails(fabric)
    if not astray and not incomplete and not narrower:
        return Check(
            "rails", Status.OK, "no adapter is missing or cabled to a leaf of another rail"
        )
    found, remedy = [], []
    if astray:
        have = "has" if len(astray) == 1 else "have"
        found.append(f"{counted(len(astray), 'server')} {have} adapters on leaves of other rails")
        remedy.append("swap the cables: until then traffic within these rails crosses the spines")
    if incomplete:
        lack = "lacks" if len(incomplete) == 1 else "lack"
        found.append(f"{counted(len(incomplete), 'server')} {lack} adapters that others have")
        remedy.append(
            "look for the missing adapters: collectives of GPUs run at the pace of the slowest rail"
        )
    if narrower:
        have = "has" if len(narrower) == 1 else "have"
        found.append(f"{counted(len(narrower), 'rail')} {have} fewer cables than most")
        remedy.append("look for spines or cables of that rail that are down")
    details = (*narrower, *astray, *incomplete)[:MOST_DETAILS]
    return Check("rails", Status.WARNING, "; ".join(found), details, "; ".join(remedy))


def _check_names(fabric: Fabric) -> Check:
    switches = misnamed_switches(fabric)
    hosts = unnamed_hosts(fabric)
    if not switches and not hosts:
        return Check(
            "names",
            Status.OK,
            "every host name shows its server, and every switch name fits its position",
        )
    summaries, details, remedies = [], list(switches), []
    if switches:
        verb = "is" if len(switches) == 1 else "are"
        summaries.append(
            f"{counted(len(switches), 'switch')} {verb} named like switches in another position"
        )
        remedies.append("check the names of these switches and what is cabled to them")
    if hosts:
        verb = "names" if len(hosts) == 1 else "name"
        summaries.append(
            f"the {'description' if len(hosts) == 1 else 'descriptions'} of "
            f"{counted(len(hosts), 'host')} {verb} no server: each adapter counts as one"
        )
        room = MOST_DETAILS // 2
        details = details[: MOST_DETAILS - room] + [_host(fabric, host) for host in hosts[:room]]
        remedies.append(
            "set the node descriptions on these servers: run rdma-ndd, or write the name and the "
            "adapter into /sys/class/infiniband/*/node_desc"
        )
    return Check(
        "names",
        Status.WARNING,
        "; ".join(summaries),
        tuple(details[:MOST_DETAILS]),
        "; ".join(remedies),
    )
