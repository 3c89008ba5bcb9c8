"""From what a file says to the fabric it describes: hosts picked, cables matched, faults noted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError, legible
from contend.base.units import rate_of
from contend.fabric.fabric import Fabric, Finding
from contend.fabric.subnet import NodeKind, Subnet, with_guids

_AGGREGATION = re.compile(r"aggregation node", re.IGNORECASE)
# Device ids of the aggregation nodes inside switches all start with this byte.
_AGGREGATION_DEVICES = 0xCF

MISSING_RECORD, MISSING_END = "missing record", "one-sided cable"
"""Kinds of findings that tell of an incomplete file."""
GAP = "incomplete file"
"""The kind of a finding that says so of a file: it was cut off, or holds its tool's errors."""
UNCONNECTED = "unconnected adapter"
"""The kind of a finding that tells of adapters on no switch."""
UNDECIDED = "undecided cable"
"""The kind of a finding that nothing tells which of several neighbours a port's cable leads to."""
SILENT_END = re.compile(
    r'(?P<near>\w+ ".*") port \d+ -> (?P<far>\w+ ".*") port \d+: the other end declares no cable',
    re.DOTALL,
)
"""The message of such a finding, with the devices at both ends."""
UNEQUAL_RATES = "unequal rates"
"""The kind of a finding that the ends of a cable report different rates."""


@dataclass(frozen=True, eq=False)
class Topology:
    """What a topology file holds."""

    fabric: Fabric
    """Fabric without routes."""
    ports: NDArray[np.uint16] | None = None
    """Forwarding tables [switches, addresses] in the fabric's order, where the file carries them;
    see `contend.routes.ForwardingTables`."""
    engine: str = ""
    """What made the tables; "" when unknown."""


@dataclass(frozen=True)
class _End:
    row: int
    node: int
    port: int


def assemble(subnet: Subnet, name: str) -> Fabric:
    r"""Builds the fabric: adapters' cabled ports become hosts, matched ends become cables.

    Aggregation nodes, routers, ports that are down and adapters cabled to no switch are left out,
    which the fabric's findings tell. A cable that only one end declares is kept when the other end
    is silent, and dropped when the other end names another cable; both are findings that
    `fabric check` counts as wrong. Names come out with what cannot be printed written out, such as
    ``\x1b``: what is written from here on is harmless, and equal only where names were. Nodes
    without a GUID get one of their names.

    Raises:
        InputError: when no switch or no host is left, or something is cabled to port 0.
    """
    names, rates = (tuple(map(legible, texts)) for texts in (subnet.name, subnet.rates))
    subnet = with_guids(replace(subnet, name=names, rates=rates))
    _refuse_port_0(subnet, name)
    findings: list[Finding] = [Finding("reader's note", note, wrong=False) for note in subnet.notes]
    findings += [Finding(GAP, words, wrong=False) for words in subnet.gaps]
    findings += [Finding(UNDECIDED, words) for words in subnet.undecided]
    # Those that the file only names at the other ends of cables.
    findings += [
        Finding(MISSING_RECORD, f'the record of "{subnet.name[row]}" is missing', wrong=False)
        for row in np.flatnonzero(subnet.node_line == 0).tolist()
    ]
    findings += _duplicate_guids(subnet)
    excluded = _excluded(subnet, findings)
    ends = _ends(subnet, findings)
    switch_rows = np.flatnonzero(subnet.kind == NodeKind.SWITCH)
    if len(switch_rows) == 0:
        got = "none"
        if len(subnet.kind):
            got = "none: adapters are cabled to each other, so no two messages share a cable"
        if len(subnet.kind) and not (subnet.peer >= 0).any():
            got = "none: no port of it has a link, so its tool saw nothing of the network; run it "
            got += "where ibstat says that a port is Active, or name the port by -C and -P"
        raise InputError(name, 0, "at least one switch", got)
    switch_of_row = np.full(len(subnet.kind), -1, dtype=np.int64)
    switch_of_row[switch_rows] = np.arange(len(switch_rows))

    hosts: list[tuple[_End, _End]] = []
    others: list[tuple[_End, _End]] = []
    cables: list[tuple[_End, _End]] = []
    for near, far in _matched(subnet, ends, findings):
        near_is_switch = switch_of_row[near.node] >= 0
        far_is_switch = switch_of_row[far.node] >= 0
        if near_is_switch and far_is_switch:
            cables.append((near, far))
        elif near_is_switch:
            (others if excluded[far.node] else hosts).append((far, near))
        elif far_is_switch:
            (others if excluded[near.node] else hosts).append((near, far))
        elif not excluded[near.node] and not excluded[far.node]:
            text = f"{_port(subnet, near)} is cabled to {_port(subnet, far)}, without a switch"
            findings.append(Finding("adapter to adapter", text, wrong=False))
    if not hosts:
        raise InputError(name, 0, "at least one host on a switch", "none")
    hosts.sort(key=lambda pair: (pair[0].node, pair[0].port))
    _note_unconnected(subnet, excluded, hosts, findings)
    fabric = _columns(subnet, name, hosts, cables, switch_rows, switch_of_row, findings)
    return fabric.replace(**_other_columns(subnet, others, switch_of_row))


