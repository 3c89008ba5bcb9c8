"""Memory: of a parallel sort l_n = n/p, blocks of n/p², vectors of m doubles of 8 bytes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.base.errors import UsageError
from contend.lab.measurement import (
    Fit,
    MemoryPrediction,
    RealHosts,
    Shape,
    VectorLength,
    compare_memory,
    memory_of,
    options_of,
)

GIB = 1 << 30

small = st.integers(1, 10_000)


def test_the_example_of_48_numbers_on_4_processes() -> None:
    """The paper's example: l_n = 48/4 = 12 and blocks of 12/4 = 3, for one double a number."""
    case = MemoryPrediction(vectors=48, hosts=1, ranks_per_host=4, length_in_doubles=1)
    assert (case.ranks, case.local_length, case.block_length) == (4, 12, 3)
    assert case.divides
    assert (case.global_bytes, case.local_bytes, case.block_bytes) == (384, 96, 24)
    assert case.host_arrays_bytes == 2 * 384


def test_what_does_not_divide_is_an_exact_mean() -> None:
    """n = 10, p = 3: 10/3 and 10/9 vectors; a node may hold ⌈10/3⌉ = 4 of them, in two arrays."""
    case = MemoryPrediction(vectors=10, hosts=3, ranks_per_host=1, length_in_doubles=2)
    assert case.local_length == Fraction(10, 3)
    assert case.block_length == Fraction(10, 9)
    assert case.block_bytes == Fraction(160, 9)
    assert not case.divides
    assert case.host_arrays_bytes == 2 * 4 * 16


def test_whole_arrays_may_have_broken_blocks() -> None:
    """n = 8, p = 4: every process has two vectors, half a vector for each of the four."""
    case = MemoryPrediction(vectors=8, hosts=4, ranks_per_host=1, length_in_doubles=1)
    assert case.local_length == 2
    assert not case.divides


@given(small, small, small, small)
def test_parts_add_up(numbers: int, nodes: int, ppn: int, doubles: int) -> None:
    """p local arrays are the global one, p blocks a local one, and all nodes hold both arrays."""
    case = MemoryPrediction(numbers, nodes, ppn, doubles)
    assert case.ranks * case.local_bytes == case.global_bytes == 8 * numbers * doubles
    assert case.ranks * case.block_bytes == case.local_bytes
    spare = nodes * case.host_arrays_bytes - 2 * case.global_bytes
    assert 0 <= spare < 2 * case.ranks * 8 * doubles
    if case.divides:
        assert spare == 0


@pytest.mark.parametrize(
    ("memory", "fit"),
    [
        (1000, Fit.FITS),
        (915, Fit.FITS),  # 640/915 = 0.6995
        (914, Fit.NEAR),  # 640/914 = 0.7002
        (640, Fit.NEAR),
        (639, Fit.EXCEEDS),
    ],
)
def test_fit_changes_at_the_memory_and_at_seven_tenths_of_it(memory: int, fit: Fit) -> None:
    """Two arrays of 40 doubles are 640 bytes."""
    assert MemoryPrediction(40, 1, 1, 1).fit(memory) is fit


@pytest.mark.parametrize(
    ("length", "gibibytes"), [("512N", 11.4), ("800N", 17.8), ("810N", 18.0), ("1024N", 22.8)]
)
def test_arrays_of_a_node_on_tara(length: str, gibibytes: float) -> None:
    """2 · 8 m n / N bytes on 36 nodes: 800N ran and 810N failed with 1 % more."""
    doubles = VectorLength.parse(length).at(36)
    case = MemoryPrediction(1_492_992, 36, 8, doubles)
    assert round(case.host_arrays_bytes / GIB, 1) == gibibytes


def test_the_poster_s_failures_are_not_a_matter_of_array_bytes() -> None:
    """810N needs the same on every number of nodes, ran on 18 and failed on 36."""
    length = VectorLength.parse("810N")
    cases = [MemoryPrediction(1_492_992, nodes, 8, length.at(nodes)) for nodes in (1, 18, 36)]
    assert len({case.host_arrays_bytes for case in cases}) == 1
    assert cases[0].fit(24 * GIB) is Fit.NEAR


