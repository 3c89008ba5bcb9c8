from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from contend.base.errors import InputError
from contend.fabric import Fabric
from contend.fabric.assemble import assemble
from contend.fabric.faults.soundness import check_soundness
from contend.fabric.formats.lldp import read, recognises
from contend.fabric.formats.topology import read_bundle
from contend.fabric.servers import servers_of
from contend.routes import load
from sample_fabrics import DATA, cables_by_name

# Real outputs of lldpd in a namespace for each of two leaves, two spines and four nodes; one is of
# -f json0, and of the nodes only one is kept.
FOLDER = DATA / "lldp"
# The same by other tools; see the README there.
TOOLS = DATA / "lldp_tools"
NAMES = ("leaf1", "leaf2", "spine1", "spine2", "node1")


def output(name: str) -> Any:
    return json.loads(next(FOLDER.glob(f"{name}.json*")).read_text())


def fabric_of(document: Any, source: str = "all.json") -> Fabric:
    return assemble(read([json.dumps(document).encode()], source), source)


def failure(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read([text.encode()], "all.json")
    return str(caught.value)


def expect_all(fabric: Fabric) -> None:
    assert fabric.host_name == ("node1", "node2", "node3", "node4")
    assert [fabric.switch_name[switch] for switch in fabric.host_switch] == [
        *("leaf1", "leaf1", "leaf2", "leaf2")
    ]
    assert fabric.host_port.tolist() == [1, 2, 1, 2]
    assert cables_by_name(fabric) == {
        frozenset({(leaf, 2 + spine), (f"spine{spine}", int(leaf[-1]))})
        for leaf in ("leaf1", "leaf2")
        for spine in (1, 2)
    }
    assert fabric.rates == ("", "10GbE")
    assert fabric.findings == ()


def heard(port: str, name: str, far: str, *, forwards: bool = True) -> dict[str, Any]:
    """What a port hears of a neighbour and its port."""
    capability = [{"type": "Bridge", "enabled": forwards}]
    chassis = {name: {"id": {"type": "local", "value": name}, "capability": capability}}
    return {port: {"chassis": chassis, "port": {"id": {"type": "ifname", "value": far}}}}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({("leaf1", 1): "swp7"}, "leaf1 swp52 hears spine2 swp7, which hears it at swp1"),
        # That port hears another.
        ({("leaf1", 1): "swp2"}, "leaf1 swp52 hears spine2 swp2, which hears it at swp1"),
        # A device may call its ports one way and tell them another.
        ({("leaf1", 1): "Eth1", ("leaf2", 1): "Eth2", ("leaf3", 1): "Eth3"}, ""),
    ],
)
def test_ends_that_tell_different_ports_are_told(
    told: dict[tuple[str, int], str], words: str
) -> None:
    leaves, spines = ("leaf1", "leaf2", "leaf3"), ("spine1", "spine2")
    outputs: dict[str, list[dict[str, Any]]] = {
        leaf: [heard("swp1", f"host{place}", "eth0", forwards=False)]
        for place, leaf in enumerate(leaves)
    }
    for number, spine in enumerate(spines):
        outputs[spine] = []
        for place, leaf in enumerate(leaves, 1):
            far = told.get((leaf, number), f"swp{place}")
            outputs[leaf].append(heard(f"swp{51 + number}", spine, far))
            outputs[spine].append(heard(f"swp{place}", leaf, f"swp{51 + number}"))
    fabric = fabric_of({name: {"lldp": {"interface": each}} for name, each in outputs.items()})
    said = [finding.message for finding in fabric.findings if finding.wrong]
    assert said == [words] * (words != "")
    assert (fabric.hosts, fabric.switches) == (3, 5)


def test_what_no_switch_told_is_no_cable_that_is_down() -> None:
    """Nodes hear of their leaves; nobody has told what these hear of spines."""
    outputs = {
        f"node{n}": {"lldp": {"interface": [heard("eth0", f"leaf{n // 2}", f"swp{n % 2}")]}}
        for n in range(4)
    }
    checks = {check.name: check for check in check_soundness(fabric_of(outputs))}
    assert checks["connectedness"].remedy.startswith(
        "complete the file first, since the records of 2 nodes are missing; then look for cables"
    )


