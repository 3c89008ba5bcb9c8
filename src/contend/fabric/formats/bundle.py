"""Several files given as one: a folder, a .zip or a .tar, of which those that are wanted are read.

ibdiagnet leaves a folder of a dozen files, and switches a file each of what they hear.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass

from contend.errors import InputError, UsageError
from contend.fabric.formats.source import open_archive, open_chunks, peek
from contend.units import counted

_MOST_FILES = 1 << 16

_File = tuple[str, Iterator[bytes]]


@dataclass(frozen=True)
class Bundle:
    """What kinds of files lie in a folder or archive.

    Attributes:
        path: the folder or archive.
        names: those of all files, in its order.
        by_kind: names of the files of every kind that is known.
    """

    path: str
    names: tuple[str, ...]
    by_kind: dict[str, list[str]]

    def best(self, order: Iterable[str], what: str) -> str:
        """The first kind in this order that there is.

        Raises:
            InputError: there is none.
        """
        for kind in order:
            if kind in self.by_kind:
                return kind
        got = f"none in {counted(len(self.names), 'file')}"
        raise InputError(self.path, 0, f"a file with {what}", got)

    def only(self, kind: str) -> tuple[str, Iterator[bytes], str]:
        """Name and content of the one file of a kind, and a note that says which was read.

        Raises:
            InputError: there are several.
        """
        names = self.by_kind[kind]
        if len(names) > 1:
            got = f"{names[0]} and {names[1]}: give one of them"
            raise InputError(self.path, 0, f"one file of the kind {kind}", got)
        source, chunks = next(self.open(names))
        return source, chunks, f"read {names[0]} of {counted(len(self.names), 'file')}"

    def open(self, names: Container[str]) -> Iterator[_File]:
        """The content of the files of these names, each to be read before the next."""
        for name, chunks in _files(self.path) or ():
            if name in names:
                yield f"{self.path}/{name}", chunks
            for _ in () if os.path.isdir(self.path) else chunks:
                pass


def survey(path: str, kind_of: Callable[[bytes], str | None]) -> Bundle | None:
    """What files a folder or archive holds; None where `path` is one file, or an archive of one.

    Args:
        path: a folder or file; standard input is one file.
        kind_of: the kind of a file that begins like this, None: of none that is known.

    Raises:
        UsageError: the path cannot be read.
        InputError: a damaged archive, one with more than 65,536 files, or one that holds far more
            than its size lets expect.
    """
    # A pipe can be read once only, so it is one file.
    files = _files(path) if os.path.isdir(path) or os.path.isfile(path) else None
    if files is None:
        return None
    names: list[str] = []
    by_kind: dict[str, list[str]] = defaultdict(list)
    is_folder = os.path.isdir(path)
    for name, chunks in files:
        if len(names) == _MOST_FILES:
            raise InputError(path, 0, f"at most {_MOST_FILES} files", "more")
        names.append(name)
        kind = _kind(chunks, kind_of, is_folder)
        if kind is not None:
            by_kind[kind].append(name)
    if len(names) == 1 and not is_folder:
        return None
    return Bundle(path, tuple(names), dict(by_kind))


def _kind(
    chunks: Iterator[bytes], kind_of: Callable[[bytes], str | None], is_folder: bool
) -> str | None:
    """The kind of a file, whose rest is passed over."""
    try:
        head, rest = peek(chunks)
    except (InputError, UsageError):
        if is_folder:
            return None
        raise
    for _ in () if is_folder else rest:
        pass
    return kind_of(head)


def _files(path: str) -> Iterator[_File] | None:
    if not os.path.isdir(path):
        return open_archive(path)
    names = sorted(entry.name for entry in os.scandir(path) if entry.is_file())
    return ((name, open_chunks(os.path.join(path, name))) for name in names)
