"""Messages that take several ways at once: hashed flows, and packets that are sprayed."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.congestion import BesideCounters, simulate
from contend.fabric import (
    Carried,
    Fabric,
    capacities,
    remove_cables,
    with_parallel_links,
    without_numbers,
)
from contend.routes import Ways, make_resolver
from contend.traffic.pattern import parse
from contend.traffic.schedule import phases_by_routes
from several_ways import PART, counted, drawn_pairs, sprayed


@pytest.mark.parametrize("pattern", ["bisect", "shift:3", "uniform", "alltoall", "tree"])
@pytest.mark.parametrize(
    "spec", ["xgft:3;2,2,3;1,2,2", "dragonfly:2,4,2", "torus:3x4", "random:8,3,2,1"]
)
def test_sprayed_messages_by_the_definition(spec: str, pattern: str) -> None:
    fabric = contend.load(spec, route="spray")
    drawn = parse(pattern, fabric.hosts)
    found = simulate(fabric, drawn, placement="linear", samples=3, seed=7)
    shares, mean_pi, loads = [], [], np.zeros(2 * fabric.cables)
    for sample in range(found.samples):
        by_round = []
        for number in range(drawn.rounds):
            load, pi = counted(fabric, drawn_pairs(drawn, number, seed=7, sample=sample), sprayed)
            loads += load
            if len(pi):
                by_round.append((np.mean(1 / pi), np.mean(pi)))
        shares.append(np.mean([bandwidth for bandwidth, _ in by_round]))
        mean_pi.append(np.mean([pi for _, pi in by_round]))
    assert found.bandwidth == pytest.approx(shares, abs=2 * PART)
    assert found.mean_congestion == pytest.approx(mean_pi, abs=PART)
    expected = loads / found.samples / drawn.rounds
    assert found.channel_load[: 2 * fabric.cables] == pytest.approx(expected, abs=PART)


# Percent of cables that are gone from trees of two to four levels, with unequal numbers of cables
# side by side, and from tori, dragonflies and others, where messages cross switches with hosts.
UNEVEN = {
    "xgft:2;4,6;1,4": 12,
    "xgft:3;3,3,3;1,2,3": 8,
    "xgft:3;2,3,4;1,3,2": 4,
    "xgft:4;2,2,2,2;1,2,2,2": 10,
    "torus:4x4": 12,
    "torus:2x2x3;2": 5,
    "dragonfly:2,4,2": 10,
    "hyperx:3x3;2": 10,
    "slimfly:5;1": 4,
}


def _uneven(spec: str, seed: int) -> Fabric:
    """Every other cable twice, then some of all gone, and every third slower; still of one part."""
    whole = with_parallel_links(contend.load(spec), 2)
    half = np.flatnonzero(np.arange(whole.cables) % 4 != 1)
    made = remove_cables(without_numbers(whole, cables=half[::2]).fabric, UNEVEN[spec], seed)
    rates = np.where(np.arange(made.cables) % 3 == 0, 1, 2).astype(np.uint16)
    return made.replace(
        rates=("", "4xEDR", "4xHDR"),
        cable_rate=rates,
        host_rate=np.full(made.hosts, 2, dtype=np.uint16),
        routes=contend.load(spec, route="spray").routes,
    )


@pytest.mark.parametrize("spec", UNEVEN)
def test_uneven_fabrics_of_several_speeds_by_the_definition(spec: str) -> None:
    for seed in range(3):
        fabric = _uneven(spec, seed)
        drawn = parse("bisect", fabric.hosts)
        found = simulate(fabric, drawn, placement="linear", samples=2, seed=seed)
        rate = np.repeat(capacities(fabric).cable, 2) / capacities(fabric).host[0]
        loads = np.zeros(2 * fabric.cables)
        for sample in range(2):
            pairs = drawn_pairs(drawn, 0, seed=seed, sample=sample)
            crossed = [sprayed(fabric, *pair) for pair in pairs]
            load, pi = counted(fabric, pairs, sprayed)
            loads += load
            shares = [min([1, *(rate[c] / load[c] for c in each)]) for each in crossed]
            assert found.bandwidth[sample] == pytest.approx(np.mean(shares), rel=1e-12)
            assert found.mean_congestion[sample] == pytest.approx(pi.mean(), abs=PART)
        assert found.channel_load[: 2 * fabric.cables] == pytest.approx(loads / 2, abs=PART)


def test_two_flows_meet_on_half_a_leaf_s_cables() -> None:
    """Four hosts of a leaf send over two cables up: each carries two messages, and 1/pi is 1/2."""
    fabric = contend.load("xgft:2;4,2;1,2", route="spray")
    found = simulate(fabric, "shift:4", placement="linear")
    assert found.exhaustive
    assert found.effective_bandwidth.mean == pytest.approx(0.5)
    assert found.channel_load[: 2 * fabric.cables] == pytest.approx(2)
    # Two bins for the value 2, each message more having 20.
    assert found.bins_of_message == 20
    assert np.flatnonzero(found.histogram).tolist() == [40]


@pytest.mark.parametrize("spec", ["xgft:2;4,4;1,4", "dragonfly:2,4,2"])
@pytest.mark.parametrize("flows", [1, 3, 32])
def test_flows_by_the_ways_that_hashes_choose(spec: str, flows: int) -> None:
    """A channel carries 1/Q of a message for each of its Q flows; a message meets the fullest."""
    fabric = contend.load(spec, route=f"ecmp,flows={flows}")
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    resolver = make_resolver(fabric, hosts, follows=Ways.DRAWN | Ways.SPLIT)
    assert (resolver.unit, resolver.bins_of_message) == (flows, min(flows, 20))
    seed, shift = 3, parse("shift:5", fabric.hosts)
    found = simulate(fabric, shift, placement="linear", samples=4, seed=seed)
    source, target = shift.messages()
    for sample in range(4):
        draw = (seed * 0x9E3779B97F4A7C15 + sample) % (1 << 64)
        routes = resolver.routes(source, target, draw)
        load = np.bincount(routes.ravel(), minlength=2 * fabric.cables + 64) / flows
        load[2 * fabric.cables :] = 0
        pi = np.maximum(load[routes].max(axis=1), 1)
        assert found.bandwidth[sample] == pytest.approx((1 / pi).mean())
        assert found.max_congestion[sample] == pytest.approx(pi.max())


def test_more_flows_come_nearer_to_spraying() -> None:
    """The guide has for fattree2:32 (one-way, mean 1/π) 68.3, 81.9, 96.5 and 100 % (+- 0.5)."""
    expected = {"ecmp": 0.683, "ecmp,flows=4": 0.819, "ecmp,flows=16": 0.965, "spray": 1.0}
    for route, share in expected.items():
        found = simulate(contend.load("fattree2:32", route=route), "bisect", samples=400)
        assert found.effective_bandwidth.mean == pytest.approx(share, abs=0.006)


@pytest.mark.parametrize(("route", "ways"), [("ecmp,seed=shared", 2), ("ecmp", 4)])
def test_switches_that_hash_alike_use_a_part_of_the_tree(route: str, ways: int) -> None:
    """Who leaves by the first of two ports up leaves the next switch by the first again."""
    fabric = contend.load("xgft:3;2,2,2;1,2,2", route=route)
    resolver = make_resolver(fabric, np.arange(8, dtype=np.uint32), follows=Ways.DRAWN)
    far = np.zeros(1, dtype=np.uint32), np.full(1, 7, dtype=np.uint32)
    chosen = {tuple(resolver.routes(*far, draw)[0, :2].tolist()) for draw in range(200)}
    assert len(chosen) == ways


@pytest.mark.parametrize("spec", ["xgft:3;2,2,3;1,2,2", "torus:3x4", "random:8,3,2,1"])
def test_who_uses_a_channel_by_the_definition(spec: str) -> None:
    """Of a sprayed message the part that crosses the channel counts, by both of its hosts."""
    fabric = contend.load(spec, route="spray")
    drawn = parse("shift:3", fabric.hosts)
    source, target = drawn.messages(0)
    every = [(a, b) for a in range(fabric.hosts) for b in range(fabric.hosts) if a != b]
    chosen = range(2 * fabric.cables)[:64]
    found = simulate(fabric, drawn, placement="linear", channels=list(chosen))
    assert [user.channel for user in found.channels] == list(chosen)
    sums = {
        "sources": zip(source.tolist(), target.tolist(), strict=True),
        "source_routes": iter(every),
    }
    for by_source, pairs in sums.items():
        expected = np.zeros((2, 2 * fabric.cables, fabric.hosts))
        for a, b in pairs:
            for channel, share in sprayed(fabric, a, b).items():
                expected[0, channel, a] += share
                expected[1, channel, b] += share
        by_target = by_source.replace("source", "target")
        for number, column in enumerate((by_source, by_target)):
            rows = np.array([getattr(user, column) for user in found.channels])
            assert rows == pytest.approx(expected[number, :64], abs=1e-4)


def test_who_uses_a_channel_by_some_of_several_flows() -> None:
    """Two of three flows over one of two cables: two thirds of the message count there."""
    fabric = contend.load("xgft:2;2,2;1,2", route="ecmp,flows=3")
    resolver = make_resolver(fabric, np.arange(4, dtype=np.uint32), follows=Ways.DRAWN | Ways.SPLIT)
    found = simulate(fabric, "shift:2", placement="linear", samples=1, seed=5, channels=range(8))
    routes = resolver.routes(*parse("shift:2", 4).messages(0), 5 * 0x9E3779B97F4A7C15 % (1 << 64))
    for user in found.channels:
        assert user.sources == pytest.approx((routes == user.channel).sum(axis=1) / 3)


def test_counters_beside_sprayed_messages() -> None:
    """Every cable of a whole tree has the same share of what all carry."""
    fabric = contend.load("xgft:2;4,4;1,2", route="spray")
    simulation = simulate(fabric, "shift:4", placement="linear")
    sent = np.append(np.full(2 * fabric.cables, 7.0), np.full(2 * fabric.hosts, np.nan))
    carried = Carried(fabric, sent, np.full_like(sent, np.nan), None, 16, 0, 0, 0, {}, 0, 0)
    beside = BesideCounters.of(simulation, carried)
    shares = [(channel.predicted, channel.share) for channel in beside.channels]
    assert np.array(shares) == pytest.approx(np.full((16, 2), 1 / 16))


def test_what_follows_messages_one_by_one_says_so() -> None:
    fabric = contend.load("xgft:2;4,4;1,2", route="spray")
    with pytest.raises(UsageError, match="several paths at once, and this follows each along one"):
        phases_by_routes(fabric, range(16))
