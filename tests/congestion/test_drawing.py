"""Drawn patterns are the very samples that a simulation counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.congestion import (
    DrawnPattern,
    draw_patterns,
    fair_share,
    message_congestion,
    message_shares,
    simulate,
    write_destinations,
)
from contend.fabric import Fabric
from contend.traffic.pattern import parse
from contend.traffic.placement import Placement
from small_fabrics import fat_tree, routed


@pytest.fixture(scope="module")
def tree() -> Fabric:
    return routed(fat_tree(4, 4, 2))


def histogram_of_sample(fabric: Fabric, number: int, settings: dict[str, Any]) -> list[int]:
    """What sample `number` adds to the histogram of those before it."""
    more = simulate(fabric, samples=number + 1, **settings).histogram.astype(np.int64)
    if number == 0:
        return [int(n) for n in more]
    fewer = simulate(fabric, samples=number, **settings).histogram.astype(np.int64)
    more[: len(fewer)] -= fewer
    return [int(n) for n in np.trim_zeros(more, "b")]


def histogram_of_file(fabric: Fabric, drawn: DrawnPattern, folder: Path) -> list[int]:
    """The same messages as a user's pattern on a user's placement."""
    path = folder / f"{drawn.number}.csv"
    rows = [
        f"{number},{s},{t}"
        for number, (source, target) in enumerate(drawn.rounds)
        for s, t in zip(source.tolist(), target.tolist(), strict=True)
    ]
    path.write_text("\n".join(("round,source,target", *rows)) + "\n")
    placed = Placement("as drawn", drawn.hosts)
    return [int(n) for n in simulate(fabric, f"file:{path}", placement=placed).histogram]


@pytest.mark.parametrize(
    "settings",
    [
        {"pattern": "bisect", "seed": 7},
        {"pattern": "bisect", "seed": 7, "ranks": 13, "placement": "round-robin"},
        {"pattern": "bisect", "ranks": 11},
        {"pattern": "bisect:two-way", "seed": 2**64 - 1, "hosts": "15"},
        {"pattern": "tree"},
        {"pattern": "uniform", "ranks_per_host": 2},
        {"pattern": "bisect & ring", "placement": "linear"},
    ],
)
def test_drawn_pattern_is_the_sample_of_its_number(
    tree: Fabric, tmp_path: Path, settings: dict[str, Any]
) -> None:
    drawn = list(draw_patterns(tree, **settings, count=6))
    assert [one.number for one in drawn] == list(range(6))
    found = [histogram_of_file(tree, one, tmp_path) for one in drawn]
    assert found == [histogram_of_sample(tree, number, settings) for number in range(6)]
    # Were all alike, another number's would have done as well.
    assert len({tuple(histogram) for histogram in found}) > 1


def test_numbers_start_anywhere(tree: Fabric) -> None:
    [late] = draw_patterns(tree, "tree", first=9)
    *_, tenth = draw_patterns(tree, "tree", count=10)
    assert late.number == tenth.number == 9
    assert late.hosts.tolist() == tenth.hosts.tolist()
    assert sorted(late.hosts.tolist()) == list(range(16))


def test_odd_rank_sits_out(tree: Fabric) -> None:
    for one in draw_patterns(tree, "bisect", ranks=7, count=5):
        to = one.destinations()
        assert len(to) == one.ranks == 7
        assert (to >= 0).sum() == 3
        assert len({*np.flatnonzero(to >= 0).tolist(), *to[to >= 0].tolist()}) == 6


def test_two_way_sends_both_ways(tree: Fabric) -> None:
    [one] = draw_patterns(tree, "bisect:two-way")
    to = one.destinations()
    assert to[to].tolist() == list(range(16))


def test_pattern_made_already(tree: Fabric) -> None:
    [one] = draw_patterns(tree, parse("bisect", 4), placement="same-leaf")
    assert one.hosts.tolist() == [0, 1, 2, 3]
    with pytest.raises(UsageError, match=r"has 17 ranks, .* place for 16"):
        draw_patterns(tree, parse("bisect", 17))


def test_samples_that_do_not_exist(tree: Fabric) -> None:
    with pytest.raises(UsageError, match="seed"):
        draw_patterns(tree, seed=-1)
    with pytest.raises(UsageError, match="samples"):
        draw_patterns(tree, first=2**64, count=1)


def test_file_of_destinations(tree: Fabric, tmp_path: Path) -> None:
    path = tmp_path / "patterns"
    assert write_destinations(path, draw_patterns(tree, ranks=5, seed=3, first=4, count=3)) == 3
    head, *lines = path.read_text().splitlines()
    assert head.startswith("# bisect of 5 ranks, seed 3, from sample 4")
    drawn = draw_patterns(tree, ranks=5, seed=3, first=4, count=3)
    for line, one in zip(lines, drawn, strict=True):
        words = [-1 if word == "-" else int(word) for word in line.split()]
        assert words == one.destinations().tolist()


def test_file_has_a_line_for_every_round(tree: Fabric, tmp_path: Path) -> None:
    path = tmp_path / "patterns"
    assert write_destinations(path, draw_patterns(tree, "dissemination", ranks=4)) == 2
    assert path.read_text().splitlines()[1:] == ["1 2 3 0", "2 3 0 1"]
    assert write_destinations(path, []) == 0
    assert path.read_text() == ""


@pytest.mark.parametrize("pattern", ["scatter", "gather"])
def test_several_messages_of_a_rank_have_no_line(
    tree: Fabric, tmp_path: Path, pattern: str
) -> None:
    path = tmp_path / "patterns"
    with pytest.raises(UsageError, match="several messages at once"):
        write_destinations(path, draw_patterns(tree, pattern))
    assert not path.exists()


def test_prediction_of_every_message(tree: Fabric) -> None:
    drawn = list(draw_patterns(tree, "tree", count=3))
    frame = message_shares(tree, drawn)
    assert frame.height == 3 * 15
    for one in drawn:
        for number in range(4):
            source, target = one.between_hosts(number)
            rows = frame.filter((frame["pattern"] == one.number) & (frame["round"] == number))
            assert rows["source_host"].to_list() == source.tolist()
            assert rows["target_host"].to_list() == target.tolist()
            assert rows["source_rank"].to_list() == one.rounds[number][0].tolist()
            counted = message_congestion(tree, source, target).congestion
            assert rows["congestion"].to_list() == counted.tolist()
            assert rows["fair_share"].to_list() == fair_share(tree, source, target).tolist()


def test_nothing_to_predict(tree: Fabric) -> None:
    assert message_shares(tree, []).height == 0
