"""What hosts get until the last message is done, against a count of every channel by itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from contend.congestion import EACH_HOST, Average, draw_patterns, simulate
from contend.fabric import Fabric, capacities
from contend.routes import compute
from contend.traffic.pattern import Pattern
from counting import route
from small_fabrics import fat_tree, routed, torus


def _mixed() -> Fabric:
    """Three leaves of four hosts under two spines; every third cable and two hosts are slower."""
    fabric = fat_tree(3, 4, 2)
    cable, host = fabric.cable_rate.copy(), fabric.host_rate.copy()
    cable[::3], host[[1, 6]] = 2, 3
    made = fabric.replace(rates=("", "4xQDR", "4xDDR", "4xSDR"), cable_rate=cable, host_rate=host)
    return routed(made)


def _by_hand(
    fabric: Fabric, rounds: list[list[tuple[int, int, float]]], *, alike: bool
) -> tuple[float, float]:
    """The busiest port's time over the busiest channel's, and what that port carries until then.

    Rounds are messages between hosts: source, target, bytes.
    """
    capacity = capacities(fabric)
    rate = np.concatenate([np.repeat(capacity.cable, 2), capacity.host, capacity.host])
    rate = np.full(len(rate), rate[2 * fabric.cables]) if alike else rate
    ports = slowest = most = 0.0
    for messages in rounds:
        load: Counter[int] = Counter()
        for source, target, size in messages:
            if source != target:
                load.update(dict.fromkeys(route(fabric, source, target), 0))
                for channel in route(fabric, source, target):
                    load[channel] += size  # type: ignore[assignment]
        own = {channel: size for channel, size in load.items() if channel >= 2 * fabric.cables}
        slowest += max(size / rate[channel] for channel, size in load.items())
        ports += max(size / rate[channel] for channel, size in own.items())
        most += max(own.values())
    return ports / slowest, most / slowest


@pytest.mark.parametrize(
    ("pattern", "ranks_per_host"),
    [
        ("alltoall", 1),
        ("alltoall", 3),
        ("alltoall:3", 1),
        ("alltoall:2,between", 2),
        ("neighbour:4", 1),
        ("halo:4x3", 1),
        ("gather", 2),
        ("uniform", 1),
        ("bisect", 2),
        ("shifts:5", 1),
    ],
)
@pytest.mark.parametrize("equal_rates", [False, True])
def test_the_last_message_is_done_when_the_busiest_channel_is(
    pattern: str, ranks_per_host: int, equal_rates: bool
) -> None:
    fabric = _mixed()
    how = {"placement": "random", "ranks_per_host": ranks_per_host, "seed": 4}
    found = simulate(fabric, pattern, samples=3, equal_rates=equal_rates, **how)
    for number, drawn in enumerate(draw_patterns(fabric, pattern, count=found.samples, **how)):
        rounds = [
            [(int(s), int(t), 1.0) for s, t in zip(*drawn.between_hosts(r), strict=True)]
            for r in range(len(drawn.rounds))
        ]
        share, rate = _by_hand(fabric, rounds, alike=equal_rates)
        assert found.host_share[number] == pytest.approx(share, rel=1e-9)
        if found.host_rate is not None:
            assert found.host_rate[number] == pytest.approx(rate, rel=1e-9)
    assert found.each_host.share == pytest.approx(found.host_share.mean())


@pytest.mark.parametrize("equal_rates", [False, True])
def test_messages_of_a_file_count_by_their_bytes(tmp_path: Path, equal_rates: bool) -> None:
    fabric = _mixed()
    sizes = np.random.default_rng(3).integers(1, 1 << 20, (2, 30))
    ends = np.random.default_rng(4).integers(0, 12, (2, 30, 2))
    lines = ["round,source,target,bytes"]
    rounds: list[list[tuple[int, int, float]]] = [[], []]
    for number in range(2):
        for (source, target), size in zip(ends[number].tolist(), sizes[number], strict=True):
            lines.append(f"{number},{source},{target},{size}")
            rounds[number].append((source, target, float(size)))
    (tmp_path / "sent.csv").write_text("\n".join(lines) + "\n")
    found = simulate(
        fabric,
        f"file:{tmp_path / 'sent.csv'}",
        placement="linear",
        ranks=12,
        samples=1,
        equal_rates=equal_rates,
    )
    share, rate = _by_hand(fabric, rounds, alike=equal_rates)
    each = found.each_host
    assert each.share == pytest.approx(share, rel=1e-6)
    assert each.rate_Bps == (None if equal_rates else pytest.approx(rate, rel=1e-6))
    assert found.judged == EACH_HOST


def test_many_ways_are_shared_by_all_and_a_crossbar_by_nobody() -> None:
    """Half of the uplinks: each host of a leaf gets half of what goes to other leaves."""
    fabric = compute(fat_tree(4, 4, 2), "spray")
    # 12 of 15 messages leave the leaf; 4 hosts share 2 uplinks, so these carry 24 each.
    assert simulate(fabric, "alltoall").each_host.share == pytest.approx(15 / 24)  # type: ignore[union-attr]
    crossbar = routed(fat_tree(1, 8, 0))
    assert simulate(crossbar, "alltoall").each_host.share == 1  # type: ignore[union-attr]


def test_patterns_of_several_messages_at_once_are_judged_by_their_last() -> None:
    several = {"alltoall", "neighbour:4", "halo:4x3", "scatter", "2 * alltoall"}
    one = {"bisect", "uniform", "ring", "shift:3", "shifts", "tree", "permutation"}
    found = {name: simulate(_mixed(), name, samples=2).judged for name in several | one}
    assert {name for name, by in found.items() if by == EACH_HOST} == several


def test_bytes_over_the_whole_network_have_no_figure() -> None:
    matrix = np.arange(144).reshape(12, 12)
    everywhere = compute(torus((3, 4)), "valiant")
    found = simulate(everywhere, Pattern.from_matrix(matrix), placement="linear", samples=2)
    assert found.each_host is None
    assert found.judged == Average.EFFECTIVE_BANDWIDTH
