"""Who loads a channel, by the known tables of fig1, and summed up against what is counted."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import MissingError, UsageError
from contend.congestion import simulate
from contend.congestion.simulation.channels import AskedChannels
from contend.fabric import Fabric
from small_fabrics import fat_tree, routed


@pytest.fixture(scope="module")
def fig1() -> Fabric:
    """Four leaves of hosts 1-4, 5-8, 9-12, 13-16; all reach host d by uplink (d - 1) mod 4."""
    return contend.load("fig1", route="fig1")


def _hosts(numbers: list[int], each: float = 1.0) -> list[float]:
    """`each` at hosts 1 to 16 of these names, else 0."""
    return [each if host in numbers else 0.0 for host in range(1, 17)]


def test_an_uplink_of_fig1_leads_to_every_fourth_host(fig1: Fabric) -> None:
    """Port 5, the first uplink, has the routes from hosts 1-4 to 5, 9, 13; the way down all to 1.

    When every host sends to the one four places on, host 1 sends to 5 over it, and 13 to 1 comes
    down.
    """
    up, down = simulate(fig1, "shift:4", placement="linear", channels=["leaf 1:5"]).channels
    assert up.name == 'switch "leaf 1" port 5 -> switch "top 1" port 1'
    assert down.name == 'switch "top 1" port 1 -> switch "leaf 1" port 5'
    assert up.sources.tolist() == _hosts([1])
    assert up.targets.tolist() == _hosts([5])
    assert up.source_routes.tolist() == _hosts([1, 2, 3, 4], each=3)
    assert up.target_routes.tolist() == _hosts([5, 9, 13], each=4)
    assert (up.messages_per_round, up.routes, up.routes_in_all) == (1, 12, 16 * 15)
    assert down.sources.tolist() == _hosts([13])
    assert down.targets.tolist() == _hosts([1])
    assert down.source_routes.tolist() == _hosts(list(range(5, 17)))
    assert down.target_routes.tolist() == _hosts([1], each=12)
    assert [leaf.routes_share for leaf in up.to_leaves] == [1 / 3] * 3


def test_an_all_to_all_sends_a_message_over_every_route(fig1: Fabric) -> None:
    for channel in simulate(fig1, "alltoall", channels=range(fig1.channels)).channels:
        assert channel.sources.tolist() == channel.source_routes.tolist()
        assert channel.targets.tolist() == channel.target_routes.tolist()


def test_channels_of_a_host_carry_its_own_messages(fig1: Fabric) -> None:
    """Host 6 hangs on port 2 of leaf 2; in a ring it sends to 7 and receives from 5."""
    for name in ("6", "leaf 2:2", "0x100000051"):
        out, into = simulate(fig1, "ring", placement="linear", channels=[name]).channels
        assert (out.sources.tolist(), out.targets.tolist()) == (_hosts([6]), _hosts([7]))
        assert (into.sources.tolist(), into.targets.tolist()) == (_hosts([5]), _hosts([6]))
        assert (out.routes, into.routes) == (15, 15)


def test_hosts_that_take_no_part_have_no_routes(fig1: Fabric) -> None:
    """Of hosts 1, 2 and 5, only 1 and 2 send over port 5, to 5; host 9 is not there."""
    chosen = simulate(fig1, "alltoall", hosts=["1", "2", "5"], channels=["leaf 1:5", "9"])
    up, down, out, into = chosen.channels
    assert up.source_routes.tolist() == _hosts([1, 2])
    assert down.target_routes.tolist() == _hosts([1])
    assert up.routes_in_all == 3 * 2
    assert out.routes == into.routes == out.messages_per_round == 0


@pytest.mark.parametrize("pattern", ["permutation", "shifts", "uniform", "bisect:two-way"])
@pytest.mark.parametrize(
    "kind",
    ["tables", "spread", "ecmp", "ecmp,flows=3", "spray", "several ranks a host"],
)
def test_users_of_every_channel_sum_up_to_its_load(pattern: str, kind: str) -> None:
    bare = fat_tree(4, 4, 2)
    if kind == "spread":
        # Two addresses for every host.
        lids = 1 + 2 * np.arange(16, dtype=np.uint32)
        switch_lids = 100 + np.arange(bare.switches, dtype=np.uint32)
        lmc = np.ones(16, dtype=np.uint8)
        bare = bare.replace(host_lid=lids, host_lmc=lmc, switch_lid=switch_lids)
    fabric = routed(bare)
    if kind.startswith(("ecmp", "spray")):
        fabric = contend.load("xgft:2;4,4;1,2", route=kind)
    found = simulate(
        fabric,
        pattern,
        samples=40,
        seed=3,
        spread=kind == "spread",
        ranks_per_host=3 if kind == "several ranks a host" else 1,
        channels=range(2 * fabric.cables),
    )
    for column in ("sources", "targets"):
        sums = [getattr(user, column).sum() for user in found.channels]
        # Parts of messages are kept to a thousandth where they are summed, here to a millionth.
        assert sums == pytest.approx(found.channel_load[: 2 * fabric.cables], abs=1e-3)
    # Every route from leaf to leaf has one channel up and one down, and all have 2 hosts' channels.
    leaves = fabric.host_switch
    apart = int((leaves[:, None] != leaves[None, :]).sum())
    assert sum(user.routes for user in found.channels) == pytest.approx(2 * apart)


def test_hottest_are_those_that_carry_most(fig1: Fabric) -> None:
    found = simulate(fig1, "bisect", samples=100, channels=["hottest:3", 0])
    between = found.channel_load[: 2 * fig1.cables]
    first, *hottest = [user.channel for user in found.channels]
    assert first == 0
    order = np.argsort(-between, kind="stable")[:3].tolist()
    assert hottest == [channel for channel in order if channel != 0]


def test_nothing_is_hot_where_no_message_leaves_its_leaf(fig1: Fabric) -> None:
    here = simulate(fig1, "alltoall", hosts=["1", "2"], channels=["hottest"])
    assert here.channels == ()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("leaf 1", "a channel needs a port of this switch: leaf 1:PORT"),
        ("leaf 1:9", 'nothing is cabled to port 9 of "leaf 1"'),
        ("laef 1:5", "did you mean 'leaf 1'"),
        ("hottest:0", "N from 1 to 64, got '0'"),
        ("hottest:9999999999999999999", "N from 1 to 64"),
        ("hottest:x", "N from 1 to 64, got 'x'"),
        (64, "channel 64 of 64"),
    ],
)
def test_what_is_no_channel_is_refused(fig1: Fabric, name: str | int, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        simulate(fig1, "alltoall", channels=[name])


def test_more_channels_than_anybody_reads_are_refused() -> None:
    fabric = contend.load("xgft:2;8,8;1,8", route="dmodk")
    with pytest.raises(UsageError, match="up to 64 channels, got 65"):
        simulate(fabric, "alltoall", channels=range(65))


def test_more_pairs_of_leaves_than_fit_memory_are_refused_before_anything_is_counted() -> None:
    fabric = contend.load("torus:4x4;2", route="spray")
    asked = AskedChannels.of(fabric, ["hottest:3"])
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    asked.expect_room(fabric, hosts, memory=16 * 16 * 20)
    with pytest.raises(MissingError, match="users of 3 channels of torus:4x4;2 need 5 KiB, and"):
        asked.expect_room(fabric, hosts, memory=16 * 16 * 20 - 1)
    asked.expect_room(fabric, hosts[:16], memory=16 * 16 * 20 - 1)
