"""What failures cost: what the slow way says, failure by failure."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import contend
from contend.base.errors import UsageError
from contend.congestion import FailureJudge, draw_patterns, message_congestion, simulate
from contend.cure import FabricFailure, ServersHit, StillGets, failures
from contend.fabric import Fabric, capacities, without_numbers
from contend.routes import all_to_all_load, compute, mended
from sample_fabrics import DATA
from several_ways import PART, sprayed
from small_fabrics import of_two_rates, two_planes

SAMPLES = 3


def _slowly(fabric: Fabric, failure: FabricFailure) -> tuple[int, int, float, float]:
    """Hosts gone, entries changed, and what the pairs that are left get, before and after."""
    by_kind = {kind: [n for k, n in failure.died if k == kind] for kind in ("switch", "cable")}
    rest = without_numbers(fabric, switches=by_kind["switch"], cables=by_kind["cable"])
    left, changed, _ = mended(fabric, rest)
    number = {name: host for host, name in enumerate(left.host_name)}
    now = np.array([number.get(name, -1) for name in fabric.host_name])
    means = []
    for pattern in draw_patterns(fabric, "bisect", seed=1, count=SAMPLES):
        source, target = pattern.between_hosts()
        pairs = (now[source] >= 0) & (now[target] >= 0)
        before = message_congestion(fabric, source[pairs], target[pairs]).bandwidth
        after = message_congestion(left, now[source[pairs]], now[target[pairs]]).bandwidth
        # A sample of which no pair is left is as on a whole fabric.
        means.append((before.mean(), after.mean()) if pairs.any() else (1.0, 1.0))
    whole, broken = np.mean(means, axis=0)
    return fabric.hosts - left.hosts, int(changed.sum()), float(whole), float(broken)


@pytest.mark.parametrize(
    ("name", "route", "rated", "pairs"),
    [
        ("xgft:3;2,2,2;1,2,2", "contend,lmc=1", False, 6),
        ("torus:3x3", "dor", True, 6),
        ("random:8,3,2", "minhop", False, 6),
        # Two of the worst four are cables of the other two: no pairs with these.
        (str(DATA / "ibsim" / "aggregation-nodes.ibnetdiscover"), "minhop", False, 4),
    ],
)
def test_every_failure_costs_what_the_slow_way_says(
    name: str, route: str, rated: bool, pairs: int
) -> None:
    fabric = contend.load(name, route=route)
    if rated:
        fabric = of_two_rates(fabric)
    found = failures(fabric, samples=SAMPLES, worst=4, threads=2)
    assert len(found.alone) == fabric.switches + fabric.cables
    assert len(found.pairs) == pairs
    assert found.whole.weighed_by_rates == rated
    assert any(one.change < 0 for one in found.alone)
    for one in (*found.alone, *found.pairs):
        hosts, changed, before, after = _slowly(fabric, one)
        assert (one.hosts, one.changed) == (hosts, changed)
        assert one.bandwidth == pytest.approx(after, rel=1e-12)
        assert one.change == pytest.approx(after - before, abs=1e-12)


@pytest.mark.parametrize("route", ["contend", "ecmp"])
@pytest.mark.parametrize("rated", [False, True])
@pytest.mark.parametrize(
    ("pattern", "placement"), [("alltoall", "random"), ("halo:2d", "random"), ("shift:3", "spread")]
)
def test_a_pattern_is_judged_by_what_its_hosts_wait_for(
    route: str, rated: bool, pattern: str, placement: str
) -> None:
    fabric = contend.load("xgft:3;2,2,2;1,2,2", route=route)
    if rated:
        fabric = of_two_rates(fabric)
    found = failures(
        fabric, pattern=pattern, placement=placement, samples=SAMPLES, worst=2, engine=route
    )
    assert found.waits_for_last == (pattern != "shift:3")
    assert any(one.change < 0 for one in found.alone)
    assert any(one.hosts for one in found.alone)
    if route == "ecmp":
        return
    drawn = list(draw_patterns(fabric, pattern, placement=placement, count=found.samples))
    for one in (*found.alone, *found.pairs):
        died = {kind: [n for k, n in one.died if k == kind] for kind in ("switch", "cable")}
        rest = without_numbers(fabric, switches=died["switch"], cables=died["cable"])
        left = mended(fabric, rest)[0]
        now = np.full(fabric.hosts, -1)
        now[rest.hosts] = np.arange(left.hosts)
        means = []
        for sample in drawn:
            source, target = sample.between_hosts()
            stay = (now[source] >= 0) & (now[target] >= 0)
            means.append(
                [
                    _judged(fabric, source[stay], target[stay], found.waits_for_last),
                    _judged(left, now[source[stay]], now[target[stay]], found.waits_for_last),
                ]
            )
        before, after = np.mean(means, axis=0)
        assert one.bandwidth == pytest.approx(after, rel=1e-9)
        assert one.change == pytest.approx(after - before, abs=1e-9)


def _judged(
    fabric: Fabric, source: NDArray[np.integer], target: NDArray[np.integer], last: bool
) -> float:
    """What hosts get until the last message is done, or the mean over messages."""
    if not len(source):
        return 1.0
    found = message_congestion(fabric, source, target)
    if not last:
        return float(found.bandwidth.mean())
    capacity = capacities(fabric).host
    busiest = max(
        (np.bincount(end, minlength=fabric.hosts) / capacity).max() for end in (source, target)
    )
    alone = np.minimum(capacity[source], capacity[target])
    return float(busiest / (1 / (found.bandwidth * alone)).max())


def test_without_one_of_two_cables_up_an_all_to_all_takes_twice_as_long() -> None:
    """Four hosts of a leaf have 48 messages for others on two cables, and 15 on each port."""
    found = failures(contend.load("xgft:2;4,4;1,2", route="contend"), pattern="alltoall")
    assert (found.bandwidth, found.samples) == (15 / 24, 1)
    assert {(one.bandwidth, one.margin) for one in found.alone if not one.hosts} == {(15 / 48, 0)}
    # Twelve hosts are left where a leaf dies: 11 messages a port, 32 for other leaves.
    cutting = [one for one in found.alone if one.hosts]
    assert [(one.hosts, one.bandwidth, one.change) for one in cutting] == [(4, 11 / 16, 0)] * 4


def _by_slow_counting(fabric: Fabric, failure: FabricFailure) -> tuple[float, float]:
    """What the pairs that are left get by packets sprayed over all shortest ways, by definition."""
    died = {kind: {n for k, n in failure.died if k == kind} for kind in ("switch", "cable")}
    cables = {
        cable
        for cable in range(fabric.cables)
        if cable not in died["cable"]
        and not died["switch"] & {int(fabric.cable_from[cable]), int(fabric.cable_to[cable])}
    }
    rest = without_numbers(fabric, switches=died["switch"], cables=died["cable"])
    left = set(rest.hosts.tolist())
    means = []
    for pattern in draw_patterns(fabric, "bisect", seed=1, count=SAMPLES):
        both = zip(*(each.tolist() for each in pattern.between_hosts()), strict=True)
        pairs = [pair for pair in both if left.issuperset(pair)]
        shares = []
        for kept in (set(range(fabric.cables)), cables):
            each = [sprayed(fabric, *pair, cables=kept) for pair in pairs]
            load: dict[int, float] = {}
            for channel, share in (item for way in each for item in way.items()):
                load[channel] = load.get(channel, 0) + share
            pi = [max([1, *(load[channel] for channel in way)]) for way in each]
            shares.append(np.mean([1 / one for one in pi]) if pi else 1.0)
        means.append(shares)
    before, after = np.mean(means, axis=0)
    return float(before), float(after)


@pytest.mark.parametrize(
    "spec", ["xgft:3;2,2,2;1,2,2", "xgft:2;4,3;1,2;1,2", "torus:3x3", "random:8,3,2"]
)
def test_sprayed_messages_find_the_shortest_ways_that_are_left(spec: str) -> None:
    fabric = contend.load(spec, route="spray")
    found = failures(fabric, samples=SAMPLES, worst=2, engine="spray")
    assert len(found.alone) == fabric.switches + fabric.cables
    assert found.rerouted is None
    assert any(one.change < 0 for one in found.alone)
    for one in (*found.alone, *found.pairs):
        before, after = _by_slow_counting(fabric, one)
        assert one.bandwidth == pytest.approx(after, abs=2 * PART)
        assert one.change == pytest.approx(after - before, abs=2 * PART)
        assert (one.changed, one.rerouted) == (0, None)


def test_sprayed_failures_that_must_cost_the_same_are_counted_once() -> None:
    """Three spines with two cables to each of four leaves are alike, but for one that lacks one."""
    whole = contend.load("xgft:2;2,4;1,3;1,2")
    lacking = without_numbers(whole, switches=set(), cables={whole.cables - 1}).fabric
    slower = whole.cable_rate.copy()
    slower[0] = 2
    for cabled, switches, cables in (
        (whole, 4 + 1, 4),
        (lacking, 4 + 2, 4 + 4),
        (whole.replace(rates=("", "4xHDR", "4xSDR"), cable_rate=slower), 4 + 2, 4 + 4 + 1),
    ):
        fabric = compute(cabled, "spray")
        judge = FailureJudge(fabric, simulate(fabric, "bisect", samples=SAMPLES))
        counted = {id(judge.judge([switch], []).after) for switch in range(fabric.switches)}
        assert len(counted) == switches
        counted = {id(judge.judge([], [cable]).after) for cable in range(fabric.cables)}
        assert len(counted) == cables


@pytest.mark.parametrize("route", ["spray", "ecmp", "ecmp,flows=4"])
def test_without_tables_failures_cost_what_the_rest_gets(route: str) -> None:
    """Without one of its two cables up, a leaf's two hosts share the other."""
    fabric = contend.load("xgft:2;2,2;1,2", route=route)
    found = failures(fabric, samples=300, engine=route)
    broken = [one for one in found.alone if one.died[0][0] == "cable"]
    assert len(broken) == 4
    for one in broken:
        assert one.hosts == 0
        assert one.bandwidth <= found.whole.effective_bandwidth.mean
        # In a third of all patterns both hosts of a leaf send to the other: each gets half.
        if route == "spray":
            assert (found.whole.effective_bandwidth.mean, one.bandwidth) == (
                1,
                pytest.approx(5 / 6),
            )
    again = failures(fabric, samples=300, engine=route, threads=1)
    assert [one.bandwidth for one in again.alone] == [one.bandwidth for one in found.alone]


