"""XML as its elements begin and end, errors with their line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NoReturn
from xml.parsers import expat

from contend.errors import InputError


class XmlReader(ABC):
    """Reads XML without a document type, in which nothing expands.

    Args:
        source: what errors call the text.
        what: what the text should be, in the plural or with an article.
        separator: stands between the namespace of a name and the name; None leaves prefixes.
    """

    def __init__(self, source: str, what: str, separator: str | None = None) -> None:
        self._source, self._what = source, what
        self._parser = expat.ParserCreate("utf-8", separator)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._document_type

    def read(self, piece: bytes, *, last: bool = True) -> None:
        """Reads all of it, or one piece after the other.

        Raises:
            InputError: it is not well-formed, has a document type, or `_start` refuses an element.
        """
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise InputError(self._source, error.lineno, "well-formed XML", reason) from None

    @abstractmethod
    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    @abstractmethod
    def _end(self, name: str) -> None:
        """It ends."""

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _fail(self, expected: str, got: str, line: int = 0) -> NoReturn:
        raise InputError(self._source, line or self._line, expected, got)

    def _document_type(self, *_: object) -> None:
        self._fail(f"{self._what} without a document type", "<!DOCTYPE")
