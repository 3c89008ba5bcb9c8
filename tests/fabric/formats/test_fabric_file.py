from __future__ import annotations

import struct
from dataclasses import fields, replace

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import InputError, UsageError
from contend.fabric import Fabric, open_chunks
from contend.fabric.formats import fabric_file
from contend.fabric.formats.fabric_file import COUNTS, HEADER, LIMITS, MAGIC
from contend.fabric.told.told_rails import NONE, ToldRails
from contend.routes import ForwardingTables
from sample_fabrics import DATA, escaped, fabrics, two_leaves


def container(fabric: Fabric) -> bytes:
    packed = b"".join(fabric_file.write(fabric))
    return zstandard.ZstdDecompressor().decompressobj().decompress(packed)


def read(content: bytes, pieces: int = 1 << 20) -> Fabric:
    chunks = [content[start : start + pieces] for start in range(0, len(content), pieces)]
    topology = fabric_file.read(chunks, "x")
    if topology.ports is None:
        return topology.fabric
    return topology.fabric.replace(routes=ForwardingTables(topology.ports, engine=topology.engine))


def assert_equal(fabric: Fabric, other: Fabric) -> None:
    for column in fields(Fabric):
        one, two = getattr(fabric, column.name), getattr(other, column.name)
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, two)
            assert one.dtype == two.dtype
        elif column.name == "routes" and one is not None:
            np.testing.assert_array_equal(one.ports, two.ports)
            assert one.engine == two.engine
        elif column.name == "told" and one is not None:
            assert (one.words, one.names, one.adapters) == (two.words, two.names, two.adapters)
            np.testing.assert_array_equal([one.server, one.rail], [two.server, two.rail])
        else:
            assert one == two


@given(fabrics(), st.integers(1, 100))
def test_everything_comes_back(fabric: Fabric, pieces: int) -> None:
    assert_equal(read(container(fabric), pieces), escaped(fabric))


def test_texts_are_legal_whatever_was_written() -> None:
    fabric = two_leaves()
    damaged = fabric.replace(host_name=("caf\udce9", *fabric.host_name[1:]))
    assert read(container(damaged)).host_name[0] == r"caf\udce9"


def test_a_fabric_without_routes_comes_back_without() -> None:
    fabric = two_leaves().replace(routes=None)
    assert_equal(read(container(fabric)), fabric)


def test_a_kept_file_stays_readable() -> None:
    content = b"".join(open_chunks(str(DATA / "two-leaves.fabric")))
    assert_equal(read(content), two_leaves())


def test_another_version_is_told() -> None:
    content = container(two_leaves()).replace(b"fabric 3\n", b"fabric 4\n")
    with pytest.raises(InputError, match=r"expected version 3 of .fabric, got version 4"):
        read(content)


def told() -> Fabric:
    """Three of four hosts on rails of two servers, of which one lacks its third adapter."""
    rails = ToldRails(
        "rails as r.txt has them",
        ("n1", ""),
        (("a", "0x7", NONE), ("b é",)),
        np.array([0, -1, 1, 0]),
        np.array([1, -1, 0, 0]),
    )
    return two_leaves().replace(told=rails)


def test_told_rails_come_back() -> None:
    assert_equal(read(container(told())), told())


@pytest.mark.parametrize(
    ("server", "rail", "expected"),
    [
        ([0, -1, 2, 0], [1, -1, 0, 0], "told_server below 2, got 2"),
        ([0, -1, 1, 0], [1, -1, 1, 0], "told_rail below the server's rails"),
        ([0, -1, 1, 0], [1, 0, 0, 0], "told_rail below the server's rails"),
        ([0, -1, 1, 0], [1, -1, 0, 1], "one host on each rail of a server"),
    ],
)
def test_told_rails_that_cannot_be_are_errors(
    server: list[int], rail: list[int], expected: str
) -> None:
    fabric = told()
    assert fabric.told is not None
    wrong = replace(fabric.told, server=np.array(server), rail=np.array(rail))
    with pytest.raises(InputError, match=expected):
        read(container(fabric.replace(told=wrong)))


def test_told_rails_are_as_many_as_adapters() -> None:
    content = container(told())
    sizes = content.replace(struct.pack("<2H", 3, 1), struct.pack("<2H", 3, 2))
    with pytest.raises(InputError, match="rails of a server, got 5 for 4 adapters"):
        read(sizes)
    for size in range(len(content)):
        with pytest.raises(InputError):
            read(content[:size])


