"""A page: verdict, a network to explore, tables and figures in one file that loads nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from contend.report.table import ResultTable
from contend.report.words import printable

_HERE = Path(__file__).parent
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
    """A file that lies beside this one."""
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
    return "".join(
        f"<{tag}{' class=number' if right else ''}>{escape(text)}</{tag}>"
        for text, right in zip(texts, numeric, strict=True)
    )
