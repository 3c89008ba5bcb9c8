from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contend.base.errors import UsageError
from contend.fabric import make, remove_cables, remove_switches, with_parallel_links
from contend.routes import ForwardingTables

_COLUMNS = (
    "host_switch",
    "host_port",
    "switch_ports",
    "cable_from",
    "cable_from_port",
    "cable_to",
    "cable_to_port",
)
SOME = st.sampled_from(
    ["fig1", "kary:2,3", "torus:3x3;2", "mesh:2x3", "benes:8", "hyperx:3x3", "rails:2,2,2,2"]
)


@pytest.mark.parametrize("links", [1, 2, 3])
def test_parallel_links_of_a_tree_are_those_of_its_parameters(links: int) -> None:
    fabric = with_parallel_links(make("xgft:3;2,3,2;1,2,3"), links)
    expected = make(f"xgft:3;2,3,2;1,2,3;1,{links},{links}")
    for column in _COLUMNS:
        assert np.array_equal(getattr(fabric, column), getattr(expected, column)), column


@given(SOME, st.integers(1, 5))
@settings(deadline=None, max_examples=50)
def test_parallel_links_multiply_every_cable(spec: str, links: int) -> None:
    fabric = make(spec)
    wide = with_parallel_links(fabric, links)
    assert wide.core.channels == 2 * (fabric.hosts + links * fabric.cables)
    assert wide.host_name == fabric.host_name
    assert np.array_equal(wide.cable_from, np.repeat(fabric.cable_from, links))
    assert np.array_equal(wide.cable_to, np.repeat(fabric.cable_to, links))
    ends = np.bincount(
        np.concatenate([fabric.cable_from, fabric.cable_to]), minlength=fabric.switches
    )
    assert np.array_equal(wide.switch_ports, fabric.switch_ports + (links - 1) * ends)


def test_hosts_above_cables_move_up() -> None:
    """Beneš outputs are on ports 3 and 4, behind two cables: doubled, on 5 and 6."""
    fabric = with_parallel_links(make("benes:4"), 2)
    assert fabric.host_port.tolist() == [1, 2, 1, 2, 5, 6, 5, 6]


@given(SOME, st.floats(0, 100), st.integers(0, 10))
@settings(deadline=None, max_examples=100)
def test_removed_cables_are_told(spec: str, percent: float, seed: int) -> None:
    fabric = make(spec)
    rest = remove_cables(fabric, percent, seed)
    count = round(fabric.cables * percent / 100)
    assert rest.cables == fabric.cables - count
    assert rest.core.hosts == fabric.hosts
    removed = [finding for finding in rest.findings if finding.kind == "removed cable"]
    assert len(removed) == count
    assert not any(finding.wrong for finding in removed)
    whole = {" to ".join(fabric.channel_ends(2 * k)) for k in range(fabric.cables)}
    kept = {" to ".join(rest.channel_ends(2 * k)) for k in range(rest.cables)}
    assert kept == whole - {finding.message for finding in removed}


def test_more_of_the_same_seed_removes_the_same_and_more() -> None:
    fabric = make("chic")
    few, many = (remove_cables(fabric, percent, seed=4) for percent in (2, 5))
    other = remove_cables(fabric, 2, seed=5)
    assert set(few.findings) < set(many.findings)
    assert set(few.findings) != set(other.findings)


def test_removing_one_percent_of_ranger() -> None:
    """1% of 17,760 cables are 178; a removal that favoured some would empty whole switches."""
    fabric = make("ranger")
    rest = remove_cables(fabric, 1, seed=1)
    assert fabric.cables - rest.cables == 178
    ends = np.bincount(np.concatenate([rest.cable_from, rest.cable_to]))
    whole = np.bincount(np.concatenate([fabric.cable_from, fabric.cable_to]))
    assert (whole - ends).max() <= 4


def test_removed_switches_take_their_cables_along() -> None:
    """Half of fig1's two top switches: 4 leaves are left with 2 cables each to the other."""
    fabric = make("fig1")
    rest = remove_switches(fabric, 50, seed=0)
    assert (rest.hosts, rest.switches, rest.cables) == (16, 5, 8)
    (finding,) = rest.findings
    assert finding.kind == "removed switch"
    gone = finding.message.removeprefix('switch "').removesuffix('"')
    assert gone in {"top 1", "top 2"}
    assert {*rest.switch_name, gone} == set(fabric.switch_name)
    assert rest.core.cables == 8
    survivors = [name for name in fabric.switch_name if name != gone]
    lid = dict(zip(fabric.switch_name, fabric.switch_lid.tolist(), strict=True))
    assert rest.switch_lid.tolist() == [lid[name] for name in survivors]


@given(
    SOME.filter(lambda s: s in {"fig1", "kary:2,3", "benes:8", "rails:2,2,2,2"}), st.integers(0, 9)
)
@settings(deadline=None, max_examples=30)
def test_what_is_left_keeps_its_cables(spec: str, seed: int) -> None:
    fabric = make(spec)
    rest = remove_switches(fabric, 40, seed)
    gone = {finding.message for finding in rest.findings}
    expected = {
        fabric.channel_ends(2 * k)
        for k in range(fabric.cables)
        if not any(
            end.startswith(tuple(g + " " for g in gone)) for end in fabric.channel_ends(2 * k)
        )
    }
    assert {rest.channel_ends(2 * k) for k in range(rest.cables)} == expected
    names = [fabric.switch_name[s] for s in fabric.host_switch]
    assert [rest.switch_name[s] for s in rest.host_switch] == names


def test_routes_are_dropped() -> None:
    fabric = make("fig1")
    tables = ForwardingTables(np.zeros((6, 23), dtype=np.uint16))
    routed = fabric.replace(routes=tables)
    assert with_parallel_links(routed, 2).routes is None
    assert remove_cables(routed, 10).routes is None
    assert remove_switches(routed, 50).routes is None


def test_what_cannot_be_done() -> None:
    fabric = make("fig1")
    with pytest.raises(UsageError, match="expected at least 1, got 0"):
        with_parallel_links(fabric, 0)
    with pytest.raises(UsageError, match="expected at most 65534 ports on a switch, got 160000"):
        with_parallel_links(fabric, 20000)
    with pytest.raises(UsageError, match=r"percentage within 0 .. 100, got 101"):
        remove_cables(fabric, 101)
    with pytest.raises(UsageError, match=r"percentage within 0 .. 100, got nan"):
        remove_cables(fabric, float("nan"))
    with pytest.raises(UsageError, match="expected switches without hosts to remove, got none"):
        remove_switches(make("torus:3x3"), 10)
