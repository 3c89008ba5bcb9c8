"""``contend predict``: how long communication takes on a fabric, from what messages cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from contend.cli.common import console_for, load, write_json
from contend.cli.option import Bytes, BytesPerSecond, parsed
from contend.cli.options import (
    ALGORITHM,
    BUFFER,
    BYTES,
    FABRIC,
    FABRIC_HELP,
    PLACEMENT,
    PLACEMENTS,
    RANKS_PER_HOST,
    RATE,
    CalibrationOption,
    FabricArgument,
    JsonOption,
    Loading,
    MaybePlacementOption,
    MeasuredOption,
    PlotOption,
    RanksOption,
    RanksPerHostOption,
    RouteListOption,
    RouteOption,
    RoutesOption,
)
from contend.errors import UsageError
from contend.placement import parse
from contend.prediction import (
    LIBRARY,
    Calibration,
    Case,
    Comparison,
    Conditions,
    beside_measured,
    conditions_of,
    costs_of,
    fastest_port,
    predict_alltoall,
    predict_program,
    record_of,
)
from contend.profiling import Profile
from contend.report import (
    check_suffix,
    prediction_comparison_table,
    prediction_figure,
    prediction_json,
    prediction_tables,
    print_tables,
    program_figure,
    program_json,
    program_tables,
    program_verdict,
    save_figure,
    verdict,
)
from contend.runs import Run
from contend.schedule import Exchange, suited
from contend.units import parse_rate, parse_sizes

AlgorithmOption = Annotated[
    str | None,
    ALGORITHM(": library, shift, linear ..., or all.", many=True, default="all"),
]
BytesOption = Annotated[
    str,
    BYTES(": 1,2,4K, or 4K:1M for powers of two. Each rank sends one to every other.", many=True),
]
RateOption = Annotated[
    BytesPerSecond | None,
    RATE(default="the calibration's, or the fabric's own", callback=parsed("--rate", parse_rate)),
]
BufferOption = Annotated[Bytes | None, BUFFER(default="the calibration's")]

ProfileArgument = Annotated[
    Path, typer.Argument(metavar="PROFILE", help="A folder of contend profile.")
]
FabricsArgument = Annotated[
    list[str],
    typer.Argument(metavar="FABRIC...", help=f"Where the program would run. {FABRIC_HELP}"),
]
PlacementListOption = Annotated[
    list[str] | None,
    PLACEMENT(
        f"{PLACEMENTS} Repeat it to compare.",
        default="the hosts that the profile names, if the fabric has them; else linear",
    ),
]
RecordedOnOption = Annotated[
    str | None,
    FABRIC(
        ": the one that the profile was recorded on. The model's error there corrects predictions.",
        default="known if it was emulated",
    ),
]
RecordedRanksOption = Annotated[int | None, RANKS_PER_HOST(min=1, default="as recorded")]


def program(
    loading: Loading,
    profile: ProfileArgument,
    fabrics: FabricsArgument,
    calibration: CalibrationOption = None,
    routes: RoutesOption = None,
    route: RouteListOption = None,
    placement: PlacementListOption = None,
    ranks_per_host: RecordedRanksOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    fabric: RecordedOnOption = None,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Predict how long a profiled program takes elsewhere: fabrics, routes, placements.

    The recorded messages are replayed on each FABRIC, with each routing and placement.

    Example: contend predict contend-runs/profile-2026-11-22-1 fig1 net.fabric --calibration costs
    """
    if plot is not None:
        check_suffix(plot)
    if routes is not None and len(fabrics) > 1:
        raise UsageError(f"--routes: expected one FABRIC that it is of, got {len(fabrics)}")
    recorded = Profile.load(profile)
    costs = costs_of(calibration, recorded.record.library)
    # What has died on the way there had not when it was recorded.
    there = fabric and load(fabric, None, None, replace(loading, without=None), need_routes=True)
    record = record_of(recorded, costs, there)
    console = console_for(json)
    cases = [
        Case(name, predict_program(record, where))
        for name, where in _places(
            recorded,
            fabrics,
            routes,
            route,
            loading,
            placement,
            ranks_per_host,
            costs,
            rate,
            buffer,
        )
    ]
    words = program_verdict(recorded, record, cases)
    console.print(Text(words), soft_wrap=True)
    tables = program_tables(recorded, record, cases)
    print_tables(console, tables)
    write_json(json, program_json(recorded, record, cases, verdict=words))
    if plot is not None:
        save_figure(program_figure(recorded, record, cases), plot, tables)
        console.print(Text(str(plot)))


