"""Checks of a fabric that need no routes: cables, identities, parts, speeds, rails, names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted, listed, verb
from contend.fabric.assemble import (
    SILENT_END,
    UNCONNECTED,
    UNDECIDED,
    UNEQUAL_RATES,
    what_is_missing,
)
from contend.fabric.fabric import Fabric, Finding
from contend.fabric.faults.checks import (
    DUPLICATE_GUID,
    MOST_DETAILS,
    PORT_TWICE,
    Check,
    Fault,
    Status,
    at_most_ten,
    check_guids,
    check_lids,
    placed_host,
)
from contend.fabric.faults.incomplete import (
    MissingCables,
    absent_switches,
    misnamed_switches,
    missing_cables,
    switches_called_alike,
)
from contend.fabric.faults.link_speeds import slow_links, unknown_rates
from contend.fabric.rails import (
    hosts_on_other_rails,
    incomplete_servers,
    narrower_rails,
    several_adapters,
)
from contend.fabric.servers import servers_of, unnamed_hosts

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
    wrong = [f for f in fabric.findings if f.kind in _CABLE_FAULTS]
    if wrong:
        kinds = Counter(finding.kind for finding in wrong)
        fault = Fault(
            ", ".join(f"{kind}: {count:,}" for kind, count in kinds.items()),
            [*_some_of_each(wrong, kinds)],
            "check the named ports; if they are in order, the fabric changed while the topology "
            "file was written, so dump it again",
        )
        return Check.of("cables", "", fault, status=Status.WRONG)
    sound = f"{counted(fabric.cables + fabric.hosts, 'cable')}, both ends of each agree"
    loops = np.flatnonzero(fabric.cable_from == fabric.cable_to).tolist()
    loose = [f.message for f in fabric.findings if f.kind == UNCONNECTED]
    if loops:
        loop = Fault(
            f"{counted(len(loops), 'cable')} {verb(len(loops), 'leads')} from a switch back to "
            "itself",
            [fabric.channel_name(2 * cable) for cable in loops],
            "unplug it or connect it to another switch: such a cable carries nothing and is left "
            "out",
        )
        return Check.of("cables", sound, loop)
    remedy = "look whether their switch is down, or was cut from the file"
    return Check.of("cables", sound, *([Fault("; ".join(loose), (), remedy)] if loose else []))


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
        left[kind] -= 1
        if left[kind] >= 0:
            yield line
    if more := -sum(min(number, 0) for number in left.values()):
        yield f"and {more:,} more"


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
    remedy = (
        "look for cables that are down; if the parts are planes, --part N checks one of them alone"
    )
    if missing := what_is_missing(fabric):
        remedy = f"complete the file first, since {missing}; then {remedy}"
    return Check(
        "connectedness",
        Status.WRONG,
        f"the fabric falls into {parts:,} parts; "
        f"{counted(len(apart), 'host')} {'is' if len(apart) == 1 else 'are'} cut off from the "
        f"other {counts[largest]:,}",
        at_most_ten([placed_host(fabric, host) for host in apart.tolist()]),
        remedy,
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
    faults = []
    room = MOST_DETAILS // 2 if unequal else MOST_DETAILS
    if count := len(found.faults):
        slow = (
            f"{counted(count, 'link')} {verb(count, 'is')} slower than similar ones, with fewer "
            "lanes or a lower speed per lane"
        )
        remedy = (
            "reseat or replace the cable unless it is meant to be slow: it slows every route over "
            "it"
        )
        faults.append(Fault(slow, found.faults[:room], remedy))
    if unequal:
        differ = (
            f"the ends of {counted(len(unequal), 'cable')} report different rates; the slower one "
            "counts"
        )
        remedy = "compare both ports of cables whose ends differ, and dump the fabric again"
        faults.append(Fault(differ, (*unequal, *found.faults[room:]), remedy))
    if unknown:
        words = f"the rate of {counted(unknown, 'link')} is unknown"
        faults.append(Fault(words, (), "capacities count cables while a rate is unknown"))
    if faults:
        faults[-1] = replace(faults[-1], places=(*faults[-1].places, *found.generations))
    sound = ["no link is slower than similar ones", *found.generations[:MOST_DETAILS]]
    return Check.of("link speeds", "; ".join(sound), *faults)


def _check_missing(fabric: Fabric) -> Check:
    found, absent = missing_cables(fabric), absent_switches(fabric)[: MOST_DETAILS // 2]
    faults = []
    if absent:
        remedy = "look whether they are down or were cut from the file"
        faults.append(Fault("whole switches seem to be missing", absent, remedy))
    if found:
        count = sum(pair.usual - pair.cables for pair in found)
        missing = Fault(
            f"{counted(count, 'cable')} that similar pairs of switches have {verb(count, 'is')} "
            "missing",
            _missing_lines(fabric, found, MOST_DETAILS - len(absent)),
            "plug these cables in, or look why they are down; contend fabric improve says what "
            "they gain",
            _few_missing(fabric, found) if count <= _FEW else "",
        )
        faults.append(missing)
    sound = "no pair of switches lacks a cable that similar pairs have"
    return Check.of("missing cables", sound, *faults)


def _few_missing(fabric: Fabric, found: tuple[MissingCables, ...]) -> str:
    """Missing cables by name."""
    cables = [cable for pair in found for cable in pair.ends(fabric)]
    are = ("the cable", "is") if len(cables) == 1 else ("the cables", "are")
    return f"{are[0]} {listed(cables)} {are[1]} missing"


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
    if not several_adapters(fabric):
        return Check("rails", Status.OK, "every server has one adapter")
    astray, incomplete = hosts_on_other_rails(fabric), incomplete_servers(fabric)
    narrower, servers = narrower_rails(fabric), sum(incomplete.values())
    faults = []
    if astray:
        have = f"{counted(len(astray), 'server')} {verb(len(astray), 'has')}"
        remedy = "swap the cables: until then traffic within these rails crosses the spines"
        few = " and ".join(stray.brief for stray in astray) if len(astray) <= _FEW else ""
        lines = [stray.words for stray in astray]
        faults.append(Fault(f"{have} adapters on leaves of other rails", lines, remedy, few))
    if incomplete:
        remedy = (
            "look for the missing adapters and leaves: collectives of GPUs run at the pace of the "
            "slowest rail"
        )
        lack = f"{counted(servers, 'server')} {verb(servers, 'lacks')}"
        faults.append(Fault(f"{lack} adapters that others have", tuple(incomplete), remedy))
    if narrower:
        have = f"{counted(len(narrower), 'rail')} {verb(len(narrower), 'has')}"
        remedy = "look for spines or cables of that rail that are down"
        faults.append(Fault(f"{have} fewer cables than most", (), remedy))
    if faults:
        faults[0] = replace(faults[0], places=(*narrower, *faults[0].places))
    sound = "no adapter is missing or cabled to a leaf of another rail"
    return Check.of("rails", sound, *faults)


def _check_names(fabric: Fabric) -> Check:
    switches, alike = misnamed_switches(fabric), switches_called_alike(fabric)
    hosts = unnamed_hosts(fabric)
    faults = []
    if alike:
        remedy = "name these switches anew; until then only GUIDs tell which is meant"
        faults.append(Fault("; ".join(alike[:2]), (), remedy))
    places = [*switches, *alike[2:]]
    if hosts:
        room = MOST_DETAILS // 2
        places = places[: MOST_DETAILS - room] + [placed_host(fabric, h) for h in hosts[:room]]
    if switches:
        words = (
            f"{counted(len(switches), 'switch')} {verb(len(switches), 'is')} named like switches"
        )
        remedy = "check the names of these switches and what is cabled to them"
        faults.append(Fault(f"{words} in another position", (), remedy))
    if hosts:
        together = len(set(servers_of(fabric)[hosts].tolist())) < len(hosts)
        each = "system GUID counts as a server" if together else "adapter counts as one"
        descriptions = "description" if len(hosts) == 1 else "descriptions"
        unnamed = Fault(
            f"the {descriptions} of {counted(len(hosts), 'host')} {verb(len(hosts), 'names')} no "
            f"server: each {each}",
            (),
            "give each of these servers a host name of its own; on InfiniBand set the node "
            "descriptions too: run rdma-ndd, or write the name and the adapter into "
            "/sys/class/infiniband/*/node_desc",
        )
        faults.append(unnamed)
    if faults:
        faults[0] = replace(faults[0], places=places)
    sound = "every host name shows its server, and every switch name fits its position"
    return Check.of("names", sound, *faults)
