"""Where the next job should go: sentence, servers, order of ranks."""

from __future__ import annotations

from contend.base.errors import printable_line
from contend.base.names import shorten
from contend.base.units import counted, verb
from contend.cure import Jobs, NextJob, Seats
from contend.report.jobs.words import PATTERNS, ROWS, gets, labels, points
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, percent
from contend.routes import Ways


def next_verdict(found: Jobs) -> str:
    """Which free hosts the next job should get, and what for; "" where that was not asked."""
    following = found.next
    if following is None:
        return ""
    best, first = following.best, following.first
    if found.rails and following.gain > following.margin:
        own, usual = ((percent(one.rings), percent(one.all_to_alls)) for one in (best, first))
        ranks = "" if best.order == best.servers else ", with their ranks in the order below"
        return (
            f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}"
            f"{ranks}: its rings get {own[0]} of a port's rate beside the others and its "
            f"all-to-alls {own[1]} ({usual[0]} and {usual[1]} on the first free ones by name), and "
            f"the others lose {percent(best.cost, 2)} because of it ({percent(first.cost, 2)})."
        )
    if following.gain <= following.margin:
        # No better than chance: what a scheduler takes anyway will do, if it leaves as much room.
        if best.leaves < first.leaves:
            return (
                f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}: "
                f"{gets(found, best.beside)} beside the others, as on the first free ones, but it "
                f"takes {_leaves(best.leaves)} instead of {first.leaves:,}."
            )
        return (
            f"For the next job, no servers are better than the first {len(first.servers):,} free "
            f"ones, {first.nodelist}: {gets(found, first.beside)} beside the others."
        )
    return (
        f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}: "
        f"{gets(found, best.beside)} beside the others ({percent(first.beside)} on the first free "
        "ones), and the others lose "
        f"{percent(best.cost, 2)} because of it ({percent(first.cost, 2)})."
    )


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count:,} leaves"


def next_table(found: Jobs, following: NextJob) -> ResultTable:
    """The best servers beside the first free ones."""
    called = labels(found)

    def most(seats: Seats) -> str:
        if seats.worst_job is None:
            return UNKNOWN
        return f"{called[seats.worst_job]} ({percent(seats.worst_loss)})"

    gain = f"{100 * following.gain:+.2f} ± {100 * following.margin:.2f}"
    return table_of(
        f"Servers for the next job of {len(following.best.servers):,}",
        (following.best, following.first),
        {
            "servers": lambda seats: "best found" if seats is following.best else "first free",
            "leaves": "leaves",
            "alone": "alone",
            "beside others": Number(lambda seats: f"{points(seats.beside, seats.margin)} %"),
            **(PATTERNS if found.rails else {}),
            "others lose": Number(lambda seats: f"{points(seats.cost, seats.cost_margin, 2)} %"),
            "of them most": most,
        },
        note=f"{_searched(found)}{counted(found.free, 'server')} free, "
        f"{counted(following.tried, 'choice')} tried; the fewest leaves: "
        f"{following.fewest_leaves:,}; the hosts of all jobs get {gain} points more by the best",
    )


def _searched(found: Jobs) -> str:
    routes = found.fabric.routes
    if routes is None or not routes.ways & Ways.TOGETHER:
        return ""
    return f"searched by {routes.each_alone.engine}, judged by {routes.engine}; "


def order_table(seats: Seats) -> ResultTable:
    """Servers in the order of ranks, as many in a row as follow each other by name too."""
    place = {name: number for number, name in enumerate(seats.servers)}
    runs: list[list[str]] = []
    for name in seats.order:
        if runs and place[name] == place[runs[-1][-1]] + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    rows, first = [], 0
    for run in runs:
        last = first + len(run) - 1
        rows.append((f"{first:,}" if len(run) == 1 else f"{first:,} to {last:,}", shorten(run)))
        first = last + 1
    more = len(rows) - ROWS
    note = "the n-th server, from 0, with all its ranks" + (
        f"; {more:,} more {verb(more, 'is')} in the JSON" if more > 0 else ""
    )
    return ResultTable(
        title="Order of ranks",
        columns=("server", "name"),
        rows=tuple((number, printable_line(name, 1 << 20)) for number, name in rows[:ROWS]),
        numeric=frozenset({"server"}),
        note=note,
    )
