"""``contend simulate``: how much of a link's rate a pattern's messages get."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
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
from contend.congestion import (
    Communicator,
    Progress,
    Simulation,
    SimulationInterrupted,
    agree,
    launched_communicator,
)
from contend.congestion import simulate as count
from contend.errors import ContendError, ShortfallError, UsageError
from contend.fabric import Fabric, bisection
from contend.pattern import FORMS
from contend.units import counted, parse_share

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_Result = tuple[Simulation, Fabric, float]
"""What was simulated, on which fabric, and its rated bisection as a share of full bisection."""


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
        help="Topology files or generators, as for contend fabric; several are compared.",
    ),
]
EnginesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--route",
        metavar="ENGINE",
        help="Compute the routes: minhop, updn, dmodk, opensm:ENGINE ...; several are compared, "
        "and an engine that refuses leaves the others to be shown.",
    ),
]
PatternOption = Annotated[
    str,
    typer.Option(
        "--pattern", "-p", metavar="P", help="bisect, shift:3, alltoall ...; see --patterns."
    ),
]
SamplesOption = Annotated[
    int | None, typer.Option("--samples", metavar="N", min=1, help="How many patterns to draw.")
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="P%",
        help="Stop when the 95 % interval is within this share of the mean on either side, such as "
        "1% or 0.01; without --samples the default is 0.1%.",
    ),
]
ExhaustiveOption = Annotated[
    bool, typer.Option("--exhaustive", help="Count every possible outcome once.")
]
SpreadOption = Annotated[
    bool,
    typer.Option(
        "--spread", help="Use all LIDs of hosts with LMC > 0 in turn, not the first only."
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="N",
        min=1,
        help="Threads of each process; the default is one per core, shared by all processes.",
    ),
]
PictureOption = Annotated[
    Picture | None,
    typer.Option("--picture", help="What --plot draws; a .html file shows all pictures that fit."),
]


def _show_patterns(asked: bool) -> None:
    if asked:
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
        report.check_suffix(plot)
    elif picture is not None:
        raise UsageError("--picture says what --plot FILE draws: give both")
    simulate_one = partial(
        count,
        pattern=pattern,
        placement=placement,
        hosts=hosts,
        ranks_per_host=ranks_per_host,
        ranks=ranks,
        samples=samples,
        precision=None if precision is None else _share(precision),
        exhaustive=exhaustive,
        spread=spread,
        seed=seed,
        threads=threads,
    )
    cases = list(_cases(fabrics, routes, route))
    world = launched_communicator()
    console = console_for(json)
    results: list[_Result] = []

    def show(simulation: Simulation, fabric: Fabric) -> None:
        if world is None or world.rank == 0:
            results.append((simulation, fabric, bisection(fabric).share))
            report.print_tables(console, report.simulation_tables(*results[-1]))

    refusals = _simulate_all(cases, routes, simulate_one, show, world)
    if world is not None and world.rank > 0:
        # The first process says all that there is to say.
        raise typer.Exit(refusals[0][1].status if refusals else 0)
    if refusals and not results:
        raise refusals[0][1]
    written = [report.simulation_json(*result) for result in results]
    write_json(json, written[0] if len(cases) == 1 else {"results": written})
    if plot is not None:
        _draw(results, plot, picture)
    if refusals:
        reasons = "; ".join(f"{name}: {error}" for name, error in refusals)
        raise ShortfallError(
            f"{len(refusals)} of {counted(len(cases), 'simulation')} could not be made: {reasons}"
        )


def _simulate_all(
    cases: Sequence[tuple[str, str | None]],
    routes: str | None,
    simulate_one: Callable[..., Simulation],
    show: Callable[[Simulation, Fabric], None],
    world: Communicator | None,
) -> list[tuple[str, ContendError]]:
    """Simulates and shows every case that can be simulated; returns the others and why not."""
    refusals: list[tuple[str, ContendError]] = []
    for source, engine in cases:
        try:
            fabric = agree(world, partial(load, source, routes, engine, need_routes=True))
            with _progress(source, world) as progress:
                simulation = simulate_one(fabric, progress=progress, communicator=world)
            agree(world, partial(show, simulation, fabric))
        except SimulationInterrupted as interrupt:
            show(interrupt.simulation, fabric)
            raise
        except ContendError as error:
            refusals.append((f"{source} with {engine}" if engine else source, error))
        except OSError:
            if world is None or world.rank == 0:
                raise
            # The first process has heard of it, and says so.
            raise typer.Exit(2) from None
    return refusals


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
    try:
        return parse_share(text)
    except UsageError as error:
        raise UsageError(f"--precision: {error}") from None


def _write(results: Sequence[_Result], several: bool, json: str | None) -> None:
    """Writes one result as it is, several as a list."""
    written = [report.simulation_json(*result) for result in results]
    write_json(json, {"results": written} if several else written[0])


@contextmanager
def _progress(title: str, world: Communicator | None) -> Iterator[Progress | None]:
    if world is not None and world.rank > 0:
        yield None
        return
    with progress_bar(title, "samples") as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _draw(results: Sequence[_Result], path: Path, picture: Picture | None) -> None:
    """Draws one picture, or for a page all that fit."""
    pictures = _pictures(results)
    tables = [table for result in results for table in report.simulation_tables(*result)]
    if picture is None and path.suffix.lower() == ".html":
        drawn = ((name.value, draw()) for name, draw in pictures.items())
        report.save_figures(drawn, path, tables)
        return
    chosen = picture or next(iter(pictures))
    if chosen not in pictures:
        fitting = ", ".join(name.value for name in pictures)
        raise UsageError(f"--picture {chosen.value} does not fit this result; {fitting} do")
    report.save_figure(pictures[chosen](), path, tables)


def _pictures(
    results: Sequence[_Result],
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
