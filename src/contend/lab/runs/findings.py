"""Everything that is found in a run, computed once: what tables, figures and JSON take it from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from contend.base.units import counted, format_bytes, format_seconds, verb
from contend.lab.runs.collapse import Collapse, collapses
from contend.lab.runs.frames import CellEnd
from contend.lab.runs.record import (
    NO_TIME,
    Failure,
    LaunchRecord,
    PointError,
    RunRecord,
    Warned,
)
from contend.lab.runs.statistics import FEWEST
from contend.lab.runs.summary import COMPARED, CellSummary, summarise
from contend.lab.runs.winners import Contest, contests

_MANY_LATE = 0.1
_NOTICEABLE = 0.05
_MOST_PARTS = 12
_OF_RESULTS = ("agreed_s", "result_s", "late_by_s", "start_s")
_ENDED_WELL = ("done", "unknown")


@dataclass(frozen=True)
class CellParts:
    """Durations of what a probe times beside or within a cell's samples, such as barriers."""

    cell: CellSummary
    """Figures of the cell."""
    seconds: dict[str, float]
    """Median over the samples that count of the slowest rank's duration, by name without its
    ``_s``."""
    shares: dict[str, float]
    """Median over the same samples of that duration over the sample's own."""


@dataclass(frozen=True)
class Findings:
    """What a run's samples say."""

    cells: tuple[CellSummary, ...]
    """Figures of every cell that has timed samples, in the run's order."""
    parts: tuple[CellParts, ...]
    """Parts of the cells whose probe timed parts of its samples."""
    contests: tuple[Contest, ...]
    """Which algorithm wins at every size; empty where algorithms do different work, as those of a
    ping-pong do."""
    collapses: tuple[Collapse, ...]
    """Where rates collapse."""
    errors: tuple[PointError, ...]
    """Points without a figure, each once for a launch: those that the record names, then those that
    the launches' own files tell."""
    remarks: tuple[Warned, ...]
    """Warnings of the record, then those that the samples give reason for."""
    clock_residual_s: float | None
    """Largest residual of any clock in any synchronisation; None: none known."""
    timer_s: float | None
    """What reading the clock took in the slowest launch; None: not known."""


def find(record: RunRecord, results: pl.DataFrame) -> Findings:
    """Everything that is found in a run; `lab.runs.Run.findings` keeps it.

    Args:
        record: of the run.
        results: a row for each of its samples, as `lab.runs.Run.results`.
    """
    cells = summarise(record, results)
    compared = record.probe in COMPARED
    crowded = any(launch.oversubscribed for launch in record.measured)
    return Findings(
        cells=cells,
        parts=_parts(cells, results),
        contests=contests(cells) if compared else (),
        collapses=collapses(cells, compared=compared, crowded=crowded),
        errors=_errors(record, cells),
        remarks=_remarks(record, cells),
        clock_residual_s=_clock_residual(record),
        timer_s=_timer_cost(record),
    )


def _parts(cells: Sequence[CellSummary], results: pl.DataFrame) -> tuple[CellParts, ...]:
    """Durations of every cell that has some, in the run's order; at most twelve for each."""
    names = [
        name
        for name in results.columns
        if name.endswith("_s") and name not in _OF_RESULTS and results[name].dtype.is_float()
    ][:_MOST_PARTS]
    if not names:
        return ()
    timed = results.filter(~pl.col("warmup"))
    # Late samples count where those of the cells' own figures do, see `CellSummary.by_launch`.
    forced = [cell.record.cell for cell in cells if cell.late_count]
    counting = timed.filter(~pl.col("late") | pl.col("cell").is_in(forced))
    # A share is of one sample: the medians of two columns may be of samples far apart.
    medians = counting.group_by("cell").agg(
        *(pl.col(name).median() for name in names),
        *((pl.col(name) / pl.col("result_s")).median().alias(f"{name}hare") for name in names),
    )
    rows = {row["cell"]: row for row in medians.iter_rows(named=True)}
    parts = []
    for cell in cells:
        row = rows.get(cell.record.cell, {})
        known = [name for name in names if row.get(name) is not None]
        if known:
            seconds = {name.removesuffix("_s"): row[name] for name in known}
            shares = {name.removesuffix("_s"): row[f"{name}hare"] for name in known}
            parts.append(CellParts(cell, seconds, shares))
    return tuple(parts)


