"""The figures of a placement show what channels carry in both orders, and who sits where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import contend
from contend.cure import BetterSeats, place
from contend.report.cure.seats import DRAWS, LoadedSeats

# Four hosts on each of four leaves, each leaf with one cable to each of two spines.
TREE = contend.load("xgft:2;4,4;1,2", route="dmodk")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedSeats:
    """Ranks 0 and 2 exchange 1 MB, and so do 1 and 3; as given, all goes between two leaves."""
    matrix = np.zeros((4, 4))
    matrix[0, 2] = matrix[2, 0] = matrix[1, 3] = matrix[3, 1] = 1e6
    path = tmp_path_factory.mktemp("seats") / "bytes.npy"
    np.save(path, matrix)
    return LoadedSeats(place(str(path), TREE, hosts=[0, 1, 4, 5]))


def test_channels_carry_what_ranks_send_in_both_orders(loaded: LoadedSeats) -> None:
    """Each of the two cables of both leaves has 1 MB each way at most; afterwards nothing."""
    better: BetterSeats = loaded.better
    assert sorted(better.placement.hosts.tolist()) == [0, 1, 4, 5]
    between = 2 * TREE.cables
    # 4 MB cross a channel up and one down; those of hosts stay.
    assert loaded.before[:between].sum() == 8e6
    assert loaded.after[:between].sum() == 0
    assert loaded.before[between:].sum() == loaded.after[between:].sum() == 8e6


def test_fullest_channels_have_a_row_with_both_loads(loaded: LoadedSeats) -> None:
    figure = DRAWS["channels"](loaded)
    axes = figure.axes[0]
    then, now = (line.get_xdata() for line in axes.lines)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert len(then) == len(now) == len(names) == len(set(names))
    row = next(row for row, load in enumerate(now) if load == 0)
    assert then[row] == loaded.before.max() / 1e6
    assert any("host" in name or "leaf" in name for name in names)
    assert "carries 1 MB in both orders" in figure.get_suptitle()


def test_the_network_points_out_what_was_full_before(loaded: LoadedSeats) -> None:
    figure = DRAWS["network"](loaded)
    texts = [text.get_text() for text in figure.axes[0].texts]
    told = [text for text in texts if "before:" in text]
    assert 1 <= len(told) <= 3
    assert all("MB, now 0: " in text for text in told)


def test_seats_stand_by_leaf_and_rank(loaded: LoadedSeats) -> None:
    """Ranks 0 and 2 of the new placement share a leaf, as 1 and 3 do."""
    given, new = DRAWS["seats"](loaded).axes
    rows = [axes.lines[0].get_ydata() for axes in (given, new)]
    assert rows[0].tolist() == [0, 0, 1, 1]
    assert rows[1][0] == rows[1][2] != rows[1][1] == rows[1][3]


def test_many_leaves_are_not_named() -> None:
    tree = contend.load("xgft:2;2,60;1,2", route="dmodk")
    axes = DRAWS["seats"](LoadedSeats(place("shift:7", tree))).axes[0]
    assert axes.get_ylabel() == "leaf switch"


def test_the_command_draws_them(tmp_path: Path) -> None:
    from contend.cli.app import run

    plot = tmp_path / "seats.png"
    words = ["place", "halo:2d", "xgft:2;4,4;1,2", "--placement", "round-robin"]
    assert run([*words, "--plot", str(plot), "--picture", "seats"]) == 0
    assert plot.stat().st_size > 1000
    page = tmp_path / "all.html"
    assert run([*words, "--plot", str(page)]) == 0
    assert page.read_text().count("<svg") == 3
    assert run([*words, "--plot", str(plot), "--picture", "nothing"]) == 2
