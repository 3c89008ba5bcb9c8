"""Jobs side by side, against counting each set of messages by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.units import rate_of
from contend.congestion import (
    JobMessages,
    Newcomer,
    half_width,
    judge_jobs,
    message_congestion,
    simulate,
)
from contend.fabric import Fabric, capacities
from contend.routes import Ways, load
from contend.traffic.pattern import parse
from counting import route
from sample_fabrics import two_leaves
from several_ways import sprayed

SAMPLES = 12


def mixed(route: str = "minhop") -> Fabric:
    """Three leaves under two spines; cables of one spine carry half, some ports a quarter."""
    fabric = load("xgft:2;4,3;1,2", route=route)
    slow = np.where(fabric.cable_to == fabric.cable_to[0], 1, 2).astype(np.uint16)
    ports = np.where(np.arange(fabric.hosts) % 3 == 0, 3, 1).astype(np.uint16)
    return fabric.replace(rates=("", "4xHDR", "4xEDR", "2xEDR"), cable_rate=slow, host_rate=ports)


FABRICS = {
    "alike": load("xgft:2;4,4;1,2", route="minhop"),
    "three levels": load("xgft:3;2,3,3;1,2,2", route="dmodk"),
    "mixed": mixed(),
    "sprayed": load("xgft:3;2,3,3;1,2,2", route="spray"),
    "sprayed over mixed": mixed("spray"),
}


def groups(fabric: Fabric, *sizes: int, seed: int = 3) -> list[NDArray[np.uint32]]:
    """Jobs of so many hosts, scattered."""
    hosts = np.random.default_rng(seed).permutation(fabric.hosts).astype(np.uint32)
    return np.split(hosts, np.cumsum(sizes))[: len(sizes)]


def drawn(
    fabric: Fabric,
    jobs: Sequence[NDArray[np.uint32]],
    pattern: str,
    seed: int,
    rails: bool = False,
) -> list[list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
    """Source and target hosts of every job's messages in every sample, from what they cross."""
    messages = JobMessages(fabric, jobs, pattern=pattern, rails=rails, seed=seed)
    sent = messages.sent(range(SAMPLES))
    number = [[messages.channel_of_fabric(int(c)) for c in row[-2:]] for row in sent.crossed]
    ends = np.array(number).reshape(-1, 2) - 2 * fabric.cables - np.array([0, fabric.hosts])
    cases = []
    for sample in range(SAMPLES):
        here = [(sent.sample == sample) & (sent.job == job) for job in range(len(jobs))]
        cases.append([(ends[chosen, 0], ends[chosen, 1]) for chosen in here])
    return cases


def sprayed_shares(
    fabric: Fabric, source: Sequence[int], target: Sequence[int]
) -> NDArray[np.float64]:
    """By the definition: of all channels with a part of the message the least of rate over load."""
    between = 2 * fabric.cables
    rate = [rate_of(fabric.channel_rate(channel)) or 1.0 for channel in range(fabric.channels)]
    crossed = [
        sprayed(fabric, a, b) | {between + a: 1.0, between + fabric.hosts + b: 1.0}
        for a, b in zip(source, target, strict=True)
    ]
    load = np.zeros(fabric.channels)
    for each in crossed:
        for channel, part in each.items():
            load[channel] += part
    found = []
    for each, a, b in zip(crossed, source, target, strict=True):
        port = min(rate[between + a], rate[between + fabric.hosts + b])
        found.append(min([port, *(rate[channel] / load[channel] for channel in each)]) / port)
    return np.array(found)


