"""What servers are called, whatever their adapters say of themselves."""

from __future__ import annotations

import re

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.fabric import Fabric, check_soundness, rails_of, server_names, servers_of
from contend.fabric.formats.slurm_files import write_tree
from contend.fabric.servers import unnamed_hosts
from contend.routes import load
from contend.traffic.placement import ListFormat, list_hosts, parse, write_list
from sample_fabrics import DATA
from small_fabrics import by_hand


def _fabric(names: list[str], systems: list[int] | None = None) -> Fabric:
    """A crossbar of hosts with these descriptions; adapter h has the GUID 0x100 + h."""
    count = len(names)
    fabric = by_hand("crossbar", [names])
    guid = np.arange(0x100, 0x100 + count, dtype=np.uint64)
    system = guid if systems is None else np.array(systems, dtype=np.uint64)
    return fabric.replace(host_guid=guid, host_system_guid=system)


@pytest.mark.parametrize(
    ("descriptions", "names"),
    [
        (["node07 HCA-1", "node08 HCA-1"], ["node07", "node08"]),
        (["node07 mlx5_0", "node07 mlx5_1"], ["node07", "node07"]),
        (["node07 rdma_rail0", "node07 gpu-nic1"], ["node07", "node07"]),
        (["node1.cluster/P1", "node2:mlx5_0"], ["node1.cluster", "node2"]),
        (["host 1", "host 2"], ["host 1", "host 2"]),
        (["mlx5_0", "mlx5_0"], ["0x0000000000000100", "0x0000000000000101"]),
        (["localhost mlx5_0", "node1 mlx5_0", "localhost mlx5_0"][::2], None),
        (["mlx5_0", "node1 mlx5_0"], ["0x0000000000000100", "node1"]),
        (["localhost mlx5_0"], ["0x0000000000000100"]),
        (["localhost mlx5_0", "localhost mlx5_1"], None),
        (["localhost.localdomain HCA-1"], ["0x0000000000000100"]),
        (["(none) mlx5_0", "ip6-loopback"], None),
        (["node_7", "gpu_12 mlx5_bond_0"], ["node_7", "gpu_12"]),
        (["node1 mlx5_0", "Node1 mlx5_0"], None),
    ],
)
def test_a_server_has_one_name(descriptions: list[str], names: list[str] | None) -> None:
    expected = names or ["0x0000000000000100", "0x0000000000000101"]
    assert server_names(_fabric(descriptions)) == expected


def test_adapters_of_one_system_share_the_name_that_one_of_them_knows() -> None:
    fabric = _fabric(["mlx5_0", "node07 HCA-1", "mlx5_1", "node08 HCA-1"], [7, 7, 7, 8])
    assert server_names(fabric) == ["node07", "node07", "node07", "node08"]
    for name in ("node07", "NODE07.hpc"):
        assert parse("linear", fabric, hosts=f"!{name}").hosts.tolist() == [3]


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


def _servers(descriptions: list[str], systems: list[int] | None = None) -> list[int]:
    return servers_of(_fabric(descriptions, systems)).tolist()


@pytest.mark.parametrize(
    "adapters",
    [
        ("ibp11s0f0", "ibp21s0f0"),
        ("ibs22f0", "ibs22f1"),
        ("ibo3", "ibo4"),
        ("ibP1p2s0", "ibP2p2s0"),
        ("ibx0c42a10300fb0001", "ibx0c42a10300fb0002"),
        ("roceP2p1s0f1", "rocep3s0f1v12"),
        ("opap1s0", "opap2s0"),
        ("ibp11s0f0v0", "ibp11s0f0v1"),
        ("mlx5_bond_0", "bnxt_re0"),
        ("mlx5_0", "ib1"),
        ("mlx5_ib0", "mlx5_ib1"),
        ("hfi1_0", "mlx4_0"),
        ("mlx5_bond0", "irdma0"),
        ("mlx5_3/P1", "mlx5_3/P2"),
        ("HCA-1/P1", "HCA-2/P1"),
        ("ocrdma_0", "hns_roce_1"),
        ("mlx5_0_vf3", "rocep3s0f1np1"),
        ("mlx5_an0", "mlx5_ib_roce0"),
        ("cxi0", "hsn1"),
        ("ocrdma0", "vmw_pvrdma0"),
        ("gpu0_eth", "gpu1_eth"),
        ("hns3_0", "hns3_1"),
        ("mlx5_ib0_p1", "mlx5_ib1_p1"),
    ],
)
def test_adapters_named_by_rdma_core_share_their_server(adapters: tuple[str, str]) -> None:
    for between in " :":
        names = [f"node0{number}{between}{word}" for number in (1, 2) for word in adapters]
        assert _servers(names) == [0, 0, 1, 1]
        assert server_names(_fabric(names)) == ["node01", "node01", "node02", "node02"]