def test_spines_alone_are_no_servers() -> None:
    document = {name: output(name) for name in ("spine1", "spine2")}
    with pytest.raises(InputError, match="plugged into, got switches that hear of switches alone"):
        fabric_of(document)


def test_a_folder_of_outputs_by_device() -> None:
    expect_all(load(FOLDER))
    assert load(str(FOLDER)).name == "lldp"


def test_one_file_of_outputs_by_device() -> None:
    outputs = {name: output(name) for name in NAMES}
    assert recognises(json.dumps(outputs).encode())
    expect_all(fabric_of(outputs))


def test_switches_alone_tell_everything_and_so_do_names_with_domains() -> None:
    text = json.dumps({f"{name}.cluster": output(name) for name in NAMES[:4]})
    assert '"node1": {' in text
    expect_all(fabric_of(json.loads(text.replace('"node1": {', '"node1.cluster": {'))))


def test_prompts_around_the_output_are_passed_over(tmp_path: Path) -> None:
    for name in NAMES:
        prompt = f"[admin@{name} ~]$ "
        captured = f"{prompt}lldpctl -f json\r\n{json.dumps(output(name), indent=1)}\n{prompt}"
        (tmp_path / f"{name}.json").write_text(captured)
    expect_all(load(tmp_path))


def test_what_one_switch_hears_is_the_switch_that_its_file_is_called_after() -> None:
    fabric = load(FOLDER / "leaf1.json")
    assert fabric.switch_name == ("leaf1",)
    assert fabric.host_name == ("node1", "node2", "spine1", "spine2")
    told = "2 devices with one cable counted as hosts, although they forward"
    assert [finding.message for finding in fabric.findings] == [told]


def test_switches_without_an_output_are_told() -> None:
    fabric = fabric_of({name: output(name) for name in ("leaf1", "leaf2")})
    assert fabric.hosts == 4
    assert fabric.cables == 4
    assert [finding.message for finding in fabric.findings] == [
        'the record of "spine1" is missing',
        'the record of "spine2" is missing',
    ]


def test_management_ports_of_switches_join_nothing() -> None:
    """eth0 among swp1 .. swp4 is aside; a switch behind it would be a spine to everybody."""
    outputs = {name: output(name) for name in NAMES}
    for name in ("leaf1", "leaf2"):
        entry = json.loads(json.dumps(output("leaf1")["lldp"]["interface"][2]["swp3"]))
        entry["chassis"] = {"mgmt": next(iter(entry["chassis"].values()))}
        entry["chassis"]["mgmt"]["id"]["value"] = "02:00:00:00:00:01"
        entry["port"]["id"]["value"] = f"swp{name[-1]}"
        outputs[name]["lldp"]["interface"].append({"eth0": entry})
    fabric = fabric_of(outputs)
    assert fabric.switch_name == ("leaf1", "leaf2", "spine1", "spine2")
    assert fabric.findings[0].message == "2 cables of switches' management ports left out"


def test_ports_that_are_known_by_their_addresses_are_matched_by_description() -> None:
    text = json.dumps({name: output(name) for name in NAMES})
    by_mac = text.replace('"type": "ifname", "value": "swp3"', '"type": "mac", "value": "02:00"')
    assert by_mac != text
    expect_all(fabric_of(json.loads(by_mac)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"lldp": {"interface": []}}', "expected neighbours in what LLDP reports, got none"),
        ('{"a":\n {"lldp" 1}}', "all.json:2: expected JSON, got Expecting ':' delimiter"),
        ('{"lldp": 1', "all.json:1: expected JSON"),
        ("nothing", "expected the JSON of lldpctl, got none"),
        ('{"a": {"cdp": {}}}', 'expected LLDP neighbours below "a", got'),
        ('{"lldpNeighbors": [{"port": "Et1"}]}', "got that of a command without detail"),
        ('{"lldp": {"interface": ["eth0"]}}', "expected an object for each interface, got 'eth0'"),
        ('{"lldp": {"interface": {"eth0": 7}}}', 'expected the neighbours of "eth0", got 7'),
        ('{"lldp": ' + "[" * 100_000, "one nested too deeply"),
        ("[1, 2]", "expected an object of lldpctl, or one such by device"),
    ],
)
def test_what_is_no_output_of_lldpctl_is_refused(text: str, message: str) -> None:
    assert message in failure(text)


