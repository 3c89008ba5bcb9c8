"""Rails of servers, adapters on others' rails, and switches named like another row."""

from __future__ import annotations

import numpy as np
import pytest

from contend.fabric import Check, Fabric, Status, check_soundness, without
from contend.fabric.faults.incomplete import misnamed_switches
from contend.fabric.generate.catalogue import make
from contend.fabric.rails import (
    AstrayServer,
    Rail,
    hosts_on_other_rails,
    incomplete_servers,
    rails,
)
from small_fabrics import fat_tree


def named(fabric: Fabric, name: str) -> Check:
    return next(check for check in check_soundness(fabric) if check.name == name)


def tree(spines: list[str], leaves: list[str] | None = None) -> Fabric:
    """Four leaves below four spines."""
    leaves = leaves or [f"leaf{number}" for number in range(1, 5)]
    return fat_tree(4, 4, 4).replace(switch_name=(*leaves, *spines))


def test_a_spine_named_like_a_leaf() -> None:
    fabric = tree(["spine1", "spine2", "leaf9", "spine4"])
    sentence = (
        'switch "leaf9" has the same neighbours as "spine1" and "spine2", but is named like "leaf1"'
    )
    assert misnamed_switches(fabric) == [sentence]
    found = named(fabric, "names")
    assert (found.status, found.details) == (Status.WARNING, (sentence,))
    assert found.summary == "1 switch is named like switches in another position"


def test_two_switches_with_one_name() -> None:
    fabric = fat_tree(6, 4, 3)
    twice = (*fabric.switch_name[:5], fabric.switch_name[0], *fabric.switch_name[6:])
    found = named(fabric.replace(switch_name=twice), "names")
    assert found.summary == f'2 switches are called "{fabric.switch_name[0]}"'
    # What a maker calls all of its switches names none.
    assert named(fabric.replace(switch_name=("Quantum",) * 9), "names").status == Status.OK


def test_a_leaf_named_like_a_spine_that_exists() -> None:
    fabric = tree(["spine1", "spine2", "spine3", "spine4"], ["leaf1", "spine3", "leaf3", "leaf4"])
    assert misnamed_switches(fabric) == [
        'switch "spine3 0x0000000200000001" has the same neighbours as "leaf1" and "leaf3", '
        'but is named like "spine1"'
    ]


@pytest.mark.parametrize(
    "spines",
    [
        ["spine1", "spine2", "spine3", "spine4"],
        ["spine1", "spine2", "core1", "spine4"],  # No other row is called so.
        ["leaf5", "leaf6", "leaf7", "leaf8"],
        ["spine1", "leaf6", "leaf7", "spine4"],  # Two and two: neither is usual.
        ["", "", "", ""],
        ["Quantum", "Quantum", "Quantum", "leaf"],
    ],
)
def test_names_that_fit_their_row_or_tell_of_none(spines: list[str]) -> None:
    assert misnamed_switches(tree(spines)) == []


def railed(swaps: list[tuple[int, int]]) -> Fabric:
    """Eight servers of four adapters, a rail on each of four leaves, but for what is swapped."""
    fabric = fat_tree(4, 8, 2)
    # Host 8 r + s hangs on leaf r: server s's adapter of rail r.
    name = [f"n{host % 8} mlx5_{host // 8}" for host in range(32)]
    for one, other in swaps:
        name[one], name[other] = name[other], name[one]
    return fabric.replace(host_name=tuple(name), host_system_guid=np.zeros(32, np.uint64))


def test_two_adapters_on_each_other_s_rails() -> None:
    """Server 3's second and third adapters: hosts 11 and 19."""
    sentence = (
        'server n3: "n3 mlx5_2" on switch "switch 1" port 4 and "n3 mlx5_1" on switch "switch 2" '
        "port 4 are cabled to each other's rails"
    )
    fabric = railed([(11, 19)])
    brief = "n3's rails 2 and 3 are swapped"
    assert hosts_on_other_rails(fabric) == [AstrayServer(sentence, brief)]
    found = named(fabric, "rails")
    assert (found.status, found.details) == (Status.WARNING, (sentence,))
    assert found.summary == "1 server has adapters on leaves of other rails"
    assert found.causes == (brief,)


def test_servers_that_swapped_an_adapter_each() -> None:
    """Server 0's first adapter hangs where server 1's second should, and the other way round."""
    found = hosts_on_other_rails(railed([(0, 9)]))
    assert [server.brief for server in found] == [
        "n1's rail 2 hangs on a leaf of another rail",
        "n0's rail 1 hangs on a leaf of another rail",
    ]
    assert [server.words for server in found] == [
        'server n1: "n1 mlx5_1" on switch "switch 0" port 1 is cabled to a leaf of rail 1, not 2',
        'server n0: "n0 mlx5_0" on switch "switch 1" port 2 is cabled to a leaf of rail 2, not 1',
    ]