def _errors(record: RunRecord, cells: Sequence[CellSummary]) -> tuple[PointError, ...]:
    """Points without a figure; what the record says of a point counts before all else."""
    measured = {(cell.record.cell, launch) for cell in cells for launch in cell.by_launch}
    every = [
        *record.errors,
        *(error for launch in record.launches for error in _of_launch(record, launch, measured)),
    ]
    first: dict[tuple[object, ...], PointError] = {}
    for error in every:
        labels = tuple(sorted((name, str(value)) for name, value in error.labels.items()))
        first.setdefault((error.launch, error.algorithm, error.bytes, labels), error)
    return tuple(first.values())


def _of_launch(
    record: RunRecord, launch: LaunchRecord, measured: set[tuple[int, int]]
) -> Iterator[PointError]:
    if not launch.ends:
        if launch.status not in _ENDED_WELL and launch.whole not in {n for _, n in measured}:
            ended = _why_ended(launch)
            yield PointError(ended.cause, ended.reason, launch.whole)
        return
    # What one start of a launch was cut in, another of its starts may have measured.
    others = [
        other for other in record.launches if other.whole == launch.whole and other is not launch
    ]
    again = {end.cell for other in others for end in other.ends if end.is_sampled}
    for end in launch.ends:
        if end.reason == "cut" and end.cell in again:
            continue
        cell = record.cells[end.cell] if end.cell < len(record.cells) else None
        why = _why_no_figure(launch, end, (end.cell, launch.whole) in measured)
        if cell is not None and why is not None:
            at = launch.whole, cell.algorithm, cell.bytes, cell.labels
            yield PointError(why.cause, why.reason, *at)


def _why_no_figure(launch: LaunchRecord, end: CellEnd, has_samples: bool) -> Failure | None:
    """None where the cell has a figure in this launch."""
    if end.verified is False:
        return Failure("data", end.said or "the data were wrong")
    if end.reason == "cut":
        # Samples up to an interruption are sound; those up to a crash are of a launch gone wrong.
        interrupted = launch.status in ("interrupted", *_ENDED_WELL)
        return None if has_samples and interrupted else _why_ended(launch)
    if end.reason in ("budget", "skipped") and end.said in ("", NO_TIME) and not has_samples:
        return Failure("budget", "no time was left for it")
    if end.is_sampled and has_samples:
        return None
    reason = end.said or f"no sample was made ({end.reason})"
    if "not enough memory" in end.said:
        return Failure("memory", reason)
    return Failure("unsuited" if end.reason == "skipped" else "launch", reason)


def _why_ended(launch: LaunchRecord) -> Failure:
    early = f"the launch ended early ({launch.status})"
    return Failure.of_ending(launch.status, launch.why, early)


def _remarks(record: RunRecord, cells: Sequence[CellSummary]) -> tuple[Warned, ...]:
    """The run's warnings, then those that its samples give reason for; one for each code."""
    known = {warning.code for warning in record.warnings}
    more = [
        *(warning for launch in record.launches for warning in _about_launch(launch)),
        *_about_cells(cells),
        *_about_clocks(record, cells),
    ]
    first = {warning.code: warning for warning in reversed(more) if warning.code not in known}
    return (*record.warnings, *reversed(first.values()))


