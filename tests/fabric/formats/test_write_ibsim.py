from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.fabric import Fabric
from contend.fabric.assemble import assemble
from contend.fabric.fabric import build
from contend.fabric.formats import ibsim
from contend.routes.loading import load_topology
from small_fabrics import by_hand

DATA = Path(__file__).resolve().parents[2] / "data" / "ibsim"


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


# A leaf of as many hosts as there are rates, and two cables to a spine.
RATES = ("", "4xSDR", "4xDDR", "4xQDR", "4xFDR", "4xEDR", "4xHDR", "1xSDR", "2xHDR", "8xDDR",
         "12xSDR", "4xNDR", "4xFDR10")  # fmt: skip


def of_many_rates() -> Fabric:
    hosts = len(RATES)
    fabric = by_hand(
        "rates",
        [[f"host {h}" for h in range(hosts)], []],
        [(0, hosts + 1, 1, 1), (0, hosts + 2, 1, 2)],
        switches=["leaf", "spine"],
        ports=[hosts + 2, 2],
    )
    return fabric.replace(
        rates=RATES,
        host_rate=np.arange(hosts, dtype=np.uint16),
        cable_rate=np.array([3, 5], dtype=np.uint16),
    )


def rates_by_end(fabric: Fabric) -> dict[tuple[str, int], str]:
    """Rate of every link by its port on the leaf."""
    ports = np.maximum(fabric.cable_from_port, fabric.cable_to_port)
    cables = zip(ports.tolist(), fabric.cable_rate.tolist(), strict=True)
    hosts = zip(fabric.host_port.tolist(), fabric.host_rate.tolist(), strict=True)
    cable = {("cable", port): fabric.rates[rate] for port, rate in cables}
    return cable | {("host", port): fabric.rates[rate] for port, rate in hosts}


def test_every_link_keeps_its_own_rate() -> None:
    fabric = of_many_rates()
    written = "".join(ibsim.write(fabric)).encode()
    assert rates_by_end(assemble(ibsim.read([written], "net"), "net")) == rates_by_end(fabric)


def test_the_real_ibsim_reads_them_but_for_those_that_are_told() -> None:
    """``rates.ibnetdiscover`` is what ibnetdiscover printed of this net file, played by ibsim."""
    fabric = of_many_rates()
    found = rates_by_end(load_topology(str(DATA / "rates.ibnetdiscover")))
    expected = rates_by_end(fabric)
    other = {expected[end] for end in expected if found[end] != expected[end]}
    assert other == {"", "4xNDR", "4xFDR10"}
    sentences = ibsim.not_read_by_ibsim(fabric)
    assert [sentence.split("(")[1].split(")")[0] for sentence in sentences] == [
        "not known",
        "4xFDR10",
        "4xNDR",
    ]
    assert ibsim.not_read_by_ibsim(two_switches()) == ()
