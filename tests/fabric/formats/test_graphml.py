from __future__ import annotations

import io
from dataclasses import fields

import networkx
import numpy as np
import pytest

from contend.base.errors import InputError
from contend.fabric import Fabric, to_networkx
from contend.fabric.formats.graphml import read, recognises, write
from contend.routes import load
from sample_fabrics import DATA

TINY = (DATA / "tiny.graphml").read_text()


def fabric_of(text: str) -> Fabric:
    return read([text.encode()], "net.graphml").fabric


def failure(text: str) -> str:
    with pytest.raises(InputError) as caught:
        fabric_of(text)
    return str(caught.value)


def graph(body: str, attributes: str = 'edgedefault="undirected"') -> str:
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return f"{head}\n<graph {attributes}>\n{body}\n</graph>\n</graphml>\n"


@pytest.mark.parametrize("source", [str(DATA / "tiny.ibnetdiscover"), "xgft:2;4,3;1,2", "fig1"])
def test_what_contend_wrote_is_the_same_fabric_again(source: str) -> None:
    fabric = load(source)
    text = "".join(write(fabric))
    again = fabric_of(text)
    assert recognises(text.encode())
    for column in fields(Fabric):
        before, after = getattr(fabric, column.name), getattr(again, column.name)
        if column.name not in ("routes", "findings", "command_line"):
            assert np.array_equal(before, after), column.name
    assert again.findings == ()


def test_ports_of_an_adapter_stay_one_adapter() -> None:
    fabric = fabric_of(TINY)
    assert fabric.hosts == 5
    assert len(set(fabric.host_guid.tolist())) == 4
    assert sorted(fabric.host_adapter_port.tolist()) == [1, 1, 1, 1, 2]


def test_a_foreign_graph_says_what_it_lacks() -> None:
    """As networkx writes a graph of names alone: two spines, two leaves, a host on each leaf."""
    foreign = networkx.Graph([("l1", "s1"), ("l1", "s2"), ("l2", "s1"), ("l2", "s2")])
    foreign.add_edges_from([("l1", "h1"), ("l2", "h2")])
    out = io.BytesIO()
    networkx.write_graphml(foreign, out)
    fabric = fabric_of(out.getvalue().decode())
    assert fabric.host_name == ("h1", "h2")
    assert set(fabric.switch_name) == {"l1", "l2", "s1", "s2"}
    assert fabric.cables == 4
    assert [finding.message for finding in fabric.findings] == [
        "no node has a kind: nodes with one edge are hosts, all others switches",
        "no node has a name: their ids are used",
        "not all nodes have a guid: GUIDs are made of their names",
        "not all hosts have a lid: LIDs are given out",
        "6 of 6 edges lack ports: the lowest free are taken",
        "6 of 6 edges lack a rate, which is unknown",
    ]
    assert not any(finding.wrong for finding in fabric.findings)


def test_a_graph_of_networkx_keeps_kinds_names_and_guids() -> None:
    fabric = load("xgft:2;2,2;1,1")
    plain = to_networkx(fabric)
    for *_, data in plain.edges(data=True):
        data.pop("ports")  # a mapping, which GraphML does not hold
    out = io.BytesIO()
    networkx.write_graphml(plain, out)
    again = fabric_of(out.getvalue().decode())
    assert again.host_name == fabric.host_name
    assert again.host_guid.tolist() == fabric.host_guid.tolist()
    assert {finding.message[:14] for finding in again.findings} == {"6 of 6 edges l"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (graph("<node/>"), "3: expected a node with an id of its own"),
        (
            graph('<node id="a"/><node id="a"/>'),
            "3: expected a node with an id of its own, got 'a'",
        ),
        (graph('<node id="a"/>\n<edge source="a" target="b"/>'), "4: expected the id of a node"),
        (graph("", 'edgedefault="directed"'), "2: expected an undirected graph"),
        (graph("<hyperedge/>"), "3: expected edges between two nodes, got a hyperedge"),
        (graph("<node"), "4: expected well-formed XML, got not well-formed"),
        (graph("").removesuffix("</graphml>\n"), "expected well-formed XML, got no element found"),
        (f'<!DOCTYPE g [<!ENTITY a "b">]>{graph("")}', "1: expected a graph without a document"),
        ("<graphml/>", "expected a graph, got none"),
        (graph("<a>" * 70), "3: expected at most 64 elements in each other"),
        (graph("").replace("</graph>", "</graph><graph>"), "expected one graph, got another"),
        (graph(""), "expected at least one switch"),
        (TINY.replace(">switch<", ">router<", 1), "expected host or switch as kind of every node"),
        (TINY.replace('"lid">1<', '"lid">4294967296<', 1), "expected a number as lid"),
        (TINY.replace('"source_port">1<', '"source_port">x<', 1), "expected a number as source_"),
        (graph(f'<node id="{"a" * 3_000_000}"/>'), "expected a tag of at most 1048576 bytes"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str) -> None:
    assert message in failure(text)


def test_utf_16_was_made_utf_8_before() -> None:
    text = TINY.replace('encoding="UTF-8"', 'encoding="UTF-16"')
    assert fabric_of(text).hosts == 5
