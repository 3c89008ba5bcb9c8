"""Small fabrics for tests: one made by hand, and any that hypothesis thinks of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from contend.base.errors import legible
from contend.fabric import Fabric, Finding
from contend.routes import NO_PORT, ForwardingTables, load
from small_fabrics import by_hand

DATA = Path(__file__).parent / "data"


def two_leaves() -> Fabric:
    """Two leaves with two hosts each and two spines; host d (1-4) goes over spine (d-1) mod 2."""
    fabric = by_hand(
        "two leaves",
        [["h0", "h1"], ["h2", "h3"], [], []],
        [(0, 3, 2, 1), (0, 4, 3, 1), (1, 3, 2, 2), (1, 4, 3, 2)],
        switches=["leaf 0", "leaf 1", "spine 0", "spine 1"],
    )
    ports = np.full((4, 9), NO_PORT, dtype=np.uint16)
    ports[0, 1:5] = [1, 2, 3, 4]
    ports[1, 1:5] = [3, 4, 1, 2]
    ports[2, 1:5] = [1, 1, 2, 2]
    ports[3, 1:5] = [1, 1, 2, 2]
    ports[range(4), range(5, 9)] = 0
    return fabric.replace(routes=ForwardingTables(ports, engine="by hand"))


NAMES = st.text(st.characters(exclude_categories=()), max_size=8)
"""Names of any characters, lone surrogates and control characters included."""


@st.composite
def fabrics(draw: Any, names: st.SearchStrategy[str] = NAMES) -> Fabric:
    """Fabrics of up to 5 switches and 8 hosts, cabled and routed at random."""
    switches = draw(st.integers(1, 5))
    sockets = [(switch, port) for switch in range(switches) for port in range(1, 7)]
    free = draw(st.permutations(sockets))
    hosts = draw(st.integers(1, min(8, len(free) - 1)))
    cables = draw(st.integers(0, (len(free) - hosts) // 2))
    at = np.array(free[:hosts])
    plugged = np.array(free[hosts : hosts + 2 * cables]).reshape(-1, 4)
    guids = draw(
        st.lists(
            st.integers(1, 2**62), min_size=hosts + switches, max_size=hosts + switches, unique=True
        )
    )
    # Adapters' port GUIDs beside their node GUIDs, which stay apart from all others.
    host_guid = np.array(guids[:hosts], dtype=np.uint64) * np.uint64(2)
    switch_guid = np.array(guids[hosts:], dtype=np.uint64) * np.uint64(2)
    rates = ("", "4xHDR", "12xQDR")

    def numbers(count: int, most: int, kind: str) -> Any:
        drawn = st.lists(st.integers(0, most), min_size=count, max_size=count)
        return np.array(draw(drawn), dtype=kind)

    others = draw(st.integers(0, 3))
    addresses = hosts + switches + others + 1
    ports = 1 + numbers(switches * addresses, 5, "u2").reshape(switches, addresses)
    ports[numbers(switches * addresses, 1, "u1").reshape(ports.shape) == 1] = NO_PORT
    count = hosts + switches + others
    all_names = draw(st.lists(names, min_size=count, max_size=count))
    return Fabric(
        name=draw(names),
        host_name=tuple(all_names[:hosts]),
        host_guid=host_guid,
        host_port_guid=host_guid + np.uint64(1),
        host_adapter_port=np.ones(hosts, dtype=np.uint16),
        host_system_guid=host_guid,
        host_lid=np.arange(1, hosts + 1, dtype=np.uint32),
        host_lmc=np.zeros(hosts, dtype=np.uint8),
        host_switch=at[:, 0].astype(np.uint32),
        host_port=at[:, 1].astype(np.uint16),
        host_rate=numbers(hosts, 2, "u2"),
        switch_name=tuple(all_names[hosts : hosts + switches]),
        switch_guid=switch_guid,
        switch_system_guid=switch_guid,
        switch_ports=np.full(switches, 6, dtype=np.uint16),
        switch_lid=np.arange(hosts + 1, hosts + switches + 1, dtype=np.uint32),
        cable_from=plugged[:, 0].astype(np.uint32),
        cable_from_port=plugged[:, 1].astype(np.uint16),
        cable_to=plugged[:, 2].astype(np.uint32),
        cable_to_port=plugged[:, 3].astype(np.uint16),
        cable_rate=numbers(cables, 2, "u2"),
        other_lid=np.arange(hosts + switches + 1, addresses, dtype=np.uint32),
        # Apart from all others' too; the last owner is not known.
        other_guid=np.arange(2**63 + others, 2**63, -1, dtype=np.uint64)
        * (np.arange(others) < others - 1),
        other_kind=("Router",) * others,
        other_name=tuple(all_names[hosts + switches :]),
        other_switch=numbers(others, switches - 1, "u4"),
        other_port=numbers(others, 6, "u2"),
        rates=rates,
        findings=(Finding("a kind", draw(names), wrong=draw(st.booleans())),),
        routes=ForwardingTables(ports, engine="random"),
    )


def escaped(fabric: Fabric) -> Fabric:
    """The fabric with its texts as readers hand them out: what cannot be printed is escaped."""
    return fabric.replace(
        name=legible(fabric.name),
        host_name=tuple(map(legible, fabric.host_name)),
        switch_name=tuple(map(legible, fabric.switch_name)),
        other_name=tuple(map(legible, fabric.other_name)),
        findings=tuple(
            Finding(legible(finding.kind), legible(finding.message), finding.wrong)
            for finding in fabric.findings
        ),
    )


def described(fabric: Fabric) -> dict[str, Any]:
    """A fabric by names that do not depend on the order of rows: GUIDs and ports."""
    switch = fabric.switch_guid.tolist()
    hosts = {
        guid: (name, switch[at], port, fabric.rates[rate])
        for guid, name, at, port, rate in zip(
            fabric.host_guid.tolist(),
            fabric.host_name,
            fabric.host_switch.tolist(),
            fabric.host_port.tolist(),
            fabric.host_rate.tolist(),
            strict=True,
        )
    }
    ends = zip(
        fabric.cable_from.tolist(),
        fabric.cable_from_port.tolist(),
        fabric.cable_to.tolist(),
        fabric.cable_to_port.tolist(),
        fabric.cable_rate.tolist(),
        strict=True,
    )
    return {
        "hosts": hosts,
        "switches": {
            guid: (name, ports)
            for guid, name, ports in zip(
                switch, fabric.switch_name, fabric.switch_ports.tolist(), strict=True
            )
        },
        "cables": sorted(
            (*sorted([(switch[near], out), (switch[far], into)]), fabric.rates[rate])
            for near, out, far, into, rate in ends
        ),
    }


def host_ports(fabric: Fabric) -> dict[tuple[int, int], int]:
    """The port by which every switch sends to every host, by GUIDs."""
    ports = fabric.routes.ports
    # Addresses beyond the tables have no entry.
    ports = np.pad(ports, ((0, 0), (0, int(fabric.host_lid.max()))), constant_values=NO_PORT)
    return {
        (switch_guid, host_guid): int(ports[switch, lid])
        for switch, switch_guid in enumerate(fabric.switch_guid.tolist())
        for host_guid, lid in zip(fabric.host_guid.tolist(), fabric.host_lid.tolist(), strict=True)
    }


def cables_by_name(fabric: Fabric) -> set[frozenset[tuple[str, int]]]:
    """The ends of every cable, as name of the switch and port."""
    near = zip(fabric.cable_from.tolist(), fabric.cable_from_port.tolist(), strict=True)
    far = zip(fabric.cable_to.tolist(), fabric.cable_to_port.tolist(), strict=True)
    return {
        frozenset((fabric.switch_name[switch], port) for switch, port in ends)
        for ends in zip(near, far, strict=True)
    }


def mixed_rates() -> Fabric:
    """Four leaves of four hosts under two spines, 4xQDR but for the cables to one spine: 4xDDR."""
    fabric = load("xgft:2;4,4;1,2", route="dmodk")
    spine = np.maximum(fabric.cable_from, fabric.cable_to)
    cable = np.where(spine == spine.max(), 2, 1).astype(np.uint16)
    return fabric.replace(rates=("", "4xQDR", "4xDDR"), cable_rate=cable)
