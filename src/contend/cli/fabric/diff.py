"""``contend fabric diff``: what changed in a network, and what that did to its bandwidth."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from rich.text import Text

from contend import report
from contend.cli.common import console_for, load, write_json
from contend.cli.options import ROUTES, JsonOption, Loading, PlotOption, RouteOption, SeedOption
from contend.congestion import simulate
from contend.errors import UsageError
from contend.fabric import difference
from contend.routes import changed_ports

_STATE = "The {} state of the network: a topology file of any kind that contend knows."
OldArgument = Annotated[str, typer.Argument(metavar="OLD", help=_STATE.format("earlier"))]
NewArgument = Annotated[str, typer.Argument(metavar="NEW", help=_STATE.format("later"))]
TablesOption = Annotated[
    list[str] | None, ROUTES("Give it twice: for OLD, then for NEW. Once is for both.")
]


def diff(
    loading: Loading,
    old: OldArgument,
    new: NewArgument,
    routes: TablesOption = None,
    route: RouteOption = None,
    seed: SeedOption = 1,
    json: JsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Say what changed in a network: nodes, cables, speeds, routes and bandwidth.

    Nodes are told apart by their GUIDs, so that what was renamed or moved is told as such.

    Example: contend fabric diff last-week.ibnetdiscover net.ibnetdiscover
    """
    if plot is not None:
        report.check_suffix(plot)
    tables = [None, None] if routes is None else [routes[0], routes[-1]]
    if routes is not None and len(routes) > 2:
        raise UsageError(f"--routes is for OLD and NEW, got {len(routes)}")
    before, after = (
        load(state, of, route, loading) for state, of in zip((old, new), tables, strict=True)
    )
    found = difference(before, after)
    routed = before.routes is not None and after.routes is not None
    if plot is not None and not routed:
        raise UsageError("--plot draws the bandwidth before and after: give both states routes")
    changed = report.Changed(
        before,
        after,
        found,
        changed_ports(before, after, found.switches, found.hosts) if routed else None,
        simulate(before, "bisect", seed=seed) if routed else None,
        simulate(after, "bisect", seed=seed) if routed else None,
    )
    console = console_for(json)
    console.print(Text(report.difference_verdict(changed), style="bold"), soft_wrap=True)
    shown = report.difference_tables(changed)
    report.print_tables(console, shown)
    write_json(json, report.difference_json(changed))
    if plot is not None and changed.before is not None and changed.after is not None:
        states = [
            replace(simulation, fabric_name=name)
            for name, simulation in (("before", changed.before), ("now", changed.after))
        ]
        figure = report.simulation_comparison(states)
        report.save_figure(figure, plot, shown)
