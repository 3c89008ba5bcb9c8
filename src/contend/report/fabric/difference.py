"""What differs between two states of a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted, listed, verb
from contend.cure import ComparedShare, NetworkChanges, Outcome
from contend.fabric import Change, Fabric
from contend.report.cure.running_jobs import costs_table
from contend.report.document import Document
from contend.report.fabric.marks import Mark
from contend.report.fabric.network import fabric_figure
from contend.report.page.networks import both_explored
from contend.report.simulation.figures import simulation_comparison
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, costs_words, hit_words, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# So many changes of each kind are listed; JSON has all.
_LISTED = 10
# So many shares that got less, and more, a verdict names.
_NAMED = 3
_HOWS = ("added", "removed", "moved", "renamed", "replaced", "speed")


def _verdict(changed: NetworkChanges) -> str:
    """Whether it is better or worse and by what, lost hosts first; then what differs."""
    counts = Counter((change.what, change.how) for change in changed.changes)
    parts = [
        f"{counted(counts[what, how], what)} {'with another speed' if how == 'speed' else how}"
        for what in ("host", "switch", "cable")
        for how in _HOWS
        if counts[what, how]
    ]
    line = ", ".join(parts) or "The same hosts, switches and cables"
    if changed.entries is not None:
        entries = int(changed.entries.sum())
        total = len(changed.entries) * len(changed.difference.hosts)
        line += f"; {entries:,} of {total:,} table entries changed"
    if changed.outcome is None:
        return f"{line}. Without routes of both it is not judged: --route ENGINE computes them."
    losing = filter(None, [costs_words(changed.jobs)])
    clauses = (_of_hosts(changed), losing, _of_routes(changed), _of_shares(changed))
    deciding = "; ".join(chain(*clauses))
    missing = f" Not everything could be counted: {changed.not_counted}." * bool(
        changed.not_counted
    )
    return f"{str(changed.outcome).capitalize()}: {deciding}. {line}.{missing}"


def _of_hosts(changed: NetworkChanges) -> Iterator[str]:
    """Hosts that are gone, with what their servers lose, and those that came."""
    if lost := changed.hosts_lost:
        words = f"{counted(lost, 'host')} {verb(lost, 'is')} gone"
        yield words + (f" ({hit_words(changed.servers)})" if changed.servers else "")
    if came := changed.hosts_gained:
        yield f"{counted(came, 'host')} {verb(came, 'is')} new"


def _of_routes(changed: NetworkChanges) -> Iterator[str]:
    """Routes that arrive no more, or again, and circles of waiting channels."""
    before, after = changed.routes_before, changed.routes_after
    if before is None or after is None:
        return
    if after.lost == 0 < before.lost:
        yield f"all routes between them arrive again, {before.lost:,} did not"
    elif after.lost != before.lost:
        routes, do = counted(after.lost, "route"), verb(after.lost, "does")
        yield f"{routes} between hosts that both have {do} not arrive, {before.lost:,} before"
    if (before.can_deadlock, after.can_deadlock) == (False, True):
        yield "channels can now wait for each other in a circle, and deadlock"
    if (before.can_deadlock, after.can_deadlock) == (True, False):
        yield "channels can no longer wait for each other in a circle"


def _of_shares(changed: NetworkChanges) -> Iterator[str]:
    """What gets less, then what gets more: of each that which changes most."""
    both = counted(changed.hosts_compared, "host")
    who = f"the {both} that both have" if changed.hosts_lost or changed.hosts_gained else both
    for outcome, words in ((Outcome.WORSE, "less"), (Outcome.BETTER, "more")):
        shares = [share for share in changed.shares if share.outcome == outcome]
        # Random pairs first, which people know best.
        shares.sort(key=lambda one: (one is changed.shares[0], _gain(one)), reverse=True)
        named = [
            f"{one.name} ({percent(one.after)}, {percent(one.before)} before)"
            for one in shares[:_NAMED]
        ]
        if (left := len(shares) - _NAMED) > 0:
            named.append(f"{left} more")
        if named:
            yield f"{who} {verb(changed.hosts_compared, 'gets')} {words} in {listed(named)}"
    if changed.shares and all(share.outcome == Outcome.SAME for share in changed.shares):
        alike = "as much as before in random pairs, all-to-alls, shifts and rings"
        yield f"{who} {verb(changed.hosts_compared, 'gets')} {alike}"


def _tables(changed: NetworkChanges) -> list[ResultTable]:
    """The changes of every kind, then the switches whose tables changed most."""
    tables = [costs_table(changed.jobs)] if changed.jobs else []
    if changed.shares:
        tables.append(_judged_table(changed))
    # New switches before the hosts that they bring.
    for what in ("switch", "host", "cable"):
        changes = [change for change in changed.changes if change.what == what]
        if changes:
            tables.append(_changes_table(what, changes))
    if changed.entries is not None and changed.entries.any():
        tables.append(_entries_table(changed, changed.entries))
    return tables


def _judged_table(changed: NetworkChanges) -> ResultTable:
    """What hosts that both have get in each state."""
    return table_of(
        f"What the {counted(changed.hosts_compared, 'host')} that both have get of their ports",
        changed.shares,
        {
            "": "name",
            "before": "before",
            "now": "after",
            "change": Number(_change),
            "is": "outcome",
        },
        note="random pairs: the mean of their shares; all else: what a host gets until the last "
        "message has arrived; now: of what ports allowed before, where rates are known",
        tones={str(Outcome.BETTER): "green", str(Outcome.WORSE): "bold red"},
    )


def _gain(share: ComparedShare) -> float:
    return abs((share.after or 0.0) - (share.before or 0.0))


def _change(share: ComparedShare) -> str:
    if share.before is None or share.after is None:
        return UNKNOWN
    margin = f" ± {100 * share.margin:.2f}" if share.margin else ""
    return f"{100 * (share.after - share.before):+.2f}{margin}"


def _changes_table(what: str, changes: Sequence[Change]) -> ResultTable:
    shown: list[Change] = []
    for how in _HOWS:
        shown += [change for change in changes if change.how == how][:_LISTED]
    left = len(changes) - len(shown)
    # What only came or went is named and nothing else.
    told = {"moved", "renamed", "replaced", "speed"}
    return table_of(
        {"host": "Hosts", "switch": "Switches", "cable": "Cables"}[what],
        shown,
        {
            "change": "how",
            what: lambda change: "" if (what, change.how) == ("cable", "moved") else change.name,
            "before": lambda change: change.before if change.how in told else "",
            "now": lambda change: change.after if change.how in told else "",
        },
        note=f"{left:,} more are in the JSON" if left else "",
    )


def _entries_table(changed: NetworkChanges, entries: NDArray[np.int64]) -> ResultTable:
    order = np.argsort(-entries, kind="stable")[:_LISTED]
    hosts = max(len(changed.difference.hosts), 1)
    differing = int(np.count_nonzero(entries))
    return table_of(
        "Tables that changed most",
        [at for at in order.tolist() if entries[at]],
        {
            "switch": lambda at: changed.new.switch_name[changed.difference.switches[at][1]],
            "entries": Number(lambda at: f"{entries[at]:,}"),
            "of hosts": Number(lambda at: percent(entries[at] / hosts)),
        },
        note=f"{differing:,} of {counted(len(entries), 'switch')} have other entries for hosts",
    )


def changes_document(changed: NetworkChanges) -> Document:
    """What differs; with the bandwidth before and now where both states have routes."""
    pictures = {"network": lambda: _network(changed)}
    if changed.before is not None and changed.after is not None:
        pictures["bandwidth"] = lambda: _bandwidths(changed)
    return Document(
        verdict=_verdict(changed),
        tables=_tables(changed),
        record=changed,
        pictures=pictures,
        explorable=lambda: both_explored(changed),
    )


def _bandwidths(changed: NetworkChanges) -> Figure:
    states = [
        replace(simulation, fabric=replace(simulation.whole_fabric.as_told(), name=name))
        for name, simulation in (("before", changed.before), ("now", changed.after))
        if simulation is not None
    ]
    return simulation_comparison(states)


def _network(changed: NetworkChanges) -> Figure:
    """The network with its changes marked: as it is now or, if parts are only gone, as it was."""
    changes, (fabric, marks) = changed.changes, _drawn(changed)
    where = f", as it was in {changed.old.name}" if changes and fabric is changed.old else ""
    finding = f"{changed.new.name}: {counted(len(changes), 'change')}{where}"
    return fabric_figure(fabric, finding=finding, marks=marks)


def _drawn(changed: NetworkChanges) -> tuple[Fabric, list[Mark]]:
    """The state that is drawn, with its changes."""
    changes = changed.changes
    before = all(change.how == "removed" for change in changes)
    marks = [mark for change in changes if (mark := _mark(changed, change, before)) is not None]
    return changed.old if before else changed.new, marks


def _mark(changed: NetworkChanges, change: Change, before: bool) -> Mark | None:
    """A change in a drawing; of what is gone from a later state a switch beside it tells."""
    gone = change.how == "removed"
    fabric = changed.old if gone else changed.new
    words = f"{change.what} {change.name}"
    if change.how in ("moved", "speed"):
        words += f", before {change.before}"
    if change.what == "host":
        part, ends = "switch", [int(fabric.host_switch[change.number])]
    elif change.what == "cable":
        part = "cable"
        ends = [int(end[change.number]) for end in (fabric.cable_from, fabric.cable_to)]
    else:
        part, ends = "switch", [change.number]
    if before or not gone:
        return Mark(change.how, part, change.number if part == "cable" else ends[0], words)
    now = dict(changed.difference.switches)
    return next((Mark(change.how, "switch", now[end], words) for end in ends if end in now), None)
