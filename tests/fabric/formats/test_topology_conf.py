from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import InputError
from contend.base.names import expand, shorten, split_list
from contend.fabric import Fabric
from contend.fabric.assemble import assemble
from contend.fabric.formats import topology_yaml
from contend.fabric.formats.slurm_files import write_blocks, write_tree, write_yaml
from contend.fabric.formats.topology_conf import read, recognises
from contend.routes import load
from sample_fabrics import DATA
from slurm_machine import ask, running
from small_fabrics import by_hand

TINY = (DATA / "tiny.topology.conf").read_text()


def fabric_of(text: str) -> Fabric:
    return assemble(read([text.encode()], "topology.conf"), "topology.conf")


def failure(text: str) -> str:
    with pytest.raises(InputError) as caught:
        fabric_of(text)
    return str(caught.value)


def below(text: str) -> dict[str, set[str]]:
    """What a written file names below every switch."""
    found: dict[str, set[str]] = {}
    for name, names in re.findall(r"^SwitchName=(\S+) (?:Nodes|Switches)=(\S+)$", text, re.M):
        assert name not in found
        found[name] = {one for item in split_list(names) for one in expand(item, "x")}
    return found


def written(name: str) -> dict[str, set[str]]:
    return below("".join(write_tree(load(name))))


def test_switches_and_nodes_with_one_cable_for_each_pair() -> None:
    fabric = fabric_of(TINY)
    assert recognises(TINY.encode())
    assert fabric.switch_name == ("leaf1", "leaf2", "top")
    assert fabric.host_name == ("node01", "node02", "node03", "login", "node04", "node05", "node06")
    assert fabric.host_switch.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert sorted(fabric.cable_from.tolist() + fabric.cable_to.tolist()) == [0, 1, 2, 2]
    assert fabric.rates == ("",)
    told = [finding.message for finding in fabric.findings]
    assert "each pair has one cable here" in told[0]
    assert "LinkSpeed" in told[1]
    assert not any(finding.wrong for finding in fabric.findings)


def test_what_scontrol_shows_names_nodes_again_above_the_leaves() -> None:
    shown = (
        "[root@head ~]# scontrol show topology\n"
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2] \n"
        "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[3-4] \n"
        "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=leaf[1-2] \n"
    )
    fabric = fabric_of(shown)
    assert (fabric.hosts, fabric.switches, fabric.cables) == (4, 3, 2)
    assert any("skipped 1 line without" in finding.message for finding in fabric.findings)


def test_a_node_of_two_leaves_is_two_hosts_of_one_adapter() -> None:
    fabric = fabric_of("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n2\n")
    assert fabric.host_name == ("n1", "n2", "n2")
    assert fabric.host_adapter_port.tolist() == [1, 1, 2]
    assert fabric.host_guid[1] == fabric.host_guid[2]
    # As the ports of an adapter have them: routes lead to each.
    lids = [*fabric.host_lid.tolist(), *fabric.switch_lid.tolist()]
    assert 0 not in lids
    assert len(set(lids)) == 5


