"""More of the same: what is taken from a regular fabric comes back, by the fabric's own rule."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.cure import OtherRoutes, extend, improve
from contend.fabric import Fabric, leaf_rails, rails_of, servers_of, without

TREE, PODS, RAILS = "xgft:2;4,6;1,4", "fattree3:4", "rails:3,4,4,16;1,1;4"


def _cabling(fabric: Fabric, names: list[str]) -> tuple[Counter[object], Counter[object]]:
    """How many cables of which rate join which switches, and which switches servers hang on."""
    cables: Counter[object] = Counter()
    for (near, _, far, _), rate in zip(fabric.cable_ends(), fabric.cable_rate, strict=True):
        ends = frozenset({names[near], names[far]})
        cables[ends, fabric.rates[rate]] += 1
    on: dict[int, list[str]] = defaultdict(list)
    for host, server in enumerate(servers_of(fabric).tolist()):
        on[server].append(names[fabric.host_switch[host]])
    return cables, Counter(tuple(sorted(leaves)) for leaves in on.values())


def _alike(grown: Fabric, whole: Fabric) -> bool:
    """Whether new switches can stand for those that are gone, in their order: an isomorphism."""
    known = set(whole.switch_guid.tolist())
    kept = set(grown.switch_guid.tolist())
    gone = iter(
        name
        for name, guid in zip(whole.switch_name, whole.switch_guid.tolist(), strict=True)
        if guid not in kept
    )
    names = [
        whole.switch_name[whole.switch_guid.tolist().index(guid)] if guid in known else next(gone)
        for guid in grown.switch_guid.tolist()
    ]
    return not list(gone) and _cabling(grown, names) == _cabling(whole, list(whole.switch_name))


def _check_ports(fabric: Fabric) -> None:
    """No port is used twice, none is beyond the switch, and GUIDs and addresses are one's own."""
    ends = [end for cable in fabric.cable_ends() for end in (cable[:2], cable[2:])]
    ends += zip(fabric.host_switch.tolist(), fabric.host_port.tolist(), strict=True)
    assert max(Counter(ends).values()) == 1
    assert all(1 <= port <= fabric.switch_ports[switch] for switch, port in ends)
    for column in (
        np.concatenate([fabric.host_guid, fabric.switch_guid]),
        np.concatenate([fabric.host_lid, fabric.switch_lid]),
        fabric.host_port_guid,
        np.array(fabric.switch_name),
        np.array(fabric.host_name),
    ):
        assert len(np.unique(column)) == len(column)


def _without_servers(fabric: Fabric, count: int, seed: int) -> Fabric:
    server = servers_of(fabric)
    gone = np.random.default_rng(seed).choice(np.unique(server), count, replace=False)
    hosts = np.flatnonzero(np.isin(server, gone)).tolist()
    return without(fabric, [fabric.host_name[host] for host in hosts]).fabric


@pytest.mark.parametrize("name", [TREE, PODS, RAILS, "dragonfly:2,4,2", "torus:3x3;2", "kary:3,3"])
@pytest.mark.parametrize("count", [1, 3])
def test_servers_that_were_taken_away_come_back(name: str, count: int) -> None:
    whole = contend.load(name)
    grown = extend(_without_servers(whole, count, seed=count), servers=count, engine="minhop")
    assert grown.servers == count
    assert grown.switches == ()
    assert len(grown.cables) == grown.hosts
    assert _alike(grown.fabric, whole)
    _check_ports(grown.fabric)


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        (TREE, "top 2"),
        (PODS, "middle 3"),
        (PODS, "top 2"),
        (RAILS, "rail 2 spine 3"),
        (RAILS, "core 4"),
        ("fattree2:8;6,2;1", "top 1"),
    ],
)
def test_a_spine_that_was_taken_away_comes_back(name: str, gone: str) -> None:
    whole = contend.load(name)
    grown = extend(without(whole, [gone]).fabric, spines=1, engine="minhop")
    assert len(grown.switches) == 1
    assert {cable.what for cable in grown.cables} == {"switch"}
    assert _alike(grown.fabric, whole)
    _check_ports(grown.fabric)


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        (TREE, ["leaf 3"]),
        (RAILS, [f"unit 2 leaf {rail}" for rail in (1, 2, 3, 4)]),
        (PODS, ["leaf 3", "leaf 4", "middle 3", "middle 4"]),
    ],
)
def test_a_unit_that_was_taken_away_comes_back(name: str, gone: list[str]) -> None:
    whole = contend.load(name)
    less = without(whole, gone).fabric
    grown = extend(less, units=1, engine="minhop")
    assert _alike(grown.fabric, whole)
    assert len(grown.switches) == len(gone)
    _check_ports(grown.fabric)
    # As many servers do so too.
    again = extend(less, servers=grown.servers, engine="minhop") if name != PODS else grown
    assert _alike(again.fabric, whole)


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("rails:3,4,4,4;2", [f"unit {unit} leaf {unit}:6" for unit in (1, 2, 3)]),
        ("rails:3,4,4,4;2", [f"unit {unit} leaf 1:{unit + 6}" for unit in (1, 2, 3)]),
        ("fattree3:8", [f"middle {4 * pod + 1 + pod % 3}:{5 + pod % 4}" for pod in range(8)]),
    ],
)
def test_what_a_copy_lacks_is_laid(name: str, gone: list[str]) -> None:
    """Every unit lacks a cable, so that any copy would lack one, too; missing ones are told."""
    whole = contend.load(name)
    grown = extend(without(whole, gone).fabric, units=1, ports=40, engine="minhop")
    of_unit = extend(whole, units=1, ports=40, engine="minhop")
    assert len(grown.cables) == len(of_unit.cables)
    assert f"{len(gone)} cables that similar pairs of switches have are missing" in grown.remark
    _check_ports(grown.fabric)