def shares(
    fabric: Fabric, parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> list[NDArray[np.float64]]:
    """What the messages of each part get when all are under way."""
    source, target = (np.concatenate([part[end] for part in parts]) for end in (0, 1))
    if fabric.routes is not None and Ways.SPLIT in fabric.routes.ways:
        found = sprayed_shares(fabric, source.tolist(), target.tolist())
    else:
        found = message_congestion(fabric, source, target).bandwidth
    return np.split(found, np.cumsum([len(part[0]) for part in parts])[:-1])


@pytest.mark.parametrize("pattern", ["bisect", "permutation", "shifts", "tree"])
@pytest.mark.parametrize("name", FABRICS)
def test_by_counting_every_set_of_messages(name: str, pattern: str) -> None:
    fabric = FABRICS[name]
    jobs = groups(fabric, 4, 2, 5)
    found = judge_jobs(fabric, jobs, pattern=pattern, samples=SAMPLES, seed=5)
    losses = np.zeros((3, 3, SAMPLES))
    for number, parts in enumerate(drawn(fabric, jobs, pattern, seed=5)):
        together = shares(fabric, parts)
        for job, own in enumerate(parts):
            alone = shares(fabric, [own])[0].mean() if len(own[0]) else 1.0
            assert found.alone[job, number] == pytest.approx(alone)
            beside = together[job].mean() if len(own[0]) else 1.0
            assert found.beside[job, number] == pytest.approx(beside)
            for rival in {0, 1, 2} - {job}:
                if len(own[0]):
                    both = shares(fabric, [own, parts[rival]])[0].mean()
                    losses[job, rival, number] = alone - both
    means = losses.mean(axis=2)
    listed = {(pair.victim, pair.rival): pair for pair in found.pairs}
    for (victim, rival), mean in np.ndenumerate(means):
        if mean < 1e-12:
            assert (victim, rival) not in listed
            continue
        pair = listed[victim, rival]
        assert pair.loss == pytest.approx(mean)
        assert pair.margin == pytest.approx(half_width(losses[victim, rival]))
        assert sum(part for _, part in pair.channels) == pytest.approx(1)


def test_two_jobs_on_one_cable() -> None:
    """Pairs across two leaves with one cable to the top: each loses half where both go one way."""
    fabric = load("xgft:2;2,2;1,1", route="minhop")
    jobs = [np.array([0, 2], np.uint32), np.array([1, 3], np.uint32)]
    found = judge_jobs(fabric, jobs, samples=4000)
    same = found.beside[0] < 1
    assert set(found.beside[0][same]) == {0.5}
    assert np.array_equal(found.beside[0], found.beside[1])
    # One of each two sends, by chance.
    assert 0.45 < same.mean() < 0.55
    for pair in found.pairs:
        assert pair.loss == pytest.approx(0.5 * same.mean())
        # Up, with as much down right after: of channels that cost as much the first counts.
        assert len(pair.channels) == 2
        assert sum(part for _, part in pair.channels) == pytest.approx(1)
        assert all(channel < 2 * fabric.cables for channel, _ in pair.channels)


def test_jobs_that_share_nothing_lose_nothing() -> None:
    found = judge_jobs(two_leaves(), [np.array([0, 2], np.uint32), np.array([1, 3], np.uint32)])
    assert found.pairs == ()
    assert (found.alone == 1).all()
    assert (found.beside == 1).all()


def test_jobs_on_the_same_hosts_share_their_ports() -> None:
    same = np.array([0, 1], np.uint32)
    found = judge_jobs(two_leaves(), [same, same])
    channels = {channel for pair in found.pairs for channel, _ in pair.channels}
    assert min(channels) >= 2 * two_leaves().cables
    assert (found.alone == 1).all()
    assert set(np.unique(found.beside)) == {0.5, 1.0}


def test_rates_in_bytes_per_second() -> None:
    alike = load("xgft:2;2,2;1,1", route="minhop")
    found = judge_jobs(alike, [np.arange(4, dtype=np.uint32)])
    assert found.bytes_per_second[0] == pytest.approx((rate_of("4xHDR") or 0) * found.beside.mean())
    unknown = alike.replace(rates=("", ""))
    assert judge_jobs(unknown, [np.arange(4, dtype=np.uint32)]).bytes_per_second is None


@pytest.mark.parametrize("name", FABRICS)
def test_a_newcomer_costs_what_it_costs_to_judge_it_with_the_others(name: str) -> None:
    fabric = FABRICS[name]
    *running, new = groups(fabric, 4, 2, 3)
    messages = JobMessages(fabric, running, others=new)
    alone, beside, losses = Newcomer(messages, 2, range(SAMPLES)).judge(new)
    before = judge_jobs(fabric, running, samples=SAMPLES).beside
    after = judge_jobs(fabric, [*running, new], samples=SAMPLES)
    assert np.allclose(alone, after.alone[2])
    assert np.allclose(beside, after.beside[2])
    assert np.allclose(losses, before - after.beside[:2])


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = FABRICS["three levels"]
    jobs = groups(fabric, 6, 5, 4)
    whole = judge_jobs(fabric, jobs, pattern="shifts", samples=SAMPLES)
    monkeypatch.setattr("contend.congestion.jobs.messages._CROSSINGS", 300)
    monkeypatch.setattr("contend.congestion.jobs.side_by_side._LOOKS", 3)
    parts = judge_jobs(fabric, jobs, pattern="shifts", samples=SAMPLES)
    assert np.array_equal(whole.beside, parts.beside)
    assert [pair.loss for pair in whole.pairs] == pytest.approx([pair.loss for pair in parts.pairs])
    assert [pair.margin for pair in whole.pairs] == pytest.approx(
        [pair.margin for pair in parts.pairs]
    )


def test_hashed_routes_are_drawn_for_every_sample() -> None:
    """Two hosts below one leaf each, two spines: both jobs take the same spine half of the time."""
    fabric = load("xgft:2;2,2;1,2", route="ecmp")
    jobs = [np.array([0, 2], np.uint32), np.array([1, 3], np.uint32)]
    beside = judge_jobs(fabric, jobs, samples=2000).beside[0]
    # One way, half of the time, and the same spine, half of that.
    assert 0.2 < (beside < 1).mean() < 0.3


def test_what_is_not_drawn_needs_no_samples() -> None:
    found = judge_jobs(FABRICS["alike"], groups(FABRICS["alike"], 4, 4), pattern="ring")
    assert found.alone.shape == (2, 2)


def test_jobs_of_one_size_draw_their_own_patterns() -> None:
    fabric = load("xgft:2;16,2;1,16", route="dmodk")
    jobs = [np.arange(16, dtype=np.uint32), np.arange(16, 32, dtype=np.uint32)]
    first, second = drawn(fabric, jobs, "permutation", seed=1)[0]
    assert not np.array_equal(first[1], second[1] - 16)
    # Of a job the first samples are those that a simulation draws.
    assert np.array_equal(first[1], parse("permutation", 16).messages(seed=1, sample=0)[1])


def railed(*words: str) -> Fabric:
    """Sixteen hosts with these descriptions."""
    return FABRICS["alike"].replace(host_name=words)


def test_within_rails_pairs_of_servers_send_between_adapters_of_one_place() -> None:
    """Bisect halves the four servers: two messages on each rail, none within a server."""
    fabric = railed(*(f"n{host % 4} mlx5_{host // 4}" for host in range(16)))
    job = np.arange(16, dtype=np.uint32)
    pairs = set()
    for [(source, target)] in drawn(fabric, [job], "bisect", 1, rails=True):
        assert len(source) == 8
        assert (source // 4 == target // 4).all()
        assert (source % 4 != target % 4).all()
        # Every rail sends between the same servers.
        assert len({*zip((source % 4).tolist(), (target % 4).tolist(), strict=True)}) == 2
        pairs.update(zip((source % 4).tolist(), (target % 4).tolist(), strict=True))
    assert len(pairs) > 4
    [(source, _)] = drawn(fabric, [job], "shift:1", 1, rails=True)[0]
    assert sorted(source.tolist()) == job.tolist()


def test_of_several_patterns_each_is_sent_as_often() -> None:
    """In two samples a job sends each of two patterns once, which first by chance."""
    fabric, jobs = FABRICS["alike"], groups(FABRICS["alike"], 5, 4, 3)
    found = judge_jobs(fabric, jobs, pattern=("ring", "shift:2"), samples=SAMPLES - 1, seed=5)
    assert found.beside.shape == found.pattern_in.shape == (3, SAMPLES)
    assert (found.pattern_in.reshape(3, -1, 2).sum(axis=2) == 1).all()
    assert 0 < found.pattern_in[:, ::2].mean() < 1
    messages = JobMessages(fabric, jobs, pattern=("ring", "shift:2"), seed=5)
    sent = messages.sent(range(SAMPLES))
    first = messages.channels - 2 * len(messages.hosts)
    for job, hosts in enumerate(jobs):
        for sample, number in enumerate(found.pattern_in[job].tolist()):
            ends = sent.crossed[(sent.job == job) & (sent.sample == sample), -2:] - first
            source, target = (messages.hosts[ends - np.array([0, len(messages.hosts)])]).T
            order = hosts.tolist()
            distance = [
                (order.index(b) - order.index(a)) % len(order)
                for a, b in zip(source.tolist(), target.tolist(), strict=True)
            ]
            assert distance == [1 + number] * len(order)


def test_within_rails_servers_of_one_adapter_send_as_ever() -> None:
    fabric, jobs = FABRICS["alike"], groups(FABRICS["alike"], 5, 4)
    plain, rails = (drawn(fabric, jobs, "bisect", 5, rails=within) for within in (False, True))
    for one, other in zip(plain, rails, strict=True):
        for ends, same in zip(one, other, strict=True):
            assert [end.tolist() for end in ends] == [end.tolist() for end in same]


def test_a_server_that_lacks_a_rail_sends_on_the_others() -> None:
    names = [f"n{host % 4} mlx5_{host // 4}" for host in range(16)]
    # n3 lacks its second adapter: host 7 is another server's.
    names[7] = "login"
    fabric = railed(*names)
    job = np.array([2, 6, 10, 14, 3, 11, 15], np.uint32)
    for [(source, target)] in drawn(fabric, [job], "ring", 1, rails=True):
        ends = sorted(zip(source.tolist(), target.tolist(), strict=True))
        assert ends == [(2, 3), (3, 2), (10, 11), (11, 10), (14, 15), (15, 14)]


def test_servers_without_a_rail_in_common_use_their_first_adapters() -> None:
    names = [f"n{host % 4} mlx5_{host // 4}" for host in range(16)]
    names[3], names[6] = "other", "another"
    fabric = railed(*names)
    # Left are n2 on the first rail and n3 on the second.
    job = np.array([2, 7], np.uint32)
    for [(source, target)] in drawn(fabric, [job], "shift:1", 1, rails=True):
        assert sorted(zip(source.tolist(), target.tolist(), strict=True)) == [(2, 7), (7, 2)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"samples": 1}, "expected at least 2 samples, got 1 sample"),
        ({"seed": -1}, "seed: expected 0 to"),
        ({"pattern": "nothing"}, "pattern nothing: expected one of"),
        ({"pattern": "halo:3x3"}, "pattern halo:3x3: expected a grid of 4 ranks"),
    ],
)
def test_what_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        judge_jobs(FABRICS["alike"], groups(FABRICS["alike"], 4, 2), **changes)  # type: ignore[arg-type]


