"""The figures of measured runs: which fit, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from matplotlib.figure import Figure

from contend.errors import UsageError
from contend.report.distribution_figure import distribution_figure
from contend.report.pingpong_figure import pingpong_figure
from contend.report.rate_figure import rate_figures
from contend.report.result_table import ResultTable
from contend.report.run_comparison_figure import comparison_figure
from contend.report.run_comparison_tables import compared
from contend.report.save import save_figure, save_figures
from contend.report.sort_figure import sort_figure
from contend.runs import Run


class Picture(StrEnum):
    """What is drawn of runs."""

    COMPARISON = "comparison"
    PINGPONG = "pingpong"
    STEPS = "steps"
    RATES = "rates"
    TIMES = "times"


Named = tuple[str, Figure]


def run_figures(
    runs: Sequence[Run], size: int | None = None
) -> dict[Picture, Callable[[], Iterator[Named]]]:
    """The pictures that say something about these runs, the most telling one first.

    Args:
        runs: at least one.
        size: of the cells whose times are drawn; see `distribution_figure`.
    """
    pictures: dict[Picture, Callable[[], Iterator[Named]]] = {}
    if compared(runs):
        pictures[Picture.COMPARISON] = lambda: iter([("comparison", comparison_figure(runs))])
    probes = {run.record.probe for run in runs}
    if "pingpong" in probes:
        pictures[Picture.PINGPONG] = lambda: _each(
            [run for run in runs if run.record.probe == "pingpong"], "pingpong", pingpong_figure
        )
    if "sort" in probes:
        pictures[Picture.STEPS] = lambda: _each(
            [run for run in runs if run.record.probe == "sort"], "steps", sort_figure
        )
    if any(cell.sent for run in runs for cell in run.summaries):
        pictures[Picture.RATES] = lambda: _rates(runs)
    if any(run.summaries for run in runs):
        drawn = [run for run in runs if run.summaries]
        pictures[Picture.TIMES] = lambda: _each(
            drawn, "times", lambda run: distribution_figure(run, size)
        )
    return pictures


def draw_runs(
    runs: Sequence[Run],
    path: Path,
    *,
    picture: str | None = None,
    size: int | None = None,
    tables: Sequence[ResultTable] = (),
) -> list[Path]:
    """Draws one picture of runs, or for a page (.html) all that fit.

    Args:
        runs: at least one.
        path: of the figure; where a picture is several figures, their names go before the ending.
        picture: a `Picture`; by default the most telling one.
        size: see `distribution_figure`.
        tables: what a page shows below the figures.

    Returns:
        The files, in order.

    Raises:
        UsageError: for another ending, a picture that does not fit, or without samples.
    """
    pictures = run_figures(runs, size)
    if not pictures:
        raise UsageError("no sample is there to draw")
    if picture is None and path.suffix.lower() == ".html":
        return save_figures((one for draw in pictures.values() for one in draw()), path, tables)
    wanted = picture or next(iter(pictures))
    drawn = [one for name, draw in pictures.items() if name == wanted for one in draw()]
    if not drawn:
        raise UsageError(f"--picture {wanted}: what was measured can be {', '.join(pictures)}")
    if len(drawn) > 1:
        return save_figures(drawn, path, tables)
    save_figure(drawn[0][1], path, tables)
    return [path]


def _each(runs: Sequence[Run], name: str, draw: Callable[[Run], Figure]) -> Iterator[Named]:
    for run in runs:
        yield (name if len(runs) == 1 else f"{run.name}-{name}"), draw(run)


def _rates(runs: Sequence[Run]) -> Iterator[Named]:
    for run in runs:
        for name, figure in rate_figures(run):
            yield (name if len(runs) == 1 else f"{run.name}-{name}"), figure
