from __future__ import annotations

import gzip
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contend.base.errors import UsageError
from contend.fabric import Fabric, open_chunks
from contend.routes import KINDS, kind_of, load, save
from contend.routes.saving import content
from sample_fabrics import described, fabrics, host_ports, two_leaves

# What every text format can hold: no control characters, no double quotes.
PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters='"'))


def text(fabric: Fabric, kind: str) -> str:
    return b"".join(content(fabric, kind)).decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fabrics(PLAIN))
def test_ibnetdiscover_and_its_tables_come_back(folder: Path, fabric: Fabric) -> None:
    topology, tables = folder / "x.ibnetdiscover", folder / "x.lfts"
    save(fabric, topology)
    save(fabric, tables)
    again = load(str(topology), routes=str(tables))
    assert described(again) == described(fabric)
    assert host_ports(again) == host_ports(fabric)
    by_guid = dict(zip(again.host_guid.tolist(), again.host_port_guid.tolist(), strict=True))
    assert by_guid == dict(
        zip(fabric.host_guid.tolist(), fabric.host_port_guid.tolist(), strict=True)
    )


@given(fabrics())
def test_ibsim_keeps_the_cables(folder: Path, fabric: Fabric) -> None:
    path = folder / "x.net"
    save(fabric, path)
    again = load(str(path))
    ends = [(guid, port) for (guid, port), *_ in described(again)["cables"]]
    assert ends == [(guid, port) for (guid, port), *_ in described(fabric)["cables"]]
    assert again.host_port_guid.tolist() == fabric.host_port_guid.tolist()


def test_hosts_with_several_lids_come_back(tmp_path: Path) -> None:
    fabric = two_leaves()
    wide = np.full((4, 40), 0xFFFF, dtype=np.uint16)
    for host in range(4):
        for path in range(4):
            wide[:, 4 * (host + 1) + path] = fabric.routes.ports[:, 1 + host]
    fabric = fabric.replace(
        host_lid=np.arange(4, 20, 4, dtype=np.uint32),
        host_lmc=np.full(4, 2, dtype=np.uint8),
        switch_lid=np.arange(30, 34, dtype=np.uint32),
        routes=type(fabric.routes)(wide),
    )
    save(fabric, tmp_path / "x.lfts")
    save(fabric.replace(host_lid=fabric.host_lid + 100), tmp_path / "x.ibnetdiscover")
    again = load(str(tmp_path / "x.ibnetdiscover"), routes=str(tmp_path / "x.lfts"))
    # The owners that the tables name count, not the other LIDs of the topology.
    assert again.host_lid.tolist() == [4, 8, 12, 16]
    assert again.host_lmc.tolist() == [2, 2, 2, 2]


def test_names_that_would_break_a_line_are_mended() -> None:
    fabric = two_leaves().replace(host_name=('a"b', "c\nd\0", "e'f", " g;:/ "))
    lines = text(fabric, "ibnetdiscover").splitlines()
    assert [line for line in lines if line.startswith("Ca\t")] == [
        'Ca\t1 "H-0000000100000000"\t\t# "a\'b"',
        'Ca\t1 "H-0000000100000010"\t\t# "c d "',
        'Ca\t1 "H-0000000100000020"\t\t# "e\'f"',
        'Ca\t1 "H-0000000100000030"\t\t# " g;:/ "',
    ]
    assert "'c d '\n" in text(fabric, "lfts")


@pytest.mark.parametrize("kind", ["ibnetdiscover", "lfts", "ibsim"])
def test_lid_formats_refuse_what_has_too_many_addresses(kind: str) -> None:
    hosts = 49_150
    fabric = two_leaves()
    many = fabric.replace(
        **{
            column: np.resize(getattr(fabric, column), hosts)
            for column in (
                *("host_guid", "host_port_guid", "host_adapter_port", "host_system_guid"),
                *("host_lmc", "host_switch", "host_port", "host_rate"),
            )
        },
        host_name=("h",) * hosts,
        host_lid=np.arange(1, hosts + 1, dtype=np.uint32),
        switch_lid=np.arange(hosts + 1, hosts + 5, dtype=np.uint32),
    )
    with pytest.raises(UsageError, match=r"49,?151"):
        text(many, kind)


def test_a_dump_of_ports_beyond_infiniband_is_refused() -> None:
    fabric = two_leaves()
    ports = fabric.routes.ports.copy()
    ports[2, 1] = 255
    with pytest.raises(UsageError, match='switch "spine 0" sends through port 255'):
        text(fabric.replace(routes=type(fabric.routes)(ports)), "lfts")


def test_graphml_is_xml_with_every_node_and_cable() -> None:
    fabric = two_leaves().replace(host_name=("<&>", "\x01", "\ud800", "\"'"))
    root = ElementTree.fromstring(text(fabric, "graphml"))
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    assert len(root.findall(".//g:node", space)) == 8
    assert len(root.findall(".//g:edge", space)) == 8
    names = [data.text for data in root.findall(".//g:node/g:data[@key='name']", space)]
    assert names[4:] == ["<&>", "\ufffd", "\ufffd", "\"'"]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"graphml", "fabric", "far"}))
def test_bytes_that_were_no_utf8_come_out_as_they_were(kind: str) -> None:
    fabric = two_leaves().replace(host_name=("\udcff", "\ud800", "c", "d"))
    written = b"".join(content(fabric, kind))
    # Those two have names of their own kind only.
    assert (b"\xff" in written) == (kind != "ibsim" and not kind.startswith("slurm"))


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_the_suffix_compresses(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.lfts{suffix}"
    save(two_leaves(), path)
    assert b"".join(open_chunks(str(path))) == text(two_leaves(), "lfts").encode()
    assert (path.read_bytes()[:7] == b"Unicast") == (suffix == "")


def test_the_same_fabric_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.dot.gz", "b.dot.gz"):
        save(two_leaves(), tmp_path / name)
    assert (tmp_path / "a.dot.gz").read_bytes() == (tmp_path / "b.dot.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.dot.gz").read_bytes()).startswith(b"digraph")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.lfts"
    path.write_text("old")
    with pytest.raises(UsageError, match="has no routes: give routes=FILE"):
        save(two_leaves().replace(routes=None), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.lfts"]


def test_kinds_by_name() -> None:
    assert kind_of(Path("a.b/x.tar.net.XZ")) == "ibsim"
    with pytest.raises(UsageError, match=r"x\.txt: cannot tell the kind of file by its name"):
        kind_of(Path("x.txt"))
    with pytest.raises(UsageError, match="no kind of file 'visio' among fabric, "):
        content(two_leaves(), "visio")
