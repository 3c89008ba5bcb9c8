"""A profile as tables: the verdict, then routines, places, sizes, communicators, ranks, phases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from contend.profiling import (
    ALL_SIZES,
    OtherProgram,
    Phase,
    ProfileFindings,
    ProfileRecord,
    ProgramProfile,
)
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent
from contend.units import counted, format_bytes, format_seconds

_SHOWN = 12
_MOST_STUCK = 32
_SHARES = ("time", "of the run", "of it waiting")
_NUMBERS = frozenset({"calls", "bytes", "mean call", "longest", *_SHARES})
_WAITING_NOTE = (
    "Shares are of the run times of all ranks together. Waiting: until the last rank enters a "
    "collective, until a message is sent, or until the receiver is ready for a large one; the rest "
    "is transfer."
)
_TOP_PAIRS = 8


def profile_tables(profile: ProgramProfile) -> list[ResultTable]:
    """Everything that is told of one profile below its verdict."""
    findings = profile.findings
    return [
        _summary(profile),
        *stuck_table(findings),
        *_missing(profile),
        _routines(findings),
        _places(findings),
        *_waits(findings),
        _sizes(findings),
        _communicators(findings),
        *_phases(profile),
        _ranks(findings),
    ]


def profile_comparison_table(first: ProgramProfile, second: ProgramProfile) -> ResultTable:
    """Times of a rank in two profiles, by routine and place; what changed most comes first."""
    sides = [
        profile.findings.places.group_by("routine", "place")
        .agg(pl.col("seconds", "calls").sum())
        .with_columns(
            pl.col("routine").cast(pl.String), pl.col("seconds") / max(len(profile.ranks), 1)
        )
        for profile in (first, second)
    ]
    joined = sides[0].join(sides[1], on=("routine", "place"), how="full", coalesce=True)
    joined = joined.fill_null(0).with_columns(
        (pl.col("seconds_right") - pl.col("seconds")).alias("change")
    )
    shown = joined.sort(pl.col("change").abs(), descending=True).head(_SHOWN)
    rows = [
        _changed(f"{row['routine']} at {row['place']}", row["seconds"], row["seconds_right"])
        for row in shown.iter_rows(named=True)
    ]
    base, other = first.findings, second.findings
    heads = [
        ("run time", base.mean_run_s, other.mean_run_s),
        ("time in MPI", _per_rank(base, base.mpi_s), _per_rank(other, other.mpi_s)),
        (
            "waiting for late ranks",
            _per_rank(base, base.waiting_s),
            _per_rank(other, other.waiting_s),
        ),
    ]
    names = _names(first, second)
    return ResultTable(
        title=_compared(first, second),
        columns=("mean of a rank", *names, "difference", "ratio"),
        rows=(*(_changed(*head) for head in heads), *rows),
        numeric=frozenset({*names, "difference", "ratio"}),
        note="The places where the time changed most come after the totals.",
    )


def size_class_words(size_class: int) -> str:
    """The sizes of a class: ``0 B``, ``64 to 127 B``, ``4 to 8 KiB``."""
    if size_class == ALL_SIZES:
        return "not kept"
    if size_class < 2:
        return f"{size_class} B"
    low, high = 2 ** (size_class - 1), 2**size_class
    if high <= 1024:
        return f"{low} to {high - 1} B"
    return f"{format_bytes(low)} to {format_bytes(high)}"


def _names(first: ProgramProfile, second: ProgramProfile) -> tuple[str, str]:
    if first.name != second.name:
        return first.name, second.name
    return str(first.folder), str(second.folder)


def _compared(first: ProgramProfile, second: ProgramProfile) -> str:
    base, other = first.findings.mean_run_s, second.findings.mean_run_s
    if base <= 0 or other <= 0:
        return "Two profiles"
    name = _names(first, second)[1]
    if other >= base:
        return f"{name} takes {other / base:.2f} times as long"
    return f"{name} is {base / other:.2f} times as fast"


def _per_rank(findings: ProfileFindings, seconds: float) -> float:
    return seconds / max(len(findings.profile.ranks), 1)


def _changed(what: str, base: float, other: float) -> tuple[str, ...]:
    ratio = f"{other / base:.2f}" if base > 0 else UNKNOWN
    difference = other - base
    sign = "+" if difference >= 0 else "-"
    words = f"{sign}{format_seconds(abs(difference))}"
    return (what, format_seconds(base), format_seconds(other), words, ratio)


def _summary(profile: ProgramProfile) -> ResultTable:
    record, findings = profile.record, profile.findings
    hosts = counted(len(record.hosts), "host")
    rows = [
        ("command", " ".join(record.command)),
        ("program", ", ".join([*record.programs, *filter(None, [record.origin])])),
        ("other programs", _others_words(record.others)),
        ("ranks", f"{counted(record.ranks, 'rank')} on {hosts}"),
        ("MPI library", record.library),
        ("place", record.place),
        ("conditions", ", ".join(f"{name}: {value}" for name, value in record.labels.items())),
        ("run time", _run_words(findings)),
        (
            "whole run",
            f"{format_seconds(record.run_s)}, from the first MPI_Init or session to the last end; "
            f"{format_seconds(findings.within_s)} of it from the end of MPI_Init to MPI_Finalize",
        ),
        ("exit status", "" if record.status is None else str(record.status)),
        ("clock", _clock_words(record.uncertainty_s)),
        ("record of a rank", _record_words(record)),
    ]
    return ResultTable(
        title="What ran",
        columns=("", ""),
        rows=tuple(row for row in rows if row[1]),
    )


def _record_words(record: ProfileRecord) -> str:
    lasts = (
        ""
        if record.lasts_s is None
        else (
            f"; at the rate of this run its events are full after {format_seconds(record.lasts_s)}"
        )
    )
    return f"{format_bytes(record.record_bytes)} at most{lasts}"


def _others_words(others: Sequence[OtherProgram]) -> str:
    """Profiles of the command's other programs, each with how it came."""
    named = [f"{other.folder} ({other.origin})" for other in others[:_SHOWN]]
    return ", ".join([*named, *(["..."] if len(others) > _SHOWN else [])])


