"""What pairs of ranks got in patterns, beside what routes predict or simulated draws of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from contend.base.units import counted, format_rate, verb
from contend.lab.measurement import (
    RATE_OVER_LOAD,
    TOLERANCE,
    Agreement,
    Distribution,
    DrawnAgreement,
    MeasuredPairs,
)
from contend.lab.runs import IMPOSSIBLE
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import (
    BEYOND_WIRE,
    BEYOND_WIRE_NOTE,
    UNKNOWN,
    percent,
    percent_range,
)

NOTHING = "Nothing was measured."
_WITHIN = f"within {percent(TOLERANCE, 0)}"
_MOST_MESSAGES = 32
_SAME_HOST = "same host"


def pair_tables(pairs: MeasuredPairs) -> list[ResultTable]:
    """Bandwidths of pairs, beside predictions where there are any."""
    name = pairs.run.record.placement or "the network"
    wire = pairs.run.record.wire_Bps
    if pairs.draws is not None:
        first, *tables = drawn_tables(name, pairs.draws, wire)
    elif pairs.agreement is not None:
        first, *tables = agreement_tables(name, pairs.agreement, wire)
        messages = _messages(pairs.used, pairs.agreement)
        tables += [messages] if messages is not None else []
    else:
        return [_bandwidths(pairs)]
    return [replace(first, note=_and_beyond(first.note, pairs)), *tables]


def agreement_tables(
    name: str, agreement: Agreement, wire: float | None = None
) -> list[ResultTable]:
    """Effective bandwidth measured and simulated, messages by π, and the models.

    Args:
        name: of the fabric.
        agreement: of the measured bandwidths with the predicted ones.
        wire: bytes per second of a link, where that is known.
    """
    return [_effective(name, agreement, wire), _by_congestion(agreement), _models(agreement)]


def _interval(agreement: Agreement) -> str:
    if agreement.patterns == 1:
        return "a single pattern has no interval"
    return f"95 % interval {percent_range(*agreement.effective_ci95)}"


def _effective(name: str, agreement: Agreement, wire: float | None) -> ResultTable:
    simulated = agreement.models[0].effective
    rows = (
        *_measured(agreement, wire, "that shared no channel got", f"of γ; {_interval(agreement)}"),
        (
            "simulated, the same patterns",
            percent(simulated),
            "mean of rate over load" if agreement.weighed else "mean of 1/π",
        ),
        (
            "difference",
            f"{100 * (agreement.effective - simulated):+.1f}",
            "percentage points, measured minus simulated",
        ),
    )
    note = _compared(agreement.messages, agreement.patterns, agreement.late)
    return _against_simulated(name, "simulated", rows, note)


def _measured(
    agreement: Agreement | DrawnAgreement, wire: float | None, alone: str, effective: str
) -> Iterator[tuple[str, str, str]]:
    """What was measured: a pair alone and all pairs, with what that means."""
    meaning = f"what a message {alone}"
    if wire is not None:
        meaning = link_words(agreement.gamma, wire, f"the link's {format_rate(wire)}")
    yield "γ, an uncontended pair", format_rate(agreement.gamma), meaning
    yield "measured effective bisection bandwidth", percent(agreement.effective), effective


def _against_simulated(
    name: str, simulated: str, rows: tuple[tuple[str, str, str], ...], note: str
) -> ResultTable:
    title = f"Bisect on {name}, measured against {simulated}"
    return ResultTable(title, ("", "", "meaning"), rows, frozenset({""}), note)


def _by_congestion(agreement: Agreement) -> ResultTable:
    if agreement.weighed:
        return _by_congestion_and_rates(agreement)
    return table_of(
        "Messages by congestion",
        agreement.by_congestion,
        {
            "π": "congestion",
            "messages": "pairs",
            # A message that stays on its host crosses no channel.
            "γ/π": Number(
                lambda each: percent(1 / each.congestion) if each.congestion else _SAME_HOST
            ),
            "measured median": "median",
            "middle half": Number(lambda group: percent_range(group.low, group.high)),
            _WITHIN: Number(lambda group: percent(group.within) if group.congestion else UNKNOWN),
        },
    )


def _by_congestion_and_rates(agreement: Agreement) -> ResultTable:
    """The same where links differ in rate, and π alone does not say what a message gets."""
    return table_of(
        "Messages by congestion",
        agreement.by_congestion,
        {
            "π": "congestion",
            "messages": "pairs",
            "measured median": "median",
            "of rate over load": "of_share",
            "of max-min": "of_fair_share",
            _WITHIN: "within",
        },
        note="Medians: of γ, of the least of rate over load, and of the max-min fair share.",
    )


def _models(agreement: Agreement) -> ResultTable:
    nearest = agreement.nearest if agreement.apart else ""
    apart = f"The models differ for {counted(agreement.apart, 'message')}."
    return table_of(
        "Which model is nearer",
        agreement.models,
        {
            "model": "name",
            "effective bandwidth": "effective",
            _WITHIN: "within",
            "median error": "error",
            "where they differ": "error_apart",
            "": lambda model: "nearest" if model.name == nearest else "",
        },
        note=apart if agreement.apart else "The models predict the same for every message.",
    )


def _messages(used: pl.DataFrame, agreement: Agreement) -> ResultTable | None:
    """Every message beside its predictions, where they are few."""
    share = pl.col("bandwidth_Bps") / agreement.gamma
    messages = (
        used.group_by("pattern", "source_rank", "target_rank")
        .agg(
            pl.col("congestion", "share", "fair_share", "port").first(),
            median=share.median(),
            least=share.min(),
            most=share.max(),
            samples=pl.len(),
            beyond=pl.col("beyond_wire").mean() > 0.5,
        )
        .sort("pattern", "congestion", "source_rank", descending=[False, True, False])
    )
    if len(messages) > _MOST_MESSAGES:
        return None

    def predicted(row: Mapping[str, Any], name: str, within_host: str) -> str:
        return percent(row[name] * row["port"]) if row["congestion"] else within_host

    return table_of(
        "Every message",
        messages.iter_rows(named=True),
        {
            "ranks": lambda row: f"{row['source_rank']} -> {row['target_rank']}",
            "π": Number(lambda row: str(row["congestion"])),
            RATE_OVER_LOAD if agreement.weighed else "γ/π": Number(
                lambda row: predicted(row, "share", _SAME_HOST)
            ),
            "fair share": Number(lambda row: predicted(row, "fair_share", UNKNOWN)),
            "measured": Number(lambda row: percent(row["median"])),
            "least to most": Number(lambda row: percent_range(row["least"], row["most"])),
            "samples": Number(lambda row: str(row["samples"])),
            "": lambda row: BEYOND_WIRE if row["beyond"] else "",
        },
        note="As fractions of γ; measured is the median of the samples.",
    )


def _bandwidths(pairs: MeasuredPairs) -> ResultTable:
    if pairs.used.is_empty():
        why = "No message was measured: give the measurement a larger budget."
        return ResultTable("Bandwidth of a pair", (), (), note=why)
    bandwidth = pairs.used["bandwidth_Bps"].to_numpy()
    wire = pairs.run.record.wire_Bps
    return table_of(
        "Bandwidth of a pair",
        {
            "mean, the effective bisection bandwidth": float(bandwidth.mean()),
            "median": float(np.median(bandwidth)),
            "a tenth of the messages got less than": float(np.quantile(bandwidth, 0.1)),
            "a tenth of the messages got more than": float(np.quantile(bandwidth, 0.9)),
            "least": float(bandwidth.min()),
            "most": float(bandwidth.max()),
        }.items(),
        {
            "pairs": lambda row: row[0],
            "bandwidth": Number(lambda row: format_rate(row[1])),
            "": lambda row: "" if wire is None else link_words(row[1], wire),
        },
        note=_and_beyond(_compared(pairs.messages, pairs.patterns, pairs.late), pairs),
    )


def _compared(messages: int, patterns: int, late: int, launches: str = "") -> str:
    left_out = f", {late:,} left out because a rank started late" if late else ""
    return f"{counted(messages, 'message')} of {counted(patterns, 'pattern')}{launches}{left_out}"


def _and_beyond(note: str, pairs: MeasuredPairs) -> str:
    """A note, and how many messages are beyond the wire where some are."""
    count = pairs.beyond_wire
    if not count:
        return note
    messages = f"{counted(count, 'message')} {verb(count, 'is')} {BEYOND_WIRE}"
    return f"{note.removesuffix('.')}. {messages}. {BEYOND_WIRE_NOTE}"


_RANGE = "95 % of simulations"


def drawn_tables(name: str, agreement: DrawnAgreement, wire: float | None) -> list[ResultTable]:
    """Effective bandwidth, and how often messages get γ, γ/2, ...: measured and simulated.

    Args:
        name: of the fabric.
        agreement: of what was measured with simulated draws.
        wire: bytes per second of a link, where that is known.
    """
    return [
        _effective_over_draws(name, agreement, wire),
        _by_part("The slowest message of every pattern", agreement.slowest, agreement.simulations),
        _by_part("All messages", agreement.every, agreement.simulations),
    ]


def link_words(rate: float, wire: float, link: str = "a link") -> str:
    """What part of a link a message got: ``93.1 % of a link``."""
    beyond = f", {BEYOND_WIRE}" if IMPOSSIBLE * rate > wire else ""
    return f"{percent(rate / wire)} of {link}{beyond}"


def drawn_finding(agreements: Sequence[DrawnAgreement]) -> str:
    """How far the slowest messages are from those of simulated draws."""
    distance = max(agreement.slowest.distance for agreement in agreements)
    usual = all(agreement.slowest.usual for agreement in agreements)
    verdict = "no more than simulated draws do" if usual else "more than simulated draws do"
    return (
        "Over hashed routes the distributions of patterns' slowest messages, measured and "
        f"simulated, differ by {100 * distance:.1f} percentage points, {verdict}"
    )


def _effective_over_draws(name: str, agreement: DrawnAgreement, wire: float | None) -> ResultTable:
    slowest = agreement.slowest
    likeness = "as near as" if slowest.usual else "further than"
    rows = (
        *_measured(agreement, wire, "got that can share no channel", "of γ"),
        (
            "simulated, the same patterns over other draws",
            percent(agreement.simulated),
            f"{_RANGE} {percent_range(*agreement.simulated_range)}",
        ),
        (
            "distance of the distributions of slowest messages",
            percent(slowest.distance),
            f"{likeness} 95 % of simulations, which are within {percent(slowest.usual_distance)}",
        ),
    )
    launches = f" in {counted(agreement.launches, 'launch')}"
    counts = _compared(agreement.messages, agreement.patterns, agreement.late, launches)
    note = (
        f"{counts}. A hash of each connection chooses its cables, so that no pair has a prediction "
        "of its own."
    )
    return _against_simulated(name, "simulated draws", rows, note)


def _by_part(title: str, distribution: Distribution, simulations: int) -> ResultTable:
    return table_of(
        title,
        distribution.by_part,
        {
            "gets about": lambda part: "γ" if part.divisor == 1 else f"γ/{part.divisor}",
            "of γ": Number(lambda part: percent(1 / part.divisor)),
            "measured": "measured",
            "simulated": "simulated",
            _RANGE: Number(lambda part: percent_range(part.low, part.high)),
        },
        note=f"Shares of the messages; {simulations} simulations by max-min fair shares.",
    )


def pairs_verdict(pairs: MeasuredPairs) -> str:
    """What random pairs get, beside what their routes predict."""
    if pairs.draws is not None:
        return f"{drawn_finding([pairs.draws])}."
    agreement = pairs.agreement
    if agreement is not None:
        interval = "of a single pattern" if agreement.patterns == 1 else _interval(agreement)
        return (
            f"Pairs that all send at once get {percent(agreement.effective)} of what a pair gets "
            f"alone ({interval}); the simulation of the same patterns says "
            f"{percent(agreement.models[0].effective)}."
        )
    bandwidth = pairs.used["bandwidth_Bps"]
    if bandwidth.is_empty():
        return NOTHING
    mean = pairs.mean_Bps or 0.0
    wire = pairs.run.record.wire_Bps
    share = "" if wire is None else f", {link_words(mean, wire)}"
    tenth = format_rate(float(bandwidth.quantile(0.1)))  # type: ignore[arg-type]
    return (
        f"Pairs that all send at once get {format_rate(mean)} on average{share}; a tenth of "
        f"the messages get less than {tenth}."
    )
