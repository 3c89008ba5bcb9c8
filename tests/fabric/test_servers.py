"""Which hosts belong to one server."""

from __future__ import annotations

import numpy as np

from contend.fabric import servers_of
from small_fabrics import crossbar


def _servers(names: list[str], **columns: np.ndarray) -> list[int]:
    fabric = crossbar(len(names)).replace(host_name=tuple(names), **columns)
    return servers_of(fabric).tolist()


def test_descriptions_name_adapters_of_a_server() -> None:
    names = ["luna-1 mlx5_0", "luna-2 mlx5_0 ", "luna-1 mlx5_1 ", "login HCA-2", "luna-2 HCA-1"]
    assert _servers(names) == [0, 1, 0, 2, 1]


def test_generic_descriptions_say_nothing() -> None:
    assert _servers(["localhost mlx5_0"] * 3) == [0, 1, 2]
    assert _servers(["MT25408 ConnectX Mellanox Technologies"] * 3) == [0, 1, 2]
    # One generic whole spoils the server's name for all its adapters.
    assert _servers(["localhost mlx5_0", "localhost mlx5_0", "localhost mlx5_1"]) == [0, 1, 2]


def test_one_word_is_a_server_of_its_own() -> None:
    assert _servers(["mlx5_0", "mlx5_1"]) == [0, 1]


def test_system_guid_joins() -> None:
    system = np.array([7, 8, 7, 0, 0], dtype=np.uint64)
    assert _servers(list("abcde"), host_system_guid=system) == [0, 1, 0, 2, 3]


def test_ports_of_one_adapter_join() -> None:
    guid = np.array([1, 2, 2, 1], dtype=np.uint64)
    system = np.zeros(4, dtype=np.uint64)
    assert _servers(list("abba"), host_guid=guid, host_system_guid=system) == [0, 1, 1, 0]


def test_ways_of_joining_chain() -> None:
    # Host 0 and 1 by name, 1 and 2 by system GUID: one server.
    system = np.array([0, 5, 5, 6], dtype=np.uint64)
    names = ["n1 mlx5_0", "n1 mlx5_1", "other", "n2 mlx5_0"]
    assert _servers(names, host_system_guid=system) == [0, 0, 0, 1]