def _run_words(findings: ProfileFindings) -> str:
    run = f"{format_seconds(findings.mean_run_s)} a rank"
    around = (("MPI_Init", findings.begin_s), ("MPI_Finalize", findings.end_s))
    taken = [f"{format_seconds(seconds)} in {name}" for name, seconds in around if seconds]
    return f"{run}, besides {' and '.join(taken)}" if taken else run


def _clock_words(uncertainty: float | None) -> str:
    if uncertainty is None:
        return "not all clocks could be compared"
    if uncertainty == 0:
        return "one for all ranks"
    return f"the ranks' clocks agree within {format_seconds(2 * uncertainty)}"


def _missing(profile: ProgramProfile) -> Iterator[ResultTable]:
    if profile.record.missing:
        yield ResultTable(
            title="What is missing",
            columns=("",),
            rows=tuple((warning.text,) for warning in profile.record.missing),
        )


def stuck_table(findings: ProfileFindings) -> Iterator[ResultTable]:
    """Where each rank was when the program was ended."""
    words = findings.stuck
    if not words.stuck:
        return
    places = findings.profile.sites["place"]
    rows = []
    for thread in words.stuck[:_MOST_STUCK]:
        called = thread.routine or thread.ended or "in no MPI call"
        place = f"{places[thread.site]}{words.details(thread)}" if thread.routine else ""
        whom = words.whom(thread).removeprefix("for ")
        rows.append((str(thread.rank), called, place, words.since(thread), whom))
    hidden = len(words.stuck) - len(rows)
    yield ResultTable(
        title="Where ranks were when the run was ended",
        columns=("rank", "in", "called at", "for how long", "waits for"),
        rows=tuple(rows),
        numeric=frozenset({"rank", "for how long"}),
        note=f"{counted(hidden, 'further rank')}: --json has all." if hidden > 0 else "",
        leads=True,
    )


