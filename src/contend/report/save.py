"""Figures as files: pictures, or a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from contend.base.errors import UsageError
from contend.base.files import write_whole
from contend.report.page.html import html_page
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
