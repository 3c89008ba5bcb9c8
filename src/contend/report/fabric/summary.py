"""A fabric as tables: what it is made of, its checks, lists of its hosts."""

from __future__ import annotations

from contend.base.units import counted, format_rate, verb
from contend.congestion import FabricSummary
from contend.fabric import Bisection, PartSize, Structure
from contend.report.document import Document
from contend.report.fabric.network import fabric_figure
from contend.report.page.explorable import explored
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent
from contend.routes import RoutesSummary

# Rows of the table of leaves, names in a row, and planes of a network.
_MOST_ROWS, _MOST_NAMES = 12, 3


def fabric_document(summary: FabricSummary) -> Document:
    """What a fabric is made of, and a drawing of it."""
    return Document(
        verdict=fabric_verdict(summary),
        tables=fabric_tables(summary),
        record=summary,
        pictures={"network": lambda: fabric_figure(summary.fabric, summary.carried)},
        explorable=lambda: explored(summary.fabric),
    )


def fabric_verdict(summary: FabricSummary) -> str:
    """How large it is, and how much of full bandwidth its narrowest cut carries."""
    fabric, rated = summary.fabric, summary.bisection
    line = f"{fabric.name}: {counted(fabric.hosts, 'host')} on {counted(fabric.switches, 'switch')}"
    if rated.planes:
        line += f" in {len(rated.planes)} parts that no cable joins"
    else:
        most = "" if rated.exact else "most "
        line += f", rated at {most}{percent(rated.share)} of full bisection bandwidth"
    if summary.routes is not None and summary.routes.undelivered:
        lost = summary.routes.undelivered
        line += f"; {counted(lost, 'route')} {verb(lost, 'does')} not arrive"
    return f"{line}."


def fabric_tables(summary: FabricSummary) -> tuple[ResultTable, ...]:
    """The summary for a terminal or a page."""
    structure = summary.structure
    parts = [_parts(structure, summary.bisection)] if structure.parts > 1 else []
    tables = [_overview(summary), *parts, _levels(structure), _leaves(structure)]
    if structure.rails:
        tables.append(_rails(structure))
    if summary.routes is not None:
        tables.append(_balance(summary.routes))
    return tuple(tables)


def _overview(summary: FabricSummary) -> ResultTable:
    structure = summary.structure
    rows = [
        ("hosts", f"{summary.fabric.hosts:,}", _counted(structure.host_links)),
        ("servers", f"{structure.servers:,}", _servers(structure.hosts_per_server)),
        ("switches", f"{summary.fabric.switches:,}", _kinds_of_switches(summary)),
        ("cables", f"{structure.cables:,}", _between_switches(structure)),
        ("switch pairs", f"{sum(structure.parallel_cables.values()):,}", _parallel(structure)),
        (
            "channels",
            f"{summary.fabric.channels:,}",
            "two per cable, one each way; hosts' cables included",
        ),
        *_bisection_rows(summary.bisection),
    ]
    if summary.rated_hosts != summary.fabric.hosts:
        chosen = "rated bisection and random pairs count only these"
        rows.append(("chosen hosts", f"{summary.rated_hosts:,}", chosen))
    if summary.routes is not None:
        rows += _routes_rows(summary)
    return ResultTable(
        title=summary.fabric.name,
        columns=("what", "", "of which"),
        rows=tuple(rows),
        numeric=frozenset({""}),
        note="; ".join(structure.left_out),
    )


def _bisection_rows(bisection: Bisection) -> list[tuple[str, str, str]]:
    """The rated bisection and what random pairs get; of several parts a table tells them."""
    if bisection.planes:
        apart = f"no cable joins the {len(bisection.planes)} parts of the network, shown below"
        return [("rated bisection", f"{100 * bisection.share:.1f} %", apart)]
    most = "an upper bound for their mean, whatever the routes"
    return [
        _bisection_row(bisection),
        ("random pairs", f"{100 * bisection.random_pairs:.1f} %", most),
    ]


def _bisection_row(bisection: Bisection) -> tuple[str, str, str]:
    cut = ", ".join(
        counted(count, what)
        for count, what in (
            (bisection.cut_cables, "cable"),
            (bisection.cut_host_links, "host link"),
        )
        if count
    )
    capacity, full = (
        _capacity(value, bisection.unit) for value in (bisection.capacity, bisection.full)
    )
    narrowest = f" ({cut})" if cut else ""
    found = "the narrowest cut" if bisection.exact else "at most: the narrowest cut found"
    return (
        "rated bisection",
        f"{100 * bisection.share:.1f} %",
        f"{found}{narrowest} carries {capacity} of {full}",
    )


def _routes_row(routes: RoutesSummary) -> tuple[str, str, str]:
    engine = f"by {routes.engine}; " if routes.engine else ""
    hops = ", ".join(f"{hops} by {count:,}" for hops, count in routes.hops.items())
    lost = f"; {routes.undelivered:,} do not arrive" if routes.undelivered else ""
    return (
        "routes",
        f"{routes.delivered:,}",
        f"{engine}cables crossed between switches: {hops}{lost}",
    )


def _routes_rows(summary: FabricSummary) -> list[tuple[str, str, str]]:
    """The routes, and how much of them switches choose."""
    assert summary.routes is not None
    share = summary.routes.adaptive
    if share is None:
        return [_routes_row(summary.routes)]
    chosen = share.free + share.hashed
    kinds = [
        f"{count:,} {what}"
        for count, what in ((share.free, "for every packet"), (share.hashed, "by hash"))
        if count
    ]
    least, most = min(share.group_sizes, default=0), max(share.group_sizes, default=0)
    sizes = f"{least} to {most}" if least < most else f"{most}"
    words = (
        f"of {chosen + share.static:,} for hosts let the switch choose a port: "
        f"{' and '.join(kinds) or 'none'}; "
        f"{sizes} {'port' if sizes == '1' else 'ports'} to choose from, "
        f"{counted(share.switches, 'switch')}, {counted(share.lids, 'LID')}"
    )
    return [_routes_row(summary.routes), ("adaptive entries", f"{chosen:,}", words)]