@pytest.mark.parametrize(
    "form",
    [
        *("{0}, {1}", "{0}|{1}", "{0};{1}", "{0}@{1}", "{1} {0}", "{1}@{0}"),
        *("{0} ({1})", "{0} '{1}'", "{0} HCA={1}", "{0} {1} NDR400", "{0} {1} (0000:17:00.0)"),
    ],
)
@pytest.mark.parametrize("adapters", [("mlx5_0", "mlx5_1"), ("ibp11s0f0", "hfi1_0")])
def test_the_server_stands_before_its_adapter_or_behind_it(
    form: str, adapters: tuple[str, str]
) -> None:
    names = [form.format(f"node0{number}", word) for number in (1, 2) for word in adapters]
    assert _servers(names) == [0, 0, 1, 1]
    assert server_names(_fabric(names)) == ["node01", "node01", "node02", "node02"]


JOINED = (
    ("mlx5_0", "mlx5_1"),
    ("mlx5_ib0", "mlx5_ib1"),
    ("mlx5_bond_0", "mlx5_bond_1"),
    ("mlx4_0/P1", "mlx4_0/P2"),
    ("mlnx_mlx5_0", "mlnx_mlx5_1"),
    ("hfi1_0", "hfi1_1"),
    ("cornelis-hfi1_0", "cornelis-hfi1_1"),
    ("bnxt_re0", "bnxt_re1"),
    ("bnxt_re_bond0", "bnxt_re_bond1"),
    ("irdma0", "irdma1"),
    ("intel-irdma0", "intel-irdma1"),
    ("rocep59s0f0", "rocep59s0f1"),
    ("ibp12s0", "ibp94s0"),
    ("ibs22f0", "ibs22f1"),
    ("ibo3", "ibo4"),
    ("ibx0c42a10300fb0001", "ibx0c42a10300fb0002"),
    ("enp1s0f0np0", "enp1s0f1np1"),
    ("rdmap16s27", "rdmap32s27"),
    ("opa0", "opa1"),
    ("nes0", "nes1"),
    ("ib0", "ib1"),
    ("hsn0", "hsn1"),
    ("cxi0", "cxi1"),
    ("efa_0", "efa_1"),
    ("hns_0", "hns_1"),
    ("HCA-1", "HCA-2"),
    ("qedr0", "qedr1"),
    ("rocepf0", "rocepf1"),
    ("nic0", "nic1"),
    ("eth0", "eth1"),
)


@pytest.mark.parametrize("adapters", JOINED)
@pytest.mark.parametrize("server", ["node0{}", "gpu-node-0{}", "rack2_n{}", "ib-gw{}", "n{}.hpc"])
def test_adapters_behind_a_dash_share_their_server(adapters: tuple[str, str], server: str) -> None:
    expected = [server.format(number) for number in (1, 1, 2, 2)]
    for between in " :-_":
        names = [
            f"{server.format(number)}{between}{word}" for number in (1, 2) for word in adapters
        ]
        fabric = _fabric(names)
        assert server_names(fabric) == expected
        assert rails_of(fabric).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "names",
    [
        ["gpu-node-01", "gpu-node-02", "cpu-node-01", "cpu-node-02"],
        ["rack1_n1", "rack1_n2", "rack2_n1", "rack2_n2", "rack2_n3"],
        ["ib-gw1", "ib-gw2", "eth-gw1"],
        ["storage-ib1", "storage-ib2", "storage-ib3"],
        # Pools of two kinds, more in each than there are pools.
        ["gpu-efa1", "gpu-efa2", "gpu-efa3", "cpu-efa1", "cpu-efa2", "cpu-efa3"],
        ["c1-opa1", "c1-opa2", "c1-opa3", "c1-opa4"],
        ["login-0", "login-1", "head_0", "head_1"],
        ["r1-node_0", "r1-node_1", "r2-node_0", "r2-node_1"],
        ["dgx-a100-0", "dgx-a100-1", "dgx-h100-0", "dgx-h100-1"],
        ["n1-s0", "n1-s1", "n2-s0", "n2-s1"],
        ["cn-f0", "cn-f1", "dn-f0", "dn-f1"],
        ["node1-ib0"],
    ],
)
def test_a_dash_within_a_server_s_name_is_a_part_of_it(names: list[str]) -> None:
    assert _servers(names) == list(range(len(names)))
    assert server_names(_fabric(names)) == names


@pytest.mark.parametrize("word", [word for words in JOINED for word in words if "-" not in word])
def test_an_adapter_s_name_alone_names_no_server(word: str) -> None:
    if re.fullmatch("ib[so].*|rocepf.*|nic.*|eth.*", word):
        return  # A server may be called so.
    assert server_names(_fabric([word, word])) == ["0x0000000000000100", "0x0000000000000101"]


