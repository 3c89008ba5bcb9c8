"""Messages by tables of adaptive routing, held to the definition, counted slowly."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.congestion import FailureJudge, simulate
from contend.cure import failures
from contend.fabric import Fabric
from contend.routes import AdaptiveTables, Ways, adopt, check, load_tables, make_resolver, save
from contend.traffic.pattern import parse
from contend.traffic.placement import parse as parse_placement
from several_ways import PART, counted, drawn_pairs

SPECS = ["xgft:3;2,2,3;1,2,2", "dragonfly:2,4,2", "torus:3x4", "random:8,3,2,1"]


def adaptive(spec: str, folder: Path, engine: str = "spray") -> Fabric:
    """A fabric with the tables of a file that another engine's routes were written to."""
    fabric = contend.load(spec, route=engine)
    save(fabric, folder / "net.far")
    return adopt(fabric.replace(routes=None), load_tables(str(folder / "net.far")), "net.far")


def tables_of(fabric: Fabric) -> AdaptiveTables:
    assert fabric.routes.grouped is not None
    return fabric.routes.grouped


def changed(fabric: Fabric, of_entry: np.ndarray) -> Fabric:
    tables = tables_of(fabric)
    groups = replace(tables.groups, of_entry=of_entry.astype(np.uint16))
    return fabric.replace(routes=AdaptiveTables(tables.ports, groups))


def some_static(fabric: Fabric) -> Fabric:
    """Every third entry takes its port alone, so that hosts of one leaf are sent unlike."""
    of_entry = tables_of(fabric).groups.of_entry.copy()
    of_entry[np.add.outer(np.arange(of_entry.shape[0]), np.arange(of_entry.shape[1])) % 3 == 0] = 0
    return changed(fabric, of_entry)


def ways(fabric: Fabric, source: int, target: int) -> dict[int, float]:
    """What a message puts on every channel: at every switch it splits evenly over the group."""
    tables, lid = tables_of(fabric), int(fabric.host_lid[target])
    load: dict[int, float] = defaultdict(float)

    def split(switch: int, share: float) -> None:
        if switch == fabric.host_switch[target]:
            return
        ports = tables.ports_used(switch, lid)
        for port in ports:
            channel = fabric.core.out(switch, port)
            cable, back = divmod(channel, 2)
            load[channel] += share / len(ports)
            end = (fabric.cable_from if back else fabric.cable_to)[cable]
            split(int(end), share / len(ports))

    split(int(fabric.host_switch[source]), 1.0)
    return load


@pytest.mark.parametrize("pattern", ["bisect", "shift:3", "alltoall"])
@pytest.mark.parametrize("spec", SPECS)
def test_entries_that_differ_within_a_leaf_count_as_they_are(
    spec: str, pattern: str, tmp_path: Path
) -> None:
    fabric = some_static(adaptive(spec, tmp_path))
    drawn = parse(pattern, fabric.hosts)
    found = simulate(fabric, drawn, placement="linear", samples=2, seed=7)
    for sample in range(found.samples):
        shares = []
        for number in range(drawn.rounds):
            pairs = drawn_pairs(drawn, number, seed=7, sample=sample)
            shares.append(np.mean(1 / counted(fabric, pairs, ways)[1]))
        assert found.bandwidth[sample] == pytest.approx(np.mean(shares), abs=2 * PART)


@pytest.mark.parametrize("spec", SPECS)
def test_all_ports_that_begin_shortest_ways_are_what_spraying_is(spec: str, tmp_path: Path) -> None:
    tables = adaptive(spec, tmp_path)
    sprayed = tables.replace(routes=contend.load(spec, route="spray").routes)
    found = [simulate(each, "bisect", samples=40, seed=3) for each in (tables, sprayed)]
    assert found[0].bandwidth == pytest.approx(found[1].bandwidth, abs=PART)
    assert found[0].channel_load == pytest.approx(found[1].channel_load, abs=PART)
    assert (found[0].engine, found[1].engine) == ("adaptive routing", "spray")


def test_hashed_groups_are_drawn_and_every_port_alike(tmp_path: Path) -> None:
    fabric = adaptive("xgft:3;2,2,3;1,2,2", tmp_path, "ecmp")
    routes = tables_of(fabric)
    assert (routes.ways, routes.engine) == (Ways.DRAWN, "hashed routing")
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    resolver = make_resolver(fabric, hosts, follows=Ways.DRAWN)
    expected = ways(fabric, 0, fabric.hosts - 1)
    taken = [
        resolver.routes(np.array([0], np.uint32), np.array([fabric.hosts - 1], np.uint32), draw)
        for draw in range(4000)
    ]
    count = np.bincount(np.concatenate(taken).ravel(), minlength=2 * fabric.cables)
    share = count[: 2 * fabric.cables] / 4000
    assert np.flatnonzero(share).tolist() == sorted(expected)
    assert share[sorted(expected)] == pytest.approx(
        [expected[channel] for channel in sorted(expected)], abs=0.03
    )
    with pytest.raises(UsageError, match="routes by hashed routing are drawn anew"):
        make_resolver(fabric, hosts)


