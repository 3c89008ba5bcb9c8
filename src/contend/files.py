"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from contend.errors import UsageError

# Of a disk that has no room for a further file.
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check_place(path: Path) -> None:
    """Refuses early a place where no file can be written.

    Raises:
        UsageError: it is a folder, or its own folder is not there or not writable.
    """
    if path.is_dir():
        raise UsageError(f"{path}: is a folder")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise UsageError(f"{path}: No such file or directory")
    if not path.exists() or path.is_file():
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(f"{path}: Permission denied")
    elif not os.access(path, os.W_OK):
        raise UsageError(f"{path}: Permission denied")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that gets its name only when everything went well.

    It is written under another name in the same folder and renamed at the end, so that nobody ever
    meets half of it; an error leaves the folder, and an older file of that name, as they were.

    Raises:
        UsageError: the folder is not there or not writable.
        OSError: the disk is full, or has as many files as it can have.
    """
    check_place(path)
    # A link stays a link: what it points to is replaced.
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        # A device or a pipe, such as /dev/stdout, cannot be replaced by a rename.
        with path.open("wb") as file:
            yield file
        return
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    except OSError as error:
        if error.errno in _FULL:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise UsageError(f"{path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; see `whole_file`."""
    with whole_file(path) as file:
        file.write(content)