def changed(content: bytes, **counts: int) -> bytes:
    start = len(MAGIC) + 2
    values = list(HEADER.unpack_from(content, start))
    for name, value in counts.items():
        values[COUNTS.index(name)] = value
    return content[:start] + HEADER.pack(*values) + content[start + HEADER.size :]


@pytest.mark.parametrize("name", COUNTS)
def test_absurd_counts_are_refused_before_memory_is_asked_for(name: str) -> None:
    content = changed(container(two_leaves()), **{name: 2**63})
    with pytest.raises(InputError, match=f"expected at most {LIMITS[name]} {name}"):
        read(content)


@pytest.mark.parametrize("name", COUNTS)
def test_counts_at_their_limit_end_with_the_file(name: str) -> None:
    # Gigabytes are claimed, but memory follows the content.
    content = changed(container(two_leaves()), **{name: LIMITS[name]})
    with pytest.raises(InputError, match=r"more bytes|bytes of"):
        read(content)


def test_tables_are_limited_as_a_whole() -> None:
    content = changed(container(two_leaves()), switches=1 << 16, addresses=1 << 16)
    with pytest.raises(InputError, match="table entries, got 65536 x 65536"):
        read(content)


def test_a_file_cut_off_or_too_long_is_an_error() -> None:
    content = container(two_leaves())
    for size in range(len(content)):
        with pytest.raises(InputError):
            read(content[:size])
    with pytest.raises(InputError, match="expected the end of the file at byte"):
        read(content + b"\0")


def test_indices_that_point_nowhere_are_errors() -> None:
    fabric = two_leaves()
    wrong = (("host_switch", 4), ("cable_to", 9), ("host_rate", 2), ("host_lmc", 8))
    fabric = fabric.replace(
        other_lid=np.array([20], dtype=np.uint32),
        other_guid=np.array([7], dtype=np.uint64),
        other_kind=("Router",),
        other_name=("r",),
        other_switch=np.array([3], dtype=np.uint32),
        other_port=np.array([4], dtype=np.uint16),
    )
    assert_equal(read(container(fabric)), fabric)
    for column, value in (*wrong, ("other_switch", 4)):
        numbers = getattr(fabric, column).copy()
        numbers[0] = value
        with pytest.raises(InputError, match=f"expected {column} below"):
            read(container(fabric.replace(**{column: numbers})))


def test_a_port_with_two_cables_is_an_error() -> None:
    ports = two_leaves().host_port.copy()
    ports[1] = 1
    with pytest.raises(InputError, match="expected cables that fit their switches, got port 1"):
        read(container(two_leaves().replace(host_port=ports)))


def test_more_switch_ports_than_a_machine_holds_are_refused() -> None:
    switches = 5000
    fabric = two_leaves().replace(
        **{
            column: np.resize(getattr(two_leaves(), column), switches)
            for column in ("switch_guid", "switch_system_guid", "switch_lid")
        },
        switch_name=("s",) * switches,
        switch_ports=np.full(switches, 0xFFFF, dtype=np.uint16),
        routes=None,
    )
    with pytest.raises(InputError, match="at most 268435456 switch ports, got 327675000"):
        read(container(fabric))


def test_text_that_is_none_is_an_error() -> None:
    content = container(two_leaves()).replace(b"leaf 0", b"leaf \xff")
    with pytest.raises(InputError, match="expected text in UTF-8 as switch_name"):
        read(content)


def test_what_no_file_may_hold_is_not_written() -> None:
    fabric = two_leaves().replace(rates=("",) * (LIMITS["rates"] + 1))
    with pytest.raises(UsageError, match=r"a \.fabric file holds at most 4096 rates, not 4097"):
        container(fabric)


def test_the_layout_is_what_the_documentation_says() -> None:
    content = container(two_leaves())
    start = len(b"contend fabric 3\n")
    assert struct.unpack_from("<9Q", content, start) == (4, 4, 4, 2, 0, 9, 0, 0, 0)
    # The first column is the node GUIDs of hosts.
    assert struct.unpack_from("<4Q", content, start + 72) == tuple(two_leaves().host_guid.tolist())
