"""``contend predict``: how long communication takes on a fabric, from what messages cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from contend import prediction, profiling, report
from contend.base.errors import UsageError
from contend.base.units import parse_rate, parse_size
from contend.cli.common import RoutedLoading, cost_of_missing, load
from contend.cli.options.option import Bytes, BytesPerSecond, Seconds, option, parsed
from contend.cli.options.shared import (
    ALGORITHM,
    BUFFER,
    BYTES,
    FABRIC,
    FABRIC_HELP,
    HOST_QUEUE,
    MODEL,
    PLACEMENT,
    PLACEMENTS,
    RANKS_PER_HOST,
    RATE,
    RTO_MIN,
    CalibrationOption,
    FabricArgument,
    Loading,
    MaybePlacementOption,
    MeasuredOption,
    RanksOption,
    RanksPerHostOption,
    RouteListOption,
    RoutesOption,
)
from contend.report import Document

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
_FOR_TCP = "For --model tcp."
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
    engines: Sequence[str | None] = route or [None]
    orders: Sequence[str | None] = placement or [None]
    cases = []
    for source, engine in product(fabrics, engines):
        network = load(source, routes, engine, loading, need_routes=True)
        for order in orders:
            where = prediction.conditions_of(
                recorded,
                network,
                costs,
                placement=order,
                ranks_per_host=ranks_per_host,
                rate=rate,
                buffer=buffer,
            )
            name = ", ".join(filter(None, [network.name, engine, order]))
            cases.append(prediction.predict_program(record, where, name))
    return report.program_document(prediction.PredictedProgram(record, tuple(cases)))


class AlltoallModel(StrEnum):
    """What --model takes."""

    TIMES = "times"
    TCP = "tcp"


SHARED_BUFFER = option(
    "--shared-buffer",
    takes="SIZE",
    means="Bytes that all ports of a switch share, in place of --buffer",
    by=parse_size,
)


@dataclass(frozen=True)
class TcpOptions:
    """What queues hold, and when TCP gives up waiting."""

    model: Annotated[
        AlltoallModel, MODEL(": times, or whether TCP stalls where queues drop packets.")
    ] = AlltoallModel.TIMES
    shared_buffer: Annotated[Bytes | None, SHARED_BUFFER(_FOR_TCP)] = None
    host_queue: Annotated[
        Bytes | None, HOST_QUEUE(_FOR_TCP, default="the 1,000 packets of a Linux host")
    ] = None
    rto_min: Annotated[Seconds | None, RTO_MIN(_FOR_TCP, default="200ms")] = None

    def arguments(self) -> dict[str, Any]:
        """Those that are given, as `contend.predict_tcp` takes them.

        Raises:
            UsageError: some are, for another model.
        """
        names = ("shared_buffer", "host_queue", "rto_min")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        if given and self.model != AlltoallModel.TCP:
            raise UsageError(f"--{next(iter(given)).replace('_', '-')} goes with --model tcp")
        return given


def alltoall(
    routed: RoutedLoading,
    tcp: TcpOptions,
    fabric: FabricArgument,
    calibration: CalibrationOption = None,
    algorithm: AlgorithmOption = None,
    bytes: BytesOption = "4K:1M",  # noqa: A002
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    placement: MaybePlacementOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    measured: MeasuredOption = None,
) -> Document:
    """Predict how long all-to-alls take on a fabric, as contend measure measures them.

    With --model tcp it says instead which of them stall or collapse, and which queue drops first.

    Example: contend predict alltoall fig1 --calibration costs --bytes 4K:1M -n 16 -a shift,linear
    """
    given = tcp.arguments()
    over_tcp = tcp.model == AlltoallModel.TCP
    if over_tcp and measured is not None:
        raise UsageError("--measured goes with --model times")
    if not over_tcp:
        given["measured"] = measured
    loaded = routed.load(fabric)
    order = placement or "linear"
    without = cost_of_missing(fabric, loaded, routed.loading, "alltoall", order)
    found = (prediction.predict_tcp if over_tcp else prediction.predict)(
        loaded,
        calibration,
        algorithms=algorithm or "all",
        bytes=bytes,
        ranks=ranks,
        ranks_per_host=ranks_per_host,
        placement=order,
        rate=rate,
        buffer=buffer,
        progress=True,
        **given,
    )
    return replace(found.document(), without=without)
