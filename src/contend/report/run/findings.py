"""What a run comes to: in a sentence, as winners and collapses, and which pictures show it."""

from __future__ import annotations

from collections.abc import Sequence

from contend.base.units import counted, format_seconds, grouped, rounded
from contend.lab.measurement import measured_pairs, victim_operations
from contend.lab.runs import (
    COMPARED,
    ROUND_TRIPS,
    Basis,
    CellSummary,
    Collapse,
    Contest,
    Kind,
    Run,
    compared,
    typical_time,
)
from contend.report.pairwise.hotspot import hotspot_finding
from contend.report.pairwise.pairs import NOTHING, pairs_verdict
from contend.report.table import Column, Number, ResultTable, table_of
from contend.report.words import (
    UNKNOWN,
    condition_words,
    factor_words,
    interval_words,
    kinds_words,
    modes_words,
    percent,
    rate_words,
    shared_words,
    size_words,
)


def winner_tables(contests: Sequence[Contest]) -> list[ResultTable]:
    """A table for every condition; a row for every size."""
    return [
        table_of(
            f"Fastest schedule, {condition_words(group[0].winner.condition)}",
            group,
            {
                "bytes": Number(lambda contest: size_words(contest.bytes)),
                "fastest": "schedule",
                "median": "median_s",
                "runner-up": lambda contest: contest.rivals[0].schedule,
                "times slower": Number(lambda one: factor_words(one.rivals[0].times_slower)),
                "p": Number(lambda one: _probability(one.rivals[0].p)),
                "tied with": lambda one: ", ".join(r.schedule for r in one.level) or UNKNOWN,
                "": lambda contest: _named_kinds([contest.winner, contest.rivals[0].cell]),
            },
            note=_note(group),
        )
        for group in grouped(contests, lambda contest: contest.winner.condition).values()
    ]


def _probability(p: float) -> str:
    return f"{p:.2f}" if p >= 0.01 else f"{p:.0e}"


def _named_kinds(cells: Sequence[CellSummary]) -> str:
    return "; ".join(f"{cell.schedule}: {words}" for cell in cells for words in kinds_words(cell))


def _note(contests: Sequence[Contest]) -> str:
    bases = {contest.test_on for contest in contests}
    on = {
        Basis.LAUNCHES: "a signed-rank test of the launches' medians",
        Basis.SAMPLES: "a rank test of the samples within each launch (another launch may decide "
        "otherwise)",
    }
    test = on[bases.pop()] if len(bases) == 1 else "a rank test, of launches where there are enough"
    return (
        "Ratios of medians, launch by launch; intervals are 95 % unless marked otherwise. p is "
        f"from {test}, corrected for all pairs of a row. In a tie p is 0.05 or more, or the ratio "
        "may be 1."
    )


def collapse_tables(collapses: Sequence[Collapse]) -> list[ResultTable]:
    """One table with a row for every collapse; none where there is none."""
    if not collapses:
        return []
    shared, rest = shared_words(collapse.condition for collapse in collapses)
    several: dict[str, Column[Collapse]] = {"condition": lambda collapse: rest[collapse.condition]}
    return [
        table_of(
            f"Collapses of the rate{shared}",
            collapses,
            {
                **(several if any(rest.values()) else {}),
                "schedule": "schedule",
                "bytes": sizes_of,
                "worst": Number(
                    lambda one: (
                        f"{rate_words(judged_rate(one.worst))} at {size_words(one.worst_bytes)}"
                    )
                ),
                "times lower": Number(lambda collapse: factor_words(collapse.factor)),
                "than": lambda one: (
                    f"{than_words(one)} ({rate_words(judged_rate(one.worst) * one.factor.value)})"
                ),
                "samples": kinds_of_samples,
                "avoided by": avoided_words,
            },
            note="The rate falls below half of that at smaller sizes, a size takes twice as long "
            "as a larger one, or slow samples, such as those with time-outs, cost half of the "
            "rate.",
        )
    ]


def kinds_of_samples(collapse: Collapse) -> str:
    """Whether the samples of a collapsed cell are of one kind or two."""
    kinds = collapse.worst.two_kinds
    return "one kind" if kinds is None else modes_words(kinds)


