"""Net files for ibsim, the InfiniBand simulator that OpenSM can be run on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError
from contend.fabric.fabric import Fabric
from contend.fabric.subnet import LARGEST_LID

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
    OpenSM gives them out.

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


def _lines(fabric: Fabric) -> Iterator[str]:
    ports, switches = port_guids(fabric)
    cabled: list[list[str]] = [[] for _ in range(fabric.switches)]
    ends = zip(
        fabric.cable_from.tolist(),
        fabric.cable_from_port.tolist(),
        fabric.cable_to.tolist(),
        fabric.cable_to_port.tolist(),
        strict=True,
    )
    for near, near_port, far, far_port in ends:
        cabled[near].append(_port(near_port, switch_id(far), far_port))
        cabled[far].append(_port(far_port, switch_id(near), near_port))
    hosts = zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True)
    for host, (switch, port) in enumerate(hosts):
        cabled[switch].append(_port(port, host_id(host), 1))
    system = np.where(fabric.switch_system_guid == 0, switches, fabric.switch_system_guid)
    for switch, guid in enumerate(switches.tolist()):
        yield f"sysimgguid=0x{int(system[switch]):x}"
        yield f"switchguid=0x{guid:x}"
        yield f'Switch {int(fabric.switch_ports[switch])} "{switch_id(switch)}"'
        yield from cabled[switch]
        yield ""
    hosts = zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True)
    for host, (switch, port) in enumerate(hosts):
        yield f"sysimgguid=0x{int(ports[host]) - 1:x}"
        yield f"caguid=0x{int(ports[host]) - 1:x}"
        yield f'Ca 1 "{host_id(host)}"'
        yield _port(1, switch_id(switch), port)
        yield ""


def _port(port: int, peer: str, peer_port: int) -> str:
    # ibsim complains of every line that doesn't end with a LID and a rate, but uses neither.
    return f'[{port}] "{peer}"[{peer_port}] # "{peer}" lid 0 4xHDR'
