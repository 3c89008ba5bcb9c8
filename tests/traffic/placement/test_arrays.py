"""Placements from arrays of hosts: by number, by name, rails dealt in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contend.base.errors import ContendError, InputError, UsageError
from contend.fabric import Fabric
from contend.traffic.placement import Placement, parse


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        ([3, 3, 0], [3, 3, 0]),
        (np.array([5, 4], dtype=np.uint8), [5, 4]),
        (range(6), [0, 1, 2, 3, 4, 5]),
        (["n10 a", "n1 b"], [4, 1]),
        # Rank i of n of a server sits on rail i * k // n, as in a host file.
        (["n1"], [0]),
        (["n1", "n1"], [0, 1]),
        (["n2", "n1", "n2", "n2", "n2"], [2, 0, 2, 3, 3]),
        (np.array(["n2 a", "n2 b"]), [2, 3]),
    ],
)
def test_hosts_of_ranks(fabric: Fabric, hosts: Any, expected: list[int]) -> None:
    placed = Placement.from_hosts(fabric, hosts)
    assert placed.host_of_rank.tolist() == expected
    assert not placed.random


@pytest.mark.parametrize(
    ("hosts", "error", "complaint"),
    [
        ([], UsageError, r"one host per rank, got shape \(0,\)"),
        ([[0, 1]], UsageError, r"shape \(1, 2\)"),
        ([0, 6], UsageError, r"hosts 0 \.\. 5 of rails, got 0 \.\. 6"),
        ([-1], UsageError, r"got -1 \.\. -1"),
        ([0.5], UsageError, "numbers or names of hosts, got float64"),
        (["n1", "n3"], InputError, 'a host of rails, got "n3"'),
    ],
)
def test_arrays_that_are_no_hosts(
    fabric: Fabric, hosts: Any, error: type[ContendError], complaint: str
) -> None:
    with pytest.raises(error, match=complaint) as caught:
        Placement.from_hosts(fabric, hosts)
    assert str(caught.value).startswith("placement: ")


@pytest.mark.parametrize("hosts", [3, "3", [0, 1, 2], ["n1", "n1", "n2 a"], np.array([2, 1, 0])])
def test_a_choice_by_number_and_name(fabric: Fabric, hosts: Any) -> None:
    assert parse("linear", fabric, hosts=hosts).hosts.tolist() == [0, 1, 2]


@pytest.mark.parametrize("hosts", [0, 7, -2, [6], ["nobody"]])
def test_choices_that_are_none(fabric: Fabric, hosts: Any) -> None:
    with pytest.raises(ContendError, match="hosts: expected"):
        parse("linear", fabric, hosts=hosts)


def test_representation(fabric: Fabric) -> None:
    assert repr(parse("linear", fabric, ranks_per_host=2)) == (
        "<Placement linear: hosts 0, 1, 2, 3, ... with 2 ranks each, in rank order>"
    )
    assert repr(parse("random", fabric, hosts=2)) == (
        "<Placement random: hosts 0, 1, shuffled for every sample>"
    )


@pytest.mark.parametrize(
    ("typed", "meant"), [("liner", "linear"), ("leafs:2", "leaves"), ("portgroup:3", "port-group")]
)
def test_a_mistyped_placement_is_told_its_nearest_name(
    fabric: Fabric, typed: str, meant: str
) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{meant}'"):
        parse(typed, fabric)
