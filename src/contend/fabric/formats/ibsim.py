"""Net files of ibsim, which OpenSM can be run on: ibnetdiscover's output without its numbers.

Nodes may have names of any kind instead of GUIDs; those get GUIDs here, as ibsim gives them some.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import InputError, UsageError
from contend.base.units import counted
from contend.fabric.fabric import Fabric
from contend.fabric.streams.source import lines
from contend.fabric.subnet import LARGEST_LID, SPEEDS, NodeKind, Subnet, SubnetBuilder

_NODE = re.compile(
    r'\s*(Switch|Hca|Ca|Rt)\s+(\d{1,3})\s+"([^"]{1,256})"\s*(?:#\s*(?:"(.*?)")?.*)?', re.IGNORECASE
)
_PORT = re.compile(
    r'\s*\[(\d{1,3})\]\s*(?:\([0-9A-Fa-f]*\)\s*)?"([^"]{1,256})"\s*\[(\d{1,3})\](.*)'
)
_GUID_LINE = re.compile(
    r"\s*(switch|ca|rt|sysimg)guid\s*=\s*0x([0-9A-Fa-f]{1,16})\b.*", re.IGNORECASE
)
_OTHER_LINE = re.compile(r"\s*(#.*|(vendid|devid)\s*=.*)?", re.IGNORECASE)
_WIDTH = re.compile(r"\bw=(1|2|4|8|12)\b")
_SPEED = re.compile(r"\bs=(2\.5|5|10|14|25|50|100|200)\b")
_RATE = re.compile(r"\s((?:1|2|4|8|12)x(?:[SDQFEHNX]DR|FDR10)|\d{1,4}(?:\.\d{1,3})?GbE)\s*$")
# What ibsim 0.12 itself reads at the end of a port's line; anything else it takes for 4xSDR, or for
# the lanes with a slower signalling.
_READ_BY_IBSIM = re.compile(r"(?:1|2|4|8|12)x[SDQFEH]DR")
_HEAD = re.compile(
    rb'^[^\S\n]*(?:Switch|Hca|Ca|Rt)[^\S\n]+\d{1,3}[^\S\n]+"', re.MULTILINE | re.IGNORECASE
)
# What ibnetdiscover never prints: Hca, or an identity without a GUID; the head's end may cut one.
_HEAD_OWN = re.compile(
    rb'^[^\S\n]*(?:Hca[^\S\n]+\d{1,3}[^\S\n]+"|'
    rb'(?:Switch|Ca|Rt)[^\S\n]+\d{1,3}[^\S\n]+"(?![SHR]-[0-9A-Fa-f]{1,16}")[^"\n]{0,256}")',
    re.MULTILINE | re.IGNORECASE,
)
_DISCOVERED = re.compile(rb"^vendid=|\blid \d", re.MULTILINE)
_BLOTTED = re.compile(rb'^[^\S\n]*(?:Switch|Ca|Rt)[^\S\n]+\d{1,3}[^\S\n]+"[SHR]-', re.MULTILINE)
_ID_GUID = re.compile(r"[SHR]-([0-9A-Fa-f]{16})")
_KINDS = {
    "switch": NodeKind.SWITCH,
    "hca": NodeKind.ADAPTER,
    "ca": NodeKind.ADAPTER,
    "rt": NodeKind.ROUTER,
}
# Where ibsim itself starts counting.
_FIRST_GUIDS = {NodeKind.ADAPTER: 0x100000, NodeKind.SWITCH: 0x200000, NodeKind.ROUTER: 0x300000}


@dataclass
class _Node:
    kind: NodeKind
    identity: str
    name: str
    ports: int
    guid: int
    system_guid: int
    line: int
    ends: list[tuple[int, str, int, str, int]] = field(default_factory=list)


def recognises(head: bytes) -> bool:
    """Whether the head declares nodes as people write them, not as ibnetdiscover prints them."""
    if _HEAD_OWN.search(head):
        # Digits of GUIDs may have been blotted out: "S-9c05<redacted>".
        return not (_DISCOVERED.search(head) and _BLOTTED.search(head))
    return _HEAD.search(head) is not None and _DISCOVERED.search(head) is None


def read(chunks: Iterable[bytes], source: str) -> Subnet:
    """Reads the nodes and their ports.

    Raises:
        InputError: a line that is neither, a port before any node, a peer that is no node.
    """
    nodes: dict[str, _Node] = {}
    guids: dict[str, int] = {}
    node: _Node | None = None
    for number, line in lines(chunks, source):
        if match := _PORT.fullmatch(line):
            if node is None:
                raise InputError(source, number, "a node before its ports", repr(line[:60]))
            port, peer, peer_port, rest = match.groups()
            node.ends.append((int(port), peer, int(peer_port), _rate(rest), number))
        elif match := _NODE.fullmatch(line):
            node = _node(match, guids, number)
            guids = {}
            if node.identity in nodes:
                raise InputError(source, number, "every node once", f'"{node.identity}" again')
            nodes[node.identity] = node
        elif match := _GUID_LINE.fullmatch(line):
            guids[match[1].lower()] = int(match[2], 16)
        elif not _OTHER_LINE.fullmatch(line):
            raise InputError(source, number, "a node or a port", repr(line[:60]))
    return _subnet(nodes, source)


def _node(match: re.Match[str], guids: dict[str, int], number: int) -> _Node:
    word, ports, identity, name = match.groups()
    kind = _KINDS[word.lower()]
    declared = guids.get({"hca": "ca"}.get(word.lower(), word.lower()), 0)
    in_identity = _ID_GUID.fullmatch(identity)
    guid = declared or (int(in_identity[1], 16) if in_identity else 0)
    system_guid = guids.get("sysimg", 0)
    return _Node(kind, identity, name or identity, int(ports), guid, system_guid, number)


def _rate(rest: str) -> str:
    if written := _RATE.search(rest):
        return written[1]
    width, speed = _WIDTH.search(rest), _SPEED.search(rest)
    return f"{width[1]}x{SPEEDS[speed[1]]}" if width and speed else ""


def _subnet(nodes: dict[str, _Node], source: str) -> Subnet:
    builder = SubnetBuilder(source)
    taken = {node.guid for node in nodes.values()}
    following = dict(_FIRST_GUIDS)
    rows: dict[str, int] = {}
    for identity, node in nodes.items():
        guid = node.guid
        while guid == 0 or (node.guid == 0 and guid in taken):
            # Room for the GUIDs of an adapter's ports, which follow its own.
            guid = following[node.kind]
            following[node.kind] += 1 if node.kind is NodeKind.SWITCH else node.ports + 1
        rows[identity] = builder.node(
            node.kind,
            node.name,
            guid=guid,
            system_guid=node.system_guid or guid,
            ports=node.ports,
            line=node.line,
        )
        node.guid = guid
    for identity, node in nodes.items():
        for port, peer, peer_port, rate, line in node.ends:
            if peer not in rows:
                raise InputError(source, line, "a port of a node of this file", f'"{peer}"')
            is_switch = node.kind is NodeKind.SWITCH
            builder.end(
                rows[identity],
                port,
                rows[peer],
                peer_port,
                port_guid=node.guid if is_switch else min(node.guid + port, (1 << 64) - 1),
                rate=rate,
                line=line,
            )
    return builder.subnet()


# InfiniBand counts ports in eight bits and keeps 255 for "none".
MOST_PORTS = 254


def host_id(host: int) -> str:
    """The name under which a host stands in the net file."""
    return f"H{host}"


def switch_id(switch: int) -> str:
    """The name under which a switch stands in the net file."""
    return f"S{switch}"


def port_guids(fabric: Fabric) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """GUIDs of hosts' ports and of switches in the net file, shapes [hosts] and [switches].

    They are the fabric's own where those are known and distinct. ibsim gives a port the GUID of
    its node plus the port's number, so the node's GUID is one less than the port's.
    """
    switch = fabric.switch_guid
    if _some_unknown_or_equal(switch):
        switch = np.uint64(0x2_0000_0000) + np.arange(fabric.switches, dtype=np.uint64)
    port = fabric.host_port_guid
    node = port - np.uint64(1)
    clash = len(np.intersect1d(np.append(port, node), switch)) > 0
    if clash or _some_unknown_or_equal(port) or _some_unknown_or_equal(node):
        taken = set((switch >> np.uint64(32)).tolist())
        free = next(upper for upper in itertools.count(1) if upper not in taken)
        numbers = np.arange(fabric.hosts, dtype=np.uint64)
        port = np.uint64((free << 32) + 1) + np.uint64(16) * numbers
    return port, switch


def _some_unknown_or_equal(guids: NDArray[np.uint64]) -> bool:
    return bool((guids == 0).any()) or len(np.unique(guids)) < len(guids)


def write(fabric: Fabric) -> tuple[str]:
    """The net file, in one piece.

    Every host becomes a single-port adapter of its own. Nodes go by generated names, as ibsim
    wants them unique and can't read quotes; `host_id` and `switch_id` tell them. LIDs are left out:
    OpenSM gives them out. Every link has its own rate; `not_read_by_ibsim` tells which ones are
    lost on ibsim.

    Raises:
        UsageError: when the fabric is beyond what InfiniBand addresses: 49,151 LIDs, 254 ports.
    """
    if fabric.hosts + fabric.switches > LARGEST_LID:
        count = fabric.hosts + fabric.switches
        raise UsageError(f"{count} hosts and switches need more than {LARGEST_LID} LIDs")
    if fabric.switches and int(fabric.switch_ports.max()) > MOST_PORTS:
        raise UsageError(
            f"an InfiniBand switch has at most {MOST_PORTS} ports, but this fabric has one with "
            f"{int(fabric.switch_ports.max())}"
        )
    return ("\n".join(_lines(fabric)),)


def not_read_by_ibsim(fabric: Fabric) -> tuple[str, ...]:
    """What ibsim will not read in the file of this fabric, in sentences."""
    used = [*fabric.cable_rate.tolist(), *fabric.host_rate.tolist()]
    labels = Counter(fabric.rates[index] for index in used)
    return tuple(
        f"ibsim cannot read the rate of {counted(links, 'link')} ({label or 'not known'}) and "
        "takes another for it; the file holds what is known"
        for label, links in sorted(labels.items())
        if not _READ_BY_IBSIM.fullmatch(label)
    )


def _lines(fabric: Fabric) -> Iterator[str]:
    ports, switches = port_guids(fabric)
    cabled: list[list[str]] = [[] for _ in range(fabric.switches)]
    ends = zip(fabric.cable_ends(), fabric.cable_rate.tolist(), strict=True)
    for (near, near_port, far, far_port), index in ends:
        rate = fabric.rates[index]
        cabled[near].append(_port(near_port, switch_id(far), far_port, rate))
        cabled[far].append(_port(far_port, switch_id(near), near_port, rate))
    columns = (fabric.host_switch.tolist(), fabric.host_port.tolist(), fabric.host_rate.tolist())
    for host, (switch, port, index) in enumerate(zip(*columns, strict=True)):
        cabled[switch].append(_port(port, host_id(host), 1, fabric.rates[index]))
    system = np.where(fabric.switch_system_guid == 0, switches, fabric.switch_system_guid)
    for switch, guid in enumerate(switches.tolist()):
        yield f"sysimgguid=0x{int(system[switch]):x}"
        yield f"switchguid=0x{guid:x}"
        yield f'Switch {int(fabric.switch_ports[switch])} "{switch_id(switch)}"'
        yield from cabled[switch]
        yield ""
    for host, (switch, port, index) in enumerate(zip(*columns, strict=True)):
        yield f"sysimgguid=0x{int(ports[host]) - 1:x}"
        yield f"caguid=0x{int(ports[host]) - 1:x}"
        yield f'Ca 1 "{host_id(host)}"'
        yield _port(1, switch_id(switch), port, fabric.rates[index])
        yield ""


def _port(port: int, peer: str, peer_port: int, rate: str) -> str:
    # ibsim wants a LID, which it does not use, before the rate.
    return f'[{port}] "{peer}"[{peer_port}] # "{peer}" lid 0 {rate}'.rstrip()