def test_too_many_messages_are_refused() -> None:
    fabric = load("xgft:2;64,40;1,2", route="dmodk")
    with pytest.raises(UsageError, match="pattern alltoall: expected at most 4,194,304 messages"):
        judge_jobs(fabric, [np.arange(fabric.hosts, dtype=np.uint32)], pattern="alltoall")


def test_more_jobs_than_can_be_compared_are_refused() -> None:
    same = np.array([0, 1], np.uint32)
    with pytest.raises(UsageError, match=r"at most 16,777,216 .*: too many jobs share hosts"):
        judge_jobs(two_leaves(), [same] * 5000, samples=2)
    with pytest.raises(UsageError, match="expected at most 16,384 jobs that send, got 20,000"):
        judge_jobs(two_leaves(), [same] * 20_000, samples=2)


@pytest.mark.parametrize(("flows", "least"), [(1, 0.5), (64, 0.7)])
def test_flows_of_jobs_meet_in_parts(flows: int, least: float) -> None:
    """Two hosts below one leaf each send over two spines: the more flows, the more alike."""
    fabric = load("xgft:2;2,2;1,2", route=f"ecmp,flows={flows}")
    jobs = [np.array([0, 2], np.uint32), np.array([1, 3], np.uint32)]
    found = judge_jobs(fabric, jobs, samples=300)
    assert found.alone == pytest.approx(1)
    assert least <= found.beside.min() < 1
    if flows == 64:
        # Each channel carries whole 64ths, so a message gets 64 over a whole number.
        parts = 64 / found.beside
        assert parts == pytest.approx(np.round(parts))


