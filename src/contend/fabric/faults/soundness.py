"""Checks of a fabric that need no routes: cables, identities, parts, speeds, rails, names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from contend.fabric.assemble import SILENT_END, UNCONNECTED, UNDECIDED, UNEQUAL_RATES
from contend.fabric.fabric import Fabric, Finding
from contend.fabric.faults.check import MOST_DETAILS, Check, Status, placed_host
from contend.fabric.faults.identities import (
    DUPLICATE_GUID,
    PORT_TWICE,
    check_guids,
    check_lids,
)
from contend.fabric.faults.incomplete import (
    MissingCables,
    absent_switches,
    misnamed_switches,
    missing_cables,
    switches_called_alike,
)
from contend.fabric.faults.link_speeds import slow_links, unknown_rates
from contend.fabric.rails import hosts_on_other_rails, incomplete_servers, narrower_rails
from contend.fabric.servers import servers_of, unnamed_hosts
from contend.units import counted

_CABLE_FAULTS = frozenset({PORT_TWICE, "denied cable", "one-sided cable", UNDECIDED})
TOPOLOGY_FAULTS = _CABLE_FAULTS | {DUPLICATE_GUID}
"""Kinds of findings that are judged here; the others that are wrong concern the routes."""


def check_soundness(fabric: Fabric) -> tuple[Check, ...]:
    """Checks what a fabric says of itself. Cost: n log n in hosts, switches and cables."""
    return (
        _check_cables(fabric),
        check_guids(fabric),
        check_lids(fabric),
        _check_parts(fabric),
        _check_speeds(fabric),
        _check_missing(fabric),
        _check_rails(fabric),
        _check_names(fabric),
    )


# So many cables of one device have a line each; and messages that hold hostile names are not read.
_FEW, _LONGEST = 2, 1000


def _check_cables(fabric: Fabric) -> Check:
    wrong = [f for f in fabric.findings if f.wrong and f.kind in _CABLE_FAULTS]
    if not wrong:
        return _check_loops(fabric)
    kinds = Counter(finding.kind for finding in wrong)
    return Check(
        "cables",
        Status.WRONG,
        ", ".join(f"{kind}: {count:,}" for kind, count in kinds.items()),
        tuple(_some_of_each(wrong, kinds)),
        "check the named ports; if they are in order, the fabric changed while the topology file "
        "was written, so dump it again",
    )


def _check_loops(fabric: Fabric) -> Check:
    count = fabric.cables + fabric.hosts
    sound = f"{counted(count, 'cable')}, both ends of each agree"
    loops = np.flatnonzero(fabric.cable_from == fabric.cable_to).tolist()
    loose = [f.message for f in fabric.findings if f.kind == UNCONNECTED]
    if loose and not loops:
        remedy = "look whether their switch is down, or was cut from the file"
        return Check("cables", Status.WARNING, f"{sound}; {'; '.join(loose)}", remedy=remedy)
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


def _some_of_each(findings: list[Finding], kinds: Counter[str]) -> Iterator[str]:
    """As many of every kind as fit, the first of each; those of one silent device in one line."""
    left = dict.fromkeys(kinds, max(1, MOST_DETAILS // len(kinds)))
    ends = {
        finding: match.groups()
        for finding in findings
        if len(finding.message) < _LONGEST and (match := SILENT_END.fullmatch(finding.message))
    }
    times = Counter(device for near, far in ends.values() for device in {near, far})
    lines: dict[str, str] = {}
    for finding in findings:
        near, far = ends.get(finding, ("", ""))
        line = finding.message
        if times[far] > max(_FEW, times[near] - 1):
            line = f"{far} declares none of the {times[far]:,} cables that others declare to it"
        elif times[near] > _FEW:
            line = f"{near} declares {times[near]:,} cables that their other ends do not declare"
        lines.setdefault(line, finding.kind)
    for line, kind in lines.items():
        if left[kind] > 0:
            left[kind] -= 1
            yield line


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
        tuple(placed_host(fabric, host) for host in apart[:MOST_DETAILS].tolist()),
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
    if unknown == fabric.cables + fabric.hosts:
        return Check("link speeds", Status.NOT_CHECKED, "the file gives no rates")
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
    found, absent = missing_cables(fabric), absent_switches(fabric)[: MOST_DETAILS // 2]
    if not found and not absent:
        return Check(
            "missing cables", Status.OK, "no pair of switches lacks a cable that similar pairs have"
        )
    count = sum(pair.usual - pair.cables for pair in found)
    verb = "is" if count == 1 else "are"
    summaries = [f"{counted(count, 'cable')} that similar pairs of switches have {verb} missing"]
    remedies = ["look for cables that are unplugged or down between these switches"]
    if absent:
        summaries = ["whole switches seem to be missing", *(summaries if found else ())]
        remedies = ["look whether they are down or were cut from the file", *remedies[not found :]]
    return Check(
        "missing cables",
        Status.WARNING,
        "; ".join(summaries),
        (*absent, *_missing_lines(fabric, found, MOST_DETAILS - len(absent))),
        "; ".join(remedies),
    )


def _missing_lines(fabric: Fabric, found: tuple[MissingCables, ...], most: int) -> list[str]:
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
    if len(lines) <= most:
        return [text for _, text in lines]
    rest = sum(pairs for pairs, _ in lines[most - 1 :])
    some = [text for _, text in lines[: most - 1]]
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
        servers = sum(incomplete.values())
        lack = "lacks" if servers == 1 else "lack"
        found.append(f"{counted(servers, 'server')} {lack} adapters that others have")
        remedy.append(
            "look for the missing adapters and leaves: collectives of GPUs run at the pace of the "
            "slowest rail"
        )
    if narrower:
        have = "has" if len(narrower) == 1 else "have"
        found.append(f"{counted(len(narrower), 'rail')} {have} fewer cables than most")
        remedy.append("look for spines or cables of that rail that are down")
    details = (*narrower, *astray, *incomplete)[:MOST_DETAILS]
    return Check("rails", Status.WARNING, "; ".join(found), details, "; ".join(remedy))


def _check_names(fabric: Fabric) -> Check:
    switches, alike = misnamed_switches(fabric), switches_called_alike(fabric)
    hosts = unnamed_hosts(fabric)
    if not switches and not hosts and not alike:
        return Check(
            "names",
            Status.OK,
            "every host name shows its server, and every switch name fits its position",
        )
    summaries, details, remedies = alike[:2], [*switches, *alike[2:]], []
    if alike:
        remedies.append("name these switches anew; until then only GUIDs tell which is meant")
    if switches:
        verb = "is" if len(switches) == 1 else "are"
        summaries.append(
            f"{counted(len(switches), 'switch')} {verb} named like switches in another position"
        )
        remedies.append("check the names of these switches and what is cabled to them")
    if hosts:
        verb = "names" if len(hosts) == 1 else "name"
        together = len(set(servers_of(fabric)[hosts].tolist())) < len(hosts)
        summaries.append(
            f"the {'description' if len(hosts) == 1 else 'descriptions'} of "
            f"{counted(len(hosts), 'host')} {verb} no server: each "
            f"{'system GUID counts as a server' if together else 'adapter counts as one'}"
        )
        room = MOST_DETAILS // 2
        details = details[: MOST_DETAILS - room] + [
            placed_host(fabric, host) for host in hosts[:room]
        ]
        remedies.append(
            "give each of these servers a host name of its own; on InfiniBand set the node "
            "descriptions too: run rdma-ndd, or write the name and the adapter into "
            "/sys/class/infiniband/*/node_desc"
        )
    return Check(
        "names",
        Status.WARNING,
        "; ".join(summaries),
        tuple(details[:MOST_DETAILS]),
        "; ".join(remedies),
    )
