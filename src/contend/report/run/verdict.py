"""What a run comes to, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from contend.measurement import (
    Agreement,
    DrawnAgreement,
    MeasuredPairs,
    measured_pairs,
    usable,
    victim_operations,
)
from contend.report.pairwise.drawn_pairs import drawn_finding
from contend.report.pairwise.hotspot import hotspot_finding
from contend.report.run.findings import collapse_words, pingpong_finding
from contend.report.words import (
    UNKNOWN,
    factor_words,
    interval_words,
    kinds_words,
    link_words,
    percent,
    percent_range,
    size_words,
)
from contend.runs import COMPARED, CellSummary, Contest, Run, run_names
from contend.units import counted, format_rate, format_seconds

_NOTHING = "Nothing was measured."
_WHAT = {"sort": "the exchange of a sort"}
_LIBRARYS = ("library", "library-v")


def runs_verdict(runs: Sequence[Run]) -> str:
    """A sentence about a run, or a line for each of several."""
    if len(runs) == 1:
        return run_verdict(runs[0])
    named = zip(run_names(runs), runs, strict=True)
    return "\n".join(f"{name}: {run_verdict(run)}" for name, run in named)


def run_verdict(run: Run) -> str:
    """What was measured and how much of the wire that is."""
    probe = run.record.probe
    if run.samples.is_empty():
        return _NOTHING
    if probe == "bisect":
        return pairs_verdict(measured_pairs(run))
    if probe == "hotspot":
        return hotspot_verdict(victim_operations(run), run.record.placement or "the network")
    cells = [cell for cell in run.summaries if cell.verified is not False]
    if probe in COMPARED:
        return _exchange_verdict(run, cells)
    sized = [cell for cell in cells if cell.record.bytes and cell.median.value > 0]
    return f"{pingpong_finding(sized)}." if sized else _NOTHING


def _exchange_verdict(run: Run, cells: Sequence[CellSummary]) -> str:
    """The largest exchange that was measured: what it takes, and which schedule is fastest."""
    contests = run.findings.contests
    if contests:
        contest = max(contests, key=lambda contest: _extent(contest.winner))
        winner, others = contest.winner, _others(contest)
        fastest = f", with {winner.schedule} as the fastest of {len(contest.rivals) + 1} schedules"
    elif cells:
        winner, others = max(cells, key=_extent), []
        fastest = f" with {winner.schedule}"
    else:
        return _NOTHING
    what = _WHAT.get(run.record.probe, "an all-to-all")
    size = winner.record.bytes
    at = "" if size is None else f"At {size_words(size)} to each other rank, "
    words = f"{at}{what} of {counted(winner.record.ranks, 'rank')} takes {_time(winner)}{fastest}"
    rate = winner.rate
    parts = [words[0].upper() + words[1:]]
    if winner.limit is not None and rate is not None:
        parts.append(
            f"ranks send {percent(rate.value / winner.limit)} of what a host's port allows"
        )
    parts += [*others, *kinds_words(winner)]
    collapses = run.findings.collapses
    worst = f" The worst collapse: {collapse_words(collapses)}." if collapses else ""
    return f"{'; '.join(parts)}.{worst}"


def _extent(cell: CellSummary) -> tuple[int, int, int]:
    return cell.record.ranks, cell.record.hosts, cell.record.bytes or 0


def _time(cell: CellSummary) -> str:
    interval = interval_words(cell.median)
    known = "too few samples for an interval"
    if interval != UNKNOWN:
        known = interval.replace(" (", ", ").rstrip(")")
    return f"{format_seconds(cell.median.value)} ({known})"


def _others(contest: Contest) -> list[str]:
    """How much longer the library's own takes, and which may be as fast as the winner."""
    told = [
        f"the library's own takes {factor_words(rival.factor)} times as long"
        for rival in contest.rivals
        if rival.cell.schedule in _LIBRARYS and rival.beaten
    ]
    if contest.level:
        names = " and ".join(
            "the library's own" if rival.cell.schedule in _LIBRARYS else rival.cell.schedule
            for rival in contest.level[:2]
        )
        if len(contest.level) > 2:
            names = counted(len(contest.level), "other schedule")
        told.append(f"{names} may be as fast")
    return told


def pairs_verdict(pairs: MeasuredPairs) -> str:
    """What random pairs get, beside what their routes predict."""
    agreement = pairs.agreement
    if isinstance(agreement, DrawnAgreement):
        return f"{drawn_finding([agreement])}."
    if isinstance(agreement, Agreement):
        interval = (
            "of a single pattern"
            if agreement.patterns == 1
            else f"95 % interval {percent_range(*agreement.effective_ci95)}"
        )
        return (
            f"Pairs that all send at once get {percent(agreement.effective)} of what a pair gets "
            f"alone ({interval}); the simulation of the same patterns says "
            f"{percent(agreement.models[0].effective)}."
        )
    bandwidth = usable(pairs.messages)["bandwidth_Bps"]
    if bandwidth.is_empty():
        return _NOTHING
    mean = float(bandwidth.mean())  # type: ignore[arg-type]
    wire = pairs.run.record.wire_Bps
    share = "" if wire is None else f", {link_words(mean, wire)}"
    tenth = format_rate(float(bandwidth.quantile(0.1)))  # type: ignore[arg-type]
    return (
        f"Pairs that all send at once get {format_rate(mean)} on average{share}; a tenth of "
        f"the messages get less than {tenth}."
    )


def hotspot_verdict(operations: pl.DataFrame, name: str) -> str:
    """What is left to a pair whose route others load."""
    return f"{hotspot_finding(operations, name)}."
