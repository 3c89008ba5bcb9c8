"""What a fabric is made of, as tables."""

from __future__ import annotations

from dataclasses import dataclass

from contend.fabric import Bisection, FabricSize, Structure
from contend.report.result_table import ResultTable
from contend.routes import RoutesSummary
from contend.units import counted, format_bandwidth


@dataclass(frozen=True)
class FabricSummary:
    """All that ``contend fabric show`` tells.

    Attributes:
        fabric: its size.
        structure: what it is made of.
        bisection: the narrowest cut found.
        routes: None when it has none.
    """

    fabric: FabricSize
    structure: Structure
    bisection: Bisection
    routes: RoutesSummary | None


def fabric_tables(summary: FabricSummary) -> tuple[ResultTable, ...]:
    """The summary for a terminal or a page."""
    tables = [_overview(summary), _levels(summary.structure)]
    if summary.routes is not None:
        tables.append(_balance(summary.routes))
    return tuple(tables)


def _overview(summary: FabricSummary) -> ResultTable:
    structure = summary.structure
    rows = [
        ("hosts", f"{summary.fabric.hosts:,}", _counted(structure.host_links)),
        ("servers", f"{structure.servers:,}", _rails(structure.hosts_per_server)),
        ("switches", f"{summary.fabric.switches:,}", _odd_switches(structure)),
        ("cables", f"{structure.cables:,}", _between_switches(structure)),
        ("joined pairs", f"{sum(structure.parallel_cables.values()):,}", _parallel(structure)),
        (
            "channels",
            f"{summary.fabric.channels:,}",
            "one each way per cable, those of hosts included",
        ),
        _bisection_row(summary.bisection),
    ]
    if structure.parts > 1:
        rows.append(("parts", f"{structure.parts:,}", "no cables join them"))
    if summary.routes is not None:
        rows.append(_routes_row(summary.routes))
    return ResultTable(
        title=summary.fabric.name,
        columns=("what", "", "of which"),
        rows=tuple(rows),
        numeric=frozenset({""}),
        note="; ".join(structure.left_out),
    )


def _bisection_row(found: Bisection) -> tuple[str, str, str]:
    cut = ", ".join(
        counted(count, what)
        for count, what in ((found.cut_cables, "cable"), (found.cut_host_links, "host link"))
        if count
    )
    meaning = f"{_capacity(found.capacity, found.unit)} of {_capacity(found.full, found.unit)}"
    narrowest = f", the narrowest cut found: {cut}" if cut else ""
    return ("rated bisection", f"{100 * found.share:.1f} %", f"{meaning}{narrowest}")


def _routes_row(routes: RoutesSummary) -> tuple[str, str, str]:
    engine = f"by {routes.engine}; " if routes.engine else ""
    hops = ", ".join(f"{count:,} of {hops}" for hops, count in routes.hops.items())
    lost = f"; {routes.undelivered:,} do not arrive" if routes.undelivered else ""
    return ("routes", f"{routes.delivered:,}", f"{engine}cables between switches: {hops}{lost}")


def _levels(structure: Structure) -> ResultTable:
    unit = structure.unit
    rows = tuple(
        (
            str(level.level),
            f"{level.switches:,}",
            f"{level.hosts:,}",
            _capacity(level.down, unit),
            _capacity(level.across, unit) if level.across else "-",
            _capacity(level.up, unit) if level.up else "-",
            "-" if level.oversubscription is None else f"{level.oversubscription:.2f} : 1",
        )
        for level in structure.levels
    )
    columns = ("level", "switches", "hosts", "down", "across", "up", "down : up")
    return ResultTable(
        title="Levels, from the hosts up",
        columns=columns,
        rows=rows,
        numeric=frozenset(columns),
        note="capacity in one direction" if unit != "cables" else "some rates are unknown",
    )


def _balance(routes: RoutesSummary) -> ResultTable:
    rows = tuple(
        (
            item.kind if item.level == 0 else f"{item.kind}, from level {item.level}",
            f"{item.channels:,}",
            f"{item.idle:,}",
            f"{item.mean_routes:,.0f}",
            f"{item.most_routes:,}",
            f"{item.imbalance:.2f}",
        )
        for item in routes.balance
    )
    columns = ("channels", "number", "idle", "mean", "most", "times its share")
    return ResultTable(
        title="Routes per channel between switches",
        columns=columns,
        rows=rows,
        numeric=frozenset(columns[1:]),
        note="last column: the busiest among channels that could share its load",
    )


def _capacity(value: float, unit: str) -> str:
    return format_bandwidth(value) if unit == "bytes/s" else counted(round(value), "cable")


def _counted(links: dict[str, int]) -> str:
    return ", ".join(f"{count:,} of {label}" for label, count in links.items())


def _between_switches(structure: Structure) -> str:
    links = _counted(structure.switch_links)
    return f"between switches: {links}" if links else "between switches"


def _rails(per_server: dict[int, int]) -> str:
    if set(per_server) == {1}:
        return "one host each"
    return ", ".join(
        f"{servers:,} of {counted(hosts, 'host')}" for hosts, servers in per_server.items()
    )


def _parallel(structure: Structure) -> str:
    return ", ".join(
        f"{pairs:,} by {counted(cables, 'cable')}"
        for cables, pairs in structure.parallel_cables.items()
    )


def _odd_switches(structure: Structure) -> str:
    kinds = (
        (structure.unreached_switches, "reach no host"),
        (structure.idle_switches, "join nothing new"),
    )
    return ", ".join(f"{count:,} {what}" for count, what in kinds if count)
