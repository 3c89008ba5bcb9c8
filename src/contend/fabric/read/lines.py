"""Lines of a stream, numbered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contend.errors import InputError

LONGEST_LINE = 1 << 16


def lines(chunks: Iterable[bytes], source: str) -> Iterator[tuple[int, str]]:
    """Lines with their number from 1, without their end, whether written by Unix or Windows.

    Bytes that are not UTF-8 become lone surrogates, so that names keep their difference.

    Raises:
        InputError: a line longer than 64 KiB, which no topology file has.
    """
    number = 0
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            number += 1
            yield number, _text(line, number, source)
        # Only what one line may hold is ever kept between chunks.
        if len(rest) > LONGEST_LINE:
            raise _too_long(number + 1, source)
    if rest:
        yield number + 1, _text(rest, number + 1, source)


def _text(line: bytes, number: int, source: str) -> str:
    if len(line) > LONGEST_LINE:
        raise _too_long(number, source)
    return line.removesuffix(b"\r").decode("utf-8", "surrogateescape")


def _too_long(number: int, source: str) -> InputError:
    return InputError(source, number, f"a line of at most {LONGEST_LINE} bytes", "a longer one")
