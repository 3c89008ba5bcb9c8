"""What changes of a network did to its hosts, on fabrics whose changes are known."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.congestion import collectives, simulate
from contend.cure import NetworkChanges, Outcome, StateOfRoutes, diff
from contend.fabric import Fabric, build, make, without
from contend.routes import compute
from small_fabrics import of_cables


def _routed(without: tuple[str, ...] = (), of: str = "xgft:2;2,3;1,2") -> Fabric:
    return contend.load(of, route="contend", without=without)


def _shares(found: NetworkChanges) -> dict[str, tuple[float | None, float | None, str]]:
    return {one.name: (one.before, one.after, str(one.outcome)) for one in found.shares}


def test_the_same_network_is_the_same_in_everything() -> None:
    found = diff(_routed(), _routed())
    assert found.outcome == Outcome.SAME
    assert {one.outcome for one in found.shares} == {Outcome.SAME}
    assert found.routes_before == found.routes_after == StateOfRoutes(lost=0, can_deadlock=False)


@pytest.mark.parametrize("part", ["leaf 2", "host 3"])
def test_who_loses_hosts_is_worse_though_the_others_get_more(part: str) -> None:
    """A leaf that is down, or one host: the mean over all that are left rises, and is no gain."""
    old, new = _routed(), _routed((part,))
    found = diff(old, new)
    lost = 2 if part == "leaf 2" else 1
    assert (found.hosts_lost, found.hosts_compared) == (lost, 6 - lost)
    assert found.outcome in (Outcome.WORSE, Outcome.MIXED)
    whole = simulate(old, "bisect", seed=1).effective_bandwidth.mean
    assert simulate(new, "bisect", seed=1).effective_bandwidth.mean > whole
    # Those that both have send the same in both states.
    kept = [before for before, _ in found.difference.hosts]
    alone = simulate(old, "bisect", placement="random", hosts=kept, seed=1)
    assert found.bandwidth_before == pytest.approx(alone.effective_bandwidth.mean)
    assert diff(new, old).outcome in (Outcome.BETTER, Outcome.MIXED)


def test_a_lost_cable_shows_where_random_pairs_hide_it() -> None:
    """Four leaves of four hosts, one of the 16 cables gone: 3 of 4 uplinks carry four hosts."""
    old, new = (_routed(gone, "xgft:2;4,4;1,4") for gone in ((), ("leaf 2:5",)))
    found = diff(old, new)
    assert found.outcome == Outcome.WORSE
    shares = _shares(found)
    shift = [collectives(one).operations[3].share for one in (old, new)]
    exchange = [simulate(one, "alltoall", placement="linear").each_host for one in (old, new)]
    shares_of_exchange = [one.share for one in exchange if one is not None]
    for name, (before, after) in (
        ("all-to-all at once", shares_of_exchange),
        ("the worst shift", shift),
    ):
        assert after < before
        assert shares[name] == (pytest.approx(before), pytest.approx(after), "worse")
    assert diff(new, old).outcome == Outcome.BETTER


def test_what_gains_here_and_loses_there_is_mixed() -> None:
    """By minhop some get more than by dmodk, whose worst shift is free of congestion."""
    old, new = (contend.load("chic", route=engine) for engine in ("minhop", "dmodk"))
    assert diff(old, new).outcome == Outcome.BETTER
    smaller = contend.load("chic", route="dmodk", without=["host 1"])
    found = diff(old, smaller)
    assert (found.outcome, found.hosts_lost) == (Outcome.MIXED, 1)


def test_hosts_that_are_there_and_reach_nobody_make_it_worse() -> None:
    """The tables are those of before; both cables of a leaf have died."""
    old = _routed()
    leaf = old.switch_name.index("leaf 2")
    found = diff(old, of_cables(old, (old.cable_from != leaf) & (old.cable_to != leaf)))
    assert (found.hosts_lost, found.outcome) == (0, Outcome.WORSE)
    # Two hosts to and from the other four.
    assert found.routes_after == StateOfRoutes(lost=16, can_deadlock=False)
    assert found.not_counted != ""


def test_a_circle_of_waiting_channels_is_worse() -> None:
    ring = make("ring:5;1")
    found = diff(compute(ring, "contend"), compute(ring, "minhop"))
    assert (found.routes_before, found.routes_after) == (
        StateOfRoutes(lost=0, can_deadlock=False),
        StateOfRoutes(lost=0, can_deadlock=True),
    )
    assert found.outcome in (Outcome.WORSE, Outcome.MIXED)


@pytest.mark.parametrize(
    ("name", "host"), [("xgft:2;2,4;1,2", "host 3"), ("rails:2,2,2,2;1", "server 2 rail 1")]
)
def test_a_port_of_half_its_rate_halves_what_waits_for_it(name: str, host: str) -> None:
    """Of what ports allow now nobody gets less; all that it takes part in takes twice as long."""
    old = contend.load(name, route="minhop")
    rates = np.where(np.array(old.host_name) == host, len(old.rates), old.host_rate)
    new = old.replace(rates=(*old.rates, "2xHDR"), host_rate=rates.astype(old.host_rate.dtype))
    for states, outcome in (((old, new), Outcome.WORSE), ((new, old), Outcome.BETTER)):
        found = diff(*states)
        assert found.outcome == outcome
        ring = next(one for one in found.shares if one.name == "a step of a ring")
        assert ring.before == pytest.approx(1)
        assert ring.after == pytest.approx(0.5 if outcome == Outcome.WORSE else 2, rel=1e-5)
        pairs = found.shares[0]
        assert pairs.outcome == outcome
        assert pairs.after == found.bandwidth_after


def test_servers_that_lose_a_rail_are_told() -> None:
    """Four servers of two adapters each on a leaf of their rail."""
    rails = build(
        "rails",
        host_name=[f"gpu{n} mlx5_{rail}" for n in range(4) for rail in range(2)],
        host_switch=np.array([0, 1] * 4, dtype=np.uint32),
        host_port=np.repeat(np.arange(1, 5), 2).astype(np.uint16),
        switch_name=["rail0", "rail1", "spine"],
        switch_ports=16,
        cables=np.array([[0, 9, 2, 1], [1, 9, 2, 2]], dtype=np.uint32),
    )
    old = compute(rails, "minhop")
    found = diff(old, compute(without(rails, ["rail1"]).fabric, "minhop"))
    [hit] = found.servers
    assert (hit.servers, hit.lost, hit.rails) == (4, 1, 2)
    assert found.outcome == Outcome.WORSE


def test_without_routes_only_lost_hosts_are_judged() -> None:
    tree = make("xgft:2;2,3;1,2")
    assert diff(tree, tree).outcome is None
    assert diff(tree, contend.load("xgft:2;2,3;1,2", without=["leaf 2"])).outcome == "worse"


def test_jobs_decide_too() -> None:
    """A spine less: the job across leaves slows down, the one within a leaf does not."""
    old, new = _routed(of="xgft:2;4,4;1,2"), _routed(("top 1",), "xgft:2;4,4;1,2")
    names = old.host_name
    found = diff(old, new, jobs={"wide": names[:8], "near": names[8:10]})
    assert [(cost.job, cost.pays) for cost in found.jobs] == [("wide", True), ("near", False)]
    assert found.outcome == Outcome.WORSE
