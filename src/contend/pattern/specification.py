"""From what a user writes, such as ``shift:3``, to the pattern."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import InputError, UsageError
from contend.files import read_bounded
from contend.pattern.pattern import (
    MOST_RANKS,
    Messages,
    Pattern,
    from_columns,
    messages_of_matrix,
)
from contend.units import nearest


@dataclass(frozen=True)
class Form:
    """How a family of patterns is written, and what it is."""

    form: str
    meaning: str


FORMS = (
    Form("bisect", "random pairs between two random halves; one of each pair sends"),
    Form("bisect:two-way", "the same, but both of each pair send"),
    Form("permutation", "a random permutation: every rank sends once and receives once"),
    Form("uniform", "every rank sends to a random other one; several may choose the same"),
    Form("localised:W[,P%]", "P% (80%) of the ranks send within their block of W ranks"),
    Form("hot-spot:P%[,K]", "P% of the ranks send to one of K (1) random hot spots"),
    Form("hot-spot:K", "all ranks from K on send to the first K ranks in turn"),
    Form("alltoall", "every pair at once"),
    Form("alltoall:K", "the same, but for pairs within blocks of K ranks"),
    Form("shift:K", "rank i sends to i + K"),
    Form("shifts", "all shifts, one per round: the pairwise exchange"),
    Form("dissemination", "rank i sends to i + 1, 2, 4, ..."),
    Form("recursive-doubling", "partners i xor 1, 2, 4, ..."),
    Form("tree", "binomial tree from rank 0"),
    Form("tree:reduce", "the same back to rank 0"),
    Form("double-tree", "two binary trees at once; a rank is an inner node of at most one"),
    Form("double-tree:allreduce", "the same up and down at once, as an all-reduce fills them"),
    Form("pipeline", "rank i sends to i + 1"),
    Form("ring", "the same, and the last to the first"),
    Form("scatter", "rank 0 sends to all others at once"),
    Form("gather", "all others send to rank 0 at once"),
    Form("neighbour:K", "every rank sends to its K nearest in rank order at once"),
    Form(
        "halo:XxYx...[,open]",
        "every rank sends to its grid neighbours at once; wraps around",
    ),
    Form("halo:Nd[,open]", "the same on an N-dimensional grid as even as possible"),
    Form("transpose", "(i, j) sends to (j, i) on the largest square grid"),
    Form("bit-reversal", "rank i sends to its bits reversed"),
    Form("bit-complement", "rank i sends to p - 1 - i"),
    Form("tornado", "rank i sends almost halfway round"),
    Form("file:PATH", "rounds of source, target[, bytes] from a .csv, or a matrix from a .npy"),
    Form("K * A", "K copies of A at once, copy k on ranks k, k + K, ...: pattern A on K rails"),
    Form("A & B", "pattern A on the first half of the ranks, B on the others (A@30% & B)"),
)

_PLAIN: dict[str, Callable[[int], _core.Pattern]] = {
    "permutation": _core.make_permutation,
    "uniform": _core.make_uniform,
    "shifts": _core.make_all_shifts,
    "dissemination": _core.make_dissemination,
    "recursive-doubling": _core.make_recursive_doubling,
    "tree": _core.make_tree,
    "double-tree": _core.make_double_tree,
    "pipeline": _core.make_pipeline,
    "ring": lambda ranks: _core.make_shift(ranks, 1),
    "scatter": _core.make_scatter,
    "gather": _core.make_gather,
    "transpose": _core.make_transpose,
    "bit-reversal": _core.make_bit_reversal,
    "bit-complement": _core.make_bit_complement,
    "tornado": _core.make_tornado,
}
_COPIES = re.compile(r"(\d{1,9})\s*\*\s*(.*)")
_FAMILIES = ("alltoall", "bisect", "shift", "neighbour", "localised", "hot-spot", "halo", "file")


def parse(spec: str, ranks: int) -> Pattern:
    """Makes the pattern that `spec` names, for so many ranks.

    Raises:
        UsageError: there is no such pattern, its parameters are wrong, or it does not exist for so
            many ranks.
        InputError: a pattern file holds something else.
    """
    spec = spec.strip()
    if "&" in spec and not spec.startswith("file:"):
        return _parts(spec, ranks)
    if (several := _COPIES.fullmatch(spec)) is not None:
        return _copies(spec, int(several[1]), several[2], ranks)
    family, _, rest = spec.partition(":")
    try:
        return _make(spec, family, rest, ranks)
    except UsageError as error:
        raise _refusal(spec, f"expected {error}") from None


def _refusal(spec: str, why: str) -> UsageError:
    """In one line, whatever was given."""
    return UsageError(" ".join(f"pattern {spec}: {why}".split()))


def _make(spec: str, family: str, rest: str, ranks: int) -> Pattern:
    if not 1 <= ranks <= MOST_RANKS:
        raise UsageError(f"between 1 and {MOST_RANKS:,} ranks, got {ranks}")
    if spec == "tree:reduce":
        return Pattern(spec, _backwards(_core.make_tree(ranks)))
    if spec == "double-tree:allreduce":
        return Pattern(spec, _both_ways(_core.make_double_tree(ranks)))
    if family in _PLAIN:
        if rest:
            raise UsageError(f"no parameter after {family}, got {rest}")
        return Pattern(spec, _PLAIN[family](ranks))
    match family:
        case "alltoall":
            block = _whole(rest, "alltoall:K with a whole number K") if rest else 1
            # Every rank's link carries a message to each of the others.
            return Pattern(spec, _core.make_all_to_all(ranks, block), max(ranks - block, 1.0))
        case "bisect":
            if rest not in ("", "one-way", "two-way"):
                raise UsageError(f"bisect, bisect:one-way or bisect:two-way, got {rest}")
            return Pattern(spec, _core.make_bisect(ranks, rest == "two-way"))
        case "shift":
            # A shift beyond the last rank, or backwards, comes round again.
            distance = _whole(rest, "shift:K with a whole number K", negative=True) % ranks
            return Pattern(spec, _core.make_shift(ranks, distance))
        case "neighbour":
            neighbours = _whole(rest, "neighbour:K with a whole number K")
            return Pattern(spec, _core.make_neighbour(ranks, neighbours), scale=float(neighbours))
        case "localised":
            width, percent = _localised(rest)
            return Pattern(spec, _core.make_localised(ranks, width, percent))
        case "hot-spot":
            return Pattern(spec, _hot_spot(rest, ranks))
        case "halo":
            extents, periodic = _halo(rest, ranks)
            return Pattern(spec, _core.make_halo(ranks, extents, periodic))
        case "file":
            return Pattern(spec, read_pattern_file(rest, ranks))
    known = ", ".join(form.form for form in FORMS)
    hint = nearest(family, [*_PLAIN, *_FAMILIES])
    raise UsageError(f"one of {known}, got {family or 'nothing'}{hint}")


def _backwards(pattern: _core.Pattern) -> _core.Pattern:
    """The last round first, and every message from its target to its source."""
    rounds = [pattern.messages(number, 0, 0) for number in reversed(range(pattern.rounds))]
    begin = np.cumsum([0, *(len(source) for source, _, _ in rounds)])
    source, target = (np.concatenate([messages[end] for messages in rounds]) for end in (1, 0))
    return from_columns(pattern.ranks, begin, source, target, None)


def _both_ways(pattern: _core.Pattern) -> _core.Pattern:
    """The messages of all rounds, and as many from their targets to their sources, at once."""
    rounds = [pattern.messages(number, 0, 0) for number in range(pattern.rounds)]
    down, up = (np.concatenate([messages[end] for messages in rounds]) for end in (0, 1))
    source, target = np.append(down, up), np.append(up, down)
    return from_columns(pattern.ranks, np.array([0, len(source)]), source, target, None)


def _whole(text: str, expected: str, *, negative: bool = False) -> int:
    if not re.fullmatch(r"-?\d{1,9}" if negative else r"\d{1,9}", text):
        raise UsageError(f"{expected}, got {text or 'nothing'}")
    return int(text)


def _localised(rest: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,9})(?:,(\d{1,3})%)?", rest)
    if match is None:
        raise UsageError(f"localised:W or localised:W,P%, got {rest or 'nothing'}")
    return int(match[1]), int(match[2] or 80)


def _hot_spot(rest: str, ranks: int) -> _core.Pattern:
    traffic = re.fullmatch(r"(\d{1,3})%(?:,(\d{1,9}))?", rest)
    if traffic is not None:
        return _core.make_hot_spot_traffic(ranks, int(traffic[2] or 1), int(traffic[1]))
    return _core.make_hot_spot(ranks, _whole(rest, "hot-spot:K, hot-spot:P% or hot-spot:P%,K"))


def _halo(rest: str, ranks: int) -> tuple[np.ndarray, bool]:
    match = re.fullmatch(r"(?:(\d)d|(\d{1,9}(?:x\d{1,9})*))(,open)?", rest)
    if match is None or match[1] == "0":
        raise UsageError(
            f"halo:XxYxZ or halo:3d, with ,open when not periodic, got {rest or 'nothing'}"
        )
    if match[1]:
        extents = even_grid(ranks, int(match[1]))
    else:
        extents = tuple(int(extent) for extent in match[2].split("x"))
        if math.prod(extents) != ranks:
            raise UsageError(f"a grid of {ranks} ranks, got {match[2]} of {math.prod(extents)}")
    return np.array(extents, dtype=np.uint32), match[3] is None


def even_grid(ranks: int, dimensions: int) -> tuple[int, ...]:
    """Extents of a grid of so many ranks, as even as possible, largest first.

    The largest extent is as small as can be, then the second largest, and so on.
    """
    divisors = [d for d in range(1, math.isqrt(ranks) + 1) if ranks % d == 0]
    divisors = sorted({*divisors, *(ranks // d for d in divisors)})

    @cache
    def best(rest: int, left: int, largest: int) -> tuple[int, ...] | None:
        if left == 0:
            return () if rest == 1 else None
        for extent in divisors:
            if extent > largest:
                break
            if rest % extent == 0 and extent**left >= rest:
                others = best(rest // extent, left - 1, extent)
                if others is not None:
                    return (extent, *others)
        return None

    return best(ranks, dimensions, ranks) or (ranks,)


def _parts(spec: str, ranks: int) -> Pattern:
    """Two patterns on disjoint parts: ``A & B`` or ``A@30% & B``."""
    texts = [text.strip() for text in spec.split("&")]
    if len(texts) != 2 or not all(texts):
        raise _refusal(spec, f"expected two patterns A & B, got {len(list(filter(None, texts)))}")
    first_text, at, share = texts[0].partition("@")
    percent = re.fullmatch(r"(\d{1,2})%", share.strip()) if at else None
    if at and percent is None:
        raise _refusal(spec, f"expected A@P% & B with P below 100, got @{share}")
    first_ranks = ranks * int(percent[1]) // 100 if percent else ranks // 2
    first = parse(first_text, first_ranks)
    second = parse(texts[1], ranks - first_ranks)
    return replace(first & second, name=spec)


def _copies(spec: str, copies: int, each: str, ranks: int) -> Pattern:
    """``8 * ring``: as many patterns at once, each on every eighth rank."""
    if copies < 1 or ranks % copies:
        raise _refusal(spec, f"expected K * A with a K that divides {ranks} ranks, got {copies}")
    return replace(copies * parse(each, ranks // copies), name=spec)


_COLUMNS = ("round", "source", "target", "bytes")
# Without such a column all messages are of one round, and weigh alike.
_ABSENT = (0, 0, 0, 1)
_LARGEST_MATRIX = 20_000
_LARGEST_FILE = 1 << 28
_MATRIX = "a numpy array file of a square matrix of numbers"


class _Reader(Protocol):
    """What csv.reader makes."""

    @property
    def line_num(self) -> int: ...
    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


def read_pattern_file(path: str, ranks: int) -> _core.Pattern:
    """Reads rounds of messages between ranks.

    A ``.csv`` file has a heading that names its columns: ``source`` and ``target`` (ranks from 0),
    and optionally ``round`` (from 0, in any order; without it all messages are one round) and
    ``bytes`` (how much a message counts in the averages; messages of 0 bytes are left out). A
    ``.npy`` file holds a square matrix [source, target] of bytes: one round.

    Raises:
        InputError: something else stands in the file; the error names the line.
    """
    rounds, source, target, size = read_messages(path)
    highest = int(max(source.max(), target.max()))
    if highest >= ranks:
        raise UsageError(
            f"ranks below {ranks}, the number of ranks, got rank {highest}: it needs more ranks "
            "or hosts"
        )
    order = np.argsort(rounds, kind="stable")
    begin = np.concatenate(([0], np.cumsum(np.unique(rounds, return_counts=True)[1])))
    return from_columns(ranks, begin, source[order], target[order], size[order])


def read_messages(path: str) -> tuple[NDArray[np.integer], ...]:
    """Round, source, target and bytes of every message in a file, as `read_pattern_file` reads it.

    Messages of 0 bytes are left out.

    Raises:
        InputError: as of `read_pattern_file`.
    """
    if path.endswith(".npy"):
        source, target, size = _from_matrix(path)
        rounds: NDArray[np.integer] = np.zeros(len(source), dtype=np.int64)
    else:
        rounds, source, target, size = _from_csv(path)
    sent = size > 0
    rounds, source, target, size = (column[sent] for column in (rounds, source, target, size))
    if len(source) == 0:
        raise InputError(path, 0, "at least one message", "none")
    return rounds, source, target, size


def open_matrix(path: str) -> NDArray[Any]:
    """The square matrix of a ``.npy`` file, mapped and not read.

    Raises:
        InputError: the file holds anything else.
    """
    try:
        # What np.load maps a file with, without its ways to archives and pickles.
        matrix = np.lib.format.open_memmap(path, mode="r")
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:
        reason = "something else" if isinstance(error, ValueError) else type(error).__name__
        raise InputError(path, 0, _MATRIX, reason) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise InputError(path, 0, "a square matrix [source, target]", f"shape {matrix.shape}")
    if len(matrix) > _LARGEST_MATRIX:
        raise InputError(path, 0, f"at most {_LARGEST_MATRIX} ranks", str(len(matrix)))
    return matrix


def _from_matrix(path: str) -> Messages:
    matrix = open_matrix(path)
    try:
        return messages_of_matrix(matrix)
    except UsageError as error:
        expected, _, got = str(error).removeprefix("expected ").rpartition(", got ")
        raise InputError(path, 0, expected, got) from None


def _from_csv(path: str) -> tuple[NDArray[np.int64], ...]:
    # Spreadsheets put a mark at the start of UTF-8.
    content = io.BytesIO(read_bounded(path, _LARGEST_FILE))
    text = io.TextIOWrapper(content, newline="", encoding="utf-8-sig", errors="replace")
    reader = csv.reader(text)
    try:
        # Row by row: as numbers they take little more than in the file.
        four: Any = np.dtype((np.int64, 4))
        table = np.fromiter(_rows(path, reader), dtype=four)
    except csv.Error as error:
        raise InputError(path, reader.line_num, "cells of numbers", str(error)) from None
    return tuple(table[:, column] for column in range(4))


def _rows(path: str, reader: _Reader) -> Iterator[tuple[int, int, int, int]]:
    """Round, source, target and bytes of every line below the heading."""
    heading = [name.strip().lower() for name in next(reader, [])]
    if not {"source", "target"} <= set(heading) or not set(heading) <= set(_COLUMNS):
        got = repr(",".join(heading)[:80]) if heading else "an empty line"
        raise InputError(path, 1, "a heading of source,target[,round][,bytes]", got)
    if len(set(heading)) < len(heading):
        raise InputError(path, 1, "each column once", ",".join(heading))
    columns = [heading.index(name) if name in heading else -1 for name in _COLUMNS]
    for cells in reader:
        line = reader.line_num
        if not cells or (len(cells) == 1 and not cells[0].strip()):
            continue
        if len(cells) != len(heading):
            raise InputError(path, line, f"{len(heading)} cells", str(len(cells)))
        values = [
            _number(path, line, cells[column]) if column >= 0 else absent
            for column, absent in zip(columns, _ABSENT, strict=True)
        ]
        yield values[0], values[1], values[2], values[3]


def _number(path: str, line: int, text: str) -> int:
    # Blanks alone: to Python a record separator is white space, but not to int().
    digits = text.strip(" \t")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
        raise InputError(path, line, "a whole number below 10^15", repr(text[:40]))
    return int(digits)
