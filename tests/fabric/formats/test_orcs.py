from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import InputError, UsageError
from contend.fabric import Fabric
from contend.fabric.formats import orcs
from contend.routes import NO_PORT, ForwardingTables
from sample_fabrics import DATA, described, escaped, fabrics, host_ports, two_leaves

GRAPH = (DATA / "tiny.dot").read_bytes()


def read(content: bytes, pieces: int = 1 << 20) -> Fabric:
    chunks = [content[start : start + pieces] for start in range(0, len(content), pieces)]
    topology = orcs.read(chunks, "x")
    if topology.ports is None:
        return topology.fabric
    return topology.fabric.replace(routes=ForwardingTables(topology.ports))


def written(fabric: Fabric) -> bytes:
    return "".join(orcs.write(fabric)).encode("utf-8", "surrogatepass")


def test_a_graph_as_orcs_has_them_carries_topology_and_routes() -> None:
    fabric = read(GRAPH)
    assert fabric.host_guid.tolist() == [1, 2, 3]
    assert fabric.switch_guid.tolist() == [0xA1, 0xA2, 0xB1]
    assert (fabric.hosts, fabric.switches, fabric.cables) == (3, 3, 3)
    # Ports are numbered as the edges come; * takes what no comment of the switch names.
    assert fabric.routes.ports[:, 1:4].tolist() == [[1, 2, 3], [2, 2, 1], [1, 2, 3]]


def test_where_chunks_are_cut_does_not_matter() -> None:
    whole = read(GRAPH)
    for pieces in (1, 2, 7, 64):
        cut = read(GRAPH, pieces)
        assert host_ports(cut) == host_ports(whole)
        assert described(cut) == described(whole)


def test_a_graph_without_comments_has_no_routes() -> None:
    assert read(re.sub(rb"\[comment=.*?\]", b"", GRAPH)).routes is None


def test_a_host_on_two_edges_is_found() -> None:
    twice = GRAPH.replace(b'[comment=""]', b'[comment="H0000000000000003"]')
    findings = read(twice).findings
    assert [finding.kind for finding in findings] == ["two routes"]
    assert findings[0].message.startswith("1 route listed on two edges that leave a switch")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"}\n", b"", "expected } at the end of the graph, got the end of the file"),
        (b"digraph", b"graph", "expected digraph NAME { ... }"),
        (b'[comment=""]', b'[comment=""', "expected name=value"),
        (b'[comment=""]', b'[comment="]', "expected"),
        (
            b'H0000000000000003"];\n  S00000000000000a1 ->',
            b'H3"];\nS00000000000000a1 ->',
            "expected hosts of the graph in comments, got 'H3'",
        ),
        (
            b'  S00000000000000b1 -> S00000000000000a2 [comment="*"];\n',
            b"",
            "x:13: expected an edge for each direction of a cable, got one only",
        ),
        (b"digraph tiny {", b"digraph tiny { subgraph x {", "expected a plain graph, got a subgr"),
        (b"digraph tiny {", b"digraph tiny { a -- b", "expected a node or an edge, got '--'"),
        (b"}\n", b"} more", "expected the end of the file after }, got 'more'"),
        (b'comment=""', b'comment="", port=99999', "expected a port up to 65534, got '99999'"),
        (b"// hosts", b"@ hosts", "x:2: expected a node, an edge or a quoted text, got '@'"),
    ],
)
def test_what_is_no_graph_of_orcs_is_told(old: bytes, new: bytes, message: str) -> None:
    assert old in GRAPH
    with pytest.raises(InputError, match=re.escape(message)):
        read(GRAPH.replace(old, new))


@given(fabrics(), st.integers(1, 200))
def test_round_trip(fabric: Fabric, pieces: int) -> None:
    again = read(written(fabric), pieces)
    expected = described(fabric)
    # A cell that no character can stand in comes back as the bytes it was written with.
    assert set(again.host_guid.tolist()) == set(fabric.host_guid.tolist())
    assert described(again)["cables"] == expected["cables"]
    assert [host[1:] for host in described(again)["hosts"].values()] == [
        host[1:] for host in expected["hosts"].values()
    ]
    # Entries for ports that nothing is plugged into have no edge.
    switches = np.concatenate([fabric.cable_from, fabric.cable_to, fabric.host_switch])
    ports = np.concatenate([fabric.cable_from_port, fabric.cable_to_port, fabric.host_port])
    plugged = set(zip(fabric.switch_guid[switches].tolist(), ports.tolist(), strict=True))
    sent = {key: port for key, port in host_ports(fabric).items() if (key[0], port) in plugged}
    kept = {key: port for key, port in host_ports(again).items() if port != NO_PORT}
    assert kept == sent


@given(fabrics(st.text(max_size=8)))
def test_names_of_any_characters_come_back(fabric: Fabric) -> None:
    again = read(written(fabric))
    fabric = escaped(fabric)
    assert again.host_name == fabric.host_name
    assert described(again)["switches"] == described(fabric)["switches"]


def test_what_a_graph_cannot_hold_is_refused() -> None:
    fabric = two_leaves()
    with pytest.raises(UsageError, match="carries routes: give routes=FILE or route=ENGINE"):
        written(fabric.replace(routes=None))
    with pytest.raises(UsageError, match="hosts have several LIDs"):
        written(fabric.replace(host_lmc=np.ones(4, dtype=np.uint8)))
