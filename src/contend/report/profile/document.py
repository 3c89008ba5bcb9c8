"""Profiles as documents with figures: one, several beside the first, or those just left."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import ArgumentError
from contend.base.units import counted, format_bytes, format_seconds, nearest
from contend.profiling import ProgramProfile
from contend.report.charts import (
    Bars,
    Chart,
    Histogram,
    Matrix,
    Nothing,
    Outline,
    Stack,
    charted,
    in_axes,
)
from contend.report.document import Document
from contend.report.profile.tables import profile_comparison_table, profile_tables
from contend.report.series import Axis, Unit
from contend.report.style import COLOURS, COLUMN_WIDTH, FAINT
from contend.report.words import percent, percent_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Programs of one command; test suites start hundreds.
_MOST_TOLD = 8


def profile_document(profile: ProgramProfile) -> Document:
    """All that is told of a profile."""
    return profiles_document([profile])


def profiles_document(profiles: Sequence[ProgramProfile], picture: str | None = None) -> Document:
    """What profiles say, the others beside the first.

    Args:
        profiles: at least one.
        picture: the only one that is wanted: ``shares``, ``matrix``, ``ranks`` or ``waits``.
    """
    tables = [table for profile in profiles for table in profile_tables(profile)]
    drawn = [name for name in ProfilePicture if name == picture or _shows(profiles, name)]
    return Document(
        verdict="\n".join(
            profile.findings.verdict
            if len(profiles) == 1
            else f"{profile.name}: {profile.findings.verdict}"
            for profile in profiles
        ),
        tables=[*tables, *(profile_comparison_table(profiles[0], one) for one in profiles[1:])],
        record=_record(profiles),
        pictures={str(name): partial(_figures, name, profiles) for name in drawn},
        picture=picture,
        rows=partial(calls_csv, profiles),
    )


@dataclass(frozen=True)
class Profiles:
    """Several profiles."""

    results: tuple[ProgramProfile, ...]
    """Profiles in the order given."""


def _record(profiles: Sequence[ProgramProfile]) -> ProgramProfile | Profiles:
    return profiles[0] if len(profiles) == 1 else Profiles(tuple(profiles))


def recorded_document(profiles: Sequence[ProgramProfile]) -> Document:
    """What a command's programs communicated: the verdicts, and where all of it is.

    Args:
        profiles: of its programs; figures are of the first.
    """
    told = profiles[:_MOST_TOLD]
    closing = [line for profile in told for line in _closing(profile)]
    if len(profiles) > len(told):
        more = counted(len(profiles) - len(told), "more program")
        closing.append(f"{more}, up to: contend report {shlex.quote(str(profiles[-1].folder))}")
    first = profiles_document(profiles[:1])
    return replace(
        first,
        verdict="\n".join(map(_verdict, told)),
        record=_record(profiles),
        rows=partial(calls_csv, profiles),
        closing=closing,
        brief=True,
    )


def _verdict(profile: ProgramProfile) -> str:
    verdict = profile.findings.verdict
    if not profile.record.origin:
        return verdict
    names = " and ".join(sorted({Path(file).name for file in profile.record.programs}))
    return f"{names}, {profile.record.origin}: {verdict}"


def _closing(profile: ProgramProfile) -> Iterator[str]:
    for mistake in profile.record.mistakes:
        yield f"mistake: {mistake.text}"
    for warning in profile.record.missing:
        yield f"missing: {warning.text}"
    yield f"full report: contend report {shlex.quote(str(profile.folder))}"


def _shows(profiles: Sequence[ProgramProfile], picture: str) -> bool:
    """Whether a picture of some of these profiles shows something."""
    if picture == "matrix":
        return any(profile.peers["bytes"].sum() for profile in profiles)
    if picture == "waits":
        return any(profile.findings.pair_waits["seconds"].sum() for profile in profiles)
    return True


def _figures(picture: str, profiles: Sequence[ProgramProfile]) -> Iterator[tuple[str, Figure]]:
    for profile in profiles:
        if _shows([profile], picture) or len(profiles) == 1:
            name = picture if len(profiles) == 1 else f"{profile.name}-{picture}"
            yield name, profile_figure(profile, picture)


def calls_csv(profiles: Sequence[ProgramProfile]) -> str:
    """Every row of the tables of calls as a line of CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = ("rank", "routine", "communicator", "place", "size_class", "calls", "bytes", "seconds")
    writer.writerow(("profile", *heads, "longest_s", "waiting_s"))
    for profile in profiles:
        places = profile.sites.select("site", "place")
        table = profile.findings.cells.join(places, on="site", maintain_order="left")
        for row in table.select(*heads, "longest_s", "waiting_s").iter_rows():
            writer.writerow((profile.name, *row))
    return text.getvalue()


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


