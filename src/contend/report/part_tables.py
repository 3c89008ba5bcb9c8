"""What took how long within or beside the samples: barriers, steps of a sort."""

from __future__ import annotations

from contend.report.measured_words import (
    UNKNOWN,
    condition_words,
    size_label_words,
    size_labels,
    size_words,
)
from contend.report.result_table import ResultTable
from contend.runs import CellParts, Run
from contend.units import format_seconds


def part_tables(run: Run) -> list[ResultTable]:
    """A table for each condition whose cells have such parts."""
    groups: dict[object, list[CellParts]] = {}
    for one in run.findings.parts:
        groups.setdefault(one.cell.condition, []).append(one)
    return [_table(run, members) for members in groups.values()]


def _table(run: Run, members: list[CellParts]) -> ResultTable:
    sort = run.record.probe == "sort"
    names = list(dict.fromkeys(name for one in members for name in one.seconds))
    heads = [name.replace("_", " ") for name in names]
    sizes = size_labels(one.cell.record for one in members)
    whole = "exchange" if sort else "whole"
    ordered = sorted(members, key=lambda one: (one.cell.record.bytes or 0, one.cell.schedule))
    rows = tuple(
        (
            *size_label_words(one.cell.record, sizes),
            size_words(one.cell.record.bytes),
            one.cell.schedule,
            format_seconds(one.cell.sample_s),
            *(_part(one, name, sort) for name in names),
        )
        for one in ordered
    )
    columns = (*sizes, "bytes", "schedule", whole, *heads)
    what = "Steps" if sort else "Parts"
    note = (
        "Steps are timed one after the other; the result of a sample is the exchange alone."
        if sort
        else "Of the slowest rank, waiting included; parts of the whole in brackets."
    )
    title = f"{what}, {condition_words(members[0].cell.condition)}"
    return ResultTable(title, columns, rows, frozenset(columns) - {"schedule"}, f"Medians. {note}")


def _part(one: CellParts, name: str, sort: bool) -> str:
    seconds = one.seconds.get(name)
    if seconds is None:
        return UNKNOWN
    whole = one.cell.sample_s
    share = "" if sort or not whole > 0 else f" ({100 * seconds / whole:.0f} %)"
    return f"{format_seconds(seconds)}{share}"
