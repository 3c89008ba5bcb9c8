"""``contend predict``, how long communication takes, and ``calibrate``, what messages cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from contend import congestion, prediction, profiling, report
from contend.base.errors import UsageError
from contend.base.schema import Shown
from contend.base.units import parse_rate, parse_size, parse_sizes, parse_times
from contend.cli.common import RoutedLoading, cost_of_missing, load
from contend.cli.measure.measuring import watched_run
from contend.cli.options.option import Bytes, BytesPerSecond, Seconds, Times, option, parsed
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import (
    ALGORITHM,
    BUFFER,
    BYTES,
    FABRIC,
    FABRIC_HELP,
    HOST_QUEUE,
    MEASURED,
    MODEL,
    PLACEMENT,
    PLACEMENTS,
    RANKS_PER_HOST,
    RATE,
    RTO_MIN,
    SWITCHES,
    BudgetOption,
    CalibrationOption,
    FabricArgument,
    Loading,
    MpiOption,
    PacketModelOptions,
    RanksOption,
    RanksPerHostOption,
    RouteListOption,
    RoutesOption,
    RunFolderOption,
    SeedOption,
    SwitchOptions,
)
from contend.cli.options.where import Where
from contend.cli.simulate import CountingOptions
from contend.lab import measurement, session
from contend.report import Document

RateOption = Annotated[
    BytesPerSecond | None,
    RATE(default="the calibration's, or the fabric's own", callback=parsed("--rate", parse_rate)),
]
_FOR_TCP = "For --model tcp."
BufferOption = Annotated[Bytes | None, BUFFER(default="the calibration's")]


def program(
    loading: Loading,
    profile: Annotated[
        Path, typer.Argument(metavar="PROFILE", help="A folder of contend profile.")
    ],
    fabrics: Annotated[
        list[str],
        typer.Argument(metavar="FABRIC...", help=f"Where the program would run. {FABRIC_HELP}"),
    ],
    calibration: CalibrationOption = None,
    routes: RoutesOption = None,
    route: RouteListOption = None,
    placement: Annotated[
        list[str] | None,
        PLACEMENT(
            f"{PLACEMENTS} Repeat it to compare.",
            default="the hosts that the profile names, if the fabric has them; else linear",
        ),
    ] = None,
    ranks_per_host: Annotated[int | None, RANKS_PER_HOST(min=1, default="as recorded")] = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    fabric: Annotated[
        str | None,
        FABRIC(
            ": the one that the profile was recorded on. The model's error there corrects "
            "predictions.",
            default="known if it was emulated",
        ),
    ] = None,
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
    PACKETS = "packets"


SHARED_BUFFER = option(
    "--shared-buffer",
    takes="SIZE",
    means="Bytes that all ports of a switch share, in place of --buffer",
    by=parse_size,
)


SKEW = option(
    "--skew", takes="TIME", means="Time within which ranks begin, as chance has it", by=parse_times
)
_TCP_QUEUES = ("shared_buffer", "host_queue", "rto_min")


@dataclass(frozen=True)
class AlltoallOptions(SwitchOptions):
    """What carries messages, and what its queues hold."""

    model: Annotated[
        AlltoallModel,
        MODEL(
            ": times by fair shares; tcp, whether it stalls where queues drop packets; or packets, "
            "times where none are lost."
        ),
    ] = AlltoallModel.TIMES
    buffer: Annotated[
        Bytes | None, BUFFER(default="the calibration's; 64KiB for --model packets")
    ] = None
    shared_buffer: Annotated[Bytes | None, SHARED_BUFFER(_FOR_TCP)] = None
    host_queue: Annotated[
        Bytes | None, HOST_QUEUE(_FOR_TCP, default="the 1,000 packets of a Linux host")
    ] = None
    rto_min: Annotated[Seconds | None, RTO_MIN(_FOR_TCP, default="200ms")] = None
    skew: Annotated[
        Times | None,
        SKEW(", for --model packets: one, or several (0,100us).", default="all at once"),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Those that are given, as the function of the model takes them.

        Raises:
            UsageError: some are, for another model.
        """
        packets = self.model == AlltoallModel.PACKETS
        self.only_for(_TCP_QUEUES, AlltoallModel.TCP, self.model == AlltoallModel.TCP)
        of_switches = (name for name in SWITCHES if name != "buffer")
        self.only_for((*of_switches, "skew"), AlltoallModel.PACKETS, packets)
        if packets:
            return self.switches() | ({} if self.skew is None else {"skew": self.skew})
        given = {name: getattr(self, name) for name in _TCP_QUEUES}
        return {name: value for name, value in given.items() if value is not None} | {
            "buffer": self.buffer
        }


