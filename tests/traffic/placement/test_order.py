"""Orders of hosts on a two-level tree whose names, GUIDs and ports disagree."""

from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import Fabric
from contend.fabric.fabric import build
from contend.traffic.placement import by_name, parse
from contend.traffic.placement.order import ORDERS, by_guid, by_server, round_robin
from small_fabrics import Plan


def chain(names: list[str], host_switch: list[int], switches: int) -> Fabric:
    """Switches in a row, each cabled to the next by port 9 (up) and port 10 (down)."""
    cables = [[s, 9, s + 1, 10] for s in range(switches - 1)]
    return build(
        "chain",
        host_name=names,
        host_switch=np.array(host_switch),
        host_port=np.arange(1, len(names) + 1),
        switch_name=[f"s{s}" for s in range(switches)],
        switch_ports=10,
        cables=np.array(cables),
    )


def names_in(fabric: Fabric, order: str) -> list[str]:
    return [fabric.host_name[h] for h in ORDERS[order](fabric)]


def test_linear_counts_numbers_as_numbers() -> None:
    fabric = chain(["n10", "n9", "n1", "m2", "n09"], [0] * 5, 2)
    assert names_in(fabric, "linear") == ["m2", "n1", "n09", "n9", "n10"]


@pytest.mark.parametrize("stem", ["host ", "", "a1b", "1"])
def test_names_that_count_up_stay_in_their_order(stem: str) -> None:
    names = [f"{stem}{number}" for number in range(1, 13)]
    assert names_in(chain(names, [0] * 12, 2), "linear") == names
    assert names_in(chain([*names[:10], names[11]], [0] * 11, 2), "linear")[10] == names[11]
    assert names_in(chain(names[::-1], [0] * 12, 2), "linear") == names


def test_equal_names_go_by_guid_then_port() -> None:
    fabric = chain(["x", "x", "x"], [0] * 3, 2)
    fabric = fabric.replace(
        host_guid=np.array([7, 5, 5], dtype=np.uint64),
        host_adapter_port=np.array([1, 2, 1], dtype=np.uint16),
    )
    assert by_name(fabric).tolist() == [2, 1, 0]
    assert by_guid(fabric).tolist() == [2, 1, 0]


def test_guid_ignores_names() -> None:
    fabric = chain(["a", "b", "c"], [0] * 3, 2)
    fabric = fabric.replace(host_guid=np.array([30, 10, 20], dtype=np.uint64))
    assert by_guid(fabric).tolist() == [1, 2, 0]


def test_breadth_first_starts_at_the_leaf_of_the_first_host() -> None:
    # Row of switches 0-1-2-3; the first host by name is on switch 2. Port 9 of switch 2 leads to
    # 3, port 10 to 1, so the walk is 2, 3, 1, 0.
    fabric = chain(["d", "c", "a", "b"], [0, 1, 2, 3], 4)
    assert names_in(fabric, "bfs") == ["a", "b", "c", "d"]


def test_breadth_first_reaches_separate_parts() -> None:
    fabric = Plan(2).build("apart", hosts_on=[1, 0])
    assert names_in(fabric, "bfs") == ["host 0", "host 1"]


def test_round_robin_takes_one_host_of_every_leaf_in_turn() -> None:
    fabric = chain(["a1", "a2", "a3", "b1", "c1", "c2"], [0, 0, 0, 1, 2, 2], 3)
    order = [fabric.host_name[h] for h in round_robin(fabric)]
    assert order == ["a1", "b1", "c1", "a2", "c2", "a3"]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_has_every_host_once(order: str) -> None:
    generator = np.random.default_rng(3)
    names = [f"n{i}" for i in generator.permutation(40)]
    fabric = chain(names, generator.integers(0, 6, 40).tolist(), 6)
    assert sorted(ORDERS[order](fabric).tolist()) == list(range(40))


def test_servers_one_by_one_their_adapters_by_rail() -> None:
    """Two servers of two rails, named so that names alone would not sort them; one has a third."""
    names = ["b mlx5_1", "b mlx5_0", "a mlx5_10", "a mlx5_2", "c mlx5_0", "d mlx5_0"]
    fabric = chain(names, [0] * 6, 1)
    assert by_server(fabric, np.arange(6)).tolist() == [[1, 0], [3, 2]]
    placed = parse("servers", fabric)
    assert placed.hosts.tolist() == [3, 2, 1, 0]
    said = "2 servers do not take part: they have 1 adapter, where the others have 2."
    assert placed.left_out == said
    assert parse("linear", fabric).left_out == ""
    assert parse("servers", fabric, hosts="b*,c*").hosts.tolist() == [1, 0]
    assert parse("servers", fabric, hosts="c*,d*").hosts.tolist() == [4, 5]


def test_servers_leaf_by_leaf_for_rings() -> None:
    """Three leaves in a row; b and d hang on the last two, whatever their names."""
    names = ["b mlx5_1", "b mlx5_0", "a mlx5_1", "a mlx5_0", "c mlx5_0", "c mlx5_1"]
    names += ["d mlx5_0", "d mlx5_1"]
    fabric = chain(names, [2, 1, 1, 0, 0, 1, 1, 2], 3)
    assert parse("rings", fabric).hosts.tolist() == [3, 2, 4, 5, 1, 0, 6, 7]
    assert parse("rings", fabric, hosts="d*,c*,b*").hosts.tolist() == [4, 5, 1, 0, 6, 7]
    # Servers of one adapter come by leaf too.
    single = chain(["z", "y", "x", "w"], [0, 1, 0, 1], 2)
    assert parse("rings", single).hosts.tolist() == [3, 1, 2, 0]
