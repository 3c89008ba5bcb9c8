"""Load and shares of messages that take several ways at once."""

from __future__ import annotations

import numpy as np
import pytest

from contend import _core, simulate
from contend.congestion import DrawnPattern, draw_patterns, message_shares
from contend.congestion.split_messages import split_shares
from contend.fabric import Fabric
from contend.routes import Ways, load, make_resolver


def _messages(fabric: Fabric, *pairs: tuple[int, int]) -> DrawnPattern:
    """Simultaneous messages between hosts."""
    source, target = (np.array(ends, dtype=np.uint32) for ends in zip(*pairs, strict=True))
    return DrawnPattern(
        "given", "linear", 0, 0, np.arange(fabric.hosts, dtype=np.uint32), ((source, target),)
    )


def test_sprayed_messages_share_what_their_parts_leave() -> None:
    """Of three messages up two cables each has 1/2 on both: a load of 3/2, and 2/3 of the rate."""
    fabric = load("xgft:2;4,2;1,2", route="spray")
    told = message_shares(fabric, [_messages(fabric, (0, 4), (1, 5), (2, 6), (3, 3))])
    assert told["congestion"].to_list() == [1.5, 1.5, 1.5, 0]
    assert told["share"].to_list() == pytest.approx([2 / 3] * 3 + [1])
    assert told["fair_share"].to_list() == pytest.approx([2 / 3] * 3 + [1])


def test_what_one_cannot_use_is_left_to_others() -> None:
    """Hosts 0 and 1 both send to host 4 and get half; host 2 gets the rest of two cables, 1."""
    fabric = load("xgft:2;4,2;1,2", route="spray")
    told = message_shares(fabric, [_messages(fabric, (0, 4), (1, 4), (2, 5))])
    assert told["congestion"].to_list() == [2, 2, 1.5]
    assert told["share"].to_list() == pytest.approx([1 / 2, 1 / 2, 2 / 3])
    assert told["fair_share"].to_list() == pytest.approx([1 / 2, 1 / 2, 1])


def test_slow_cables_take_longer_for_their_part() -> None:
    """Half of a message over a cable of a quarter of the rate takes twice as long as all of it."""
    fabric = load("xgft:2;2,2;1,2", route="spray")
    spine = np.maximum(fabric.cable_from, fabric.cable_to)
    slow = fabric.replace(
        rates=("", "4xQDR", "4xSDR"),
        cable_rate=np.where(spine == spine.max(), 2, 1).astype(np.uint16),
        host_rate=np.ones(fabric.hosts, dtype=np.uint16),
    )
    told = message_shares(slow, [_messages(slow, (0, 2))])
    assert told["congestion"].to_list() == [1]
    assert told["share"].to_list() == pytest.approx([1 / 2])
    assert told["fair_share"].to_list() == pytest.approx([1 / 2])


@pytest.mark.parametrize("engine", ["spray", "ecmp,flows=4", "ecmp,flows=3"])
def test_their_mean_is_the_simulations(engine: str) -> None:
    fabric = load("xgft:3;4,2,2;1,2,2", route=engine)
    patterns = list(draw_patterns(fabric, "bisect", placement="linear", seed=3, count=40))
    told = message_shares(fabric, patterns)
    simulated = simulate(fabric, "bisect", placement="linear", seed=3, samples=40)
    assert told["share"].mean() == pytest.approx(simulated.effective_bandwidth.mean, rel=1e-9)
    assert (told["fair_share"] >= told["share"] - 1e-9).all()


def test_flows_are_hashed_one_by_one() -> None:
    """Two flows of one message on two cables: both on one, or one on each."""
    fabric = load("xgft:2;2,2;1,2", route="ecmp,flows=2")
    pattern = _messages(fabric, (0, 2), (1, 3))
    loads = {
        tuple(message_shares(fabric, [pattern], draw=draw)["congestion"].to_list())
        for draw in range(60)
    }
    assert loads == {(1.0, 1.0), (1.5, 1.5), (2.0, 2.0)}


@pytest.mark.parametrize("engine", ["spray", "valiant,by=groups"])
def test_a_whole_round_is_as_its_messages_one_by_one(engine: str) -> None:
    """Routes of which each message knows its parts need no list of them for load and share."""
    fabric = load("dragonfly:2,4,2", route=engine)
    random = np.random.default_rng(3)
    ends = [random.integers(0, fabric.hosts, 90).astype(np.uint32) for _ in range(2)]
    resolver = make_resolver(fabric, np.arange(fabric.hosts, dtype=np.uint32), follows=Ways.SPLIT)
    rates = np.linspace(1, 2, resolver.switch_channels + 2 * fabric.hosts)
    largest, share = _core.split_congestion(resolver, *ends, rates)
    slowly = split_shares(resolver, *ends, rates, 0)
    assert largest == pytest.approx(slowly[0])
    assert share == pytest.approx(slowly[1])