@pytest.mark.parametrize("count", [1, 2])
def test_groups_of_a_dragonfly_come_back(count: int) -> None:
    """Every two groups are joined by one cable again, and every switch has two to others."""
    whole = contend.load("dragonfly:2,4,2")
    gone = [f"group {group} switch {n}" for group in (9, 8)[:count] for n in range(1, 5)]
    net = extend(without(whole, gone).fabric, units=count, engine="minhop").fabric
    assert (net.hosts, net.switches, net.cables) == (whole.hosts, whole.switches, whole.cables)
    assert sorted(net.switch_name) == sorted(whole.switch_name)
    number = [int(name.split()[1]) for name in net.switch_name]
    ends = [(number[near], number[far]) for near, _, far, _ in net.cable_ends()]
    between = Counter(tuple(sorted(pair)) for pair in ends if len(set(pair)) > 1)
    assert set(between.values()) == {1}
    assert len(between) == 9 * 8 // 2
    across = [end for near, _, far, _ in net.cable_ends() for end in (near, far)]
    assert set(Counter(across).values()) == {3 + 2}
    assert set(Counter(net.host_switch.tolist()).values()) == {2}
    _check_ports(net)


def test_rows_that_a_spine_leaves_uneven_are_told() -> None:
    """Of four pods one gets a third switch above its leaves."""
    remark = extend(contend.load(PODS), spines=1, ports=8, engine="minhop").remark
    assert "Its 4 rows of switches on level 2 have 2 to 3 each now" in remark
    assert remark.endswith("3 more would make them alike.")
    assert extend(contend.load(PODS), spines=4, ports=8, engine="minhop").remark == ""


def test_a_spine_is_not_blamed_for_what_routes_make_of_it() -> None:
    """Four hosts a leaf over five switches: minhop's turns no longer fall together with leaves."""
    less = contend.load("xgft:2;4,4;1,4")
    grown, own = (extend(less, spines=1, ports=9, engine=name) for name in ("minhop", "contend"))
    assert grown.after < grown.before
    assert own.after > own.before
    assert grown.otherwise == OtherRoutes(engine="contend", before=own.before, after=own.after)
    assert own.otherwise is None
    # More hosts share what there is, by whatever routes.
    more = extend(less, servers=4, ports=9, engine="minhop")
    assert more.after < more.before
    assert more.otherwise is None
    assert "by contend they get 93.26 % instead of 91.12 %." in grown.verdict


def test_names_and_ports_follow_those_that_are_there() -> None:
    # Leaf u is on port u of every spine, and the spines on ports 5 to 8 of every leaf.
    grown = extend(without(contend.load(TREE), ["leaf 6"]).fabric, units=1, engine="minhop")
    assert [(one.name, one.like, one.level) for one in grown.switches] == [("leaf 6", "leaf 1", 1)]
    assert [(cable.source, cable.target) for cable in grown.cables if cable.what == "switch"] == [
        (f"leaf 6:{4 + top}", f"top {top}:6") for top in (1, 2, 3, 4)
    ]
    assert [(cable.source, cable.target) for cable in grown.cables if cable.what == "host"] == [
        (f"host {20 + number}", f"leaf 6:{number}") for number in (1, 2, 3, 4)
    ]
    assert {cable.rate for cable in grown.cables} == {"4xHDR"}


