"""Pictures of `contend simulate`: which there are, which fit a result, and what a page shows."""

from __future__ import annotations

from pathlib import Path

from cli.conftest import Simulate


def test_plot(simulate: Simulate, tmp_path: Path) -> None:
    file = tmp_path / "figure.svg"
    status, _, err = simulate("fig1", "--samples", "100", "--plot", file)
    assert (status, err) == (0, "")
    assert file.read_bytes().startswith(b"<?xml")
    assert list(tmp_path.iterdir()) == [file]


def test_pictures_differ(simulate: Simulate, tmp_path: Path) -> None:
    drawn = set()
    for picture in ("bandwidth", "congestion", "rounds", "channels", "network"):
        file = tmp_path / f"{picture}.svg"
        simulate("fig1", "-p", "tree", "--samples", "50", "--plot", file, "--picture", picture)
        drawn.add(file.read_bytes())
    assert len(drawn) == 5


def test_page_shows_all_pictures_that_fit(simulate: Simulate, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert simulate("fig1", "-p", "tree", "--samples", "50", "--plot", file)[0] == 0
    # Bandwidth, congestion, rounds and channels; the network is there to be explored.
    assert file.read_text().count("<figure>") == 4
    assert 'id="explorer"' in file.read_text()
