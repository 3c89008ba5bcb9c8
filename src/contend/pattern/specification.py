"""From what a user writes, such as ``shift:3``, to the pattern."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from contend import _core
from contend.errors import UsageError
from contend.pattern.file import read_pattern_file
from contend.pattern.pattern import Pattern
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
    Form("shift:K", "rank i sends to i + K"),
    Form("shifts", "all shifts, one per round: the pairwise exchange"),
    Form("dissemination", "rank i sends to i + 1, 2, 4, ..."),
    Form("recursive-doubling", "partners i xor 1, 2, 4, ..."),
    Form("tree", "binomial tree from rank 0"),
    Form("double-tree", "two binary trees at once; a rank is an inner node of at most one"),
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
    Form("A & B", "pattern A on the first half of the ranks, B on the others (A@30% & B)"),
)

# Far above any machine: more is a typing error, and would be memory asked for.
_MOST_RANKS = 1 << 28

_PLAIN: dict[str, Callable[[int], _core.Pattern]] = {
    "permutation": _core.make_permutation,
    "uniform": _core.make_uniform,
    "alltoall": _core.make_all_to_all,
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
_FAMILIES = ("bisect", "shift", "neighbour", "localised", "hot-spot", "halo", "file")


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
    family, _, rest = spec.partition(":")
    try:
        return _make(spec, family, rest, ranks)
    except UsageError as error:
        raise _refusal(spec, f"expected {error}") from None


def _refusal(spec: str, why: str) -> UsageError:
    """In one line, whatever was given."""
    return UsageError(" ".join(f"pattern {spec}: {why}".split()))


def _make(spec: str, family: str, rest: str, ranks: int) -> Pattern:
    if not 1 <= ranks <= _MOST_RANKS:
        raise UsageError(f"between 1 and {_MOST_RANKS:,} ranks, got {ranks}")
    if family in _PLAIN:
        if rest:
            raise UsageError(f"no parameter after {family}, got {rest}")
        # Every rank's link carries a message to each of the others.
        scale = max(ranks - 1.0, 1.0) if family == "alltoall" else 1.0
        return Pattern(spec, _PLAIN[family](ranks), scale)
    match family:
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