def _refuse_port_0(subnet: Subnet, name: str) -> None:
    """Port 0 is a switch's own: a cable there means that the file was not understood."""
    at_0 = np.flatnonzero((subnet.peer >= 0) & ((subnet.port == 0) | (subnet.peer_port == 0)))
    if len(at_0):
        row = int(at_0[0])
        got = f"a cable from port {subnet.port[row]} to port {subnet.peer_port[row]}"
        line = int(subnet.end_line[row])
        raise InputError(name, line, "ports from 1 on at both ends of a cable", got)


def _port(subnet: Subnet, end: _End) -> str:
    kind = {NodeKind.SWITCH: "switch", NodeKind.ROUTER: "router"}.get(
        NodeKind(subnet.kind[end.node]), "adapter"
    )
    return f'{kind} "{subnet.name[end.node]}" port {end.port}'


def _duplicate_guids(subnet: Subnet) -> list[Finding]:
    guids, counts = np.unique(subnet.guid, return_counts=True)
    return [
        Finding("duplicate GUID", f"{count} nodes have the GUID 0x{guid:016x}")
        for guid, count in zip(guids.tolist(), counts.tolist(), strict=True)
        if count > 1
    ]


def what_is_missing(fabric: Fabric) -> str:
    """What the file of a fabric lacks: ``the records of 18 nodes are missing``; "" for nothing."""
    kinds = Counter(finding.kind for finding in fabric.findings)
    records, ends = kinds[MISSING_RECORD], kinds[MISSING_END]
    parts = []
    if records:
        parts.append(
            "the record of 1 node" if records == 1 else f"the records of {records:,} nodes"
        )
    if ends:
        parts.append(
            "the other end of 1 cable" if ends == 1 else f"the other ends of {ends:,} cables"
        )
    gaps = [finding.message for finding in fabric.findings if finding.kind == GAP]
    if parts:
        are = "is" if records + ends == 1 else "are"
        gaps.append(f"{' and '.join(parts)} {are} missing")
    return "; ".join(gaps)


def _excluded(subnet: Subnet, findings: list[Finding]) -> list[bool]:
    """Which nodes carry no traffic of their own: aggregation nodes and routers."""
    excluded = [False] * len(subnet.kind)
    counted: Counter[str] = Counter()
    for row, kind in enumerate(subnet.kind.tolist()):
        what = ""
        if kind == NodeKind.ROUTER:
            what = "router"
        elif kind == NodeKind.ADAPTER and (
            int(subnet.device_id[row]) >> 8 == _AGGREGATION_DEVICES
            or _AGGREGATION.search(subnet.name[row])
        ):
            what = "aggregation node"
        if what:
            excluded[row] = True
            counted[what] += 1
    for what, count in sorted(counted.items()):
        plural = "s are" if count > 1 else " is"
        findings.append(Finding(what, f"{count} {what}{plural} left out", wrong=False))
    return excluded


