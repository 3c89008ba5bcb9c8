"""Tables of results for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contend.report.result_table import ResultTable

# Text up to this width stays on one line.
_SHORT = 16


def print_tables(console: Console, tables: Sequence[ResultTable]) -> None:
    """Prints tables one below the other, each with its note."""
    for table in tables:
        console.print(rich_table(table))
        if table.note:
            console.print(Text(f" {table.note}", style="dim"))
        console.print()


def rich_table(table: ResultTable) -> Table:
    """A result table as rich's; names are taken literally, never as markup."""
    made = Table(
        title=Text(table.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_header=any(table.columns),
        pad_edge=False,
        collapse_padding=True,
    )
    for place, head in enumerate(table.columns):
        widest = max((len(row[place]) for row in table.rows), default=0)
        if head in table.numeric:
            # Numbers stay whole; a long head may wrap above them.
            made.add_column(Text(head), justify="right", vertical="bottom", min_width=widest)
        else:
            made.add_column(Text(head), min_width=min(widest, _SHORT))
    for row in table.rows:
        made.add_row(*(Text(cell) for cell in row))
    return made