def test_hashed_messages_keep_their_ways_where_nothing_died() -> None:
    """A dead leaf carries messages of its own hosts only: the others hash as before."""
    fabric = contend.load("xgft:2;4,6;1,2", route="ecmp")
    leaves = [one for one in failures(fabric, samples=20, engine="ecmp").alone if one.hosts]
    assert [one.hosts for one in leaves] == [4] * 6
    assert all((one.change, one.margin) == (0, 0) for one in leaves)


def test_tables_in_the_place_of_sprayed_routes() -> None:
    fabric = contend.load("xgft:2;4,4;1,2", route="spray")
    found = failures(fabric, samples=20, engine="minhop")
    tables = simulate(compute(fabric, "minhop"), "bisect", samples=20, seed=1)
    assert found.rerouted is not None
    assert found.rerouted == tables.effective_bandwidth.mean


def test_what_nothing_changes_is_what_the_simulation_says() -> None:
    # With five hosts all outcomes are counted instead of drawn.
    for name in ("xgft:2;4,6;1,4", "crossbar:5"):
        fabric = contend.load(name, route="minhop")
        whole = simulate(fabric, "bisect", samples=100, seed=1)
        found = failures(fabric, samples=100)
        assert np.array_equal(found.whole.bandwidth, whole.bandwidth)
        for one in found.alone:
            if one.hosts == 0 and one.change == 0:
                assert one.bandwidth == whole.effective_bandwidth.mean


