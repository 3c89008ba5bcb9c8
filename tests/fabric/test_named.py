"""Every name that contend shows for a switch, a cable or a host is taken where one is asked for."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.congestion.simulation.channels import AskedChannels
from contend.fabric import Fabric, Names, make, server_names, short_names, without
from contend.lab.emulation import host_labels
from contend.report.fabric.scene import spoken_names
from contend.traffic.placement import HostNames
from small_fabrics import fat_tree


def _managed() -> Fabric:
    """Switches as those with management call themselves, servers with two adapters each."""
    tree = fat_tree(3, 4, 2)
    return tree.replace(
        switch_name=tuple(f"MF0;ib{number}:MQM8700/U1" for number in range(5)),
        host_name=tuple(f"node{h // 2 + 1} mlx5_{h % 2}" for h in range(12)),
    )


def _alike() -> Fabric:
    """Switches and hosts that are called alike, most told apart by GUIDs and two by numbers."""
    tree = fat_tree(3, 4, 2)
    guid = tree.switch_guid.copy()
    guid[:2] = 0
    return tree.replace(
        switch_name=("leaf", "leaf", "leaf", "spine: 1", "spine - 2 -> x"),
        switch_guid=guid,
        host_name=("localhost mlx5_0",) * 12,
    )


FABRICS = {
    "managed": _managed(),
    "alike": _alike(),
    "numbers": make("fig1"),
    "words": make("xgft:2;4,6;1,4"),
    "machine": make("director:24"),
}


@pytest.fixture(params=FABRICS)
def fabric(request: pytest.FixtureRequest) -> Fabric:
    return FABRICS[request.param]


def test_switches(fabric: Fabric) -> None:
    names = Names(fabric)
    for shown in (fabric.switch_label, short_names(fabric), spoken_names(fabric)):
        for switch, name in enumerate(shown):
            assert names.find(f'switch "{name}"') == [("switch", switch)]
            if name not in fabric.host_name:
                assert names.find(name) == [("switch", switch)]


def test_hosts(fabric: Fabric) -> None:
    names, chosen = Names(fabric), HostNames(fabric)
    for host, name in enumerate(fabric.host_label):
        guid = f"0x{fabric.host_port_guid[host]:016x}"
        for text in (f'host "{name}"', guid):
            assert names.find(text) == [("host", host)]
            assert chosen.find(text, "hosts") == [host]
        assert chosen.find(name, "hosts") == [host]
        assert fabric.host_number(name) == host


def test_servers(fabric: Fabric) -> None:
    names, chosen, servers = Names(fabric), HostNames(fabric), server_names(fabric)
    for name in set(servers) - set(fabric.switch_name) - set(short_names(fabric)):
        members = [host for host, server in enumerate(servers) if server == name]
        assert names.find(name) == [("host", host) for host in members]
        assert sorted(chosen.find(name, "hosts")) == members


def test_emulated_machines() -> None:
    for fabric in (FABRICS["words"], FABRICS["managed"]):
        for host, name in enumerate(host_labels(fabric)):
            assert Names(fabric).find(name) == [("host", host)]


def test_channels_and_their_ends(fabric: Fabric) -> None:
    """As ``switch "x" port 3 -> switch "y" port 1``, each of its ends, ``x:3``, and with a dash."""
    names = Names(fabric)
    for channel in range(0, fabric.channels, 7):
        text = fabric.channel_name(channel)
        if channel < 2 * fabric.cables:
            device, other = ("cable", channel // 2), channel ^ 1
            assert AskedChannels.of(fabric, [text]).numbers == (channel, other)
        else:
            device = ("host", (channel - 2 * fabric.cables) % fabric.hosts)
            assert set(names.channels(text)) == {
                2 * fabric.cables + device[1],
                2 * fabric.cables + fabric.hosts + device[1],
            }
        dashed = " - ".join(fabric.channel_ends(channel))
        assert names.find(text) == names.find(dashed) == [device]
        for end in fabric.channel_ends(channel):
            assert names.find(end) == [device]
    for cable, (near, port, *_) in enumerate(fabric.cable_ends()):
        for name in (fabric.switch_label[near], short_names(fabric)[near]):
            assert names.find(f"{name}:{port}") == [("cable", cable)]
            assert names.find(f"{name} port {port}") == [("cable", cable)]


def test_a_name_of_a_drawing_is_taken_everywhere() -> None:
    """``ib3`` is the switch that calls itself MF0;ib3:MQM8700/U1."""
    tree = contend.load("xgft:2;4,3;1,2").replace(switch_name=FABRICS["managed"].switch_name)
    assert without(tree, ["ib3"]).words == 'switch "MF0;ib3:MQM8700/U1" with 3 cables'
    assert without(FABRICS["managed"], ["node1"]).fabric.hosts == 10
    assert len(AskedChannels.of(FABRICS["managed"], ["node1"]).numbers) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leaf", "3 have this name; give"),
        ("localhost mlx5_0", "12 have this name; give a GUID, such as 0x0000000100000001"),
        ('switch "spine: 1" port 40', 'nothing is cabled to port 40 of "spine: 1"'),
    ],
)
def test_what_is_not_clear_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        Names(FABRICS["alike"]).find(text)
    assert said in str(refused.value)


def test_both_ends_must_be_of_one_cable() -> None:
    tree = FABRICS["words"]
    ends = [tree.channel_ends(2 * cable) for cable in (0, 1)]
    assert Names(tree).find(f"{ends[0][0]} -> {ends[1][1]}") == []
    assert np.array_equal(without(tree, [f"{ends[0][0]} - {ends[0][1]}"]).fabric.cables, 23)