def test_a_file_of_a_folder_is_named(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "leaf1.json", tmp_path)
    (tmp_path / "leaf2.json").write_text('{\n"lldp": }')
    with pytest.raises(InputError, match=r"leaf2\.json:2: expected JSON"):
        read_bundle(str(tmp_path))


def neighbour(
    name: str, address: str, port: str, *capabilities: str, kind: str = "ifname", **told: str
) -> dict[str, Any]:
    """An entry of lldpctl."""
    chassis: dict[str, Any] = {
        "id": {"type": "mac", "value": address},
        "capability": [{"type": one, "enabled": True} for one in capabilities],
        **told,
    }
    return {
        "via": "LLDP",
        "chassis": {name: chassis} if name else chassis,
        "port": {"id": {"type": kind, "value": port}},
    }


def device(**ports: list[dict[str, Any]]) -> dict[str, Any]:
    return {"lldp": {"interface": [{port: one} for port, heard in ports.items() for one in heard]}}


def spine(number: int) -> dict[str, Any]:
    return neighbour(f"spine{number}", f"02:00:00:00:00:0{number}", "swp1", "Bridge", "Router")


def host(number: int, port: str = "eth1") -> dict[str, Any]:
    return neighbour(f"server{number}", f"44:38:39:00:00:0{number}", port, "Station")


GUESTS = {
    "a nameless adapter": neighbour("", "44:38:39:00:00:63", "52:54:00:00:00:99", kind="mac"),
    "a phone": neighbour("sep01", "00:11:22:33:44:55", "Port 1", "Bridge", "Telephone"),
    "a controller": neighbour("idrac-7X", "00:11:22:33:44:56", "BMC", "Station", descr="iDRAC9"),
}


@pytest.mark.parametrize("guest", GUESTS)
@pytest.mark.parametrize("first", [False, True])
def test_one_cable_a_port_whoever_else_is_heard_there(guest: str, first: bool) -> None:
    there = [GUESTS[guest], host(2)] if first else [host(2), GUESTS[guest]]
    leaf = device(swp1=[host(1)], swp2=there, swp51=[spine(1)], swp52=[spine(2)])
    fabric = fabric_of({"leaf1": leaf})
    assert fabric.host_name == ("server1", "server2", "spine1", "spine2")
    told = fabric.findings[0].message
    assert told.startswith("left out 1 neighbour on a cable of another: ")
    assert told.endswith(" at leaf1 swp2")
    assert not any(finding.wrong for finding in fabric.findings)


def test_neighbours_without_name_and_address_are_not_one_device() -> None:
    nobody = neighbour("", "", "1")
    leaf = device(swp1=[host(1)], swp2=[nobody], swp3=[nobody], swp4=[host(2)])
    assert fabric_of({"leaf1": leaf}).host_name == ("server1", "server2")


def test_a_machine_inside_a_server_does_not_count_where_the_server_speaks_for_itself() -> None:
    inside = neighbour("vm7", "52:54:00:00:00:07", "ens3", "Bridge", "Router")
    leaf = device(swp1=[inside, host(1)], swp2=[host(2)])
    mine = {"server1": device(eth1=[neighbour("leaf1", "02:00:00:00:00:09", "swp1", "Bridge")])}
    assert fabric_of({"leaf1": leaf, **mine}).host_name == ("server1", "server2")


def test_guids_that_are_made_are_of_one_port_and_stay_when_others_come() -> None:
    """Two ports a server; the addresses of the servers follow each other."""

    def leaves(servers: int) -> dict[str, Any]:
        return {
            f"leaf{leaf}": device(
                **{f"swp{number}": [host(number, f"eth{leaf}")] for number in range(1, servers + 1)}
            )
            for leaf in (1, 2)
        }

    fabric, more = fabric_of(leaves(3)), fabric_of(leaves(4))
    guids = {*fabric.host_port_guid.tolist(), *fabric.switch_guid.tolist()}
    assert len(guids) == 6 + 2
    assert guids <= {*more.host_port_guid.tolist(), *more.switch_guid.tolist()}
    assert fabric.host_guid.tolist() == [0x443839000000 + n for n in (1, 1, 2, 2, 3, 3)]
    assert not any(finding.wrong for finding in fabric.findings)


