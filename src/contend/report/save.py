"""Saves figures in the format that a file's name asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.text import Text

from contend.files import write_whole
from contend.report.page import check_suffix, html_page
from contend.report.table import ResultTable
from contend.report.words import printable

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_DOTS_PER_INCH = 300
# Without a date, equal results give equal files.
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "contend"},
    "pdf": {"CreationDate": None, "Creator": "contend"},
    "png": {"Software": "contend"},
}


def save_figure(figure: Figure, path: Path, tables: Sequence[ResultTable] = ()) -> None:
    """Writes a figure whole or not at all.

    Args:
        figure: any of this package's figures.
        path: .svg, .png and .pdf hold the figure; .html is one page of its own with the figure and
            the tables.
        tables: what the page shows below the figure.

    Raises:
        UsageError: for another ending.
    """
    check_suffix(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind == "html":
        content = html_page([_render(figure, "svg").decode()], tables).encode()
    else:
        content = _render(figure, kind)
    write_whole(path, content)


def save_figures(
    figures: Iterable[tuple[str, Figure]], path: Path, tables: Sequence[ResultTable] = ()
) -> list[Path]:
    """Writes several named figures.

    Args:
        figures: names and figures; drawn one after the other.
        path: .html becomes one page with all of them; for the others the name of each figure goes
            before the ending, ``study.svg`` becomes ``study-bisect.svg``.
        tables: what a page shows below the figures.

    Returns:
        The files, in order.

    Raises:
        UsageError: for another ending.
    """
    check_suffix(path)
    if path.suffix.lower() == ".html":
        pictures = [_render(figure, "svg").decode() for _, figure in figures]
        write_whole(path, html_page(pictures, tables).encode())
        return [path]
    written = []
    for name, figure in figures:
        file = path.with_name(f"{path.stem}-{_UNFIT.sub('-', name)}{path.suffix}")
        save_figure(figure, file)
        written.append(file)
    return written


def _render(figure: Figure, kind: str) -> bytes:
    _make_printable(figure)
    buffer = BytesIO()
    # Text stays text in SVG: it can be searched, and read aloud.
    with mpl.rc_context({"svg.hashsalt": "contend", "svg.fonttype": "none"}):
        figure.savefig(buffer, format=kind, dpi=_DOTS_PER_INCH, metadata=_METADATA[kind])
    return buffer.getvalue()


def _make_printable(figure: Figure) -> None:
    """Names from dumps may hold anything; control characters make an ill-formed SVG."""
    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
