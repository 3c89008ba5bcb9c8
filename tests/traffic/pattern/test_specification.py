"""From what a user writes to a pattern, and one clear line for what is none."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contend.base.errors import ContendError, UsageError
from contend.traffic.pattern import FORMS, Pattern, parse
from contend.traffic.pattern.specification import FAMILIES, PatternFamily, even_grid


def attempt(spec: str, ranks: int) -> Pattern | ContendError:
    try:
        return parse(spec, ranks)
    except ContendError as error:
        return error


def pairs(pattern: Pattern, number: int = 0) -> list[tuple[int, int]]:
    source, target = pattern.messages(number)
    return list(zip(source.tolist(), target.tolist(), strict=True))


@pytest.mark.parametrize(
    ("spec", "ranks", "expected"),
    [
        ("shift:1", 4, [(0, 1), (1, 2), (2, 3), (3, 0)]),
        ("shift:-1", 3, [(0, 2), (1, 0), (2, 1)]),
        ("shift:5", 3, [(0, 2), (1, 0), (2, 1)]),
        ("ring", 3, [(0, 1), (1, 2), (2, 0)]),
        ("pipeline", 3, [(0, 1), (1, 2)]),
        ("scatter", 3, [(0, 1), (0, 2)]),
        ("gather", 3, [(1, 0), (2, 0)]),
        ("hot-spot:2", 4, [(2, 0), (3, 1)]),
        ("alltoall", 3, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]),
        ("alltoall:2", 4, [(0, 1), (1, 0), (2, 3), (3, 2)]),
        ("alltoall:2,between", 4, [(0, 2), (0, 3), (1, 2), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)]),
        ("halo:2x2", 4, [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]),
        ("halo:3,open", 3, [(0, 1), (1, 0), (1, 2), (2, 1)]),
        ("halo:1d", 3, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]),
        ("neighbour:1", 3, [(0, 1), (1, 2), (2, 0)]),
        ("transpose", 4, [(1, 2), (2, 1)]),
        ("bit-reversal", 4, [(1, 2), (2, 1)]),
        # Ranks beyond the largest square, or power of two, send nothing.
        ("transpose", 11, [(1, 3), (2, 6), (3, 1), (5, 7), (6, 2), (7, 5)]),
        ("bit-reversal", 11, [(1, 4), (3, 6), (4, 1), (6, 3)]),
        ("bit-complement", 4, [(0, 3), (1, 2), (2, 1), (3, 0)]),
        ("bit-complement", 5, [(0, 4), (1, 3), (3, 1), (4, 0)]),
        ("tornado", 4, [(0, 1), (1, 2), (2, 3), (3, 0)]),
        ("tornado", 5, [(0, 2), (1, 3), (2, 4), (3, 0), (4, 1)]),
        ("halo:2x1x2", 4, [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]),
        ("hot-spot:2", 7, [(2, 0), (3, 1), (4, 0), (5, 1), (6, 0)]),
        (" ring & pipeline ", 5, [(0, 1), (1, 0), (2, 3), (3, 4)]),
        ("2 * ring", 6, [(0, 2), (1, 3), (2, 4), (3, 5), (4, 0), (5, 1)]),
        ("2*pipeline & ring", 8, [(0, 2), (1, 3), (4, 5), (5, 6), (6, 7), (7, 4)]),
        (
            "double-tree:allreduce",
            3,
            [(0, 1), (0, 2), (1, 0), (1, 2), (1, 2), (2, 0), (2, 1), (2, 1)],
        ),
        ("ring@60%&pipeline", 5, [(0, 1), (1, 2), (2, 0), (3, 4)]),
    ],
)
def test_messages_by_hand(spec: str, ranks: int, expected: list[tuple[int, int]]) -> None:
    pattern = parse(spec, ranks)
    assert sorted(pairs(pattern)) == expected
    assert pattern.ranks == ranks
    assert pattern.name == spec.strip()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("tree", [[(0, 1)], [(0, 2), (1, 3)], [(0, 4), (1, 5)]]),
        (
            "recursive-doubling",
            [
                [(4, 0), (5, 1)],
                [(0, 1), (1, 0), (2, 3), (3, 2)],
                [(0, 2), (1, 3), (2, 0), (3, 1)],
                [(0, 4), (1, 5)],
            ],
        ),
    ],
)
def test_rounds_of_six_ranks_by_hand(spec: str, expected: list[list[tuple[int, int]]]) -> None:
    pattern = parse(spec, 6)
    assert [pairs(pattern, number) for number in range(pattern.rounds)] == expected


def test_a_double_tree_of_eight_ranks() -> None:
    """Over seven places: 3 over 1 and 5, those over 0, 2 and 4, 6; and the same one place on."""
    children = {0: (4, 5), 2: (1, 3), 3: (2, 4), 4: (2, 6), 5: (3, 7), 6: (5, 7), 7: (1, 6)}
    pattern = parse("double-tree", 8)
    every = sorted(pairs(pattern, 0) + pairs(pattern, 1))
    assert every == [(rank, child) for rank in children for child in children[rank]]


@pytest.mark.parametrize(("grid", "neighbours"), [("3x4", [1, 3, 4, 8]), ("3x4,open", [1, 4])])
def test_a_corner_of_a_grid_of_twelve_ranks(grid: str, neighbours: list[int]) -> None:
    of_halo = pairs(parse(f"halo:{grid}", 12))
    assert sorted(target for source, target in of_halo if source == 0) == neighbours
    assert sorted(target for source, target in of_halo if source == 5) == [1, 4, 6, 9]


@pytest.mark.parametrize(
    ("spec", "rounds"),
    [
        ("shifts", 11),
        ("shifts:3", 3),
        ("shifts:11", 11),
        ("dissemination", 4),
        ("recursive-doubling", 5),
        ("tree", 4),
        ("double-tree", 2),
        ("bisect", 1),
        ("tree & shifts", 5),
    ],
)
def test_rounds_of_twelve_ranks(spec: str, rounds: int) -> None:
    assert parse(spec, 12).rounds == rounds


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("bisect", 8),
        ("bisect:one-way", 8),
        ("bisect:two-way", 16),
        ("uniform", 16),
        ("localised:4", 16),
        ("localised:4,100%", 16),
        ("hot-spot:30%", 16),
        ("hot-spot:30%,3", 16),
        ("bisect & uniform", 4 + 8),
    ],
)
def test_random_patterns(spec: str, count: int) -> None:
    pattern = parse(spec, 16)
    assert pattern.random
    assert len(pairs(pattern)) == count
    first, again, other = (pattern.messages(sample=k)[1].tolist() for k in (0, 0, 1))
    assert first == again
    assert first != other


def test_every_family_is_listed() -> None:
    """What a message about an unknown pattern lists can be written like that."""
    with pytest.raises(UsageError) as caught:
        parse("nothing", 16)
    for form in FORMS:
        assert form.form in str(caught.value)
        example_of = form.form.split("[")[0].replace("XxYx...", "4x4").replace("Nd", "2d")
        example_of = re.sub(r"\b[AB]\b", "ring", re.sub(r"\b[WKP]\b", "4", example_of))
        if not form.form.startswith("file:PATH"):
            assert parse(example_of, 16).ranks == 16


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_misspelt_family_is_recognised(family: PatternFamily) -> None:
    """From the same table as the rest: an entry is all that a pattern needs."""
    listed = [form.form for form in FORMS if re.split("[:[]", form.form)[0] == family.name]
    assert len(listed) == len(family.meanings) >= 1
    with pytest.raises(UsageError, match=f"did you mean '?{family.name}'?"):
        parse(f"{family.name}_", 16)


def test_parts_are_not_weighed_against_each_other(tmp_path: Path) -> None:
    """Bytes of a file mean nothing beside messages that have none."""
    file = tmp_path / "weights.csv"
    file.write_text("source,target,bytes\n0,1,10\n2,3,500\n")
    with pytest.raises(UsageError, match="without bytes, got one with them"):
        parse(f"ring & file:{file}", 8)
    file.write_text("source,target,bytes\n0,1,10\n2,3,10\n")
    assert len(parse(f"ring & file:{file}", 8).messages()[0]) == 4 + 2


def test_only_neighbours_are_scaled() -> None:
    assert parse("neighbour:6", 16).scale == 6
    assert parse("halo:2d", 16).scale == 1


@pytest.mark.parametrize(
    ("spec", "ranks"),
    [
        ("", 16),
        (":", 16),
        ("shift", 16),
        ("shift:", 16),
        ("shift:x", 16),
        ("shift:1.5", 16),
        ("shift:16", 16),
        ("shift:1", 0),
        ("shift:1", -1),
        ("shift:1", 2**32),
        ("shift:99999999999", 16),
        ("ring:1", 16),
        ("ring", 1),
        ("bisect:half", 16),
        ("bisect", 1),
        ("bisect", 2**40),
        ("localised", 16),
        ("localised:1", 16),
        ("localised:4,101%", 16),
        ("localised:4,5", 16),
        ("hot-spot", 16),
        ("hot-spot:0", 16),
        ("hot-spot:16", 16),
        ("hot-spot:101%", 16),
        ("hot-spot:10%,9", 16),
        ("neighbour:0", 16),
        ("neighbour:16", 16),
        ("halo", 16),
        ("halo:0d", 16),
        ("halo:3x5", 16),
        ("halo:4x4,closed", 16),
        ("halo:99999999999x1", 16),
        ("transpose", 3),
        ("tornado", 2),
        ("double-tree", 2),
        ("bisect &", 16),
        ("& bisect", 16),
        ("a & b & c", 16),
        ("bisect@ & bisect", 16),
        ("bisect@0% & bisect", 16),
        ("bisect@100% & bisect", 16),
        ("shift:1@1% & bisect", 16),
        ("bisect@99% & bisect", 16),
        ("bisect & nothing", 16),
    ],
)
def test_one_line_says_what_was_expected(spec: str, ranks: int) -> None:
    with pytest.raises(UsageError, match=r"^pattern .*: expected .+, got .+$") as caught:
        parse(spec, ranks)
    message = str(caught.value)
    assert "\n" not in message
    assert "expected expected" not in message
    assert message.count("needs") == 0


@given(
    st.one_of(
        st.text(max_size=30),
        st.builds(
            "{}{}{}".format,
            st.sampled_from(
                ["shift", "halo", "bisect", "hot-spot", "localised", "neighbour", "ring & tree@"]
            ),
            st.sampled_from([":", "@", "&", ""]),
            st.text("0123456789x,%d-@&: ٣²", max_size=14),
        ),
    ),
    st.integers(-2, 300),
)
@example("halo:9d", 2)
@example("halo:٣d", 27)
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_pattern_or_one_line(spec: str, ranks: int) -> None:
    if "file:" in spec:
        return
    pattern = attempt(spec, ranks)
    if isinstance(pattern, ContendError):
        assert len(str(pattern).splitlines()) == 1
        return
    assert pattern.ranks == ranks
    for number in range(min(pattern.rounds, 3)):
        source, target = pattern.messages(number)
        assert (source < ranks).all()
        assert (target < ranks).all()
        assert (source != target).all()


@pytest.mark.parametrize(
    ("ranks", "dimensions", "expected"),
    [
        (12, 2, (4, 3)),
        (24, 3, (4, 3, 2)),
        (30, 3, (5, 3, 2)),
        (36, 2, (6, 6)),
        (64, 3, (4, 4, 4)),
        # Not (9, 4, 3), which begins at the divisor nearest to the even side.
        (108, 3, (6, 6, 3)),
        (7, 2, (7, 1)),
        (1, 3, (1, 1, 1)),
        (5, 1, (5,)),
    ],
)
def test_even_grid(ranks: int, dimensions: int, expected: tuple[int, ...]) -> None:
    assert even_grid(ranks, dimensions) == expected


@given(st.integers(1, 400), st.integers(1, 4))
@settings(deadline=None)
def test_even_grid_is_the_most_even_one(ranks: int, dimensions: int) -> None:
    """Falling extents whose list is the smallest: the largest extent is as small as can be."""

    def grids(rest: int, left: int, largest: int) -> list[tuple[int, ...]]:
        if left == 0:
            return [()] if rest == 1 else []
        return [
            (extent, *others)
            for extent in range(1, min(rest, largest) + 1)
            if rest % extent == 0
            for others in grids(rest // extent, left - 1, extent)
        ]

    found = even_grid(ranks, dimensions)
    assert math.prod(found) == ranks
    assert found == min(grids(ranks, dimensions, ranks))


@pytest.mark.parametrize("number", [-1, 4, 2**32])
def test_round_that_a_pattern_does_not_have(number: int) -> None:
    with pytest.raises(UsageError, match=r"round 0 \.\. 3 of tree, got"):
        parse("tree", 12).messages(number)


def test_messages_are_arrays_of_ranks() -> None:
    source, target = parse("ring", 5).messages()
    assert source.dtype == target.dtype == np.uint32
    assert source.shape == target.shape == (5,)


def test_a_reduction_is_the_tree_backwards() -> None:
    """Of 6 ranks: 0 -> 1, then 0, 1 -> 2, 3, then 0, 1 -> 4, 5; and the other way round."""
    back = parse("tree:reduce", 6)
    rounds = [tuple(ranks.tolist() for ranks in back.messages(number)) for number in range(3)]
    assert rounds == [([4, 5], [0, 1]), ([2, 3], [0, 1]), ([1], [0])]
    with pytest.raises(UsageError, match="expected tree or tree:reduce, got up"):
        parse("tree:up", 6)
