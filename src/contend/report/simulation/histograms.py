"""Histograms of the bandwidth of samples: by fabric and routing, and with both bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.units import grouped
from contend.congestion import EACH_HOST, Average, Judged, Simulation
from contend.report.charts import Chart, Histogram, Outline, charted, fractions
from contend.report.series import Axis, BoundLine, Series, Unit, port_axis
from contend.report.simulation.tables import (
    AXIS_WORDS,
    engine_labels,
    judged_by,
    labels,
    of_what,
    scale_of,
    scaled_by,
)
from contend.report.style import COLOURS, Dashes
from contend.report.words import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FINE_BINS, _COARSE_BINS = 100, 50
# Above this spread of the samples bins of 1 % would show combs rather than shapes.
_WIDE = 0.1
# In inches: what is drawn in a panel, and a row of its legend above.
_DRAWN, _ROW = 1.0, 0.135
_COLUMNS = 2
_KNOWN = {"marker": "^", "markersize": 4.5, "clip_on": False}


@dataclass(frozen=True)
class _Curve:
    """Samples, and how their histogram is named and drawn."""

    name: str
    values: NDArray[np.float64]
    colour: str
    line: Dashes = "-"


def _chart(
    curves: Sequence[_Curve],
    edges: NDArray[np.float64],
    heading: str = "",
    rated: Sequence[float | None] = (),
    reference: Sequence[float | None] = (),
    reference_name: str = "",
) -> Histogram:
    """Histograms over each other, named with their means, those that are the same together."""
    outlines = []
    for same in grouped(curves, lambda curve: curve.values.tobytes()).values():
        # The last is drawn above the others.
        one, names = same[-1], ", ".join(curve.name for curve in same)
        name = f"{names} {percent(float(one.values.mean()))}".strip()
        outlines.append(Outline(fractions(one.values, edges), one.colour, name, one.line))
    known, cuts = (
        [value for value in dict.fromkeys(values) if value is not None]
        for values in (reference, rated)
    )
    return Histogram(
        y=Axis(unit=Unit.SHARE),
        heading=heading,
        edges=edges,
        outlines=outlines,
        series=[
            Series([value], [0], f"{reference_name} {percent(value)}", "black", mark=_KNOWN)
            for value in known
        ],
        bounds=[
            BoundLine(
                value, across="x", name=f"narrowest cut {percent(value)}".replace(".0 %", " %")
            )
            for value in cuts
        ],
        legend="above left",
        columns=_COLUMNS,
    )


def bandwidth_histogram(
    simulations: Sequence[Simulation],
    *,
    average: Judged | None = Average.OF_MEAN_CONGESTION,
    rated: Sequence[float | None] = (),
    reference: Sequence[float | None] = (),
    reference_name: str = "paper",
) -> Figure:
    """Fraction of samples by bandwidth, one panel for each fabric, one outline for each routing.

    Args:
        simulations: at least one; those of one fabric share a panel.
        average: which bandwidth of a sample; None: by what each is judged.
        rated: rated bisection bandwidth for each simulation, marked by a broken line.
        reference: a number known from elsewhere for each simulation, marked by a triangle.
        reference_name: what the triangle is called.
    """
    average = judged_by(simulations, average)
    values = [scale_of(s, average) * s.bandwidths(average) for s in simulations]
    curves = _curves(simulations, values)
    edges = bin_edges([curve.values for curve in curves])
    panels = []
    for fabric in dict.fromkeys(s.fabric.name for s in simulations):
        members = [i for i, s in enumerate(simulations) if s.fabric.name == fabric]
        panels.append(
            _chart(
                [curves[i] for i in members],
                edges,
                fabric if len(simulations) > 1 else "",
                [rated[i] for i in members if rated],
                [reference[i] for i in members if reference],
                reference_name,
            )
        )
    words, finding = _axis_words(simulations, average), _bandwidth_finding(simulations, average)
    return _stacked(panels, words, finding)


def _stacked(panels: Sequence[Histogram], words: str, finding: str) -> Figure:
    """Panels below each other, each below its legend."""
    entries = [len(each.outlines) + len(each.series) + len(each.bounds) for each in panels]
    legends = [_ROW * (-(-number // _COLUMNS) + bool(panels[0].heading)) for number in entries]
    return charted(
        finding,
        *(replace(panel, x=port_axis(words)) for panel in panels),
        height=0.8 + _DRAWN * len(panels) + sum(legends),
        label="fraction of samples",
        sharex=True,
    )


def _alone(curves: Sequence[_Curve], words: str) -> Chart:
    edges = bin_edges([curve.values for curve in curves])
    left = Axis("fraction of samples", Unit.SHARE)
    return replace(_chart(curves, edges), x=port_axis(words), y=left)


def bandwidth_chart(simulation: Simulation) -> tuple[Chart, str]:
    """`bandwidth_histogram` of one simulation, and its finding."""
    average = simulation.judged
    values = scale_of(simulation, average) * simulation.bandwidths(average)
    chart = _alone([_Curve("mean", values, COLOURS[0])], _axis_words([simulation], average))
    return chart, _bandwidth_finding([simulation], average)


def _axis_words(simulations: Sequence[Simulation], average: Judged) -> str:
    words = AXIS_WORDS[average] + scaled_by(simulations, average)
    what = words if average == EACH_HOST else f"bandwidth of a sample ({words})"
    return f"{what}\nas a share of {of_what(average)}"


def bin_edges(samples: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Equal bins over 0 to 1: 100, or 50 when the samples lie wide apart."""
    wide = any(np.ptp(np.quantile(values, [0.01, 0.99])) > _WIDE for values in samples)
    return np.linspace(0, 1, (_COARSE_BINS if wide else _FINE_BINS) + 1)


