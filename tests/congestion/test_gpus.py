"""Bus bandwidths of GPUs: by equations on two units of two servers with two rails.

Each unit has a leaf a rail with an adapter of both servers, and one cable from each leaf to the
only spine. Eight GPUs; all links carry 25 GB/s.
"""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.congestion import Collectives, GpuCollective
from contend.congestion.gpus import NVLINK, PORTS
from contend.fabric import Fabric

HDR = 25e9


@pytest.fixture
def units() -> Fabric:
    return contend.load("rails:2,2,2,1", route="minhop")


def by_name(found: Collectives) -> dict[str, GpuCollective]:
    assert (found.gpu.servers, found.gpu.rails) == (4, 2)
    return {one.name: one for one in found.gpu.collectives}


def test_rings_cross_each_cable_once(units: Fabric) -> None:
    """A ring of a rail goes 1 -> 2 -> 3 -> 4 -> 1; only 2 -> 3 and 4 -> 1 leave their leaf.

    Each of two rings carries half of 2 x 7/8 of the bytes, so that the bus gets both ports. With
    parts within servers reduced first, the rings carry half of 2 x 3/4.
    """
    found = by_name(contend.collectives(units))
    rings = found["all-reduce by rings"]
    assert rings.share == pytest.approx(1)
    assert rings.limit == PORTS
    assert rings.bus_Bps == pytest.approx(2 * HDR)
    assert rings.algorithm_Bps == pytest.approx(2 * HDR / (2 * 7 / 8))
    assert rings.seconds(1e9) == pytest.approx(1e9 * 7 / 8 / HDR)
    gather = found["all-gather or reduce-scatter by rings"]
    assert gather.bus_Bps == rings.bus_Bps
    assert gather.seconds(1e9) == pytest.approx(1e9 * 7 / 8 / 2 / HDR)
    within = found["all-reduce within servers, then by rings"]
    assert within.seconds(1e9) == pytest.approx(1e9 * 3 / 4 / HDR)


def test_rails_of_their_own_take_less_of_the_spine(units: Fabric) -> None:
    """Without PXN 5 of the 6 messages of a GPU leave its leaf, so that a cable carries 10.

    With it a GPU sends one message to each of three servers, of two blocks; two leave the leaf.
    """
    found = by_name(contend.collectives(units))
    without, within = found["all-to-all without PXN"], found["all-to-all with PXN, within rails"]
    assert without.share == pytest.approx(6 / 10)
    assert without.seconds(8e9) == pytest.approx(1e9 * 10 / HDR)
    assert without.bus_Bps == pytest.approx(7 / 10 * HDR)
    assert within.share == pytest.approx(3 / 4)
    assert within.seconds(8e9) == pytest.approx(2e9 * 4 / HDR)
    assert within.bus_Bps == pytest.approx(7 / 8 * HDR)
    assert "spine" in within.limit


def test_double_trees_as_all_edges_carry_half_both_ways() -> None:
    """Six servers of one unit: an inner server has three edges in one tree and one in the other.

    Its adapter sends four halves of what its rail carries: 4 x 1/2 x 1/2 of the bytes.
    """
    found = contend.collectives(contend.load("rails:1,6,2,1", route="minhop"))
    trees = next(one for one in found.gpu.collectives if "trees" in one.name)
    assert trees.share == pytest.approx(1)
    assert trees.seconds(1e9) == pytest.approx(1e9 / HDR)
    assert trees.bus_Bps == pytest.approx(2 * 11 / 12 * HDR)


def test_nvlink_of_half_the_rate_limits_rings(units: Fabric) -> None:
    """A GPU passes each ring but the one that leaves by its adapter on: 2 x 7/8 x 1/2 bytes."""
    found = by_name(contend.collectives(units, nvlink=HDR / 2))
    rings = found["all-reduce by rings"]
    assert rings.limit == NVLINK
    assert rings.share == pytest.approx(1 / 2)
    assert rings.seconds(1e9) == pytest.approx(1e9 * 7 / 8 / (HDR / 2))
    # First within the server, then between, then within again.
    within = found["all-reduce within servers, then by rings"]
    assert within.seconds(1e9) == pytest.approx(1e9 * (3 / 4 / HDR + 1 / (HDR / 2)))


def test_without_rates_shares_alone_are_known(units: Fabric) -> None:
    found = by_name(contend.collectives(units.replace(rates=("", ""))))
    rings = found["all-reduce by rings"]
    assert rings.share == pytest.approx(1)
    assert (rings.bus_Bps, rings.algorithm_Bps, rings.seconds(1)) == (None, None, None)
    assert found["all-to-all without PXN"].share == pytest.approx(6 / 10)