def alltoall(
    routed: RoutedLoading,
    by: AlltoallOptions,
    fabric: FabricArgument,
    calibration: CalibrationOption = None,
    algorithm: Annotated[
        str | None,
        ALGORITHM(": library, shift, linear ..., or all.", many=True, default="all"),
    ] = None,
    bytes: Annotated[  # noqa: A002
        str,
        BYTES(
            ": 1,2,4K, or 4K:1M for powers of two. Each rank sends one to every other.", many=True
        ),
    ] = "4K:1M",
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    placement: Annotated[
        str | None,
        PLACEMENT(f"{PLACEMENTS} For an emulated fabric.", default="linear"),
    ] = None,
    rate: RateOption = None,
    measured: Annotated[
        Path | None, MEASURED(": the folder of a run of contend measure alltoall.")
    ] = None,
) -> Document:
    """Predict how long all-to-alls take on a fabric, as contend measure measures them.

    With --model tcp it says instead which of them stall or collapse, and which queue drops first;
    with --model packets they are carried out packet by packet over queues that lose none.

    Example: contend predict alltoall fig1 --calibration costs --bytes 4K:1M -n 16 -a shift,linear
    """
    given = by.arguments()
    if by.model == AlltoallModel.TIMES:
        given["measured"] = measured
    elif measured is not None:
        raise UsageError("--measured goes with --model times")
    loaded = routed.load(fabric)
    order = placement or "linear"
    without = cost_of_missing(fabric, loaded, routed.loading, "alltoall", order)
    models: dict[AlltoallModel, Callable[..., Shown]] = {
        AlltoallModel.TIMES: prediction.predict,
        AlltoallModel.TCP: prediction.predict_tcp,
        AlltoallModel.PACKETS: prediction.predict_packets,
    }
    found = models[by.model](
        loaded,
        calibration,
        algorithms=algorithm or "all",
        bytes=bytes,
        ranks=ranks,
        ranks_per_host=ranks_per_host,
        placement=order,
        rate=rate,
        progress=True,
        **given,
    )
    return replace(found.document(), without=without)


# Columns of times that a table has room for.
_MOST_SIZES = 12


def collectives(
    counting: CountingOptions,
    packets: PacketModelOptions,
    routed: RoutedLoading,
    fabric: FabricArgument,
    bytes: Annotated[  # noqa: A002
        str, BYTES(": 1M, several (4K,1M), or 4K:1M for powers of two.", many=True)
    ] = "1M",
    placement: Annotated[str, PLACEMENT(PLACEMENTS)] = "linear",
    nvlink: Annotated[
        BytesPerSecond | None,
        option(
            "--nvlink",
            takes="RATE",
            means="Bandwidth at which a GPU sends to others of its server, such as 450GB/s",
            by=parse_rate,
        )(default="unlimited"),
    ] = None,
) -> Document:
    """Predict the bandwidth of all-to-alls, shifts, rings and trees from the rates of links.

    Nothing needs to be measured: latency and overhead are left out. Where servers have several
    adapters, all-reduces and all-to-alls of GPUs are predicted too. With --model packets all rounds
    are also carried out packet by packet.

    Example: contend predict collectives net.ibnetdiscover --routes net.lfts --bytes 64K,1M
    """
    sizes = parse_sizes(bytes)
    if len(sizes) > _MOST_SIZES:
        raise UsageError(f"--bytes: expected up to {_MOST_SIZES} sizes, got {len(sizes)}")
    loaded = routed.load(fabric)
    without = cost_of_missing(fabric, loaded, routed.loading, "alltoall", placement)
    found = congestion.collectives(
        loaded,
        placement=placement,
        nvlink=nvlink,
        bytes=sizes,
        packets=congestion.PacketModel.of(**packets.switches()) if packets.asked else None,
        progress=True,
        **vars(counting),
    )
    return replace(report.collectives_document(found), without=without)


def calibrate(
    where: Where,
    outputs: TextOutputs,
    mpi: MpiOption = None,
    budget: BudgetOption = None,
    seed: SeedOption = 1,
    output: RunFolderOption = None,
) -> Document:
    """Measure what messages cost, for contend predict.

    Measures ping-pongs and streams between two hosts and within one host; on an emulated fabric
    also all-to-alls of four ranks. Use a crossbar, or hosts on one leaf switch.

    Example: contend calibrate --on emulated:crossbar:4 --rate 50Mbit --output costs
    """
    folder = output or session.new_folder("calibrate", datetime.now(UTC).date())
    with where.place(outputs.console) as place, watched_run(outputs.console) as observer:
        calibration = prediction.calibrate(
            place,
            mpi=mpi,
            budget=measurement.DEFAULT_BUDGET if budget is None else budget,
            seed=seed,
            output=folder,
            progress=observer,
        )
    kept = (f"kept in {folder / prediction.FILE}",)
    return replace(report.calibration_document(calibration), closing=kept)