def _curves(
    simulations: Sequence[Simulation], samples: Sequence[NDArray[np.float64]]
) -> list[_Curve]:
    """Names and colours; a routing has the same in every panel."""
    names = engine_labels([s.engine for s in simulations])
    if len({(s.fabric.name, name) for s, name in zip(simulations, names, strict=True)}) < len(
        names
    ):
        names = labels(simulations)
    order = list(dict.fromkeys(names))
    return [
        _Curve(name, values, COLOURS[order.index(name) % len(COLOURS)])
        for name, values in zip(names, samples, strict=True)
    ]


def _bandwidth_finding(simulations: Sequence[Simulation], average: Judged) -> str:
    means = [s.averaged(average).times(scale_of(s, average)).mean for s in simulations]
    whole = of_what(average)
    patterns = " and ".join(dict.fromkeys(s.pattern for s in simulations))
    if len(simulations) == 1:
        name = labels(simulations)[0]
        return f"{name}: {patterns} gets {percent(means[0])} of {whole}"
    names = labels(simulations)
    best, worst = int(np.argmax(means)), int(np.argmin(means))
    if percent(means[best]) == percent(means[worst]):
        return f"{patterns} gets {percent(means[best])} of {whole} in every case"
    return (
        f"{patterns} gets {percent(means[worst])} ({names[worst]}) "
        f"to {percent(means[best])} ({names[best]}) of {whole}"
    )


_BOUNDS = (
    (Average.OF_MAX_CONGESTION, "waiting", COLOURS[1], "--"),
    (Average.OF_MEAN_CONGESTION, "no waiting", COLOURS[0], "-"),
)


def round_bounds(
    simulations: Sequence[Simulation],
    *,
    reference: Sequence[float | None] = (),
    reference_name: str = "paper",
) -> Figure:
    """Fraction of samples by bandwidth, a panel for each simulation with both of its bounds.

    The pessimistic bound takes the largest π of every round: all wait for the slowest message. The
    optimistic takes the mean π: nobody waits.

    Args:
        simulations: at least one, a panel each.
        reference: a number known from elsewhere for the optimistic bound of each.
        reference_name: what it is called.
    """
    names = labels(simulations)
    each = [_bounds(simulation) for simulation in simulations]
    edges = bin_edges([curve.values for curves in each for curve in curves])
    panels = [
        _chart(curves, edges, name, (), reference[i : i + 1], reference_name)
        for i, (name, curves) in enumerate(zip(names, each, strict=True))
    ]
    return _stacked(panels, _bounds_words(simulations), _rounds_finding(simulations))


def bounds_chart(simulation: Simulation) -> tuple[Chart, str]:
    """`round_bounds` of one simulation, and its finding."""
    return _alone(_bounds(simulation), _bounds_words([simulation])), _rounds_finding([simulation])


def _bounds(simulation: Simulation) -> list[_Curve]:
    return [
        _Curve(name, simulation.scale * simulation.bandwidths(average), colour, style)
        for average, name, colour, style in _BOUNDS
    ]


def _bounds_words(simulations: Sequence[Simulation]) -> str:
    return f"bandwidth of a sample{scaled_by(simulations)}\nas a share of the link speed"


def _rounds_finding(simulations: Sequence[Simulation]) -> str:
    found = [s.effective_bandwidth for s in simulations]
    ratios = [each.of_mean_congestion / each.of_max_congestion for each in found]
    pattern = " and ".join(dict.fromkeys(s.pattern for s in simulations))
    low, high = f"{min(ratios):.1f}", f"{max(ratios):.1f}"
    factor = low if low == high else f"{low} to {high}"
    return f"{pattern}: waiting for the slowest message of every round costs a factor of {factor}"
