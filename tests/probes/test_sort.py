"""The parallel sort, with every kind of input and under real MPI libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from contend.lab.measurement import MemoryPrediction
from contend.lab.runs import read_samples
from probe_programs import PROBES, Mpi, compile_strictly, link, probe

Rows = list[list[float]]
KINDS = ("built", "uniform", "normal", "zipf", "sorted", "reversed", "equal")


@pytest.fixture(scope="session")
def sort_objects(
    openmpi: Mpi, common: list[Path], alltoall_objects: list[Path], build: Path
) -> list[Path]:
    """All that the program consists of but the sort's operation."""
    borrowed = [one for one in alltoall_objects if one.name != "alltoall-main.o"]
    own = set((PROBES / "sort").glob("*.cpp")) - {PROBES / "sort" / "sort_operation.cpp"}
    return [*common, *borrowed, *compile_strictly(openmpi.wrapper, sorted(own), build)]


@pytest.fixture(scope="session")
def make_sort(openmpi: Mpi, sort_objects: list[Path], build: Path) -> Callable[[str], Path]:
    """`make_sort("LOSS")` makes a sort with that fault, `make_sort("NONE")` one without."""

    def make(fault: str) -> Path:
        folder = build / f"sort-{fault}"
        folder.mkdir()
        flags = [f"-DCONTEND_FAULT=CONTEND_FAULT_{fault}"]
        operation = PROBES / "sort" / "sort_operation.cpp"
        own = compile_strictly(openmpi.wrapper, [operation], folder, flags)
        return link(openmpi.wrapper, [*sort_objects, *own], folder / "sort")

    return make


@pytest.fixture(scope="session")
def sort(make_sort: Callable[[str], Path]) -> Path:
    """The program for Debian's Open MPI."""
    return make_sort("NONE")


@pytest.fixture(scope="session")
def any_sort(any_mpi: Mpi, request: pytest.FixtureRequest) -> Path:
    """The program for each library."""
    if any_mpi.name == "openmpi":
        return request.getfixturevalue("sort")
    return probe(any_mpi, "sort")


def arrays(mpi: Mpi, program: Path, ranks: int, *arguments: object) -> tuple[Rows, Rows]:
    """The keys of all ranks before and after a sort."""
    ended = mpi.run(ranks, program, "--print", "--check", *arguments)
    assert ended.status == 0
    lines = ended.output.splitlines()
    rows = [list(map(float, line.split())) for line in lines[1 : 2 * ranks + 2] if line != "sorted"]
    assert (lines[0], lines[ranks + 1]) == ("unsorted", "sorted")
    return rows[:ranks], rows[ranks:]


def joined(rows: Rows) -> list[float]:
    return [key for row in rows for key in row]


def test_example_of_the_paper(any_mpi: Mpi, any_sort: Path) -> None:
    """Mistry et al. 2015, Experimental Design: 48 numbers on 4 processes."""
    unsorted, sorted_ = arrays(any_mpi, any_sort, 4, "--n", 48, "--m", 1, "--input", "built")
    assert unsorted == [
        [1, 2, 3, 13, 14, 15, 25, 26, 27, 37, 38, 39],
        [4, 5, 6, 16, 17, 18, 28, 29, 30, 40, 41, 42],
        [7, 8, 9, 19, 20, 21, 31, 32, 33, 43, 44, 45],
        [10, 11, 12, 22, 23, 24, 34, 35, 36, 46, 47, 48],
    ]
    assert sorted_ == [
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
        [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36],
        [37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48],
    ]


# Most numbers of ranks with one library, few with those that differ only in what carries data.
@pytest.mark.parametrize(
    ("any_mpi", "ranks"),
    [
        *(("openmpi", ranks) for ranks in (1, 2, 3, 4, 7, 9)),
        *((name, ranks) for name in ("mpich", "wheel") for ranks in (3, 4)),
    ],
    indirect=["any_mpi"],
)
def test_every_input_is_sorted(any_mpi: Mpi, any_sort: Path, ranks: int) -> None:
    numbers = sorted({0, 1, ranks - 1, 3 * ranks**2, 5000})
    # Short vectors are sorted themselves, longer ones by an index, whatever the library.
    lengths = (1, 7) if any_mpi.name == "mpich" else (1, 7, 9)
    # MPICH waits without yielding in calls that block, which takes long where ranks share cores.
    exchange = "nonblocking-v" if any_mpi.name == "mpich" else "library-v"
    ended = any_mpi.run(
        *(ranks, any_sort, "--check", "--exchange", exchange, "--input", "all"),
        *("--n", ",".join(map(str, numbers)), "--m", ",".join(map(str, lengths))),
    )
    # The built input is for n that the square of the number of ranks divides.
    built = sum(n % ranks**2 == 0 for n in numbers)
    cells = len(KINDS) * len(numbers) * len(lengths)
    skipped = (len(numbers) - built) * len(lengths)
    summary = f"{ranks} ranks, {cells} cells: {cells - skipped} right, 0 wrong, {skipped} skipped"
    assert (ended.output.splitlines()[-1], ended.status) == (summary, 0)


