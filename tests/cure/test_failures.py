"""What failures cost: what the slow way says, failure by failure."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.congestion import draw_patterns, message_congestion, simulate
from contend.cure import FabricFailure, failures
from contend.fabric import Fabric, without_numbers
from contend.routes import mended
from sample_fabrics import DATA

SAMPLES = 3


def _with_rates(fabric: Fabric) -> Fabric:
    """Every third cable and every fifth host at half the rate."""
    cable = (1 + (np.arange(fabric.cables) % 3 == 0)).astype(np.uint16)
    host = (1 + (np.arange(fabric.hosts) % 5 == 0)).astype(np.uint16)
    return fabric.replace(rates=("", "4xDDR", "4xSDR"), cable_rate=cable, host_rate=host)


def _slowly(fabric: Fabric, failure: FabricFailure) -> tuple[int, int, float, float]:
    """Hosts gone, entries changed, and what the pairs that are left get, before and after."""
    by_kind = {kind: [n for k, n in failure.parts if k == kind] for kind in ("switch", "cable")}
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
        fabric = _with_rates(fabric)
    found = failures(fabric, samples=SAMPLES, worst=4, threads=2)
    assert len(found.alone) == fabric.switches + fabric.cables
    assert len(found.pairs) == pairs
    assert found.whole.weighed == rated
    assert any(one.change < 0 for one in found.alone)
    for one in (*found.alone, *found.pairs):
        hosts, changed, before, after = _slowly(fabric, one)
        assert (one.hosts, one.changed) == (hosts, changed)
        assert one.bandwidth == pytest.approx(after, rel=1e-12)
        assert one.change == pytest.approx(after - before, abs=1e-12)


def test_what_nothing_changes_is_what_the_simulation_says() -> None:
    # With five hosts all outcomes are counted instead of drawn.
    for name in ("xgft:2;4,6;1,4", "crossbar:5"):
        fabric = contend.load(name, route="minhop")
        whole = simulate(fabric, "bisect", samples=100, seed=1)
        found = failures(fabric, samples=100)
        assert np.array_equal(found.whole.bandwidth, whole.bandwidth)
        for one in found.alone:
            if one.hosts == 0 and one.change == 0:
                assert one.bandwidth == whole.effective_bandwidth


def test_hosts_that_are_gone_take_nothing_from_the_others() -> None:
    # A leaf carries messages of its own hosts only: those between the others lose nothing.
    fabric = contend.load("xgft:2;4,6;1,2", route="dmodk")
    found = failures(fabric, samples=20)
    leaves = [one for one in found.alone if one.hosts]
    assert [one.hosts for one in leaves] == [4] * 6
    assert all((one.change, one.margin) == (0, 0) for one in leaves)
    assert all(one.bandwidth > found.whole.effective_bandwidth for one in leaves)


def test_two_hosts_must_be_left() -> None:
    found = failures(contend.load("crossbar:4", route="minhop"), samples=5, worst=1)
    assert [(one.hosts, one.bandwidth) for one in found.alone] == [(4, 0.0)]
    assert found.alone[0].change == -found.whole.effective_bandwidth
