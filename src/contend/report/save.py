"""Figures as files: pictures, or a page with verdict, tables and a network that loads nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from contend.base.errors import UsageError
from contend.base.files import write_whole
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
    exploring: Sequence[str] = (),
    renewed: float = 0.0,
) -> list[Path]:
    """Writes named figures and the rest of `html_page` as one page."""
    pictures = [_render(figure, "svg").decode() for _, figure in figures]
    write_whole(path, html_page(pictures, tables, verdict, remarks, exploring, renewed).encode())
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


def check_suffix(path: Path) -> None:
    """Refuses early what `save_figure` could not write.

    Raises:
        UsageError: for a name that ends otherwise than .svg, .png, .pdf or .html.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: expected a figure's name ending in one of {', '.join(SUFFIXES)}")


_HERE = Path(__file__).parent / "page"
_PROLOGUE = re.compile(r"^.*?(?=<svg)", re.DOTALL)


def html_page(
    pictures: Sequence[str],
    tables: Sequence[ResultTable] = (),
    verdict: Sequence[str] = (),
    remarks: Sequence[str] = (),
    exploring: Sequence[str] = (),
    renewed: float = 0.0,
) -> str:
    """The page's text.

    Args:
        pictures: whole SVG documents.
        tables: those that lead come before the pictures, others below.
        verdict: lines at the top.
        remarks: lines at the end.
        exploring: scripts of a network to explore, which is shown below the verdict.
        renewed: seconds after which a browser loads it anew; 0 for never.
    """
    title = tables[0].title if tables else next(iter(verdict), "contend")
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            *([f'<meta http-equiv="refresh" content="{renewed:g}">'] if renewed else []),
            f"<title>{escape(title)}</title><style>{read_text('look.css')}</style></head><body>",
            f"<main{' class=wide' if exploring else ''}>",
            *(f"<h1>{escape(line)}</h1>" for line in verdict),
            *([_EXPLORER] if exploring else []),
            *html_tables([table for table in tables if _leads(table)]),
            *(f"<figure>{_PROLOGUE.sub('', picture)}</figure>" for picture in pictures),
            *html_tables([table for table in tables if not _leads(table)]),
            *(f"<p>{escape(printable(line))}</p>" for line in remarks),
            "</main>",
            f"<script>{read_text('tables.js')}</script>",
            *exploring,
            "</body></html>",
            "",
        )
    )


_EXPLORER = """<section id="explorer" aria-label="network">
<div id="tools">
<span id="finder"><input id="search" type="search" role="combobox" aria-expanded="false"
 aria-controls="found" autocomplete="off" placeholder="Search: name, GUID, LID or job"
 aria-label="search"><ul id="found" role="listbox"></ul></span>
<label>colours <select id="layer"></select></label>
<label>state <select id="view"></select></label>
<label>beside it <select id="beside"></select></label>
<button id="fit" type="button">Fit</button>
<button id="back" type="button" disabled>Back</button>
</div>
<div id="seen"><div id="panes"><div id="captions"></div><div id="drawing"></div></div>
<div id="panel" aria-live="polite"></div></div>
<div id="legend"></div>
</section>"""


def read_text(name: str) -> str:
    """A file of those that pages bring along."""
    return (_HERE / name).read_text(encoding="utf-8")


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
        yield f"<thead><tr>{_cells('th', table.columns, numeric)}</tr></thead>"
    yield "<tbody>"
    for row in table.rows:
        yield f"<tr>{_cells('td', row, numeric)}</tr>"
    yield "</tbody></table>"
    if table.note:
        yield f"<p>{escape(table.note)}</p>"


def _cells(tag: str, texts: Sequence[str], numeric: Sequence[bool]) -> str:
    # A browser may break a line within an arrow.
    cells = "".join(
        f"<{tag}{' class=number' if right else ''}>{escape(text)}</{tag}>"
        for text, right in zip(texts, numeric, strict=True)
    )
    return cells.replace("-&gt;", '<span style="white-space: nowrap">-&gt;</span>')