def test_tables_with_both_split_and_say_so(tmp_path: Path) -> None:
    text = _written("xgft:2;4,4;1,4", tmp_path).replace("Free", "HBF ", 10)
    fabric = _adopted("xgft:2;4,4;1,4", text, tmp_path)
    assert tables_of(fabric).ways == Ways.SPLIT
    assert fabric.findings[-1].message == (
        "10 entries of the tables choose by a hash (HBF), others by the packet (Free): all split "
        "messages evenly here"
    )


def _written(spec: str, folder: Path) -> str:
    save(contend.load(spec, route="spray"), folder / "net.far")
    return (folder / "net.far").read_text()


def _adopted(spec: str, text: str, folder: Path) -> Fabric:
    (folder / "changed.far").write_text(text)
    bare = contend.load(spec, route="spray").replace(routes=None)
    return adopt(bare, load_tables(str(folder / "changed.far")), "changed.far")


# Two leaves (ports 1 to 4 to hosts, 5 to 8 up) and four spines; LIDs 1 to 4 and 5 to 8.
_SPEC = "xgft:2;4,2;1,4"


@pytest.fixture
def plain(tmp_path: Path) -> str:
    return _written(_SPEC, tmp_path)


def test_ports_with_nothing_plugged_in_are_left_out_and_told(plain: str, tmp_path: Path) -> None:
    fabric = _adopted(_SPEC, plain.replace("5,6,7,8,", "5,6,7,8,40,"), tmp_path)
    assert simulate(fabric, "bisect", samples=9).effective_bandwidth.mean == 1
    report = check(fabric)
    assert report.passed
    told = {each.name: each for each in report.checks}
    assert told["group ports"].summary == "2 ports of groups have nothing plugged in"
    assert told["group ports"].details[0] == (
        f'switch "{fabric.switch_label[0]}" has nothing plugged in at port 40 of its groups'
    )
    # All ports of a group: what is sent there ends.
    fabric = _adopted(_SPEC, plain.replace("5,6,7,8,", "40,41,"), tmp_path)
    with pytest.raises(UsageError, match="sends it to a port with nothing plugged in"):
        simulate(fabric, "bisect")
    report = check(fabric)
    assert not report.passed
    assert (report.routes.delivered, report.routes.undelivered) == (24, 32)
    told = {each.name: each for each in report.checks}
    assert "ports 40, 41, where nothing is plugged in" in told["dead ends"].details[0]


def test_groups_that_lead_to_another_host_or_in_a_circle_are_wrong(
    plain: str, tmp_path: Path
) -> None:
    fabric = _adopted(_SPEC, plain.replace("5,6,7,8,", "1,5,6,7,8,", 1), tmp_path)
    with pytest.raises(UsageError, match="delivers it to another host"):
        simulate(fabric, "bisect")
    told = {each.name: each for each in check(fabric).checks}
    assert told["wrong hosts"].summary == "affects 16 routes in 4 places"
    first = fabric.host_name[int(np.flatnonzero(fabric.host_port == 1)[0])]
    assert f'port 1, where host "{first}" is' in told["wrong hosts"].details[0]
    # A spine that sends up and down: its group holds the ports to both leaves.
    blocks = plain.split("\nSwitch ")
    spine = blocks[3].replace("----\n\n", "----\n1 0 0 1,2,\n\n", 1).replace("Static", "Free 1")
    assert spine.count("Free 1") > 8
    fabric = _adopted(_SPEC, "\nSwitch ".join([*blocks[:3], spine, *blocks[4:]]), tmp_path)
    with pytest.raises(UsageError, match="lies on a loop"):
        simulate(fabric, "bisect")
    told = {each.name: each for each in check(fabric).checks}
    assert told["loops"].status == "wrong"
    assert "is sent in a circle through switch" in told["loops"].details[0]
    assert "leads no nearer to" in told["group ports"].details[0]


