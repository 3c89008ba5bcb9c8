"""Messages that split as is best beside all others, held to exact linear programmes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import contend
from contend.base.errors import UsageError
from contend.base.units import rate_of
from contend.congestion import JobMessages, Newcomer, fair_share, judge_jobs, simulate
from contend.cure import place
from contend.fabric import Fabric
from contend.traffic.pattern import parse
from exact_shares import exact_rates
from several_ways import drawn_pairs

_SPECS = (
    "xgft:2;4,4;1,2",
    "xgft:2;8,8;1,3",
    "xgft:3;4,4,4;1,2,2",
    "dragonfly:4,2,2",
    "torus:4x4;2",
    "hyperx:4x4;4",
)


def _pairs(fabric: Fabric, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random pairs; of odd seeds to any host, so that some share ports; of even ones both ways."""
    random = np.random.default_rng(seed)
    first, second = np.array_split(random.permutation(fabric.hosts // 2 * 2), 2)
    if seed % 2 == 0:
        return np.concatenate([first, second]), np.concatenate([second, first])
    to = random.integers(0, fabric.hosts, len(first))
    return first[first != to], to[first != to]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spec", _SPECS)
def test_shares_are_those_of_exact_programmes(spec: str, seed: int) -> None:
    fabric = contend.load(spec, route="adaptive")
    source, target = _pairs(fabric, seed)
    exact = exact_rates(fabric, list(zip(source.tolist(), target.tolist(), strict=True)))
    exact /= rate_of("4xHDR")
    found = fair_share(fabric, source, target)
    assert found.mean() == pytest.approx(exact.mean(), rel=0.01)
    # Single shares: nearly all within a part of a hundred, and none far away.
    off = np.abs(found / exact - 1)
    assert np.mean(off) < 0.006
    assert off.max() < 0.1


@pytest.mark.parametrize("seed", [14, 22])
def test_bounds_that_meet_stop_only_who_is_held_up(seed: int) -> None:
    """The first trunk is full at a third, and what proves it meets what is found to the last digit:
    all that crosses other trunks is raised on, as the exact programme raises it."""
    fabric = contend.load("dragonfly:3,6,3", route="adaptive")
    pairs = np.random.default_rng(seed).permutation(fabric.hosts).reshape(2, -1)
    exact = exact_rates(fabric, list(zip(*pairs.tolist(), strict=True))) / rate_of("4xHDR")
    found = fair_share(fabric, *pairs)
    assert exact.mean() > 0.75
    assert np.abs(found / exact - 1).max() < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_slow_cables(seed: int) -> None:
    """Messages keep clear of what is slow; two ports are slow as well."""
    whole = contend.load("xgft:2;6,6;1,4")
    random = np.random.default_rng(seed)
    fabric = whole.replace(
        rates=("4xHDR", "4xEDR", "4xQDR"),
        cable_rate=random.integers(0, 3, whole.cables).astype(np.uint16),
        host_rate=np.where(np.arange(whole.hosts) < 2, 1, 0).astype(np.uint16),
    )
    routed = contend.routes.compute(fabric, "adaptive")
    source, target = _pairs(routed, 2 * seed)
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    port = np.array([rate_of(fabric.rates[index]) for index in fabric.host_rate])
    exact = exact_rates(routed, pairs) / np.minimum(port[source], port[target])
    found = fair_share(routed, source, target)
    assert found.mean() == pytest.approx(exact.mean(), rel=0.01)
    assert np.abs(found / exact - 1).max() < 0.05
    evenly = simulate(contend.routes.compute(fabric, "spray"), "bisect", samples=20)
    ideal = simulate(routed, "bisect", samples=20)
    assert ideal.effective_bandwidth.mean > 1.05 * evenly.effective_bandwidth.mean


@pytest.mark.parametrize("pattern", ["bisect", "shift:3", "uniform", "alltoall"])
def test_a_simulation_averages_the_shares_of_its_messages(pattern: str) -> None:
    fabric = contend.load("xgft:2;6,6;1,4", route="adaptive", without=["top 1:2"])
    drawn = parse(pattern, fabric.hosts)
    found = simulate(fabric, drawn, placement="linear", samples=2, seed=7)
    for sample in range(found.samples):
        of_rounds = []
        for number in range(drawn.rounds):
            pairs = drawn_pairs(drawn, number, seed=7, sample=sample)
            if pairs:
                of_rounds.append(fair_share(fabric, *np.array(pairs).T).mean())
        assert found.bandwidth[sample] == pytest.approx(np.mean(of_rounds), abs=0.001)


def test_more_than_sprayed_and_at_most_what_cuts_let_through() -> None:
    """Two of six spines lack a cable: ideal switches send less by these, sprayed packets do not."""
    options = {"without": ["top 1:2", "top 2:3"]}
    ideal, sprayed = (
        simulate(contend.load("xgft:2;6,6;1,4", route=route, **options), "bisect", samples=60)
        for route in ("adaptive", "spray")
    )
    assert (ideal.bandwidth >= sprayed.bandwidth - 0.002).all()
    assert ideal.effective_bandwidth.mean > sprayed.effective_bandwidth.mean + 0.01


def test_more_than_sprayed_where_bounds_stay_apart() -> None:
    """A railed cluster that lacks four cables takes too many steps to be solved to the end."""
    gone = ["unit 2 leaf 4:25", "unit 3 leaf 6:23", "unit 5 leaf 1:27", "unit 7 leaf 8:30"]
    ideal, sprayed = (
        simulate(contend.load("rails:7,20,8,10", route=route, without=gone), "bisect", samples=2)
        for route in ("adaptive", "spray")
    )
    assert 1 < ideal.gap < 1.06
    assert (ideal.bandwidth >= sprayed.bandwidth).all()


def test_who_shares_a_port_with_one_that_is_held_up_gets_the_rest() -> None:
    """Host 0 sends to two; one of these gets from three more: a fourth, so the other three."""
    fabric = contend.load("xgft:2;8,2;1,8", route="adaptive")
    found = fair_share(fabric, [0, 0, 1, 2, 3], [9, 8, 8, 8, 8])
    assert found == pytest.approx([0.75, 0.25, 0.25, 0.25, 0.25], abs=0.001)


def test_spines_of_a_complete_tree_give_what_the_leaves_pass() -> None:
    """8 messages leave a leaf by 3 cables, and 4 by theirs: 3/8 and 3/4, to the last digit."""
    fabric = contend.load("xgft:2;8,4;1,3", route="adaptive")
    source = np.concatenate([np.arange(8), np.arange(8, 12)])
    target = np.concatenate([np.arange(16, 24), np.arange(24, 28)])
    found = fair_share(fabric, source, target)
    assert found == pytest.approx([3 / 8] * 8 + [3 / 4] * 4, rel=0.003)


@pytest.mark.parametrize("spec", ["xgft:2;6,6;1,4", "torus:3x4", "dragonfly:4,2,2"])
def test_who_uses_a_channel_by_the_splits_that_are_solved(spec: str) -> None:
    """A cable is dead. The parts of a channel's users come to its load, which is kept rounded."""
    whole = contend.load(spec)
    fabric = contend.load(spec, route="adaptive", without=[whole.channel_name(0).split(" -> ")[0]])
    found = simulate(
        fabric,
        "uniform",
        placement="linear",
        samples=3,
        seed=2,
        channels=range(2 * fabric.cables)[:64],
    )
    for user in found.channels:
        load = found.channel_load[user.channel]
        assert user.sources.sum() == pytest.approx(load, abs=2e-3)
        assert user.targets.sum() == pytest.approx(load, abs=2e-3)


@pytest.mark.parametrize("spec", ["xgft:2;6,6;1,4", "xgft:3;3,3,2;1,2,2", "torus:3x4"])
def test_parts_are_flows_that_carry_the_shares(spec: str) -> None:
    """At every switch as much of a message leaves as comes in; no channel is overfull."""
    whole = contend.load(spec)
    without = f"{whole.switch_label[int(whole.cable_from[0])]}:{int(whole.cable_from_port[0])}"
    fabric = contend.load(spec, route="adaptive", without=[without])
    every = np.arange(fabric.hosts, dtype=np.uint32)
    messages = JobMessages(fabric, [every], pattern="permutation", seed=3)
    sent = messages.sent(range(2))
    share, split = messages.solve(sent, sent.sample, parts=True)
    between = 2 * fabric.cables
    ends = np.stack((fabric.cable_from, fabric.cable_to), axis=1)
    begins, leads = ends.ravel(), ends[:, ::-1].ravel()
    for sample in range(2):
        carried = np.zeros(messages.channels + 1)
        pairs = []
        for row in np.flatnonzero(sent.sample == sample).tolist():
            source, target = (sent.crossed[row, -2:] - [between, between + fabric.hosts]).tolist()
            pairs.append((source, target))
            net = np.zeros(fabric.switches)
            for channel, part in zip(split.crossed[row], split.part[row], strict=True):
                carried[channel] += part * share[row]
                if channel < between:
                    net[begins[channel]] += part
                    net[leads[channel]] -= part
            net[fabric.host_switch[source]] -= 1
            net[fabric.host_switch[target]] += 1
            assert net == pytest.approx(np.zeros(fabric.switches), abs=1e-9)
        # What is solved is near: within some hundredths of what a channel carries.
        assert carried[:-1].max() <= 1.05
        exact = exact_rates(fabric, pairs) / rate_of("4xHDR")
        assert share[sent.sample == sample].mean() == pytest.approx(exact.mean(), rel=0.01)


def test_jobs_share_by_exact_programmes() -> None:
    """Two jobs between four leaves of which one lacks a cable: alone, and beside each other."""
    fabric = contend.load("xgft:2;4,4;1,2", route="adaptive", without=["top 1:2"])
    jobs = [np.array(hosts, np.uint32) for hosts in ([0, 4, 8, 1, 5], [2, 6, 10, 3, 7])]
    found = judge_jobs(fabric, jobs, pattern="permutation", samples=6, seed=4)
    messages = JobMessages(fabric, jobs, pattern="permutation", seed=4)
    sent = messages.sent(range(6))
    first = messages.channels - 2 * len(messages.hosts)
    ends = messages.hosts[sent.crossed[:, -2:] - first - np.array([0, len(messages.hosts)])]
    lost = np.zeros((2, 6))
    for sample in range(6):
        rows = [np.flatnonzero((sent.sample == sample) & (sent.job == job)) for job in (0, 1)]
        both = np.concatenate(rows)
        exact = exact_rates(fabric, [tuple(pair) for pair in ends[both].tolist()]) / 25e9
        shares = np.split(exact, [len(rows[0])])
        for job in (0, 1):
            own = exact_rates(fabric, [tuple(pair) for pair in ends[rows[job]].tolist()]) / 25e9
            assert found.alone[job, sample] == pytest.approx(own.mean(), rel=0.01)
            assert found.beside[job, sample] == pytest.approx(shares[job].mean(), rel=0.01)
            lost[job, sample] = own.mean() - shares[job].mean()
    assert lost.mean() > 0.02
    # Nobody else runs: what each loses to the other is what it loses.
    for pair in found.pairs:
        assert pair.loss == pytest.approx(lost[pair.victim].mean(), abs=0.01)
        assert sum(part for _, part in pair.channels) == pytest.approx(1)
    assert {(pair.victim, pair.rival) for pair in found.pairs} == {(0, 1), (1, 0)}


def test_jobs_that_share_no_link_lose_nothing() -> None:
    fabric = contend.load("xgft:2;4,4;1,2", route="adaptive")
    jobs = [np.array(hosts, np.uint32) for hosts in ([0, 1, 4], [8, 9, 12])]
    found = judge_jobs(fabric, jobs, pattern="ring", samples=4)
    assert found.pairs == ()
    assert found.alone.tolist() == found.beside.tolist()


def test_the_next_job_beside_others_is_judged_by_solved_rounds() -> None:
    fabric = contend.load("xgft:2;4,4;1,2", route="adaptive", without=["top 1:2"])
    running, new = np.array([0, 4, 1, 5], np.uint32), np.array([2, 6, 3, 7], np.uint32)
    messages = JobMessages(fabric, [running], others=new)
    alone, beside, losses = Newcomer(messages, 1, range(12)).judge(new)
    after = judge_jobs(fabric, [running, new], samples=12)
    assert alone == pytest.approx(after.alone[1])
    assert beside == pytest.approx(after.beside[1])
    assert losses[0] == pytest.approx(after.alone[0] - after.beside[0])
    assert losses.mean() > 0


@pytest.mark.parametrize("alike", [True, False])
def test_seats_are_judged_by_solved_rounds(alike: bool, tmp_path: Path) -> None:
    """All hosts of a leaf send to the next by 2 of 3 cables: the exact share tells the time."""
    fabric = contend.load("xgft:2;4,4;1,3", route="adaptive", without=["top 1:2"])
    matrix = np.zeros((16, 16), dtype=int)
    for rank in range(16):
        matrix[rank, (rank + 4) % 16] = 1_000_000
    matrix[0, 4] -= 0 if alike else 1
    np.save(tmp_path / "bytes.npy", matrix)
    better = place(str(tmp_path / "bytes.npy"), fabric)
    exact = exact_rates(fabric, [(rank, (rank + 4) % 16) for rank in range(16)])
    assert better.before.busy == pytest.approx(1e6 / exact.min(), rel=0.02)
    slow = (25e9 / exact).mean()
    assert better.before.mean_congestion == pytest.approx(slow, rel=0.01)
    # Four hops, but three of messages within a leaf; none are.
    assert better.before.hop_bytes == pytest.approx(4 * 16e6, rel=1e-5)
    assert better.after.busy == pytest.approx(1e6 / 25e9, rel=0.02)
    assert "searched by spray, judged by adaptive" in better.remarks


def test_who_looks_at_each_message_by_itself_refuses() -> None:
    fabric = contend.load("xgft:2;4,4;1,2", route="adaptive")
    with pytest.raises(UsageError, match="depending on all the others"):
        contend.message_congestion(fabric, [0], [5])
    with pytest.raises(UsageError, match="no further LIDs"):
        simulate(fabric, "bisect", spread=True)
    # By load: which part goes round is not told of each message.
    by_load = contend.load("xgft:2;4,4;1,2", route="ugal")
    with pytest.raises(UsageError, match=r"depending on all the others.*such as spray"):
        simulate(by_load, "bisect", channels=["hottest"])
