"""Least times of messages, against loads that are counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

import contend
from contend.base.errors import UsageError
from contend.explanation import Bound, KnownNetwork, Limit, least_times, seat

WIRE = 1e6


def alltoall(network: KnownNetwork, size: int) -> dict[Limit, Bound]:
    return {bound.limit: bound for bound in least_times(network, *network.pairs, size)}


def hosts_of(fabric: contend.LoadedFabric, each: int = 1) -> list[str]:
    return [name for name in fabric.host_name for _ in range(each)]


@pytest.mark.parametrize(("each", "messages"), [(1, 7), (2, 2 * 14), (4, 4 * 28)])
def test_a_port_carries_what_leaves_its_host(each: int, messages: int) -> None:
    # k (p - k) messages of k of p ranks.
    names = [f"n{rank // each}" for rank in range(8 * each)]
    bounds = alltoall(seat(names, WIRE, None), 1000)
    assert bounds[Limit.PORT].seconds == pytest.approx(messages * 1000 / WIRE)
    assert Limit.FABRIC not in bounds


def test_the_fullest_port_counts() -> None:
    # Three ranks on a send 3 · 1 messages; the one on b sends and gets three.
    bounds = alltoall(seat(["a", "a", "a", "b"], WIRE, None), 1000)
    assert bounds[Limit.PORT].seconds == pytest.approx(3 * 1000 / WIRE)


@pytest.mark.parametrize(("spines", "load"), [(1, 48), (2, 24), (3, 24), (4, 12)])
def test_channels_of_a_tree(spines: int, load: int) -> None:
    # Four hosts of a leaf send to twelve others, over as many cables as there are spines. Of three
    # cables down to a leaf one carries what two of its hosts receive.
    fabric = contend.load(f"xgft:2;4,4;1,{spines}", route="dmodk")
    bounds = alltoall(seat(hosts_of(fabric), WIRE, fabric), 1000)
    assert bounds[Limit.PORT].seconds == pytest.approx(15 * 1000 / WIRE)
    assert bounds[Limit.FABRIC].load == load
    assert bounds[Limit.FABRIC].seconds == pytest.approx(load * 1000 / WIRE)
    assert all('switch "leaf' in name for name in bounds[Limit.FABRIC].channels)


def test_a_given_fabric_s_slower_cables_count_by_their_rates() -> None:
    fabric = contend.load("xgft:2;4,4;1,4", route="dmodk")
    slow = fabric.replace(
        rates=("", "4xHDR", "4xQDR"), cable_rate=np.full(fabric.cables, 2, dtype=np.uint16)
    )
    # QDR carries 32 Gbit/s after coding, HDR 200: messages take 6.25 times as long.
    bounds = alltoall(seat(hosts_of(fabric), WIRE, slow), 1000)
    assert bounds[Limit.FABRIC].seconds == pytest.approx(12 * 6.25 * 1000 / WIRE)


def test_ranks_of_a_host_do_not_load_the_fabric() -> None:
    fabric = contend.load("xgft:2;4,4;1,1", route="dmodk")
    near = seat([fabric.host_name[0]] * 4, WIRE, fabric)
    assert alltoall(near, 1000) == {}


def test_hosts_go_by_their_names_and_those_of_an_emulation() -> None:
    fabric = contend.load("fig1")
    by_name = seat(["1", "9"], WIRE, fabric)
    emulated = seat(["host-1", "host-9"], WIRE, fabric)
    assert by_name.numbers.tolist() == emulated.numbers.tolist() == [0, 8]
    with pytest.raises(UsageError, match="no host 'n17' of the run"):
        seat(["n17"], WIRE, fabric)


def test_nothing_is_bound_without_a_wire() -> None:
    assert alltoall(seat(["a", "b"], None, None), 1000) == {}
