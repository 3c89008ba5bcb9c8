"""Figures of a profile: shares of the run time, the matrix of peers, rank by rank; two compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from contend.errors import Argument, UsageError
from contend.profiling import ProgramProfile
from contend.report.style import (
    COLOURS,
    COLUMN_WIDTH,
    FAINT,
    QUIET,
    in_axes,
    new_figure,
    percent_axis,
    styled,
    title,
    write_beside,
)
from contend.report.words import percent, percent_range
from contend.units import counted, format_bytes, format_seconds, nearest

# Cells of the picture of a matrix, each way: more than a column of a page can show.
_MOST_CELLS = 512
_MOST_BARS = 8
_LONGEST_NAME = 44
_TEMPLATE = re.compile(r"(?<!operator)<[^<>]*>")
_WAITING, _REST = COLOURS[1], COLOURS[0]


class ProfilePicture(StrEnum):
    """What is drawn of a profile."""

    SHARES = "shares"
    MATRIX = "matrix"
    RANKS = "ranks"
    WAITS = "waits"


Draw = Callable[[Axes, ProgramProfile], str]


def profile_figure(profile: ProgramProfile, picture: str | None = None) -> Figure:
    """One picture of a profile.

    Raises:
        UsageError: there is no such picture.
    """
    name = _known(picture)
    with styled():
        figure = new_figure(height=_HEIGHTS[name], width=_WIDTHS[name])
        finding = _DRAWS[name](figure.subplots(), profile)
        title(figure, finding)
    return figure


def draw_profile(
    profile: ProgramProfile, picture: str | None = None, axes: Axes | None = None
) -> Axes:
    """Draws one picture of a profile.

    Args:
        profile: what to draw.
        picture: ``shares`` of the run time by place, the ``matrix`` of peers, ``ranks``, or
            ``waits``, the matrix of who waits for whom; None: shares.
        axes: where to draw; None makes a figure, which a notebook shows.

    Returns:
        The axes.

    Raises:
        UsageError: there is no such picture.
    """
    name = _known(picture)
    size = _WIDTHS[name], _HEIGHTS[name]
    return in_axes(axes, size, lambda axes: _DRAWS[name](axes, profile))


def _known(picture: str | None) -> ProfilePicture:
    if picture is None:
        return ProfilePicture.SHARES
    if picture not in list(ProfilePicture):
        names = ", ".join(ProfilePicture)
        hint = nearest(picture, ProfilePicture)
        raise UsageError(
            Argument("picture"), f": expected one of {names} for profiles, got {picture}{hint}"
        )
    return ProfilePicture(picture)


def draw_shares(axes: Axes, profile: ProgramProfile) -> str:
    """Bars: parts of the run time by place in the program, waiting for late ranks apart."""
    findings = profile.findings
    places = findings.place_times
    shown = places.filter(pl.col("share") > 0).head(_MOST_BARS)
    names = [
        f"{row['routine']}, {_short(row['place'], _LONGEST_NAME - len(row['routine']))}"
        for row in shown.iter_rows(named=True)
    ]
    total = shown["share"].to_numpy()
    waiting = (shown["waiting_s"].fill_null(0) / max(findings.all_run_s, 1e-12)).to_numpy()
    hidden = max(findings.mpi_share - float(total.sum()), 0.0)
    if len(places) > len(shown):
        names.append("all other calls")
        all_waiting = findings.waiting_s / max(findings.all_run_s, 1e-12)
        waiting = np.append(waiting, max(all_waiting - waiting.sum(), 0.0))
        total = np.append(total, hidden)
    at = np.arange(len(names))
    axes.barh(at, total - waiting, color=_REST, height=0.7, label="in the call")
    axes.barh(
        at,
        waiting,
        left=total - waiting,
        color=_WAITING,
        height=0.7,
        label="of which waiting for late ranks",
    )
    for place, share in zip(at, total, strict=True):
        write_beside(axes, percent(float(share)), (share, float(place)), (3, 0), color=QUIET)
    axes.set_yticks(at, names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.18 * max(float(total.max(initial=0.0)), 0.01))
    percent_axis(axes.xaxis)
    axes.set_xlabel("of the run times of all ranks")
    axes.tick_params(axis="y", length=0)
    if waiting.any():
        # Below the last bar, which may be as long as the axes are wide.
        axes.set_ylim(len(names) - 0.5 + 0.15 * (len(names) + 1), -0.5)
        axes.legend(frameon=False, fontsize=6.5, loc="lower right", ncols=2, borderaxespad=0.2)
    run = format_seconds(findings.run_s)
    who = counted(len(profile.ranks), "rank")
    return f"{percent(findings.mpi_share, 0)} of the {run} of {who} is in MPI"


def draw_matrix(axes: Axes, profile: ProgramProfile) -> str:
    """Bytes from every rank to every other, by colour on a logarithmic scale."""
    sent = profile.peers
    size = profile.size
    ends = (sent["source"].to_numpy(), sent["destination"].to_numpy())
    if not _draw_pairs(axes, size, ends, sent["bytes"].to_numpy(), format_bytes, 32):
        axes.text(0.5, 0.5, "no messages to known peers", ha="center", va="center", color=QUIET)
        axes.set_axis_off()
        return "No rank sent anything to a peer that is known"
    axes.set_xlabel("to rank")
    axes.set_ylabel("from rank")
    # One number for a pair: as two columns, those of thousands of ranks take gigabytes.
    pair = pl.col("source").cast(pl.UInt64) * size + pl.col("destination")
    apart = sent.filter(pl.col("source") != pl.col("destination"))
    pairs = apart.select(pair.n_unique()).item()
    total = format_bytes(float(sent["bytes"].sum()))
    of_all = percent(pairs / max(size * (size - 1), 1), 0)
    return f"{total} between {pairs:,} pairs of ranks, {of_all} of all pairs"


def draw_waits(axes: Axes, profile: ProgramProfile) -> str:
    """Time that every rank waits for every other, by colour on a logarithmic scale."""
    waits, run_s = profile.findings.pair_waits, profile.findings.all_run_s
    ends = (waits["rank"].to_numpy(), waits["awaited"].to_numpy())
    if not _draw_pairs(axes, profile.size, ends, waits["seconds"].to_numpy(), format_seconds, 10):
        axes.text(0.5, 0.5, "no waiting is known", ha="center", va="center", color=QUIET)
        axes.set_axis_off()
        return "No rank is known to wait for another"
    axes.set_xlabel("waits for rank")
    axes.set_ylabel("rank")
    part = percent(float(waits["seconds"].sum()) / max(run_s, 1e-12), 0)
    caused = waits.group_by("awaited").agg(pl.col("seconds").sum())
    most = caused.sort("seconds", "awaited", descending=[True, False])["awaited"][0]
    until = " before they stood still" if profile.findings.stuck.stood_still else ""
    return f"Ranks wait {part} of their time{until}, mostly for rank {most}"


def _draw_pairs(
    axes: Axes,
    size: int,
    ends: tuple[NDArray[np.integer], NDArray[np.integer]],
    values: NDArray[np.number],
    words: Callable[[float], str],
    base: int,
) -> bool:
    """A matrix of ranks by ranks with a scale; false where there is nothing to draw."""
    matrix, ranks_per_cell = _binned(size, ends, values)
    sent = matrix > 0
    if not sent.any():
        return False
    low, high = matrix[sent].min(), matrix.max()
    shown = axes.imshow(
        np.where(sent, matrix, np.nan),
        norm=LogNorm(low, max(high, 2 * low)),
        cmap="viridis_r",
        extent=(-0.5, size - 0.5, size - 0.5, -0.5),
        interpolation="nearest",
    )
    axes.set_facecolor("white")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    assert axes.figure is not None
    bar = axes.figure.colorbar(shown, ax=axes, shrink=0.8, pad=0.03)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words(value)))
    # Units have round numbers at their own powers; a scale without has its ends labelled.
    round_numbers = [
        tick for tick in LogLocator(base=base).tick_values(low, high) if low <= tick <= high
    ]
    bar.set_ticks(round_numbers if len(round_numbers) > 1 else list(shown.get_clim()))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.outline.set_visible(False)
    if ranks_per_cell > 1:
        bar.set_label(f"sum over {ranks_per_cell} x {ranks_per_cell} ranks")
    return True


def draw_ranks(axes: Axes, profile: ProgramProfile) -> str:
    """Rank by rank: waiting for late ranks, the rest of the time in MPI, and all else."""
    table = profile.findings.ranks
    rank = table["rank"].to_numpy()
    waiting = table["waiting_s"].to_numpy()
    rest = np.maximum(table["mpi_s"].to_numpy() - waiting, 0)
    other = np.maximum(table["run_s"].to_numpy() - waiting - rest, 0)
    # Steps have no gaps between ranks, however many there are.
    edges = np.append(rank - 0.5, rank[-1:] + 0.5)
    base = np.zeros(len(rank))
    for values, colour, name in (
        (other, FAINT, "outside of MPI"),
        (rest, _REST, "in MPI"),
        (waiting, _WAITING, "waiting for late ranks"),
    ):
        axes.stairs(base + values, edges, baseline=base, fill=True, color=colour, label=name)
        base = base + values
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1.22 * max(float(base.max(initial=0.0)), 1e-9))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: format_seconds(value) if value else "0 s")
    )
    axes.set_xlabel("rank")
    axes.set_ylabel("time")
    axes.legend(frameon=False, fontsize=6.5, ncols=3, loc="upper left", handlelength=1)
    share = table["mpi_s"].to_numpy() / np.maximum(table["run_s"].to_numpy(), 1e-12)
    spread = percent_range(float(share.min()), float(share.max()), 0)
    late = table.sort("caused_s")["rank"][-1]
    words = f"Ranks spend {spread} of their time in MPI"
    return f"{words}; rank {late} is waited for most" if waiting.sum() > 0 else words


def _binned(
    size: int,
    ends: tuple[NDArray[np.integer], NDArray[np.integer]],
    values: NDArray[np.number],
) -> tuple[NDArray[np.float64], int]:
    """A matrix with as many cells as a picture shows, and how many ranks each has."""
    each = -(-size // _MOST_CELLS)
    cells = -(-size // each)
    matrix = np.zeros((cells, cells))
    np.add.at(matrix, (ends[0] // each, ends[1] // each), values.astype(np.float64))
    return matrix, each


def _short(place: str, room: int) -> str:
    """A place without what it takes and the outer names, as long as there is not room for them."""
    name = whole = place.replace("(anonymous namespace)::", "")
    begin, end = whole.find("("), whole.rfind(")")
    if 0 <= begin < end:
        name = whole = f"{whole[:begin]}(){whole[end + 1 :]}"
    while (bare := _TEMPLATE.sub("", name)) != name:
        name = bare
    if name != whole:
        # Of a template's instance the type of the result stands first.
        name = name.rpartition(" ")[2]
    while len(name) > room and "::" in name:
        name = name.partition("::")[2]
    return name if len(name) <= room else f"...{name[-room + 3 :]}"


_DRAWS: dict[ProfilePicture, Draw] = {
    ProfilePicture.SHARES: draw_shares,
    ProfilePicture.MATRIX: draw_matrix,
    ProfilePicture.RANKS: draw_ranks,
    ProfilePicture.WAITS: draw_waits,
}
_HEIGHTS = {
    ProfilePicture.SHARES: 2.6,
    ProfilePicture.MATRIX: 3.2,
    ProfilePicture.RANKS: 2.4,
    ProfilePicture.WAITS: 3.2,
}
_WIDTHS = {
    ProfilePicture.SHARES: 1.5 * COLUMN_WIDTH,
    ProfilePicture.MATRIX: 1.15 * COLUMN_WIDTH,
    ProfilePicture.RANKS: 1.5 * COLUMN_WIDTH,
    ProfilePicture.WAITS: 1.15 * COLUMN_WIDTH,
}
