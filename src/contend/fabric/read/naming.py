"""The file's name for errors of parsers that only know the line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from contend.errors import InputError


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Gives the name `source` to every InputError inside that names no source yet."""
    try:
        yield
    except InputError as error:
        if error.source:
            raise
        raise InputError(source, error.line, error.expected, error.got) from None
