"""Jobs on a fabric: where they sit, whom they hurt, and where the next one should go."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from contend.base.errors import InputError, UsageError
from contend.congestion import PacketModel, Queues, simulate
from contend.cure import JobCost, Jobs
from contend.cure import jobs as look_at_jobs
from contend.cure.running.next_job import choose_next
from contend.cure.servers import Servers
from contend.fabric import Fabric, server_names, without
from contend.routes import compute, load, mended
from contend.traffic.placement import ListedJob
from counting import congestion


def fabric() -> Fabric:
    """Four leaves of four hosts, node1 to node4 on the first, and two switches above."""
    made = load("xgft:2;4,4;1,2", route="minhop")
    return made.replace(host_name=tuple(f"node{host + 1}" for host in range(16)))


def job(name: str, *hosts: int, runs: bool = True) -> ListedJob:
    return ListedJob(name, "", tuple(f"node{host}" for host in hosts), runs)


def judged(*jobs: ListedJob, following: int | None = None, **options: object) -> Jobs:
    return look_at_jobs(fabric(), jobs, following=following, **options)  # type: ignore[arg-type]


def test_packets_hold_up_a_job_that_shares_no_cable_with_their_own() -> None:
    """One switch above; a and t share the cable up, and t the one down to leaf 4 with b1 and b2.

    A third of that cable is left for t, and what a sends behind t's packets gets no more. Without
    b1 both get a half. By counting a gets a half of its cable with or without b1.
    """
    made = load("xgft:2;4,4;1,1", route="minhop")
    made = made.replace(host_name=tuple(f"node{host + 1}" for host in range(16)))
    jobs = [job("a", 1, 12), job("t", 2, 13), job("b1", 5, 14), job("b2", 9, 15)]
    found = look_at_jobs(made, jobs, pattern="pipeline", packets=PacketModel.of())
    told = {(one.job, one.queues): one for one in found.packets.jobs}
    held = {(one.job, one.by, one.queues): one for one in found.packets.held_up}
    for queues in Queues:
        assert told["a", queues].alone == pytest.approx(1, abs=0.01)
        assert told["a", queues].beside == pytest.approx(1 / 3, abs=0.01)
        assert told["a", queues].counted == pytest.approx(1 / 2)
        stranger, neighbour = held["a", "b1", queues], held["t", "b1", queues]
        assert (stranger.loss, neighbour.loss) == pytest.approx((1 / 6, 1 / 6), abs=0.01)
        assert (stranger.counted, neighbour.counted) == pytest.approx((0, 1 / 6))
        assert (stranger.shares, neighbour.shares) == (False, True)
        assert stranger.name == 'switch "leaf 1" port 5 -> switch "top 1" port 1'
    assert ", with which it never shares a cable, by counting 0.0" in found.verdict
    assert look_at_jobs(made, jobs, pattern="pipeline").packets is None


def test_leaves_and_the_fewest() -> None:
    found = judged(
        # Two leaves of which one has three free, and its own two hosts.
        job("two leaves", 1, 5),
        job("one leaf", 2, 3),
        # Six hosts need two leaves with what is free: node4, 6 to 8, and the last leaf's 13 to 16.
        job("scattered", 9, 10, 11, 12, 13, 14),
    )
    leaves = [(one.leaves, one.fewest_leaves) for one in found.jobs]
    assert leaves == [(2, 1), (1, 1), (2, 2)]
    assert found.free == 16 - 10


def test_who_hurts_whom() -> None:
    """Two jobs between the same two leaves, a third within a leaf, a fourth of one host."""
    found = judged(job("a", 1, 5), job("b", 2, 6), job("c", 9, 10), job("d", 11))
    a, b, c, d = found.jobs
    assert a.alone == b.alone == c.alone == c.beside == 1
    assert not c.loses
    assert (d.alone, d.beside, d.sends) == (None, None, False)
    # Destination tables send both over one cable or over two: then nobody loses.
    together = judged(job("a", 1, 5, 2, 6), job("b", 3, 7, 4, 8))
    [harm] = together.pairs
    assert (harm.jobs, harm.places) == (("a", "b"), (0, 1))
    for one, loss in zip(together.jobs, harm.losses, strict=True):
        # Nobody else runs: what one loses to the other is all that it loses.
        assert one.loss == pytest.approx(loss)
        assert one.loses
        assert (one.alone or 0) - (one.beside or 0) == pytest.approx(loss)
    assert harm.channels == len(harm.most)
    assert sum(lost.part for lost in harm.most) == pytest.approx(1)
    assert together.to_frame("pairs")["jobs"].to_list() == [["a", "b"]]
    frame = together.to_frame()
    assert frame["beside"].to_list() == [one.beside for one in together.jobs]
    assert frame["servers"].to_list() == [4, 4]


def test_jobs_that_do_not_run_send_nothing_and_keep_their_hosts() -> None:
    found = judged(job("a", 1, 5, 2, 6), job("ending", 3, 7, 4, 8, runs=False))
    assert found.pairs == ()
    assert found.free == 8
    assert found.jobs[1].alone is None


def test_unknown_hosts_are_left_out() -> None:
    found = judged(job("a", 1, 2, 99), job("b", 98, 97))
    assert found.jobs[0].unknown == ("node99",)
    assert found.jobs[0].numbers.tolist() == [0, 1]
    assert found.jobs[1].servers == 0
    assert found.jobs[1].alone is None
    with pytest.raises(InputError, match=r'hosts of .*, got "node98" and none that it has'):
        judged(job("b", 98, 97))


def test_no_jobs() -> None:
    found = judged(following=4)
    assert found.jobs == ()
    # All on one leaf, which is what the first free ones are.
    assert found.next.best.leaves == 1
    assert found.next.best.alone == found.next.best.beside == 1
    assert found.next.best.cost == 0
    assert found.next.best.worst_job is None


def test_a_leaf_of_its_own_is_best() -> None:
    """Every leaf but the last is half taken by a job of its own; four are wanted."""
    found = judged(job("a", 1, 2, 5, 6, 9, 10), following=4)
    following = found.next
    assert following.first.servers == ("node3", "node4", "node7", "node8")
    assert following.best.servers == ("node13", "node14", "node15", "node16")
    assert (following.best.leaves, following.fewest_leaves) == (1, 1)
    assert following.best.beside == 1
    assert following.best.cost == 0
    assert following.first.beside < 1
    assert following.first.cost > 0
    assert following.first.worst_job == "a"
    assert following.gain > following.margin


def test_excluded_hosts_are_not_taken() -> None:
    found = judged(job("a", 1, 2, 5, 6, 9, 10), following=4, hosts="!node16")
    assert "node16" not in found.next.best.servers
    assert found.free == 9
    with pytest.raises(UsageError, match="next: 9 servers are free, expected 10"):
        judged(job("a", 1, 2, 5, 6, 9, 10), following=10, hosts="!node16")
    with pytest.raises(UsageError, match="next: expected at least 2 servers"):
        judged(following=1)


def test_as_good_as_every_choice_that_there_is() -> None:
    """All 70 choices of four from eight free hosts, judged by the samples of the search."""
    net = fabric()
    servers = Servers(net)
    running = [np.array(hosts, np.uint32) for hosts in ([0, 4, 8, 12], [1, 5, 9, 13])]
    free = [server for server in range(16) if server % 4 > 1]
    chosen = choose_next(net, servers, free, running, 4, "bisect", 24, 1)

    def worth(hosts: tuple[int, ...]) -> float:
        names = ",".join(net.host_name[host] for host in hosts)
        one = look_at_jobs(
            net,
            [*(job(str(n), *(hosts + 1)) for n, hosts in enumerate(running))],
            following=4,
            hosts=names,
            samples=24,
        )
        return one.next.best.beside * 4 - one.next.best.cost * 8

    best = max(worth(hosts) for hosts in combinations(free, 4))
    # Its own samples chose it: by others it may be a little behind.
    assert chosen.best.beside * 4 - chosen.best.cost * 8 >= best - 0.1


def test_servers_with_several_rails() -> None:
    """A server's two ports hang on two leaves, one a rail."""
    names = [f"n{server} mlx5_{rail}" for rail in (0, 1) for server in range(4)]
    net = load("xgft:2;4,2;1,2", route="minhop").replace(host_name=tuple(names))
    found = look_at_jobs(net, [ListedJob("a", "", ("n0", "n2"))], following=2)
    [one] = found.jobs
    assert (one.servers, len(one.hosts), one.leaves, one.fewest_leaves) == (2, 4, 2, 2)
    assert found.next.best.servers == ("n1", "n3")
    assert len(found.next.best.hosts) == 4
    # Messages stay within rails, which hang on a leaf each: nothing is shared.
    assert (found.within_rails, found.traffic) == (True, "rings and all-to-alls within rails")
    assert (one.alone, one.beside, found.next.best.beside) == (1, 1, 1)
    # A pattern that is asked for has a rank on every adapter.
    asked = look_at_jobs(net, [ListedJob("a", "", ("n0", "n2"))], pattern="bisect")
    assert asked.traffic == "bisect"


