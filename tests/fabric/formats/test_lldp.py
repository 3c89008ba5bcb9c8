from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from contend.errors import InputError
from contend.fabric import Fabric
from contend.fabric.assemble import assemble
from contend.fabric.formats.lldp import read, read_folder, recognises
from contend.loading import load
from sample_fabrics import DATA

# Real outputs of lldpd in a namespace for each of two leaves, two spines and four nodes; one is of
# -f json0, and of the nodes only one is kept.
FOLDER = DATA / "lldp"
NAMES = ("leaf1", "leaf2", "spine1", "spine2", "node1")


def output(name: str) -> Any:
    return json.loads(next(FOLDER.glob(f"{name}.json*")).read_text())


def fabric_of(document: Any, source: str = "all.json") -> Fabric:
    return assemble(read([json.dumps(document).encode()], source), source)


def failure(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read([text.encode()], "all.json")
    return str(caught.value)


def cables(fabric: Fabric) -> set[frozenset[tuple[str, int]]]:
    near = zip(fabric.cable_from.tolist(), fabric.cable_from_port.tolist(), strict=True)
    far = zip(fabric.cable_to.tolist(), fabric.cable_to_port.tolist(), strict=True)
    return {
        frozenset((fabric.switch_name[switch], port) for switch, port in ends)
        for ends in zip(near, far, strict=True)
    }


def expect_all(fabric: Fabric) -> None:
    assert fabric.host_name == ("node1", "node2", "node3", "node4")
    assert [fabric.switch_name[switch] for switch in fabric.host_switch] == [
        *("leaf1", "leaf1", "leaf2", "leaf2")
    ]
    assert fabric.host_port.tolist() == [1, 2, 1, 2]
    assert cables(fabric) == {
        frozenset({(leaf, 2 + spine), (f"spine{spine}", int(leaf[-1]))})
        for leaf in ("leaf1", "leaf2")
        for spine in (1, 2)
    }
    assert fabric.rates == ("", "10GbE")
    assert fabric.findings == ()


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
        ('{"lldp": {"interface": []}}', "expected neighbours that LLDP heard of, got none"),
        ('{"a":\n {"lldp" 1}}', "all.json:2: expected JSON, got Expecting ':' delimiter"),
        ('{"lldp": 1', "all.json:1: expected JSON"),
        ("nothing", "expected the JSON of lldpctl, got none"),
        ('{"a": {"cdp": {}}}', 'expected "lldp" below "a", got'),
        ('{"lldp": {"interface": ["eth0"]}}', "expected an object for each interface, got 'eth0'"),
        ('{"lldp": {"interface": {"eth0": 7}}}', 'expected what is heard at "eth0", got 7'),
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
        read_folder(str(tmp_path))


def test_a_folder_without_such_files_is_none(tmp_path: Path) -> None:
    (tmp_path / "net.txt").write_text("")
    assert read_folder(str(tmp_path)) is None