def test_few_nodes_on_several_leaves_are_a_contradiction() -> None:
    """Where most are, servers have adapters on several rails."""

    def wrong(nodes: str) -> list[str]:
        text = f"SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes={nodes}\nSwitchName=c Switches=a,b\n"
        return [finding.message for finding in fabric_of(text).findings if finding.wrong]

    assert wrong("n[4-8]") == ["node n4 is on a (line 1) and on b (line 2)"]
    assert wrong("n[1-5]") == wrong("n[5-8]") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SwitchName=a Nodes=n[1-\n", "1: expected a bracket that ends"),
        (
            "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
            "2: expected the name of another switch or block",
        ),
        ("SwitchName=a Switches=b\n", '1: expected another switch of this file below, got "b"'),
        ("SwitchName=a Switches=a\n", '1: expected another switch of this file below, got "a"'),
        ("\nSwitchName=a Hosts=n1\n", "2: expected SwitchName=, Nodes=, Switches= and LinkSpeed="),
        ("SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n", "2: expected SwitchName= as before"),
        ("SwitchName=a Nodes=n[0-99999]\n", "1: expected at most 65533 names"),
        ("SwitchName=a LinkSpeed=1\n", "expected at least one host on a switch"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str) -> None:
    assert message in failure(text)


def test_spines_are_one_switch_above_their_leaves() -> None:
    """3 leaves of 4 hosts below 2 spines: 3 leaves and one switch above them all."""
    assert written("xgft:2;4,3;1,2") == {
        "leaf-1": {f"host-{number}" for number in range(1, 5)},
        "leaf-2": {f"host-{number}" for number in range(5, 9)},
        "leaf-3": {f"host-{number}" for number in range(9, 13)},
        "level2-1": {"leaf-1", "leaf-2", "leaf-3"},
    }


def test_pods_are_switches_below_the_last() -> None:
    """3 pods of 2 leaves: the leaves of a pod share switches, all pods share the top."""
    tree = written("xgft:3;2,2,3;1,2,2")
    pods = [tree[f"level2-{number}"] for number in (1, 2, 3)]
    assert pods == [{"leaf-1", "leaf-2"}, {"leaf-3", "leaf-4"}, {"leaf-5", "leaf-6"}]
    assert tree["level3-1"] == {"level2-1", "level2-2", "level2-3"}


def test_hosts_on_a_spine_leave_the_pods_as_they_are() -> None:
    fabric = load("xgft:3;8,4,3;1,4,4")
    spine = int(np.flatnonzero(~np.isin(np.arange(fabric.switches), fabric.host_switch))[-1])
    with_one = fabric.replace(
        host_switch=np.append(fabric.host_switch[:-1], np.uint32(spine)),
        host_port=np.append(fabric.host_port[:-1], np.uint16(fabric.switch_ports[spine] + 1)),
        switch_ports=fabric.switch_ports + np.uint16(1),
    )
    tree = below("".join(write_tree(with_one)))
    assert tree["level2-1"] == {f"leaf-{number}" for number in range(1, 5)}
    (name,) = (name for name, nodes in tree.items() if nodes == {"host-96"})
    assert tree["level3-1"] == {"level2-1", "level2-2", "level2-3", name}


def test_switches_that_are_cabled_to_each_other_need_no_switch_between() -> None:
    assert written("ring:4;2")["level2-1"] == {f"switch-{number}" for number in range(4)}


def test_names_come_once_and_as_slurm_takes_them() -> None:
    fabric = by_hand(
        "odd", [["a b", "a b"], ["n_1"]], [(0, 3, 1, 3)], switches=["MF0;x:Q/U1", "MF0;x:Q/U1"]
    )
    text = "".join(write_tree(fabric))
    assert below(text) == {
        "MF0-x-Q-U1-0": {"0x0000000100000000", "0x0000000100000010"},
        "MF0-x-Q-U1-1": {"n_1"},
        "level2-1": {"MF0-x-Q-U1-0", "MF0-x-Q-U1-1"},
    }


def test_what_is_written_reads_as_the_same_tree() -> None:
    text = "".join(write_tree(load("xgft:3;2,2,3;1,2,2")))
    fabric = fabric_of(text)
    assert (fabric.hosts, fabric.switches, fabric.cables) == (12, 10, 9)
    assert below("".join(write_tree(fabric))) == below(text)


def test_slurm_takes_what_is_written(tmp_path: Path, require_program: Callable[..., str]) -> None:
    programs = [require_program(name) for name in ("munged", "slurmctld", "slurmd")]
    text = "".join(write_tree(load("xgft:3;2,2,3;1,2,2")))
    (tmp_path / "topology.conf").write_text(text)
    nodes = {node for node in set().union(*below(text).values()) if node.startswith("host")}
    settings = (
        f"TopologyPlugin=topology/tree\nNodeName={shorten(sorted(nodes))} NodeAddr=127.0.0.1\n"
    )
    with running(tmp_path, *programs, nodes=(), settings=settings) as configuration:
        shown = fabric_of(ask(configuration, "scontrol", "show", "topology"))
    ours = fabric_of(text)
    assert set(shown.host_name) == nodes
    assert set(shown.switch_name) == set(ours.switch_name)
    assert (shown.hosts, shown.switches, shown.cables) == (12, 10, 9)


BLOCKS = "BlockName=b1 Nodes=n[1-5]\nBlockName=b2 Nodes=n[6-9]\nBlockName=b3 Nodes=n[10-13]\n"


def above(fabric: Fabric) -> dict[str, set[str]]:
    """The switches that every switch is cabled to."""
    joined: dict[str, set[str]] = {}
    for one, other in zip(fabric.cable_from.tolist(), fabric.cable_to.tolist(), strict=True):
        for near, far in ((one, other), (other, one)):
            joined.setdefault(fabric.switch_name[near], set()).add(fabric.switch_name[far])
    return joined


def test_blocks_are_switches_below_one_or_below_blocks_of_blocks() -> None:
    """Three blocks, of which BlockSizes puts each two in a row into a larger one."""
    assert recognises(BLOCKS.encode())
    flat = fabric_of(BLOCKS)
    assert flat.host_switch.tolist() == [0] * 5 + [1] * 4 + [2] * 4
    assert above(flat)["all blocks"] == {"b1", "b2", "b3"}
    assert any("blocks say which nodes are near" in one.message for one in flat.findings)
    paired = above(fabric_of(BLOCKS + "BlockSizes=4,8\n"))
    assert paired["b1"] == paired["b2"] == {"blocks of 8, from b1"}
    assert paired["b3"] == {"blocks of 8, from b3"}
    assert paired["all blocks"] == {"blocks of 8, from b1", "blocks of 8, from b3"}


def test_larger_blocks_are_as_many_in_a_row_as_their_size_says() -> None:
    """9 blocks of 2: one of 16 nodes holds 8 of them, the next the last."""
    blocks = "".join(f"BlockName=b{n} Nodes=n{n}[1-2]\n" for n in range(1, 10))
    joined = above(fabric_of(blocks + "BlockSizes=2,16\n"))
    assert joined["blocks of 16, from b1"] == {"all blocks", *(f"b{n}" for n in range(1, 9))}
    assert joined["blocks of 16, from b9"] == {"all blocks", "b9"}


@pytest.mark.parametrize("key", ["AggregatedBlock", "BlockName"])
def test_what_scontrol_shows_of_blocks(key: str) -> None:
    shown = "".join(
        f"BlockName=b{block} BlockIndex={block} Nodes=n{block}[1-2] BlockSize=2\n"
        for block in range(1, 5)
    )
    shown += f"{key}=b[1-2] BlockIndex=4 Nodes=n1[1-2],n2[1-2] BlockSize=4\n"
    fabric = fabric_of(shown)
    assert (fabric.hosts, fabric.switches, fabric.cables) == (8, 7, 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            BLOCKS + "BlockSizes=4,12\n",
            "4: expected block sizes that each are the one before times",
        ),
        (BLOCKS + "BlockSizes=0\n", "4: expected a number of nodes, got '0'"),
        (
            "BlockName=a Nodes=n1\nBlockName=a Nodes=n2\n",
            "2: expected the name of another switch or block",
        ),
        ("RingName=r Nodes=n[1-4]\n", "1: expected SwitchName= or BlockName=, as a ring names no"),
    ],
)
def test_what_is_wrong_with_blocks_is_named(text: str, message: str) -> None:
    assert message in failure(text)


