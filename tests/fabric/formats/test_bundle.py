from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import InputError
from contend.fabric.formats.topology import read_bundle
from contend.fabric.streams.source import open_chunks
from contend.routes import load, load_tables
from sample_fabrics import DATA

# As ibdiagnet leaves them, but the .db_csv is of another network, which tells what was read.
FILES = {
    "ibdiagnet2.log": b"-I- Discovering ... 3 nodes discovered.\n",
    "ibdiagnet2.net_dump": (DATA / "tiny.net_dump").read_bytes(),
    "ibdiagnet2.lst": (DATA / "tiny.opensm-subnet.lst").read_bytes(),
    "ibdiagnet2.db_csv": (DATA / "tiny.db_csv").read_bytes(),
    "ibdiagnet2.fdbs": (DATA / "tiny.opensm.fdbs").read_bytes(),
}


def in_folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def in_zip(path: Path, files: dict[str, bytes]) -> Path:
    path = path.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("run")
        for name, content in files.items():
            archive.writestr(f"run/{name}", content)
        archive.writestr("__MACOSX/._run", b"\0\5\26\7")
    return path


def tarred(files: dict[str, bytes], kind: int = tarfile.GNU_FORMAT) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=kind) as archive:
        archive.add(DATA, "run", recursive=False)
        for name, content in files.items():
            entry = tarfile.TarInfo(f"run/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return held.getvalue()


def in_tar(path: Path, files: dict[str, bytes]) -> Path:
    path = path.with_suffix(".tar.gz")
    path.write_bytes(gzip.compress(tarred(files)))
    return path


Packing = Callable[[Path, dict[str, bytes]], Path]
packings = pytest.mark.parametrize("pack", [in_folder, in_zip, in_tar])


@packings
def test_of_what_ibdiagnet_leaves_the_file_that_tells_most_is_read(
    tmp_path: Path, pack: Packing
) -> None:
    path = pack(tmp_path / "net", FILES)
    fabric = load(path, routes=path)
    expected = load(DATA / "tiny.db_csv", routes=DATA / "tiny.opensm.fdbs")
    assert fabric.host_name == expected.host_name
    assert fabric.name == "net"
    assert np.array_equal(fabric.tables.ports, expected.tables.ports)
    folder = "" if pack is in_folder else "run/"
    told = [finding.message for finding in fabric.findings]
    assert f"read {folder}ibdiagnet2.db_csv of 5 files" in told
    assert f"read {folder}ibdiagnet2.fdbs of 5 files" in told


@packings
@pytest.mark.parametrize(
    ("without", "read"),
    [("db_csv", "ibdiagnet2.lst"), ("db_csv lst", "ibdiagnet2.net_dump")],
)
def test_else_the_next_of_them(tmp_path: Path, pack: Packing, without: str, read: str) -> None:
    left = {name: one for name, one in FILES.items() if name.split(".")[1] not in without.split()}
    fabric = load(pack(tmp_path / "net", left))
    assert f"{read} of {len(left)} files" in fabric.findings[0].message
    assert fabric.hosts == 5


@packings
def test_what_switches_hear_is_read_from_all_files(tmp_path: Path, pack: Packing) -> None:
    files = {path.name: path.read_bytes() for path in (DATA / "lldp").iterdir()}
    packed = {f"{name}.gz": gzip.compress(one) for name, one in files.items()}
    expected = load(DATA / "lldp")
    for number, content in enumerate((files, packed)):
        fabric = load(pack(tmp_path / f"net{number}", content))
        assert fabric.host_name == expected.host_name
        assert fabric.switch_name == expected.switch_name


@packings
def test_a_device_that_was_down_is_told(tmp_path: Path, pack: Packing) -> None:
    """Its capture is empty."""
    files = {path.name: path.read_bytes() for path in (DATA / "lldp").iterdir()}
    fabric = load(pack(tmp_path / "net", {**files, "leaf3.txt": b""}))
    name = "leaf3.txt" if pack is in_folder else "run/leaf3.txt"
    assert fabric.findings[0].message == f"skipped 1 file without LLDP neighbours: {name}"


@packings
def test_a_file_within_is_named_with_its_line(tmp_path: Path, pack: Packing) -> None:
    damaged = FILES["ibdiagnet2.db_csv"].replace(b"END_NODES", b"END_NODE")
    path = pack(tmp_path / "net", {**FILES, "ibdiagnet2.db_csv": damaged})
    name = "ibdiagnet2.db_csv" if pack is in_folder else "run/ibdiagnet2.db_csv"
    with pytest.raises(InputError, match=rf"^{path}/{name}:\d+: expected END_NODES"):
        load(path)


@packings
def test_two_of_a_kind_and_none_are_refused(tmp_path: Path, pack: Packing) -> None:
    twice = {**FILES, "before.db_csv": FILES["ibdiagnet2.db_csv"]}
    with pytest.raises(
        InputError, match=r"one file of the kind ibdiagnet \.db_csv, got .*give one"
    ):
        load(pack(tmp_path / "twice", twice))
    no_topology = {name: FILES[name] for name in ("ibdiagnet2.log", "ibdiagnet2.fdbs")}
    path = pack(tmp_path / "none", no_topology)
    with pytest.raises(InputError, match=r"expected a file with a topology .* got none in 2 files"):
        load(path)
    (tmp_path / "again").mkdir()
    tables = pack(tmp_path / "again" / "net", {"a.log": b"", "b.log": b""})
    with pytest.raises(InputError, match="expected a file with forwarding tables"):
        load_tables(str(tables))


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_of_one_file_is_that_file_whatever_its_name(tmp_path: Path, kind: int) -> None:
    name = "a" * 90 + "/" + "b" * 60
    longer = name if kind == tarfile.USTAR_FORMAT else name + "c" * 200 + "é"
    content = FILES["ibdiagnet2.lst"]
    path = tmp_path / "one.tar"
    path.write_bytes(tarred({longer: content}, kind))
    assert b"".join(open_chunks(str(path))) == content
    assert load(path).name == "one"
    path.write_bytes(tarred({longer: content, "x.log": b"y"}, kind))
    assert load(path).findings[0].message == f"read run/{longer} of 2 files"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda tar: tar[:700], "a whole tar stream, got its first part only"),
        (lambda tar: tar[:124] + b"9" * 11 + tar[135:], "got the size b'99999999999' of a file"),
        (lambda tar: tar[:1024] + b"no header" * 100, "got no header behind a file"),
    ],
)
def test_a_damaged_tar_is_refused(
    tmp_path: Path, damage: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / "net.tar"
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name in ("a", "b"):
            entry = tarfile.TarInfo(name)
            entry.size = 400
            archive.addfile(entry, io.BytesIO(b"x" * 400))
    path.write_bytes(damage(held.getvalue()))
    with pytest.raises(InputError, match=r"net\.tar(/a)?: expected ") as caught:
        load(path)
    assert message in str(caught.value)


def test_what_an_archive_unpacks_to_is_bounded_though_nobody_reads_it(tmp_path: Path) -> None:
    """A file of 90 MiB that is no topology, in an archive of 14 kB."""
    path = tmp_path / "net.tar"
    content = tarred({"a.lst": FILES["ibdiagnet2.lst"], "zeros": bytes(90 << 20)})
    path.write_bytes(lzma.compress(content, preset=0))
    with pytest.raises(InputError, match="at most 1000 bytes for each of a compressed file"):
        load(path)


def test_a_pipe_is_one_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    source = DATA / "tiny.ibnetdiscover"
    writer = threading.Thread(target=lambda: pipe.write_bytes(source.read_bytes()))
    writer.start()
    assert load(pipe).hosts == 5
    writer.join()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"lldp-neighbors-information": []}', "show lldp neighbors of Junos"),
        ("LocalPort    RemoteDevice    RemotePortID\n", "the table of show lldp table"),
    ],
)
def test_what_tells_the_cables_is_named_in_a_folder_too(
    text: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / "leaf1").write_text(text)
    (tmp_path / "notes.txt").write_text("no topology")
    with pytest.raises(InputError, match=rf"leaf1: expected a topology, such as .*, got {told}"):
        read_bundle(str(tmp_path))
