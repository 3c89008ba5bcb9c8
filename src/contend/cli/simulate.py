"""``contend simulate``: how much of a link's rate a pattern's messages get."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from contend import congestion, report
from contend import fabric as fabric_room
from contend.base.errors import ContendError, UsageError
from contend.base.units import checked_rates, counted, parse_seconds
from contend.cli.common import cost_of_missing, load, told_by_the_first
from contend.cli.options.option import (
    Seconds,
    Share,
    in_options,
    option,
    parsed,
)
from contend.cli.options.outputs import MetricOutputs
from contend.cli.options.shared import (
    FABRIC_HELP,
    LIST,
    PATTERN,
    PICTURE,
    PRECISION,
    RATE,
    SAMPLES,
    HostsOption,
    Loading,
    PacketOptions,
    PlacementOption,
    RanksOption,
    RanksPerHostOption,
    RouteListOption,
    RoutesOption,
    SeedOption,
)
from contend.report import Document

if TYPE_CHECKING:
    from contend.congestion import Communicator, PacketSimulation, Simulation
    from contend.cure import PartsCost
    from contend.fabric import Fabric


class SimulationPicture(StrEnum):
    """What --plot draws."""

    BANDWIDTH = "bandwidth"
    CONGESTION = "congestion"
    COMPARISON = "comparison"
    ROUNDS = "rounds"
    CHANNELS = "channels"
    NETWORK = "network"
    USERS = "users"
    COUNTERS = "counters"


EXHAUSTIVE = option("--exhaustive", takes=None, means="Count every possible outcome once")
SPREAD = option("--spread", takes=None, means="Use all LIDs of hosts with LMC > 0 in turn")
THREADS = option("--threads", takes="N", means="Number of threads of each process")
EQUAL_RATES = option("--equal-rates", takes=None, means="Treat all links as equally fast")
CHANNEL = option(
    "--channel", takes="CHANNEL", means="Show who loads this channel, or who waits there"
)
COUNTERS = option("--counters", takes="FILE", means="Compare with port counters")
BEFORE = option("--before", takes="FILE", means="Subtract an earlier reading of the counters")
INTERVAL = option("--interval", takes="TIME", means="Time between two readings", by=parse_seconds)


@dataclass(frozen=True)
class CountingOptions:
    """Whose messages are counted, and how: arguments of functions that count have these names."""

    hosts: HostsOption = None
    ranks_per_host: RanksPerHostOption = 1
    ranks: RanksOption = None
    spread: Annotated[bool, SPREAD()] = False
    rate: Annotated[
        str | None,
        RATE(
            ": for every link, or by kind, such as hosts=400GbE,switches=800GbE, or "
            "level3=1.6Tbit/s for cables up to that level.",
            default="the fabric's",
            callback=parsed("--rate", checked_rates),
        ),
    ] = None
    equal_rates: Annotated[bool, EQUAL_RATES()] = False
    seed: SeedOption = 1
    threads: Annotated[int | None, THREADS(min=1, default="the cores, shared by all processes")] = (
        None
    )


def _show_patterns(asked: bool) -> None:
    if asked:
        from contend.traffic.pattern import FORMS

        width = max(len(form.form) for form in FORMS)
        for form in FORMS:
            print(f"{form.form:{width}}  {form.meaning}")
        raise typer.Exit


def simulate(
    counting: CountingOptions,
    loading: Loading,
    outputs: MetricOutputs,
    packets: PacketOptions,
    fabrics: Annotated[
        list[str],
        typer.Argument(metavar="FABRIC...", help=f"{FABRIC_HELP} Several are compared."),
    ],
    pattern: Annotated[
        str, PATTERN(": bisect, shift:3, alltoall and more; see --list.")
    ] = "bisect",
    placement: PlacementOption = "random",
    routes: RoutesOption = None,
    route: RouteListOption = None,
    samples: Annotated[int | None, SAMPLES(min=1, default="as many as --precision needs")] = None,
    precision: Annotated[
        Share | None, PRECISION(default="0.1%, 1% once that takes seconds; none with --samples")
    ] = None,
    exhaustive: Annotated[bool, EXHAUSTIVE()] = False,
    channel: Annotated[
        list[str] | None,
        CHANNEL(
            ": spine3:12 (a switch's port, both directions), a host, hottest, or hottest:N, of "
            "packets those that are blocked most. Repeat it for several."
        ),
    ] = None,
    counters: Annotated[
        list[str] | None,
        COUNTERS(
            ": the output of perfquery, ibqueryerrors --counters or an exporter for Prometheus, "
            "or a folder of them. Repeat it for several."
        ),
    ] = None,
    before: Annotated[list[str] | None, BEFORE(": files or folders likewise.")] = None,
    interval: Annotated[Seconds | None, INTERVAL(default="what the files say")] = None,
    picture: Annotated[
        SimulationPicture | None,
        PICTURE(
            f": {', '.join(SimulationPicture)}. A page (.html) shows all that fit unless one is "
            "named."
        ),
    ] = None,
    patterns: Annotated[bool, LIST(callback=_show_patterns, is_eager=True)] = False,
) -> Document:
    """Count the congestion of a traffic pattern on a fabric.

    With --model packets it is also carried out packet by packet. Under mpirun or srun, all
    processes share the samples.

    Example: contend simulate net.ibnetdiscover --routes net.lfts --pattern bisect --plot net.png
    """
    if not counters and (before or interval is not None):
        raise UsageError("--before and --interval go with --counters FILE, the later reading")
    if interval is not None and not (before and interval > 0):
        raise UsageError("--interval is the time from --before to --counters, above 0")
    cases = list(_cases(fabrics, routes, route))
    world = congestion.launched_communicator()
    told: list[Document] = []

    counted_alone = {
        "--exhaustive": exhaustive,
        "--counters": counters,
        "--picture": picture,
    }
    if packets.asked and (others := [option for option, given in counted_alone.items() if given]):
        raise UsageError(f"{others[0]} goes with --model counted alone")

    with told_by_the_first(world) as first:
        simulate_one = partial(
            congestion.simulate_packets if packets.asked else congestion.simulate,
            pattern=pattern,
            placement=placement,
            samples=samples,
            precision=precision,
            progress=first,
            communicator=world,
            channels=channel or (),
            **vars(counting),
            **(packets.arguments() if packets.asked else {"exhaustive": exhaustive}),
        )

        def tell(
            simulation: Simulation | PacketSimulation,
            without: PartsCost | None,
            cut_short: bool = False,
        ) -> None:
            if not first:
                return
            if isinstance(simulation, congestion.PacketSimulation):
                document = report.packets_document(simulation, cut_short=cut_short)
                told.append(replace(document, without=without))
                if len(cases) > 1 or cut_short:
                    told[-1].print_to(outputs.console)
                return
            if counters:
                fabric = simulation.whole_fabric
                by_ports = fabric_room.carried(fabric, counters, before or (), interval)
                beside = congestion.BesideCounters.of(simulation, by_ports)
                simulation = replace(simulation, counters=beside)
            document = report.simulation_document(simulation, cut_short=cut_short)
            told.append(replace(document, without=without))
            if cut_short:
                for document in told:
                    document.print_to(outputs.console)

        loaded = partial(load, how=loading, need_routes=True)

        def judged(source: str, fabric: Fabric) -> PartsCost | None:
            if not first:
                return None
            return cost_of_missing(source, fabric, loading, pattern, placement)

        refusals = _simulate_all(cases, routes, loaded, judged, simulate_one, tell, world)
        if refusals and not told:
            raise refusals[0][1]
    if len(cases) == 1:
        return replace(told[0], picture=picture)
    shortfall = ""
    if refusals:
        reasons = "; ".join(f"{name}: {in_options(error)}" for name, error in refusals)
        failed = f"{len(refusals)} of {counted(len(cases), 'simulation')} failed"
        shortfall = f"{failed}: {reasons}"
    together = report.packets_documents if packets.asked else report.simulations_document
    return replace(together(told, shortfall=shortfall), picture=picture)


def _simulate_all(
    cases: Sequence[tuple[str, str | None]],
    routes: str | None,
    loaded: Callable[..., Fabric],
    judged: Callable[[str, Fabric], PartsCost | None],
    simulate_one: Callable[..., Simulation | PacketSimulation],
    tell: Callable[..., None],
    world: Communicator | None,
) -> list[tuple[str, ContendError]]:
    """Simulates and tells every case that can be simulated; returns the others and why not."""
    refusals: list[tuple[str, ContendError]] = []
    for source, engine in cases:
        without = None
        try:
            fabric = congestion.agree(world, partial(loaded, source, routes, engine))
            without = judged(source, fabric)
            simulation = simulate_one(fabric)
            congestion.agree(world, partial(tell, simulation, without))
        except congestion.SimulationInterrupted as interrupt:
            tell(interrupt.simulation, without, True)
            # Ctrl-C, or what ended it otherwise.
            raise interrupt.__cause__ or interrupt from None
        except ContendError as error:
            refusals.append((f"{source} with {engine}" if engine else source, error))
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