def profile_figure(profile: ProgramProfile, picture: str | None = None) -> Figure:
    """One picture of a profile.

    Raises:
        UsageError: there is no such picture.
    """
    name = _known(picture)
    chart, finding = _CHARTS[name](profile)
    width, height = _SIZES[name]
    return charted(finding, chart, height=height, width=width)


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
    return in_axes(axes, _SIZES[name], *_CHARTS[name](profile))


def _known(picture: str | None) -> ProfilePicture:
    if picture is None:
        return ProfilePicture.SHARES
    if picture not in list(ProfilePicture):
        names = ", ".join(ProfilePicture)
        hint = nearest(picture, ProfilePicture)
        raise ArgumentError("picture", f"expected one of {names} for profiles, got {picture}{hint}")
    return ProfilePicture(picture)


def _shares(profile: ProgramProfile) -> tuple[Chart, str]:
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
    late = "of which waiting for late ranks" if waiting.any() else ""
    chart = Bars(
        names=names,
        ends=[percent(float(share)) for share in total],
        stacks=[
            Stack(total - waiting, colour=_REST, name="in the call"),
            Stack(waiting, colour=_WAITING, name=late),
        ],
        x=Axis(
            "of the run times of all ranks",
            Unit.SHARE,
            (0, 1.02 * max(float(total.max(initial=0.0)), 0.01)),
        ),
        # Above, where no bar can be.
        legend="above right" if late else "",
        columns=2,
    )
    run = format_seconds(findings.run_s)
    who = counted(len(profile.ranks), "rank")
    return chart, f"{percent(findings.mpi_share, 0)} of the {run} of {who} is in MPI"


def _matrix(profile: ProgramProfile) -> tuple[Chart, str]:
    """Bytes from every rank to every other, by colour on a logarithmic scale."""
    sent = profile.peers
    size = profile.size
    ends = (sent["source"].to_numpy(), sent["destination"].to_numpy())
    if not sent["bytes"].to_numpy().any():
        empty = Nothing(why="no messages to known peers")
        return empty, "No rank sent anything to a peer that is known"
    chart = replace(
        _pairs(size, ends, sent["bytes"].to_numpy(), format_bytes, 32),
        x=Axis("to rank"),
        y=Axis("from rank"),
    )
    # One number for a pair: as two columns, those of thousands of ranks take gigabytes.
    pair = pl.col("source").cast(pl.UInt64) * size + pl.col("destination")
    apart = sent.filter(pl.col("source") != pl.col("destination"))
    pairs = apart.select(pair.n_unique()).item()
    total = format_bytes(float(sent["bytes"].sum()))
    of_all = percent(pairs / max(size * (size - 1), 1), 0)
    return chart, f"{total} between {pairs:,} pairs of ranks, {of_all} of all pairs"


