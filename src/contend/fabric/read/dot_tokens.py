"""Tokens of the part of Graphviz' DOT language that describes a plain directed graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contend.errors import InputError

LONGEST_TOKEN = 1 << 24

_TOKEN = re.compile(
    r"(?P<space>[\s;]+|//[^\n]*\n|\#[^\n]*\n|/\*.*?\*/)"
    r'|"(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"'
    r"|(?P<mark>->|--|[{}\[\]=,])"
    r"|(?P<word>[A-Za-z0-9_.\x80-\U0010ffff]+)",
    re.DOTALL,
)
# What may go on in the next chunk where it touches the end of this one.
_OPEN = re.compile(r'["/#-]')


@dataclass(frozen=True, slots=True)
class Token:
    """A mark, a word or a quoted text."""

    value: str
    line: int
    is_mark: bool


def tokens(chunks: Iterable[bytes], source: str) -> Iterator[Token]:
    """Tokens with the line they begin on; semicolons are passed over, as they only separate.

    Raises:
        InputError: something that is no token, or a token longer than 16 MiB.
    """
    line, buffer = 1, ""
    carried = b""
    for chunk in chunks:
        # A character may be cut by the end of a chunk; a line end never is.
        whole, cut, carried = (carried + chunk).rpartition(b"\n")
        if len(carried) > LONGEST_TOKEN:
            raise InputError(source, line, f"a token of at most {LONGEST_TOKEN} bytes", "more")
        buffer += (whole + cut).decode("utf-8", "surrogateescape")
        position = 0
        while (match := _next(buffer, position, source, line)) is not None:
            # The last token may go on in the next chunk.
            if match.end() == len(buffer) and match["space"] is None:
                break
            yield from _token(match, line)
            line += buffer.count("\n", position, match.end())
            position = match.end()
        buffer = buffer[position:]
        if len(buffer) > LONGEST_TOKEN:
            raise InputError(source, line, f"a token of at most {LONGEST_TOKEN} bytes", "more")
    buffer += carried.decode("utf-8", "surrogateescape") + "\n"
    position = 0
    while (match := _next(buffer, position, source, line)) is not None:
        yield from _token(match, line)
        line += buffer.count("\n", position, match.end())
        position = match.end()
    if position < len(buffer):
        raise InputError(source, line, "a closing quote or */", "the end of the file")


def _next(buffer: str, position: int, source: str, line: int) -> re.Match[str] | None:
    """The token at a position, None where the buffer ends before it is whole."""
    if position == len(buffer):
        return None
    match = _TOKEN.match(buffer, position)
    if match is None and not _OPEN.match(buffer, position):
        raise InputError(source, line, "a node, an edge or a quoted text", repr(buffer[position]))
    return match


def _token(match: re.Match[str], line: int) -> Iterator[Token]:
    if match["text"] is not None:
        yield Token(_unescaped(match["text"]), line, False)
    elif match["word"] is not None:
        yield Token(match["word"], line, False)
    elif match["mark"] is not None:
        yield Token(match["mark"], line, True)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    # DOT knows only these two; other sequences are kept for the program that reads them.
    return re.sub(r'\\(?:(["\\])|\n)', lambda match: match[1] or "", text)
