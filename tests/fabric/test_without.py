"""What is left of a fabric where switches, cables or hosts die, and of its tables."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

import contend
from contend.base.errors import InputError, UsageError
from contend.fabric import Fabric, make, without
from contend.routes import NO_PORT, ForwardingTables, check, find_route, mended
from small_fabrics import two_planes


def _tree() -> Fabric:
    """Four leaves of three hosts each, two switches above: every leaf has a cable to each."""
    return make("xgft:2;3,4;1,2")


def test_a_dead_switch_takes_its_cables() -> None:
    tree = _tree()
    rest = without(tree, ["top 1"])
    assert (rest.fabric.switches, rest.fabric.cables, rest.fabric.hosts) == (5, 4, 12)
    assert "top 1" not in rest.fabric.switch_name
    assert [tree.switch_name[s] for s in rest.switches] == list(rest.fabric.switch_name)
    assert rest.words == 'switch "top 1" with 4 cables'
    # All others have the ports that they had.
    ends = {tree.channel_name(2 * cable) for cable in range(tree.cables)}
    assert {rest.fabric.channel_name(2 * cable) for cable in range(4)} < ends


def test_a_dead_leaf_takes_its_hosts() -> None:
    tree = _tree()
    rest = without(tree, ["leaf 2"])
    assert (rest.fabric.hosts, rest.hosts_lost, rest.hosts_cut) == (9, 3, 0)
    gone = set(tree.host_name) - set(rest.fabric.host_name)
    at = tree.switch_name.index("leaf 2")
    assert gone == {tree.host_name[host] for host in np.flatnonzero(tree.host_switch == at)}


def test_what_no_cable_joins_any_more_is_cut_off() -> None:
    rest = without(_tree(), ["leaf 1:4", "leaf 1:5"])
    assert (rest.fabric.hosts, rest.hosts_lost, rest.hosts_cut) == (9, 0, 3)
    assert rest.words.endswith("; 3 hosts cut off")


@pytest.mark.parametrize(
    ("names", "cables", "hosts"),
    [
        (["top 1, top 2:1"], 3, 9),
        (["host 1"], 8, 11),
        (["leaf 1:1"], 8, 11),
        (["top 1", "top 1", "top 1:2"], 4, 12),
        (["file:dead"], 4, 12),
    ],
)
def test_names_are_switches_cables_hosts_lists_and_files(
    names: list[str], cables: int, hosts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dead").write_text("# tonight\ntop 1\n\nleaf 3:4\n")
    rest = without(_tree(), names).fabric
    assert (rest.cables, rest.hosts) == (cables, hosts)


def test_a_guid_names_what_has_it() -> None:
    tree = _tree()
    guid = int(tree.switch_guid[tree.switch_name.index("top 2")])
    assert "top 2" not in without(tree, [f"0x{guid:x}"]).fabric.switch_name


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["top 3"], "no such switch, cable (SWITCH:PORT) or host; did you mean 'top"),
        (["top 1:9"], 'nothing is cabled to port 9 of "top 1"'),
        (["0xdead"], "no such switch"),
        (["leaf 1,leaf 2,leaf 3,leaf 4"], "no host would be left"),
    ],
)
def test_what_is_not_there_is_refused(names: list[str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        without(_tree(), names)
    assert said in str(refused.value)


def test_a_name_of_several_needs_a_guid(tmp_path: Path) -> None:
    tree = _tree()
    twins = tree.replace(switch_name=("leaf", "leaf", *tree.switch_name[2:]))
    with pytest.raises(UsageError, match="2 have this name; give a GUID, such as 0x"):
        without(twins, ["leaf"])
    with pytest.raises(InputError, match="a file of names"):
        without(tree, [f"file:{tmp_path / 'none'}"])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("top 1\nleaf[1]x[0x]\n", "dead:2: without: expected ranges of numbers within brackets"),
        ("leaf 1,leaf 2\n# more\nleaf 3,leaf 4\n", "dead:3: without switch"),
        ("top 1\ntop 9\n", "dead:2: top 9: .* has no such switch"),
    ],
)
def test_an_error_in_a_file_of_names_tells_the_line(lines: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "dead").write_text(lines)
    with pytest.raises(UsageError, match=f"^{tmp_path}/{said}"):
        without(_tree(), [f"file:{tmp_path / 'dead'}"])


@pytest.mark.parametrize("engine", ["minhop", "dmodk", "contend"])
def test_tables_change_only_where_routes_were_cut(engine: str) -> None:
    whole = contend.load("xgft:3;3,3,3;1,2,2", route=engine)
    rest = without(whole, [whole.switch_name[-1], f"{whole.switch_name[0]}:4"])
    left, changed, _ = mended(whole, rest)
    assert check(left).passed
    before = whole.routes.ports[rest.switches, : left.routes.addresses]
    assert np.array_equal((before != left.routes.ports).sum(axis=1), changed)
    # What a route that still arrives goes by has not been touched.
    old = rest.fabric.replace(routes=ForwardingTables(before))
    kept = 0
    for source in range(rest.fabric.hosts):
        for target in range(0, rest.fabric.hosts, 5):
            with contextlib.suppress(UsageError):
                route = find_route(old, source, target)
                assert find_route(left, source, target).channels == route.channels
                kept += 1
    assert kept > 0


def test_a_notebook_loads_it(tmp_path: Path) -> None:
    fabric = contend.load("fig1", route="minhop", without=["leaf 2:1"])
    assert fabric.hosts == 15
    assert fabric.name == "fig1 without leaf 2:1"
    assert not (fabric.routes.ports[:, fabric.host_lid] == NO_PORT).any()


def test_what_no_cable_joined_before_is_not_cut_off_now() -> None:
    """Of each plane what is left stays, and of that which falls apart its larger part."""
    planes = two_planes()
    rest = without(planes, ["plane1-4", "plane1-0:4"])
    assert (rest.hosts_lost, rest.hosts_cut, rest.fabric.hosts) == (0, 2, 12)
    assert without(planes, ["plane0-3"]).words == 'switch "plane0-3" with 3 cables'


@pytest.mark.parametrize(
    ("name", "switches", "cables", "hosts"),
    [
        ("leaf [1-2]", 4, 4, 6),
        ("top ?:1", 6, 6, 9),
        ("leaf [1-2]:4", 6, 6, 12),
        ("leaf 1,top *2", 4, 3, 9),
    ],
)
def test_globs_and_ranges_name_all_that_match(
    name: str, switches: int, cables: int, hosts: int
) -> None:
    rest = without(_tree(), [name]).fabric
    assert (rest.switches, rest.cables, rest.hosts) == (switches, cables, hosts)


def test_what_matches_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^spine \*: .* has no such switch"):
        without(_tree(), ["spine *"])
    with pytest.raises(UsageError, match=r"^host 01: .* has no such switch"):
        without(_tree(), ["host [01-02]"])
    with pytest.raises(UsageError, match="no host would be left"):
        without(_tree(), ["host *"])
    # Ranges by the million are not each compared with all names.
    with pytest.raises(UsageError, match="has no such switch"):
        without(_tree(), ["leaf [1-999999]*"])