def test_hosts_that_are_gone_take_nothing_from_the_others() -> None:
    # A leaf carries messages of its own hosts only: those between the others lose nothing.
    fabric = contend.load("xgft:2;4,6;1,2", route="dmodk")
    found = failures(fabric, samples=20)
    leaves = [one for one in found.alone if one.hosts]
    assert [one.hosts for one in leaves] == [4] * 6
    assert all((one.change, one.margin) == (0, 0) for one in leaves)
    assert all(one.bandwidth > found.whole.effective_bandwidth.mean for one in leaves)


def test_two_hosts_must_be_left() -> None:
    found = failures(contend.load("crossbar:4", route="minhop"), samples=5, worst=1)
    assert [(one.hosts, one.bandwidth) for one in found.alone] == [(4, 0.0)]
    assert found.alone[0].change == -found.whole.effective_bandwidth.mean


def test_of_more_failures_than_can_be_judged_some_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fabric = contend.load("fattree2:8", route="minhop")
    every = failures(fabric, samples=SAMPLES, worst=2)
    assert len(every.alone) == every.possible == fabric.switches + fabric.cables
    assert "were tried" not in every.verdict
    work = fabric.hosts * (fabric.switches + 20 * SAMPLES)
    monkeypatch.setattr("contend.cure.each_failure._MOST_WORK", 7 * work)
    some = failures(fabric, samples=SAMPLES, worst=2)
    assert (len(some.alone), some.possible) == (7, every.possible)
    assert some.verdict.startswith(
        f"Only 7 of {every.possible} possible failures were tried: switches first, then cables "
        "drawn at random. "
    )
    # Of twelve switches seven, and no cable.
    assert all(one.kinds == ("switch",) for one in some.alone)
    # Those that are judged cost what they do among all; another seed draws others.
    costs = {failure.parts: failure.change for failure in every.alone}
    assert [costs[one.parts] for one in some.alone] == [one.change for one in some.alone]
    other = failures(fabric, samples=SAMPLES, worst=2, seed=2)
    assert {one.parts for one in other.alone} != {one.parts for one in some.alone}


