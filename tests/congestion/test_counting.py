"""Drawn samples: seeds, threads, batches, and the figures known for real fabrics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.base.errors import ContendError, UsageError
from contend.congestion import SimulationInterrupted, simulate
from contend.routes import load
from contend.traffic.pattern import Pattern, parse
from contend.traffic.placement import Placement
from contend.traffic.placement import parse as place
from small_fabrics import crossbar, fat_tree, ring, routed, torus

TREE = routed(fat_tree(4, 4, 2))
EIGHT = routed(fat_tree(4, 2, 1))


def test_a_sample_is_the_same_in_a_longer_run() -> None:
    short = simulate(TREE, "bisect", samples=50, seed=9)
    long = simulate(TREE, "bisect", samples=80, seed=9)
    assert np.array_equal(short.bandwidth, long.bandwidth[:50])


def test_seeds_differ() -> None:
    one, other = (simulate(TREE, "bisect", samples=50, seed=seed) for seed in (1, 2))
    assert not np.array_equal(one.bandwidth, other.bandwidth)


@pytest.mark.parametrize(
    ("spec", "route", "patterns"),
    [
        ("xgft:2;4,4;1,2", "minhop", ("bisect", "tree", "shifts", "alltoall", "bisect:two-way")),
        ("xgft:2;6,6;1,3", "spray", ("alltoall", "bisect", "shifts", "bisect:two-way")),
        ("xgft:2;6,6;1,3", "ecmp,flows=3", ("alltoall", "bisect", "shifts", "bisect:two-way")),
        ("xgft:2;8,8;1,3", "adaptive", ("uniform", "bisect:two-way")),
        ("dragonfly:2,4,2", "valiant", ("alltoall", "bisect")),
        ("dragonfly:2,4,2", "valiant,by=groups", ("alltoall", "bisect")),
        ("dragonfly:2,4,2", "ugal,by=groups", ("alltoall", "bisect")),
    ],
)
@pytest.mark.parametrize("slow", [False, True], ids=["links alike", "slow cables"])
def test_threads_change_nothing(
    spec: str, route: str, patterns: tuple[str, ...], slow: bool
) -> None:
    fabric = load(spec, route=route)
    if slow:
        rates = np.where(np.arange(fabric.cables) % 3, 1, 2).astype(np.uint16)
        fabric = fabric.replace(rates=("", "4xHDR", "4xEDR"), cable_rate=rates)
    for pattern in patterns:
        asked: dict[str, Any] = {"ranks": 15, "samples": 40, "seed": 4}
        one, three = (simulate(fabric, pattern, threads=count, **asked) for count in (1, 3))
        for name in (
            *("bandwidth", "mean_congestion", "max_congestion", "round_mean_congestion"),
            *("histogram", "channel_load", "pair_bandwidth"),
        ):
            assert np.array_equal(getattr(one, name), getattr(three, name)), (pattern, name)
        assert one.effective_bandwidth == three.effective_bandwidth


def test_progress_is_told() -> None:
    calls: list[tuple[int, int]] = []
    found = simulate(
        TREE, "bisect", samples=100_000, progress=lambda *call: calls.append(call), threads=1
    )
    done = [done for done, _ in calls]
    assert done == sorted(done)
    assert calls[-1] == (found.samples, 100_000)


def test_all_to_all_on_a_crossbar_gets_one_over_the_others() -> None:
    """p - 1 messages share every injection and ejection: 1/(p-1)."""
    found = simulate(routed(crossbar(9)), "alltoall")
    assert found.effective_bandwidth.mean == pytest.approx(1 / 8)
    assert found.histogram.tolist() == [0] * 8 + [72]


def test_neighbours_are_scaled() -> None:
    """6 neighbours on a crossbar: 1/6 each at the ends, times 6 is the whole link."""
    found = simulate(routed(crossbar(12)), "neighbour:6")
    assert found.scale == 6
    assert found.effective_bandwidth.mean == pytest.approx(1 / 6)
    assert found.scale * found.effective_bandwidth.mean == pytest.approx(1)


def test_two_patterns_at_once() -> None:
    """Each on its half of a ring of 8: shifts by one within a half, alone and with the other."""
    fabric = routed(ring(8, 1))
    both = simulate(fabric, "pipeline & pipeline", placement="linear")
    assert both.messages == 6
    assert both.effective_bandwidth.mean == 1
    third = simulate(fabric, "gather@25% & pipeline", placement="linear")
    assert third.messages == 1 + 5


def test_rounds_without_messages_are_not_averaged(tmp_path: Path) -> None:
    """Round 1 is a message to oneself only: the means are those of round 0."""
    file = tmp_path / "rounds.csv"
    file.write_text("round,source,target\n0,0,8\n0,1,10\n1,2,2\n")
    found = simulate(routed(ring(4, 4)), f"file:{file}", placement="linear")
    assert found.mean_congestion.tolist() == [2]
    assert found.histogram.tolist() == [1, 0, 2]
    assert found.round_mean_congestion.tolist() == [2, 0]


def test_weights_count_in_the_averages(tmp_path: Path) -> None:
    """Two messages of 10 bytes share a channel, one of 60 is alone: (20/2 + 60) / 80."""
    file = tmp_path / "weights.csv"
    file.write_text("source,target,bytes\n0,8,10\n1,10,10\n4,5,60\n")
    found = simulate(routed(ring(4, 4)), f"file:{file}", placement="linear")
    assert found.effective_bandwidth.mean == pytest.approx(70 / 80)


def test_huge_weights_do_not_overflow(tmp_path: Path) -> None:
    """10^15 bytes a message, times messages and samples, is beyond 64 bits."""
    file = tmp_path / "weights.csv"
    rows = [f"{s},{s + 8},{10**15 - 1}" for s in range(8)] + ["0,9,1"]
    file.write_text("source,target,bytes\n" + "\n".join(rows) + "\n")
    found = simulate(TREE, f"file:{file}", samples=20_000)
    shares = found.histogram / found.histogram.sum()
    # What one sample says must be what all say, on average.
    mean_pi = (shares * np.arange(len(shares))).sum()
    assert mean_pi == pytest.approx(found.rounds.mean_mean, rel=1e-6)


def test_bytes_are_not_messages(tmp_path: Path) -> None:
    file = tmp_path / "weights.csv"
    file.write_text("round,source,target,bytes\n0,0,8,10\n0,1,9,500\n3,4,4,60\n")
    assert simulate(TREE, f"file:{file}", samples=7).messages == 3 * 7


def test_ranks_that_share_a_host() -> None:
    """Two ranks a host on a crossbar, every rank to the next: half stay, the others are alone."""
    found = simulate(routed(crossbar(4)), "ring", placement="linear", ranks_per_host=2)
    assert found.ranks == 8
    assert found.histogram.tolist() == [4, 4]
    shared = simulate(routed(crossbar(4)), "shift:2", placement="linear", ranks_per_host=2)
    assert shared.histogram.tolist() == [0, 0, 8]


def test_host_file_with_slots(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("host-2 slots=2\nhost-0\n")
    fabric = routed(crossbar(4)).replace(host_name=tuple(f"host-{h}" for h in range(4)))
    found = simulate(fabric, "gather", placement=f"file:{hosts}")
    # Ranks 0 and 1 on host 2, rank 2 on host 0: one message stays, one is alone.
    assert found.ranks == 3
    assert found.histogram.tolist() == [1, 1]
    used = np.flatnonzero(found.channel_load)
    assert used.tolist() == [0, 4 + 2]


@pytest.mark.parametrize("placement", ["linear", "guid", "bfs", "round-robin", "random"])
def test_every_placement_runs(placement: str) -> None:
    found = simulate(TREE, "ring", placement=placement, samples=20)
    assert found.placement == placement
    assert found.samples == (20 if placement == "random" else 1)


def test_fewer_ranks_than_hosts_sit_anywhere() -> None:
    """Two ranks on 16 hosts: under a random placement every host sends now and then."""
    found = simulate(TREE, "bisect", ranks=2, samples=500)
    injection = found.channel_load[2 * TREE.cables : 2 * TREE.cables + TREE.hosts]
    # Host channels are counted only where they are shared; the leaves' uplinks are used evenly.
    assert not injection.any()
    uplinks = found.channel_load[: 2 * TREE.cables]
    assert (uplinks > 0).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples": 0}, "samples: expected at least 1, got 0"),
        ({"precision": 0.0}, "precision: expected a share between"),
        ({"precision": 1.0}, "precision: expected a share between"),
        ({"precision": float("nan")}, "precision: expected a share between"),
        ({"ranks": 0}, "ranks: expected 1 to 16, which have a host"),
        ({"ranks": 17}, "ranks: expected 1 to 16, which have a host"),
        ({"ranks_per_host": 0}, "at least 1"),
        ({"ranks_per_host": 10**9}, "ranks"),
        ({"ranks_per_host": 10**12}, "ranks"),
        ({"threads": 0}, "at least 1 thread"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"pattern": "nothing"}, "pattern nothing"),
        ({"placement": "nowhere"}, "placement"),
        ({"hosts": "17"}, "hosts"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ContendError, match=message) as caught:
        simulate(TREE, **{"samples": 10, **settings})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("settings", [{"hosts": "3"}, {"ranks_per_host": 2}])
def test_placement_that_is_made_already_takes_no_hosts(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="already says which host every rank sits on"):
        simulate(TREE, placement=place("linear", TREE), **settings)


def test_fabric_without_routes() -> None:
    with pytest.raises(UsageError, match="has no routes"):
        simulate(torus((3, 3)), "bisect")


@pytest.mark.parametrize(
    ("fabric", "expected", "weighed"), [("compute", 0.569, 0.569), ("storage", 0.471, 0.608)]
)
def test_selene(shared_data: Path, fabric: str, expected: float, weighed: float) -> None:
    """Random bisects on a real machine, mean of 1/pi; as others counted: 56.9 % and 47.1 %.

    A quarter of the storage fabric's hosts have 4xEDR ports between switches of 4xHDR: of what such
    a port carries their messages get more than of the others'.
    """
    loaded = load(
        str(shared_data / f"selene.{fabric}.ibnetdiscover.xz"),
        routes=str(shared_data / f"selene.{fabric}.minhop.opensm-lfts.xz"),
    )
    found = simulate(loaded, "bisect", samples=400, equal_rates=True)
    assert found.effective_bandwidth.mean == pytest.approx(expected, abs=0.003)
    found = simulate(loaded, "bisect", samples=400)
    assert found.effective_bandwidth.mean == pytest.approx(weighed, abs=0.003)


def test_round_averages_agree_with_the_averages_of_samples() -> None:
    """Two hosts of two ranks: in some samples both pairs stay at home, which count as free.

    One round, so the average by round is the average over samples, to the unit of the sums.
    """
    found = simulate(TREE, "bisect", ranks=4, ranks_per_host=2, placement="random", samples=400)
    silent = int((found.max_congestion == 1).sum())
    assert 0 < silent < 400
    assert found.round_mean_congestion[0] == pytest.approx(found.rounds.mean_mean, abs=1e-5)
    assert found.round_max_congestion[0] == pytest.approx(found.rounds.mean_max)


def test_a_round_is_averaged_over_the_samples_in_which_it_speaks() -> None:
    """Round 0 is 0 -> 1, on one host in some samples: where it speaks it is alone, pi = 1."""
    pattern = Pattern.from_messages([([0], [1]), ([0, 1], [2, 2])], ranks=3)
    hosts = [0, 0, 1, 1, 2, 2]
    placed = Placement("pairs", np.array(hosts, dtype=np.uint32), random=True)
    found = simulate(TREE, pattern, placement=placed, samples=300)
    stays = found.histogram[0]
    assert 0 < stays < 300
    assert found.round_mean_congestion[0] == pytest.approx(1)
    assert found.round_max_congestion[0] == 1


@pytest.mark.parametrize(
    ("pattern", "messages"),
    [
        ("bisect", 16),
        ("shifts", 15 * 16),
        ("alltoall", 16 * 16),
        ("alltoall & bisect", 8 * 8 + 8),
        ("neighbour:6", 6 * 16),
    ],
)
def test_batches_are_planned_by_messages_whatever_the_name(pattern: str, messages: int) -> None:
    assert parse(pattern, 16).core.messages_expected == messages


def test_a_composed_all_to_all_comes_in_short_batches() -> None:
    """2 * 200^2 messages over two channels are 209 samples a batch; by ranks it was 41,943."""
    told: list[int] = []
    simulate(
        routed(fat_tree(20, 20, 4)),
        "alltoall & alltoall",
        samples=400,
        threads=2,
        progress=lambda done, _: told.append(done),
    )
    assert told == [209, 400]


def test_interrupted_simulation_keeps_what_it_has() -> None:
    """An interrupt at the second batch leaves the samples of both."""

    def interrupt(done: int, _: int) -> None:
        if done > 65_536:
            raise KeyboardInterrupt

    with pytest.raises(SimulationInterrupted) as caught:
        simulate(TREE, "bisect", samples=200_000, progress=interrupt)
    found = caught.value.simulation
    whole = simulate(TREE, "bisect", samples=131_072)
    assert found.samples == 131_072
    assert found.effective_bandwidth.mean == whole.effective_bandwidth.mean
    assert isinstance(caught.value, KeyboardInterrupt)


def test_results_know_their_fabric() -> None:
    found = simulate(TREE, "bisect", samples=20)
    assert found.fabric is TREE
    assert found.to_frame()["bandwidth"].to_list() == found.bandwidth.tolist()
    frame = found.to_frame("channels")
    assert frame["load"][0] == found.channel_load.max()
    assert (frame["source"][0], frame["target"][0]) == TREE.channel_ends(frame["channel"][0])
    with pytest.raises(UsageError, match="without its fabric"):
        replace(found, fabric=TREE.as_told()).to_frame("channels")


@pytest.mark.parametrize("settings", [{"samples": 1}, {"samples": 50}, {"pattern": "ring"}])
def test_representation_is_a_line(settings: dict[str, Any]) -> None:
    text = repr(simulate(TREE, **{"placement": "linear", **settings}))
    assert text.startswith("<Simulation of ")
    assert " on fat tree, shortest: " in text
    assert len(text) < 120
    assert "\n" not in text


def test_arrays_are_patterns_and_placements() -> None:
    """Rank i sends to i + 1 on hosts in order, by every way to say so."""
    ring_of_sixteen = np.roll(np.arange(16), -1)
    said = simulate(TREE, "ring", placement="linear")
    names = [TREE.host_name[host] for host in place("linear", TREE).hosts]
    for pattern, placement in (
        (ring_of_sixteen, "linear"),
        (np.stack([ring_of_sixteen]), place("linear", TREE).hosts),
        (Pattern.from_destinations(ring_of_sixteen), names),
    ):
        found = simulate(TREE, pattern, placement=placement)
        assert found.effective_bandwidth.mean == said.effective_bandwidth.mean
        assert found.channel_load.tolist() == said.channel_load.tolist()


@pytest.mark.parametrize("hosts", [4, "4", [0, 1, 2, 3], ["host 0", "host 1", "host 2", "host 3"]])
def test_hosts_by_number_by_name_and_by_how_many(hosts: Any) -> None:
    found = simulate(TREE, "bisect", hosts=hosts)
    assert found.ranks == 4
    assert (
        found.effective_bandwidth.mean
        == simulate(TREE, "bisect", hosts="4").effective_bandwidth.mean
    )


def test_placement_of_another_fabric() -> None:
    with pytest.raises(UsageError, match=r"has host 15, but fat tree has hosts 0 \.\. 7"):
        simulate(EIGHT, placement=place("linear", TREE), ranks=8)
