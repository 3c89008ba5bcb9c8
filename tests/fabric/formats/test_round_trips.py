"""What every reader reads, every writer writes so that it is read back as the same network."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.fabric import Fabric, without
from contend.fabric.assemble import assemble
from contend.fabric.formats.ibsim import host_id, switch_id
from contend.fabric.formats.topology import READERS, WRITERS, recognise
from contend.fabric.servers import servers_of
from contend.fabric.streams.source import open_chunks, peek
from contend.routes import compute, save
from contend.routes.loading import load, load_topology
from fabric.conftest import subnet_of

DATA = Path(__file__).parents[2] / "data"
SAMPLES = {
    "contend's .fabric": "two-leaves.fabric",
    "ibdiagnet .db_csv": "tiny.db_csv",
    "ibdiagnet .lst": "tiny.opensm-subnet.lst",
    "LLDP output": "lldp",
    "GraphML": "tiny.graphml",
    "iblinkinfo": "tiny.lines.iblinkinfo",
    "Slurm's topology.conf": "tiny.topology.conf",
    "Slurm's topology.yaml": "tiny.topology.yaml",
    "ORCS .dot": "tiny.dot",
    "plan of cables": "tiny.ptm.dot",
    "ibdiagnet .net_dump": "tiny.net_dump",
    "ibsim net file": "tiny.net",
    "ibnetdiscover": "tiny.ibnetdiscover",
}
WITH_PORTS = ("fabric", "ibnetdiscover", "orcs", "graphml")


def network(fabric: Fabric) -> tuple[Any, Any]:
    """Where every host is plugged in, and every cable, by names, ports and rates."""
    hosts = Counter(
        (name, fabric.switch_name[switch], port, fabric.rates[rate])
        for name, switch, port, rate in zip(
            fabric.host_name,
            fabric.host_switch.tolist(),
            fabric.host_port.tolist(),
            fabric.host_rate.tolist(),
            strict=True,
        )
    )
    cables = Counter(
        (
            frozenset({(fabric.switch_name[near], at), (fabric.switch_name[far], peer)}),
            fabric.rates[rate],
        )
        for (near, at, far, peer), rate in zip(
            fabric.cable_ends(), fabric.cable_rate.tolist(), strict=True
        )
    )
    return hosts, cables


def read_back(fabric: Fabric, kind: str, folder: Path) -> Fabric:
    save(fabric, folder / "again", kind)
    return load_topology(str(folder / "again"))


def nodes_by_leaf(fabric: Fabric) -> list[int]:
    """How many servers every switch has that is the first of any."""
    first = {server: host for host, server in reversed(list(enumerate(servers_of(fabric))))}
    return sorted(Counter(int(fabric.host_switch[host]) for host in first.values()).values())


@pytest.fixture(params=SAMPLES.values(), ids=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Fabric:
    fabric = load_topology(str(DATA / request.param)).replace(name="sample")
    # ORCS holds one route to a host.
    one = np.zeros_like(fabric.host_lmc)
    return compute(fabric.replace(host_lmc=one, routes=None), "minhop")


def test_there_is_a_sample_of_every_kind() -> None:
    assert set(SAMPLES) == set(READERS), "name a small file of tests/data for each in SAMPLES"
    for kind, name in SAMPLES.items():
        if (DATA / name).is_file():
            head, _ = peek(open_chunks(str(DATA / name)))
            assert recognise(head, name) is READERS[kind]


@pytest.mark.parametrize("kind", WRITERS)
def test_what_is_written_is_read_back_as_the_same_network(
    sample: Fabric, kind: str, tmp_path: Path
) -> None:
    again = read_back(sample, kind, tmp_path)
    expected = sample
    if kind == "ibsim":
        # Names of its own; the nodes are in the same order.
        expected = sample.replace(
            host_name=tuple(map(host_id, range(sample.hosts))),
            switch_name=tuple(map(switch_id, range(sample.switches))),
        )
    if kind == "ibsim" or kind in WITH_PORTS:
        assert network(again) == network(expected)
    else:
        # Slurm's files tell which nodes share a leaf, and no ports; blocks only those that compute.
        login = [name for name in sample.host_name if name.startswith("login")]
        there = without(sample, login).fabric if login and kind == "slurm-block" else sample
        assert nodes_by_leaf(again) == nodes_by_leaf(there)


def test_every_node_and_port_has_a_guid_of_its_own(sample: Fabric) -> None:
    nodes = [*set(sample.host_guid.tolist()), *sample.switch_guid.tolist()]
    assert 0 not in nodes
    assert len(set(nodes)) == len(nodes)


def without_guids() -> Fabric:
    """Two leaves with three hosts, one of which is on both, as a reader gives it without GUIDs."""
    nodes = [
        *({"name": name, "guid": 0} for name in ("left", "right", "spine")),
        *({"name": f"n{host}", "guid": 0, "kind": "adapter"} for host in range(3)),
    ]
    plugged = [("n0", 1, "left", 1), ("n1", 1, "right", 1), ("n2", 1, "left", 2)]
    cables = [("n2", 2, "right", 2), ("left", 3, "spine", 1), ("right", 3, "spine", 2)]
    return assemble(subnet_of(nodes, [*plugged, *cables]), "plan")


def test_nodes_that_no_file_tells_a_guid_of_are_told_apart(tmp_path: Path) -> None:
    fabric = without_guids()
    assert [finding for finding in fabric.findings if finding.wrong] == []
    assert len({*fabric.host_guid.tolist(), *fabric.switch_guid.tolist()}) == 6
    assert fabric.host_port_guid[:3].tolist() == fabric.host_guid[:3].tolist()
    assert len({*fabric.host_port_guid.tolist(), *fabric.switch_guid.tolist()}) == 7
    for kind in ("ibnetdiscover", "graphml", "fabric"):
        assert network(read_back(fabric, kind, tmp_path)) == network(fabric)


def test_equal_guids_are_refused_where_a_file_tells_nodes_by_them(tmp_path: Path) -> None:
    fabric = load("xgft:2;2,2;1,2")
    alike = fabric.switch_guid.copy()
    alike[1] = alike[0]
    hosts = np.zeros_like(fabric.host_guid)
    for wrong, named in (
        (
            fabric.replace(switch_guid=alike),
            'switches "leaf 1" and "leaf 2" both have 0x0000000200',
        ),
        (fabric.replace(host_guid=hosts), '"host 1" and "host 2" both have 0x0000000000000000'),
    ):
        with pytest.raises(UsageError, match="ibnetdiscover") as refused:
            save(wrong, tmp_path / "net.ibnetdiscover")
        assert named in str(refused.value)
    assert list(tmp_path.iterdir()) == []
