"""Messages by way of a random switch or group, and paths that cross few cables between groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.congestion import PhasedTraffic, judge_seats, simulate
from contend.fabric import Fabric, group_circle
from contend.routes import Ways, compute, make_resolver
from contend.traffic.pattern import parse
from several_ways import PART, by_any_group, by_any_switch, counted, drawn_pairs, sprayed

Definition = Callable[[Fabric, int, int], dict[int, float]]
# Two switches of every group have two cables to each of the other groups.
DRAGONFLY = "dragonfly:1,4,2,4"


def definition(fabric: Fabric, route: str) -> Definition:
    """What routes of an engine put on channels."""
    group = group_circle(fabric)
    if route == "valiant":
        return by_any_switch
    assert group is not None
    return partial(sprayed, group=group) if route.startswith("spray") else by_any_group(group)


@pytest.mark.parametrize("pattern", ["bisect", "shift:3", "uniform", "alltoall"])
@pytest.mark.parametrize(
    ("spec", "route"),
    [
        ("torus:3x4", "valiant"),
        ("xgft:2;2,3;1,2", "valiant"),
        ("hyperx:3x3;2", "valiant"),
        ("random:8,3,2,1", "valiant"),
        (DRAGONFLY, "valiant"),
        (DRAGONFLY, "valiant,by=groups"),
        (DRAGONFLY, "spray,by=groups"),
        ("dragonfly:1,3,1", "valiant,by=groups"),
    ],
)
def test_messages_by_the_definition(spec: str, route: str, pattern: str) -> None:
    fabric = contend.load(spec, route=route)
    drawn = parse(pattern, fabric.hosts)
    found = simulate(fabric, drawn, placement="linear", samples=2, seed=7)
    ways = definition(fabric, route)
    shares, loads = [], np.zeros(2 * fabric.cables)
    for sample in range(found.samples):
        load, pi = counted(fabric, drawn_pairs(drawn, 0, seed=7, sample=sample), ways)
        shares.append(np.mean(1 / pi))
        loads += load / found.samples
    assert found.bandwidth == pytest.approx(shares, abs=2 * PART)
    assert found.channel_load[: 2 * fabric.cables] == pytest.approx(loads, abs=PART)


@pytest.mark.parametrize(
    ("spec", "route"),
    [("torus:3x4", "valiant"), (DRAGONFLY, "valiant,by=groups"), (DRAGONFLY, "spray,by=groups")],
)
def test_parts_of_messages_by_the_definition(spec: str, route: str) -> None:
    """By pair and channel, and summed by host where somebody asks who uses a channel."""
    fabric = contend.load(spec, route=route)
    ways = definition(fabric, route)
    resolver = make_resolver(fabric, np.arange(fabric.hosts, dtype=np.uint32), follows=Ways.SPLIT)
    source, target = parse("shift:5", fabric.hosts).messages(0)
    channels, part = resolver.parts(source, target)
    users = simulate(fabric, "shift:5", placement="linear", channels=range(9)).channels
    expected = np.zeros((fabric.hosts, 2 * fabric.cables + 1))
    for message, pair in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        for channel, share in ways(fabric, *pair).items():
            expected[message, channel] = share
        row = np.bincount(channels[message], part[message], minlength=2 * fabric.cables + 1)
        assert row == pytest.approx(expected[message])
    for user in users:
        assert user.sources == pytest.approx(expected[:, user.channel], abs=1e-4)


def test_a_job_s_packets_go_by_way_of_switches_outside() -> None:
    """Two hosts of a ring of six send to each other over all of it."""
    fabric = contend.load("ring:6", route="valiant")
    found = simulate(fabric, "shift:1", hosts=["host 1", "host 2"], placement="linear")
    load, _ = counted(fabric, [(0, 1), (1, 0)], by_any_switch)
    assert np.count_nonzero(load) == 12
    assert found.channel_load[:12] == pytest.approx(load, abs=PART)


def test_switches_that_cannot_be_reached_are_no_stops() -> None:
    """Where two cables of a ring die, messages turn in what hangs together with their hosts."""
    fabric = contend.load("ring:6;2", route="valiant")
    hosts = np.arange(4, 12, dtype=np.uint32)
    rest = contend._core.remains(fabric.core, [], [1, 5])
    after = fabric.routes.found_anew(fabric, hosts, rest)
    # From the first to the second switch of a line of four, whose cables are 2, 3 and 4.
    channels, part = after.parts(np.array([0], np.uint32), np.array([2], np.uint32))
    found = dict(zip(channels[0].tolist(), part[0].tolist(), strict=True))
    assert found == pytest.approx({4: 1, 6: 1 / 2, 7: 1 / 2, 8: 1 / 4, 9: 1 / 4})


def test_failures_are_judged_by_the_switches_that_are_left() -> None:
    """As if the fabric had been built without the cable."""
    fabric = contend.load("torus:3x3;2")
    group = np.zeros(0, dtype=np.uint32)
    hosts = np.arange(18, dtype=np.uint32)
    rest = contend._core.remains(fabric.core, [], [0])
    kept = np.arange(1, fabric.cables)
    without = contend.load("torus:3x3;2", without=[_end_of_first_cable(fabric)], route="valiant")
    found = contend._core.valiant_resolver(fabric.core, hosts, rest, group)
    built = make_resolver(without, hosts, follows=Ways.SPLIT)
    source, target = parse("shift:5", 18).messages(0)
    for (one, share), (other, same) in zip(
        zip(*found.parts(source, target), strict=True),
        zip(*built.parts(source, target), strict=True),
        strict=True,
    ):
        whole = np.bincount(one, share, minlength=2 * fabric.cables + 1)[:-1]
        less = np.bincount(other, same, minlength=2 * len(kept) + 1)[:-1]
        assert whole[:2].tolist() == [0, 0]
        assert whole[2:] == pytest.approx(less)


def _end_of_first_cable(fabric: Fabric) -> str:
    switch, port = int(fabric.cable_from[0]), int(fabric.cable_from_port[0])
    return f"{fabric.switch_label[switch]}:{port}"


@pytest.mark.parametrize("engine", ["valiant,by=groups", "spray,by=groups"])
def test_fabrics_without_groups_are_refused(engine: str) -> None:
    with pytest.raises(UsageError, match="ring:6 has no groups of switches"):
        compute(contend.load("ring:6"), engine)


def test_seats_are_refused_since_all_load_alike() -> None:
    fabric = contend.load("torus:3x4", route="valiant")
    zero = np.zeros(1, dtype=np.uint32)
    traffic = PhasedTraffic(2, 1, zero, zero, zero + 1, np.ones(1))
    with pytest.raises(UsageError, match="valiant go over the whole fabric wherever ranks are"):
        judge_seats(fabric, traffic, [0, 1])
    with pytest.raises(UsageError, match="valiant go over the whole fabric wherever ranks are"):
        contend.place("ring", fabric)