def test_both_ports_of_a_bond_may_be_called_after_it() -> None:
    bonded = host(1, "0c:42:a1:00:00:01")
    fabric = fabric_of({leaf: device(swp1=[bonded], swp2=[host(2)]) for leaf in ("a", "b")})
    assert fabric.host_name == ("server1", "server1", "server2", "server2")
    assert not any(finding.wrong for finding in fabric.findings)


def test_ends_that_call_their_ports_differently_are_of_one_cable() -> None:
    """The leaf's port is described as a person would, and the spine knows it by that alone."""
    leaf = neighbour("leaf1", "02:00:00:00:00:09", "to the spine", "Bridge")
    fabric = fabric_of(
        {
            "leaf1": device(swp1=[host(1)], swp2=[host(2)], swp9=[spine(1)]),
            "spine1": device(swp4=[leaf], swp5=[host(3)]),
        }
    )
    assert (fabric.hosts, fabric.cables) == (3, 1)
    assert cables_by_name(fabric) == {frozenset({("leaf1", 9), ("spine1", 4)})}
    assert not any(finding.wrong for finding in fabric.findings)


TEXT = (TOOLS / "leaf1.lldpctl.txt").read_text()
NVUE = json.loads((TOOLS / "leaf1.nvue.json").read_text())
EOS = json.loads((TOOLS / "leaf1.eos.json").read_text())


def test_what_lldpctl_prints_in_words_is_what_it_prints_as_json() -> None:
    assert recognises(TEXT.encode())
    captured = f"cumulus@leaf1:~$ lldpctl\r\n{TEXT}cumulus@leaf1:~$ ".replace("\n", "\r\n")
    for text in (TEXT, captured):
        fabric = assemble(read([text.encode()], "a/leaf1.txt"), "a/leaf1.txt")
        expect_leaf1(fabric)
        assert fabric.rates == ("", "10GbE")


def test_a_name_in_another_format_is_not_what_lldp_heard() -> None:
    assert not recognises(b'Ca\t1 "H-a"\n[1](b) \t"S-c"[5]\t\t# lid 5 lmc 0 "lldpNeighbors"\n')


@pytest.mark.parametrize(("told", "rates"), [(NVUE, ("", "10GbE")), (EOS, ("",))])
def test_nvue_and_eos_say_the_same_in_their_own_json(told: Any, rates: tuple[str, ...]) -> None:
    text = json.dumps(told).encode()
    assert recognises(text)
    fabric = assemble(read([text], "leaf1.json"), "leaf1.json")
    expect_leaf1(fabric)
    assert fabric.rates == rates
    by_device = fabric_of({"leaf1": told, "leaf2": output("leaf2")})
    assert by_device.switch_name == ("leaf1", "leaf2", "spine1", "spine2")


def expect_leaf1(fabric: Fabric) -> None:
    assert fabric.switch_name == ("leaf1",)
    assert fabric.host_name == ("node1", "node2", "spine1", "spine2")
    assert fabric.host_port.tolist() == [1, 2, 3, 4]
    expected = load(FOLDER / "leaf1.json").host_guid.tolist()
    assert fabric.host_guid.tolist() == expected
    assert "2 devices with one cable counted as hosts" in fabric.findings[0].message


def renamed(one: dict[str, Any], name: str, kind: str = "", value: str = "") -> dict[str, Any]:
    """The same neighbour by another name, and with another chassis id where one is given."""
    (chassis,) = one["chassis"].values()
    return {
        **one,
        "chassis": {name: chassis | ({"id": {"type": kind, "value": value}} if kind else {})},
    }


def test_devices_that_are_called_alike_are_told_apart_by_their_chassis() -> None:
    """Two spines with the factory's name, heard by two leaves, and three servers of one image."""
    servers = [renamed(host(number), "ubuntu") for number in (1, 2, 3)]
    spines = [renamed(spine(number), "sonic") for number in (1, 2)]
    fabric = fabric_of(
        {
            "leaf1": device(
                swp1=servers[:1], swp2=servers[1:2], swp51=spines[:1], swp52=spines[1:]
            ),
            "leaf2": device(swp1=servers[2:], swp51=spines[:1], swp52=spines[1:]),
        }
    )
    assert fabric.host_name == ("ubuntu",) * 3
    assert len(set(servers_of(fabric).tolist())) == 3
    assert sorted(fabric.switch_name) == ["leaf1", "leaf2", "sonic", "sonic"]
    assert (fabric.cables, len(set(fabric.switch_label))) == (4, 4)


