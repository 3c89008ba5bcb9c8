"""Figures of studies of simulations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from contend.congestion import Average, Simulation
from contend.report.simulation.figures import simulation_comparison
from contend.report.simulation.histograms import bandwidth_histogram, round_bounds
from contend.report.study.simulated import main_source, reference_of
from contend.studies import SimulatedOutcome, SimulatedPlan


def study_figures(
    plan: SimulatedPlan, outcomes: Sequence[SimulatedOutcome]
) -> Iterator[tuple[str, Figure]]:
    """Named figures, pattern by pattern; samples are read for one pattern at a time.

    Patterns of one round become histograms of all routings; those of several rounds, and those
    whose own ends are taken out, show both bounds under each fabric's best routing, as the paper
    draws them. Patterns that were not sampled have no distribution and only appear in tables.
    """
    for pattern in plan.patterns:
        cells = [
            outcome
            for outcome in outcomes
            if outcome.record.pattern == pattern.name
            and outcome.record.status == "done"
            and outcome.record.simulation["samples"] > 1
        ]
        if cells:
            yield from _figures(plan, pattern.name, cells)


def _figures(
    plan: SimulatedPlan, name: str, cells: Sequence[SimulatedOutcome]
) -> Iterator[tuple[str, Figure]]:
    simulations = [cell.simulation() for cell in cells]
    references = [_reference(plan, cell) for cell in cells]
    rated = [cell.record.rated_bisection for cell in cells]
    source = main_source(plan)
    if all(s.rounds.count == 1 and s.scale == 1 for s in simulations):
        figure = bandwidth_histogram(
            simulations,
            average=plan.average,
            rated=rated,
            reference=references,
            reference_name=source,
        )
    else:
        best = _simulated_best(simulations, plan.average)
        figure = round_bounds(
            [simulations[i] for i in best],
            reference=[references[i] for i in best],
            reference_name=source,
        )
    yield f"{name}-histogram", figure
    yield (
        f"{name}-comparison",
        simulation_comparison(
            simulations,
            average=plan.average,
            rated=rated,
            reference=references,
            reference_name=source,
        ),
    )


def _reference(plan: SimulatedPlan, cell: SimulatedOutcome) -> float | None:
    reference = reference_of(plan, cell.record)
    return None if reference is None else reference.percent / 100


def _simulated_best(simulations: Sequence[Simulation], average: Average) -> list[int]:
    """The simulation with the highest average for each fabric, in the order of fabrics."""
    best: dict[str, int] = {}
    for i, simulation in enumerate(simulations):
        known = best.setdefault(simulation.fabric.name, i)
        if _scaled(simulation, average) > _scaled(simulations[known], average):
            best[simulation.fabric.name] = i
    return list(best.values())


def _scaled(simulation: Simulation, average: Average) -> float:
    return simulation.scale * simulation.averaged(average).mean
