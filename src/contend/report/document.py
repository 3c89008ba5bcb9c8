"""A result as it is told: on a terminal, in files and in a notebook by the same words."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.json import encode
from rich.segment import Segment, Segments
from rich.text import Text

from contend.base import schema
from contend.base.errors import ArgumentError, UsageError
from contend.base.files import json_text
from contend.base.schema import Shown
from contend.base.units import grouped, nearest
from contend.report.save import html_tables, save_figure, save_figures, save_page
from contend.report.table import ResultTable, markdown_of, print_tables
from contend.report.words import parts_words, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from contend.cure import PartsCost
    from contend.report.page.explorable import Explorable

Drawn: TypeAlias = "Figure | Iterable[tuple[str, Figure]]"
"""A figure, or several with names."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """All that is told of one result."""

    verdict: str = ""
    """What it comes to: a sentence, or a line for each of several; first everywhere. The record's,
    where it has one and no other is given."""
    tables: Sequence[ResultTable] = ()
    """The result in detail, what matters most first."""
    record: Any = None
    """The result itself, for programs: its own schema, or what msgspec can encode."""
    pictures: Mapping[str, Callable[[], Drawn]] = field(default_factory=dict)
    """How each picture is drawn, by name, the most telling one first; a picture may be several
    figures with names of their own."""
    explorable: Callable[[], Explorable | None] | None = None
    """The network that a page lets one explore, in place of the picture ``network``; None as for
    one that is too large."""
    picture: str | None = None
    """The only one that was asked for; None: the first, and on a page all."""
    metrics: Sequence[Metric] = ()
    """Its figures for Prometheus."""
    rows: Callable[[], str] | None = None
    """The result as CSV; None: a row for each member of the record's first list."""
    remarks: Sequence[str] = ()
    """What a reader must know beside the tables; below them everywhere."""
    plain: str | None = None
    """What a terminal shows instead of all that: a list for other programs."""
    closing: Sequence[str] = ()
    """Lines below the tables on a terminal, such as which files were written."""
    brief: bool = False
    """Whether a terminal shows the verdict and these lines alone."""
    renewed: float = 0.0
    """Seconds after which a browser loads its page anew; 0 for never."""
    without: PartsCost | None = None
    """What parts cost that were taken out of its network; standard error has told a terminal."""
    shortfall: str = ""
    """What fell short though the result stands; "" for nothing."""
    failure: Exception | None = None
    """Why a file beside it could not be written, raised once all else is told."""

    def __post_init__(self) -> None:
        """Takes the verdict of the record."""
        if not self._of_result:
            verdict = self.verdict or getattr(self.record, "verdict", "")
            object.__setattr__(self, "verdict", verdict)

    @property
    def _of_result(self) -> bool:
        """Whether the record is the result itself, which has no verdict but this one."""
        return isinstance(self.record, Shown)

    def print_to(self, console: Console) -> None:
        """Prints verdict, tables, remarks and closing lines."""
        if self.plain is not None:
            # As it is: to lay out a million lines takes half a minute.
            console.print(Segments([Segment(self.plain)]), end="", crop=False)
            return
        for line in self._lines():
            console.print(Text(line, style="bold"), soft_wrap=True)
        if not self.brief:
            print_tables(console, self.tables)
        for line in (*self.remarks, *self.closing):
            console.print(Text(printable(line)), soft_wrap=True)

    def content(self) -> Any:
        """The record as dictionaries, lists and scalars; a result's verdict comes first."""
        record = schema.plain(self.record)
        if self._of_result:
            record = {"verdict": self.verdict} | record
        return record if self.without is None else record | {"without": schema.plain(self.without)}

    def json(self) -> bytes:
        """The record as JSON."""
        return json_text(self.content())

    def markdown(self) -> str:
        """Verdict, tables and remarks as Markdown."""
        lines = (f"{line}\n" for line in self._lines())
        remarks = (f"{printable(line)}\n" for line in self._remarks())
        return "\n".join((*lines, *filter(None, [markdown_of(self.tables)]), *remarks))

    def csv(self) -> str:
        """Rows for a spreadsheet, heads first."""
        if self.rows is not None:
            return self.rows()
        rows = schema.rows(self.record)
        text = io.StringIO()
        heads = dict.fromkeys(head for row in rows for head in row) or schema.heads(self.record)
        writer = csv.DictWriter(text, list(heads), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            lists = {
                head: encode(cell).decode() for head, cell in row.items() if type(cell) is list
            }
            writer.writerow(row | lists)
        return text.getvalue()

    def html(self) -> str:
        """Verdict, tables and remarks for a notebook."""
        lines = (f"<p><b>{escape(line)}</b></p>" for line in self._lines())
        remarks = (f"<p>{escape(printable(line))}</p>" for line in self._remarks())
        return "\n".join((*lines, *html_tables(self.tables), *remarks))

    def figure(self, name: str | None = None) -> Figure:
        """Draws one of the pictures, or the first figure of one; None is the first picture.

        Raises:
            UsageError: there is none of that name.
        """
        return next(self._figures(name))[1]

    def drawer(self, name: str | None = None) -> Callable[[], Drawn]:
        """What draws one of the pictures; None is the first.

        Raises:
            UsageError: there is none of that name.
        """
        name = name or self.picture or next(iter(self.pictures), "")
        if name in self.pictures:
            return self.pictures[name]
        if not self.pictures:
            raise UsageError("there is nothing to draw")
        fitting, hint = ", ".join(self.pictures), nearest(name, list(self.pictures))
        raise ArgumentError(
            "picture", f"expected one of {fitting} for this result, got {name}{hint}"
        )

    def draw(self, path: Path) -> list[Path]:
        """Draws to a file; .html is a page with verdict, tables and remarks, and all pictures.

        Returns:
            The files, in order; where a picture is several figures, their names go before the
            ending: ``it.svg`` becomes ``it-times.svg``.

        Raises:
            UsageError: the picture that was asked for does not fit this result.
        """
        if path.suffix.lower() == ".html":
            explored = self.explorable if not self.picture else None
            exploring: list[str] = []
            remarks = self._remarks()
            if explored is not None:
                # Imported here: only pages of networks need it, and loading takes a second.
                from contend.report.fabric.scene import TOO_LARGE
                from contend.report.page.drawing import exploring_scripts

                explorable = explored()
                exploring = [] if explorable is None else list(exploring_scripts(explorable))
                remarks += [TOO_LARGE] if explorable is None else []
            # A page to look into needs no picture beside it.
            chosen = self.picture or not (self.pictures or explored)
            names = [self.picture] if chosen else list(self.pictures)
            shown = [name for name in names if not explored or name != "network"]
            named = (drawn for name in shown for drawn in self._figures(name))
            told = (self.tables, self._lines(), remarks)
            return save_page(named, path, *told, exploring, self.renewed)
        figures = self._figures()
        first = list(islice(figures, 2))
        if len(first) > 1:
            return save_figures(chain(first, figures), path)
        save_figure(first[0][1], path)
        return [path]

    def _figures(self, name: str | None = None) -> Iterator[tuple[str, Figure]]:
        """The figures of a picture with their names, drawn one after the other."""
        from matplotlib.figure import Figure

        drawn = self.drawer(name)()
        yield from [("", drawn)] if isinstance(drawn, Figure) else drawn

    def _remarks(self) -> list[str]:
        """Lines below the tables, where standard error is not seen."""
        cost = [] if self.without is None else [parts_words(self.without)]
        return [*cost, *self.remarks]

    def _lines(self) -> list[str]:
        return [printable(line) for line in self.verdict.splitlines()]


_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True)
class Metric:
    """A figure with its name."""

    name: str
    """Name for Prometheus, with its unit at the end."""
    meaning: str
    """Meaning in a sentence."""
    value: float
    """Value; nan is left out."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What it is of."""


def metrics_text(metrics: Iterable[Metric]) -> str:
    """All figures, those of one name together, as node_exporter's textfile collector takes them."""
    known = (metric for metric in metrics if not math.isnan(metric.value))
    lines = []
    for name, alike in grouped(known, lambda metric: metric.name).items():
        lines += [f"# HELP {name} {alike[0].meaning}", f"# TYPE {name} gauge"]
        lines += [f"{name}{_labels(metric.labels)} {metric.value!r}" for metric in alike]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    told = (f'{name}="{printable(text).translate(_ESCAPED)}"' for name, text in labels.items())
    return f"{{{','.join(told)}}}"
