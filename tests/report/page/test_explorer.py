"""Pages in a real browser: what one finds and reads there by search, mouse and keyboard."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import contend
from contend import report
from contend.congestion import simulate_packets
from contend.fabric import (
    Fabric,
    missing_cables,
    rails_of,
    server_names,
    without_numbers,
)
from contend.routes import all_to_all_load, compute, find_route, mended
from opened_pages import Opened, cells, click_at, ends, number, search, title


def test_a_switch_is_found_by_name_guid_and_lid(opened: Opened, routed: Fabric) -> None:
    page = opened(report.fabric_document(contend.show(routed)))
    search(page, "leaf 3")
    assert title(page) == "leaf 3"
    assert [row[0] for row in cells(page, "Hosts")] == ["9", "10", "11", "12"]
    search(page, f"0x{int(routed.switch_guid[1]):016x}")
    assert title(page) == routed.switch_label[1]
    search(page, f"lid {int(routed.host_lid[5])}")
    assert title(page) == routed.host_label[5]
    page.keyboard.press("Escape")
    assert title(page) == routed.switch_label[1]


def test_a_cable_that_is_clicked_tells_what_the_record_says(opened: Opened, routed: Fabric) -> None:
    simulation = contend.simulate(routed, samples=50)
    document = report.simulation_document(simulation)
    page = opened(document)
    places = page.evaluate("explorer.canvas.places(0).line(0).map((one) => (one[0] + one[1]) / 2)")
    click_at(page, *places)
    page.wait_for_selector("#panel h2")
    # Two cables lie there: a table lets one choose.
    assert title(page) == "2 cables"
    page.locator("#panel button.link").first.click()
    near, far = (end.strip() for end in title(page).split("–"))
    cable = next(one for one in range(routed.cables) if ends(routed, 2 * one) == [near, far])
    rows = {(row[0], row[1]): number(row[2]) for row in cells(page, "What it carries")}
    for channel in (2 * cable, 2 * cable + 1):
        direction = " → ".join(ends(routed, channel))
        load = simulation.channel_load[channel]
        assert rows[direction, "load of bisect, messages a round"] == pytest.approx(load, rel=5e-3)
        assert rows[direction, "all routes"] == all_to_all_load(routed)[channel]
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator("#layer").select_option("load of bisect")
    hottest = next(one for one in document.record.hottest_channels if one.channel < 32)
    first = cells(page, "Hottest channels")[0]
    assert number(first[1]) == pytest.approx(hottest.messages_per_round, rel=5e-3)


def test_packets_colour_channels_by_how_long_they_stand_still(opened: Opened) -> None:
    fabric = contend.load("xgft:2;4,2;1,1", route="minhop")
    found = simulate_packets(fabric, "uniform", samples=2, queues=["fifo"])
    page = opened(report.packets_document(found))
    assert page.locator("#layer").input_value() == "blocked, fifo"
    assert "% of time blocked, hottest channel of a line" in page.locator("#legend").inner_text()
    worst = found.channels[0]
    first = cells(page, "Hottest channels")[0]
    assert first[0] == " → ".join(ends(fabric, worst.channel))
    assert number(first[1]) == pytest.approx(100 * worst.blocked, rel=5e-3)
    rows = cells(page, "Messages that lose most")
    assert [row[0] for row in rows] == [victim.source for victim in found.victims]
    for (_, words), victim in zip(rows, found.victims, strict=True):
        assert words.startswith(f"to {victim.target}: {100 * victim.received:.1f} %, ")
        assert words in page.evaluate("explorer.canvas.source('marks', 0).data.tip")


def test_users_of_a_cable_are_those_of_the_routes(opened: Opened, routed: Fabric) -> None:
    page = opened(report.fabric_document(contend.show(routed)))
    load = all_to_all_load(routed)
    used = page.evaluate(
        """() => [...Array(2 * explorer.network.cables).keys()]
          .map((channel) => explorer.network.users(channel).routes)"""
    )
    assert used == load.tolist()


def test_routes_are_followed_there_and_back(opened: Opened, routed: Fabric) -> None:
    page = opened(report.fabric_document(contend.show(routed)))
    search(page, "2")
    page.get_by_role("button", name="Route from here").click()
    search(page, "15")
    for source, target in ((1, 14), (14, 1)):
        names = f"{routed.host_label[source]} → {routed.host_label[target]}"
        told = [row[0] for row in cells(page, names)]
        route = find_route(routed, source, target)
        assert told == [" → ".join(ends(routed, one)) for one in route.channels]


def test_what_if_shows_the_mended_loads_of_a_failure(opened: Opened, routed: Fabric) -> None:
    found = contend.failures(routed, samples=20)
    page = opened(report.failures_document(found))
    page.locator("#layer").select_option("all routes")
    search(page, "top 1")
    told = page.locator("#panel dl").inner_text()
    assert "random pairs get" in told
    page.get_by_role("button", name="Let it die").click()
    assert "without top 1" in page.locator("#view option:checked").inner_text()
    top = routed.switch_label.index("top 1")
    rest = without_numbers(routed, switches=[top])
    expected = all_to_all_load(mended(routed, rest)[0])
    left = np.repeat((routed.cable_from != top) & (routed.cable_to != top), 2)
    loads = page.evaluate('[...explorer.view.layers["all routes"].load]')
    assert np.array(loads)[left].tolist() == expected.tolist()
    assert not np.array(loads)[~left].any()
    page.get_by_role("button", name="Bring it back").click()
    assert page.locator("#view option:checked").inner_text() == "now"


def test_two_engines_are_seen_beside_each_other_in_one_scale(opened: Opened) -> None:
    by = [contend.load("fig1", route=engine) for engine in ("minhop", "contend")]
    simulations = [contend.simulate(fabric, samples=20) for fabric in by]
    documents = [report.simulation_document(one) for one in simulations]
    page = opened(report.simulations_document(documents))
    page.locator("#beside").select_option(label="contend")
    assert page.evaluate("explorer.canvas.panes[1].visible")
    most = page.evaluate("explorer.network.views.map((view) => explorer._layerOf(view).most)")
    assert most[0] == most[1]
    page.wait_for_function("explorer.canvas.panes[1].inner_width > 100")
    page.wait_for_function("explorer.canvas.panes[0].x_range.start < 0")
    for pane in (0, 1):
        click_at(page, *page.evaluate(f"explorer.canvas.place({pane})"), pane=pane)
        page.wait_for_selector(f"#panel h2:has-text('{by[0].switch_label[pane]}')")


def test_large_trees_open_group_by_group(opened: Opened) -> None:
    fabric = contend.load("chic", route="minhop")
    page = opened(report.fabric_document(contend.show(fabric)))
    lines = "explorer.canvas.source('cables', 0).data.xs.length"
    assert page.evaluate(lines) == 0
    search(page, "leaf")
    page.get_by_role("button", name="one by one").click()
    leaf = np.array(fabric.switch_label)
    at_leaf = [
        tuple(sorted(pair))
        for pair in zip(fabric.cable_from.tolist(), fabric.cable_to.tolist(), strict=True)
        if any(leaf[end].startswith("leaf") for end in pair)
    ]
    assert page.evaluate(lines) == len(set(at_leaf))
    page.get_by_role("button", name="Bundle its cables").click()
    assert page.evaluate(lines) == 0


def test_hosts_have_the_colours_of_their_rails(opened: Opened) -> None:
    fabric = contend.load("rails:2,2,8,2", route="minhop")
    page = opened(report.fabric_document(contend.show(fabric)))
    page.locator("#layer").select_option("rails")
    colours = page.evaluate("explorer.canvas.source('hosts', 0).data.colour")
    rails = rails_of(fabric).tolist()
    assert len({*zip(rails, colours, strict=True)}) == len(set(colours)) == 8
    search(page, fabric.host_label[3])
    assert f"Rail\n{rails[3] + 1}" in page.locator("#panel dl").inner_text()


def test_hosts_have_the_colours_of_their_rates(opened: Opened, routed: Fabric) -> None:
    rate = np.zeros(routed.hosts, dtype=np.uint16)
    rate[3:7] = 1
    fabric = routed.replace(rates=("4xHDR", "4xEDR"), host_rate=rate)
    page = opened(report.fabric_document(contend.show(fabric)))
    page.locator("#layer").select_option("rates of hosts")
    colours = page.evaluate("explorer.canvas.source('hosts', 0).data.colour")
    assert len({*zip(rate.tolist(), colours, strict=True)}) == len(set(colours)) == 2


def test_names_are_told_as_they_are(opened: Opened, routed: Fabric) -> None:
    wicked = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>'
    fabric = routed.replace(
        host_name=(wicked, *routed.host_name[1:]),
        switch_name=(f"{wicked} switch", *routed.switch_name[1:]),
    )
    page = opened(report.fabric_document(contend.show(fabric)))
    search(page, "onerror")
    assert title(page).startswith("<img src=x onerror=")
    assert page.locator("img").count() == 0


def test_an_address_names_what_is_shown(opened: Opened, routed: Fabric) -> None:
    page = opened(report.fabric_document(contend.show(routed)))
    search(page, "leaf 2")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert title(page) == "leaf 2"


def test_tables_are_sorted_by_a_click(opened: Opened, routed: Fabric) -> None:
    page = opened(report.simulation_document(contend.simulate(routed, samples=20)))
    head = page.locator("main > table th.number").first
    column = head.evaluate("(one) => one.cellIndex")
    head.click()
    table = page.locator("main > table", has=page.locator("th[aria-sort]")).first
    values = [
        number(row.locator("td").nth(column).inner_text().split()[0])
        for row in table.locator("tbody tr").all()
    ]
    assert values == sorted(values, reverse=True)


def test_missing_cables_are_marked_and_told_at_both_ends(opened: Opened) -> None:
    fabric = contend.load("xgft:2;4,6;1,4", route="minhop")
    fabric = compute(without_numbers(fabric, cables=[5]).fabric, "minhop")
    page = opened(report.fabric_document(contend.show(fabric)))
    (pair,) = missing_cables(fabric)
    names = [fabric.switch_label[end] for end in pair.switches]
    words = f"{pair.cables} of {pair.usual} cable between {' and '.join(names)}"
    assert cells(page, "Missing cables") == [[names[0], words]]
    assert page.evaluate("explorer.canvas.source('marks', 0).data.tip") == [words, words]
    search(page, names[1])
    assert words in page.locator("#panel dl").inner_text()


def test_a_server_tells_its_adapters_and_those_on_other_rails(opened: Opened) -> None:
    fabric = contend.load("rails:2,4,4,2")
    place, port = fabric.host_switch.copy(), fabric.host_port.copy()
    server = server_names(fabric)[0]
    mine = [host for host, name in enumerate(server_names(fabric)) if name == server]
    one, other = mine[1], mine[2]
    place[[one, other]], port[[one, other]] = place[[other, one]], port[[other, one]]
    page = opened(
        report.fabric_document(contend.show(fabric.replace(host_switch=place, host_port=port)))
    )
    assert {row[0]: row[1] for row in cells(page, "Faults")} == {
        fabric.host_label[one]: "on a leaf of rail 3, not 2",
        fabric.host_label[other]: "on a leaf of rail 2, not 3",
    }
    search(page, server)
    assert title(page) == server
    told = {row[0]: row[2] for row in cells(page, "adapters")}
    assert told == {
        fabric.host_label[host]: f"{fabric.switch_label[place[host]]} port {port[host]}"
        for host in mine
    }
    page.keyboard.press("/")
    page.keyboard.type("no such thing")
    assert page.locator("#found li").all_inner_texts() == ["Nothing has such a name."]


def test_names_do_not_cover_each_other(opened: Opened) -> None:
    page = opened(report.fabric_document(contend.show(contend.load("dragonfly:8,4,4"))))
    covered = """() => {
      const { x, y, text, size, angle, across, along } = explorer.canvas.source("texts", 0).data;
      const pen = document.createElement("canvas").getContext("2d");
      const scale = explorer.canvas.scale(0);
      const boxes = text.flatMap((words, at) => {
        if (angle[at]) return [];
        pen.font = `${size[at]} sans-serif`;
        const wide = pen.measureText(words).width, high = 0.8 * parseFloat(size[at]);
        const left = x[at] * scale - { left: 0, center: wide / 2, right: wide }[across[at]];
        const low = y[at] * scale - { bottom: 0, middle: high / 2, top: high }[along[at]];
        return [[left, low, left + wide, low + high, words]];
      });
      const meet = (one, other) => one[0] < other[2] && other[0] < one[2]
        && one[1] < other[3] && other[1] < one[3];
      return boxes.flatMap((one, at) => boxes.slice(at + 1).filter((other) => meet(one, other))
        .map((other) => [one[4], other[4]]));
    }"""
    written = "explorer.canvas.source('texts', 0).data.text"
    # From afar there is room for the names of groups alone.
    assert sorted(page.evaluate(written)) == sorted(f"group {number}" for number in range(1, 18))
    assert page.evaluate(covered) == []
    page.evaluate("explorer.canvas.showSwitch(0); explorer.canvas.write(0)")
    assert "group 1 switch 1" in page.evaluate(written)
    assert page.evaluate(covered) == []


def test_cables_have_the_colours_of_their_jobs(opened: Opened, routed: Fabric) -> None:
    """Whose messages cross a channel is told by its routes; what two use is seen."""
    hosts = {"A": [0, 1, 4, 5], "B": [6, 7, 8, 9]}
    names = {job: [routed.host_label[host] for host in own] for job, own in hosts.items()}
    users: dict[int, set[str]] = {}
    for job, own in hosts.items():
        for source, target in permutations(own, 2):
            for channel in find_route(routed, source, target).channels:
                if channel < 2 * routed.cables:
                    users.setdefault(channel, set()).add(job)
    page = opened(report.jobs_document(contend.cure.jobs(routed, names, pattern="alltoall")))
    colour = page.evaluate("Object.fromEntries(explorer.layer.colour)")
    drawn = page.evaluate(
        "Array.from(explorer.network.fabric.from, (_, cable) => "
        "explorer.canvas._colourOf([cable], explorer.layer, () => false).colour)"
    )
    shared, none = page.evaluate("[SHARED, QUIET]")
    kinds = set()
    for cable, seen in enumerate(drawn):
        on = [users.get(2 * cable + back, set()) for back in (0, 1)]
        kinds.add(most := max(map(len, on)))
        own = {colour[job] for job in on[0] | on[1]}
        assert seen in {0: {none}, 1: own, 2: {shared}}[most]
    assert kinds == {0, 1, 2}
    legend = page.locator("#legend").inner_text()
    assert "cable of several jobs" in legend
    cable = max(users, key=lambda one: len(users[one])) // 2
    page.evaluate(f"explorer.choose({{ kind: 'cable', number: {cable} }})")
    told = {(row[0], row[1]) for row in cells(page, "Jobs on it")}
    assert told == {
        (" → ".join(ends(routed, channel)), job)
        for channel in (2 * cable, 2 * cable + 1)
        for job in users.get(channel, set())
    }
