"""What was published of the study on tara."""

from __future__ import annotations

from contend.lab.measurement import MemoryPrediction, VectorLength
from contend.lab.studies import find_plan, published, read_plan

NUMBERS = 1_492_992


def test_all_published_blocks_divide() -> None:
    """n = 2 · (8 · 18 · 2 · 3)², so p² = (8 N)² divides it on all published nodes."""
    plan = read_plan(find_plan("mistry2015"))
    (sort,) = plan.measures
    assert sort.vectors == 2 * (8 * 18 * 2 * 3) ** 2 == NUMBERS
    assert (sort.hosts, sort.ranks_per_host) == ((1, 3, 9, 18, 36), (8,))
    assert all(MemoryPrediction(NUMBERS, nodes, 8, 1).divides for nodes in sort.hosts)


def test_an_error_is_known_and_another_run_is_not() -> None:
    length = VectorLength(810, True)
    assert published(length, MemoryPrediction(NUMBERS, 36, 8, 810 * 36)) == {"poster": None}
    assert published(length, MemoryPrediction(NUMBERS, 2, 8, 810 * 2)) == {}
    assert published(length, MemoryPrediction(NUMBERS, 36, 4, 810 * 36)) == {}
    assert published(length, MemoryPrediction(NUMBERS + 1, 36, 8, 810 * 36)) == {}
    assert published(VectorLength(7, True), MemoryPrediction(NUMBERS, 36, 8, 7 * 36)) == {}
