from __future__ import annotations

import numpy as np
import pytest

from contend.errors import UsageError
from contend.fabric import Fabric
from contend.fabric.fabric import build
from contend.fabric.formats import ibsim


def two_switches(**changes: object) -> Fabric:
    fabric = build(
        "two",
        host_name=["a", 'b "quoted"'],
        host_switch=np.array([0, 1]),
        host_port=np.array([1, 2]),
        switch_name=["x", "y"],
        switch_ports=np.array([4, 3]),
        cables=np.array([(0, 2, 1, 3)]),
    )
    return fabric.replace(**changes)


def test_boxes_of_several_switches_stay_together() -> None:
    boxed = two_switches(switch_system_guid=np.array([0, 0x77], dtype=np.uint64))
    lines = "".join(ibsim.write(boxed)).split("\n")
    assert lines[lines.index("switchguid=0x200000000") - 1] == "sysimgguid=0x200000000"
    assert lines[lines.index("switchguid=0x200000001") - 1] == "sysimgguid=0x77"


def test_a_net_file_declares_every_end_of_every_cable() -> None:
    assert "".join(ibsim.write(two_switches())).split("\n") == [
        "sysimgguid=0x200000000",
        "switchguid=0x200000000",
        'Switch 4 "S0"',
        '[2] "S1"[3] # "S1" lid 0 4xHDR',
        '[1] "H0"[1] # "H0" lid 0 4xHDR',
        "",
        "sysimgguid=0x200000001",
        "switchguid=0x200000001",
        'Switch 3 "S1"',
        '[3] "S0"[2] # "S0" lid 0 4xHDR',
        '[2] "H1"[1] # "H1" lid 0 4xHDR',
        "",
        "sysimgguid=0x100000000",
        "caguid=0x100000000",
        'Ca 1 "H0"',
        '[1] "S0"[1] # "S0" lid 0 4xHDR',
        "",
        "sysimgguid=0x100000010",
        "caguid=0x100000010",
        'Ca 1 "H1"',
        '[1] "S1"[2] # "S1" lid 0 4xHDR',
        "",
    ]


@pytest.mark.parametrize("guids", [[0, 5], [7, 7], [0x2_0000_0000, 9], [0x2_0000_0002, 9]])
def test_guids_of_hosts_that_are_unknown_or_clash_are_made_up(guids: list[int]) -> None:
    port, switch = ibsim.port_guids(two_switches(host_port_guid=np.array(guids, dtype=np.uint64)))
    assert switch.tolist() == [0x2_0000_0000, 0x2_0000_0001]
    assert port.tolist() == [0x1_0000_0001, 0x1_0000_0011]


def test_made_up_guids_keep_clear_of_those_of_switches() -> None:
    guids = np.array([0x1_0000_0001, 0x1_0000_0011], dtype=np.uint64)
    zero = np.zeros(2, dtype=np.uint64)
    port, switch = ibsim.port_guids(two_switches(switch_guid=guids, host_port_guid=zero))
    assert switch.tolist() == guids.tolist()
    everything = np.concatenate([port, port - np.uint64(1), switch])
    assert len(np.unique(everything)) == 6
    assert (everything > 0).all()


def test_what_infiniband_cannot_hold_is_refused() -> None:
    with pytest.raises(
        UsageError,
        match="an InfiniBand switch has at most 254 ports, but this fabric has one with 300",
    ):
        ibsim.write(two_switches(switch_ports=np.array([4, 300], dtype=np.uint16)))
    with pytest.raises(UsageError, match="49152 hosts and switches need more than 49151 LIDs"):
        ibsim.write(two_switches(host_name=("h",) * 49_150))
