"""The plans that come with contend as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contend.report.result_table import ResultTable


@dataclass(frozen=True)
class PlanEntry:
    """A plan, how its figures are made, and what it is about."""

    name: str
    kind: str
    title: str


def plan_list(entries: Sequence[PlanEntry]) -> ResultTable:
    """A row for each plan."""
    return ResultTable(
        title="Studies",
        columns=("name", "", "about"),
        rows=tuple((entry.name, entry.kind, entry.title) for entry in entries),
        note="contend study NAME runs one, contend study --copy NAME writes its plan for changes.",
    )
