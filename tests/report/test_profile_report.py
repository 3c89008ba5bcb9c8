"""A profile's report: the verdict, the tables, the figures, JSON, and two beside each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from built_records import ALLREDUCE, RECEIVE, SEND, WAIT, Rank, leave_records
from contend import Profile
from contend.base.errors import UsageError
from contend.profiling import load_profile
from contend.report.profile import document
from contend.report.profile.document import (
    ProfilePicture,
    calls_csv,
    profile_figure,
    profiles_document,
)
from contend.report.profile.tables import profile_comparison_table, profile_tables, size_words
from contend.report.words import percent


def _profile(folder: Path, *, slower: int = 1, size: int = 8) -> Profile:
    """Ranks run for 1 ms: 40 % in MPI_Wait, 20 % in a collective, half of it waiting for rank 5."""
    ranks = []
    for number in range(size):
        rank = Rank(number, size, started=0, ended=1_000_000)
        rank.cell(WAIT, ticks=400_000 * slower, calls=100, size_class=0, size=0)
        rank.cell(SEND, ticks=10_000, calls=100, size=409_600, size_class=13)
        cell = rank.cell(ALLREDUCE, ticks=200_000, calls=1)
        entry = 500_000 if number != 5 else 600_000
        rank.collective(entry, 700_000, cell)
        rank.sent = {(number + 1) % size: (409_600, 100), (number - 1) % size: (0, 0, 64, 2)}
        ranks.append(rank)
    load_profile(leave_records(folder, ranks))
    return Profile.load(folder)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return _profile(tmp_path_factory.mktemp("profile") / "first")


def test_the_first_sentence_is_a_verdict(profile: Profile) -> None:
    """610 of 1,000 µs; 7 of 8 ranks wait for 100 of 200 µs: 8.75 % of the run."""
    assert profile.findings.verdict == (
        "8 ranks spent 61 % of their 1 ms in MPI: 40 % in MPI_Wait called at app+0x1100, "
        "20 % in MPI_Allreduce called at app+0x1100; 8.8 % is waiting for late ranks, mostly "
        "because of rank 5"
    )
    assert profiles_document([profile]).verdict == profile.findings.verdict
    assert profile.findings.verdict in repr(profile)


def test_one_rank_has_its_own_time(tmp_path: Path) -> None:
    assert _profile(tmp_path / "one", size=1).findings.verdict.startswith(
        "1 rank spent 61 % of its 1 ms in MPI"
    )


def test_threads_add_up(tmp_path: Path) -> None:
    """1.41 of 1 ms: threads of a rank are in MPI at the same time."""
    verdict = _profile(tmp_path / "threads", slower=3).findings.verdict
    assert verdict.startswith(
        "8 ranks spent 141 % of their 1 ms in MPI, several threads at once: 120 % in MPI_Wait"
    )


def test_tables_hold_what_was_recorded(profile: Profile) -> None:
    tables = {table.title: table for table in profile_tables(profile)}
    routines = tables["61.0 % of the run is in MPI, 8.8 % waiting for late ranks"]
    assert [row[0] for row in routines.rows] == ["MPI_Wait", "MPI_Allreduce", "MPI_Send"]
    assert routines.rows[1][-2:] == ("20.0 %", "43.8 %")
    assert routines.rows[0][-1] == "-"
    sizes = tables["By bytes of a call"]
    assert [row[0] for row in sizes.rows] == ["0 B", "8 to 15 B", "4 KiB to 8 KiB"]
    rank_rows = {row[0]: row for row in tables["Rank by rank"].rows}
    assert rank_rows["others waited because of it"][-2:] == ("700 µs", "5")
    assert rank_rows["neighbours it sent to"][1] == "1"


@pytest.mark.parametrize(
    ("size_class", "low", "high", "words"),
    [
        (0, 0, 0, "0 B"),
        (1, 1, 1, "1 B"),
        (2, 2, 3, "2 to 3 B"),
        (10, 512, 1023, "512 to 1023 B"),
        (11, 1024, 2047, "1 KiB to 2 KiB"),
        (255, 0, None, "not kept"),
    ],
)
def test_classes_of_sizes_have_bounds_and_words(
    size_class: int, low: int, high: int | None, words: str, tmp_path: Path
) -> None:
    rank = Rank(0, 1)
    rank.cell(SEND, size_class=size_class)
    [size] = load_profile(leave_records(tmp_path, [rank])).findings.sizes
    assert (size.from_bytes, size.to_bytes, size_words(size)) == (low, high, words)


@pytest.mark.parametrize(
    ("fraction", "words"),
    [(0.448, "44.8 %"), (2.3e-4, "0.023 %"), (1.9e-8, "< 0.001 %"), (0.0, "0.0 %")],
)
def test_shares_next_to_nothing_have_no_powers_of_ten(fraction: float, words: str) -> None:
    assert percent(fraction) == words


def test_two_profiles_are_compared(profile: Profile, tmp_path: Path) -> None:
    """MPI_Wait takes 800 instead of 400 µs."""
    table = profile_comparison_table(profile, _profile(tmp_path / "second", slower=2))
    rows = {row[0]: row for row in table.rows}
    assert rows["MPI_Wait at app+0x1100"][1:] == ("400 µs", "800 µs", "+400 µs", "2.00")
    assert rows["time in MPI"][1:] == ("610 µs", "1.01 ms", "+400 µs", "1.66")
    assert table.columns[1:3] == ("first", "second")


def test_every_row_of_calls_is_a_line_of_csv(profile: Profile) -> None:
    lines = calls_csv([profile]).splitlines()
    assert len(lines) == 1 + 8 * 3
    assert lines[0].startswith("profile,rank,routine,communicator,place")


@pytest.mark.parametrize("picture", list(ProfilePicture))
def test_every_picture_is_drawn(profile: Profile, picture: ProfilePicture, tmp_path: Path) -> None:
    path = tmp_path / "it.svg"
    assert profiles_document([profile], picture).draw(path) == [path]
    titles = ("in MPI", "pairs of ranks", "waits for rank")
    assert any(title in path.read_text() for title in titles)


def test_a_page_has_all_pictures_and_tables(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "it.html"
    profiles_document([profile]).draw(path)
    page = path.read_text()
    assert page.count("<svg") == len(ProfilePicture)
    # The verdict first, as wide as the page.
    assert page.index(f"<h1>{profile.findings.verdict}</h1>") < page.index("<svg")
    assert page.rindex("</svg>") < page.index("By communicator")


def test_a_page_begins_with_where_ranks_were_and_has_no_empty_picture(tmp_path: Path) -> None:
    sides = [Rank(rank, 2, state=0) for rank in (0, 1)]
    for side in sides:
        side.in_call(200, RECEIVE, (2, 1 - side.rank, 7))
    profile = load_profile(leave_records(tmp_path / "p", sides, ended_unix=1e9 + 60.0))
    profiles_document([profile]).draw(tmp_path / "it.html")
    page = (tmp_path / "it.html").read_text()
    assert page.index("<h1>The run hung") < page.index("Where ranks were") < page.index("<svg")
    assert page.count("<svg") == len(ProfilePicture) - 2


def test_no_legend_lies_over_bars(tmp_path: Path) -> None:
    """One bar, as long as the axes are wide."""
    ranks = [Rank(rank, 2) for rank in (0, 1)]
    for rank in ranks:
        cell = rank.cell(ALLREDUCE, ticks=900_000)
        rank.collective(1000 + 400_000 * rank.rank, 900_000, cell)
    figure = profile_figure(load_profile(leave_records(tmp_path / "p", ranks)), "shares")
    figure.draw_without_rendering()
    [axes] = figure.axes
    legend = axes.get_legend()
    box = legend.get_window_extent()
    assert not [patch for patch in axes.patches if box.overlaps(patch.get_window_extent())]


def test_shares_end_where_the_bars_say(profile: Profile) -> None:
    axes = profile_figure(profile, "shares").axes[0]
    ends = sorted({round(patch.get_x() + patch.get_width(), 6) for patch in axes.patches})
    assert ends == [0.01, 0.1125, 0.2, 0.4]


def test_large_matrices_are_drawn_in_blocks(tmp_path: Path) -> None:
    profile = _profile(tmp_path / "large", size=1030)
    image = profile_figure(profile, "matrix").axes[0].images[0]
    drawn = np.ma.filled(image.get_array(), 0)
    assert drawn.shape == (344, 344)
    assert np.nansum(drawn) == profile.matrix().sum()


@pytest.mark.parametrize("most", [300_000_000, 250_000_000])
def test_the_scale_of_a_matrix_has_numbers_however_little_it_spans(
    most: int, tmp_path: Path
) -> None:
    """Between 250 and 300 MB there is no power of 32; where all send as much, there is no span."""
    ranks = []
    for number in range(3):
        rank = Rank(number, 3, started=0, ended=1_000_000)
        rank.sent = {(number + 1) % 3: (most, 1), (number - 1) % 3: (250_000_000, 1)}
        ranks.append(rank)
    load_profile(leave_records(tmp_path / "even", ranks))
    figure = profile_figure(Profile.load(tmp_path / "even"), "matrix")
    scale = figure.axes[1].yaxis
    low, high = scale.get_view_interval()
    ticks = [tick for tick in scale.get_majorticklocs() if low <= tick <= high]
    assert len(ticks) >= 2
    assert ticks[0] == 250_000_000


def test_ranks_that_send_to_themselves_are_no_pairs(tmp_path: Path) -> None:
    ranks = []
    for number in range(3):
        rank = Rank(number, 3, started=0, ended=1_000_000)
        rank.sent = dict.fromkeys(range(3), (1000, 1, 24, 1))
        ranks.append(rank)
    load_profile(leave_records(tmp_path / "own", ranks))
    figure = profile_figure(Profile.load(tmp_path / "own"), "matrix")
    assert "between 6 pairs of ranks, 100 % of all pairs" in figure.get_suptitle().replace(
        "\n", " "
    )


def test_an_unknown_picture_is_refused(profile: Profile) -> None:
    with pytest.raises(
        UsageError, match="expected one of shares, matrix, ranks, waits for profiles"
    ):
        profile.plot("matrices")


def test_a_profile_draws_itself_and_shows_itself(profile: Profile) -> None:
    axes = profile.plot("ranks")
    assert axes.get_xlabel() == "rank"
    assert "MPI_Wait" in profile._repr_html_()


@pytest.mark.parametrize(
    ("place", "short"),
    [
        ("void send<V<float> >(state const*, Ref<V<float> >, Ref<V<float> >)+0xd5", "send()+0xd5"),
        ("(anonymous namespace)::spread(int)+0x1", "spread()+0x1"),
        ("LAMMPS_NS::CommBrick::forward_comm(int)+0x34d", "CommBrick::forward_comm()+0x34d"),
        ("a folder/late.c:21", "a folder/late.c:21"),
    ],
)
def test_places_are_shortened_to_the_name_of_the_function(place: str, short: str) -> None:
    assert document._short(place, 32) == short