def test_a_server_may_be_called_like_an_adapter_behind_its_rack() -> None:
    assert _servers(["rack1/node_7", "rack1/node_8", "rack1/node_8 mlx5_1"]) == [0, 1, 2]


def test_a_server_may_be_called_like_an_adapter_of_a_slot() -> None:
    assert server_names(_fabric(["ibs22 HCA-1", "ibo3 HCA-1"])) == ["ibs22", "ibo3"]


def test_a_description_from_the_factory_names_no_server() -> None:
    factory = "MT4123 ConnectX6   Mellanox Technologies"
    fabric = _fabric([factory, "node1 mlx5_0", factory.replace("4123", "4115")])
    assert server_names(fabric) == ["0x0000000000000100", "node1", "0x0000000000000102"]
    assert unnamed_hosts(fabric) == [0, 2]
    assert "# Nothing names 2 servers: " in "".join(write_tree(fabric))
    assert "Nodes=0x0000000000000100,n2\n" in "".join(write_tree(_fabric(["localhost", "n2"])))
    assert unnamed_hosts(_fabric(["node1", "node2 mlx5_0", ""])) == [2]
    # Nor is what an adapter is called, where the server's name is another's too.
    fabric = _fabric(["ubuntu HCA-1", "ubuntu HCA-1", "ubuntu HCA-2"], [1, 2, 2])
    [found] = [check for check in check_soundness(fabric) if check.name == "names"]
    assert found.summary.endswith("3 hosts name no server: each system GUID counts as a server")


def test_descriptions_are_right_where_an_adapter_serves_several_servers() -> None:
    names = ["node1 mlx5_0", "node2 mlx5_0", "node1 mlx5_1"]
    assert _servers(names, [7, 7, 8]) == [0, 1, 0]
    assert servers_of(_fabric(names).replace(host_guid=np.full(3, 7))).tolist() == [0, 1, 0]
    # Without names the system GUID decides.
    assert _servers(["mlx5_0", "node2 mlx5_0", "mlx5_1"], [7, 7, 7]) == [0, 0, 0]


def test_the_rail_is_the_place_of_the_adapter_in_its_server() -> None:
    names = ["b mlx5_10", "b mlx5_9", "a mlx5_9", "a mlx5_10", "c"]
    assert rails_of(_fabric(names)).tolist() == [1, 0, 0, 1, 0]


def test_a_server_that_lacks_an_adapter_keeps_the_rails_of_its_like() -> None:
    whole = [f"{server} mlx5_{rail}" for server in "abc" for rail in range(4)]
    assert rails_of(_fabric([*whole, "d mlx5_0", "d mlx5_3"])).tolist()[-2:] == [0, 3]
    names = ["n 1 rail 1", "n 1 rail 2", "n 1 mlx5_0 1", "n 2 rail 2", "n 2 mlx5_0 1"]
    assert rails_of(_fabric(names)).tolist() == [1, 2, 0, 2, 0]
    # A kind that is more common has rails of its own.
    others = [f"{server} mlx5_{rail}" for server in "efgh" for rail in (0, 3)]
    assert rails_of(_fabric([*whole, *others])).tolist()[-2:] == [0, 1]


def test_rails_without_names_are_in_the_order_of_guids() -> None:
    assert rails_of(_fabric(["n1", "n2", "n1", "n2"], [7, 8, 7, 8])).tolist() == [0, 0, 1, 1]
    same = ["localhost mlx5_0"] * 3
    assert rails_of(_fabric(same, [7, 7, 8])).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("descriptions", "systems", "servers"),
    [
        # A domain or capitals make no other machine, but where adapters of one name deny it.
        (["n1 mlx5_0", "n1.hpc mlx5_1", "N1 mlx5_2"], [1, 2, 2], [0, 0, 0]),
        (["n1 mlx5_0", "n1.hpc mlx5_0", "n1.hpc mlx5_1"], [1, 2, 3], [0, 1, 1]),
        (["n1.a mlx5_0", "n1.b mlx5_1"], [1, 2], [0, 1]),
        # Machines straight from the installer; a system GUID of 0 is none.
        (["ubuntu HCA-1", "ubuntu HCA-2"] * 3, [1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 3]),
    ],
)
def test_no_name_joins_what_adapters_deny(
    descriptions: list[str], systems: list[int], servers: list[int]
) -> None:
    assert _servers(descriptions, systems) == servers


def test_ports_of_an_adapter_that_only_their_guids_tell() -> None:
    names = server_names(load(DATA / "tiny.lines.iblinkinfo"))
    assert names == ["hostd", "hostc", "hostb", "host", "host"]
