"""Two states of a network on one page: what changed, and what a click shows of both."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend import report
from contend.fabric import (
    Fabric,
    free_ports,
    with_cables,
    without_numbers,
)
from contend.routes import all_to_all_load, compute, find_route
from opened_pages import Opened, cells, click_at, ends, number, search, title


@pytest.fixture
def states(routed: Fabric) -> tuple[Fabric, Fabric]:
    """A network, and itself with a cable less, one more, and a host on another switch."""
    leaf_1, leaf_4, top = (
        routed.switch_label.index(name) for name in ("leaf 1", "leaf 4", "top 2")
    )
    less = without_numbers(routed, cables=[0]).fabric
    less = less.replace(switch_ports=less.switch_ports + 2)
    more, _ = with_cables(less, [(leaf_4, top)])
    place, ports = more.host_switch.copy(), more.host_port.copy()
    place[-1], ports[-1] = leaf_1, free_ports(more)[leaf_1][0]
    moved = more.replace(host_switch=place, host_port=ports)
    return routed, compute(moved, "minhop")


def test_two_states_of_a_network_stand_beside_each_other(
    opened: Opened, states: tuple[Fabric, Fabric]
) -> None:
    old, new = states
    changed = contend.diff(old, new)
    document = report.changes_document(changed)
    page = opened(document)
    assert page.evaluate("explorer.canvas.panes.map((pane) => pane.visible)") == [True, True]
    assert page.locator("#captions span").all_inner_texts() == [
        f"before: {old.name}",
        f"now: {new.name}",
    ]
    # What changed is listed as in the JSON; a host that moved stands at two places.
    told = cells(page, "What changed")
    hows = sorted(change.how for change in document.record.changes)
    assert sorted({row[1].split(",")[0] for row in told}) == sorted(set(hows))
    most = page.evaluate("explorer.network.views.map((view) => explorer._layerOf(view).most)")
    assert most[0] == most[1]
    # What channels carry of both, in the order of each.
    ends_of = {
        frozenset(ends(state, 2 * cable)): cable
        for state in states
        for cable in range(state.cables)
    }
    assert len(ends_of) == old.cables + 1
    for state, column in ((old, 2), (new, 3)):
        load = all_to_all_load(state)
        for cable in (0, 5, state.cables - 1):
            near, far = ends(state, 2 * cable)
            page.evaluate(
                """([near, far]) => {
                  const named = (cable) => [`${near} – ${far}`, `${far} – ${near}`]
                    .includes(explorer.network.cableName(cable));
                  const cables = [...Array(explorer.network.cables).keys()];
                  explorer.choose({ kind: "cable", number: cables.find(named) });
                }""",
                [near, far],
            )
            rows = {(row[0], row[1]): row[column] for row in cells(page, "What it carries")}
            for back, way in enumerate((f"{near} → {far}", f"{far} → {near}")):
                assert number(rows[way, "all routes"]) == load[2 * cable + back]


def test_a_click_in_one_state_shows_the_part_in_both(
    opened: Opened, states: tuple[Fabric, Fabric]
) -> None:
    old, new = states
    page = opened(report.changes_document(contend.diff(old, new)))
    page.wait_for_function("explorer.canvas.panes[1].inner_width > 100")
    framed = "[0, 1].map((pane) => explorer.canvas.source('chosen', pane).data.x.length)"
    lines = "[0, 1].map((pane) => explorer.canvas.source('chosen-lines', pane).data.xs.length)"
    for pane in (0, 1):
        top = new.switch_label.index("top 2")
        click_at(page, *page.evaluate(f"explorer.canvas.place({top}, {pane})"), pane=pane)
        page.wait_for_selector("#panel h2:has-text('top 2')")
        assert page.evaluate(framed) == [1, 1]
        page.keyboard.press("Escape")
    page.locator("#panel tr", has_text="removed").locator("button.link").click()
    assert page.evaluate(lines) == [1, 0]
    assert "only before" in page.locator("#panel dl").inner_text()
    page.keyboard.press("Escape")
    page.locator("#panel tr", has_text="moved, before").locator("button.link").click()
    # The host and its switch, at its place in each state.
    assert page.evaluate(framed) == [2, 2]
    for pane, state in enumerate((old, new)):
        x = page.evaluate(f"explorer.canvas.source('chosen', {pane}).data.x")
        assert page.evaluate(f"explorer.canvas.place({state.host_switch[-1]}, {pane})[0]") in x
    host = new.host_label[-1]
    assert title(page) == host
    page.get_by_role("button", name="Route from here").click()
    search(page, "2")
    routes = [row[0] for row in cells(page, f"{host} (before) → 2")]
    route = find_route(old, old.host_label.index(host), old.host_label.index("2"))
    assert [way.replace(" (before)", "") for way in routes] == [
        " → ".join(ends(old, one)) for one in route.channels
    ]
    route = find_route(new, new.hosts - 1, new.host_label.index("2"))
    assert [row[0] for row in cells(page, f"{host} → 2")] == [
        " → ".join(ends(new, one)) for one in route.channels
    ]


def test_networks_that_have_little_in_common_keep_their_own_places(opened: Opened) -> None:
    old, new = (contend.load(name, route="minhop") for name in ("xgft:2;4,4;1,2", "hypercube:4"))
    page = opened(report.changes_document(contend.diff(old, new)))
    shown = [
        page.evaluate(f"explorer.canvas.source('lines', {pane}).data.xs.length") for pane in (0, 1)
    ]
    pairs = [
        len({*map(tuple, np.sort([state.cable_from, state.cable_to], axis=0).T.tolist())})
        for state in (old, new)
    ]
    assert shown == pairs
    page.locator("#layer").select_option("all routes")
    for pane, state in enumerate((old, new)):
        heading = page.locator("#panel h3").nth(pane).inner_text()
        assert heading.endswith(f": {state.name}")
        first = page.locator("#panel table").nth(pane).locator("tbody tr").first
        channel, load = first.locator("td").all_inner_texts()
        assert number(load) == all_to_all_load(state).max()
        names = [
            ends(state, one)
            for one in np.flatnonzero(all_to_all_load(state) == number(load)).tolist()
        ]
        assert channel.split(" → ") in [
            [one.removeprefix("switch ") for one in two] for two in names
        ]
    # A host that both have is framed in both.
    search(page, new.host_label[3])
    framed = "[0, 1].map((pane) => explorer.canvas.source('chosen', pane).data.x.length)"
    assert page.evaluate(framed) == [2, 2]