def _shares(row: dict[str, Any]) -> tuple[str, ...]:
    """Time, its share of the run, and which part of it is waiting."""
    waiting = row["waiting_s"]
    part = UNKNOWN if waiting is None else percent(waiting / row["seconds"] if waiting else 0.0)
    return format_seconds(row["seconds"]), percent(row["share"]), part


def _routines(findings: ProfileFindings) -> ResultTable:
    table = findings.routines
    rows = tuple(
        (
            row["routine"],
            f"{row['calls']:,}",
            format_bytes(row["bytes"]),
            format_seconds(row["seconds"] / max(row["calls"], 1)),
            format_seconds(row["longest_s"]),
            *_shares(row),
        )
        for row in table.head(_SHOWN).iter_rows(named=True)
    )
    columns = ("routine", "calls", "bytes", "mean call", "longest", *_SHARES)
    note = f"{_WAITING_NOTE} {_more(table, 'routine')}".strip()
    full = findings.profile.record.left_out
    least = "" if full is None else "at least "
    return ResultTable(
        title=f"{percent(findings.mpi_share)} of the run is in MPI, {least}"
        f"{percent(findings.waiting_s / max(findings.run_s, 1e-12))} waiting for late ranks",
        columns=columns,
        rows=rows,
        numeric=_NUMBERS,
        note=note,
    )


def _places(findings: ProfileFindings) -> ResultTable:
    table = findings.places
    shown = table.head(_SHOWN)
    # Where no line is known, the place is the function already.
    lines = (shown["place"] != shown["symbol"]).any() and (shown["symbol"] != "").any()
    rows = tuple(
        (
            row["routine"],
            row["place"],
            *((row["symbol"] if row["place"] != row["symbol"] else "",) if lines else ()),
            f"{row['calls']:,}",
            *_shares(row),
        )
        for row in shown.iter_rows(named=True)
    )
    function = ("function",) if lines else ()
    return ResultTable(
        title="By place in the program",
        columns=("routine", "called at", *function, "calls", *_SHARES),
        rows=rows,
        numeric=_NUMBERS,
        note=_more(table, "place"),
    )


def _waits(findings: ProfileFindings) -> Iterator[ResultTable]:
    """The pairs of ranks of which one waits most for the other."""
    table = findings.waits
    if table.is_empty():
        return
    rows = tuple(
        (
            str(row["rank"]),
            f"rank {row['awaited']}, {row['kind']}",
            f"{row['routine']} at {row['place']}",
            format_seconds(row["seconds"]),
            percent(row["share"]),
        )
        for row in table.head(_TOP_PAIRS).iter_rows(named=True)
    )
    saved, unsure = findings.balance_s, float(table["uncertainty_s"].sum())
    part = percent(saved / max(findings.mean_run_s, 1e-12))
    doubt = f" The clocks leave these times uncertain by {format_seconds(unsure)} in all."
    yield ResultTable(
        title="Who waits for whom",
        columns=("rank", "waits for", "most of it in", "time", "of the run"),
        rows=rows,
        numeric=frozenset({"rank", "time", "of the run"}),
        note=f"If no rank were late, the run would be at most {format_seconds(saved)} ({part}) "
        f"shorter.{doubt if unsure else ''} {_more(table, 'pair')}".strip(),
    )


def _sizes(findings: ProfileFindings) -> ResultTable:
    return ResultTable(
        title="By bytes of a call",
        columns=("bytes of a call", "calls", "bytes", *_SHARES),
        rows=tuple(
            (
                size_class_words(row["size_class"]),
                f"{row['calls']:,}",
                format_bytes(row["bytes"]),
                *_shares(row),
            )
            for row in findings.sizes.iter_rows(named=True)
        ),
        numeric=_NUMBERS,
        note="Bytes are what a rank sent or, in receives, what arrived.",
    )


