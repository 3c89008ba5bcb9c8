"""A result as it is told: on a terminal, in files and in a notebook by the same words."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, convert, to_builtins
from msgspec.json import encode
from rich.text import Text

from contend.errors import UsageError
from contend.files import json_text
from contend.report.save import html_tables, save_figure, save_figures, save_page
from contend.report.table import ResultTable, markdown_of, print_tables
from contend.report.words import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

Value = TypeVar("Value", bound=Struct)


@dataclass(frozen=True, kw_only=True)
class Document:
    """All that is told of one result.

    Attributes:
        verdict: what it comes to: a sentence, or a line for each of several; first everywhere.
        tables: the result in detail, what matters most first.
        record: the result itself, for programs: what msgspec can encode.
        pictures: how each is drawn, by name, the most telling one first.
        picture: the only one that was asked for; None: the first, and on a page all.
        every: whether every picture gets a file of its own where a file holds only one.
        rows: the result as CSV; None: a row for each member of the record's first list.
        remarks: what a reader must know beside the tables; below them everywhere.
        plain: what a terminal shows instead of all that: a list for other programs.
        closing: lines below the tables on a terminal, such as which files were written.
        shortfall: what fell short though the result stands; "" for nothing.
    """

    verdict: str = ""
    tables: Sequence[ResultTable] = ()
    record: Any = None
    pictures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    picture: str | None = None
    every: bool = False
    rows: Callable[[], str] | None = None
    remarks: Sequence[str] = ()
    plain: str | None = None
    closing: Sequence[str] = ()
    shortfall: str = ""

    def print_to(self, console: Console) -> None:
        """Prints verdict, tables, remarks and closing lines."""
        if self.plain is not None:
            console.out(self.plain, end="", highlight=False)
            return
        for line in self._lines():
            console.print(Text(line, style="bold"), soft_wrap=True)
        print_tables(console, self.tables)
        for line in (*self.remarks, *self.closing):
            console.print(Text(printable(line)), soft_wrap=True)

    def json(self) -> bytes:
        """The record as JSON."""
        return json_text(self.record)

    def markdown(self) -> str:
        """Verdict, tables and remarks as Markdown."""
        lines = (f"{line}\n" for line in self._lines())
        remarks = (f"{printable(line)}\n" for line in self.remarks)
        return "\n".join((*lines, *filter(None, [markdown_of(self.tables)]), *remarks))

    def csv(self) -> str:
        """Rows for a spreadsheet, heads first."""
        if self.rows is not None:
            return self.rows()
        members = to_builtins(self.record)
        lists = [value for value in members.values() if _is_list_of_objects(value)]
        rows = [_flat(member) for member in (lists[0] if lists else [members])]
        text = io.StringIO()
        heads = dict.fromkeys(head for row in rows for head in row)
        writer = csv.DictWriter(text, list(heads), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def html(self) -> str:
        """Verdict, tables and remarks for a notebook."""
        lines = (f"<p><b>{escape(line)}</b></p>" for line in self._lines())
        remarks = (f"<p>{escape(printable(line))}</p>" for line in self.remarks)
        return "\n".join((*lines, *html_tables(self.tables), *remarks))

    def figure(self, name: str | None = None) -> Figure:
        """Draws one of the pictures; None is the first.

        Raises:
            UsageError: there is none of that name.
        """
        return self.drawer(name)()

    def drawer(self, name: str | None = None) -> Callable[[], Figure]:
        """What draws one of the pictures; None is the first.

        Raises:
            UsageError: there is none of that name.
        """
        name = name or self.picture or next(iter(self.pictures), "")
        if name in self.pictures:
            return self.pictures[name]
        if not self.pictures:
            raise UsageError("there is nothing to draw")
        fitting = ", ".join(self.pictures)
        raise UsageError(f"picture=: {name} does not fit this result; expected one of {fitting}")

    def draw(self, path: Path) -> list[Path]:
        """Draws to a file; .html is a page with verdict and tables, and with all pictures.

        Returns:
            The files, in order.

        Raises:
            UsageError: the picture that was asked for does not fit this result.
        """
        if self.picture is None and self.pictures:
            named = ((name, draw()) for name, draw in self.pictures.items())
        else:
            named = ((name, self.figure(name)) for name in (self.picture or "",))
        if path.suffix.lower() == ".html":
            return save_page(named, path, self.tables, self._lines())
        if self.every and self.picture is None:
            return save_figures(named, path)
        save_figure(self.figure(), path)
        return [path]

    def _lines(self) -> list[str]:
        return [printable(line) for line in self.verdict.splitlines()]


def filled(struct: type[Value], result: object, **others: Any) -> Value:
    """A struct of JSON with the members of a result that have its names.

    Args:
        struct: what to fill.
        result: has an attribute for every field that is neither given nor optional.
        others: fields that it has not.
    """
    names = (name for name in struct.__struct_fields__ if name not in others)
    members = {name: getattr(result, name) for name in names if hasattr(result, name)}
    return convert(members | others, struct, from_attributes=True)


def _is_list_of_objects(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(one, dict) for one in value)
    )


def _flat(members: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """A JSON object as one row: ``gain.value`` for what is within, lists as JSON."""
    row: dict[str, Any] = {}
    for name, value in members.items():
        if isinstance(value, dict):
            row |= _flat(value, f"{before}{name}.")
        else:
            row[before + name] = (
                encode(value).decode() if isinstance(value, list | tuple) else value
            )
    return row
