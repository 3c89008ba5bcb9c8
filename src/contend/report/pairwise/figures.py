"""What pairs of ranks got, as figures: in bisect patterns, and under load (Hoefler et al. 2008)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.units import counted, format_bytes, format_rate, rate_unit
from contend.lab.measurement import (
    RATE_OVER_LOAD,
    ROUND_TRIP,
    STREAM,
    TOLERANCE,
    Agreement,
    Distribution,
    DrawnAgreement,
    are_beyond_wire,
    predictions,
    usable,
)
from contend.report.charts import Bars, Curves, Histogram, Outline, Stack, charted, fractions
from contend.report.pairwise.hotspot import at_compared_size, hotspot_finding
from contend.report.pairwise.pairs import drawn_finding, link_words
from contend.report.series import Axis, BoundLine, Scatter, Series, Unit, Words, near
from contend.report.style import BEYOND, COLOURS, COLUMN_WIDTH, QUIET
from contend.report.words import BEYOND_WIRE, percent, percent_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 50
_MEASURED, _MODEL, _FAIR = COLOURS[0], COLOURS[1], COLOURS[2]
# More points than this would be one blot, and a vector figure of many megabytes.
_MOST_POINTS = 20_000
_SPREAD = 0.012


@dataclass(frozen=True)
class ComparedFabric:
    """A fabric's comparison: its name, its messages with predictions, and what came of them."""

    name: str
    pairs: pl.DataFrame
    agreement: Agreement


def agreement_figure(compared: Sequence[ComparedFabric]) -> Figure:
    """One row a fabric: measured against γ/π and max-min fair share, and histograms of all three.

    Points are spread a little sideways, as messages of one congestion are predicted alike.
    """
    return charted(
        _finding(compared),
        *([_points(item), _histogram(item)] for item in compared),
        height=0.8 + 2.1 * len(compared),
        width=7.0,
        width_ratios=(1.15, 1),
    )


def _finding(compared: Sequence[ComparedFabric]) -> str:
    gaps = [abs(item.agreement.effective - item.agreement.models[0].effective) for item in compared]
    within = [item.agreement.models[0].within for item in compared]
    share = percent_range(min(within), max(within))
    weighed = any(item.agreement.weighed for item in compared)
    model = RATE_OVER_LOAD if weighed else "π"
    most = " at most" if len(compared) > 1 else ""
    fast = max(float(usable(item.pairs)["beyond_wire"].mean()) for item in compared)  # type: ignore[arg-type]
    beyond = f"; {percent(fast)} of the messages are{most} {BEYOND_WIRE}" if fast else ""
    return (
        f"Measured and simulated effective bisection bandwidth differ by {100 * max(gaps):.1f} "
        f"percentage points{most}; {share} of the pairs get what {model} predicts, "
        f"give or take {100 * TOLERANCE:.0f} %{beyond}"
    )


def _nearer(agreement: Agreement) -> str:
    """How far off the models are, and which is nearer where they differ."""
    if not agreement.apart:
        return f"both models predict the same,\n{percent(agreement.models[0].error)} off"
    errors = (
        f"{model.name} is {percent(model.error_apart or 0)} off" for model in agreement.models
    )
    return "\n".join((f"where models differ ({counted(agreement.apart, 'message')})", *errors))


def _between_hosts(pairs: pl.DataFrame) -> pl.DataFrame:
    """Usable messages that crossed a channel: nothing is predicted within a host."""
    return usable(pairs).filter(pl.col("congestion") > 0)


