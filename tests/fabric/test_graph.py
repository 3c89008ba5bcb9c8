"""Fabrics as graphs of networkx and back."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given

import contend
from contend.base.errors import MissingError, UsageError
from contend.fabric import Fabric, from_networkx, to_networkx
from contend.routes import load
from sample_fabrics import fabrics

# What a graph does not hold, or holds in other words.
_LEFT_OUT = {"rates", "host_rate", "cable_rate", "routes", "findings", "host_lmc"} | {
    *("other_lid", "other_guid", "other_kind", "other_name", "other_switch", "other_port")
}
_GUIDS = {"host_port_guid", "host_system_guid", "switch_system_guid"}


def assert_same(fabric: Fabric, other: Fabric) -> None:
    for column in dataclasses.fields(Fabric):
        if column.name in _LEFT_OUT | _GUIDS | {"command_line"}:
            continue
        expected, got = getattr(fabric, column.name), getattr(other, column.name)
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(got, expected, err_msg=column.name)
        else:
            assert got == expected, column.name
    for rates in ("host_rate", "cable_rate"):
        assert [other.rates[index] for index in getattr(other, rates)] == [
            fabric.rates[index] for index in getattr(fabric, rates)
        ]


@pytest.mark.parametrize("spec", ["fig1", "tara", "torus:3x3", "hyperx:3x3;2;2", "crossbar:5"])
def test_a_generated_fabric_comes_back(spec: str) -> None:
    fabric = load(spec)
    again = contend.load(fabric.to_networkx())
    assert_same(fabric, again)


@given(fabrics())
def test_every_fabric_comes_back(fabric: Fabric) -> None:
    again = from_networkx(to_networkx(fabric))
    assert_same(fabric.replace(name=fabric.name or "graph"), again)


def test_a_graph_of_ones_own_needs_no_attributes() -> None:
    """Nodes with one edge are hosts; ports are given out in the order of the edges."""
    plain = networkx.Graph([("a", "x"), ("b", "x"), ("x", "y"), ("c", "y")], name="mine")
    fabric = contend.load(plain, route="minhop")
    assert fabric.name == "mine"
    assert fabric.host_name == ("a", "b", "c")
    assert fabric.switch_name == ("x", "y")
    assert fabric.host_port.tolist() == [1, 2, 2]
    assert (fabric.cable_from_port.tolist(), fabric.cable_to_port.tolist()) == ([3], [1])
    assert fabric.path("a", "c").channels == (2, 0, 7)


def test_attributes_count() -> None:
    mine = networkx.MultiGraph()
    mine.add_node(1, kind="switch", name="leaf", ports=36, guid=7, lid=9)
    mine.add_node(2, kind="host", name="node", guid=5, lid=3)
    mine.add_edge(1, 2, ports={1: 4, 2: 2}, rate="4xEDR")
    mine.add_edge(1, 1, ports={1: (5, 6)})
    fabric = contend.load(mine)
    assert (fabric.host_name, fabric.switch_name) == (("node",), ("leaf",))
    assert (fabric.host_port.tolist(), fabric.host_adapter_port.tolist()) == ([4], [2])
    assert fabric.switch_ports.tolist() == [36]
    assert (fabric.host_guid.tolist(), fabric.host_port_guid.tolist()) == ([5], [7])
    assert (fabric.host_lid.tolist(), fabric.switch_lid.tolist()) == ([3], [9])
    assert fabric.rates[int(fabric.host_rate[0])] == "4xEDR"
    assert fabric.rates[int(fabric.cable_rate[0])] == ""
    assert (fabric.cable_from_port.tolist(), fabric.cable_to_port.tolist()) == ([5], [6])


def _two_hosts(change: Callable[[Any], None]) -> Any:
    plain = networkx.MultiGraph()
    plain.add_node("x", kind="switch")
    for host in "ab":
        plain.add_node(host, kind="host")
        plain.add_edge(host, "x")
    change(plain)
    return plain


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda g: g.add_edge("a", "x"), "expected one cable from host 'a', and to a switch"),
        (lambda g: g.add_edge("a", "b"), "expected one cable from host 'a'"),
        (lambda g: g.add_node("c", kind="host"), "expected a cable from host 'c', got none"),
        (lambda g: g.add_node("c"), "node 'c': expected kind host or switch, got None"),
        (lambda g: g.remove_node("x"), "expected hosts and switches, got 2 and 0"),
        (lambda g: g.add_edge("x", "x", ports={"x": (1, 70000)}), "expected ports as numbers by"),
        (lambda g: g.add_edge("x", "x", ports="3"), "expected ports as numbers by node, got '3'"),
        (lambda g: g.add_edge("x", "x", ports={"x": (9, 9)}), "port 9 of switch 0 holds two"),
        (lambda g: g.add_node("x", ports=70000), "at most 65534 ports, got 70000"),
    ],
)
def test_graphs_that_are_no_fabric_are_refused(change: Callable[[Any], None], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        contend.load(_two_hosts(change))


def test_identities_must_be_numbers() -> None:
    def change(g: Any) -> None:
        for node in g:
            g.nodes[node]["guid"] = "five"

    with pytest.raises(UsageError, match="guid: expected a number at every node"):
        contend.load(_two_hosts(change))


def test_a_directed_graph_is_refused() -> None:
    with pytest.raises(UsageError, match="expected an undirected graph"):
        contend.load(networkx.DiGraph([("a", "x")]))


def test_without_networkx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    # What Python keeps for a module that is not there.
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingError, match="pip install networkx"):
        load("fig1").to_networkx()
