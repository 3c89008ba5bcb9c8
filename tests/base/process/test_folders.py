"""Folders that a process holds until it ends, however it ends; and folders of nobody else."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contend.base.errors import MissingError
from contend.base.process import hold_folder, is_own, left_folders, private_folder, scratch_folder

_HOLD = """
import sys
from pathlib import Path
from contend.base.process import hold_folder
print(hold_folder(Path(sys.argv[1]), "kind").path, flush=True)
sys.stdin.read()
"""
_LOOK = """
import sys
from pathlib import Path
from contend.base.process import left_folders
print(*[folder.path for folder in left_folders(Path(sys.argv[1]), "kind")])
"""
_SOMEBODY = 54_321


@contextmanager
def _holder(root: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that holds a folder, and the folder."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_what_a_killed_process_has_left_is_found_and_what_is_held_is_not(tmp_path: Path) -> None:
    with _holder(tmp_path) as (living, held), _holder(tmp_path) as (dying, left):
        assert list(left_folders(tmp_path, "kind")) == []
        os.kill(dying.pid, signal.SIGKILL)
        dying.wait()
        (found,) = left_folders(tmp_path, "kind")
        assert found.path == left
        assert found.mark.hex() == left.name.rpartition("-")[2]
        found.remove()
        assert not left.exists()
        assert held.exists()
        assert living.poll() is None


def test_another_pid_namespace_tells_what_is_held(tmp_path: Path) -> None:
    """As of a container that shares the folder: its processes have numbers of their own."""
    if os.geteuid() != 0:
        pytest.skip("only root may make a PID namespace")
    with _holder(tmp_path) as (_, held):
        elsewhere = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", _LOOK]
        seen = subprocess.run([*elsewhere, str(tmp_path)], capture_output=True, text=True)
        assert (seen.returncode, seen.stdout, seen.stderr) == (0, "\n", "")
        assert held.exists()


def test_what_somebody_else_removes_at_the_same_time_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (left := tmp_path / "it-1-abcdef").mkdir()

    def lock_too_late(folder: int, how: int) -> None:
        shutil.rmtree(left, ignore_errors=True)
        flock(folder, how)

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    assert list(left_folders(tmp_path, "it")) == []


def test_other_folders_and_links_are_let_alone(tmp_path: Path) -> None:
    for name in ("kind-of-mine", "kind-12-34-abcdef", "other-1-abcdef"):
        (tmp_path / name).mkdir()
    (tmp_path / "kind-1-abcdef").symlink_to(tmp_path / "kind-of-mine")
    (tmp_path / "kind-2-abcdef").touch()
    assert list(left_folders(tmp_path, "kind")) == []
    if os.geteuid() == 0:
        foreign = tmp_path / "kind-3-abcdef"
        foreign.mkdir()
        os.chown(foreign, _SOMEBODY, _SOMEBODY)
        assert list(left_folders(tmp_path, "kind")) == []
    (tmp_path / "kind-4-abcdef").mkdir()
    (left,) = left_folders(tmp_path, "kind")
    # While one looks after it, nobody else does.
    assert list(left_folders(tmp_path, "kind")) == []
    left.remove()


def test_a_scratch_folder_goes_and_takes_along_what_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "kind-1-abcdef"
    left.mkdir()
    (left / "hosts").write_text("node1\n")
    with scratch_folder("kind") as first, scratch_folder("kind") as second:
        assert first.is_dir()
        assert second.is_dir()
        assert stat.S_IMODE(first.stat().st_mode) == 0o700
        assert not left.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_signal_while_a_folder_is_made_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fcntl.flock", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hold_folder(tmp_path, "kind")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_nobody_came_to_hold_is_left_after_a_minute(tmp_path: Path) -> None:
    """Whoever made it a moment ago is about to hold it."""
    (tmp_path / ".kind-1-abcdef").mkdir()
    assert list(left_folders(tmp_path, "kind")) == []
    os.utime(tmp_path / ".kind-1-abcdef", (0, 0))
    (left,) = left_folders(tmp_path, "kind")
    left.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_held_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"absent/kind-.*: No such file or directory"):
        hold_folder(tmp_path / "absent", "kind")


def test_private_folders_are_so_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = private_folder(tmp_path / "cache" / "contend" / "probes")
        for each in (folder, *list(folder.parents)[:2]):
            assert stat.S_IMODE(each.stat().st_mode) == 0o700
        # As an older version left it.
        folder.chmod(0o777)
        private_folder(folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    finally:
        os.umask(before)


def test_a_folder_of_somebody_elses_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    os.chown(tmp_path, _SOMEBODY, _SOMEBODY)
    with pytest.raises(MissingError, match=f"belongs to user {_SOMEBODY}, not to you"):
        private_folder(tmp_path)


def test_a_file_is_own_unless_others_may_have_written_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert not is_own(file)
    file.touch(mode=0o644)
    assert is_own(file)
    (tmp_path / "link").symlink_to(file)
    assert not is_own(tmp_path / "link")
    file.chmod(0o666)
    assert not is_own(file)
    file.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(file, _SOMEBODY, _SOMEBODY)
        assert not is_own(file)