def test_batches_of_messages_that_split_are_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between leaves of a tree they cross two channels for each of two spines, and two ports."""
    fabric = load("xgft:2;4,4;1,2", route="spray")
    messages = JobMessages(fabric, [np.arange(16, dtype=np.uint32)])
    monkeypatch.setattr("contend.congestion.jobs.messages._CROSSINGS", 16 * 6 * 3)
    assert [len(batch) for batch in messages.batches(7)] == [3, 3, 1]
    monkeypatch.setattr("contend.congestion.jobs.messages._MOST_CROSSINGS", 15 * 6)
    with pytest.raises(UsageError, match="expected at most 15 messages of all jobs at once, got"):
        list(messages.batches(7))


@pytest.mark.parametrize("name", ["alike", "three levels", "mixed"])
def test_jobs_of_several_messages_at_once_wait_for_their_last(name: str) -> None:
    """Three all-to-alls: the time of the busiest channel that a job crosses, counted by hand."""
    fabric = FABRICS[name]
    jobs = groups(fabric, 5, 4, 3)
    capacity = capacities(fabric)
    rate = np.concatenate([np.repeat(capacity.cable, 2), capacity.host, capacity.host])
    pairs = [[(int(a), int(b)) for a in job for b in job if a != b] for job in jobs]

    def takes(own: int, others: Sequence[int]) -> float:
        load = Counter(
            c for job in (own, *others) for pair in pairs[job] for c in route(fabric, *pair)
        )
        return max(load[c] / rate[c] for pair in pairs[own] for c in route(fabric, *pair))

    found = judge_jobs(fabric, jobs, pattern="alltoall", samples=2)
    assert found.waits_for_last.all()
    lost = {(pair.victim, pair.rival): pair.loss for pair in found.pairs}
    for own, job in enumerate(jobs):
        rest = [other for other in range(3) if other != own]
        ports = (len(job) - 1) / capacity.host[job].min()
        assert found.alone[own] == pytest.approx(ports / takes(own, []))
        assert found.beside[own] == pytest.approx(ports / takes(own, rest))
        alone = simulate(fabric, "alltoall", placement=job).each_host
        assert found.alone[own] == pytest.approx(alone.share)
        for rival in rest:
            loss = ports / takes(own, []) - ports / takes(own, [rival])
            assert lost.get((own, rival), 0.0) == pytest.approx(loss, abs=1e-9)
    # A job that comes to the others is judged in the same way, and so is what they lose.
    messages = JobMessages(fabric, jobs[:2], pattern="alltoall", others=jobs[2])
    alone, beside, losses = Newcomer(messages, 2, range(1)).judge(jobs[2])
    assert (alone[0], beside[0]) == pytest.approx((found.alone[2, 0], found.beside[2, 0]))
    ports = (len(jobs[0]) - 1) / capacity.host[jobs[0]].min()
    assert losses[0, 0] == pytest.approx(ports / takes(0, [1]) - ports / takes(0, [1, 2]), abs=1e-9)


def test_jobs_in_patterns_of_their_own_are_each_judged_by_what_they_wait_for() -> None:
    fabric = FABRICS["alike"]
    jobs = groups(fabric, 5, 6, 3)
    found = judge_jobs(fabric, jobs, pattern="shift:1", own={0: "alltoall", 1: "shift:2"})
    assert found.waits_for_last.tolist() == [True, False, False]
    n = len(jobs[0])
    every = np.array([(a, b) for a in range(n) for b in range(n) if a != b])
    sent = [
        (jobs[0][every[:, 0]], jobs[0][every[:, 1]]),
        *((job, np.roll(job, -step)) for job, step in zip(jobs[1:], (2, 1), strict=True)),
    ]
    ends = [np.concatenate(both) for both in zip(*sent, strict=True)]
    together = message_congestion(fabric, *ends).bandwidth
    whose = np.repeat([0, 1, 2], [len(source) for source, _ in sent])
    last = (n - 1) * together[whose == 0].min()
    expected = [last, *(together[whose == job].mean() for job in (1, 2))]
    assert found.beside.mean(axis=1) == pytest.approx(expected, rel=1e-12)
    # Every sample is the same: loads of channels between switches, and whose.
    load: dict[int, Counter[int]] = {}
    for job, source, target in zip(whose.tolist(), *(end.tolist() for end in ends), strict=True):
        for channel in route(fabric, source, target):
            if channel < 2 * fabric.cables:
                load.setdefault(channel, Counter())[job] += 1
    order = sorted(load, key=lambda channel: (-load[channel].total(), channel))
    for (channel, heat, users), hot in zip(found.hottest, order, strict=False):
        assert (channel, heat) == (hot, load[hot].total())
        assert dict(users) == {job: count / heat for job, count in load[hot].items()}


def test_a_slow_port_sets_the_rate_of_all_who_wait_for_it() -> None:
    fabric = load("crossbar:6", route="minhop")
    slow = np.array([1, 1, 2, 1, 1, 1], dtype=np.uint16)
    mixed = fabric.replace(rates=("", "4xHDR", "4xEDR"), host_rate=slow)
    jobs = [np.array([0, 1, 2], dtype=np.uint32), np.array([3, 4, 5], dtype=np.uint32)]
    found = judge_jobs(mixed, jobs, pattern=("alltoall",))
    assert found.waits_for_last.all()
    # The slow port is busy all the time, and nobody is done before.
    assert found.beside.mean(axis=1) == pytest.approx([1, 1])
    assert found.bytes_per_second == pytest.approx([rate_of("4xEDR"), rate_of("4xHDR")])
