"""Patterns from arrays and composed ones: their messages, and arrays that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.traffic.pattern import Pattern, parse


def messages(pattern: Pattern) -> list[list[tuple[int, int]]]:
    rounds = (pattern.messages(number) for number in range(pattern.rounds))
    return [[(int(s), int(t)) for s, t in zip(*ends, strict=True)] for ends in rounds]


def test_destinations_of_one_round() -> None:
    pattern = Pattern.from_destinations([1, 2, 0, -1, 4])
    assert messages(pattern) == [[(0, 1), (1, 2), (2, 0)]]
    assert (pattern.ranks, pattern.rounds, pattern.random) == (5, 1, False)


def test_destinations_of_several_rounds() -> None:
    """Row by row; a silent round stays a round."""
    table = np.array([[1, 0, -1], [-1, -1, -1], [2, 2, 2]])
    assert messages(Pattern.from_destinations(table)) == [[(0, 1), (1, 0)], [], [(0, 2), (1, 2)]]


@pytest.mark.parametrize(
    "name", ["shift:3", "shifts", "ring", "tornado", "transpose", "bit-reversal", "dissemination"]
)
def test_destinations_of_a_pattern_are_that_pattern(name: str) -> None:
    known = parse(name, 16)
    table = np.full((known.rounds, 16), -1)
    for number in range(known.rounds):
        source, target = known.messages(number)
        table[number, source] = target
    assert messages(Pattern.from_destinations(table)) == messages(known)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ([0, 1, 3], r"expected ranks 0 \.\. 2, or -1 where a rank is silent, got 0 \.\. 3"),
        ([0, -2, 1], r"got -2 \.\. 1"),
        ([], "shape"),
        (5, "shape"),
        (np.zeros((2, 2, 2), dtype=int), "shape"),
        (np.zeros((0, 4), dtype=int), "shape"),
        ([0.5, 1.0], "whole numbers, got float64"),
        (["a", "b"], "whole numbers"),
        ([True, False], "whole numbers, got bool"),
    ],
)
def test_arrays_that_are_no_destinations(table: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as caught:
        Pattern.from_destinations(table)
    assert str(caught.value).startswith("destinations: ")


def test_matrix_of_bytes() -> None:
    pattern = Pattern.from_matrix([[0, 5, 0], [0, 0, 7], [0.5, 0, 0]])
    assert messages(pattern) == [[(0, 1), (1, 2), (2, 0)]]
    assert pattern.core.messages(0, 1, 0)[2].tolist() == [5, 7, 1]


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        (np.ones((2, 3)), "square matrix"),
        (np.ones(4), "square matrix"),
        (np.zeros((3, 3)), "at least one message, got none"),
        ([[0, -1], [0, 0]], r"from 0 to 2\^53"),
        ([[0, np.nan], [0, 0]], r"from 0 to 2\^53"),
        ([["a", "b"], ["c", "d"]], "matrix of numbers"),
    ],
)
def test_arrays_that_are_no_matrix(matrix: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Pattern.from_matrix(matrix)


def test_messages_of_any_rounds() -> None:
    pattern = Pattern.from_messages([([0, 1], [1, 0]), ([], []), ([3], [2])], ranks=4)
    assert messages(pattern) == [[(0, 1), (1, 0)], [], [(3, 2)]]


@pytest.mark.parametrize(
    ("rounds", "complaint"),
    [
        ([], "for every round"),
        ([([0, 1], [1])], "as many targets"),
        ([([0], [-1])], "negative"),
        ([([0], [4])], "ranks below 4"),
        ([([0.5], [1])], "whole numbers"),
    ],
)
def test_arrays_that_are_no_messages(rounds: Any, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Pattern.from_messages(rounds, ranks=4)


def test_two_at_once_are_the_specification_of_both() -> None:
    both = parse("ring", 4) & parse("tornado", 4)
    assert messages(both) == messages(parse("ring & tornado", 8))
    assert both.name == "ring & tornado"


def test_one_after_the_other() -> None:
    first, second = parse("ring", 8), parse("shifts", 8)
    assert messages(first.then(second)) == messages(first) + messages(second)


def test_what_cannot_be_composed() -> None:
    weighted = Pattern.from_matrix([[0, 5], [7, 0]])
    with pytest.raises(UsageError, match="without bytes"):
        parse("ring", 2) & weighted
    with pytest.raises(UsageError, match="neither random nor weighted"):
        parse("ring", 2).then(weighted)
    with pytest.raises(UsageError, match="neither random nor weighted"):
        parse("bisect", 4).then(parse("ring", 4))
    with pytest.raises(UsageError, match="as many ranks in both, got 4 and 5"):
        parse("ring", 4).then(parse("ring", 5))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (Pattern.from_destinations([-1]), "<Pattern destinations: 1 rank, 1 round>"),
        (parse("tree", 8), "<Pattern tree: 8 ranks, 3 rounds>"),
        (parse("bisect", 8), "<Pattern bisect: 8 ranks, 1 round, drawn anew for every sample>"),
    ],
)
def test_representation(pattern: Pattern, text: str) -> None:
    assert repr(pattern) == text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("bisekt", "bisect"), ("alltoal", "alltoall"), ("neighbor:6", "neighbour"), ("tre", "tree")],
)
def test_a_mistyped_pattern_is_told_its_nearest_name(typed: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{meant}'") as caught:
        parse(typed, 8)
    assert "\n" not in str(caught.value)


def test_an_all_to_all_is_scaled_by_what_every_link_carries() -> None:
    assert parse("alltoall", 16).scale == 15
    assert parse("alltoall", 2).scale == 1
    assert parse("ring", 16).scale == 1
