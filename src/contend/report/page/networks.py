"""What pages show: all results of one network, and two states of one side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.congestion import FabricSummary, Simulation
from contend.cure import Failures, NetworkChanges
from contend.fabric import Change, Difference, Fabric
from contend.report.document import Document
from contend.report.fabric.marks import Mark, faults
from contend.report.fabric.scene import MOST_HOSTS, TOO_LARGE
from contend.report.page.explorable import (
    Explorable,
    PartNames,
    View,
    Within,
    followed,
    routes_layer,
    simulation_views,
)
from contend.routes import CheckReport


@dataclass(frozen=True, kw_only=True)
class NetworkPage:
    """What a page tells of a network."""

    verdict: str
    """A sentence of each result."""
    show: FabricSummary
    """What the network is made of."""
    check: CheckReport
    """What is wrong with it."""
    simulation: Simulation | None
    """What messages of the pattern get; null where there are no routes."""
    failures: Failures | None
    """What failures cost; null where that was not asked."""


def page_document(
    shown: Document,
    checked: Document,
    simulated: Document | None,
    failed: Document | None,
    *,
    file: str,
) -> Document:
    """All that is known of a network, as a terminal tells it once its page is written.

    Args:
        shown: what the network is made of.
        checked: what is wrong with it.
        simulated: what a pattern's messages get; None where that is not known.
        failed: what failures cost; None likewise.
        file: where the page is.
    """
    documents = [one for one in (shown, checked, simulated, failed) if one is not None]
    verdict = "\n".join(document.verdict for document in documents)
    hosts = shown.record.fabric.hosts
    return Document(
        verdict=verdict,
        tables=[table for document in documents for table in document.tables],
        record=NetworkPage(
            verdict=verdict,
            show=shown.content(),
            check=checked.content(),
            simulation=None if simulated is None else simulated.content(),
            failures=None if failed is None else failed.content(),
        ),
        pictures={
            name: drawn
            for document in documents
            for name, drawn in document.pictures.items()
            if name != "network"
        },
        explorable=lambda: _together(
            [found for one in documents if one.explorable and (found := one.explorable())]
        ),
        remarks=[remark for document in documents for remark in document.remarks],
        closing=(f"written to {file}", *([TOO_LARGE] if hosts > MOST_HOSTS else [])),
        brief=True,
    )


def _together(each: Sequence[Explorable]) -> Explorable | None:
    """One network with everything that is known of it: of its present state all layers."""
    if not each:
        return None
    states = [one.views[0] for one in each]
    routed = next((state for state in reversed(states) if state.layers), states[0])
    layers = {name: layer for state in states for name, layer in state.layers.items()}
    return replace(
        each[0],
        views=[replace(routed, layers=layers), *(view for one in each for view in one.views[1:])],
        marks=tuple(dict.fromkeys(mark for one in each for mark in one.marks)),
        costs={part: words for one in each for part, words in one.costs.items()},
    )


# With fewer cables in common than this part of the smaller state, each has places of its own.
_ALIKE = 0.5


def both_explored(changed: NetworkChanges) -> Explorable | None:
    """The earlier state beside the later one; None where they are too large for a page.

    What both have stands at the same place. States that have little in common are each drawn by
    themselves.
    """
    old, new, found = changed.old, changed.new, changed.difference
    if max(old.hosts, new.hosts) > MOST_HOSTS:
        return None
    alike = len(found.cables) >= _ALIKE * min(old.cables, new.cables)
    if not alike:
        found = replace(found, switches=(), cables=())
    whole, before, after = _united(old, new, found)
    views = [
        _view(f"{word}: {state.name}", state, within, simulation, alike=alike)
        for word, state, within, simulation in (
            ("before", old, before, changed.before),
            ("now", new, after, changed.after),
        )
    ]
    marks = [
        *(
            mark
            for state, within in ((new, after), (old, before))
            for mark in _faults(state, within)
        ),
        *(_marks(found, before, after) if alike else ()),
    ]
    moved = [
        ("host", int(before.hosts[one]), int(after.hosts[other]))
        for one, other in found.hosts
        if before.hosts[one] != after.hosts[other]
    ]
    moved += [
        ("cable", int(before.cables[change.former]), change.number)
        for change in found.changes
        if alike and change.former >= 0
    ]
    names = _names(old, new, before, {one for kind, one, _ in moved if alike and kind == "host"})
    faults_and_changes = tuple(dict.fromkeys(marks))
    return Explorable(whole, views, faults_and_changes, beside=1, twins=moved, names=names)


def _names(old: Fabric, new: Fabric, before: Within, moved: set[int]) -> PartNames:
    """What each state calls its parts; the later one where both have them."""
    earlier, later = PartNames.of(old), PartNames.of(new)
    host, switch, short = map(list, (later.host, later.switch, later.short))
    for at in np.flatnonzero(before.hosts >= new.hosts).tolist():
        host.append(earlier.host[at] + " (before)" * (int(before.hosts[at]) in moved))
    for at in np.flatnonzero(before.switches >= new.switches).tolist():
        switch.append(earlier.switch[at])
        short.append(earlier.short[at])
    return PartNames(host, switch, short)


def _united(old: Fabric, new: Fabric, found: Difference) -> tuple[Fabric, Within, Within]:
    """All parts of both, those of the later state first, and each state in their numbers.

    Hosts that hang elsewhere now are there twice, as cables are that were moved.
    """
    switches = _numbers(old.switches, new.switches, found.switches)
    place = switches[old.host_switch]
    stayed = [
        (one, other)
        for one, other in found.hosts
        if place[one] == new.host_switch[other] and old.host_port[one] == new.host_port[other]
    ]
    hosts = _numbers(old.hosts, new.hosts, stayed)
    cables = _numbers(old.cables, new.cables, found.cables)
    rates = (*new.rates, *(rate for rate in old.rates if rate not in new.rates))
    rate = np.array([rates.index(label) for label in old.rates], dtype=np.uint16)
    number = switches.astype(np.uint32)
    earlier = old.replace(
        host_switch=number[old.host_switch],
        host_rate=rate[old.host_rate],
        cable_from=number[old.cable_from],
        cable_to=number[old.cable_to],
        cable_rate=rate[old.cable_rate],
    )
    only = {
        "host_": np.flatnonzero(hosts >= new.hosts),
        "switch_": np.flatnonzero(switches >= new.switches),
        "cable_": np.flatnonzero(cables >= new.cables),
    }
    columns = {
        field.name: _joined(getattr(new, field.name), getattr(earlier, field.name), parts)
        for field in fields(Fabric)
        for start, parts in only.items()
        if field.name.startswith(start)
    }
    whole = new.replace(**columns, rates=rates, findings=(), told=None, routes=None)
    within = Within(whole, switches, hosts, cables)
    return whole, within, Within(whole, *map(np.arange, (new.switches, new.hosts, new.cables)))


def _numbers(old: int, new: int, pairs: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """The number of every earlier part: that of its later self, else one beyond all of these."""
    numbers = np.full(old, -1, dtype=np.int64)
    for one, other in pairs:
        numbers[one] = other
    gone = numbers < 0
    numbers[gone] = new + np.arange(np.count_nonzero(gone))
    return numbers


def _joined(new: Any, old: Any, parts: NDArray[np.int64]) -> Any:
    if isinstance(new, np.ndarray):
        return np.concatenate([new, old[parts]])
    return (*new, *(old[part] for part in parts.tolist()))


def _view(
    name: str, state: Fabric, within: Within, simulation: Simulation | None, *, alike: bool
) -> View:
    layers = routes_layer(state)
    if simulation is not None:
        layers = {**simulation_views([simulation])[0].layers, **layers}
    whole = within.whole
    code = np.array([whole.rates.index(label) for label in state.rates], dtype=np.uint16)
    rate = np.concatenate([whole.cable_rate, whole.host_rate])
    rate[within.cables] = code[state.cable_rate]
    rate[whole.cables + within.hosts] = code[state.host_rate]
    return View(
        name,
        within.followed(followed(state)),
        {kind: within.layer(layer) for kind, layer in layers.items()},
        missing=within.missing(),
        rate=rate,
        apart=None if alike else (state, within),
    )


def _faults(state: Fabric, within: Within) -> Iterator[Mark]:
    numbers = {"switch": within.switches, "cable": within.cables, "host": within.hosts}
    for mark in faults(state):
        yield replace(mark, number=int(numbers[mark.part][mark.number]))


def _marks(found: Difference, before: Within, after: Within) -> Iterator[Mark]:
    """What changed, at every place where it is drawn."""
    earlier = {"host": before.hosts, "switch": before.switches, "cable": before.cables}
    place = {other: one for one, other in found.hosts}
    for change in found.changes:
        kind = change.what
        if change.how == "removed":
            yield Mark("removed", kind, int(earlier[kind][change.number]), "removed")
            continue
        yield Mark(change.how, kind, change.number, _words(change))
        if change.how == "moved":
            former = change.former if kind == "cable" else place[change.number]
            words = f"moved, now {change.after}"
            yield Mark("moved", kind, int(earlier[kind][former]), words)


def _words(change: Change) -> str:
    """A change without the name of what changed."""
    if change.how == "added" or not change.before:
        return change.how
    how = "another speed" if change.how == "speed" else change.how
    return f"{how}, before {change.before}"
