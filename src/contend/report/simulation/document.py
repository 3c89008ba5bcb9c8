"""Simulations as documents: one, or several beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

# What draws is imported when somebody looks.
from contend import report
from contend.congestion import Average, BesideCounters, Simulation
from contend.errors import UsageError
from contend.report.document import Document
from contend.report.metrics import Metric
from contend.report.simulation.counters import counters_tables, counters_verdict
from contend.report.simulation.json import simulation_json
from contend.report.simulation.tables import simulation_tables, simulation_verdict
from contend.report.simulation.users import users_tables, users_verdict
from contend.units import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contend.report.page.explorable import Explorable


def simulation_document(
    simulation: Simulation, beside: BesideCounters | None = None, *, cut_short: bool = False
) -> Document:
    """What ports counted, who loads the channels that were asked for, what all messages get.

    Args:
        simulation: the result, with its fabric.
        beside: what ports have counted.
        cut_short: whether it was ended before all samples were counted.

    Raises:
        UsageError: the result was kept without its fabric.
    """
    fabric = simulation.fabric
    if fabric is None:
        raise UsageError(
            "this simulation was kept without its fabric, so its channels have no names"
        )
    rated = simulation.bisection()
    lines = [*users_verdict(simulation), simulation_verdict(simulation)]
    if beside is not None:
        lines.insert(0, counters_verdict(beside))
    if cut_short:
        samples = counted(simulation.samples, "sample")
        lines.insert(0, f"A partial result, of the {samples} counted before the end:")
    pictures: dict[str, Callable[[], Figure]] = {}
    if beside is not None:
        pictures["counters"] = lambda: report.counters_figure(beside)
    if simulation.users:
        pictures["users"] = lambda: report.users_figure(simulation)
    pictures |= _pictures([simulation], [rated.share])
    pictures["channels"] = lambda: report.channel_loads(simulation, fabric)
    pictures["network"] = lambda: report.network_loads(simulation, fabric)
    return Document(
        verdict="\n".join(lines),
        tables=(
            *(() if beside is None else counters_tables(beside)),
            *users_tables(simulation),
            *simulation_tables(simulation, fabric, rated),
        ),
        record=simulation_json(simulation, fabric, rated, beside),
        pictures=pictures,
        explorable=lambda: _explored([simulation], beside),
        metrics=_metrics(simulation, rated.share),
    )


def _metrics(simulation: Simulation, rated: float) -> list[Metric]:
    of = {"fabric": simulation.fabric_name, "pattern": simulation.pattern}
    of["routes"] = simulation.engine or "file"
    return [
        Metric(
            "contend_effective_bandwidth_ratio",
            "What messages of a pattern get, as a share of the rate of a link.",
            simulation.effective_bandwidth,
            of,
        ),
        Metric(
            "contend_rated_bisection_ratio",
            "What the narrowest cut carries, as a share of full bisection bandwidth.",
            rated,
            {"fabric": simulation.fabric_name},
        ),
    ]


def _explored(
    simulations: Sequence[Simulation], beside: BesideCounters | None = None
) -> Explorable | None:
    """The network with what its channels carry, by every simulation."""
    fabric = simulations[0].fabric
    if fabric is None:
        return None
    views = report.simulation_views(simulations)
    if beside is not None:
        counted_too = report.counters_layer(beside)
        views = [replace(view, layers={**view.layers, **counted_too}) for view in views]
    return report.explored(fabric, views)


def simulations_document(
    simulations: Sequence[Simulation], told: Sequence[Document], *, shortfall: str = ""
) -> Document:
    """Several simulations beside each other; a terminal has shown each when it was done.

    Args:
        simulations: the results.
        told: the document of each.
        shortfall: which others could not be simulated, and why.
    """
    rated = [simulation.bisection().share for simulation in simulations]
    several = len(simulations) > 1
    comparison = {"comparison": lambda: report.simulation_comparison(simulations, rated=rated)}
    pictures = comparison | _pictures(simulations, rated) if several else told[0].pictures
    explorable = told[0].explorable
    if several:
        # States of one network; those of several networks have no page of their own.
        alike = len({simulation.fabric_name for simulation in simulations}) == 1
        explorable = (lambda: _explored(simulations)) if alike else None
    return Document(
        verdict="\n".join(document.verdict for document in told),
        tables=[table for document in told for table in document.tables],
        record={"results": [document.record for document in told]},
        pictures=pictures,
        explorable=explorable,
        metrics=[metric for document in told for metric in document.metrics],
        plain="",
        shortfall=shortfall,
    )


def _pictures(
    simulations: Sequence[Simulation], rated: Sequence[float]
) -> dict[str, Callable[[], Figure]]:
    """The pictures that say something about these results, the most telling one first."""
    pictures: dict[str, Callable[[], Figure]] = {}
    if all(simulation.samples > 1 for simulation in simulations):
        # The average that the table puts first; the paper's own is drawn by contend study.
        mean = Average.EFFECTIVE_BANDWIDTH
        pictures["bandwidth"] = lambda: report.bandwidth_histogram(
            simulations, average=mean, rated=rated
        )
    pictures["congestion"] = lambda: report.congestion_distribution(simulations)
    if simulations[0].rounds > 1 and simulations[0].samples > 1:
        pictures["rounds"] = lambda: report.round_bounds(simulations)
    return pictures
