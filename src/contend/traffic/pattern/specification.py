"""From what a user writes, such as ``shift:3``, to the pattern."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.units import nearest
from contend.traffic.pattern.nccl_graph import holds_nccl_graphs, nccl_pattern, rails_of_nccl
from contend.traffic.pattern.pattern import MOST_RANKS, Pattern, from_columns
from contend.traffic.pattern.pattern_file import read_pattern_file


@dataclass(frozen=True)
class Form:
    """How a family of patterns is written, and what it is."""

    form: str
    meaning: str


Drawn: TypeAlias = "tuple[_core.Pattern, float]"
"""What the core makes of a pattern, and its scale; see `Pattern`."""


@dataclass(frozen=True)
class PatternFamily:
    """Patterns of one name. All that is told of them anywhere is made of these."""

    name: str
    """What they begin with."""
    make: Callable[[str, int], Drawn]
    """What makes one of them, from what stands behind the colon ("" for nothing) and the number of
    ranks; refuses what does not fit by what it expected instead."""
    meanings: Mapping[str, str]
    """What stands behind the name, as ``:K``, with what that is, in the order of lists."""


def _named(name: str, meaning: str, make: Callable[[int], _core.Pattern]) -> PatternFamily:
    """A pattern that takes nothing but its name."""

    def drawn(rest: str, ranks: int) -> Drawn:
        if rest:
            raise UsageError(f"no parameter after {name}, got {rest}")
        return make(ranks), 1.0

    return PatternFamily(name, drawn, {"": meaning})


def _chosen(
    name: str, kinds: Mapping[str, Callable[[int], _core.Pattern]], meanings: Mapping[str, str]
) -> PatternFamily:
    """A pattern of several kinds, which a word behind the colon tells apart."""

    def drawn(rest: str, ranks: int) -> Drawn:
        if rest not in kinds:
            *others, last = (f"{name}:{kind}" if kind else name for kind in kinds)
            raise UsageError(f"{', '.join(others)} or {last}, got {rest}")
        return kinds[rest](ranks), 1.0

    return PatternFamily(name, drawn, meanings)


def _all_to_all(rest: str, ranks: int) -> Drawn:
    if not rest:
        # Every rank's link carries a message to each of the others.
        return _core.make_all_to_all(ranks, 1), max(ranks - 1, 1.0)
    size, _, where = rest.partition(",")
    block = _whole(size, "alltoall:K with a whole number K")
    if where not in ("", "between"):
        raise UsageError(f"alltoall:K or alltoall:K,between, got {where}")
    if where:
        return _core.make_all_to_all(ranks, block), max(ranks - block, 1.0)
    return _core.make_all_to_all_within(ranks, block), max(block - 1, 1.0)


def _shift(rest: str, ranks: int) -> Drawn:
    # A shift beyond the last rank, or backwards, comes round again.
    distance = _whole(rest, "shift:K with a whole number K", negative=True) % ranks
    return _core.make_shift(ranks, distance), 1.0


def _shifts(rest: str, ranks: int) -> Drawn:
    if not rest:
        return _core.make_all_shifts(ranks), 1.0
    count = _whole(rest, "shifts:K with a whole number K")
    if not 1 <= count < ranks:
        raise UsageError(f"shifts:K with a K from 1 to {ranks - 1}, got {count}")
    return _core.make_shifts(ranks, shift_distances(ranks, count)), 1.0


def shift_distances(ranks: int, count: int) -> NDArray[np.uint32]:
    """The distances of ``shifts:K``, ascending: one drawn out of each of K equal runs of all.

    The same whatever the seed.
    """
    first = 1 + (ranks - 1) * np.arange(count + 1) // count
    drawn = np.random.default_rng(0).random(count)
    return (first[:-1] + (drawn * np.diff(first)).astype(np.int64)).astype(np.uint32)


def _neighbour(rest: str, ranks: int) -> Drawn:
    neighbours = _whole(rest, "neighbour:K with a whole number K")
    return _core.make_neighbour(ranks, neighbours), float(neighbours)


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


def _of_file(path: str, ranks: int) -> Drawn:
    """Told by its content."""
    if holds_nccl_graphs(path):
        return nccl_pattern(path, ranks), 1.0
    return read_pattern_file(path, ranks), 1.0


def _whole(text: str, expected: str, *, negative: bool = False) -> int:
    if not re.fullmatch(r"-?\d{1,9}" if negative else r"\d{1,9}", text):
        raise UsageError(f"{expected}, got {text or 'nothing'}")
    return int(text)


def _localised(rest: str, ranks: int) -> Drawn:
    match = re.fullmatch(r"(\d{1,9})(?:,(\d{1,3})%)?", rest)
    if match is None:
        raise UsageError(f"localised:W or localised:W,P%, got {rest or 'nothing'}")
    return _core.make_localised(ranks, int(match[1]), int(match[2] or 80)), 1.0


def _hot_spot(rest: str, ranks: int) -> Drawn:
    traffic = re.fullmatch(r"(\d{1,3})%(?:,(\d{1,9}))?", rest)
    if traffic is not None:
        return _core.make_hot_spot_traffic(ranks, int(traffic[2] or 1), int(traffic[1])), 1.0
    last = _whole(rest, "hot-spot:K, hot-spot:P% or hot-spot:P%,K")
    return _core.make_hot_spot(ranks, last), 1.0


def _halo(rest: str, ranks: int) -> Drawn:
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
    periodic = match[3] is None
    return _core.make_halo(ranks, np.array(extents, dtype=np.uint32), periodic), 1.0


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


FAMILIES = (
    _chosen(
        "bisect",
        {
            "": partial(_core.make_bisect, two_way=False),
            "one-way": partial(_core.make_bisect, two_way=False),
            "two-way": partial(_core.make_bisect, two_way=True),
        },
        {
            "": "random pairs between two random halves; one of each pair sends",
            ":two-way": "the same, but both of each pair send",
        },
    ),
    _named(
        "permutation",
        "a random permutation: every rank sends once and receives once",
        _core.make_permutation,
    ),
    _named(
        "uniform",
        "every rank sends to a random other one; several may choose the same",
        _core.make_uniform,
    ),
    PatternFamily(
        "localised",
        _localised,
        {":W[,P%]": "P% (80%) of the ranks send within their block of W ranks"},
    ),
    PatternFamily(
        "hot-spot",
        _hot_spot,
        {
            ":P%[,K]": "P% of the ranks send to one of K (1) random hot spots",
            ":K": "all ranks from K on send to the first K ranks in turn",
        },
    ),
    PatternFamily(
        "alltoall",
        _all_to_all,
        {
            "": "every pair at once",
            ":K": "every pair within each block of K ranks at once",
            ":K,between": "every pair at once of ranks in different blocks of K",
        },
    ),
    PatternFamily("shift", _shift, {":K": "rank i sends to i + K"}),
    PatternFamily(
        "shifts",
        _shifts,
        {
            "": "all shifts, one per round: the pairwise exchange",
            ":K": "K of them, evenly spread",
        },
    ),
    _named("dissemination", "rank i sends to i + 1, 2, 4, ...", _core.make_dissemination),
    _named("recursive-doubling", "partners i xor 1, 2, 4, ...", _core.make_recursive_doubling),
    _chosen(
        "tree",
        {"": _core.make_tree, "reduce": lambda ranks: _backwards(_core.make_tree(ranks))},
        {"": "binomial tree from rank 0", ":reduce": "the same back to rank 0"},
    ),
    _chosen(
        "double-tree",
        {
            "": _core.make_double_tree,
            "allreduce": lambda ranks: _both_ways(_core.make_double_tree(ranks)),
        },
        {
            "": "two binary trees at once; a rank is an inner node of at most one",
            ":allreduce": "the same up and down at once, as an all-reduce fills them",
        },
    ),
    _named("pipeline", "rank i sends to i + 1", _core.make_pipeline),
    _named("ring", "the same, and the last to the first", lambda ranks: _core.make_shift(ranks, 1)),
    _named("scatter", "rank 0 sends to all others at once", _core.make_scatter),
    _named("gather", "all others send to rank 0 at once", _core.make_gather),
    PatternFamily(
        "neighbour",
        _neighbour,
        {":K": "every rank sends to its K nearest in rank order at once"},
    ),
    PatternFamily(
        "halo",
        _halo,
        {
            ":XxYx...[,open]": "every rank sends to its grid neighbours at once; wraps around",
            ":Nd[,open]": "the same on an N-dimensional grid as even as possible",
        },
    ),
    _named("transpose", "(i, j) sends to (j, i) on the largest square grid", _core.make_transpose),
    _named("bit-reversal", "rank i sends to its bits reversed", _core.make_bit_reversal),
    _named("bit-complement", "rank i sends to p - 1 - i", _core.make_bit_complement),
    _named("tornado", "rank i sends almost halfway round", _core.make_tornado),
    PatternFamily(
        "file",
        _of_file,
        {
            ":PATH": "rounds of source, target[, bytes] from a .csv, or a matrix from a .npy",
            ":PATH[,ring][,tree][,rails=R]": "NCCL's rings, then its trees, between servers: from "
            "what NCCL_GRAPH_DUMP_FILE names",
        },
    ),
)
"""Every family of patterns. One more is one entry here: it is parsed, listed and named by that."""

_BY_NAME = {family.name: family for family in FAMILIES}
FORMS = (
    *(
        Form(family.name + parameters, meaning)
        for family in FAMILIES
        for parameters, meaning in family.meanings.items()
    ),
    Form("K * A", "K copies of A at once, copy k on ranks k, k + K, ...: pattern A on K rails"),
    Form("A & B", "pattern A on the first half of the ranks, B on the others (A@30% & B)"),
)
"""How patterns are written, for people."""

_COPIES = re.compile(r"(\d{1,9})\s*\*\s*(.*)")


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


def rails_told(spec: str) -> int | None:
    """How many adapters a server has in a pattern of copies, or of NCCL's graphs; else None.

    Raises:
        InputError: a file of graphs holds something else.
    """
    spec = spec.strip()
    if (several := _COPIES.fullmatch(spec)) is not None:
        return int(several[1])
    path = spec.removeprefix("file:")
    return rails_of_nccl(path) if path != spec and holds_nccl_graphs(path) else None


def _refusal(spec: str, why: str) -> UsageError:
    """In one line, whatever was given."""
    return UsageError(" ".join(f"pattern {spec}: {why}".split()))


def _make(spec: str, family: str, rest: str, ranks: int) -> Pattern:
    if not 1 <= ranks <= MOST_RANKS:
        raise UsageError(f"between 1 and {MOST_RANKS:,} ranks, got {ranks}")
    if family not in _BY_NAME:
        known = ", ".join(form.form for form in FORMS)
        raise UsageError(f"one of {known}, got {family or 'nothing'}{nearest(family, _BY_NAME)}")
    core, scale = _BY_NAME[family].make(rest, ranks)
    return Pattern(spec, core, scale)


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
