"""Saves figures in the format that a file's name asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from contend.errors import UsageError
from contend.files import write_whole
from contend.report.page import page
from contend.report.result_table import ResultTable

SUFFIXES = (".svg", ".png", ".pdf", ".html")
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_DOTS_PER_INCH = 300
# Without a date, equal results give equal files.
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "contend"},
    "pdf": {"CreationDate": None, "Creator": "contend"},
    "png": {"Software": "contend"},
}


def check_suffix(path: Path) -> None:
    """Refuses early what `save_figure` could not write.

    Raises:
        UsageError: for a name that ends otherwise than .svg, .png, .pdf or .html.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: expected a figure's name ending in one of {', '.join(SUFFIXES)}")


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
        content = page([_render(figure, "svg").decode()], tables).encode()
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
        write_whole(path, page(pictures, tables).encode())
        return [path]
    written = []
    for name, figure in figures:
        one = path.with_name(f"{path.stem}-{_UNFIT.sub('-', name)}{path.suffix}")
        save_figure(figure, one)
        written.append(one)
    return written


def _render(figure: Figure, kind: str) -> bytes:
    buffer = BytesIO()
    # Text stays text in SVG: it can be searched, and read aloud.
    with mpl.rc_context({"svg.hashsalt": "contend", "svg.fonttype": "none"}):
        figure.savefig(buffer, format=kind, dpi=_DOTS_PER_INCH, metadata=_METADATA[kind])
    return buffer.getvalue()