@pytest.mark.parametrize("value", ["44-38-39-00-00-01", "4438.3900.0001", "44:38:39:0:0:1"])
def test_a_chassis_is_one_device_however_it_is_spelled_and_called(value: str) -> None:
    other = renamed(host(1, "eth2"), "node-a", "mac", value)
    fabric = fabric_of({"a": device(swp1=[host(1)], swp2=[host(2)]), "b": device(swp1=[other])})
    assert len(set(servers_of(fabric).tolist())) == 2
    assert len(set(fabric.host_name)) == 2


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("mac", "00:00:00:00:00:00"),
        ("local", "not specified"),
        ("ifname", "vmnic0"),
        ("ip", "127.0.0.1"),
        ("local", "the same of every image"),
    ],
)
def test_a_chassis_id_that_is_nobodys_own_makes_nobody_one(kind: str, value: str) -> None:
    hosts = [renamed(host(number), f"server{number}", kind, value) for number in (1, 2)]
    fabric = fabric_of({"leaf1": device(swp1=hosts[:1], swp2=hosts[1:], swp3=[host(3)])})
    assert fabric.host_name == ("server1", "server2", "server3")
    assert len(set(servers_of(fabric).tolist())) == 3


def test_who_speaks_under_the_factorys_name_is_found_by_its_cables() -> None:
    """Every switch is called sonic; files are named by position."""
    leaves = [
        renamed(spine(number), "sonic", "mac", f"02:00:00:00:01:0{number}") for number in (1, 2)
    ]

    def at(one: dict[str, Any], port: str) -> list[dict[str, Any]]:
        end = {"id": {"type": "ifname", "value": port}}
        return [renamed(one, "sonic") | {"port": end}]

    outputs = {
        f"leaf{leaf}": device(
            eth1=[host(leaf)],
            eth49=at(spine(1), f"eth{leaf}"),
            eth50=at(spine(2), f"eth{leaf}"),
        )
        for leaf in (1, 2)
    } | {
        f"spine{number}": device(
            eth1=at(leaves[0], f"eth{48 + number}"), eth2=at(leaves[1], f"eth{48 + number}")
        )
        for number in (1, 2)
    }
    fabric = fabric_of(outputs)
    assert fabric.switch_name == ("leaf1", "leaf2", "spine1", "spine2")
    assert (fabric.hosts, fabric.cables) == (2, 4)
    assert not any(finding.wrong for finding in fabric.findings)


def leaf(number: int) -> dict[str, Any]:
    return neighbour(f"leaf{number}", f"02:00:00:00:01:0{number}", "swp1", "Bridge", "Router")


BONDED = {"server1": device(eth0=[leaf(1), leaf(2)], eth1=[leaf(1), leaf(2)])}


def test_a_bonded_server_hears_all_leaves_and_a_cable_is_what_both_ends_agree_on() -> None:
    leaves = {
        f"leaf{number}": device(swp1=[host(1, f"eth{number - 1}")], swp51=[spine(1)])
        for number in (1, 2)
    }
    fabric = fabric_of(BONDED | leaves)
    on = [fabric.switch_name[switch] for switch in fabric.host_switch]
    assert list(zip(fabric.host_name, fabric.host_adapter_port.tolist(), on, strict=True)) == [
        ("server1", 1, "leaf1"),
        ("server1", 2, "leaf2"),
    ]
    assert not any(finding.wrong for finding in fabric.findings)


def test_what_nothing_decides_is_told_and_not_sound() -> None:
    swp2 = {"port": {"id": {"type": "ifname", "value": "swp2"}}}
    other = {"server2": device(eth0=[leaf(1) | swp2], eth1=[leaf(2) | swp2])}
    fabric = fabric_of(BONDED | other)
    assert sorted(fabric.switch_name[switch] for switch in fabric.host_switch) == [
        *("leaf1", "leaf1", "leaf2", "leaf2")
    ]
    assert [finding.message for finding in fabric.findings if finding.wrong] == [
        f"server1 eth{port} hears leaf1 swp1 and leaf2 swp1" for port in (0, 1)
    ]
    assert check_soundness(fabric)[0].summary == "undecided cable: 2"