def test_lids_that_are_static_among_adaptive_ones_are_told(plain: str, tmp_path: Path) -> None:
    line = "0x0006  6            Free       1"
    assert plain.count(line) == 1
    fabric = _adopted(_SPEC, plain.replace(line, "0x0006  6 Static"), tmp_path)
    told = {each.name: each for each in check(fabric).checks}
    assert told["static entries"].summary == (
        "1 entry at 1 switch is static where others to the same switch are adaptive"
    )
    near, far = (fabric.switch_label[switch] for switch in (0, 1))
    assert told["static entries"].details == (
        f'switch "{near}" sends LID 6 of the 4 on switch "{far}" by one port each',
    )


def test_unequal_groups_are_told(plain: str, tmp_path: Path) -> None:
    fabric = _adopted(_SPEC, plain.replace("5,6,7,8,", "5,6,7,", 1), tmp_path)
    told = {each.name: each for each in check(fabric).checks}
    assert told["equal groups"].status == "ok"
    # Another leaf to compare with.
    spec = "xgft:2;4,3;1,4"
    text = _written(spec, tmp_path).replace("5,6,7,8,", "5,6,7,", 1)
    report = check(_adopted(spec, text, tmp_path))
    told = {each.name: each for each in report.checks}
    names = report.fabric.switch_label
    assert told["equal groups"].status == "warning"
    assert told["equal groups"].details == (
        f'switch "{names[0]}" has 3 ports to "{names[1]}" and 1 other switch, others of its '
        "level 4",
    )


def test_the_hand_made_file_is_judged() -> None:
    """Its leaf2 sends LID 6 by one port, as the group of that entry has none."""
    data = Path(__file__).parents[1] / "data"
    fabric = contend.load(data / "tiny.ibnetdiscover", routes=data / "tiny.far")
    told = {each.name: each for each in check(fabric).checks}
    assert told["static entries"].summary.startswith("1 entry at 1 switch is static")
    assert told["equal groups"].status == "ok"
    assert told["arrival"].summary == "all 20 routes between hosts arrive"
    assert simulate(fabric, "bisect").engine == "adaptive routing"


def test_how_much_is_adaptive(plain: str, tmp_path: Path) -> None:
    fabric = _adopted(_SPEC, plain.replace("Free", "HBF ", 1), tmp_path)
    summary = check(fabric).routes
    assert summary.adaptive is not None
    share = summary.adaptive
    assert (share.switches, share.lids, share.free, share.hashed) == (2, 8, 7, 1)
    # 6 switches have entries for 8 LIDs.
    assert share.static == 6 * 8 - 8
    assert share.group_sizes == {4: 8}
    assert summary.engine == "adaptive routing"
    assert (summary.delivered, summary.hops) == (56, {0: 24, 2: 32})
    # 32 routes over 8 channels up and 8 down.
    assert {item.mean_routes for item in summary.balance} == {4.0}


def test_who_uses_a_channel_is_told_by_the_parts_that_cross_it(tmp_path: Path) -> None:
    fabric = some_static(adaptive("xgft:3;2,2,3;1,2,2", tmp_path))
    shift = parse("shift:5", fabric.hosts)
    found = simulate(fabric, shift, placement="linear", channels=["hottest"])
    users = found.channels[0]
    expected = np.zeros(fabric.hosts)
    for source, target in zip(*(each.tolist() for each in shift.messages()), strict=True):
        expected[source] = ways(fabric, source, target).get(users.channel, 0)
    assert users.sources == pytest.approx(expected, abs=1e-5)
    assert users.sources.sum() == pytest.approx(found.channel_load[users.channel], abs=PART)


