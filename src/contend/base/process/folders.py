"""Folders that are held by the process that made them, and folders that nobody else may write to.

A folder is held by a lock on it, which the kernel lets go when the process ends, however it ends.
So whoever comes later can tell what was left behind, also from another container that shares the
folder and numbers its processes anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from contend.base.errors import MissingError

_MARK_BYTES = 3
# Seconds in which a folder that was just made is held for certain.
_ABOUT_TO_BE_HELD = 60.0
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class HeldFolder:
    """A folder that this process holds."""

    path: Path
    """Where it is; named after its kind, the process that made it, and the mark."""
    mark: bytes
    """Bytes that no other has."""
    lock: int
    """File descriptor that holds it."""

    def remove(self) -> None:
        """Removes it with all that is in it, and lets it go."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def hold_folder(root: Path, kind: str) -> HeldFolder:
    """Makes a folder, which only this user may enter, and holds it.

    Args:
        root: where.
        kind: the beginning of its name.

    Raises:
        MissingError: when it cannot be made.
    """
    mark = secrets.token_bytes(_MARK_BYTES)
    path = root / f"{kind}-{os.getpid()}-{mark.hex()}"
    # Under another name until it is held, or somebody might take it for one that was left.
    unheld = path.with_name(f".{path.name}")
    try:
        unheld.mkdir(mode=0o700)
        lock = os.open(unheld, os.O_RDONLY | os.O_DIRECTORY)
        # Where a file system has no locks, nobody finds out that the folder was left.
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unheld.rename(path)
        return HeldFolder(path, mark, lock)
    except OSError as error:
        raise MissingError(f"{path}: {error.strerror}") from error
    except BaseException:
        # A signal, wherever it came; an exit lets go of the lock.
        for folder in (unheld, path):
            shutil.rmtree(folder, ignore_errors=True)
        raise


def left_folders(root: Path, kind: str) -> Iterator[HeldFolder]:
    """This user's folders whose process has ended; this process holds each one now."""
    name = re.compile(rf"\.?{re.escape(kind)}-\d+-([0-9a-f]{{{2 * _MARK_BYTES}}})")
    with contextlib.suppress(OSError):
        for path in sorted(root.iterdir()):
            match = name.fullmatch(path.name)
            if match is None:
                continue
            with contextlib.suppress(OSError):
                lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    state = os.fstat(lock)
                    unheld = not path.name.startswith(kind)
                    if state.st_uid != os.geteuid():
                        raise PermissionError
                    if unheld and time.time() - state.st_mtime < _ABOUT_TO_BE_HELD:
                        raise BlockingIOError
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    # Whoever came first may have removed it before this process held it.
                    path.stat()
                except OSError:
                    os.close(lock)
                    raise
                yield HeldFolder(path, bytes.fromhex(match[1]), lock)


@contextmanager
def scratch_folder(kind: str, root: Path | None = None) -> Iterator[Path]:
    """A folder for temporary files, which goes when the context ends.

    What a process that was killed has left of the same kind is removed first.

    Args:
        kind: the beginning of its name.
        root: where; None for the usual place of temporary files.

    Raises:
        MissingError: when it cannot be made.
    """
    root = root or Path(tempfile.gettempdir())
    for left in left_folders(root, kind):
        left.remove()
    held = hold_folder(root, kind)
    try:
        yield held.path
    finally:
        held.remove()


def private_folder(folder: Path) -> Path:
    """The same folder, made if missing, to which only this user may write.

    Raises:
        MissingError: it belongs to somebody else, who could have it run any program.
        OSError: it cannot be made.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
    state = folder.stat()
    if not stat.S_ISDIR(state.st_mode):
        raise NotADirectoryError(20, os.strerror(20), str(folder))
    if state.st_uid != os.geteuid():
        raise MissingError(f"the folder {folder} belongs to {_user(state.st_uid)}, not to you")
    if state.st_mode & _OTHERS_WRITE:
        folder.chmod(stat.S_IMODE(state.st_mode) & ~_OTHERS_WRITE)
    return folder


def is_own(file: Path) -> bool:
    """Whether a file exists that only this user can have written."""
    try:
        state = file.lstat()
    except OSError:
        return False
    mine = state.st_uid == os.geteuid() and not state.st_mode & _OTHERS_WRITE
    return mine and stat.S_ISREG(state.st_mode)


def _user(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"user {number}"
