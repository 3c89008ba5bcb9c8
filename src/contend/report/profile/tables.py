"""A profile as tables: the verdict, then routines, places, sizes, communicators, ranks, phases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from contend.base.units import counted, format_bytes, format_seconds
from contend.profiling import (
    OtherProgram,
    Phase,
    PlaceTime,
    ProfileFindings,
    ProfileRecord,
    ProgramProfile,
    SizeTime,
    SpentTime,
    Stuck,
)
from contend.report.table import Columns, Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent

_SHOWN = 12
_MOST_STUCK = 32
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
        profile.findings.place_times.group_by("routine", "place")
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
        ("run time", base.run_s, other.run_s),
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


def size_words(size: SizeTime) -> str:
    """The sizes of a class: ``0 B``, ``64 to 127 B``, ``4 to 8 KiB``."""
    low, high = size.from_bytes, size.to_bytes
    if high is None:
        return "not kept"
    if low == high:
        return f"{low} B"
    if high < 1024:
        return f"{low} to {high} B"
    return f"{format_bytes(low)} to {format_bytes(high + 1)}"


def _names(first: ProgramProfile, second: ProgramProfile) -> tuple[str, str]:
    if first.name != second.name:
        return first.name, second.name
    return str(first.folder), str(second.folder)


def _compared(first: ProgramProfile, second: ProgramProfile) -> str:
    base, other = first.findings.run_s, second.findings.run_s
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
            f"{format_seconds(findings.within_s)} of it from when all ranks had left MPI_Init to "
            "MPI_Finalize",
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
    run = f"{format_seconds(findings.run_s)} a rank"
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
    told = {
        "What the program did wrong": profile.record.mistakes,
        "What is missing": profile.record.missing,
    }
    for title, warnings in told.items():
        if warnings:
            rows = tuple((warning.text,) for warning in warnings)
            yield ResultTable(title=title, columns=("",), rows=rows)


def stuck_table(findings: ProfileFindings) -> Iterator[ResultTable]:
    """Where each rank was when the program was ended."""
    words = findings.stuck
    if not words.stuck:
        return

    def place(thread: Stuck) -> str:
        return f"{words.places[thread.site]}{words.details(thread)}" if thread.routine else ""

    hidden = len(words.stuck) - _MOST_STUCK
    yield table_of(
        "Where ranks were when the run was ended",
        words.stuck[:_MOST_STUCK],
        {
            "rank": Number(lambda thread: str(thread.rank)),
            "in": lambda thread: thread.routine or thread.ended or "in no MPI call",
            "called at": place,
            "for how long": Number(words.since),
            "waits for": lambda thread: words.whom(thread).removeprefix("for "),
        },
        note=f"{counted(hidden, 'further rank')}: --json has all." if hidden > 0 else "",
        leads=True,
    )


def _waiting(spent: SpentTime) -> str:
    """Which part of the time is waiting."""
    if spent.waiting_s is None:
        return UNKNOWN
    return percent(spent.waiting_s / spent.seconds if spent.waiting_s else 0.0)


_SHARES: Columns[Any] = {
    "time": "seconds",
    "of the run": "share",
    "of it waiting": Number(_waiting),
}


def _routines(findings: ProfileFindings) -> ResultTable:
    routines, run_s = findings.routines, max(findings.all_run_s, 1e-12)
    least = "" if findings.profile.record.left_out is None else "at least "
    return table_of(
        f"{percent(findings.mpi_share)} of the run is in MPI, {least}"
        f"{percent(findings.waiting_s / run_s)} waiting for late ranks",
        routines[:_SHOWN],
        {
            "routine": "routine",
            "calls": "calls",
            "bytes": "bytes",
            "mean call": Number(lambda row: format_seconds(row.seconds / max(row.calls, 1))),
            "longest": "longest_s",
            **_SHARES,
        },
        note=f"{_WAITING_NOTE} {_more(len(routines), 'routine')}".strip(),
    )


def _places(findings: ProfileFindings) -> ResultTable:
    shown = findings.places[:_SHOWN]
    # Where no line is known, the place is the function already.
    lines = any(row.place != row.symbol for row in shown) and any(row.symbol for row in shown)

    def function(row: PlaceTime) -> str:
        return row.symbol if row.place != row.symbol else ""

    return table_of(
        "By place in the program",
        shown,
        {
            "routine": "routine",
            "called at": "place",
            **({"function": function} if lines else {}),
            "calls": "calls",
            **_SHARES,
        },
        note=_more(len(findings.place_times), "place"),
    )


def _waits(findings: ProfileFindings) -> Iterator[ResultTable]:
    """The pairs of ranks of which one waits most for the other."""
    pairs = findings.pair_waits
    if pairs.is_empty():
        return
    saved, unsure = findings.balance_s, float(pairs["uncertainty_s"].sum())
    part = percent(saved / max(findings.run_s, 1e-12))
    doubt = f" The clocks leave these times uncertain by {format_seconds(unsure)} in all."
    yield table_of(
        "Who waits for whom",
        findings.waits[:_TOP_PAIRS],
        {
            "rank": Number(lambda wait: str(wait.rank)),
            "waits for": lambda wait: f"rank {wait.awaited}, {wait.kind}",
            "most of it in": lambda wait: f"{wait.routine} at {wait.place}",
            "time": "seconds",
            "of the run": "share",
        },
        note=f"If no rank were late, the run would be at most {format_seconds(saved)} ({part}) "
        f"shorter.{doubt if unsure else ''} {_more(len(pairs), 'pair')}".strip(),
    )


def _sizes(findings: ProfileFindings) -> ResultTable:
    return table_of(
        "By bytes of a call",
        findings.sizes,
        {"bytes of a call": size_words, "calls": "calls", "bytes": "bytes", **_SHARES},
        note="Bytes are what a rank sent or, in receives, what arrived.",
    )


def _communicators(findings: ProfileFindings) -> ResultTable:
    columns = {"communicator": "name", "ranks": "ranks", "calls": "calls", "bytes": "bytes"}
    return table_of(
        "By communicator",
        findings.communicators[:_SHOWN],
        {**columns, **_SHARES},
        note=_more(len(findings.communicator_times), "communicator"),
    )


def _phases(profile: ProgramProfile) -> Iterator[ResultTable]:
    phases = profile.record.phases
    if not phases:
        return
    routines, places = profile.record.routines, profile.sites["place"]
    longest = max(phases, key=lambda phase: phase.ended_s - phase.begun_s)

    def from_to(phase: Phase) -> str:
        return f"{format_seconds(phase.begun_s)} to {format_seconds(phase.ended_s)}"

    yield table_of(
        f"The program repeats itself: {longest.rounds:,} rounds of "
        f"{format_seconds(longest.mean_s)}, {percent(longest.mpi_share, 0)} of it in MPI",
        phases,
        {
            "begins with": lambda phase: f"{routines[phase.routine]} at {places[phase.site]}",
            "rounds": "rounds",
            "calls a round": "calls",
            "mean": "mean_s",
            "longest": "longest_s",
            "in MPI": "mpi_share",
            "from": Number(from_to),
        },
        note=f"From the calls of rank {phases[0].rank}.",
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


def _more(count: int, thing: str) -> str:
    hidden = count - _SHOWN
    return f"{counted(hidden, f'further {thing}')} took less." if hidden > 0 else ""
