"""Tables of predicted memory against every printed cell of the paper's."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contend.lab.measurement import MemoryPrediction, VectorLength
from contend.report import ResultTable
from contend.report.study.memory import memory_tables, whole_units

TARA = 24 << 30

# Mistry et al. 2015, as printed. Lines: N; p; m; n; memory; l_n; memory; l_n/p; memory.
TABLE_2 = """
1           | 3           | 9           | 18          | 36
8           | 24          | 72          | 144         | 288
512         | 512         | 512         | 512         | 512
1,492,992   | 1,492,992   | 1,492,992   | 1,492,992   | 1,492,992
6 GB        | 6 GB        | 6 GB        | 6 GB        | 6 GB
186,624     | 62,208      | 20,736      | 10,368      | 5,184
729 MB      | 243 MB      | 81 MB       | 41 MB       | 20 MB
23,328      | 2,592       | 288         | 72          | 18
93,312 kB   | 10,368 kB   | 1,152 kB    | 288 kB      | 72 kB
"""
TABLE_4 = """
1           | 3           | 9           | 18          | 36
8           | 24          | 72          | 144         | 288
512         | 1,536       | 4,608       | 9,216       | 18,432
1,492,992   | 1,492,992   | 1,492,992   | 1,492,992   | 1,492,992
6 GB        | 17 GB       | 51 GB       | 103 GB      | 205 GB
186,624     | 62,208      | 20,736      | 10,368      | 5,184
729 MB      | 729 MB      | 729 MB      | 729 MB      | 729 MB
23,328      | 2,592       | 288         | 72          | 18
93,312 kB   | 31,104 kB   | 10,368 kB   | 5,184 kB    | 2,592 kB
"""
# The last line of the poster's table has the blocks of table 4 in MB.
POSTER_BLOCKS = ("91 MB", "30 MB", "10 MB", "5 MB", "3 MB")


def tables_of(
    text: str,
    nodes: tuple[int, ...] = (1, 3, 9, 18, 36),
    numbers: int = 1_492_992,
    ppn: int = 8,
) -> tuple[ResultTable, ...]:
    length = VectorLength.parse(text)
    cases = [MemoryPrediction(numbers, count, ppn, length.at(count)) for count in nodes]
    return memory_tables(length, cases, TARA)


def row_of(table: ResultTable, label: str) -> tuple[str, ...]:
    return next(row[1:] for row in table.rows if row[0] == label)


@pytest.mark.parametrize(("length", "printed"), [("512", TABLE_2), ("512N", TABLE_4)])
def test_every_printed_cell(length: str, printed: str) -> None:
    lines = [tuple(map(str.strip, line.split("|"))) for line in printed.strip().splitlines()]
    (table,) = tables_of(length)
    assert [table.columns[1:], *(row[1:] for row in table.rows[:8])] == lines
    assert [row[0] for row in table.rows[:8]] == [
        "Ranks p",
        f"m = {length}",
        "Length n",
        "Global memory",
        "Length l_n = n/p",
        "Local memory",
        "Length l_n/p",
        "Block memory",
    ]


def test_the_poster_s_blocks() -> None:
    """The same rule in MB: 91.125, 30.375, 10.125, 5.0625 and 2.53125."""
    cases = [MemoryPrediction(1_492_992, nodes, 8, 512 * nodes) for nodes in (1, 3, 9, 18, 36)]
    assert tuple(whole_units(case.block_bytes, "MB") for case in cases) == POSTER_BLOCKS


def test_titles_say_what_is_constant() -> None:
    assert "Constant global memory for m = 512:" in tables_of("512")[0].title
    assert "Constant local memory for m = 7N:" in tables_of("7N")[0].title


def test_fit_and_published_times_stand_below() -> None:
    """At 36 nodes 800N took 6.73 s and 810N failed, both near the 24 GiB of a node."""
    (ran,) = tables_of("800N")
    (failed,) = tables_of("810N")
    assert row_of(ran, "Both, on a host") == ("17.8 GiB",) * 5
    assert row_of(ran, "of 24 GiB") == ("74.2 %",) * 5
    assert row_of(ran, "fits") == row_of(failed, "fits") == ("near",) * 5
    assert row_of(ran, "Time, poster")[4] == "6.73 s"
    assert row_of(failed, "Time, poster")[3:] == ("5.54 s", "ERR")
    assert "one of memory" in failed.note
    assert "one of memory" not in ran.note
    assert "near is 70.0 % or more" in ran.note


def test_too_much_does_not_fit() -> None:
    """2 · 8 · 2048 · 1,492,992 bytes are 45.6 GiB."""
    (table,) = tables_of("2048", nodes=(1, 3))
    assert row_of(table, "fits") == ("no", "yes")
    assert row_of(table, "Both, on a host")[0] == "45.56 GiB"
    assert "near" not in table.note


def test_times_are_left_out_where_nothing_was_published() -> None:
    (table,) = tables_of("512N", nodes=(1, 2))
    assert row_of(table, "Time, poster") == ("0.60 s", "")
    (other,) = tables_of("512N", nodes=(2, 4))
    assert not any(row[0].startswith("Time") for row in other.rows)


def test_lengths_that_do_not_divide_are_marked() -> None:
    """n = 1000, p = 3, 6 and 3000: 333 1/3, 166 2/3, 1/3; n/p² = 111 1/9, 27 7/9, 1/9000."""
    (table,) = tables_of("1", nodes=(1, 2, 1000), numbers=1000, ppn=3)
    assert row_of(table, "Length l_n = n/p") == ("≈333.33", "≈166.67", "≈0.33")
    assert row_of(table, "Length l_n/p") == ("≈111.11", "≈27.78", "≈0")
    assert row_of(table, "Block memory") == ("1 kB", "222 B", "< 1 B")
    assert "p² does not divide n" in table.note
    assert "p² does not divide n" not in tables_of("1")[0].note


def test_many_numbers_of_nodes_become_several_tables() -> None:
    tables = tables_of("512", nodes=tuple(range(1, 14)))
    assert [len(table.columns) - 1 for table in tables] == [6, 6, 1]
    assert tables[2].columns[1] == "13"


@pytest.mark.parametrize(
    ("halves", "unit", "text"),
    [
        (81, "MB", "41 MB"),  # 40.5, table 2
        (80, "MB", "40 MB"),
        (1, "MB", "1 MB"),  # 0.5
        (2 * 1024 * 1024, "MB", "1,048,576 MB"),
    ],
)
def test_halves_are_rounded_up(halves: int, unit: str, text: str) -> None:
    assert whole_units(Fraction(halves << 19), unit) == text


def test_what_would_become_0_takes_a_smaller_unit() -> None:
    assert whole_units(Fraction((1 << 29) - 1), "GB") == "512 MB"
    assert whole_units(Fraction(511), "GB") == "511 B"
    assert whole_units(Fraction(1, 3), "kB") == "< 1 B"


@given(st.fractions(min_value=1, max_value=2**63), st.sampled_from(["GB", "MB", "kB"]))
def test_printed_is_within_half_a_unit(count: Fraction, unit: str) -> None:
    sizes = {"GB": 1 << 30, "MB": 1 << 20, "kB": 1 << 10, "B": 1}
    number, name = whole_units(count, unit).split()
    printed = int(number.replace(",", "")) * sizes[name]
    assert -sizes[name] <= 2 * (count - printed) < sizes[name]
    assert name == unit or 2 * count < sizes[unit]