def _parts(structure: Structure, bisection: Bisection) -> ResultTable:
    rated = {plane.part: plane for plane in bisection.planes if plane.hosts > 1}

    def share(part: PartSize) -> str:
        plane = rated.get(part.number)
        if plane is None:
            return UNKNOWN
        return f"{'' if plane.exact else 'at most '}{100 * plane.share:.1f} %"

    def random_pairs(part: PartSize) -> str:
        plane = rated.get(part.number)
        return UNKNOWN if plane is None else f"{100 * plane.random_pairs:.1f} %"

    left = len(structure.each_part) - _MOST_ROWS
    return table_of(
        "Parts that no cable joins",
        structure.each_part[:_MOST_ROWS],
        {
            "part": "number",
            "hosts": "hosts",
            "switches": "switches",
            "cables": "cables",
            "rated bisection": Number(share),
            "random pairs": Number(random_pairs),
            "with": "host",
        },
        note="--part N, or --part with the name of any host, takes one of them alone"
        + (f"; {counted(left, 'further part')} in the JSON" if left > 0 else ""),
    )


def _levels(structure: Structure) -> ResultTable:
    unit = structure.unit
    return table_of(
        "Levels, from the hosts up",
        structure.levels,
        {
            "level": "level",
            "switches": "switches",
            "hosts": "hosts",
            "down": Number(lambda level: _capacity(level.down, unit)),
            "across": Number(lambda level: _capacity(level.across, unit) if level.across else "-"),
            "up": Number(lambda level: _capacity(level.up, unit) if level.up else "-"),
            "down : up": Number(lambda level: _ratio(level.oversubscription)),
        },
        note="capacity in one direction" if unit != "cables" else "some rates are unknown",
    )


def _ratio(oversubscription: float | None) -> str:
    return UNKNOWN if oversubscription is None else f"{oversubscription:.2f} : 1"


def _leaves(structure: Structure) -> ResultTable:
    """Switches with hosts, those alike in one row, the most oversubscribed of a level first."""
    unit = structure.unit
    alike: dict[tuple[str, ...], list[str]] = {}
    for leaf in structure.leaves:
        row = (
            str(leaf.level),
            f"{leaf.hosts:,}",
            _capacity(leaf.down, unit),
            _capacity(leaf.up, unit) if leaf.up else "-",
            _ratio(leaf.oversubscription),
        )
        alike.setdefault(row, []).append(leaf.switch)
    rows = [
        (row[0], f"{len(names):,}", *row[1:], _some_names(names)) for row, names in alike.items()
    ]
    columns = ("level", "switches", "hosts each", "down", "up", "down : up", "names")
    left = len(rows) - _MOST_ROWS
    return ResultTable(
        title="Switches with hosts",
        columns=columns,
        rows=tuple(rows[:_MOST_ROWS]),
        numeric=frozenset(columns[:-1]),
        note=f"{counted(left, 'further row')} in the JSON" if left > 0 else "",
    )


def _rails(structure: Structure) -> ResultTable:
    return table_of(
        f"Rails of servers with {counted(len(structure.rails), 'adapter')}",
        structure.rails,
        {
            "rail": "number",
            "adapter": lambda rail: rail.adapters or "by GUID",
            "hosts": "hosts",
            "on leaves": "leaves",
            "on another rail's leaf": Number(
                lambda rail: f"{rail.astray:,}" if rail.astray else UNKNOWN
            ),
        },
        note="servers of the kind with the most hosts",
    )


def _some_names(names: list[str]) -> str:
    more = ", ..." if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _balance(routes: RoutesSummary) -> ResultTable:
    return table_of(
        "Routes per channel between switches",
        routes.balance,
        {
            "channels": lambda item: (
                item.kind if item.level == 0 else f"{item.kind}, from level {item.level}"
            ),
            "number": "channels",
            "idle": "idle",
            "mean": Number(lambda item: f"{item.mean_routes:,.0f}"),
            "most": "most_routes",
            "times its share": Number(lambda item: f"{item.imbalance:.2f}"),
        },
        note="The last column divides by the mean of the channels that could share the load.",
    )


def _capacity(value: float, unit: str) -> str:
    return format_rate(value) if unit == "bytes/s" else counted(round(value), "cable")


def _counted(links: dict[str, int]) -> str:
    return ", ".join(f"{count:,} of {label}" for label, count in links.items())


def _between_switches(structure: Structure) -> str:
    links = _counted(structure.switch_links)
    return f"between switches: {links}" if links else "between switches"


def _servers(per_server: dict[int, int]) -> str:
    if set(per_server) == {1}:
        return "one host each"
    return ", ".join(
        f"{servers:,} with {counted(hosts, 'adapter')}" for hosts, servers in per_server.items()
    )


def _parallel(structure: Structure) -> str:
    return ", ".join(
        f"{pairs:,} with {counted(cables, 'cable')}"
        for cables, pairs in structure.parallel_cables.items()
    )


def _kinds_of_switches(summary: FabricSummary) -> str:
    structure = summary.structure
    idle = "on no shortest path between hosts" if summary.routes is None else "that no route uses"
    kinds = (
        (structure.unreached_switches, "that reach no host"),
        (structure.idle_switches, idle),
    )
    odd = [f"{count:,} {what}" for count, what in kinds if count]
    return "; ".join([structure.shape, *odd])
