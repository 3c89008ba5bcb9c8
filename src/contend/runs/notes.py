"""What should be known of a run before its figures are believed."""

from __future__ import annotations

from collections.abc import Iterator

from contend.runs.record import LaunchRecord, RunRecord, Warned
from contend.runs.run import Run
from contend.runs.statistics import FEWEST
from contend.runs.summary import CellSummary
from contend.units import counted, format_seconds

_MANY_LATE = 0.1
_NOTICEABLE = 0.05


def remarks(run: Run) -> tuple[Warned, ...]:
    """The run's warnings, then those that its samples give reason for; one for each code."""
    known = {warning.code for warning in run.record.warnings}
    found = [
        *(one for launch in run.record.launches for one in _about_launch(launch)),
        *_about_cells(run.summaries),
        *_about_clocks(run.record, run.summaries),
    ]
    more = {warning.code: warning for warning in reversed(found) if warning.code not in known}
    return (*run.record.warnings, *reversed(more.values()))


def _about_launch(launch: LaunchRecord) -> Iterator[Warned]:
    if launch.status not in ("done", "unknown"):
        why = f": {launch.why}" if launch.why else ""
        yield Warned("launch", f"launch {launch.number} ended otherwise: {launch.status}{why}")
    measured = launch.measured
    if measured is None:
        return
    if launch.status in ("done", "unknown") and measured.done is None:
        text = f"launch {launch.number} did not come to its end; its samples so far are kept"
        yield Warned("cut", text)
    if measured.torn_bytes:
        torn = counted(measured.torn_bytes, "byte")
        yield Warned("torn", f"launch {launch.number} wrote half a sample last ({torn}); left out")
    if measured.oversubscribed:
        text = (
            "ranks shared processors: times tell of taking turns more than of the network; use "
            "fewer ranks on a host"
        )
        yield Warned("oversubscribed", text)
    failed = [end for end in measured.ends if end.reason == "failed" or end.verified is False]
    if failed:
        said = next((f": {end.said}" for end in failed if end.said), "")
        text = f"{counted(len(failed), 'cell')} of launch {launch.number} failed{said}"
        yield Warned("failed", text)


def _about_cells(cells: tuple[CellSummary, ...]) -> Iterator[Warned]:
    timed, late = sum(cell.n for cell in cells), sum(cell.late for cell in cells)
    if late > _MANY_LATE * timed:
        text = f"in {100 * late / timed:.0f} % of the samples some rank started late"
        forced = sum(cell.late_count for cell in cells)
        if forced:
            text += f"; in {counted(forced, 'cell')} too few others are left, so all count"
        yield Warned("late", text)
    few = sum(len(cell.used) < FEWEST for cell in cells)
    if few:
        text = f"{counted(few, 'cell')} with fewer than {FEWEST} samples: no interval there"
        yield Warned("few-samples", f"{text}; give more time with --budget")


def _about_clocks(record: RunRecord, cells: tuple[CellSummary, ...]) -> Iterator[Warned]:
    shortest = min((cell.sample_s for cell in cells), default=0.0)
    residual = clock_residual(record)
    if shortest > 0 and residual is not None and residual > _NOTICEABLE * shortest:
        yield Warned(
            "clock",
            f"clocks agree within {format_seconds(residual)} only, more than 5 % of the shortest "
            f"sample ({format_seconds(shortest)})",
        )
    timer = timer_cost(record)
    if shortest > 0 and timer is not None and timer > _NOTICEABLE * shortest:
        yield Warned(
            "timer",
            f"reading the clock takes {format_seconds(timer)}, more than 5 % of the shortest "
            f"sample ({format_seconds(shortest)})",
        )


def clock_residual(record: RunRecord) -> float | None:
    """The largest residual of any rank's clock in any synchronisation; None where none is known."""
    found = [
        abs(value)
        for launch in record.launches
        if launch.measured is not None
        for clock in launch.measured.clocks
        for value in clock.residual_s
        if value is not None
    ]
    return max(found, default=None)


def timer_cost(record: RunRecord) -> float | None:
    """What reading the clock took in the slowest launch."""
    measured = [launch.measured for launch in record.launches if launch.measured is not None]
    costs = [one.probe.timer_s for one in measured if one.probe.timer_s is not None]
    return max(costs, default=None)
