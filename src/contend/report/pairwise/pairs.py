"""What pairs of ranks got in bisect patterns, as tables and JSON; beside predictions, if any."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import msgspec
import numpy as np
import polars as pl
from msgspec import UNSET, UnsetType

from contend.measurement import (
    RATE_OVER_LOAD,
    TOLERANCE,
    Agreement,
    DrawnAgreement,
    usable,
)
from contend.report.pairwise.drawn_pairs import drawn_tables
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import (
    BEYOND_WIRE,
    BEYOND_WIRE_NOTE,
    UNKNOWN,
    link_words,
    percent,
    percent_range,
)
from contend.runs import Run
from contend.units import counted, format_rate, verb

_WITHIN = f"within {percent(TOLERANCE, 0)}"
_MOST_MESSAGES = 32
_SAME_HOST = "same host"


def pair_tables(
    run: Run, pairs: pl.DataFrame, agreement: Agreement | DrawnAgreement | None = None
) -> list[ResultTable]:
    """Bandwidths of pairs, beside predictions where there are any.

    Args:
        run: of bisect patterns.
        pairs: of `contend.measurement.pair_bandwidths` or `beside_predictions`.
        agreement: of the measured bandwidths with the predicted ones.
    """
    if agreement is None:
        return [_bandwidths(run, pairs)]
    name = run.record.placement or "the network"
    wire = run.record.wire_Bps
    if isinstance(agreement, DrawnAgreement):
        first, *tables = drawn_tables(name, agreement, wire)
    else:
        first, *tables = agreement_tables(name, agreement, wire)
        messages = _messages(pairs, agreement)
        tables += [messages] if messages is not None else []
    return [replace(first, note=_and_beyond(first.note, usable(pairs))), *tables]


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
    free = "what a message that shared no channel got"
    if wire is not None:
        free = link_words(agreement.gamma, wire, f"the link's {format_rate(wire)}")
    rows = (
        ("γ, an uncontended pair", format_rate(agreement.gamma), free),
        (
            "measured effective bisection bandwidth",
            percent(agreement.effective),
            f"of γ; {_interval(agreement)}",
        ),
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
    return ResultTable(
        title=f"Bisect on {name}, measured against simulated",
        columns=("", "", "meaning"),
        rows=rows,
        numeric=frozenset({""}),
        note=_compared(agreement.messages, agreement.patterns, agreement.late),
    )


def _by_congestion(agreement: Agreement) -> ResultTable:
    if agreement.weighed:
        return _by_congestion_and_rates(agreement)
    return table_of(
        "Messages by congestion",
        agreement.by_congestion,
        {
            "π": "congestion",
            "messages": "pairs",
            "γ/π": Number(lambda group: _share_of(group.congestion)),
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


def _share_of(congestion: int) -> str:
    """What the simulation gives a message; one that stays on its host crosses no channel."""
    return percent(1 / congestion) if congestion else _SAME_HOST


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


def _messages(pairs: pl.DataFrame, agreement: Agreement) -> ResultTable | None:
    """Every message beside its predictions, where they are few."""
    share = pl.col("bandwidth_Bps") / agreement.gamma
    messages = (
        usable(pairs)
        .group_by("pattern", "source_rank", "target_rank")
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
    predicted = (RATE_OVER_LOAD if agreement.weighed else "γ/π", "fair share")
    return ResultTable(
        title="Every message",
        columns=("ranks", "π", *predicted, "measured", "least to most", "samples", ""),
        rows=tuple(
            (
                f"{row['source_rank']} -> {row['target_rank']}",
                str(row["congestion"]),
                percent(row["share"] * row["port"]) if row["congestion"] else _SAME_HOST,
                percent(row["fair_share"] * row["port"]) if row["congestion"] else "-",
                percent(row["median"]),
                percent_range(row["least"], row["most"]),
                str(row["samples"]),
                BEYOND_WIRE if row["beyond"] else "",
            )
            for row in messages.iter_rows(named=True)
        ),
        numeric=frozenset({"π", *predicted, "measured", "least to most", "samples"}),
        note="As fractions of γ; measured is the median of the samples.",
    )


def _bandwidths(run: Run, pairs: pl.DataFrame) -> ResultTable:
    used = usable(pairs)
    if used.is_empty():
        why = "No message was measured: give the measurement a larger budget."
        return ResultTable("Bandwidth of a pair", (), (), note=why)
    bandwidth = used["bandwidth_Bps"].to_numpy()
    wire = run.record.wire_Bps
    rows = [
        (
            name,
            format_rate(value),
            "" if wire is None else link_words(value, wire),
        )
        for name, value in (
            ("mean, the effective bisection bandwidth", float(bandwidth.mean())),
            ("median", float(np.median(bandwidth))),
            ("a tenth of the messages got less than", float(np.quantile(bandwidth, 0.1))),
            ("a tenth of the messages got more than", float(np.quantile(bandwidth, 0.9))),
            ("least", float(bandwidth.min())),
            ("most", float(bandwidth.max())),
        )
    ]
    return ResultTable(
        title="Bandwidth of a pair",
        columns=("pairs", "bandwidth", ""),
        rows=tuple(rows),
        numeric=frozenset({"bandwidth"}),
        note=_and_beyond(
            _compared(len(used), used["pattern"].n_unique(), len(pairs) - len(used)), used
        ),
    )


def _compared(messages: int, patterns: int, late: int) -> str:
    left_out = f", {late:,} left out because a rank started late" if late else ""
    return f"{counted(messages, 'message')} of {counted(patterns, 'pattern')}{left_out}"


def _and_beyond(note: str, used: pl.DataFrame) -> str:
    """A note, and how many messages are beyond the wire where some are."""
    count = int(used["beyond_wire"].sum())
    if not count:
        return note
    messages = f"{counted(count, 'message')} {verb(count, 'is')} {BEYOND_WIRE}"
    return f"{note.removesuffix('.')}. {messages}. {BEYOND_WIRE_NOTE}"


class PairsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Bandwidths of all messages; each of them is in what ``--messages`` writes."""

    messages: Annotated[int, "number of messages that count."]
    late: Annotated[int, "number of messages left out because a rank had started late."]
    patterns: Annotated[int, "number of patterns."]
    beyond_wire: Annotated[int, "number of messages that got more than hosts' ports carry."]
    mean_Bps: Annotated[float | None, "mean bandwidth of a message in bytes per second."]
    median_Bps: Annotated[float | None, "median bandwidth in bytes per second."]
    agreement: Annotated[
        Agreement | UnsetType, "with the predictions; there where the routes are known."
    ] = UNSET
    draws: Annotated[
        DrawnAgreement | UnsetType,
        "agreement with simulated draws; there where hashes draw the routes.",
    ] = UNSET


def pair_json(
    pairs: pl.DataFrame, agreement: Agreement | DrawnAgreement | None = None
) -> PairsJson:
    """Mean and median of all messages.

    Args:
        pairs: of `contend.measurement.pair_bandwidths`.
        agreement: with predictions, where there are any.
    """
    used = usable(pairs)
    return PairsJson(
        messages=len(used),
        late=len(pairs) - len(used),
        patterns=used["pattern"].n_unique(),
        beyond_wire=int(used["beyond_wire"].sum()),
        mean_Bps=_number(used["bandwidth_Bps"].mean()),
        median_Bps=_number(used["bandwidth_Bps"].median()),
        agreement=agreement if isinstance(agreement, Agreement) else UNSET,
        draws=agreement if isinstance(agreement, DrawnAgreement) else UNSET,
    )


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None
