"""Better seats: never worse than what was given, and whose traffic they are for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contend
from contend.base.errors import UsageError
from contend.congestion import judge_seats
from contend.cure import place, sent_by
from several_ways import sprayed

TREE = contend.load("xgft:2;4,4;1,2", route="dmodk")


def matrix_file(folder: Path, matrix: object) -> str:
    path = folder / "bytes.npy"
    np.save(path, np.array(matrix))
    return str(path)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_seats_are_no_worse_and_keep_to_the_hosts(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ranks = data.draw(st.integers(2, 12))
    each = data.draw(st.integers(1, 3))
    entry = st.sampled_from([0, 0, 1, 7, 1000])
    rows = st.lists(st.lists(entry, min_size=ranks, max_size=ranks), min_size=ranks, max_size=ranks)
    matrix = np.array(data.draw(rows))
    # Somebody sends something to another.
    matrix[0, 1] = 5
    needed = -(-ranks // each)
    hosts = data.draw(st.permutations(range(16)))[: data.draw(st.integers(needed, 16))]
    source = matrix_file(tmp_path_factory.mktemp("seats"), matrix)
    better = place(source, TREE, hosts=hosts, ranks_per_host=each)
    found = better.placement.hosts.tolist()
    assert len(found) == ranks
    assert set(found) <= set(hosts)
    assert max(Counter(found).values()) <= each
    # As many hosts as are needed, and no more.
    assert len(set(found)) <= needed
    assert better.given.tolist() == [hosts[rank // each] for rank in range(ranks)]
    before, after = better.before, better.after
    assert after.busy <= before.busy * (1 + 1e-9)
    if after.busy == before.busy:
        assert after.mean_congestion <= before.mean_congestion * (1 + 1e-9)
    assert judge_seats(TREE, better.sent.traffic, found) == after
    again = place(source, TREE, hosts=hosts, ranks_per_host=each)
    assert again.placement.hosts.tolist() == found


def test_a_scattered_halo_comes_home() -> None:
    # Four rows of 4: on a leaf each, a rank has two neighbours on it and one on each of two others.
    scattered = np.random.default_rng(3).permutation(16)
    better = place("halo:4x4", TREE, hosts=scattered)
    home = judge_seats(TREE, better.sent.traffic, range(16))
    assert better.after.busy <= home.busy
    assert better.saved > 0
    assert 0 < better.moved <= 16


def test_the_best_of_the_free_hosts_are_chosen() -> None:
    # Four ranks, all to all; free are two hosts of each leaf but the last, where all four are.
    free = [0, 1, 4, 5, 8, 9, 12, 13, 14, 15]
    better = place("alltoall", TREE, hosts=free, ranks=4)
    assert sorted(better.placement.hosts.tolist()) == [12, 13, 14, 15]
    assert better.hosts_available == 10


def test_ranks_that_talk_share_a_host() -> None:
    # Rank r sends to r + 4 only.
    better = place("shift:4", TREE, ranks=8, ranks_per_host=2, hosts=4)
    hosts = better.placement.hosts
    assert (hosts[:4] == hosts[4:]).all()
    assert better.after.busy == 0
    assert better.saved == 1


def test_a_host_file_says_how_many_ranks_a_host_takes(tmp_path: Path) -> None:
    (tmp_path / "job").write_text("host 3 slots=2\nhost 1 slots=2\n")
    better = place("ring", TREE, hosts=str(tmp_path / "job"))
    assert better.given.tolist() == [2, 2, 0, 0]


def test_rounds_of_a_pattern_are_phases(tmp_path: Path) -> None:
    lines = "round,source,target,bytes\n0,0,1,10\n1,1,0,30\n1,0,2,5\n1,0,2,5\n"
    (tmp_path / "two.csv").write_text(lines)
    traffic = sent_by(f"file:{tmp_path / 'two.csv'}", 3).traffic
    assert (traffic.ranks, traffic.phases) == (3, 2)
    assert traffic.phase.tolist() == [0, 1, 1]
    # What a pair sends in a phase is one sum.
    assert traffic.bytes.tolist() == [10, 10, 30]


def test_time_is_that_of_the_fullest_channel_at_the_rate(tmp_path: Path) -> None:
    source = matrix_file(tmp_path, [[0, 600], [300, 0]])
    better = place(source, TREE, rate=100.0)
    assert (better.after.busy, better.unit) == (6.0, "s")


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("bisect", {}, "messages are random and differ every time"),
        ("ring", {"placement": "random"}, "needs one fixed order"),
        ("halo:4x4", {"hosts": 9, "ranks": 16}, "expected places for 16 ranks, got 9"),
        ("nothing", {}, "nothing: expected a profile, a .npy matrix or a pattern"),
    ],
)
def test_what_does_not_fit_is_refused(source: str, options: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        place(source, TREE, **options)  # type: ignore[arg-type]


def test_a_matrix_in_which_nobody_sends_is_refused(tmp_path: Path) -> None:
    with pytest.raises(contend.ContendError, match="at least one message"):
        place(matrix_file(tmp_path, np.zeros((3, 3))), TREE)


def test_a_folder_that_holds_no_profile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a profile"):
        place(tmp_path, TREE)


@pytest.mark.parametrize("spec", ["xgft:3;2,2,3;1,2,2", "torus:3x4"])
def test_seats_where_messages_split_by_the_definition(spec: str, tmp_path: Path) -> None:
    fabric = contend.load(spec, route="spray")
    matrix = np.random.default_rng(1).integers(0, 100, (fabric.hosts, fabric.hosts))
    better = place(matrix_file(tmp_path, matrix), fabric)
    between, load = 2 * fabric.cables, np.zeros(fabric.channels)
    count, messages = np.zeros(fabric.channels), []
    for source, target in zip(*np.nonzero(matrix), strict=True):
        a, b = (int(better.given[rank]) for rank in (source, target))
        if a == b:
            continue
        crossed = sprayed(fabric, a, b) | {between + a: 1.0, between + fabric.hosts + b: 1.0}
        messages.append((float(matrix[source, target]), crossed))
        for channel, part in crossed.items():
            load[channel] += part * matrix[source, target]
            count[channel] += part
    figures = better.before
    sent = sum(size for size, _ in messages)
    met = sum(size * max(count[channel] for channel in crossed) for size, crossed in messages)
    hops = sum(size * sum(crossed.values()) for size, crossed in messages)
    rate = load.max() / figures.busy
    assert rate == pytest.approx(25e9)
    assert figures.mean_congestion == pytest.approx(met / sent)
    assert figures.hop_bytes == pytest.approx(hops)
    assert better.after.busy <= figures.busy
    assert judge_seats(fabric, better.sent.traffic, better.placement.hosts) == better.after


def test_two_leaves_that_talk_come_together_under_sprayed_packets(tmp_path: Path) -> None:
    """Ranks i and i + 8 talk, first on different leaves: they can all meet on one."""
    fabric = contend.load("xgft:2;4,4;1,1", route="spray")
    matrix = np.zeros((16, 16), dtype=int)
    for rank in range(8):
        matrix[rank, rank + 8] = matrix[rank + 8, rank] = 1_000_000
    better = place(matrix_file(tmp_path, matrix), fabric)
    assert better.before.mean_congestion == 4
    assert better.after.mean_congestion == 1