def _ends(subnet: Subnet, findings: list[Finding]) -> dict[tuple[int, int], int]:
    """Row of every declared end by (node, port); a port declared twice keeps its first cable."""
    ends: dict[tuple[int, int], int] = {}
    keys = zip(subnet.node.tolist(), subnet.port.tolist(), strict=True)
    for row, key in enumerate(keys):
        first = ends.setdefault(key, row)
        if first == row:
            continue
        if subnet.peer[first] < 0 <= subnet.peer[row]:
            ends[key] = row
        elif subnet.peer[row] >= 0 and (
            subnet.peer[first] != subnet.peer[row]
            or subnet.peer_port[first] != subnet.peer_port[row]
        ):
            where = _port(subnet, _End(row, *key))
            # What is not read line by line has none to name.
            one, other = int(subnet.end_line[first]), int(subnet.end_line[row])
            lines = f" (lines {one} and {other})" if one and other else ""
            findings.append(Finding("port twice", f"{where} has two cables{lines}"))
    return ends


def _matched(
    subnet: Subnet, ends: dict[tuple[int, int], int], findings: list[Finding]
) -> Iterator[tuple[_End, _End]]:
    """Cables once each, from the end that is declared first."""
    taken: set[tuple[int, int]] = set()
    peers, peer_ports = subnet.peer.tolist(), subnet.peer_port.tolist()
    for (node, port), row in ends.items():
        far_key = (peers[row], peer_ports[row])
        if far_key[0] < 0 or (node, port) in taken:
            continue
        near = _End(row, node, port)
        if far_key == (node, port):
            text = f"{_port(subnet, near)} is cabled to itself"
            findings.append(Finding("port to itself", text, wrong=False))
            continue
        far_row = ends.get(far_key)
        far = _End(-1 if far_row is None else far_row, *far_key)
        if far_row is None or peers[far_row] < 0:
            kind, text = MISSING_END, "the other end declares no cable"
            if far_key in taken:
                kind, text = "denied cable", "the other end is taken"
            # An adapter that never declares itself is only named by its switch: no contradiction.
            findings.append(Finding(kind, f"{_port(subnet, near)} -> {_port(subnet, far)}: {text}"))
            if far_key in taken:
                continue
        elif (peers[far_row], peer_ports[far_row]) != (node, port):
            other = _End(-1, peers[far_row], peer_ports[far_row])
            text = (
                f"{_port(subnet, near)} -> {_port(subnet, far)}, "
                f"but that port declares a cable to {_port(subnet, other)}"
            )
            findings.append(Finding("denied cable", text))
            continue
        taken.add((node, port))
        taken.add(far_key)
        yield near, far


def _note_unconnected(
    subnet: Subnet, excluded: list[bool], hosts: list[tuple[_End, _End]], findings: list[Finding]
) -> None:
    connected = {end.node for end, _ in hosts}
    adapters = [
        row
        for row in np.flatnonzero(subnet.kind == NodeKind.ADAPTER).tolist()
        if not excluded[row] and row not in connected
    ]
    if adapters:
        some = ", ".join(f'"{subnet.name[row]}"' for row in adapters[:3])
        more = ", ..." if len(adapters) > 3 else ""
        what = "adapters on no switch are" if len(adapters) > 1 else "adapter on no switch is"
        text = f"{len(adapters)} {what} left out: {some}{more}"
        findings.append(Finding(UNCONNECTED, text, wrong=False))


def _columns(
    subnet: Subnet,
    name: str,
    hosts: list[tuple[_End, _End]],
    cables: list[tuple[_End, _End]],
    switch_rows: np.ndarray,
    switch_of_row: np.ndarray,
    findings: list[Finding],
) -> Fabric:
    ends = [end for end, _ in hosts]
    at = [end for _, end in hosts]
    host_node = np.array([end.node for end in ends])
    lid, lmc, port_guid = _end_columns(subnet, ends)
    return Fabric(
        name=name,
        host_name=tuple(subnet.name[row] for row in host_node.tolist()),
        host_guid=subnet.guid[host_node],
        host_port_guid=port_guid,
        host_adapter_port=np.array([end.port for end in ends], dtype=np.uint16),
        host_system_guid=subnet.system_guid[host_node],
        host_lid=lid,
        host_lmc=lmc,
        host_switch=switch_of_row[[end.node for end in at]].astype(np.uint32),
        host_port=np.array([end.port for end in at], dtype=np.uint16),
        host_rate=_rates(subnet, hosts, findings),
        switch_name=tuple(subnet.name[row] for row in switch_rows.tolist()),
        switch_guid=subnet.guid[switch_rows],
        switch_system_guid=subnet.system_guid[switch_rows],
        switch_ports=_switch_ports(subnet, switch_rows),
        switch_lid=subnet.lid[switch_rows],
        cable_from=switch_of_row[[near.node for near, _ in cables]].astype(np.uint32),
        cable_from_port=np.array([near.port for near, _ in cables], dtype=np.uint16),
        cable_to=switch_of_row[[far.node for _, far in cables]].astype(np.uint32),
        cable_to_port=np.array([far.port for _, far in cables], dtype=np.uint16),
        cable_rate=_rates(subnet, cables, findings),
        rates=subnet.rates,
        findings=tuple(findings),
    )