@pytest.mark.parametrize("ranks", [2, 4, 5])
def test_every_schedule_exchanges_the_data(openmpi: Mpi, sort: Path, ranks: int) -> None:
    """Those for blocks of one size have the built input."""
    arguments = ["--check", "--n", 20 * ranks**2, "--m", 3, "--exchange", "all"]
    ended = openmpi.run(ranks, sort, *arguments, "--input", "built,zipf")
    found = re.fullmatch(
        rf"{ranks} ranks, (\d+) cells: (\d+) right, 0 wrong, 0 skipped", ended.output.strip()
    )
    assert found
    # There are 17 schedules. One is for powers of two; 5 want blocks alike or all ranks' counts.
    assert int(found[1]) == (17 + 12 if ranks in (2, 4) else 16 + 11)


def test_data_does_not_depend_on_the_number_of_ranks(openmpi: Mpi, sort: Path) -> None:
    arguments = ["--n", 100, "--m", 2, "--input", "uniform", "--seed", 5]
    alone = arrays(openmpi, sort, 1, *arguments)
    together = arrays(openmpi, sort, 3, *arguments)
    assert joined(alone[0]) == joined(together[0])
    # Not only the program itself finds that they are sorted.
    assert sorted(joined(alone[0])) == joined(alone[1]) == joined(together[1])
    assert joined(arrays(openmpi, sort, 1, *arguments[:-1], 6)[0]) != joined(alone[0])


@pytest.mark.parametrize("kind", ["equal", "zipf"])
def test_every_rank_ends_with_its_share(openmpi: Mpi, sort: Path, kind: str) -> None:
    """Also where keys are equal: 50 = 13 + 13 + 12 + 12."""
    _, after = arrays(openmpi, sort, 4, "--n", 50, "--m", 2, "--input", kind)
    assert list(map(len, after)) == [13, 13, 12, 12]


def test_inputs_are_what_they_are_called(openmpi: Mpi, sort: Path) -> None:
    keys = partial(arrays, openmpi, sort, 1, "--n", 10_000, "--m", 1, "--input")
    uniform = joined(keys("uniform")[0])
    assert min(uniform) >= 0
    assert max(uniform) < 1
    assert sum(uniform) / 10_000 == pytest.approx(1 / 2, abs=0.01)
    normal = joined(keys("normal")[0])
    assert sum(normal) / 10_000 == pytest.approx(0, abs=0.03)
    assert sum(key**2 for key in normal) / 10_000 == pytest.approx(1, abs=0.05)
    # Within one and two standard deviations lie 68.27 and 95.45 %.
    assert sum(abs(key) < 1 for key in normal) / 10_000 == pytest.approx(0.6827, abs=0.02)
    assert sum(abs(key) < 2 for key in normal) / 10_000 == pytest.approx(0.9545, abs=0.01)
    zipf = joined(keys("zipf")[0])
    # 1/k of the numbers below 2^20 are k, divided by the sum of all 1/k, 14.44.
    for number in (1, 2, 3):
        assert zipf.count(number) / 10_000 == pytest.approx(1 / (14.44 * number), abs=0.01)
    assert max(zipf) < 2**20


@pytest.mark.parametrize(
    ("fault", "doubles", "said"),
    [
        ("ORDER", 1, "rank 0: record 1 is not in order"),
        ("LOSS", 1, "rank 0: the 90 records of all ranks are not a permutation of the 90"),
        ("PAYLOAD", 3, "rank 0: record 29 is not one of the input"),
        ("BOUNDARY", 1, "rank 1: its first record belongs before the last of rank 0"),
    ],
)
def test_planted_fault_is_found(
    openmpi: Mpi, make_sort: Callable[[str], Path], fault: str, doubles: int, said: str
) -> None:
    arguments = ["--check", "--n", 90, "--m", doubles, "--input", "built"]
    ended = openmpi.run(3, make_sort(fault), *arguments)
    assert ended.status == 1
    assert ended.output.startswith("wrong: ")
    assert said in ended.output


def test_steps_are_timed_apart(openmpi: Mpi, sort: Path, tmp_path: Path) -> None:
    path = tmp_path / "sort.samples"
    arguments = ["--n", 180, "--m", 4, "--repetitions", "6:6", "--verify", "--output", path]
    assert openmpi.run(3, sort, *arguments, "--input", "built,uniform").status == 0
    raw = read_samples(path)
    steps = ["local_sort_s", "splitters_s", "counts_s", "final_sort_s"]
    assert [cell.columns for cell in raw.cells.values()] == [("start", *steps, "end")] * 2
    assert raw.frame.select(steps).min_horizontal().min() >= 0
    assert raw.frame["verified"].all()
    for cell in raw.cells.values():
        # Each of 9 pairs of ranks exchanges 180 / 9 vectors of 4 doubles, on the mean.
        assert (cell.labels["algorithm"], cell.labels["bytes"]) == ("library-v", 180 // 9 * 4 * 8)
        predicted = MemoryPrediction(180, 1, 3, 4)
        assert cell.labels["arrays_bytes"] * 3 == predicted.host_arrays_bytes


def test_cell_without_memory_fails_and_others_go_on(
    openmpi: Mpi, sort: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sort.samples"
    arguments = ["--n", 1000, "--m", "100000000000,2", "--input", "uniform", "--seed", 0]
    ended = openmpi.run(2, sort, *arguments, "--repetitions", "6:6", "--output", path)
    assert (ended.status, ended.said()) == (1, [])
    raw = read_samples(path)
    # Two arrays of 500 vectors on each rank.
    said = f"a rank needs {2 * 500 * 100_000_000_000 * 8} bytes of arrays and 8000 of index; host"
    assert raw.ends[0].reason == "failed"
    assert f"not enough memory: {said}" in raw.ends[0].said
    assert (raw.ends[1].reason, raw.ends[1].verified) == ("repetitions", True)