def test_the_cheapest_switch_keeps_hosts_and_costs_least() -> None:
    """Leaves cut hosts off; of three spines the one with a cable less is missed least."""
    fabric = contend.load("xgft:2;4,4;1,3", route="minhop", without=["leaf 1:7"])
    found = failures(fabric, samples=50)
    cheapest = found.cheapest
    switches = {one.parts: one for one in found.alone if one.kinds == ("switch",)}
    keep = [one for name, one in switches.items() if name.startswith("top")]
    assert all(one.hosts == 4 for name, one in switches.items() if name.startswith("leaf"))
    assert cheapest.hosts == 0
    assert cheapest.change == max(one.change for one in keep)
    assert cheapest.parts == "top 3"
    # Where every switch cuts hosts off, the one with fewest.
    star = contend.load("xgft:2;2,3;1,1", route="minhop")
    worst = failures(star, samples=5).cheapest
    assert worst.hosts == 2


def test_chosen_hosts_are_those_whose_loss_counts() -> None:
    """A leaf without chosen hosts can die; of the others as many are gone as were chosen there."""
    fabric = contend.load("xgft:2;4,6;1,4", route="minhop")
    on = {leaf: np.flatnonzero(fabric.host_switch == leaf) for leaf in range(6)}
    chosen = [*on[0][:3].tolist(), *on[1].tolist()]
    found = failures(fabric, hosts=chosen, samples=10)
    gone = {one.died[0]: one.hosts for one in found.alone if one.died[0][0] == "switch"}
    assert [gone["switch", leaf] for leaf in range(6)] == [3, 4, 0, 0, 0, 0]
    assert found.whole.ranks == 7


def test_hosts_of_one_plane_are_judged_in_it() -> None:
    planes = compute(two_planes(), "minhop")
    found = failures(planes, hosts="node*mlx5_0", samples=10)
    assert (found.fabric.hosts, found.fabric.switches) == (6, 5)
    assert len(found.alone) == 5 + 6
    with pytest.raises(UsageError, match="only servers do: load one plane after the other"):
        failures(planes, samples=10)


def test_what_no_route_uses_costs_nothing() -> None:
    fabric = contend.load("fig1", route="dor")
    unused = set(np.flatnonzero(all_to_all_load(fabric).reshape(-1, 2).max(axis=1) == 0).tolist())
    assert unused
    found = failures(fabric, samples=10)
    free = [one for one in found.alone if one.died[0][0] == "cable" and one.died[0][1] in unused]
    assert len(free) == len(unused)
    # Only entries for addresses of switches may have led over it.
    assert all((one.change, one.margin) == (0, 0) for one in free)


def test_adapters_that_are_gone_get_nothing() -> None:
    """Two servers of two rails send at full rate by the rail that is left, and nothing else."""
    fabric = contend.load("rails:1,2,2,1", route="minhop")
    found = failures(fabric, samples=4)
    leaf = next(one for one in found.alone if one.parts == "unit 1 leaf 1")
    assert leaf.servers == (ServersHit(2, 1, 2),)
    assert leaf.still == StillGets(before=1.0, after=0.5)


def test_what_servers_still_get_is_left_out_where_messages_split_together() -> None:
    found = failures(contend.load("rails:1,2,2,1", route="adaptive"), samples=4)
    leaf = next(one for one in found.alone if one.parts == "unit 1 leaf 1")
    assert (leaf.servers, leaf.still) == ((ServersHit(2, 1, 2),), None)


def test_only_adapters_that_take_part_are_rails() -> None:
    """By one adapter of every server there are no rails to lose."""
    fabric = contend.load("rails:2,4,4,2", route="minhop")
    chosen = np.arange(0, fabric.hosts, 4).tolist()
    found = failures(fabric, hosts=chosen, samples=4)
    assert any(one.hosts for one in found.alone)
    assert not any(one.servers for one in found.alone)


def test_network_has_the_worst_marked() -> None:
    fabric = contend.load("xgft:2;2,3;1,2", route="minhop")
    drawn = contend.failures(fabric, samples=20).figure("network").axes[0].texts
    words = [text.get_text() for text in drawn]
    assert any(text.startswith("A  failure: switch leaf") for text in words)
    assert any("cuts 2 hosts off" in text for text in words)
