"""contend in a notebook: pictures in one's own axes, tables in HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import contend
from contend.base.errors import UsageError
from contend.congestion import simulate as count
from contend.fabric import Fabric

mpl.use("agg")


@pytest.fixture(scope="module")
def figure() -> Fabric:
    return contend.load("fig1", route="minhop")


@pytest.fixture(scope="module")
def tree(figure: Fabric) -> contend.Simulation:
    return contend.simulate(figure, "tree", samples=50)


@pytest.mark.parametrize("picture", [None, "bandwidth", "congestion", "rounds", "channels"])
def test_pictures_go_into_given_axes(
    tree: contend.Simulation, picture: str | None, tmp_path: Path
) -> None:
    mine = Figure()
    left, right = mine.subplots(1, 2)
    assert tree.plot(picture, ax=right) is right
    assert right.has_data()
    assert not left.has_data()
    assert right.get_title(loc="left")
    mine.savefig(tmp_path / "mine.svg")


def test_a_picture_without_axes_makes_a_figure(tree: contend.Simulation) -> None:
    before = set(plt.get_fignums())
    axes = tree.plot()
    assert axes.has_data()
    [made] = set(plt.get_fignums()) - before
    assert axes.figure is plt.figure(made)
    plt.close(made)


def test_the_first_picture_says_something(figure: Fabric) -> None:
    """A single outcome has no distribution of bandwidths; its messages have one of congestion."""
    axes = contend.simulate(figure, "shift:3", placement="linear").plot(ax=Figure().subplots())
    assert "congestion" in axes.get_xlabel()


@pytest.mark.parametrize(
    ("picture", "complaint"),
    [("rounds", "one of congestion, channels, got 'rounds'"), ("chanels", "mean 'channels'")],
)
def test_pictures_that_do_not_fit(figure: Fabric, picture: str, complaint: str) -> None:
    result = contend.simulate(figure, "shift:3", placement="linear")
    with pytest.raises(UsageError, match=complaint):
        result.plot(picture)


def test_drawing_leaves_the_callers_settings_alone(tree: contend.Simulation) -> None:
    before = dict(mpl.rcParams)
    tree.plot("congestion", ax=Figure().subplots())
    assert dict(mpl.rcParams) == before


def test_the_figures_are_those_of_the_command_line(figure: Fabric) -> None:
    mine, other = (run(figure, "bisect", samples=300, seed=5) for run in (contend.simulate, count))
    for name in ("bandwidth", "histogram", "channel_load", "round_mean_congestion"):
        assert np.array_equal(getattr(mine, name), getattr(other, name))
    assert mine.fabric is figure


def test_precision_as_a_share_or_in_per_cent(figure: Fabric) -> None:
    share, text = (contend.simulate(figure, precision=precision) for precision in (0.01, "1%"))
    assert share.bandwidth.tolist() == text.bandwidth.tolist()
    with pytest.raises(UsageError, match="expected a share such as 5%"):
        contend.simulate(figure, precision="narrow")


def test_a_notebook_shows_verdict_and_tables(figure: Fabric) -> None:
    result = contend.simulate(
        figure,
        contend.Pattern.from_destinations(np.roll(np.arange(16), 1), name="<mine> & yours"),
        placement="linear",
    )
    html = result._repr_html_()
    assert html == result.document().html()
    assert html.startswith("<p><b>&lt;mine&gt; &amp; yours gets 100.0 % of a link&#x27;s rate")
    assert "<mine>" not in html


def test_progress_is_told_to_a_function(figure: Fabric) -> None:
    told: list[Any] = []
    contend.simulate(figure, samples=100, progress=lambda *numbers: told.append(numbers))
    assert told == [(100, 100)]


def test_the_face_shows_what_a_notebook_needs() -> None:
    for name in (
        *("Fabric", "Pattern", "Placement", "pattern", "placement", "simulate", "measure"),
        *("message_shares", "draw_patterns", "message_congestion", "fair_share", "hotspot", "Run"),
        *("ContendError", "UsageError", "InputError", "MissingError", "Simulation"),
    ):
        assert getattr(contend, name) is not None
        assert name in dir(contend)
