"""Simulations as documents: one, or several beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contend.base.errors import ArgumentError, printable_line
from contend.base.units import counted, nearest
from contend.congestion import Simulation
from contend.fabric import Fabric
from contend.report.charts import in_axes
from contend.report.document import Document, Metric
from contend.report.page.explorable import explored, simulation_views
from contend.report.simulation.channels import (
    counters_figure,
    counters_tables,
    counters_verdict,
    users_figure,
    users_table,
    users_verdict,
)
from contend.report.simulation.figures import (
    channel_loads,
    congestion_distribution,
    network_loads,
    simulation_comparison,
)
from contend.report.simulation.histograms import bandwidth_histogram, round_bounds
from contend.report.simulation.tables import labels, simulation_tables, simulation_verdict
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from contend.report.charts import Chart
    from contend.report.page.explorable import Explorable


def simulation_document(simulation: Simulation, *, cut_short: bool = False) -> Document:
    """What ports counted, who loads the channels that were asked for, what all messages get.

    Args:
        simulation: the result, with its fabric.
        cut_short: whether it was ended before all samples were counted.

    Raises:
        UsageError: the result was kept without its fabric.
    """
    lines = [*users_verdict(simulation), simulation_verdict(simulation)]
    tables = [*map(users_table, simulation.channels), *simulation_tables(simulation)]
    pictures: dict[str, Callable[[], Figure]] = {}
    beside = simulation.counters
    if beside is not None:
        lines.insert(0, counters_verdict(simulation, beside))
        tables = counters_tables(simulation, beside) + tables
        pictures["counters"] = lambda: counters_figure(simulation, beside)
    if cut_short:
        samples = counted(simulation.samples, "sample")
        lines.insert(0, f"A partial result, of the {samples} counted before the end:")
    if simulation.channels:
        pictures["users"] = lambda: users_figure(simulation)
    pictures |= _pictures([simulation])
    pictures["channels"] = lambda: channel_loads(simulation)
    pictures["network"] = lambda: network_loads(simulation)
    return Document(
        verdict="\n".join(lines),
        tables=tables,
        record=simulation,
        pictures=pictures,
        explorable=lambda: _explored([simulation]),
        metrics=_metrics(simulation),
    )


def _metrics(simulation: Simulation) -> list[Metric]:
    of = {"fabric": simulation.fabric.name, "pattern": simulation.pattern}
    of["routes"] = simulation.engine or "file"
    each = simulation.each_host
    meaning = "What hosts get until the last message is done, as a share of what their ports allow."
    return [
        *([] if each is None else [Metric("contend_each_host_ratio", meaning, each.share, of)]),
        Metric(
            "contend_effective_bandwidth_ratio",
            "What messages of a pattern get, as a share of the rate of a link.",
            simulation.effective_bandwidth.mean,
            of,
        ),
        Metric(
            "contend_rated_bisection_ratio",
            "What the narrowest cut carries, as a share of full bisection bandwidth.",
            simulation.rated_bisection,
            {"fabric": simulation.fabric.name},
        ),
    ]


def _explored(simulations: Sequence[Simulation]) -> Explorable | None:
    """The network with what its channels carry, by every simulation."""
    return explored(simulations[0].whole_fabric, simulation_views(simulations))


def simulations_document(told: Sequence[Document], *, shortfall: str = "") -> Document:
    """Several simulations: beside each other first, then each by itself.

    Args:
        told: the document of each.
        shortfall: which others could not be simulated, and why.
    """
    simulations: list[Simulation] = [document.record for document in told]
    pictures, explorable = told[0].pictures, told[0].explorable
    if len(told) > 1:
        rated = [simulation.rated_bisection for simulation in simulations]
        pictures = {
            "comparison": lambda: simulation_comparison(simulations, rated=rated),
            **_pictures(simulations),
        }
        # States of one network; those of several networks have no page of their own.
        alike = len({simulation.fabric.name for simulation in simulations}) == 1
        explorable = (lambda: _explored(simulations)) if alike else None
    verdicts = [document.verdict for document in told]
    if len(told) > 1:
        which = labels(simulations)
        verdicts = [f"{label}: {line}" for label, line in zip(which, verdicts, strict=True)]
    return Document(
        verdict="\n".join(verdicts),
        tables=[
            *([_comparison(simulations)] if len(told) > 1 else []),
            *(table for document in told for table in document.tables),
        ],
        record={"results": [document.content() for document in told]},
        pictures=pictures,
        explorable=explorable,
        metrics=[metric for document in told for metric in document.metrics],
        shortfall=shortfall,
    )


def _comparison(simulations: Sequence[Simulation]) -> ResultTable:
    """What messages get in each, in one row."""
    several = len({simulation.fabric.name for simulation in simulations}) > 1
    engines = len({simulation.engine for simulation in simulations}) > 1
    first = simulations[0]
    of = first.fabric.name if not several else counted(len(simulations), "simulation")
    return table_of(
        f"{first.pattern} on {of}, side by side",
        simulations,
        {
            **({"fabric": lambda one: printable_line(one.fabric.name)} if several else {}),
            **({"routes by": lambda one: one.engine or "a file"} if engines else {}),
            "effective bandwidth": Number(lambda one: percent(one.effective_bandwidth.mean)),
            "95 % interval": Number(lambda one: _ends(one.effective_bandwidth.ci95)),
            "each host": Number(_of_each_host),
            "rated bisection": Number(lambda one: percent(one.rated_bisection)),
        },
        note="effective bandwidth is the mean over messages, a share of a link's rate; each host: "
        "what it gets of its port until the last message is done",
    )


def _of_each_host(simulation: Simulation) -> str:
    each = simulation.each_host
    return UNKNOWN if each is None else percent(each.share)


def _ends(interval: tuple[float, float] | None) -> str:
    return UNKNOWN if interval is None else f"{percent(interval[0])} to {percent(interval[1])}"


def _pictures(simulations: Sequence[Simulation]) -> dict[str, Callable[[], Figure]]:
    """The pictures that say something about these results, the most telling one first."""
    pictures: dict[str, Callable[[], Figure]] = {}
    if all(simulation.samples > 1 for simulation in simulations):
        # The average that the table puts first; the paper's own is drawn by contend study.
        pictures["bandwidth"] = lambda: bandwidth_histogram(
            simulations,
            average=None,
            rated=[simulation.rated_bisection for simulation in simulations],
        )
    pictures["congestion"] = lambda: congestion_distribution(simulations)
    if simulations[0].rounds.count > 1 and simulations[0].samples > 1:
        pictures["rounds"] = lambda: round_bounds(simulations)
    return pictures


def draw_simulation(
    simulation: Simulation, picture: str | None = None, axes: Axes | None = None
) -> Axes:
    """Draws one picture of a simulation in somebody's own matplotlib axes, as notebooks want it.

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
    from contend.report.simulation.figures import congestion_chart, loads_chart
    from contend.report.simulation.histograms import bandwidth_chart, bounds_chart

    several = simulation.samples > 1
    fitting: dict[str, Callable[[], tuple[Chart, str]]] = {}
    if several:
        fitting["bandwidth"] = lambda: bandwidth_chart(simulation)
    fitting["congestion"] = lambda: congestion_chart([simulation])
    if several and simulation.rounds.count > 1:
        fitting["rounds"] = lambda: bounds_chart(simulation)
    if isinstance(simulation.fabric, Fabric):
        fitting["channels"] = lambda: loads_chart(simulation)
    picture = picture or next(iter(fitting))
    if picture not in fitting:
        hint = nearest(picture, ("bandwidth", "congestion", "rounds", "channels"))
        raise ArgumentError(
            "picture", f"expected one of {', '.join(fitting)}, got {picture!r}{hint}"
        )
    return in_axes(axes, (5, 3.2), *fitting[picture]())
