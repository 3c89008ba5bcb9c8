"""Files are written whole or not at all, and JSON may go to standard output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from contend.cli.common import console_for, write_json
from contend.errors import UsageError
from contend.files import write_whole


def test_json_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    write_json(str(target), {"mean": 0.5, "name": "Zürich"})
    assert json.loads(target.read_text()) == {"mean": 0.5, "name": "Zürich"}


def test_json_to_standard_output_is_alone_there(capsys: pytest.CaptureFixture[str]) -> None:
    console_for("-").print("a table")
    write_json("-", {"mean": 0.5})
    assert json.loads(capsys.readouterr().out) == {"mean": 0.5}


def test_no_json_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    write_json(None, {"mean": 0.5})
    assert capsys.readouterr().out == ""


def test_old_content_is_replaced_and_nothing_else_left(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old and longer")
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_rights_are_those_of_any_new_file(tmp_path: Path) -> None:
    """0666 less the mask, not the 0600 of a temporary file."""
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_failure_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    def full(self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, b"new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    target = tmp_path / "absent" / "file"
    with pytest.raises(UsageError, match=f"^{target}: No such file"):
        write_whole(target, b"")


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


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