def _about_launch(launch: LaunchRecord) -> Iterator[Warned]:
    if launch.status not in _ENDED_WELL:
        why = f": {launch.why}" if launch.why else ""
        text = f"launch {launch.number} ended early ({launch.status}){why}"
        yield Warned("launch", text)
    measured = launch.measured
    if measured is None:
        return
    if launch.status in _ENDED_WELL and measured.done is None:
        text = f"launch {launch.number} did not finish; the samples that it made are kept"
        yield Warned("cut", text)
    if measured.torn_bytes:
        torn = counted(measured.torn_bytes, "byte")
        text = f"the last sample of launch {launch.number} is incomplete ({torn}) and was left out"
        yield Warned("torn", text)
    if measured.oversubscribed:
        text = (
            "ranks shared processors, so times include waiting for a processor, not only the "
            "network; use fewer ranks per host"
        )
        yield Warned("oversubscribed", text)
    failed = [end for end in measured.ends if end.reason == "failed" or end.verified is False]
    if failed:
        reason = next((f": {end.said}" for end in failed if end.said), "")
        text = f"{counted(len(failed), 'cell')} of launch {launch.number} failed{reason}"
        yield Warned("failed", text)


def _about_cells(cells: Sequence[CellSummary]) -> Iterator[Warned]:
    timed, late = sum(cell.n for cell in cells), sum(cell.late for cell in cells)
    if late > _MANY_LATE * timed:
        text = f"a rank started late in {100 * late / timed:.0f} % of the samples"
        forced = sum(cell.late_count for cell in cells)
        if forced:
            text += (
                f"; in {counted(forced, 'cell')} fewer than {FEWEST} samples were on time, so "
                "late ones count there"
            )
        yield Warned("late", text)
    beyond = [cell for cell in cells if cell.beyond_wire]
    if beyond:
        largest = max(cell.record.bytes or 0 for cell in beyond)
        yield Warned(
            "beyond-wire",
            f"in {counted(len(beyond), 'cell')} of up to {format_bytes(largest)} ranks sent "
            "faster than the hosts' ports or the cables between switches: so few bytes fit into "
            "buffers or pass at once in an emulated cable's burst; their times do not show what "
            "the network carries",
        )
    few = sum(cell.used < FEWEST for cell in cells)
    if few:
        have = f"{counted(few, 'cell')} {verb(few, 'has')}"
        text = f"{have} fewer than {FEWEST} samples and so no interval"
        yield Warned("few-samples", f"{text}; give the measurement a larger budget")
    launches = {cell.launches for cell in cells if cell.median.promised < 0.95}
    if launches:
        covered = min(cell.median.promised for cell in cells)
        yield Warned(
            "few-launches",
            f"intervals over {counted(min(launches), 'launch')} reach from the lowest to the "
            f"highest and cover the median with at least {100 * covered:.3g} %, not 95 %; measure "
            f"{FEWEST} launches or more",
        )


def _about_clocks(record: RunRecord, cells: Sequence[CellSummary]) -> Iterator[Warned]:
    shortest = min((cell.sample_s for cell in cells), default=0.0)
    residual = _clock_residual(record)
    if shortest > 0 and residual is not None and residual > _NOTICEABLE * shortest:
        yield Warned(
            "clock",
            f"clocks agree only within {format_seconds(residual)}, which is over 5 % of the "
            f"shortest sample ({format_seconds(shortest)})",
        )
    timer = _timer_cost(record)
    if shortest > 0 and timer is not None and timer > _NOTICEABLE * shortest:
        yield Warned(
            "timer",
            f"reading the clock takes {format_seconds(timer)}, which is over 5 % of the shortest "
            f"sample ({format_seconds(shortest)})",
        )


def _clock_residual(record: RunRecord) -> float | None:
    residuals = [
        abs(value)
        for launch in record.measured
        for clock in launch.clocks
        for value in clock.residual_s
        if value is not None
    ]
    return max(residuals, default=None)


def _timer_cost(record: RunRecord) -> float | None:
    costs = [launch.probe.timer_s for launch in record.measured if launch.probe.timer_s is not None]
    return max(costs, default=None)