def _points(item: ComparedFabric) -> Curves:
    used = _between_hosts(item.pairs)
    measured = used["bandwidth_Bps"].to_numpy() / item.agreement.gamma
    shares = predictions(used)
    line = np.array([0.0, 1.1])
    low, high = line * (1 - TOLERANCE), line * (1 + TOLERANCE)
    series = [Series(line, line, "", QUIET, "-", low=low, high=high, band=True, width=0.8)]
    samples = []
    random = np.random.default_rng(1)
    drawn = random.permutation(len(measured))[:_MOST_POINTS]
    # The two models side by side, so that neither hides the other.
    for share, side, colour, name in (
        (shares["share"], -1, _MODEL, item.agreement.models[0].name),
        (shares["fair_share"], 1, _FAIR, "max-min fair share"),
    ):
        aside = side * (_SPREAD + _SPREAD * random.random(len(drawn)))
        samples.append(Scatter(share[drawn] + aside, measured[drawn], colour))
        mark = {"marker": ".", "markersize": 5}
        series.append(Series([], name=name, colour=colour, mark=mark))
    words = [
        Words(
            _nearer(item.agreement),
            (0.03, 0.96),
            (0, 0),
            look={"xycoords": "axes fraction", "va": "top"},
        )
    ]
    # Messages of one π have several shares where links are weighed.
    groups = [] if item.agreement.weighed else item.agreement.by_congestion
    for group in groups:
        if group.congestion:
            x = 1 / group.congestion
            ends, middle = [x - 0.03, x + 0.03], [group.median] * 2
            series.append(Series(ends, middle, "", "black", "-", width=1, above=3))
            at, look = (x, group.median), {"ha": "right"}
            words.append(Words(f"π = {group.congestion}", at, (-6, 0), look=look))
    most = max(1.15, float(np.quantile(measured, 0.999)) * 1.05)
    return Curves(
        heading=item.name,
        series=series,
        samples=samples,
        words=words,
        x=Axis("predicted share of an uncontended pair's bandwidth", Unit.SHARE, (0, 1.1)),
        y=Axis("measured", Unit.SHARE, (0, most)),
        legend="lower right",
    )


def _histogram(item: ComparedFabric) -> Histogram:
    used = _between_hosts(item.pairs)
    measured = used["bandwidth_Bps"].to_numpy() / item.agreement.gamma
    edges = np.linspace(0, 1.1, _BINS + 1)
    shares = predictions(used)
    first, second = item.agreement.models[:2]
    return Histogram(
        edges=edges,
        # Where the models agree the broken line shows the one below.
        outlines=[
            Outline(
                fractions(values, edges),
                colour,
                line=line,
                fill=fill,
                name=f"{name}, mean {percent(mean)}",
            )
            for values, colour, line, fill, name, mean in (
                (measured, _MEASURED, "-", 0.18, "measured", item.agreement.effective),
                (shares["share"], _MODEL, "-", 0, first.name, first.effective),
                (shares["fair_share"], _FAIR, (0, (2, 2)), 0, "max-min", second.effective),
            )
        ],
        x=Axis("share of an uncontended pair's bandwidth", Unit.SHARE, (0, 1.1)),
        y=Axis("share of pairs", Unit.SHARE),
        # Above, where no bar can be.
        legend="above right",
        columns=3,
    )


def drawn_figure(agreements: Mapping[str, DrawnAgreement]) -> Figure:
    """One row a library: what messages get, measured and over simulated draws of the routes.

    Left the slowest message of every pattern, by the part of γ that it gets about; right how many
    of all messages get so much or less.
    """
    several = len(agreements) > 1
    return charted(
        drawn_finding(list(agreements.values())),
        *(
            [_parts(each.slowest, name if several else ""), _shares_of_all(each.every)]
            for name, each in agreements.items()
        ),
        height=0.8 + 2.1 * len(agreements),
        width=7.0,
    )