def _end_columns(subnet: Subnet, ends: list[_End]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """LID, LMC and port GUID of every end of an adapter; 0 for those that never declared theirs."""
    node = np.array([end.node for end in ends], dtype=np.int64)
    declared = np.array([end.row for end in ends], dtype=np.int64)
    lid, lmc, port_guid = (
        np.where(declared >= 0, column[np.maximum(declared, 0)], 0).astype(column.dtype)
        for column in (subnet.end_lid, subnet.end_lmc, subnet.port_guid)
    )
    # A node's own columns hold what its neighbours said of it.
    lid = np.where(lid == 0, subnet.lid[node], lid).astype(np.uint32)
    return lid, lmc.astype(np.uint8), port_guid


def _other_columns(
    subnet: Subnet, others: list[tuple[_End, _End]], switch_of_row: np.ndarray
) -> dict[str, Any]:
    """Columns of what is no host but hangs on a switch: a row for each of its LIDs."""
    lid, lmc, port_guid = _end_columns(subnet, [end for end, _ in others])
    count = np.left_shift(1, np.minimum(lmc, 7).astype(np.int64))
    row = np.repeat(np.arange(len(others)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    nodes = [others[number][0].node for number in row.tolist()]
    at = [others[number][1] for number in row.tolist()]
    kinds = {NodeKind.ROUTER: "Router", NodeKind.ADAPTER: "Channel Adapter"}
    return {
        "other_lid": np.where(lid[row] > 0, lid[row] + nth, 0).astype(np.uint32),
        "other_guid": port_guid[row],
        "other_kind": tuple(kinds[NodeKind(subnet.kind[node])] for node in nodes),
        "other_name": tuple(subnet.name[node] for node in nodes),
        "other_switch": switch_of_row[np.array([end.node for end in at], dtype=np.int64)].astype(
            np.uint32
        ),
        "other_port": np.array([end.port for end in at], dtype=np.uint16),
    }


def _rates(subnet: Subnet, pairs: list[tuple[_End, _End]], findings: list[Finding]) -> np.ndarray:
    """Rate of every pair of ends: that of the slower end where they differ, which is noted."""
    # Index -1, of an end that was never declared, meets the 0 appended here.
    rate = np.append(subnet.rate, np.uint16(0))
    near = rate[np.array([near.row for near, _ in pairs], dtype=np.int64)]
    far = rate[np.array([far.row for _, far in pairs], dtype=np.int64)]
    speeds = np.array([rate_of(label) or np.inf for label in subnet.rates])
    for pair in np.flatnonzero(
        (near != far) & np.isfinite(speeds[near]) & np.isfinite(speeds[far])
    ).tolist():
        ends = (_port(subnet, end) for end in pairs[pair])
        told = (subnet.rates[index] for index in (near[pair], far[pair]))
        text = " -> ".join(f"{end} ({label})" for end, label in zip(ends, told, strict=True))
        findings.append(Finding(UNEQUAL_RATES, text, wrong=False))
    return np.where((near == 0) | (speeds[far] < speeds[near]), far, near)


def _switch_ports(subnet: Subnet, switch_rows: np.ndarray) -> np.ndarray:
    """Number of ports of every switch: as declared, or the highest port that a cable names."""
    highest = subnet.ports.astype(np.int64)
    np.maximum.at(highest, subnet.node, subnet.port)
    cabled = subnet.peer >= 0
    np.maximum.at(highest, subnet.peer[cabled], subnet.peer_port[cabled])
    ports: np.ndarray = highest[switch_rows].astype(np.uint16)
    return ports
