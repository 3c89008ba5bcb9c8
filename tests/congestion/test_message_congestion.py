"""The congestion of given messages, against the figure of 2008 and against plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from contend.base.errors import UsageError
from contend.congestion import channel_bytes, message_congestion
from contend.fabric import Fabric
from contend.routes import load
from counting import congestion, messages_on

# Pairs of the 16-node figure, which counts nodes from 1 (Hoefler et al. 2008, figure 1).
CONGESTED = [(1, 5), (2, 9), (3, 13), (4, 6), (7, 8), (10, 11), (12, 14), (15, 16)]
FREE = [(1, 5), (2, 6), (3, 7), (4, 8), (9, 13), (10, 14), (11, 15), (12, 16)]


@pytest.fixture(scope="module")
def figure() -> Fabric:
    return load("fig1", route="fig1")


@pytest.mark.parametrize("engine", ["fig1", "dmodk"])
@pytest.mark.parametrize(
    ("pairs", "expected"), [(CONGESTED, [3, 3, 3, 1, 1, 1, 1, 1]), (FREE, [1] * 8)]
)
def test_figure_of_sixteen_nodes(
    engine: str, pairs: list[tuple[int, int]], expected: list[int]
) -> None:
    source, target = (np.array(pairs) - 1).T
    found = message_congestion(load("fig1", route=engine), source, target)
    assert found.congestion.tolist() == expected
    assert found.bandwidth.tolist() == pytest.approx([1 / pi for pi in expected])


def test_channels_are_those_of_the_fabric(figure: Fabric) -> None:
    """Host 0 to host 1, on one leaf: one injection and one ejection, no channel between."""
    found = message_congestion(figure, [0], [1])
    used = np.flatnonzero(found.channel_messages)
    between = 2 * figure.cables
    assert used.tolist() == [between, between + figure.hosts + 1]


def test_message_to_oneself_uses_nothing(figure: Fabric) -> None:
    found = message_congestion(figure, [3, 3], [3, 2])
    assert found.congestion.tolist() == [0, 1]
    assert found.bandwidth.tolist() == [1.0, 1.0]
    assert found.channel_messages.sum() == 2


def test_no_messages(figure: Fabric) -> None:
    found = message_congestion(figure, [], [])
    assert len(found.congestion) == 0
    assert not found.channel_messages.any()


@given(messages_on())
@settings(max_examples=60, deadline=None)
def test_same_as_counting_plainly(case: tuple[Fabric, list[tuple[int, int]]]) -> None:
    fabric, messages = case
    source, target = [s for s, _ in messages], [t for _, t in messages]
    assert message_congestion(fabric, source, target).congestion.tolist() == congestion(
        fabric, messages
    )


def test_bytes_of_channels_are_those_of_as_many_messages(figure: Fabric) -> None:
    """A message of n bytes loads every channel of its route as n messages do."""
    size = np.random.default_rng(5).integers(0, 300, (16, 16))
    source, target = np.nonzero(size)
    each = size[source, target]
    through = channel_bytes(figure, source, target, each)
    single = message_congestion(figure, source.repeat(each), target.repeat(each))
    assert np.array_equal(through, single.channel_messages)
    assert channel_bytes(figure, [0], [5], [2**50 + 1]).max() == 2**50 + 1
    assert not channel_bytes(figure, [], [], []).any()
    with pytest.raises(UsageError, match="expected as many targets"):
        channel_bytes(figure, [0, 1], [2, 3], [1])