def _parts(distribution: Distribution, name: str) -> Bars:
    groups = distribution.by_part
    # The second of two bars beside each other.
    range_of = Series(
        np.arange(len(groups)) + 0.2,
        [(group.low + group.high) / 2 for group in groups],
        low=[group.low for group in groups],
        high=[group.high for group in groups],
        colour="black",
    )
    parts = {n: "γ" if k.divisor == 1 else f"γ/{k.divisor}" for n, k in enumerate(groups)}
    return Bars(
        heading=name,
        upright=True,
        beside=True,
        width=0.72,
        stacks=[
            Stack([group.measured for group in groups], colour=_MEASURED, name="measured"),
            Stack(
                [group.simulated for group in groups],
                colour=_FAIR,
                name="simulated, 95 % of simulations",
            ),
        ],
        series=[range_of],
        x=Axis("what the slowest message of a pattern gets", ticks=parts),
        y=Axis("share of patterns", Unit.SHARE),
        legend="above right",
        columns=2,
    )


def _shares_of_all(distribution: Distribution) -> Curves:
    grid = np.linspace(0, 1.1, 441)

    def shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
        # A part that is met exactly is not to fall on either side by rounding.
        return np.searchsorted(values, grid + 1e-9) / len(values)

    simulated = np.array([shares(row) for row in distribution.drawn])
    low, high = np.quantile(simulated, [0.025, 0.975], axis=0)
    step: dict[str, Any] = {"x": grid, "line": "-", "drawstyle": "steps-mid"}
    mean = simulated.mean(axis=0)
    return Curves(
        series=[
            Series(**step, y=mean, low=low, high=high, band=True, colour=_FAIR, width=0.9),
            Series(**step, y=shares(distribution.measured), colour=_MEASURED),
        ],
        x=Axis("share of an uncontended pair's bandwidth", Unit.SHARE, (0, 1.1)),
        y=Axis("messages that get no more", Unit.SHARE, (0, 1)),
    )


def pair_figure(pairs: Mapping[str, pl.DataFrame], wire: float | None = None) -> Figure:
    """Share of pairs by bandwidth, an outline for each MPI library.

    Args:
        pairs: of `lab.measurement.pairs.pair_bandwidths`, by name.
        wire: bytes per second of a link, marked by a broken line.

    Raises:
        UsageError: no message was measured.
    """
    used = {name: usable(frame) for name, frame in pairs.items() if not frame.is_empty()}
    if not used:
        raise UsageError("there is nothing to draw: no message was measured")
    bandwidths = {name: frame["bandwidth_Bps"].to_numpy() for name, frame in used.items()}
    most = max(float(values.max()) for values in bandwidths.values())
    edges = np.linspace(0, 1.05 * max(most, wire or 0.0), _BINS + 1)
    unit, scale = rate_unit(edges[-1])
    outlines = []
    for (name, values), colour in zip(bandwidths.items(), COLOURS, strict=False):
        above = float(used[name]["beyond_wire"].mean())  # type: ignore[arg-type]
        beyond = f", {percent(above)} {BEYOND_WIRE}" if above else ""
        told = f"{name}: mean {format_rate(float(values.mean()))}{beyond}"
        outlines.append(Outline(fractions(values, edges), colour, told))
    chart = Histogram(
        edges=edges / scale,
        outlines=outlines,
        bounds=[] if wire is None else [BoundLine(wire / scale, across="x")],
        x=Axis(f"bandwidth of a pair in {unit}", ends=(0, edges[-1] / scale)),
        y=Axis("share of pairs", Unit.SHARE, (0, None)),
        # Above, where no bar can be.
        legend="above left",
    )
    first = float(next(iter(bandwidths.values())).mean())
    finding = f"Random pairs get {format_rate(first)} on average"
    if wire is not None:
        finding += f", {link_words(first, wire)}"
    return charted(finding, chart, height=2.2)


def hotspot_figure(operations: pl.DataFrame, name: str) -> Figure:
    """Time one way against message size, a curve for each k; bandwidth against k.

    Every operation is a point; lines join medians.

    Args:
        operations: of `lab.measurement.hotspot.victim_operations`.
        name: of the network.

    Raises:
        UsageError: no message was measured.
    """
    trips = operations.filter((pl.col("algorithm") == ROUND_TRIP) & (pl.col("bytes") > 0))
    streams = operations.filter((pl.col("algorithm") == STREAM) & (pl.col("bytes") > 0))
    panels = [
        chart(part) for chart, part in ((_latency, trips), (_bandwidth, streams)) if len(part)
    ]
    if not panels:
        raise UsageError(f"{name}: no message of the victim was measured, so none can be drawn")
    finding, width = hotspot_finding(operations, name), COLUMN_WIDTH * len(panels)
    return charted(finding, panels, height=2.6, width=width)