def _waits(profile: ProgramProfile) -> tuple[Chart, str]:
    """Time that every rank waits for every other, by colour on a logarithmic scale."""
    waits, run_s = profile.findings.pair_waits, profile.findings.all_run_s
    ends = (waits["rank"].to_numpy(), waits["awaited"].to_numpy())
    if not waits["seconds"].to_numpy().any():
        return Nothing(why="no waiting is known"), "No rank is known to wait for another"
    chart = replace(
        _pairs(profile.size, ends, waits["seconds"].to_numpy(), format_seconds, 10),
        x=Axis("waits for rank"),
        y=Axis("rank"),
    )
    part = percent(float(waits["seconds"].sum()) / max(run_s, 1e-12), 0)
    caused = waits.group_by("awaited").agg(pl.col("seconds").sum())
    most = caused.sort("seconds", "awaited", descending=[True, False])["awaited"][0]
    until = " before they stood still" if profile.findings.stuck.stood_still else ""
    return chart, f"Ranks wait {part} of their time{until}, mostly for rank {most}"


def _pairs(
    size: int,
    ends: tuple[NDArray[np.integer], NDArray[np.integer]],
    values: NDArray[np.number],
    words: Callable[[float], str],
    base: int,
) -> Matrix:
    """Ranks by ranks, in as many cells as a picture shows."""
    each = -(-size // _MOST_CELLS)
    cells = -(-size // each)
    matrix = np.zeros((cells, cells))
    np.add.at(matrix, (ends[0] // each, ends[1] // each), values.astype(np.float64))
    scale = f"sum over {each} x {each} ranks" if each > 1 else ""
    return Matrix(values=matrix, size=size, told=words, base=base, scale=scale)


def _ranks(profile: ProgramProfile) -> tuple[Chart, str]:
    """Rank by rank: waiting for late ranks, the rest of the time in MPI, and all else."""
    table = profile.findings.ranks
    rank = table["rank"].to_numpy()
    waiting = table["waiting_s"].to_numpy()
    rest = np.maximum(table["mpi_s"].to_numpy() - waiting, 0)
    other = np.maximum(table["run_s"].to_numpy() - waiting - rest, 0)
    # Steps have no gaps between ranks, however many there are.
    edges = np.append(rank - 0.5, rank[-1:] + 0.5)
    base = np.zeros(len(rank))
    outlines = []
    for values, colour, name in (
        (other, FAINT, "outside of MPI"),
        (rest, _REST, "in MPI"),
        (waiting, _WAITING, "waiting for late ranks"),
    ):
        outlines.append(Outline(values, base=base, colour=colour, fill=1, line="", name=name))
        base = base + values
    chart = Histogram(
        edges=edges,
        outlines=outlines,
        x=Axis("rank", Unit.COUNT, (edges[0], edges[-1])),
        y=Axis("time", Unit.TIME, (0, 1.04 * max(float(base.max(initial=0.0)), 1e-9))),
        legend="above left",
        columns=3,
    )
    share = table["mpi_s"].to_numpy() / np.maximum(table["run_s"].to_numpy(), 1e-12)
    spread = percent_range(float(share.min()), float(share.max()), 0)
    late = table.sort("caused_s")["rank"][-1]
    words = f"Ranks spend {spread} of their time in MPI"
    more = f"; rank {late} is waited for most" if waiting.sum() > 0 else ""
    return chart, f"{words}{more}"


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


_CHARTS: dict[ProfilePicture, Callable[[ProgramProfile], tuple[Chart, str]]] = {
    ProfilePicture.SHARES: _shares,
    ProfilePicture.MATRIX: _matrix,
    ProfilePicture.RANKS: _ranks,
    ProfilePicture.WAITS: _waits,
}
_WIDE, _SQUARE = 1.5 * COLUMN_WIDTH, 1.15 * COLUMN_WIDTH
_SIZES = {
    ProfilePicture.SHARES: (_WIDE, 2.6),
    ProfilePicture.MATRIX: (_SQUARE, 3.2),
    ProfilePicture.RANKS: (_WIDE, 2.4),
    ProfilePicture.WAITS: (_SQUARE, 3.2),
}