def yaml_of(text: str) -> Fabric:
    assert topology_yaml.recognises(text.encode())
    subnet = topology_yaml.read([text.encode()], "topology.yaml")
    return assemble(subnet, "topology.yaml")


YAML = (DATA / "tiny.topology.yaml").read_text()


def test_the_default_of_a_yaml_is_read_as_the_same_lines_of_a_conf() -> None:
    fabric, same = yaml_of(YAML), fabric_of(TINY)
    assert fabric.host_name == same.host_name
    assert fabric.switch_name == same.switch_name
    assert fabric.host_switch.tolist() == same.host_switch.tolist()
    assert above(fabric) == above(same)
    assert [one.message for one in fabric.findings][1] == 'of 3 topologies "fabric" is read'


def test_blocks_of_a_yaml_are_those_of_a_conf() -> None:
    blocks = YAML.replace("cluster_default: true", "cluster_default: false").replace(
        "cluster_default: no", "cluster_default: True"
    )
    fabric = yaml_of(blocks)
    assert fabric.host_switch.tolist() == [0, 0, 0, 1, 1, 1]
    assert above(fabric) == {"b1": {"all blocks"}, "b2": {"all blocks"}, "all blocks": {"b1", "b2"}}


def test_names_that_yaml_takes_for_something_else_are_names() -> None:
    text = "- topology: t\n  tree: {switches: [{switch: 0x10, nodes: 'no,1e3'}]}\n"
    fabric = yaml_of(text)
    assert (fabric.host_name, fabric.switch_name) == (("no", "1e3"), ("0x10",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- topology: t\n  flat: true\n", "1: expected a tree or block, which name switches or"),
        ("- topology: t\n  ring: {}\n", "got ring, which names none"),
        ("- topology: t\n  tree:\n    switches: []\n", "expected a list of switches, got none"),
        (
            "- topology: t\n  tree: {switches: [{switch: a, hosts: b}]}\n",
            "2: expected switch, chil",
        ),
        ("- topology: t\n  tree: {switches: [{switch: a}, {switch: a}]}\n", "2: expected the name"),
        ("- topology: t\n  topology: u\n", "2: expected another setting, got 'topology' again"),
        ("- topology: &a t\n  tree: *a\n", "2: expected YAML without aliases, got *a"),
        ("- topology: t\n  tree: [\n", "expected YAML, got "),
        ("- topology: t\n  tree: " + "[" * 99, "2: expected a list of topologies, got one nested"),
        ("- topology: t\n  tree: \x01\n", "expected YAML, got "),
    ],
)
def test_what_is_wrong_in_a_yaml_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        yaml_of(text)


