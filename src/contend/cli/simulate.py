"""``contend simulate``: how much of a link's rate a pattern's messages get."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.text import Text

from contend import report
from contend.cli.common import console_for, load, write_json
from contend.cli.option import BytesPerSecond, Option, Seconds, Share, parsed
from contend.cli.options import (
    FABRIC_HELP,
    LIST,
    PATTERN,
    PICTURE,
    PRECISION,
    RATE,
    SAMPLES,
    HostsOption,
    JsonOption,
    Loading,
    PlacementOption,
    PlotOption,
    RanksOption,
    RanksPerHostOption,
    RouteListOption,
    RoutesOption,
    SeedOption,
)
from contend.congestion import (
    Average,
    BesideCounters,
    Communicator,
    Progress,
    Simulation,
    SimulationInterrupted,
    agree,
    launched_communicator,
)
from contend.congestion import simulate as count
from contend.errors import ContendError, ShortfallError, UsageError
from contend.fabric import Bisection, Fabric, carried
from contend.pattern import FORMS
from contend.report import progress_bar
from contend.units import counted, parse_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contend.report import ResultTable


class _Result(NamedTuple):
    """What was simulated, on which fabric, its narrowest cut, and what its ports have counted."""

    simulation: Simulation
    fabric: Fabric
    rated: Bisection
    beside: BesideCounters | None


class Picture(StrEnum):
    """What --plot draws."""

    BANDWIDTH = "bandwidth"
    CONGESTION = "congestion"
    COMPARISON = "comparison"
    ROUNDS = "rounds"
    CHANNELS = "channels"
    NETWORK = "network"
    USERS = "users"
    COUNTERS = "counters"


FabricsArgument = Annotated[
    list[str],
    typer.Argument(metavar="FABRIC...", help=f"{FABRIC_HELP} Several are compared."),
]
PatternOption = Annotated[str, PATTERN(": bisect, shift:3, alltoall and more; see --list.")]
SamplesOption = Annotated[int | None, SAMPLES(min=1, default="as many as --precision needs")]
PrecisionOption = Annotated[Share | None, PRECISION(default="0.1% unless --samples is given")]
EXHAUSTIVE = Option(("--exhaustive",), None, "Count every possible outcome once")
SPREAD = Option(("--spread",), None, "Use all LIDs of hosts with LMC > 0 in turn")
THREADS = Option(("--threads",), "N", "Number of threads of each process")
EQUAL_RATES = Option(("--equal-rates",), None, "Treat all links as equally fast")
CHANNEL = Option(("--channel",), "CHANNEL", "Show who loads this channel")
LinkRateOption = Annotated[
    BytesPerSecond | None,
    RATE(": every link, in place of its own rate.", default="the fabric's"),
]
EqualRatesOption = Annotated[bool, EQUAL_RATES()]
ChannelsOption = Annotated[
    list[str] | None,
    CHANNEL(
        ": spine3:12 (a switch's port, both directions), a host, hottest, or hottest:N. Repeat it "
        "for several."
    ),
]
COUNTERS = Option(("--counters",), "FILE", "Compare with port counters")
BEFORE = Option(("--before",), "FILE", "Subtract an earlier reading of the counters")
INTERVAL = Option(
    ("--interval",), "TIME", "Time between the two readings", parsed("--interval", parse_seconds)
)
CountersOption = Annotated[
    list[str] | None,
    COUNTERS(
        ": the output of perfquery, ibqueryerrors --counters or an exporter for Prometheus, or a "
        "folder of them. Repeat it for several."
    ),
]
BeforeOption = Annotated[list[str] | None, BEFORE(": files or folders likewise.")]
IntervalOption = Annotated[Seconds | None, INTERVAL(default="as files say")]
ExhaustiveOption = Annotated[bool, EXHAUSTIVE()]
SpreadOption = Annotated[bool, SPREAD()]
ThreadsOption = Annotated[int | None, THREADS(min=1, default="the cores, shared by all processes")]
PictureOption = Annotated[
    Picture | None,
    PICTURE(f": {', '.join(Picture)}. A page (.html) shows all that fit unless one is named."),
]


def _show_patterns(asked: bool) -> None:
    if asked:
        width = max(len(form.form) for form in FORMS)
        for form in FORMS:
            print(f"{form.form:{width}}  {form.meaning}")
        raise typer.Exit


ListOption = Annotated[bool, LIST(callback=_show_patterns, is_eager=True)]


def simulate(
    loading: Loading,
    fabrics: FabricsArgument,
    pattern: PatternOption = "bisect",
    placement: PlacementOption = "random",
    hosts: HostsOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    ranks: RanksOption = None,
    routes: RoutesOption = None,
    route: RouteListOption = None,
    samples: SamplesOption = None,
    precision: PrecisionOption = None,
    exhaustive: ExhaustiveOption = False,
    spread: SpreadOption = False,
    rate: LinkRateOption = None,
    equal_rates: EqualRatesOption = False,
    channel: ChannelsOption = None,
    counters: CountersOption = None,
    before: BeforeOption = None,
    interval: IntervalOption = None,
    seed: SeedOption = 1,
    threads: ThreadsOption = None,
    json: JsonOption = None,
    plot: PlotOption = None,
    picture: PictureOption = None,
    patterns: ListOption = False,
) -> None:
    """Count the congestion of a traffic pattern on a fabric.

    Under mpirun or srun, all processes share the samples.

    Example: contend simulate net.ibnetdiscover --routes net.lfts --pattern bisect --plot net.png
    """
    if plot is not None:
        report.check_suffix(plot)
    elif picture is not None:
        raise UsageError("--picture says what --plot FILE draws: give both")
    if not counters and (before or interval is not None):
        raise UsageError("--before and --interval go with --counters FILE, the later reading")
    if interval is not None and not (before and interval > 0):
        raise UsageError("--interval is the time from --before to --counters, above 0")
    simulate_one = partial(
        count,
        pattern=pattern,
        placement=placement,
        hosts=hosts,
        ranks_per_host=ranks_per_host,
        ranks=ranks,
        samples=samples,
        precision=precision,
        exhaustive=exhaustive,
        spread=spread,
        rate=rate,
        equal_rates=equal_rates,
        channels=channel or (),
        seed=seed,
        threads=threads,
    )
    cases = list(_cases(fabrics, routes, route))
    world = launched_communicator()
    console = console_for(json)
    results: list[_Result] = []

    def show(simulation: Simulation, fabric: Fabric, cut_short: bool = False) -> None:
        if world is None or world.rank == 0:
            beside = None
            if counters:
                counted_by_ports = carried(fabric, counters, before or (), interval)
                beside = BesideCounters.of(simulation, counted_by_ports)
            results.append(_Result(simulation, fabric, simulation.bisection(), beside))
            if beside is not None:
                console.print(Text(report.counters_verdict(beside), style="bold"), soft_wrap=True)
            for line in report.users_verdict(simulation):
                console.print(Text(line, style="bold"), soft_wrap=True)
            if cut_short:
                counted_so_far = counted(simulation.samples, "sample")
                console.print(f"A partial result, of the {counted_so_far} counted before the end:")
            report.print_tables(console, _tables(results[-1]))

    loaded = partial(load, how=loading, need_routes=True)
    refusals = _simulate_all(cases, routes, loaded, simulate_one, show, world)
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
            f"{len(refusals)} of {counted(len(cases), 'simulation')} failed: {reasons}"
        )


def _simulate_all(
    cases: Sequence[tuple[str, str | None]],
    routes: str | None,
    loaded: Callable[..., Fabric],
    simulate_one: Callable[..., Simulation],
    show: Callable[..., None],
    world: Communicator | None,
) -> list[tuple[str, ContendError]]:
    """Simulates and shows every case that can be simulated; returns the others and why not."""
    refusals: list[tuple[str, ContendError]] = []
    for source, engine in cases:
        try:
            fabric = agree(world, partial(loaded, source, routes, engine))
            with _progress(source, world) as progress:
                simulation = simulate_one(fabric, progress=progress, communicator=world)
            agree(world, partial(show, simulation, fabric))
        except SimulationInterrupted as interrupt:
            show(interrupt.simulation, fabric, True)
            # Ctrl-C, or what ended it otherwise.
            raise interrupt.__cause__ or interrupt from None
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
    tables = [table for result in results for table in _tables(result)]
    if picture is None and path.suffix.lower() == ".html":
        drawn = ((name.value, draw()) for name, draw in pictures.items())
        report.save_figures(drawn, path, tables)
        return
    chosen = picture or next(iter(pictures))
    if chosen not in pictures:
        fitting = ", ".join(name.value for name in pictures)
        raise UsageError(
            f"--picture {chosen.value} does not fit this result; expected one of {fitting}"
        )
    report.save_figure(pictures[chosen](), path, tables)


def _tables(result: _Result) -> list[ResultTable]:
    """What ports counted, who loads the channels that were asked for, what all messages get."""
    simulation, fabric, rated, beside = result
    return [
        *(() if beside is None else report.counters_tables(beside)),
        *report.users_tables(simulation),
        *report.simulation_tables(simulation, fabric, rated),
    ]


def _pictures(
    results: Sequence[_Result],
) -> dict[Picture, Callable[[], Figure]]:
    """The pictures that say something about these results, the most telling one first."""
    simulations = [result.simulation for result in results]
    rated = [result.rated.share for result in results]
    first, fabric, _, beside = results[0]
    pictures: dict[Picture, Callable[[], Figure]] = {}
    if len(results) == 1 and beside is not None:
        pictures[Picture.COUNTERS] = partial(report.counters_figure, beside)
    if len(results) == 1 and first.users:
        pictures[Picture.USERS] = lambda: report.users_figure(first)
    if len(results) > 1:
        pictures[Picture.COMPARISON] = lambda: report.simulation_comparison(
            simulations, rated=rated
        )
    if all(simulation.samples > 1 for simulation in simulations):
        # The average that the table puts first; the paper's own is drawn by contend study.
        pictures[Picture.BANDWIDTH] = lambda: report.bandwidth_histogram(
            simulations, average=Average.EFFECTIVE_BANDWIDTH, rated=rated
        )
    pictures[Picture.CONGESTION] = lambda: report.congestion_distribution(simulations)
    if first.rounds > 1 and first.samples > 1:
        pictures[Picture.ROUNDS] = lambda: report.round_bounds(simulations)
    if len(results) == 1:
        pictures[Picture.CHANNELS] = lambda: report.channel_loads(first, fabric)
        pictures[Picture.NETWORK] = lambda: report.network_loads(first, fabric)
    return pictures