def interleaved() -> Fabric:
    """Two units of eight servers with four rails; n01, n03, ... are on one, n02, n04, ... on the
    other."""
    made = load("rails:2,8,4,2", route="minhop")
    unit, number = np.divmod(np.arange(64) // 4, 8)
    servers = 2 * number + unit + 1
    return made.replace(
        host_name=tuple(
            f"n{s:02} mlx5_{rail}" for s, rail in zip(servers, [*range(4)] * 16, strict=True)
        )
    )


def ring_share(net: Fabric, order: tuple[str, ...]) -> float:
    """What messages of a ring on every rail get, the servers in this order, by a simulation."""
    number = {name: host for host, name in enumerate(net.host_name)}
    hosts = [number[f"{server} mlx5_{rail}"] for server in order for rail in range(4)]
    return simulate(net, "4 * ring", placement=hosts).effective_bandwidth.mean


def test_the_order_of_ranks_is_one_for_rings_within_rails() -> None:
    """Twelve servers, more than a unit has. By name every message of a ring goes to the other unit,
    six from a leaf over two cables: 1/3. In the best order two messages of each rail do."""
    net = interleaved()
    found = look_at_jobs(net, [], following=12)
    assert (found.rails, found.pattern) == (4, "ring, shifts")
    best, first = found.next.best, found.next.first
    assert first.order == first.servers == tuple(f"n{number:02}" for number in range(1, 13))
    assert first.rings == pytest.approx(ring_share(net, first.order)) == pytest.approx(1 / 3)
    assert sorted(best.order) == list(best.servers) != list(best.order)
    assert best.rings == pytest.approx(ring_share(net, best.order)) == 1
    assert ring_share(net, best.servers) < 0.7
    assert best.all_to_alls is not None
    assert first.all_to_alls is not None
    # A step of an all-to-all waits for its slowest message: some wait longer in this order, but all
    # in all it is the better one.
    assert best.beside > first.beside
    assert best.beside == pytest.approx((1 + best.all_to_alls) / 2)
    names = list(best.hosts)
    assert names == [f"{server} mlx5_{rail}" for server in best.order for rail in range(4)]
    # A pattern that is asked for is sent alone, and ranks stay in the order of names.
    asked = look_at_jobs(net, [], following=12, pattern="bisect").next
    assert asked.best.order == asked.best.servers
    assert asked.best.rings is asked.best.all_to_alls is None


@pytest.mark.parametrize("route", ["ecmp", "spray", "valiant", "adaptive"])
def test_an_order_for_rings_where_no_tables_tell_the_routes(route: str) -> None:
    """By any routes one message of each rail leaves a leaf, and by name all six over two cables."""
    net = compute(interleaved().replace(routes=None), route)
    found = look_at_jobs(net, [], following=12, samples=20).next
    assert ring_share(net, found.best.order) > 1.5 * ring_share(net, found.first.order)
    assert found.best.rings == pytest.approx(ring_share(net, found.best.order), rel=0.2)
    assert found.best.beside > found.first.beside


def test_all_to_alls_of_all_jobs_at_once_are_the_worst_case() -> None:
    """Four jobs of a server in each unit: every message crosses, and each host has one."""
    net = interleaved()
    asked = {f"job {n}": [f"n{2 * n + 1:02}", f"n{2 * n + 2:02}"] for n in range(4)}
    number = {name: host for host, name in enumerate(net.host_name)}
    messages = [
        (number[f"{source} mlx5_{rail}"], number[f"{target} mlx5_{rail}"])
        for both in asked.values()
        for source, target in (both, both[::-1])
        for rail in range(4)
    ]
    slowest = np.array(congestion(net, messages)).reshape(4, 8).max(axis=1)
    found = look_at_jobs(net, asked, samples=20).jobs
    assert [one.all_at_once for one in found] == pytest.approx((1 / slowest).tolist())
    assert min(slowest) > 1
    alone = look_at_jobs(net, {"alone": asked["job 0"]}, samples=20).jobs[0]
    assert alone.all_at_once == alone.all_to_alls == 1
    # Of all eight adapters of two servers, whose four on a leaf have two cables up.
    given = look_at_jobs(net, asked, pattern="bisect").jobs[0]
    assert given.rings is None
    assert given.all_at_once < 1


def test_jobs_on_rails_send_rings_and_all_to_alls_alike_often() -> None:
    net = interleaved()
    found = look_at_jobs(net, {"a": ["n01", "n02", "n03", "n04"], "b": ["n05", "n06"]}, samples=7)
    assert found.samples == 8
    job = found.jobs[0]
    assert job.rings is not None
    assert job.all_to_alls is not None
    assert job.beside == pytest.approx((job.rings + job.all_to_alls) / 2)
    # Both messages of a ring of two cross to the other unit, as its all-to-all's.
    assert found.jobs[1].alone == 1
    # The ring of four by name: two from each leaf over two cables, which tables may give both.
    assert ring_share(net, ("n01", "n02", "n03", "n04")) <= 1


def test_whole_servers_of_the_usual_kind_are_chosen_on_rails() -> None:
    """Server n16 lacks an adapter, so rings do not go through it."""
    net = interleaved()
    names = [name if name != "n16 mlx5_3" else "login" for name in net.host_name]
    system = net.host_system_guid.copy()
    system[names.index("login")] = 0
    found = look_at_jobs(
        net.replace(host_name=tuple(names), host_system_guid=system), [], following=15
    )
    assert found.free == 15
    assert "n16" not in found.next.best.servers
    with pytest.raises(UsageError, match="next: 15 servers are free, expected 16"):
        look_at_jobs(net.replace(host_name=tuple(names), host_system_guid=system), [], following=16)


def test_servers_of_one_adapter_know_no_rails() -> None:
    assert judged(job("a", 1, 2, 5, 6), following=3).traffic == "bisect"


def test_the_same_seed_says_the_same() -> None:
    one, other = (judged(job("a", 1, 2, 5, 6), following=3, seed=7) for _ in range(2))
    assert one.next.best.servers == other.next.best.servers
    assert one.to_frame().equals(other.to_frame())


@pytest.mark.parametrize("seed", range(8))
def test_never_worse_than_the_first_free_servers(seed: int) -> None:
    """Two samples choose badly and judge badly; what chance chose must still not lose."""
    chance = np.random.default_rng(seed).permutation(16) + 1
    running = [job("a", *chance[:4]), job("b", *chance[4:9])]
    following = judged(*running, following=4, samples=2, seed=seed).next
    assert following.gain >= 0
    if following.gain == 0:
        assert following.best.beside * 4 - following.best.cost * 9 == pytest.approx(
            following.first.beside * 4 - following.first.cost * 9
        )


@pytest.mark.parametrize(("count", "leaves"), [(1, 1), (3, 1), (4, 2), (5, 2), (6, 3)])
def test_leaves_are_filled_from_the_fullest(count: int, leaves: int) -> None:
    """Two of these servers hang on the first leaf, three on the second, one on the third."""
    assert Servers(fabric()).fewest_leaves(count, [0, 1, 4, 5, 6, 8]) == leaves


def _without(*parts: str, whole: Fabric | None = None) -> Fabric:
    """What is left of the fabric, its tables mended."""
    whole = whole or fabric()
    return mended(whole, without(whole, parts))[0]


def _costs(rest: Fabric, *jobs: ListedJob, whole: Fabric | None = None) -> dict[str, JobCost]:
    found = look_at_jobs(rest, jobs, whole=whole or fabric(), samples=20)
    return {cost.job: cost for cost in found.costs}


def test_who_stops_and_who_loses_servers_where_a_leaf_is_off() -> None:
    """Hosts 5 to 8 hang on leaf 2."""
    jobs = (job("a", 5, 6, 7, 8), job("b", 1, 2, 5, 9), job("c", 10, 14))
    found = _costs(_without("leaf 2"), *jobs)
    said = {name: (cost.servers, cost.lost, cost.stops) for name, cost in found.items()}
    assert said == {"a": (4, 4, True), "b": (4, 1, False), "c": (2, 0, False)}
    assert [name for name, cost in found.items() if cost.pays] == ["a", "b"]
    # What b's hosts that are left get on the whole network, and not what all four get there.
    alone = look_at_jobs(fabric(), (job("b", 1, 2, 9), job("c", 10, 14)), samples=20)
    assert found["b"].before == alone.jobs[0].beside
    assert look_at_jobs(_without("leaf 2"), jobs, whole=fabric()).jobs[0].unknown == ()


def test_who_slows_down_where_a_spine_is_off() -> None:
    """Four hosts of two leaves each send to the other leaf: by one cable instead of two."""
    jobs = (job("wide", *range(1, 9)), job("near", 9, 10))
    found = _costs(_without("top 1"), *jobs)
    wide, near = found["wide"], found["near"]
    assert wide.before is not None
    assert wide.after is not None
    assert wide.loss == wide.before - wide.after > 0
    assert (near.loss, near.pays, near.before) == (0, False, 1)


def test_who_loses_a_rail() -> None:
    """Eight servers of two adapters, a leaf for each rail, of which one is off."""
    made = load("rails:1,8,2,2", route="minhop")
    leaf = made.switch_name[int(made.host_switch[0])]
    jobs = tuple(
        ListedJob(name, "", tuple(dict.fromkeys(server_names(made)[host] for host in hosts)))
        for name, hosts in (("a", range(8)), ("b", range(8, 16)))
    )
    found = _costs(_without(leaf, whole=made), *jobs, whole=made)
    for cost in found.values():
        assert (cost.lost, cost.stops, cost.pays) == (0, False, True)
        [hit] = cost.rails
        assert (hit.servers, hit.lost, hit.rails) == (4, 1, 2)


def test_costs_are_told_where_every_job_stops() -> None:
    found = _costs(_without("leaf 2"), job("a", 5, 6))
    assert found["a"].stops
    with pytest.raises(InputError, match='"nobody" and none that it has'):
        _costs(_without("leaf 2"), ListedJob("a", "", ("nobody",)))
