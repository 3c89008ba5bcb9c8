"""``contend predict``: how long communication takes on a fabric, from what messages cost."""

from __future__ import annotations

from typing import Annotated

from rich.text import Text

from contend.cli.common import console_for, load, write_json
from contend.cli.options import (
    ALGORITHM,
    BYTES,
    RATE,
    BufferOption,
    BytesPerSecond,
    CalibrationOption,
    FabricArgument,
    JsonOption,
    MaybePlacementOption,
    MeasuredOption,
    PlotOption,
    RanksOption,
    RanksPerHostOption,
    RouteOption,
    RoutesOption,
    parsed,
)
from contend.errors import UsageError
from contend.placement import parse
from contend.prediction import (
    LIBRARY,
    Comparison,
    Conditions,
    beside_measured,
    load_calibration,
    predict_alltoall,
    suited,
)
from contend.report import (
    check_suffix,
    prediction_comparison_table,
    prediction_figure,
    prediction_json,
    prediction_tables,
    print_tables,
    save_figure,
    verdict,
)
from contend.runs import Run
from contend.schedule import Exchange
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
    BytesPerSecond | None, RATE(default="the calibration's", callback=parsed("--rate", parse_rate))
]


def alltoall(
    fabric: FabricArgument,
    calibration: CalibrationOption,
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
    costs = load_calibration(calibration)
    network = load(fabric, routes, route, need_routes=True)
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
        rate=costs.wire_Bps if rate is None else rate,
        buffer=costs.buffer if buffer is None else buffer,
    )
    predictions = [
        predict_alltoall(name, Exchange(count, size, ranks_per_node=ranks_per_host), where)
        for name in _algorithms(algorithm, count)
        for size in parse_sizes(bytes)
    ]
    comparison: Comparison | None = None
    if measured is not None:
        comparison = beside_measured(predictions, Run.load(measured))
    console = console_for(json)
    words = verdict(predictions, network)
    console.print(Text(words), soft_wrap=True)
    tables = prediction_tables(predictions, network.name)
    if comparison is not None:
        tables = [prediction_comparison_table(comparison, network.name), *tables]
    print_tables(console, tables)
    result = prediction_json(
        predictions,
        network,
        placement=placed.name,
        rate=where.rate,
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
