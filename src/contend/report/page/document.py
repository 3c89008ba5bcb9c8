"""All results of one network as one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from contend.congestion import FabricSummary, Simulation
from contend.cure import Failures
from contend.report.document import Document
from contend.report.fabric.scene import MOST_HOSTS, TOO_LARGE
from contend.report.page.explorable import Explorable
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
