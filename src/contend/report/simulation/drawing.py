"""A picture of a simulation in somebody's own matplotlib axes, as notebooks want it."""

from __future__ import annotations

from matplotlib.axes import Axes

from contend.congestion import Average, Simulation
from contend.errors import UsageError
from contend.report.simulation.congestion_drawn import draw_congestion
from contend.report.simulation.figures import draw_channel_loads
from contend.report.simulation.histograms import draw_bandwidths, draw_bounds
from contend.report.style import in_axes
from contend.units import nearest

_PICTURES = ("bandwidth", "congestion", "rounds", "channels")


def draw_simulation(
    simulation: Simulation, picture: str | None = None, axes: Axes | None = None
) -> Axes:
    """Draws one picture of a simulation.

    Args:
        simulation: what to draw.
        picture: ``bandwidth`` of the samples, ``congestion`` of the messages, ``rounds`` (both
            bounds) or ``channels`` (their loads); None: the first of these that says something.
        axes: where to draw; None makes a figure, which a notebook shows.

    Returns:
        The axes.

    Raises:
        UsageError: there is no such picture, or it says nothing of this simulation.
    """
    fitting = ["congestion"]
    if simulation.samples > 1:
        fitting.insert(0, "bandwidth")
    if simulation.samples > 1 and simulation.rounds > 1:
        fitting.append("rounds")
    if simulation.fabric is not None:
        fitting.append("channels")
    picture = picture or fitting[0]
    if picture not in fitting:
        hint = nearest(picture, _PICTURES)
        raise UsageError(f"picture: expected one of {', '.join(fitting)}, got {picture!r}{hint}")

    def draw(axes: Axes) -> str:
        match picture:
            case "bandwidth":
                return draw_bandwidths(axes, simulation, Average.EFFECTIVE_BANDWIDTH)
            case "rounds":
                return draw_bounds(axes, simulation)
            case "channels" if simulation.fabric is not None:
                return draw_channel_loads(axes, simulation, simulation.fabric)
            case _:
                return draw_congestion(axes, [simulation])

    return in_axes(axes, (5, 3.2), draw)
