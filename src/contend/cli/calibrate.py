"""``contend calibrate``: what messages cost, taken from measurements."""

from __future__ import annotations

from rich.text import Text

from contend.cli.common import console_for, write_json
from contend.cli.measure.command import watching
from contend.cli.measure.options import Common, find_place
from contend.cli.options import (
    BudgetOption,
    BufferOption,
    JsonOption,
    LauncherOption,
    Loading,
    MpiOption,
    OnOption,
    RateOption,
    RouteOption,
    RoutesOption,
    RunFolderOption,
    SeedOption,
)
from contend.prediction import DEFAULT_BUDGET
from contend.prediction import calibrate as take
from contend.report import calibration_tables, print_tables


def calibrate(
    loading: Loading,
    on: OnOption = None,
    mpi: MpiOption = None,
    launcher: LauncherOption = "",
    routes: RoutesOption = None,
    route: RouteOption = None,
    rate: RateOption = None,
    buffer: BufferOption = None,
    budget: BudgetOption = None,
    seed: SeedOption = 1,
    output: RunFolderOption = None,
    json: JsonOption = None,
) -> None:
    """Measure what messages cost, for contend predict.

    Measures ping-pongs and streams between two hosts and within one host, and on an emulated
    fabric all-to-alls of four ranks. Use a crossbar, or hosts on one leaf switch.

    Example: contend calibrate --on emulated:crossbar:4 --rate 50Mbit --output costs
    """
    common = Common(
        on=on,
        launcher=launcher,
        routes=routes,
        route=route,
        loading=loading,
        rate=rate,
        buffer=buffer,
    )
    console = console_for(json)
    with watching(console) as observer, find_place(common, console) as place:
        calibration, file = take(
            mpi=mpi,
            place=place,
            budget=DEFAULT_BUDGET if budget is None else budget,
            seed=seed,
            folder=output,
            observer=observer,
        )
    print_tables(console, calibration_tables(calibration))
    console.print(Text(f"kept in {file}"), soft_wrap=True)
    write_json(json, calibration)
