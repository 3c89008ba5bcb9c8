from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import msgspec
import pytest

from contend.base.errors import InputError, UsageError
from contend.base.files import json_text, read_json, whole_file, write_whole


def test_a_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with whole_file(path) as file:
        file.write(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_devices_are_written_to_as_they_are() -> None:
    write_whole(Path("/dev/null"), b"gone")
    assert Path("/dev/null").is_char_device()


def test_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        write_whole(tmp_path, b"")
    with pytest.raises(UsageError, match="No such file or directory"):
        write_whole(tmp_path / "no" / "x", b"")


def test_a_disk_that_can_have_no_further_file_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded", str(tmp_path / ".x.random"))

    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(OSError, match="Disk quota exceeded") as raised:
        write_whole(tmp_path / "x", b"")
    assert raised.value.filename == str(tmp_path / "x")


class _Kept(msgspec.Struct):
    version: int
    name: str


def test_what_is_kept_as_json_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    write_whole(path, json_text(_Kept(2, "a name")))
    assert path.read_text() == '{\n  "version": 2,\n  "name": "a name"\n}\n'
    assert read_json(path, _Kept, "a thing", version=2) == _Kept(2, "a name")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        # What else a newer version holds does not matter.
        ('{"version": 3, "name": 5}', "expected a thing of version 2 or older, got version 3"),
        ('{"name": "a"}', "expected a thing of version 2 or older, got version 0"),
        ('{"version": 2}', "expected what contend keeps of a thing, got"),
        ('{"version": "2"}', "expected what contend keeps of a thing, got"),
        ('{"version": 2,', "expected what contend keeps of a thing, got"),
        ("[2]", "expected what contend keeps of a thing, got"),
        ('{"version": 2, "name": ' + 100_000 * "[", "expected what contend keeps of a thing, got"),
        ('{"version": 2, "name": "\udcff"}', "expected what contend keeps of a thing, got"),
    ],
)
def test_what_is_damaged_or_newer_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "it.json"
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")) as told:
        read_json(path, _Kept, "a thing", version=2)
    assert "\n" not in str(told.value)


def test_a_file_without_a_version_is_only_checked_for_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    path.write_bytes(b"[1, 2]")
    assert read_json(path, list[int], "numbers") == [1, 2]
    path.write_bytes(b'[1, "a"]')
    with pytest.raises(InputError, match="expected numbers, got"):
        read_json(path, list[int], "numbers")
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "none", list[int], "numbers")


def test_an_unfinished_file_of_a_writer_that_was_killed_goes(tmp_path: Path) -> None:
    """Another writer's is locked, and what has another name is somebody else's."""
    left, other = tmp_path / ".x.abcdefgh", tmp_path / ".xy.abcdefgh"
    left.write_bytes(b"half")
    other.write_bytes(b"whole")
    with whole_file(tmp_path / "x") as file:
        file.write(b"first")
        assert not left.exists()
        write_whole(tmp_path / "x", b"second")
    assert sorted(os.listdir(tmp_path)) == [other.name, "x"]
    assert (tmp_path / "x").read_bytes() == b"first"


def test_a_disk_that_is_full_names_the_file(tmp_path: Path) -> None:
    """The kernel names none where writing fails."""

    def fill() -> None:
        with whole_file(tmp_path / "x"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left on device") as raised:
        fill()
    assert raised.value.filename == str(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """As /dev/null or a shell's >(...): what is no ordinary file must stay what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
