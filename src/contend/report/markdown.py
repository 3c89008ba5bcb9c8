"""Tables of results as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from contend.report.result_table import ResultTable


def markdown_of(tables: Sequence[ResultTable]) -> str:
    """Tables one below the other, each with its title above and its note below."""
    return "\n".join(_table(table) for table in tables)


def _table(table: ResultTable) -> str:
    heads = table.columns
    rules = ["---:" if head in table.numeric else "---" for head in heads]
    lines = [f"**{_escaped(table.title)}**", "", _row(heads), _row(rules)]
    lines += [_row(row) for row in table.rows]
    if table.note:
        lines += ["", _escaped(table.note)]
    return "\n".join((*lines, ""))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    """Text in which nothing is markup."""
    for mark in ("\\", "|", "*", "_", "`", "<"):
        text = text.replace(mark, f"\\{mark}")
    return text