def sizes_of(collapse: Collapse) -> str:
    """The sizes of a collapse: ``32 KiB to 128 KiB``."""
    sizes = [size_words(size) for size in collapse.bytes]
    return sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def judged_rate(cell: CellSummary) -> float:
    """Bytes per second that a collapse is judged by."""
    time = typical_time(cell)
    return (cell.sent or 0) / time.value if time is not None and time.value > 0 else 0.0


def than_words(collapse: Collapse) -> str:
    """What a collapsed rate is lower than."""
    if collapse.kind == Kind.STALLS:
        return "its faster samples"
    size = collapse.against.bytes
    larger = (size or 0) > (collapse.worst_bytes or 0)
    return f"in the time of {size_words(size)}" if larger else f"at {size_words(size)}"


def avoided_words(collapse: Collapse) -> str:
    """What avoids a collapse, and by how much."""
    better = collapse.avoided_by
    if better is None:
        return "nothing measured"
    return f"{better.schedule}: {factor_words(better.times_faster)} times faster"


def collapse_words(collapses: Sequence[Collapse]) -> str:
    """The worst collapse in one sentence: the rate that falls most against other sizes."""
    falls = [collapse for collapse in collapses if collapse.kind == Kind.FALLS] or collapses
    worst = max(falls, key=lambda collapse: collapse.factor.value)
    words = (
        f"{worst.schedule} collapses by a factor of {rounded(worst.factor.value)} at "
        f"{size_words(worst.worst_bytes)}"
    )
    if worst.avoided_by is None:
        return words
    return f"{words}; {worst.avoided_by.schedule} does not"


def pingpong_finding(cells: Sequence[CellSummary]) -> str:
    """The least time of a message and the highest rate."""
    trips = [cell for cell in cells if cell.record.algorithm in ROUND_TRIPS]
    # What lay in buffers tells nothing of the network, unless nothing else was measured.
    sound = [cell for cell in cells if not cell.beyond_wire] or cells
    fastest = max(sound, key=lambda cell: (cell.record.bytes or 0) / cell.median.value)
    rate = (fastest.record.bytes or 0) / fastest.median.value
    at = size_words(fastest.record.bytes)
    most = f"at most {rate_words(rate)}, {fastest.schedule} at {at}"
    if not trips:
        return f"Messages: {most}"
    least = min(trips, key=lambda cell: cell.median.value)
    return f"A message takes {format_seconds(least.median.value)} or more; {most}"


_WHAT = {"sort": "the exchange of a sort"}
_LIBRARYS = ("library", "library-v")


def run_verdict(run: Run) -> str:
    """What was measured and how much of the wire that is."""
    probe = run.record.probe
    if run.samples.is_empty():
        return NOTHING
    if probe == "bisect":
        return pairs_verdict(measured_pairs(run))
    if probe == "hotspot":
        where = run.record.placement or "the network"
        return f"{hotspot_finding(victim_operations(run), where)}."
    cells = [cell for cell in run.summaries if cell.verified is not False]
    if probe in COMPARED:
        return _exchange_verdict(run, cells)
    sized = [cell for cell in cells if cell.record.bytes and cell.median.value > 0]
    return f"{pingpong_finding(sized)}." if sized else NOTHING


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
        return NOTHING
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
        f"the library's own takes {factor_words(rival.times_slower)} times as long"
        for rival in contest.rivals
        if rival.schedule in _LIBRARYS and rival.beaten
    ]
    if contest.level:
        names = " and ".join(
            "the library's own" if rival.schedule in _LIBRARYS else rival.schedule
            for rival in contest.level[:2]
        )
        if len(contest.level) > 2:
            names = counted(len(contest.level), "other schedule")
        told.append(f"{names} may be as fast")
    return told


PICTURES_OF_PROBES = {
    "bisect": "pairs",
    "hotspot": "hotspot",
    "pingpong": "pingpong",
    "sort": "steps",
}
"""The picture that shows what a probe is for."""


def fitting_pictures(runs: Sequence[Run]) -> list[str]:
    """The pictures that say something about these runs, the most telling one first."""
    probes = {run.record.probe for run in runs if not run.samples.is_empty()}
    own = [picture for probe, picture in PICTURES_OF_PROBES.items() if probe in probes]
    sent = any(cell.sent for run in runs if run.record.probe != "bisect" for cell in run.summaries)
    return [
        *(["comparison"] if compared(runs) else []),
        *own,
        *(["rates"] if sent else []),
        *(["times"] if any(run.summaries for run in runs) else []),
    ]