def _latency(trips: pl.DataFrame) -> Curves:
    import matplotlib as mpl

    rivals = trips["rivals"].unique().sort().to_list()
    shades = mpl.colormaps["viridis_r"](np.linspace(0.15, 0.95, len(rivals)))
    series: list[Series] = []
    samples: list[Scatter] = []
    for k, shade in zip(rivals, shades, strict=True):
        beside = trips.filter(pl.col("rivals") == k)
        places = beside["bytes"].to_numpy() * near(1, len(beside), 0.125, times=True)
        samples.append(Scatter(places, beside["seconds"], shade))
        medians = beside.group_by("bytes").agg(pl.col("seconds").median()).sort("bytes")
        series.append(Series(medians["bytes"], medians["seconds"], f"k = {k}", shade, "-"))
        series += _beyond(beside, ("bytes", "seconds"), shade)
    return Curves(
        series=_explained(series),
        samples=samples,
        x=Axis("bytes of a message", Unit.SIZE, ticks=trips["bytes"].unique().to_list()),
        y=Axis("victim's time one way", Unit.SECONDS),
        # Above, where no line can be.
        legend="above left",
        columns=4,
    )


def _beyond(operations: pl.DataFrame, across: tuple[str, str], colour: Any) -> Iterator[Series]:
    """Hollow triangles at medians that are beyond the wire."""
    x, y = across
    for part in operations.partition_by(x):
        if are_beyond_wire(part):
            middle = np.median(part[y].to_numpy())
            yield Series(part[x][:1], [middle], "", colour, mark=BEYOND, above=3)


def _explained(series: list[Series]) -> list[Series]:
    """Says what triangles are, where there are any."""
    beyond = any(one.mark is BEYOND for one in series)
    return [*series, *([Series([], name=BEYOND_WIRE, colour=QUIET, mark=BEYOND)] if beyond else [])]


def _bandwidth(streams: pl.DataFrame) -> Curves:
    shown = at_compared_size(streams)
    alone = shown.filter(pl.col("rivals") == 0)["bandwidth_Bps"]
    reference = alone if len(alone) else shown["bandwidth_Bps"]
    gamma = float(np.median(reference.to_numpy()))
    k = shown["rivals"].to_numpy()
    shares = shown.with_columns(pl.col("bandwidth_Bps") / gamma)
    medians = shares.group_by("rivals").agg(pl.col("bandwidth_Bps").median()).sort("rivals")
    numbers = np.arange(0, k.max() + 1)
    point, tick = {"marker": ".", "markersize": 4}, {"marker": "_", "markersize": 9}
    series = [
        Series([], name="measured, each operation", mark=point),
        Series(numbers, 1 / (numbers + 1), "γ/(k + 1)", QUIET, "-", width=0.8),
        Series(medians["rivals"], medians["bandwidth_Bps"], "", "black", mark=tick),
        *_beyond(shares, ("rivals", "bandwidth_Bps"), "black"),
    ]
    every = {"x": near(0, len(k), 0.125) + k, "y": shares["bandwidth_Bps"], "size": 2.2}
    return Curves(
        series=_explained(series),
        samples=[Scatter(**every, colour=COLOURS[0])],
        x=Axis("k, other pairs that send over the channel", ticks=numbers.tolist()),
        y=Axis(
            f"victim's bandwidth, {format_bytes(shown['bytes'][0])} messages", Unit.SHARE, (0, None)
        ),
        legend="upper right",
    )