def _places(
    profile: Profile,
    fabrics: Sequence[str],
    routes: str | None,
    route: Sequence[str] | None,
    loading: Loading,
    placement: Sequence[str] | None,
    ranks_per_host: int | None,
    costs: Calibration,
    rate: float | None,
    buffer: int | None,
) -> Iterator[tuple[str, Conditions]]:
    """Every fabric with every route and placement, and what tells it from the others."""
    engines: Sequence[str | None] = route or [None]
    orders: Sequence[str | None] = placement or [None]
    for source, engine in product(fabrics, engines):
        network = load(source, routes, engine, loading, need_routes=True)
        for words in orders:
            name = network.name
            if engine is not None:
                name += f", {engine}"
            if words is not None:
                name += f", {words}"
            yield (
                name,
                conditions_of(
                    profile,
                    network,
                    costs,
                    placement=words,
                    ranks_per_host=ranks_per_host,
                    rate=rate,
                    buffer=buffer,
                ),
            )


def alltoall(
    loading: Loading,
    fabric: FabricArgument,
    calibration: CalibrationOption = None,
    algorithm: AlgorithmOption = None,
    bytes: BytesOption = "4K:1M",  # noqa: A002
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    placement: MaybePlacementOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    measured: MeasuredOption = None,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Predict how long all-to-alls take on a fabric, as contend measure measures them.

    Example: contend predict alltoall fig1 --calibration costs --bytes 4K:1M -n 16 -a shift,linear
    """
    if plot is not None:
        check_suffix(plot)
    costs = costs_of(calibration)
    network = load(fabric, routes, route, loading, need_routes=True)
    placed = parse(placement or "linear", network, ranks_per_host=ranks_per_host)
    if placed.random:
        raise UsageError("--placement random: ranks need one placement here; give file:PATH")
    count = placed.ranks if ranks is None else ranks
    if not 2 <= count <= placed.ranks:
        raise UsageError(f"--ranks: expected 2 to {placed.ranks}, which have a host, got {count}")
    where = Conditions(
        fabric=network,
        hosts=placed.host_of_rank[:count],
        calibration=costs,
        rate=fastest_port(network, costs, rate),
        buffer=costs.buffer if buffer is None else buffer,
    )
    predictions = [
        predict_alltoall(name, Exchange(count, size), where)
        for name in _algorithms(algorithm, count)
        for size in parse_sizes(bytes)
    ]
    comparison: Comparison | None = None
    if measured is not None:
        comparison = beside_measured(predictions, Run.load(measured))
    console = console_for(json)
    words = verdict(predictions, network, assumed=costs.assumed)
    console.print(Text(words), soft_wrap=True)
    tables = prediction_tables(predictions, network.name, costs)
    if comparison is not None:
        tables = [prediction_comparison_table(comparison, network.name), *tables]
    print_tables(console, tables)
    result = prediction_json(
        predictions,
        network,
        placement=placed.name,
        where=where,
        verdict=words,
        comparison=comparison,
    )
    write_json(json, result)
    if plot is not None:
        save_figure(prediction_figure(predictions, network.name, comparison), plot, tables)
        console.print(Text(str(plot)))


def _algorithms(words: str | None, ranks: int) -> list[str]:
    names = [] if words is None else [name.strip() for name in words.split(",")]
    if not names or names == ["all"]:
        return [LIBRARY, *suited(ranks)]
    return names
