"""The Fabric itself: built on paper, named for people, immutable."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.fabric import Fabric
from contend.fabric.fabric import build
from contend.routes import ForwardingTables


@pytest.fixture
def columns() -> dict[str, Any]:
    """Two switches of four ports, joined by two cables; one host on the first, two on the other."""
    return {
        "host_name": ["h0", "h1", "h2"],
        "host_switch": np.array([0, 1, 1], dtype=np.uint32),
        "host_port": np.array([1, 1, 2], dtype=np.uint16),
        "switch_name": ["s0", "s1"],
        "switch_ports": 4,
        "cables": np.array([[0, 3, 1, 3], [1, 4, 0, 4]], dtype=np.uint32),
    }


@pytest.fixture
def fabric(columns: dict[str, Any]) -> Fabric:
    return build("small", **columns)


def test_sizes(fabric: Fabric) -> None:
    """channels = 2 (cables + hosts) = 2 (2 + 3)."""
    assert (fabric.hosts, fabric.switches, fabric.cables, fabric.channels) == (3, 2, 2, 10)
    core = fabric.core
    assert (core.hosts, core.switches, core.cables, core.channels) == (3, 2, 2, 10)


def test_build_gives_out_addresses_and_guids(fabric: Fabric) -> None:
    """Hosts get 1 .. H, switches H + 1 .. H + S; no GUID twice."""
    assert fabric.host_lid.tolist() == [1, 2, 3]
    assert fabric.switch_lid.tolist() == [4, 5]
    assert fabric.host_lmc.tolist() == [0, 0, 0]
    guids = [*fabric.host_guid.tolist(), *fabric.host_port_guid.tolist()]
    guids += fabric.switch_guid.tolist()
    assert len(set(guids)) == 3 + 3 + 2
    assert fabric.switch_ports.tolist() == [4, 4]
    assert [fabric.rates[r] for r in fabric.cable_rate.tolist()] == ["4xHDR", "4xHDR"]


def test_build_takes_ports_by_switch_and_no_cables(columns: dict[str, Any]) -> None:
    fabric = build("none", **{**columns, "switch_ports": np.array([1, 2]), "cables": []})
    assert fabric.switch_ports.tolist() == [1, 2]
    assert (fabric.cables, fabric.core.channels) == (0, 6)


@pytest.mark.parametrize(
    ("channel", "name"),
    [
        (0, 'switch "s0" port 3 -> switch "s1" port 3'),
        (1, 'switch "s1" port 3 -> switch "s0" port 3'),
        (2, 'switch "s1" port 4 -> switch "s0" port 4'),
        (3, 'switch "s0" port 4 -> switch "s1" port 4'),
        (4, 'host "h0" -> switch "s0" port 1'),
        (6, 'host "h2" -> switch "s1" port 2'),
        (7, 'switch "s0" port 1 -> host "h0"'),
        (9, 'switch "s1" port 2 -> host "h2"'),
    ],
)
def test_channel_name(fabric: Fabric, channel: int, name: str) -> None:
    """Cable k is channels 2k and 2k + 1, then come injections, then ejections."""
    assert fabric.channel_name(channel) == name


def test_channel_names_agree_with_the_core(fabric: Fabric) -> None:
    for switch, port in [(0, 1), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3), (1, 4)]:
        start, _ = fabric.channel_ends(fabric.core.out(switch, port))
        assert start == f'switch "s{switch}" port {port}'


@pytest.mark.parametrize("channel", [-1, 10])
def test_channel_that_is_none(fabric: Fabric, channel: int) -> None:
    with pytest.raises(UsageError, match=f"channel {channel} of 10"):
        fabric.channel_name(channel)


def test_columns_cannot_be_written(fabric: Fabric) -> None:
    for column in dataclasses.fields(fabric):
        values = getattr(fabric, column.name)
        if isinstance(values, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        fabric.name = "other"  # type: ignore[misc]


def test_arrays_of_the_caller_stay_the_caller_s(columns: dict[str, Any]) -> None:
    """Neither does the fabric freeze them nor do later changes of them reach it."""
    fabric = build("small", **columns)
    columns["host_switch"][0] = 1
    assert fabric.host_switch.tolist() == [0, 1, 1]


def test_replace_leaves_the_old_one_and_forgets_its_core(fabric: Fabric) -> None:
    assert fabric.core.cables == 2
    tables = ForwardingTables(np.zeros((2, 6), dtype=np.uint16), engine="minhop")
    routed = fabric.replace(routes=tables, name="routed")
    assert (fabric.name, fabric.routes) == ("small", None)
    assert (routed.name, routed.routes) == ("routed", tables)
    assert routed.host_switch is fabric.host_switch
    cut = fabric.replace(
        **{
            column: getattr(fabric, column)[:1]
            for column in ("cable_from", "cable_from_port", "cable_to", "cable_to_port")
        },
        cable_rate=fabric.cable_rate[:1],
    )
    assert (cut.core.cables, fabric.core.cables) == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"host_port": np.array([1, 1, 1])}, "port 1 of switch 1 holds two cables"),
        ({"host_port": np.array([1, 1, 5])}, "port 5 of switch 1 with 4 ports"),
        ({"host_switch": np.array([0, 1, 2])}, "switch 2 of 2"),
    ],
)
def test_core_refuses_what_cannot_be(
    columns: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    fabric = build("wrong", **{**columns, **change})
    with pytest.raises(UsageError, match=message):
        _ = fabric.core
