"""Better tables: what they are made for, and what they are judged by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import contend
from contend.base.errors import InputError, UsageError
from contend.cure import route
from contend.routes import compute


def test_without_present_tables_there_is_nothing_to_compare_with() -> None:
    better = route(contend.load("fig1"))
    assert (better.changed, better.present_cycle, better.steps) == (None, None, None)
    assert [gain.pattern for gain in better.gains] == ["bisect"]
    assert (better.gains[0].before, better.gains[0].points) == (None, None)


def test_what_a_gain_is_in_points() -> None:
    better = route(contend.load("xgft:3;2,3,4;1,2,2", route="minhop"))
    gain = better.gains[0]
    assert gain.before is not None
    points = 100 * (gain.after - gain.before)
    assert gain.points == pytest.approx(points)
    # Simulated before: 59.8 by minhop, 74.5 by these.
    assert points == pytest.approx(14.7, abs=0.5)


def test_an_all_to_all_is_judged_by_what_each_host_gets() -> None:
    """Not by what a message gets of its own hosts' ports, which no tables can change."""
    tree = contend.load("xgft:2;6,6;1,3", route="minhop")
    better = route(tree, purpose="alltoall")
    gain = better.gains[1]
    simulated = contend.simulate(tree, "alltoall", placement="linear").each_host
    assert gain.each_host
    assert gain.before == pytest.approx(simulated.share)
    assert not better.gains[0].each_host
    said = f"each host gets {100 * gain.after:.1f} % of what its port allows"
    assert said in str(better.document().verdict)


def test_present_tables_with_a_circle_are_told() -> None:
    better = route(contend.load("torus:5x5", route="minhop"))
    assert better.present_cycle
    assert better.dependency_cycle == ()


def test_tables_for_traffic_are_never_worse_for_it_than_tables_for_all_pairs() -> None:
    tree = contend.load("xgft:2;4,6;1,2")
    even = contend.simulate(compute(tree, "contend"), "localised:8", placement="linear", seed=1)
    better = route(tree, purpose="localised:8")
    assert better.gains[1].after >= even.effective_bandwidth.mean


def test_a_matrix_may_have_fewer_ranks_than_there_are_hosts(tmp_path: Path) -> None:
    # Both ranks of the first leaf send to the second leaf, by a cable each.
    matrix = np.zeros((6, 6))
    matrix[0, 4] = matrix[1, 5] = 5
    np.save(tmp_path / "six.npy", matrix)
    better = route(contend.load("fig1"), purpose=str(tmp_path / "six.npy"))
    assert better.gains[1].simulation_after.ranks == 6
    assert better.gains[1].after == 1


def test_a_file_that_holds_no_matrix_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"no array")
    with pytest.raises((InputError, UsageError), match=r"x\.npy"):
        route(contend.load("fig1"), purpose=str(tmp_path / "x.npy"))


def test_routes_for_ranks_without_a_place_are_refused() -> None:
    with pytest.raises(UsageError, match="need to know where its ranks are"):
        route(contend.load("fig1"), purpose="ring", placement="random")


def test_present_routes_without_tables_are_refused_before_they_are_counted() -> None:
    """By this accuracy ugal would be counted for minutes first."""
    with pytest.raises(UsageError, match="routes by ugal have no tables, and this needs tables"):
        route(contend.load("dragonfly:2,4,2", route="ugal"))


def test_changes_are_the_number_of_entries_that_differ() -> None:
    running = contend.load("chic", route="minhop")
    better = route(running, keep=True, changes=300)
    assert better.changed == len(better.steps.at) == 300
    assert better.gains[0].points is not None
    assert better.gains[0].points > 0.5
