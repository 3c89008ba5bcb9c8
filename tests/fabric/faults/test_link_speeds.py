"""Links that are slower than their like are told with both ends; older devices in a summary."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from contend.fabric import Check, Fabric, Status, check_soundness, structure
from small_fabrics import fat_tree, torus

RATES = ("", "4xQDR", "4xSDR", "1xQDR", "4xDDR")


def speeds(fabric: Fabric) -> Check:
    return next(check for check in check_soundness(fabric) if check.name == "link speeds")


def tree(cables: dict[int, int] | None = None, hosts: dict[int, int] | None = None) -> Fabric:
    """Three leaves of four hosts, each with two cables to either spine, all 4xQDR but for some."""
    fabric = fat_tree(3, 4, 2, parallel=2)
    return fabric.replace(
        rates=RATES,
        cable_rate=_with(fabric.cable_rate, cables or {}),
        host_rate=_with(fabric.host_rate, hosts or {}),
    )


def _with(rate: NDArray[np.uint16], others: dict[int, int]) -> NDArray[np.uint16]:
    changed = rate.copy()
    for index, value in others.items():
        changed[index] = value
    return changed


def test_one_slow_cable_among_its_like() -> None:
    fabric = tree({3: 2})
    found = speeds(fabric)
    assert found.status is Status.WARNING
    assert found.summary == (
        "1 link is slower than similar ones, with fewer lanes or a lower speed per lane"
    )
    name = fabric.channel_name(6)
    assert found.details == (
        f"{name}: 4xSDR, where similar links run at 4xQDR (slower signalling)",
    )


def test_lanes_and_signalling_of_a_single_cable_between_two_switches() -> None:
    fabric = torus((3, 3), 1)
    found = speeds(fabric.replace(rates=RATES, cable_rate=_with(fabric.cable_rate, {4: 3, 9: 4})))
    assert [text.rpartition(" (")[2] for text in found.details] == [
        "fewer lanes)",
        "slower signalling)",
    ]


def test_an_older_switch_is_told_once() -> None:
    leaf = [cable for cable, leaf in enumerate(tree().cable_from.tolist()) if leaf == 1]
    found = speeds(tree(dict.fromkeys(leaf, 4)))
    assert found.status is Status.OK
    assert found.summary == (
        "no link is slower than similar ones; 4 links of switch "
        '"switch 1" to level 2: 4xDDR, where those of other switches run at 4xQDR'
    )


def test_hosts_of_one_kind_may_all_be_slower() -> None:
    fabric = tree(hosts=dict.fromkeys(range(8, 12), 4))
    names = [f"old {h}" if h >= 8 else f"new {h}" for h in range(12)]
    found = speeds(fabric.replace(host_name=tuple(names)))
    assert found.status is Status.OK
    assert '4 links to hosts called "old #": 4xDDR, where most hosts have 4xQDR' in found.summary
    # One of a kind that has more is a fault.
    found = speeds(tree(hosts={3: 4}))
    assert found.details == (
        'host "host 3" -> switch "switch 0" port 4: 4xDDR, where similar links run at 4xQDR '
        "(slower signalling)",
    )


@pytest.mark.parametrize(
    ("slower", "slowest", "who"),
    [(5, 0, "most hosts have"), (6, 0, "half of the hosts have"), (4, 3, "5 of 12 have")],
)
def test_most_are_more_than_half(slower: int, slowest: int, who: str) -> None:
    rates = {host: 4 if host < slower else 3 for host in range(slower + slowest)}
    names = [f"{'abc'[(h >= slower) + (h >= slower + slowest)]} {h}" for h in range(12)]
    found = speeds(tree(hosts=rates).replace(host_name=tuple(names)))
    assert f'hosts called "a #": 4xDDR, where {who} 4xQDR' in found.summary


def test_unknown_rates_are_compared_with_nothing() -> None:
    found = speeds(tree({0: 0, 5: 0}, {2: 0}))
    assert (found.summary, found.details) == ("the rate of 3 links is unknown", ())


def test_a_cable_from_a_switch_to_itself_is_found_and_counts_for_nothing() -> None:
    fabric = torus((5,), 1)
    ends = [np.append(column, value).astype(column.dtype) for column, value in (
        (fabric.cable_from, 2), (fabric.cable_from_port, 8),
        (fabric.cable_to, 2), (fabric.cable_to_port, 9),
        (fabric.cable_rate, 1),
    )]  # fmt: skip
    names = ("cable_from", "cable_from_port", "cable_to", "cable_to_port", "cable_rate")
    looped = fabric.replace(
        **dict(zip(names, ends, strict=True)),
        switch_ports=np.full(5, 9, dtype=np.uint16),
    )
    cables = check_soundness(looped)[0]
    assert cables.status is Status.WARNING
    assert cables.summary == "1 cable leads from a switch back to itself"
    assert cables.details == ('switch "switch 2" port 8 -> switch "switch 2" port 9',)
    before, after = structure(fabric), structure(looped)
    assert after.levels[0].across == before.levels[0].across
    assert (after.cables, after.parallel_cables) == (before.cables, before.parallel_cables)