@pytest.mark.parametrize(
    ("text", "on_one", "on_36"), [("512", 512, 512), ("512N", 512, 18_432), ("512 N", 512, 18_432)]
)
def test_vector_length(text: str, on_one: int, on_36: int) -> None:
    length = VectorLength.parse(text)
    assert (length.at(1), length.at(36)) == (on_one, on_36)
    assert str(length) == text.replace(" ", "")


@pytest.mark.parametrize(
    "text", ["", "N", "0", "0N", "-1", "1.5", "1e3", "N512", "512n", "٥", "512NN", "9" * 20, "5\n"]
)
def test_no_vector_length(text: str) -> None:
    with pytest.raises(UsageError, match="expected a vector length m such as 512 or 512N"):
        VectorLength.parse(text)


@pytest.mark.parametrize(
    ("numbers", "nodes", "ppn", "doubles", "message"),
    [
        (0, 1, 1, 1, "vectors: expected at least 1, got 0"),
        (1, -3, 1, 1, "hosts: expected at least 1, got -3"),
        (1, 1, 0, 1, "ranks per host: expected"),
        (1, 1, 1, 0, "doubles in a vector: expected"),
        (1, 2**30, 2, 1, "at most 2,147,483,647 processes, got 2,147,483,648"),
        (2**59, 1, 1, 1, "less than 8 EiB"),
        (1, 2**20, 2**10, 2**30, "less than 8 EiB"),
    ],
)
def test_what_cannot_run_is_refused(
    numbers: int, nodes: int, ppn: int, doubles: int, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        MemoryPrediction(numbers, nodes, ppn, doubles)


def test_the_largest_that_is_allowed() -> None:
    """Two arrays of 2^59 - 1 doubles are 2^63 - 16 bytes."""
    assert MemoryPrediction(2**59 - 1, 1, 1, 1).host_arrays_bytes == 2**63 - 16


@pytest.mark.parametrize(
    ("probe", "options", "expected"),
    [
        # 2 blocks for each of 16 ranks, on each of 4.
        ("alltoall", {"bytes": "1,1K", "algorithm": "linear"}, 4 * 2 * 16 * 1024),
        ("alltoall", {"bytes": "1K", "algorithm": "linear", "counts": "uneven"}, 4 * 4 * 16 * 1024),
        # Bruck holds what it passes on a second time.
        ("alltoall", {"bytes": "1K"}, 4 * 4 * 16 * 1024),
        # 2 arrays of ceil(1000 / 16) = 63 vectors of 8 doubles.
        ("sort", {"vectors": 1000, "length": 8}, 4 * 2 * 63 * 64),
        ("pingpong", {"bytes": "1M", "window": 4}, 4 * 2 * 4 << 20),
        ("pingpong", {"bytes": "1G"}, 4 * 2 << 30),
    ],
)
def test_memory_of_four_of_sixteen_ranks(
    probe: str, options: dict[str, str | int], expected: int
) -> None:
    memory = memory_of(probe, options_of(probe, options))
    assert memory(16, 4) == expected


def test_what_a_host_cannot_hold_is_told_with_the_figure() -> None:
    options = options_of("alltoall", {"bytes": "1M", "algorithm": "linear"})
    memory = memory_of("alltoall", options)
    shape = Shape(4)
    # 4 ranks x 2 x 4 x 1 MiB
    needed = 32 << 20

    def compared(free: int) -> tuple[Fit, str]:
        found = compare_memory(memory, shape, RealHosts(free_memory=free))
        return found.fit, str(found)

    fit, text = compared(31 << 20)
    assert fit is Fit.EXCEEDS
    assert "33,554,432 bytes (32 MiB), and 31 MiB are free" in text
    assert compared(needed)[0] is Fit.NEAR
    assert compared(2 * needed)[0] is Fit.FITS
    # Nobody knows what is free on hosts that cannot be seen.
    assert compare_memory(memory, shape, RealHosts(slots=(("elsewhere", 4),))) is None
