"""Names by formula stand for a tuple of the same names."""

from __future__ import annotations

import pickle
from dataclasses import astuple

import pytest

import contend
from contend.fabric import check_soundness, find_rails, server_names, servers_of
from contend.fabric.fabric import NumberedNames

_MADE = NumberedNames("host", 12)
_TOLD = tuple(f"host {number}" for number in range(1, 13))


def test_they_are_read_as_a_tuple_is() -> None:
    assert len(_MADE) == 12
    assert [*_MADE] == [*_TOLD]
    assert [_MADE[number] for number in range(-12, 12)] == [
        _TOLD[number] for number in range(-12, 12)
    ]
    for some in (slice(3), slice(2, -3), slice(None, None, -2), slice(20, 30)):
        assert _MADE[some] == _TOLD[some]
    assert "host 12" in _MADE
    assert "host 13" not in _MADE
    assert _MADE.index("host 7") == 6
    for beyond in (12, -13):
        with pytest.raises(IndexError):
            _MADE[beyond]


def test_they_equal_a_tuple_of_the_same_names() -> None:
    assert _MADE == _TOLD
    assert _TOLD == _MADE
    assert hash(_MADE) == hash(_TOLD)
    assert NumberedNames("host", 12) == _MADE
    assert NumberedNames("host", 11) != _MADE
    assert NumberedNames("node", 12) != _MADE
    assert _TOLD[:-1] != _MADE
    assert pickle.loads(pickle.dumps(_MADE)) == _TOLD


@pytest.mark.parametrize(
    "spec", ["fattree3:8", "torus:4x4;2", "dragonfly:2,4,2", "hyperx:4x4;2;1,1"]
)
def test_generated_networks_make_no_names_of_hosts_before_they_are_asked_for(spec: str) -> None:
    fabric = contend.load(spec, route="minhop")
    assert isinstance(fabric.host_name, NumberedNames)
    assert fabric.replace(host_name=tuple(fabric.host_name)).host_label == fabric.host_label


@pytest.mark.parametrize("spec", ["fattree3:8", "torus:4x4;2", "crossbar:1", "crossbar:2"])
@pytest.mark.parametrize("shared", [(), ("host_guid",), ("host_system_guid",), ("host_port_guid",)])
def test_they_name_the_servers_that_the_same_names_do(spec: str, shared: tuple[str, ...]) -> None:
    """Whether adapters are of one host each or a GUID says that two hosts share one."""
    made = contend.load(spec, route="minhop")
    for column in shared:
        guids = made.host_guid.copy()
        guids[-1] = guids[0]
        made = made.replace(**{column: guids})
    told = made.replace(host_name=tuple(made.host_name))
    assert servers_of(made).tolist() == servers_of(told).tolist()
    assert server_names(made) == server_names(told)
    for one, other in zip(astuple(find_rails(made)), astuple(find_rails(told)), strict=True):
        assert one.tolist() == other.tolist()
    assert check_soundness(made) == check_soundness(told)
