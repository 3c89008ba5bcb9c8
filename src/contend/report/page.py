"""What figures are saved as, and the page: figures and tables in one file, nothing loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from contend.errors import UsageError
from contend.report.table import ResultTable

SUFFIXES = (".svg", ".png", ".pdf", ".html")
_LOOK = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 52rem; margin: 2rem auto;
       padding: 0 1rem; }
svg { width: 100%; height: auto; max-width: 44rem; }
figure { margin: 0 0 2rem; }
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


def html_page(pictures: Sequence[str], tables: Sequence[ResultTable]) -> str:
    """The page's text; `pictures` are whole SVG documents."""
    title = escape(tables[0].title if tables else "contend")
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{title}</title><style>{_LOOK}</style></head><body>",
            *(f"<figure>{_PROLOGUE.sub('', picture)}</figure>" for picture in pictures),
            *(line for table in tables for line in _table(table)),
            "</body></html>",
            "",
        )
    )


def _table(table: ResultTable) -> Iterator[str]:
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
