from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import contend
from contend.base.errors import UsageError
from contend.congestion import (
    PhasedTraffic,
    draw_patterns,
    fair_share,
    judge_seats,
    message_congestion,
    message_shares,
    seat_ranks,
    simulate,
)
from contend.fabric import Fabric
from contend.routes import HashedRoutes, Ways, compute, engine_names, load, make_resolver, save
from contend.routes.routes import tables_of
from contend.traffic.schedule import (
    Cables,
    Costs,
    Exchange,
    MessageClass,
    alltoall,
    carry_out,
    phases_by_routes,
)
from small_fabrics import by_hand

SHIFT = "shift:2"
_HOSTS = [f"h{number}" for number in range(128)]


def ecmp(name: str) -> Fabric:
    return load(name, route="ecmp")


def test_every_route_is_a_shortest_path() -> None:
    """Of a tree of three levels: as long as those of minhop, and without a gap."""
    fabric = ecmp("xgft:3;2,2,3;1,2,2")
    hashed = make_resolver(fabric, np.arange(fabric.hosts, dtype=np.uint32), follows=Ways.DRAWN)
    tabled = make_resolver(compute(fabric, "minhop"), np.arange(fabric.hosts, dtype=np.uint32))
    source, target = np.nonzero(~np.eye(fabric.hosts, dtype=bool))
    ends = source.astype(np.uint32), target.astype(np.uint32)
    routes, lengths = hashed.routes(*ends, 0), []
    for route, end, start in zip(routes.tolist(), target.tolist(), source.tolist(), strict=True):
        crossed = [channel for channel in route if channel < 2 * fabric.cables]
        at = int(fabric.host_switch[start])
        for channel in crossed:
            near, far = fabric.cable_from[channel // 2], fabric.cable_to[channel // 2]
            assert at == (far if channel % 2 else near)
            at = int(near if channel % 2 else far)
        assert at == fabric.host_switch[end]
        lengths.append(len(crossed))
    of_tables = (tabled.routes(*ends, 0) < 2 * fabric.cables).sum(axis=1)
    assert lengths == of_tables.tolist()
    assert np.array_equal(hashed.routes(*ends, 0), routes)


def test_two_messages_over_two_spines_meet_in_half_of_the_draws() -> None:
    """2 hosts on each of 2 leaves below 2 spines, all sending across: each of the two channels up
    is taken with probability 1/2, so a message shares it, or none, each in half of the draws: the
    mean of 1/pi is (1 + 1/2) / 2 where up and down channels agree, as they do below two spines."""
    fabric = ecmp("xgft:2;2,2;1,2")
    result = simulate(fabric, SHIFT, placement="linear", samples=20_000, seed=5)
    assert not result.exhaustive
    assert result.samples == 20_000
    assert result.effective_bandwidth.mean == pytest.approx(0.75, abs=0.01)
    share = np.asarray(result.histogram, dtype=float) / sum(result.histogram)
    assert share[1] == pytest.approx(0.5, abs=0.02)


def _taken(fabric: Fabric) -> NDArray[np.int64]:
    """How many routes from 64 hosts to 64 others begin with each channel."""
    hosts = np.arange(128, dtype=np.uint32)
    resolver = make_resolver(compute(fabric, "ecmp"), hosts, follows=Ways.DRAWN)
    source, target = (grid.ravel().astype(np.uint32) for grid in np.mgrid[0:64, 64:128])
    return np.bincount(resolver.routes(source, target, 0)[:, 0], minlength=2 * fabric.cables)


def test_a_neighbour_with_two_cables_is_twice_as_likely() -> None:
    """Two cables up to one spine and one to another: each of the three carries a third, to 5
    deviations; a hash among neighbours would give a quarter, a quarter and a half."""
    fabric = by_hand(
        "uneven",
        [_HOSTS[:64], _HOSTS[64:], [], []],
        [(0, 70, 2, 1), (0, 71, 2, 2), (0, 72, 3, 1), (2, 3, 1, 70), (2, 4, 1, 71), (3, 2, 1, 72)],
    )
    taken = _taken(fabric)
    expected, deviation = 4096 / 3, (4096 * 2 / 9) ** 0.5
    assert taken[[0, 2, 4]] == pytest.approx(expected, abs=5 * deviation)


def test_parallel_cables_are_each_as_likely() -> None:
    """Two cables join two switches: of many hosts' routes each carries half, to 5 deviations."""
    fabric = by_hand(
        "pair",
        [_HOSTS[:64], _HOSTS[64:]],
        [(0, 70, 1, 70), (0, 71, 1, 71), (1, 73, 0, 73), (0, 72, 1, 72)],
    )
    taken = _taken(fabric)
    expected, deviation = 4096 / 4, (4096 * 3 / 16) ** 0.5
    assert taken[[0, 2, 5, 6]] == pytest.approx(expected, abs=5 * deviation)
    assert taken.sum() == 4096


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    fabric = ecmp("xgft:2;4,4;1,4")
    first, again, other = (
        simulate(fabric, SHIFT, placement="linear", samples=500, seed=seed, threads=threads)
        for seed, threads in ((3, 1), (3, 2), (4, 1))
    )
    assert np.array_equal(first.channel_load, again.channel_load)
    assert not np.array_equal(first.channel_load, other.channel_load)
    assert abs(first.effective_bandwidth.mean - other.effective_bandwidth.mean) < 0.02


def test_messages_of_samples_take_the_draws_that_the_simulation_counts() -> None:
    fabric = ecmp("xgft:2;4,4;1,2")
    counted = simulate(fabric, "bisect", placement="linear", samples=40, seed=6)
    patterns = draw_patterns(fabric, "bisect", placement="linear", seed=6, count=40)
    congestion = message_shares(fabric, patterns)["congestion"].to_numpy()
    histogram = np.bincount(congestion, minlength=len(counted.histogram))
    assert histogram.tolist() == np.asarray(counted.histogram).tolist()


def test_a_draw_is_the_same_for_all_that_ask_for_it() -> None:
    fabric = ecmp("xgft:2;4,4;1,4")
    source, target = np.arange(16), (np.arange(16) + 5) % 16
    first, again, other = (
        message_congestion(fabric, source, target, draw=draw).channel_messages for draw in (7, 7, 8)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    shares = [fair_share(fabric, source, target, draw=draw).tolist() for draw in (7, 7, 8)]
    assert shares[0] == shares[1] != shares[2]


def test_next_hops_are_those_that_draws_take() -> None:
    """Over many draws routes cross every channel that may be crossed, and no other."""
    fabric = ecmp("xgft:3;2,2,2;1,2,2")
    hops = fabric.routes.next_hops(fabric, np.arange(fabric.hosts, dtype=np.uint32))
    leaves = fabric.host_switch
    crossed: set[int] = set()
    for draw in range(200):
        found = message_congestion(fabric, [0], [7], draw=draw).channel_messages
        crossed |= set(np.flatnonzero(found[: 2 * fabric.cables]).tolist())
    assert crossed == set(hops.between(int(leaves[0]), int(leaves[7])))
    assert len(crossed) == 2 + 4 + 4 + 2
    assert hops.channels(int(leaves[0]), int(leaves[0])) == []


@pytest.mark.parametrize(
    "use",
    [
        tables_of,
        lambda fabric: fabric.path(0, 1),
        lambda fabric: save(fabric, Path("unwritten.fabric")),
        lambda fabric: save(fabric, Path("unwritten.dot")),
    ],
)
def test_what_needs_tables_says_so(use: Callable[[Fabric], object]) -> None:
    with pytest.raises(UsageError, match="routes by ecmp have no tables"):
        use(ecmp("xgft:2;2,2;1,2"))
    assert not Path("unwritten.fabric").exists()


_PAIR = PhasedTraffic(
    2,
    1,
    np.zeros(1, dtype=np.uint32),
    np.zeros(1, dtype=np.uint32),
    np.ones(1, dtype=np.uint32),
    np.ones(1),
)


def _carry_out(fabric: Fabric) -> object:
    price = MessageClass(float("inf"))
    schedule = alltoall("shift", Exchange(4, 1000))
    return carry_out(fabric, schedule, range(4), Cables(rate=1e6), Costs([price], [price]))


@pytest.mark.parametrize(
    "use",
    [
        lambda fabric: contend.hotspot(fabric, 1),
        lambda fabric: judge_seats(fabric, _PAIR, [0, 3]),
        lambda fabric: seat_ranks(fabric, _PAIR, [0, 3], [1, 1], [np.array([0, 3])]),
        lambda fabric: phases_by_routes(fabric, [0, 1, 2, 3]),
        _carry_out,
        lambda fabric: contend.fluid_times(fabric, [0], [3]),
        lambda fabric: contend.congestion.channel_bytes(fabric, [0], [3], [1]),
    ],
)
def test_what_one_drawing_would_stand_for_is_refused(use: Callable[[Fabric], object]) -> None:
    message = "^routes by ecmp are drawn anew for every sample, and this needs fixed routes: "
    with pytest.raises(UsageError, match=message):
        use(ecmp("xgft:2;2,2;1,2"))


@pytest.mark.parametrize("judge", [message_congestion, fair_share])
def test_messages_need_a_drawing(judge: Callable[..., object]) -> None:
    fabric = ecmp("xgft:2;2,2;1,2")
    with pytest.raises(UsageError, match="choose one drawing with draw=NUMBER"):
        judge(fabric, [0], [3])
    judge(fabric, [0], [3], draw=0)
    judge(fabric.route("minhop"), [0], [3])


def test_every_kind_of_routes_says_whether_it_is_drawn() -> None:
    """Outside the routes nobody asks for a kind."""
    assert ecmp("fig1").draws_routes
    assert not load("fig1", route="minhop").draws_routes
    assert not load("fig1").draws_routes
    root = Path(contend.__file__).parent
    naming = {
        path.relative_to(root).parts[0]
        for path in root.rglob("*.py")
        if re.search(r"isinstance\([^)]*(HashedRoutes|ForwardingTables)", path.read_text())
    }
    assert naming <= {"routes"}


def test_hosts_without_a_way_are_named() -> None:
    fabric = by_hand("parts", [["a"], ["b"]], switches=["left", "right"])
    expected = 'host "a" cannot be reached from switch "right", which has no way there'
    with pytest.raises(UsageError, match=expected):
        make_resolver(compute(fabric, "ecmp"), np.arange(2, dtype=np.uint32), follows=Ways.DRAWN)


def test_counting_every_outcome_is_refused() -> None:
    with pytest.raises(UsageError, match="draw samples instead"):
        simulate(ecmp("xgft:2;2,2;1,2"), SHIFT, placement="linear", exhaustive=True)
    assert "ecmp" in engine_names()
    assert isinstance(ecmp("fig1").routes, HashedRoutes)
