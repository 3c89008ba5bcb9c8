"""``contend predict``: how long communication takes on a fabric, from what messages cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend import prediction, profiling, report
from contend.cli.common import load
from contend.cli.options.option import Bytes, BytesPerSecond, parsed
from contend.cli.options.shared import (
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
    Loading,
    MaybePlacementOption,
    MeasuredOption,
    RanksOption,
    RanksPerHostOption,
    RouteListOption,
    RouteOption,
    RoutesOption,
)
from contend.errors import UsageError
from contend.report import Document
from contend.units import parse_rate

if TYPE_CHECKING:
    from contend.prediction import Calibration, PredictionConditions
    from contend.profiling import ProgramProfile

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
) -> Document:
    """Predict how long a profiled program takes elsewhere: fabrics, routes, placements.

    The recorded messages are replayed on each FABRIC, with each routing and placement.

    Example: contend predict contend-runs/profile-2026-11-22-1 fig1 net.fabric --calibration costs
    """
    if routes is not None and len(fabrics) > 1:
        raise UsageError(f"--routes: expected one FABRIC that it is of, got {len(fabrics)}")
    recorded = profiling.ProgramProfile.load(profile)
    costs = prediction.costs_of(calibration, recorded.record.library)
    # What has died on the way there had not when it was recorded.
    there = fabric and load(fabric, None, None, replace(loading, without=None), need_routes=True)
    record = prediction.record_of(recorded, costs, there)
    cases = tuple(
        prediction.predict_program(record, where, name)
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
    )
    return report.program_document(prediction.PredictedProgram(record, cases))


def _places(
    profile: ProgramProfile,
    fabrics: Sequence[str],
    routes: str | None,
    route: Sequence[str] | None,
    loading: Loading,
    placement: Sequence[str] | None,
    ranks_per_host: int | None,
    costs: Calibration,
    rate: float | None,
    buffer: int | None,
) -> Iterator[tuple[str, PredictionConditions]]:
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
                prediction.conditions_of(
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
) -> Document:
    """Predict how long all-to-alls take on a fabric, as contend measure measures them.

    Example: contend predict alltoall fig1 --calibration costs --bytes 4K:1M -n 16 -a shift,linear
    """
    found = prediction.predict(
        load(fabric, routes, route, loading, need_routes=True),
        calibration,
        algorithms=algorithm or "all",
        bytes=bytes,
        ranks=ranks,
        ranks_per_host=ranks_per_host,
        placement=placement or "linear",
        rate=rate,
        buffer=buffer,
        measured=measured,
        progress=True,
    )
    return report.prediction_document(found)