def test_networks_that_know_no_rails() -> None:
    fabric = railed([])
    assert hosts_on_other_rails(fabric) == []
    # All adapters of a server on one leaf.
    together = fabric.replace(host_name=tuple(f"n{h // 4} mlx5_{h % 4}" for h in range(32)))
    assert hosts_on_other_rails(together) == []
    # Cabled at random.
    words = np.random.default_rng(2).permutation(fabric.host_name)
    assert hosts_on_other_rails(fabric.replace(host_name=tuple(words.tolist()))) == []
    # A server each.
    single = fabric.replace(host_name=tuple(f"n{h}" for h in range(32)))
    assert hosts_on_other_rails(single) == []


def test_a_server_that_lacks_an_adapter_is_on_its_rails() -> None:
    names = list(railed([]).host_name)
    names[8] = "login mlx5_0"  # Server 0 has no second adapter.
    assert hosts_on_other_rails(railed([]).replace(host_name=tuple(names))) == []


def test_a_server_without_one_of_four_adapters() -> None:
    """Without n5's second; a login node with one of four is another kind of server."""
    whole = railed([])
    assert list(incomplete_servers(whole)) == []
    gone = without(whole, ['host "n5 mlx5_1"']).fabric
    sentence = 'server n5: adapter "mlx5_1" of rail 2 is missing'
    assert list(incomplete_servers(gone)) == [sentence]
    found = named(gone, "rails")
    assert (found.status, found.summary) == (
        Status.WARNING,
        "1 server lacks adapters that others have",
    )
    assert found.details == (sentence,)
    login = without(whole, [f'host "n5 mlx5_{rail}"' for rail in (1, 2, 3)]).fabric
    assert list(incomplete_servers(login)) == []


def test_rails_with_their_leaves() -> None:
    """A leaf a rail; server 3's second and third adapters swapped leaves."""
    assert rails(railed([(11, 19)])) == (
        Rail(1, "mlx5_0", 8, 1, 0),
        Rail(2, "mlx5_1", 8, 2, 1),
        Rail(3, "mlx5_2", 8, 2, 1),
        Rail(4, "mlx5_3", 8, 1, 0),
    )
    assert rails(fat_tree(4, 8, 2)) == ()


@pytest.mark.parametrize(
    "spec",
    ["rails:2,8,4,4", "xgft:2;4,4;1,4", "chic", "dragonfly:2,4,2", "fig1", "tara", "torus:3x3"],
)
def test_generated_networks_are_in_order(spec: str) -> None:
    assert {check.status for check in check_soundness(make(spec))} == {Status.OK}


def test_a_rail_that_has_lost_spines_of_its_own() -> None:
    """Two spines a rail: without one of them its leaves have one cable, others two."""
    fabric = make("rails:4,4,4,8;1;4")
    assert named(fabric, "rails").status is Status.OK
    found = named(without(fabric, ["rail 3 spine 1"]).fabric, "rails")
    assert (found.status, found.summary) == (Status.WARNING, "1 rail has fewer cables than most")
    assert found.details == (
        "leaves of rail 3 have 1 of the 2 cables to other switches that leaves of most rails have, "
        "on average",
    )
    # A single cable is no rail's.
    cut = without(make("rails:4,4,4,16;1;4"), ["unit 1 leaf 1:5"]).fabric
    assert named(cut, "rails").status is Status.OK


def test_a_leaf_that_is_missing_is_one_sentence_that_names_its_servers() -> None:
    """Units of four servers, of which each rail has a leaf; the second unit lacks its third."""
    whole = make("rails:4,4,4,8;1")
    names = [f"n{host // 4 + 1:02} mlx5_{host % 4}" for host in range(whole.hosts)]
    whole = whole.replace(host_name=tuple(names), told=None)
    assert incomplete_servers(whole) == {}
    gone = 'adapter "mlx5_2" of rail 3 is missing'
    one = without(whole, ["unit 2 leaf 3"]).fabric
    assert incomplete_servers(one) == {
        f"4 servers, n[05-08]: {gone}, and with it its whole leaf": 4
    }
    assert named(one, "rails").summary == "4 servers lack adapters that others have"
    some = without(whole, [f'host "n{server:02} mlx5_2"' for server in (5, 6, 8)]).fabric
    where = 'their neighbours have it on switch "unit 2 leaf 3"'
    assert incomplete_servers(some) == {f"3 servers, n[05-06,08]: {gone}; {where}": 3}
