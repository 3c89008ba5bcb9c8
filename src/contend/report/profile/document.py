"""Profiles as documents: one, several beside the first, and those that a command just left."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from contend.base.units import counted
from contend.profiling import ProgramProfile
from contend.report.document import Document
from contend.report.profile.tables import profile_comparison_table, profile_tables

if TYPE_CHECKING:
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
    names = ["shares", "matrix", "ranks", "waits"]
    drawn = [name for name in names if name == picture or _shows(profiles, name)]
    return Document(
        verdict="\n".join(
            profile.findings.verdict
            if len(profiles) == 1
            else f"{profile.name}: {profile.findings.verdict}"
            for profile in profiles
        ),
        tables=[*tables, *(profile_comparison_table(profiles[0], one) for one in profiles[1:])],
        record=_record(profiles),
        pictures={name: partial(_figures, name, profiles) for name in drawn},
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
    # Here: profiles are told without what draws.
    from contend.report.profile.figures import profile_figure

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
