"""Ranks over hosts: the sum of a host's ranks never exceeds its slots, and order is kept."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import UsageError
from contend.lab.mpi import HostRanks, share_out
from contend.lab.mpi.hosts import is_local


def test_hosts_fill_in_order() -> None:
    slots = [("a", 2), ("b", None), ("a", 1), ("c", 4)]
    assert share_out(slots, 6, None) == (HostRanks("a", 3), HostRanks("b", 1), HostRanks("c", 2))
    assert share_out(slots, 3, None) == (HostRanks("a", 3),)


def test_ranks_per_host_take_the_place_of_slots() -> None:
    slots = [("a", 2), ("b", None), ("c", 4)]
    assert share_out(slots, 5, 2) == (HostRanks("a", 2), HostRanks("b", 2), HostRanks("c", 1))


def test_too_many_ranks_are_refused() -> None:
    with pytest.raises(UsageError, match="3 hosts can hold 6 ranks, not 7"):
        share_out([("a", 2), ("b", None), ("c", 3)], 7, None)
    with pytest.raises(UsageError, match="at least 1 rank"):
        share_out([("a", 2)], 0, None)


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 9)), min_size=1),
    st.integers(1, 40),
    st.none() | st.integers(1, 9),
)
def test_all_ranks_have_a_place_or_none(
    slots: list[tuple[str, int]], ranks: int, each: int | None
) -> None:
    room = {
        name: each or sum(count for other, count in slots if other == name) for name, _ in slots
    }
    if sum(room.values()) < ranks:
        with pytest.raises(UsageError):
            share_out(slots, ranks, each)
        return
    shared = share_out(slots, ranks, each)
    assert sum(host.ranks for host in shared) == ranks
    assert all(1 <= host.ranks <= room[host.name] for host in shared)
    assert [host.name for host in shared] == list(room)[: len(shared)]


def test_this_machine_has_several_names() -> None:
    assert is_local([HostRanks("localhost", 1), HostRanks(socket.gethostname(), 2)])
    assert not is_local([HostRanks("localhost", 1), HostRanks("node1.invalid", 2)])


@pytest.mark.parametrize(
    "name",
    [
        "-oProxyCommand=touch /tmp/x",
        "",
        "node 1",
        "node1\nnode2",
        "a,b",
        "a;b",
        "$(id)",
        "a/b",
        "#a",
    ],
)
def test_what_is_no_host_name_reaches_no_launcher(name: str) -> None:
    with pytest.raises(UsageError, match="expected a host's name of letters, digits, dots"):
        share_out([(name, 1)], 1, None)


@pytest.mark.parametrize(
    "name", ["node01", "n-1.example.org", "user@node_1", "10.0.0.1", "::1", "fe80::1%eth0", "[::1]"]
)
def test_names_and_addresses_of_hosts_pass(name: str) -> None:
    assert share_out([(name, 1)], 1, None) == (HostRanks(name, 1),)
