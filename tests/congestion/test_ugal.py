"""Packets that take a shortest path or a detour, by load: an equilibrium, and what it reaches."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

import contend
from contend.base.errors import UsageError
from contend.congestion import fair_share, simulate
from contend.fabric import Fabric, group_circle
from contend.routes import save
from contend.traffic.pattern import parse
from several_ways import by_any_group, by_any_switch, drawn_pairs, sprayed

POWER = 32


def ways(fabric: Fabric, pairs: list[tuple[int, int]], route: str) -> list[NDArray[np.float64]]:
    """What messages put on channels straight, and around; each of shape [messages, channels]."""
    straight, around = partial(sprayed), by_any_switch
    if route.endswith("by=groups"):
        group = group_circle(fabric)
        assert group is not None
        straight, around = partial(sprayed, group=group), by_any_group(group)
    both = []
    for each in (straight, around):
        load = np.zeros((len(pairs), 2 * fabric.cables))
        for message, pair in enumerate(pairs):
            for channel, share in each(fabric, *pair).items():
                load[message, channel] = share
        both.append(load)
    return both


def cost(load: NDArray[np.float64], power: int = POWER) -> float:
    """What is least at the equilibrium."""
    return float((load + load**power / power).sum())


def slow(fabric: Fabric, cables: list[int]) -> Fabric:
    """With some cables of a quarter of the others' rate."""
    rates = np.ones(fabric.cables, dtype=np.uint16)
    rates[cables] = 2
    host = np.ones(fabric.hosts, dtype=np.uint16)
    return fabric.replace(rates=("", "4xHDR", "1xHDR"), cable_rate=rates, host_rate=host)


@pytest.mark.parametrize(
    ("spec", "route", "pattern"),
    [
        ("dragonfly:2,4,2", "ugal,by=groups", "shift:8"),
        ("dragonfly:2,4,2", "ugal,by=groups", "permutation"),
        ("torus:4x4;2", "ugal", "bisect"),
        ("ring:7;2", "ugal", "permutation"),
        ("random:8,3,2,1", "ugal", "permutation"),
        ("slow ring:5;3", "ugal", "shift:3"),
    ],
)
def test_messages_split_as_at_the_equilibrium(spec: str, route: str, pattern: str) -> None:
    """By a solver of any convex problem, and the fullest channel beside the least of all splits."""
    fabric: Fabric = contend.load(spec.removeprefix("slow "), route=route)
    seconds = np.ones(2 * fabric.cables)
    if spec.startswith("slow "):
        fabric = slow(fabric, [1])
        seconds[2:4] = 4
    drawn = parse(pattern, fabric.hosts)
    found = simulate(fabric, drawn, placement="linear", samples=1, seed=3)
    load = found.channel_load[: 2 * fabric.cables] * seconds
    straight, around = ways(fabric, drawn_pairs(drawn, 0, seed=3, sample=0), route)
    base, change = straight.sum(axis=0) * seconds, (around - straight) * seconds

    def value(part: NDArray[np.float64], power: int) -> tuple[float, NDArray[np.float64]]:
        put = np.maximum(base + part @ change, 0)
        return cost(put, power), change @ (1 + put ** (power - 1))

    bounds = [(0.0, 1.0)] * len(change)
    part = np.full(len(change), 0.5)
    for power in (4, 8, 16, POWER):
        best = minimize(
            value, part, power, "L-BFGS-B", jac=True, bounds=bounds, options={"ftol": 1e-12}
        )
        part = best.x
    least, met = best.fun, float((load * (1 + load ** (POWER - 1))).sum())
    # Loads are told in parts of 1/1024 of a message, which the power makes 3 % of it.
    assert 0.96 * least <= cost(load) <= 1.04 * (least + 0.005 * met)
    exact = linprog(
        np.append(np.zeros(len(change)), 1),
        A_ub=np.column_stack([change.T, -np.ones(len(base))]),
        b_ub=-base,
        bounds=[*bounds, (0, None)],
    )
    assert exact.fun - 2e-3 <= load.max() <= max(1.0, exact.fun) * 1.07


@pytest.mark.parametrize(
    ("spec", "by", "pattern"),
    [
        ("dragonfly:2,4,2", ",by=groups", "alltoall"),
        ("torus:5x5", "", "shift:1"),
        ("xgft:2;4,4;1,4", "", "shift:4"),
    ],
)
def test_nobody_goes_around_where_no_queue_is_in_the_way(spec: str, by: str, pattern: str) -> None:
    """Balanced traffic on shortest paths meets what it would meet sprayed over these."""
    ugal, spray = (
        simulate(contend.load(spec, route=f"{name}{by}"), pattern, placement="linear", samples=1)
        for name in ("ugal", "spray")
    )
    assert ugal.channel_load == pytest.approx(spray.channel_load, rel=0.02, abs=2e-3)
    assert ugal.bandwidth == pytest.approx(spray.bandwidth, rel=1e-3)


def test_messages_meet_only_channels_of_the_ways_that_they_take() -> None:
    """On a ring of 9, six hosts of a switch send to the next; one elsewhere sends straight."""
    fabric = contend.load("ring:9;6", route="ugal")
    rounds = [(np.array([0, 1, 2, 3, 4, 5, 30]), np.array([6, 7, 8, 9, 10, 11, 24]))]
    found = simulate(
        fabric, contend.Pattern.from_messages(rounds, fabric.hosts), placement="linear", samples=1
    )
    load = found.channel_load[: 2 * fabric.cables]
    # The six share the fullest channel; the seventh's goes the other way round.
    assert load.max() > 1.5
    six, one = float(load.max()), max(1.0, float(load[9]))
    assert one < 2
    assert found.bandwidth == pytest.approx([(6 / six + 1 / one) / 7], rel=2e-3)


def test_failures_are_judged_on_what_is_left() -> None:
    """A ring without a cable is a line: what went over it goes over all of the line."""
    fabric = contend.load("ring:6;2", route="ugal")
    rest = contend._core.remains(fabric.core, [], [0])
    after = fabric.routes.found_anew(fabric, np.arange(12, dtype=np.uint32), rest)
    assert after is not None
    seats = np.arange(12, dtype=np.uint32)
    shift = parse("shift:2", 12).core
    found = contend._core.simulate(
        after,
        shift,
        contend._core.Seating(seats, 1, False),
        contend._core.Samples(1, 0, 1, False),
        1,
        np.zeros(0),
    )
    assert found["channel_messages"][:2].tolist() == [0, 0]
    assert (found["channel_messages"][2:12] > 0).all()


def test_what_looks_at_messages_by_themselves_says_so(tmp_path: Path) -> None:
    fabric = contend.load("torus:3x4", route="ugal")
    with pytest.raises(UsageError, match="ugal split each message depending on all the"):
        simulate(fabric, "shift:3", placement="linear", channels=[0])
    with pytest.raises(UsageError, match="ugal go over the whole fabric wherever ranks are"):
        contend.place("ring", fabric)
    with pytest.raises(UsageError, match=r"routes by ugal s(end every|plit each) message"):
        fair_share(fabric, [0, 1], [4, 5])
    with pytest.raises(UsageError, match="no file says that routes are those of ugal"):
        save(fabric, tmp_path / "net.far", "far")
