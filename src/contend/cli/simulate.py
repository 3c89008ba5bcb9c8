"""``contend simulate``: how much of a link's rate a pattern's messages get."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend import report
from contend.cli.common import (
    HostsOption,
    JsonOption,
    PlacementOption,
    PlotOption,
    RanksOption,
    RanksPerHostOption,
    RoutesOption,
    SeedOption,
    console_for,
    load,
    write_json,
)
from contend.cli.progress import progress_bar
from contend.congestion import Communicator, Progress, Simulation, launched_communicator
from contend.congestion import simulate as count
from contend.errors import UsageError
from contend.fabric import Fabric, bisection
from contend.pattern import FORMS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(StrEnum):
    """What --plot draws."""

    BANDWIDTH = "bandwidth"
    CONGESTION = "congestion"
    COMPARISON = "comparison"
    ROUNDS = "rounds"
    CHANNELS = "channels"


FabricsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FABRIC...",
        help="Topology files or generators, as in contend fabric; several are compared.",
    ),
]
EnginesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--route",
        metavar="ENGINE",
        help="Compute the routes: minhop, updn, dmodk, opensm:ENGINE ...; several are compared.",
    ),
]
PatternOption = Annotated[
    str,
    typer.Option(
        "--pattern", "-p", metavar="P", help="bisect, shift:3, alltoall ...; see --patterns."
    ),
]
SamplesOption = Annotated[
    int | None, typer.Option("--samples", metavar="N", min=1, help="Patterns to draw.")
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="P%",
        help="Stop when the 95 % interval is that narrow either way; 0.1 % unless --samples.",
    ),
]
ExhaustiveOption = Annotated[
    bool, typer.Option("--exhaustive", help="Count every possible outcome once.")
]
SpreadOption = Annotated[
    bool, typer.Option("--spread", help="Use all LIDs of hosts with LMC > 0 in turn.")
]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", metavar="N", min=1, help="Default: one per core.")
]
PictureOption = Annotated[
    Picture | None, typer.Option("--picture", help="What --plot draws; .html shows all that fit.")
]


def _show_patterns(wanted: bool) -> None:
    if wanted:
        width = max(len(form.form) for form in FORMS)
        for form in FORMS:
            print(f"{form.form:{width}}  {form.meaning}")
        raise typer.Exit


PatternsOption = Annotated[
    bool,
    typer.Option("--patterns", callback=_show_patterns, is_eager=True, help="List all patterns."),
]


def simulate(
    fabrics: FabricsArgument,
    pattern: PatternOption = "bisect",
    placement: PlacementOption = "random",
    hosts: HostsOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    ranks: RanksOption = None,
    routes: RoutesOption = None,
    route: EnginesOption = None,
    samples: SamplesOption = None,
    precision: PrecisionOption = None,
    exhaustive: ExhaustiveOption = False,
    spread: SpreadOption = False,
    seed: SeedOption = 1,
    threads: ThreadsOption = None,
    json: JsonOption = None,
    plot: PlotOption = None,
    picture: PictureOption = None,
    patterns: PatternsOption = False,
) -> None:
    """Count the congestion of a traffic pattern on a fabric.

    Started by mpirun or srun, the samples are shared out over all processes.

    Example: contend simulate net.ibnetdiscover --routes net.lfts --pattern bisect --plot net.png
    """
    if plot is not None:
        # Imported here, as all of matplotlib is: it takes longer to load than many simulations run.

        report.check_suffix(plot)
    elif picture is not None:
        raise UsageError("--picture says what --plot FILE draws: give both")
    world = launched_communicator()
    relative = None if precision is None else _share(precision)
    results: list[tuple[Simulation, Fabric, float]] = []
    for source, engine in _cases(fabrics, routes, route):
        fabric = load(source, routes, engine, need_routes=True)
        with _progress(source, world) as progress:
            result = count(
                fabric,
                pattern,
                placement=placement,
                hosts=hosts,
                ranks_per_host=ranks_per_host,
                ranks=ranks,
                samples=samples,
                precision=relative,
                exhaustive=exhaustive,
                spread=spread,
                seed=seed,
                threads=threads,
                progress=progress,
                communicator=world,
            )
        results.append((result, fabric, bisection(fabric).share))
        if world is None or world.rank == 0:
            report.print_tables(console_for(json), report.simulation_tables(*results[-1]))
    if world is not None and world.rank > 0:
        return
    written = [report.simulation_json(*result) for result in results]
    write_json(json, written[0] if len(written) == 1 else {"results": written})
    if plot is not None:
        _draw(results, plot, picture)


def _cases(
    fabrics: Sequence[str], routes: str | None, engines: Sequence[str] | None
) -> Iterator[tuple[str, str | None]]:
    """Every fabric with every engine."""
    if routes is not None and len(fabrics) > 1:
        raise UsageError("--routes belongs to one fabric; save each with contend fabric convert")
    for source in fabrics:
        for engine in engines or (None,):
            yield source, engine


def _share(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)", text.strip())
    if match is None:
        raise UsageError(f"--precision: expected a share such as 0.1% or 0.001, got {text}")
    return float(match[1]) / (100 if match[2] else 1)


@contextmanager
def _progress(title: str, world: Communicator | None) -> Iterator[Progress | None]:
    if world is not None and world.rank > 0:
        yield None
        return
    with progress_bar(title, "samples") as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _draw(
    results: Sequence[tuple[Simulation, Fabric, float]], path: Path, picture: Picture | None
) -> None:
    """Draws one picture, or for a page all that fit."""
    pictures = _pictures(results)
    tables = [table for result in results for table in report.simulation_tables(*result)]
    if picture is None and path.suffix.lower() == ".html":
        drawn = ((name.value, draw()) for name, draw in pictures.items())
        report.save_figures(drawn, path, tables)
        return
    wanted = picture or next(iter(pictures))
    if wanted not in pictures:
        fitting = ", ".join(name.value for name in pictures)
        raise UsageError(f"--picture {wanted.value} does not fit this result; {fitting} do")
    report.save_figure(pictures[wanted](), path, tables)


def _pictures(
    results: Sequence[tuple[Simulation, Fabric, float]],
) -> dict[Picture, Callable[[], Figure]]:
    """The pictures that say something about these results, the most telling one first."""
    simulations = [simulation for simulation, _, _ in results]
    rated = [share for _, _, share in results]
    first, fabric, _ = results[0]
    pictures: dict[Picture, Callable[[], Figure]] = {}
    if len(results) > 1:
        pictures[Picture.COMPARISON] = lambda: report.simulation_comparison(
            simulations, rated=rated
        )
    if all(simulation.samples > 1 for simulation in simulations):
        # The average that the table puts first; the paper's own is drawn by contend study.
        mean = report.Measure.MEAN_BANDWIDTH
        pictures[Picture.BANDWIDTH] = lambda: report.bandwidth_histogram(
            simulations, measure=mean, rated=rated
        )
    pictures[Picture.CONGESTION] = lambda: report.congestion_distribution(simulations)
    if first.rounds > 1 and first.samples > 1:
        pictures[Picture.ROUNDS] = lambda: report.round_bounds(simulations)
    if len(results) == 1:
        pictures[Picture.CHANNELS] = lambda: report.channel_loads(first, fabric)
    return pictures
