"""A table of results as text, before it is rendered for a terminal or a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ResultTable:
    """Rows of text.

    Attributes:
        title: what the table shows.
        columns: heads; an empty head is allowed.
        rows: each as long as `columns`.
        numeric: names of the columns that are aligned right.
        note: a sentence below the table, or "".
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[str] = frozenset()
    note: str = ""