def test_ports_of_two_rates_allow_what_the_slowest_does(units: Fabric) -> None:
    """Both adapters of a server run at half the rate, and rings, trees and all-to-alls wait for it.

    They take two messages' time for each: 6 for the three of an all-to-all within a rail, and 14
    for those to all others, where cables have 4 and 12 to carry.
    """
    slow = np.array([name.startswith("server 1 ") for name in units.host_name])
    label = (*units.rates, "4xEDR")
    rates = np.where(slow, len(units.rates), units.host_rate).astype(units.host_rate.dtype)
    found = contend.collectives(units.replace(rates=label, host_rate=rates))
    ways = by_name(found)
    for way in ways.values():
        assert way.limit == PORTS
        assert way.share == pytest.approx(1, rel=2e-6)
    assert ways["all-reduce by rings"].bus_Bps == pytest.approx(HDR, rel=2e-6)
    at_once, _, mean, *_ = found.operations
    simulated = contend.simulate(found.fabric, "alltoall", placement="linear").each_host
    assert at_once.share == pytest.approx(simulated.share, rel=2e-6)
    assert at_once.rate_Bps == pytest.approx(HDR / 2, rel=2e-6)
    assert mean.share <= 1


def test_hosts_that_share_no_server_are_no_gpus() -> None:
    assert contend.collectives(contend.load("xgft:2;2,2;1,1", route="minhop")).gpu is None


def test_servers_with_fewer_adapters_do_not_take_part(units: Fabric) -> None:
    hosts = [name for name in units.host_name if name != "server 4 rail 2"]
    found = contend.collectives(units, hosts=hosts)
    assert (found.gpu.servers, found.gpu.rails) == (3, 2)
    said = "1 server does not take part: it has 1 adapter, where the others have 2."
    assert found.gpu.left_out == said
    document = found.document()
    assert said in document.verdict
    assert contend.collectives(units).gpu.left_out == ""


def test_rails_that_no_cable_joins_carry_what_stays_within_them() -> None:
    """A rail of its own is what it is beside the others: NVLink takes messages across.

    Without spines each rail is a switch. With them, one cable a unit: of six servers in three units
    a ring leaves each leaf once, as a port sends once; an all-to-all sends 2 x 4 over a cable where
    a port sends 5. All links carry 25 GB/s.
    """
    alone = contend.collectives(contend.load("rails:1,4,2,0", route="minhop"), nvlink=4 * HDR)
    assert (alone.operations, alone.worst_shift) == ((), 0)
    found = by_name(alone)
    assert "all-to-all without PXN" not in found
    assert found["all-reduce by rings"].share == pytest.approx(1)
    # Three messages of a quarter each by the port, half of everything by NVLink meanwhile.
    within = found["all-to-all with PXN, within rails"]
    assert within.seconds(8e9) == pytest.approx(8e9 * 3 / 4 / HDR)
    assert within.limit == PORTS
    spines = contend.collectives(contend.load("rails:3,2,2,2;1;0", route="minhop"))
    shares = {one.name: one.share for one in spines.gpu.collectives}
    assert shares["all-reduce by rings"] == pytest.approx(1)
    assert shares["all-to-all with PXN, within rails"] == pytest.approx(5 / 8)


def test_what_rails_that_only_servers_join_cannot_do_says_what_to_give() -> None:
    fabric = contend.load("rails:1,4,2,0", route="minhop")
    with pytest.raises(UsageError, match="only servers do: load one plane after the other with pa"):
        contend.simulate(fabric, "2 * ring", placement="servers")
    plane = contend.load("rails:1,4,2,0", route="minhop", part=2)
    assert contend.simulate(plane, "ring").effective_bandwidth.mean == pytest.approx(1)


def test_one_rail_cut_in_two_carries_nothing() -> None:
    """Servers whose rails do not hang together are refused as ever."""
    fabric = contend.load("rails:3,2,2,4;1;0", route="minhop", without=["rail 1 spine 1"])
    cut = contend.load(
        "rails:2,2,2,2;1;0", route="minhop", without=["unit 1 leaf 1:3", "server 1 rail 1"]
    )
    assert contend.collectives(fabric).operations == ()
    with pytest.raises(UsageError, match="cannot be reached"):
        contend.collectives(cut, hosts=["server 2", "server 3"])


def test_patterns_of_rails_say_which_servers_take_no_part(units: Fabric) -> None:
    hosts = [name for name in units.host_name if name != "server 4 rail 2"]
    ring = contend.simulate(units, "2 * ring", placement="servers", hosts=hosts)
    assert ring.ranks == 6
    assert ring.document().verdict.endswith(ring.left_out)
    assert ring.left_out.startswith("1 server does not take part: it has 1 adapter")
    assert contend.simulate(units, "2 * ring", placement="servers").left_out == ""