def left(fabric: Fabric, cable: int, source: int, target: int) -> dict[int, float] | None:
    """What a message puts on channels after a cable died; None where some way ends.

    Switches leave the dead port out of a group; an empty one is followed by the entry's own port.
    """
    tables, lid = tables_of(fabric), int(fabric.host_lid[target])
    load: dict[int, float] = defaultdict(float)

    def split(switch: int, share: float) -> bool:
        if switch == fabric.host_switch[target]:
            return True
        alive = [
            fabric.core.out(switch, port)
            for port in tables.ports_used(switch, lid)
            if fabric.core.out(switch, port) // 2 != cable
        ]
        if not alive and int(tables.groups.of_entry[switch, lid]):
            own = fabric.core.out(switch, int(tables.ports[switch, lid]))
            alive = [own] if own // 2 != cable else []
        for channel in alive:
            load[channel] += share / len(alive)
            end = (fabric.cable_from if channel % 2 else fabric.cable_to)[channel // 2]
            if not split(int(end), share / len(alive)):
                return False
        return bool(alive)

    return load if split(int(fabric.host_switch[source]), 1.0) else None


@pytest.mark.parametrize("spec", [_SPEC, "xgft:3;2,2,3;1,2,2", "torus:3x4"])
def test_failures_by_tables_as_they_were(spec: str, tmp_path: Path) -> None:
    """Every cable that dies, held to the definition: messages of which a way ends get nothing."""
    fabric = some_static(adaptive(spec, tmp_path))
    whole = simulate(fabric, "bisect", samples=4, seed=5)
    judge = FailureJudge(fabric, whole)
    drawn, hosts = parse("bisect", fabric.hosts), parse_placement("linear", fabric).hosts.tolist()
    cut_any = False
    for cable in range(fabric.cables):
        cost = judge.judge([], [cable])
        cut = sent = 0
        for sample in range(4):
            pairs = [(hosts[a], hosts[b]) for a, b in drawn_pairs(drawn, 0, seed=5, sample=sample)]
            arrive = [pair for pair in pairs if left(fabric, cable, *pair) is not None]
            cut, sent = cut + len(pairs) - len(arrive), sent + len(pairs)

            def by_definition(net: Fabric, a: int, b: int, cable: int = cable) -> dict[int, float]:
                return left(net, cable, a, b) or {}

            shares = 1 / counted(fabric, arrive, by_definition)[1] if arrive else np.zeros(0)
            expected = float(np.sum(shares)) / len(pairs)
            assert cost.after[sample] == pytest.approx(expected, abs=2 * PART)
        assert cost.cut == pytest.approx(cut / sent)
        assert cost.hosts_left == fabric.hosts
        cut_any |= cut > 0
    assert cut_any


def test_a_dead_spine_leaves_all_groups(plain: str, tmp_path: Path) -> None:
    (tmp_path / "it.far").write_text(plain)
    found = [
        contend.load(_SPEC, without=["top 1"], **options)
        for options in ({"routes": tmp_path / "it.far"}, {"route": "spray"})
    ]
    one, other = (simulate(each, "bisect", samples=20, seed=2) for each in found)
    assert one.bandwidth == pytest.approx(other.bandwidth, abs=PART)
    assert one.engine == "adaptive routing"
    assert (
        found[0]
        .findings[-1]
        .message.endswith("tables are as they were: 2 switches leave dead ports out of groups")
    )


def test_an_empty_group_falls_back_to_the_own_port_of_an_entry(plain: str, tmp_path: Path) -> None:
    """Groups of both leaves have ports 5 and 6; both die at one leaf, whose entries' own are 5 to 8
    in turn: half of them still lead on."""
    (tmp_path / "it.far").write_text(plain.replace("5,6,7,8,", "5,6,"))
    names = contend.load(_SPEC).switch_label
    dead = [f"{names[0]}:5", f"{names[0]}:6"]
    fabric = contend.load(_SPEC, routes=tmp_path / "it.far", without=dead)
    tables = tables_of(fabric)
    near, far = (np.flatnonzero(np.array(fabric.host_switch) == leaf).tolist() for leaf in (0, 1))
    own = [int(tables.ports[0, fabric.host_lid[host]]) for host in far]
    used = [tables.ports_used(0, int(fabric.host_lid[host])) for host in far]
    assert used == [[port] if port in (7, 8) else [] for port in own]
    assert sorted(map(len, used)) == [0, 0, 1, 1]
    # The other leaf still sends to both spines, from which nothing leads to the first one.
    assert [tables.ports_used(1, int(fabric.host_lid[host])) for host in near] == [[5, 6]] * 4
    message = fabric.findings[-1].message
    # 4 x 2 from the first leaf to hosts of a dead own port, all 4 x 4 back.
    assert "and 24 routes between hosts do not arrive" in message
    with pytest.raises(UsageError, match="cannot be reached from switch"):
        simulate(fabric, "bisect")


def test_what_failures_of_hashed_groups_cut_off(tmp_path: Path) -> None:
    """A dead cable down from one of four spines: any message to that leaf may be hashed there."""
    fabric = adaptive(_SPEC, tmp_path, "ecmp")
    found = failures(fabric, samples=50)
    assert found.kept
    cables = [one for one in found.alone if one.died[0][0] == "cable"]
    assert len(cables) == fabric.cables
    # 16 of the 56 routes lead to the other hosts of a leaf from the other one.
    assert np.mean([one.cut for one in cables]) == pytest.approx(16 / 56, abs=0.05)
    spines = [one for one in found.alone if one.parts.startswith("top")]
    assert {one.cut for one in spines} == {0.0}