def _communicators(findings: ProfileFindings) -> ResultTable:
    table = findings.communicators
    return ResultTable(
        title="By communicator",
        columns=("communicator", "ranks", "calls", "bytes", *_SHARES),
        rows=tuple(
            (
                communicator_words(row),
                f"{row['size']:,}",
                f"{row['calls']:,}",
                format_bytes(row["bytes"]),
                *_shares(row),
            )
            for row in table.head(_SHOWN).iter_rows(named=True)
        ),
        numeric=_NUMBERS | {"ranks"},
        note=_more(table, "communicator"),
    )


def communicator_words(row: dict[str, Any]) -> str:
    """A communicator for people: its name, else its number; its kind and extent."""
    name = row["name"] or f"communicator {row['communicator']}"
    if row["kind"] == "intra":
        return name
    extent = f" {row['extent']}" if row["extent"] else ""
    return f"{name}, {row['kind']}{extent}"


def _phases(profile: ProgramProfile) -> Iterator[ResultTable]:
    phases = profile.record.phases
    if phases:
        yield ResultTable(
            title=f"The program repeats itself: {phase_words(max(phases, key=_length))}",
            columns=("begins with", "rounds", "calls a round", "mean", "longest", "in MPI", "from"),
            rows=tuple(_phase(profile, phase) for phase in phases),
            numeric=frozenset({"rounds", "calls a round", "mean", "longest", "in MPI", "from"}),
            note=f"From the calls of rank {phases[0].rank}.",
        )


def phase_words(phase: Phase) -> str:
    """A phase for people: ``60 rounds of 120 ms, 91 % of it in MPI``."""
    mean = format_seconds(phase.mean_s)
    return f"{phase.rounds:,} rounds of {mean}, {percent(phase.mpi_share, 0)} of it in MPI"


def _length(phase: Phase) -> float:
    return phase.ended_s - phase.begun_s


def _phase(profile: ProgramProfile, phase: Phase) -> tuple[str, ...]:
    routine, place = profile.record.routines[phase.routine], profile.sites["place"][phase.site]
    return (
        f"{routine} at {place}",
        f"{phase.rounds:,}",
        f"{phase.calls:,}",
        format_seconds(phase.mean_s),
        format_seconds(phase.longest_s),
        percent(phase.mpi_share),
        f"{format_seconds(phase.begun_s)} to {format_seconds(phase.ended_s)}",
    )


def _ranks(findings: ProfileFindings) -> ResultTable:
    table = findings.ranks
    measures = (
        ("in MPI", pl.col("mpi_s") / pl.col("run_s"), percent),
        ("waiting for late ranks", pl.col("waiting_s"), format_seconds),
        ("others waited because of it", pl.col("caused_s"), format_seconds),
        ("sent", pl.col("sent_bytes").cast(pl.Float64), format_bytes),
        ("messages", pl.col("messages").cast(pl.Float64), lambda value: f"{value:,.0f}"),
        ("neighbours it sent to", pl.col("neighbours").cast(pl.Float64), lambda v: f"{v:,.0f}"),
    )
    rows = []
    for name, expression, words in measures:
        values = table.select("rank", expression.alias("value")).sort("value", "rank")
        least, most = values.row(0), values.row(-1)
        median: Any = values["value"].median()
        rows.append(
            (name, words(least[1]), str(least[0]), words(median), words(most[1]), str(most[0]))
        )
    return ResultTable(
        title="Rank by rank",
        columns=("", "least", "of rank", "median", "most", "of rank "),
        rows=tuple(rows),
        numeric=frozenset({"least", "of rank", "median", "most", "of rank "}),
        note="Neighbours are those of point-to-point messages.",
    )


def _more(table: pl.DataFrame, thing: str) -> str:
    hidden = len(table) - _SHOWN
    return f"{counted(hidden, f'further {thing}')} took less." if hidden > 0 else ""
