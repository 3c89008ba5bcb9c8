"""Figures as files: pictures, or a page that holds figures and tables and loads nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from contend.errors import UsageError
from contend.files import write_whole
from contend.report.table import ResultTable
from contend.report.words import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_DOTS_PER_INCH = 300
# Without a date, equal results give equal files.
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "contend"},
    "png": {"Software": "contend"},
    "pdf": {"CreationDate": None, "Creator": "contend"},
}
SUFFIXES = (*(f".{kind}" for kind in _METADATA), ".html")


def save_figure(figure: Figure, path: Path) -> None:
    """Writes a figure whole or not at all.

    Args:
        figure: any of this package's figures.
        path: .svg, .png and .pdf hold the figure; .html is a page with it.

    Raises:
        UsageError: for another ending.
    """
    check_suffix(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind == "html":
        save_page([("", figure)], path)
    else:
        write_whole(path, _render(figure, kind))


def save_figures(figures: Iterable[tuple[str, Figure]], path: Path) -> list[Path]:
    """Writes several named figures.

    Args:
        figures: names and figures; drawn one after the other.
        path: .html becomes one page with all of them; for the others the name of each figure goes
            before the ending, ``study.svg`` becomes ``study-bisect.svg``.

    Returns:
        The files, in order.

    Raises:
        UsageError: for another ending.
    """
    check_suffix(path)
    if path.suffix.lower() == ".html":
        return save_page(figures, path)
    written = []
    for name, figure in figures:
        file = path.with_name(f"{path.stem}-{_UNFIT.sub('-', name)}{path.suffix}")
        save_figure(figure, file)
        written.append(file)
    return written


def save_page(
    figures: Iterable[tuple[str, Figure]],
    path: Path,
    tables: Sequence[ResultTable] = (),
    verdict: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> list[Path]:
    """Writes named figures and tables as one page, between a verdict's lines and remarks.

    Tables that lead come before the figures, others below.
    """
    pictures = [_render(figure, "svg").decode() for _, figure in figures]
    write_whole(path, html_page(pictures, tables, verdict, remarks).encode())
    return [path]


def _render(figure: Figure, kind: str) -> bytes:
    # Imported here: endings are checked, and tables printed, where nothing is drawn.
    from matplotlib import rc_context
    from matplotlib.text import Text

    # Names from dumps may hold anything; control characters make an ill-formed SVG.
    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
    buffer = BytesIO()
    # Text stays text in SVG: it can be searched, and read aloud.
    with rc_context({"svg.hashsalt": "contend", "svg.fonttype": "none"}):
        figure.savefig(buffer, format=kind, dpi=_DOTS_PER_INCH, metadata=_METADATA[kind])
    content = buffer.getvalue()
    return _with_tooltips(content) if kind == "svg" and _TOOLTIP in content else content


# matplotlib knows no tooltips, but links of artists: those that begin so become what they say.
TOOLTIP = "tooltip:"
_TOOLTIP = TOOLTIP.encode()
_LINK = re.compile(rb"<a xlink:href=([\"'])tooltip:(.*?)\1[^>]*>(.*?)</a>", re.DOTALL)
_HOVER = b"<style>.tip:hover path,.tip:hover use{stroke:#000!important}</style>"


def _with_tooltips(content: bytes) -> bytes:
    content = _LINK.sub(rb'<g class="tip"><title>\2</title>\3</g>', content)
    return re.sub(rb"(<svg[^>]*>)", lambda match: match[0] + _HOVER, content, count=1)


_LOOK = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 52rem; margin: 2rem auto;
       padding: 0 1rem; }
svg { width: 100%; height: auto; max-width: 44rem; }
h1 { font-size: 1.2rem; line-height: 1.4; margin: 1.2rem 0 1.5rem; overflow-wrap: anywhere; }
figure { margin: 1.5rem 0 2rem; }
table { border-collapse: collapse; margin: 0 0 .4rem; }
caption { text-align: left; font-weight: 600; padding: 1.2rem 0 .3rem; }
th, td { text-align: left; padding: .15rem .9rem .15rem 0; border-bottom: 1px solid #ddd;
         vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
p { color: #555; margin: 0; }
"""
_PROLOGUE = re.compile(r"^.*?(?=<svg)", re.DOTALL)


def check_suffix(path: Path) -> None:
    """Refuses early what `save_figure` could not write.

    Raises:
        UsageError: for a name that ends otherwise than .svg, .png, .pdf or .html.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: expected a figure's name ending in one of {', '.join(SUFFIXES)}")


def html_page(
    pictures: Sequence[str],
    tables: Sequence[ResultTable],
    verdict: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> str:
    """The page's text; `pictures` are whole SVG documents."""
    title = escape(tables[0].title if tables else "contend")
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{title}</title><style>{_LOOK}</style></head><body>",
            *(f"<h1>{escape(line)}</h1>" for line in verdict),
            *html_tables([table for table in tables if _leads(table)]),
            *(f"<figure>{_PROLOGUE.sub('', picture)}</figure>" for picture in pictures),
            *html_tables([table for table in tables if not _leads(table)]),
            *(f"<p>{escape(printable(line))}</p>" for line in remarks),
            "</body></html>",
            "",
        )
    )


def html_tables(tables: Sequence[ResultTable]) -> list[str]:
    """Tables one below the other, a line of HTML each."""
    return [line for table in tables for line in _table(table)]


def _leads(table: ResultTable) -> bool:
    return table.leads or not table.columns


def _table(table: ResultTable) -> Iterator[str]:
    if not table.columns:
        # A verdict: as a table's caption it would be as narrow as the table.
        yield f"<h1>{escape(table.title)}</h1>"
        return
    numeric = [head in table.numeric for head in table.columns]
    yield f"<table><caption>{escape(table.title)}</caption>"
    if any(table.columns):
        yield f"<tr>{_cells('th', table.columns, numeric)}</tr>"
    for row in table.rows:
        yield f"<tr>{_cells('td', row, numeric)}</tr>"
    yield "</table>"
    if table.note:
        yield f"<p>{escape(table.note)}</p>"


def _cells(tag: str, texts: Sequence[str], numeric: Sequence[bool]) -> str:
    return "".join(
        f"<{tag}{' class=number' if right else ''}>{escape(text)}</{tag}>"
        for text, right in zip(texts, numeric, strict=True)
    )
