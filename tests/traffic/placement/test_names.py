"""What a written name means."""

from __future__ import annotations

import numpy as np
import pytest

from contend.base.errors import InputError
from contend.base.names import expand, split_list
from contend.fabric import Fabric
from contend.traffic.placement.host_names import HostNames
from small_fabrics import by_hand


def fabric_of(names: list[str]) -> Fabric:
    return by_hand("small", [names])


def found(names: list[str], wanted: str) -> list[str]:
    fabric = fabric_of(names)
    return [fabric.host_name[h] for h in HostNames(fabric).find(wanted, "hosts.txt", 3)]


RAILS = ["luna-1 mlx5_1", "luna-1 mlx5_0", "luna-10 mlx5_0", "luna-2.site mlx5_0", "luna-3/P1"]


@pytest.mark.parametrize(
    ("wanted", "means"),
    [
        ("luna-1 mlx5_1", ["luna-1 mlx5_1"]),
        ("luna-1", ["luna-1 mlx5_0", "luna-1 mlx5_1"]),
        ("luna-2", ["luna-2.site mlx5_0"]),
        ("luna-2.site", ["luna-2.site mlx5_0"]),
        ("luna-3", ["luna-3/P1"]),
        ("luna-10.other.site", ["luna-10 mlx5_0"]),
    ],
)
def test_the_first_rule_that_matches_decides(wanted: str, means: list[str]) -> None:
    assert found(RAILS, wanted) == means


def test_a_whole_name_wins_over_the_first_word_of_others() -> None:
    assert found(["node", "node ib1"], "node") == ["node"]


@pytest.mark.parametrize("wanted", ["luna", "luna-", "LUNA", "luna-1 mlx5", ""])
def test_parts_of_a_name_are_no_name(wanted: str) -> None:
    with pytest.raises(InputError, match=r"^hosts.txt:3: expected a host of small, got"):
        found(RAILS, wanted)


def test_a_name_of_several_adapters_is_ambiguous() -> None:
    with pytest.raises(InputError, match=r'hosts.txt:3: .*"MT25408 ConnectX"'):
        found(["MT25408 ConnectX", "MT25408 ConnectX", "other"], "MT25408")


def test_two_ports_of_one_adapter_may_share_a_name() -> None:
    fabric = fabric_of(["n1 HCA-1", "n1 HCA-1"])
    fabric = fabric.replace(
        host_guid=np.array([5, 5], dtype=np.uint64),
        host_adapter_port=np.array([1, 2], dtype=np.uint16),
    )
    assert HostNames(fabric).find("n1", "x") == [0, 1]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-10,12]x", ["n08x", "n09x", "n10x", "n12x"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("plain", ["plain"]),
    ],
)
def test_ranges_expand(text: str, names: list[str]) -> None:
    assert expand(text, "x") == names


@pytest.mark.parametrize(
    "text", ["n[]", "n[3-1]", "n[a-b]", "n[1-9999999]", "n[1-9999][1-9999]", "n[1,]"]
)
def test_bad_ranges_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^file:7: "):
        expand(text, "file", 7)


def test_commas_within_brackets_do_not_split() -> None:
    assert split_list("a, b[1,3-4],,c") == ["a", "b[1,3-4]", "c"]
