"""What servers are called, whatever their adapters say of themselves."""

from __future__ import annotations

import numpy as np
import pytest

from contend.errors import UsageError
from contend.fabric import Fabric, server_names
from contend.fabric.fabric import build
from contend.placement import ListFormat, list_hosts, parse, write_list


def _fabric(names: list[str], systems: list[int] | None = None) -> Fabric:
    """A crossbar of hosts with these descriptions; adapter h has the GUID 0x100 + h."""
    count = len(names)
    fabric = build(
        "crossbar",
        host_name=names,
        host_switch=np.zeros(count, dtype=int),
        host_port=np.arange(1, count + 1),
        switch_name=["switch"],
        switch_ports=count,
        cables=np.zeros((0, 4)),
    )
    guid = np.arange(0x100, 0x100 + count, dtype=np.uint64)
    system = guid if systems is None else np.array(systems, dtype=np.uint64)
    return fabric.replace(host_guid=guid, host_system_guid=system)


@pytest.mark.parametrize(
    ("descriptions", "names"),
    [
        (["node07 HCA-1", "node08 HCA-1"], ["node07", "node08"]),
        (["node07 mlx5_0", "node07 mlx5_1"], ["node07", "node07"]),
        (["node1.cluster/P1", "node2:mlx5_0"], ["node1.cluster", "node2"]),
        (["host 1", "host 2"], ["host 1", "host 2"]),
        (["mlx5_0", "mlx5_0"], ["0x0000000000000100", "0x0000000000000101"]),
        (["localhost mlx5_0", "node1 mlx5_0", "localhost mlx5_0"][::2], None),
        (["mlx5_0", "node1 mlx5_0"], ["0x0000000000000100", "node1"]),
        (["node_7", "gpu_12 mlx5_bond_0"], ["node_7", "gpu_12"]),
    ],
)
def test_a_server_has_one_name(descriptions: list[str], names: list[str] | None) -> None:
    expected = names or ["0x0000000000000100", "0x0000000000000101"]
    assert server_names(_fabric(descriptions)) == expected


def test_adapters_of_one_system_share_the_name_that_one_of_them_knows() -> None:
    fabric = _fabric(["mlx5_0", "node07 HCA-1", "mlx5_1", "node08 HCA-1"], [7, 7, 7, 8])
    assert server_names(fabric) == ["node07", "node07", "node07", "node08"]
    placed = parse("linear", fabric, hosts="!node07")
    assert placed.hosts.tolist() == [3]


def test_a_server_without_a_name_goes_by_its_guid() -> None:
    fabric = _fabric(["mlx5_0", "mlx5_0", "mlx5_0"])
    assert parse("linear", fabric, hosts="0x0000000000000101").hosts.tolist() == [1]
    entries = list_hosts(fabric, parse("linear", fabric))
    with pytest.raises(UsageError, match="nothing in the fabric names the server of adapter 0x"):
        write_list(entries, ListFormat.OPENMPI)


def test_a_description_of_very_many_words_is_looked_at_once() -> None:
    # All of its beginnings would be 8 GB.
    long = "a " * (1 << 16)
    assert server_names(_fabric([long, "node1 mlx5_0"])) == ["a", "node1"]
