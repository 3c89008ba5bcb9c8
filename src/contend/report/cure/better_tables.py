"""Better forwarding tables beside the present ones."""

from __future__ import annotations

from typing import Annotated

import msgspec

from contend.cure import BetterTables, Gain
from contend.fabric import FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.table import ResultTable


def better_tables_verdict(better: BetterTables) -> str:
    """What the new tables are worth, in a sentence or two."""
    gain = better.gains[-1]
    what = "random pairs of hosts get" if gain.pattern == "bisect" else f"{gain.pattern} gets"
    share = f"{100 * gain.after.effective_bandwidth.mean:.1f} %"
    line = f"With these tables {what} {share} of a link's rate"
    if gain.points is not None and gain.before is not None:
        present = f"{100 * gain.before.effective_bandwidth.mean:.1f} %"
        if abs(gain.points) < 0.05:
            line += f", as with the present ones ({present})"
        else:
            word = "more" if gain.points > 0 else "less"
            line += f", {abs(gain.points):.1f} points {word} than with the present ones ({present})"
    lanes = "one lane" if better.lanes == 1 else f"{better.lanes} lanes"
    line += f". They are free of deadlock on {lanes}"
    if better.present_cycle:
        line += "; the present ones are not, on one lane"
    return f"{line}."


def better_tables_table(better: BetterTables) -> ResultTable:
    """The gains, then what the tables took and need."""
    rows = [
        (
            "effective bisection bandwidth" if gain.pattern == "bisect" else gain.pattern,
            _percent(gain, before=True),
            _percent(gain, before=False),
            "" if gain.points is None else f"{gain.points:+.1f} points",
        )
        for gain in better.gains
    ]
    rows.append(("seconds to compute", "", f"{better.seconds:.2f}", ""))
    rows.append(("virtual lanes", "", str(better.lanes), ""))
    if better.changed is not None:
        share = 100 * better.changed / max(better.entries, 1)
        rows.append(("entries changed", "", f"{better.changed:,}", f"{share:.0f} % of them"))
    return ResultTable(
        title=f"Tables for {better.fabric.name}",
        columns=("what", "present", "new", ""),
        rows=tuple(rows),
        numeric=frozenset({"present", "new"}),
        note=f"{better.entries:,} entries for hosts; bandwidths are means of 1/π",
    )


def _percent(gain: Gain, *, before: bool) -> str:
    simulation = gain.before if before else gain.after
    return "-" if simulation is None else f"{100 * simulation.effective_bandwidth.mean:.1f} %"


def better_tables_document(better: BetterTables, file: str = "") -> Document:
    """What the new tables are worth, and where they are."""
    gains = [
        filled(
            GainJson,
            gain,
            before=None if gain.before is None else gain.before.effective_bandwidth.mean,
            after=gain.after.effective_bandwidth.mean,
            ci95=gain.after.effective_bandwidth.ci95,
        )
        for gain in better.gains
    ]
    return Document(
        tables=[better_tables_table(better)],
        record=filled(
            BetterTablesJson,
            better,
            fabric=size_of(better.fabric),
            verdict=better_tables_verdict(better),
            gains=gains,
            file=file,
        ),
        closing=(f"written to {file}",) if file else (),
    )


class GainJson(msgspec.Struct, frozen=True, kw_only=True):
    """What a pattern gets."""

    pattern: Annotated[str, "its specification."]
    placement: Annotated[str, "how its ranks were placed."]
    before: Annotated[float | None, "mean of 1/π by the present tables; null where there are none."]
    after: Annotated[float, "the same by the new ones."]
    ci95: Annotated[tuple[float, float], "both ends of the interval of `after`."]


class BetterTablesJson(msgspec.Struct, frozen=True, kw_only=True):
    """Better tables."""

    fabric: Annotated[FabricSize, "what they are for."]
    purpose: Annotated[str, "what they were computed for: a pattern or a file."]
    verdict: Annotated[str, "one-sentence verdict."]
    gains: Annotated[list[GainJson], "of random bisections first, then of the purpose."]
    lanes: Annotated[int, "virtual lanes that they need to be free of deadlock."]
    deadlock_free: Annotated[
        bool, "whether on each lane no channels wait for each other in a circle."
    ]
    present_deadlock_free: Annotated[
        bool | None, "the same of the present tables, on one lane; null without any."
    ]
    changed: Annotated[
        int | None,
        "entries for hosts that differ from the present ones; null where there are none.",
    ]
    entries: Annotated[int, "entries for hosts."]
    seconds: Annotated[float, "that computing the tables took."]
    file: Annotated[str, 'where they were written; "" where they were not.']
