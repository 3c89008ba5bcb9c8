"""Tables of results as text, and as they are rendered for a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from contend.base.schema import FieldMark, members
from contend.base.units import format_bytes, format_rate, format_seconds, rounded
from contend.report.words import UNKNOWN, percent, printable


@dataclass(frozen=True)
class ResultTable:
    """Rows of text."""

    title: str
    """What the table shows."""
    columns: tuple[str, ...]
    """Heads; an empty head is allowed."""
    rows: tuple[tuple[str, ...], ...]
    """Rows, each as long as `columns`."""
    numeric: frozenset[str] = frozenset()
    """Names of the columns that are aligned right."""
    note: str = ""
    """A sentence below the table, or ""."""
    leads: bool = False
    """Whether it stands before the figures of a page, as verdicts (without columns) do."""
    tones: Mapping[str, str] = field(default_factory=dict)
    """How cells of certain texts are coloured on a terminal."""

    def __post_init__(self) -> None:
        """Replaces what no terminal or page should be sent: names from dumps may hold anything."""
        rows = tuple(tuple(map(printable, row)) for row in self.rows)
        object.__setattr__(self, "rows", rows)
        for name in ("title", "note"):
            object.__setattr__(self, name, printable(getattr(self, name)))


Row = TypeVar("Row")


@dataclass(frozen=True)
class Number(Generic[Row]):
    """A column of numbers that are told in words of their own."""

    words: Callable[[Row], str]


Column: TypeAlias = str | Callable[[Row], str] | Number[Row]
"""Name of a member, which reads as its marks say, or what tells it."""
Columns: TypeAlias = Mapping[str, Column[Row]]
"""Heads, and what stands below each."""


def table_of(
    title: str,
    rows: Iterable[Row],
    columns: Columns[Row] | Sequence[tuple[str, Column[Row]]],
    *,
    note: str = "",
    leads: bool = False,
    tones: Mapping[str, str] | None = None,
) -> ResultTable:
    """A table of results of one class.

    Args:
        title: what the table shows.
        rows: a result each.
        columns: heads, and what stands below each; pairs where a head may come twice.
        note: as of `ResultTable`.
        leads: as of `ResultTable`.
        tones: as of `ResultTable`.
    """
    results = list(rows)
    pairs = list(columns.items() if isinstance(columns, Mapping) else columns)
    cells, numeric = [], set()
    for head, column in pairs:
        if isinstance(column, Number):
            numeric.add(head)
            words = column.words
        elif callable(column):
            words = column
        else:
            told, right = _reading(type(results[0]), column) if results else (str, False)
            if right:
                numeric.add(head)
            words = partial(_member, column, told)
        cells.append([words(result) for result in results])
    return ResultTable(
        title,
        tuple(head for head, _ in pairs),
        tuple(zip(*cells, strict=True)),
        frozenset(numeric),
        note,
        leads,
        tones or {},
    )


def _member(name: str, words: Callable[[Any], str], result: object) -> str:
    value = getattr(result, name)
    return UNKNOWN if value is None else words(value)


_READINGS: Mapping[FieldMark, Callable[[Any], str]] = {
    FieldMark.SHARE: percent,
    FieldMark.SECONDS: format_seconds,
    FieldMark.RATE: format_rate,
    FieldMark.SIZE: format_bytes,
}


def _reading(result: type, name: str) -> tuple[Callable[[Any], str], bool]:
    """What tells a member in words, and whether it is a number."""
    member = next(member for member in members(result) if member.name == name)
    for mark, words in _READINGS.items():
        if mark in member.marks:
            return words, True
    kinds = set(member.alternatives)
    if kinds <= {int}:
        return "{:,}".format, True
    return (rounded, True) if kinds <= {int, float} else (str, False)


# Text up to this width stays on one line.
_SHORT = 16


def print_tables(console: Console, tables: Sequence[ResultTable]) -> None:
    """Prints tables one below the other, each with its note."""
    for table in tables:
        rendered = rich_table(table)
        # On a terminal that is too narrow lines go on below; nothing of them is cut off.
        least = Measurement.get(console, console.options, rendered).minimum
        console.print(rendered, width=max(least, console.width), crop=False)
        if table.note:
            console.print(Text(f" {table.note}", style="dim"))
        console.print()


def rich_table(table: ResultTable) -> Table:
    """A result table as rich's; names are taken literally, never as markup."""
    rendered = Table(
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
            least = max(widest, *map(len, head.split() or [""]))
            rendered.add_column(Text(head), justify="right", vertical="bottom", min_width=least)
        else:
            rendered.add_column(Text(head), min_width=min(widest, _SHORT))
    for row in table.rows:
        rendered.add_row(*(Text(cell, style=table.tones.get(cell, "")) for cell in row))
    return rendered


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
