"""Files written whole or not at all, and what people and contend keep as JSON and TOML."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from contend.base.errors import FULL, InputError, UsageError

_Kind = TypeVar("_Kind")

LARGEST = 1 << 26
"""Bytes of a file that is read whole and not line by line, if nothing else is said."""
_LARGEST_TOML = 1 << 20
_MOST_DOTS = 1000
_MOST_BITS = 14_000
_PIECE = 1 << 20
_MARK = "[a-z0-9_]{8}"


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


def append_line(path: Path, line: bytes) -> None:
    """Adds a line to a file, which need not be there yet, in one step.

    Raises:
        OSError: the disk is full, or the file cannot be written.
    """
    with path.open("ab", buffering=0) as file:
        file.write(line + b"\n")


def read_bounded(path: str | Path, most: int = LARGEST) -> bytes:
    """The content of a file that is held whole; it may be a pipe or a device without an end.

    Raises:
        OSError: it cannot be read.
        InputError: it is larger than `most` bytes.
    """
    held = bytearray()
    with Path(path).open("rb", buffering=0) as file:
        while piece := file.read(_PIECE):
            held += piece
            if len(held) > most:
                raise InputError(str(path), 0, f"at most {most:,} bytes", "more")
    return bytes(held)


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
    prefix = f".{path.name[:100]}."
    _remove_left(path.parent, prefix)
    try:
        handle, name = _held_file(path.parent, prefix)
    except OSError as error:
        if error.errno in FULL:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise UsageError(f"{path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(handle, 0o666 & ~mask)
            Path(name).replace(path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            # The kernel does not say which file it was.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _held_file(folder: Path, prefix: str) -> tuple[int, str]:
    """A new file, locked until it is closed, so that nobody takes it for one that was left."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=prefix)
        # Where a file system has no locks, nobody removes what was left there either.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)


def _remove_left(folder: Path, prefix: str) -> None:
    """Removes unfinished files of this name whose writer was killed."""
    unfinished = re.compile(re.escape(prefix) + _MARK)
    with contextlib.suppress(OSError):
        for name in filter(unfinished.fullmatch, os.listdir(folder)):
            left = folder / name
            with contextlib.suppress(OSError):
                handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    left.unlink()
                finally:
                    os.close(handle)


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; see `whole_file`."""
    with whole_file(path) as file:
        file.write(content)


def json_text(value: Any) -> bytes:
    """A value, such as a msgspec structure, as JSON that people can read too."""
    # Help is told without it.
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def read_json(path: Path, kind: type[_Kind], what: str, *, version: int | None = None) -> _Kind:
    """What contend keeps in a JSON file.

    Args:
        path: the file, which may have been damaged, or written by anybody.
        kind: what its content is.
        what: it is, for people: ``a run``.
        version: the newest that can be read, where the content says its own.

    Raises:
        OSError: it cannot be read.
        InputError: its content is something else, above 64 MiB, or of a newer version.
    """
    import msgspec

    content = read_bounded(path)
    expected = what if version is None else f"what contend keeps of {what}"
    try:
        if version is not None:
            # Before the rest, which a newer version may have changed.
            kept = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
            number = msgspec.json.decode(kept.get("version", b"0"), type=int)
            if not 1 <= number <= version:
                newest = f"{what} of version {version} or older"
                raise InputError(str(path), 0, newest, f"version {number}")
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, ValueError, OverflowError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise InputError(str(path), 0, expected, reason) from None


# The TOML reader of Python tells the line in its message alone.
_TOML_LINE = re.compile(r"(.*) \(at line (\d+), column \d+\)")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        OSError: it cannot be read.
        InputError: it is above 1 MiB or no TOML in UTF-8, with the line.
    """
    source = str(path)
    content = read_bounded(path, _LARGEST_TOML)
    # Python's reader takes time in the square of the names of a key.
    for at, text in enumerate(content.split(b"\n"), 1):
        if text.count(b".") > _MOST_DOTS:
            raise InputError(source, at, f"at most {_MOST_DOTS:,} dots on a line", "more")
    try:
        tables = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError(source, 0, "TOML in UTF-8", "another encoding") from None
    except tomllib.TOMLDecodeError as error:
        match = _TOML_LINE.fullmatch(str(error))
        line, reason = (int(match[2]), match[1]) if match else (0, str(error))
        raise InputError(source, line, "TOML", reason) from None
    except RecursionError:
        raise InputError(source, 0, "TOML", "brackets nested too deeply") from None
    except ValueError:
        # Python refuses to read integers of more than 4,300 digits.
        raise InputError(source, 0, "TOML", "a number of thousands of digits") from None
    waiting: list[Any] = [tables]
    while waiting:
        match waiting.pop():
            case int(number) if number.bit_length() > _MOST_BITS:
                # As hexadecimal it can be read, but not be told of.
                raise InputError(source, 0, "TOML", "a number of thousands of digits")
            case dict(table):
                waiting += table.values()
            case list(items):
                waiting += items
    return tables