def test_a_block_is_what_hangs_at_a_leaf_and_pods_are_larger_blocks() -> None:
    """4 pods of 2 leaves of 2 hosts: blocks of 2 nodes, of 4 in a pod, of all 16."""
    text = "".join(write_blocks(load("xgft:3;2,2,4;1,2,2")))
    assert text.splitlines()[-1] == "BlockSizes=2,4,16"
    fabric = fabric_of(text)
    assert fabric.host_switch.tolist() == [leaf for leaf in range(8) for _ in range(2)]
    assert above(fabric)["leaf-1"] == {"blocks of 4, from leaf-1"}


def test_pods_that_are_no_power_of_two_are_no_larger_blocks() -> None:
    text = "".join(write_blocks(load("xgft:3;2,3,2;1,2,2")))
    assert text.splitlines()[-1] == "BlockSizes=2"


def test_a_written_yaml_reads_as_the_written_conf() -> None:
    fabric = load("xgft:3;2,2,3;1,2,2")
    text = "".join(write_yaml(fabric))
    assert above(yaml_of(text)) == above(fabric_of("".join(write_tree(fabric))))
    blocks = text.replace("default: true", "default: no").replace("default: false", "default: true")
    assert above(yaml_of(blocks)) == above(fabric_of("".join(write_blocks(fabric))))


def test_included_files_are_read_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "racks").mkdir()
    (tmp_path / "racks" / "1.conf").write_text("include 2.conf\nSwitchName=s1 Nodes=n[1-2]\n")
    (tmp_path / "racks" / "2.conf").write_text("SwitchName=s2 Nodes=n[3-4]\n")
    path = tmp_path / "topology.conf"
    path.write_text("Include racks/1.conf\nSwitchName=top Switches=s[1-2]\n")
    fabric = load(path)
    assert fabric.host_name == ("n3", "n4", "n1", "n2")
    assert fabric.cables == 2
    for text, complaint in (
        ("include topology.conf\n", "/topology.conf:1: expected a file that does not lead back"),
        ("include racks/7.conf\n", ":1: expected the file that is included here, got no "),
        ("include racks/\0.conf\n", ":1: expected the file that is included here, got no "),
        ("include racks/bad.conf\n", "racks/bad.conf:2: expected SwitchName= or BlockName="),
    ):
        (tmp_path / "racks" / "bad.conf").write_text("\nHost=7\n")
        path.write_text(text)
        with pytest.raises(InputError, match=complaint):
            load(path)


def test_blocks_have_the_servers_that_compute() -> None:
    """Server 1 keeps one of its four adapters, as for management; server 2 lacks one."""
    gone = [f"server 1 rail {rail}" for rail in (2, 3, 4)] + ["server 2 rail 4"]
    fabric = load("rails:2,3,4,4", without=gone)
    text = "".join(write_blocks(fabric))
    nodes = [line.partition("Nodes=")[2] for line in text.splitlines() if "Nodes=" in line]
    assert nodes == ["server-[2-3]", "server-[4-6]"]
    assert (
        "smallest block: unit-1-leaf-1, 2 nodes. 1 server unlike the others is in no block: "
        "server-1.\n" in text
    )
    assert "server-1" in "".join(write_tree(fabric)).replace("[1-3]", "1")


def test_a_login_node_among_others_is_in_no_block() -> None:
    """Leaf 1 has a login node among four; leaf 2 has four of another kind, and leaf 3 no kind."""
    names = [*(f"node{n}" for n in range(1, 5)), *(f"big{n}" for n in range(1, 5))]
    names[3] = "login1"
    names += ["ada", "bob", "node9", "node8"]
    fabric = load("xgft:2;4,3;1,2").replace(host_name=tuple(names))
    text = "".join(write_blocks(fabric))
    nodes = [line.partition("Nodes=")[2] for line in text.splitlines() if "Nodes=" in line]
    assert nodes == ["node[1-3]", "big[1-4]", "ada,bob,node[8-9]"]
    assert "3 nodes. 1 server unlike the others is in no block: login1.\n" in text
    assert "login1" in "".join(write_tree(fabric))