def test_every_adapter_of_a_new_server_is_on_its_rail() -> None:
    wide = contend.load(RAILS)
    wide = wide.replace(switch_ports=np.full(wide.switches, 40, dtype=np.uint16))
    grown = extend(wide, servers=7)
    # No leaf has a place: a unit of four, and another for the three that are left.
    assert len(grown.switches) == 8
    fabric = grown.fabric
    assert (leaf_rails(fabric)[fabric.host_switch] == rails_of(fabric)).all()
    assert {name.rpartition(" rail ")[0] for name in fabric.host_name[-28:]} == {
        f"server {number}" for number in range(13, 20)
    }
    assert grown.pattern == "4 * alltoall"
    assert len(grown.collectives) == 6
    _check_ports(fabric)


def test_faster_uplinks_replace_all_cables_between_switches() -> None:
    fabric = contend.load("fattree2:8")
    grown = extend(fabric, uplinks="4xNDR")
    assert {cable.what for cable in grown.cables} == {"faster"}
    assert len(grown.cables) == fabric.cables == 32
    assert grown.after > grown.before
    # Twice the rate is as good as twice the cables.
    twice = extend(contend.load("fattree2:16;4,8"), uplinks="4xHDR")
    assert twice.cables == ()
    assert grown.after == pytest.approx(1, abs=0.02)


def _refusal(fabric: str | Fabric, **more: int | str) -> str:
    with pytest.raises(UsageError) as raised:
        extend(contend.load(fabric) if isinstance(fabric, str) else fabric, **more)  # type: ignore[arg-type]
    return str(raised.value)


@pytest.mark.parametrize("column", ["host_rate", "cable_rate"])
def test_faster_uplinks_are_refused_where_rates_are_unknown(column: str) -> None:
    """All links would count alike: before, or even with the faster ones."""
    fabric = contend.load(TREE)
    unknown = fabric.replace(
        rates=("", *fabric.rates),
        host_rate=fabric.host_rate + 1,
        cable_rate=fabric.cable_rate + 1,
    )
    unknown = unknown.replace(**{column: np.zeros_like(getattr(unknown, column))})
    with pytest.raises(UsageError, match=r"rates of some links .* are unknown"):
        extend(unknown, uplinks="4xNDR", engine="minhop")


def test_what_has_no_room_says_which_switch_is_full() -> None:
    said = _refusal(TREE, servers=2)
    assert said.startswith("2 servers do not fit: leaves have places for 0, and another leaf needs")
    assert '1 free port of switch "top 1", which has 0' in said
    assert (
        'level 2: one like "top 1" takes 1 port of switch "leaf 1", which has 0 left'
        in _refusal(TREE, spines=1)
    )
    assert "another pod needs" in _refusal(PODS, units=1)
    assert "is no tree" in _refusal("hyperx:3x3", units=1)
    assert (
        "another group takes 9 ports of its own switches for cables to others, and 8 are left"
        in _refusal("dragonfly:2,4,2", units=1)
    )
    assert "is no tree" in _refusal("torus:3x3", spines=1)
    assert "contend fabric make makes larger networks" in _refusal("dragonfly:2,4,2", servers=1)
    assert "expected a rate such as 4xNDR" in _refusal(TREE, uplinks="fast")
    assert "say what to add" in _refusal(TREE)


def test_places_of_hosts_are_not_taken_by_uplinks() -> None:
    # Four free ports on each leaf, all of them places of servers that were taken away.
    fabric = _without_servers(contend.load(TREE), 12, seed=2)
    assert "which has 0 left beside places of hosts" in _refusal(fabric, spines=1)


def test_the_same_question_has_the_same_answer() -> None:
    less = without(contend.load(RAILS), ["rail 2 spine 3"]).fabric
    first, second = (extend(less, spines=1) for _ in range(2))
    assert first.to_frame().equals(second.to_frame())


def test_a_fabric_as_it_is_gets_what_improve_says_of_it() -> None:
    """Of an all-to-all within rails: 11 messages to a host, and 12 on the fullest cable.

    Tables for even traffic put 16 there.
    """
    wide = contend.load(RAILS)
    wide = wide.replace(switch_ports=np.full(wide.switches, 40, dtype=np.uint16))
    damaged = without(wide, ["unit 1 leaf 4:5", "unit 3 leaf 4:8"]).fabric
    assert extend(damaged, servers=4).before == pytest.approx(11 / 12)
    assert improve(damaged, cables=1).before == pytest.approx(11 / 12)


def test_how_many_tables_are_made_is_told_before_the_first() -> None:
    """Those of the fabric and of the larger one; where GPUs' traffic is weighed each takes four."""
    for net, of_each in (("xgft:2;4,6;1,4", 1), ("rails:3,4,4,16;1,1;4", 4)):
        calls: list[tuple[int, int]] = []
        wide = {"ports": 40, "progress": lambda *call, calls=calls: calls.append(call)}
        extend(contend.load(net), units=1, **wide)
        assert {total for _, total in calls} == {2 * of_each}
        assert [done for done, _ in calls] == [0, 1, of_each, of_each + 1]
