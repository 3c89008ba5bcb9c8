"""Pictures of `contend simulate`: which there are, which fit a result, and what a page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Simulate


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".svg", b"<?xml"),
        (".png", b"\x89PNG"),
        (".pdf", b"%PDF"),
        (".html", b"<!"),
        (".SVG", b"<?xml"),
    ],
)
def test_plot(simulate: Simulate, tmp_path: Path, suffix: str, start: bytes) -> None:
    file = tmp_path / f"figure{suffix}"
    status, _, err = simulate("fig1", "--samples", "100", "--plot", file)
    assert (status, err) == (0, "")
    assert file.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [file]


def test_pictures_differ(simulate: Simulate, tmp_path: Path) -> None:
    drawn = set()
    for picture in ("bandwidth", "congestion", "rounds", "channels", "network"):
        file = tmp_path / f"{picture}.svg"
        simulate("fig1", "-p", "tree", "--samples", "50", "--plot", file, "--picture", picture)
        drawn.add(file.read_bytes())
    assert len(drawn) == 5


def test_picture_of_several_results(simulate: Simulate, tmp_path: Path) -> None:
    file = tmp_path / "figure.svg"
    arguments = ("fig1", "crossbar:16", "--samples", "50", "--plot", file)
    assert simulate(*arguments)[0] == 0
    by_default = file.read_bytes()
    assert simulate(*arguments, "--picture", "comparison")[0] == 0
    assert file.read_bytes() == by_default


@pytest.mark.parametrize("suffix", [".html", ".HTML"])
def test_page_shows_all_pictures_that_fit(simulate: Simulate, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"page{suffix}"
    assert simulate("fig1", "-p", "tree", "--samples", "50", "--plot", file)[0] == 0
    # Bandwidth, congestion, rounds and channels; the network is there to be explored.
    assert file.read_text().count("<figure>") == 4
    assert 'id="explorer"' in file.read_text()


def test_help_and_errors_name_the_pictures(simulate: Simulate) -> None:
    help_text = " ".join(simulate("--help")[1].replace("│", " ").split())
    assert (
        "What --plot draws: bandwidth, congestion, comparison, rounds, channels, network, users, "
        "counters." in help_text
    )
    status, _, error = simulate("fig1", "--picture", "round", "--plot", "figure.svg")
    assert (status, error.split(": ", 2)[2].startswith("'round' is not one of")) == (2, True)
