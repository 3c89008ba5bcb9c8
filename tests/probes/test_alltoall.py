"""All-to-all schedules: each right for any number of ranks, and faults found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from probe_programs import PROBES, Ended, Mpi, compile_strictly, link

_FAULTS = Path(__file__).parent / "faults.cpp"
_EQUAL_ONLY = {"library", "nonblocking", "persistent", "bruck"}
_OTHERS = {
    *("library-v", "nonblocking-v", "linear", "scattered", "inflight", "shift", "shift-barrier"),
    *("xor", "one-factor", "node-ordered", "node-ordered-barrier", "hierarchical", "put"),
}
_NODES = ("node-ordered", "node-ordered-barrier", "hierarchical")


class Built:
    """The probe as objects of one library, so that parts can be replaced."""

    def __init__(self, mpi: Mpi, folder: Path) -> None:
        """Compiles every part."""
        self.mpi = mpi
        self.folder = folder
        sources = [
            source
            for name in ("common", "compat", "alltoall")
            for source in sorted((PROBES / name).glob("*.cpp"))
        ]
        self.objects = dict(
            zip(
                (f"{source.parent.name}/{source.stem}" for source in sources),
                compile_strictly(mpi.wrapper, sources, folder),
                strict=True,
            )
        )
        self.program = link(mpi.wrapper, list(self.objects.values()), folder / "alltoall")

    def variant(self, name: str, define: str, sources: Sequence[Path]) -> Path:
        """The probe with parts compiled anew, or added, under a definition."""
        made = self.folder / name
        made.mkdir(exist_ok=True)
        units = []
        for source in sources:
            unit = made / source.name
            unit.write_text(f'#define {define}\n#include "{source}"\n', encoding="utf-8")
            units.append(unit)
        objects = dict(self.objects)
        for source, compiled in zip(
            sources, compile_strictly(self.mpi.wrapper, units, made), strict=True
        ):
            objects[f"{source.parent.name}/{source.stem}"] = compiled
        return link(self.mpi.wrapper, list(objects.values()), made / "alltoall")


@pytest.fixture(scope="session")
def built(any_mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(any_mpi, tmp_path_factory.mktemp("alltoall"))


def check(
    built: Built, ranks: int, program: Path | None = None, **options: Sequence[object]
) -> Ended:
    """Verifies every schedule in one start, for each combination of the options' values."""
    words: list[object] = ["--check"]
    for name, values in options.items():
        words += [f"--{name.replace('_', '-')}", ",".join(map(str, values))]
    return built.mpi.run(ranks, program or built.program, *words)


def cells(ranks: int, **options: Sequence[object]) -> int:
    """How many cells there are: algorithms that apply, times values of what they depend on."""
    power_of_two = ranks & (ranks - 1) == 0
    total = 0
    for kind in options["counts"]:
        algorithms = _OTHERS | (_EQUAL_ONLY if kind == "even" else set())
        for algorithm in algorithms - (set() if power_of_two else {"xor"}):
            option = {"scattered": "batch", "inflight": "in_flight", "bruck": "radix"}.get(
                algorithm, "ranks_per_node" if algorithm in _NODES else ""
            )
            total += len(options["bytes"]) * len(options.get(option, [0]))
    return total


def all_right(ended: Ended, ranks: int, expected: int) -> bool:
    """Whether all cells are right; one rank may lack a window, where it has nobody to put to."""
    lines = ended.output.splitlines()
    skipped = [line for line in lines[:-1] if "MPI_Win_create failed" in line and ranks == 1]
    verdict = f"{ranks} ranks, {expected} cells: {expected - len(skipped)} right, 0 wrong, "
    return ended.status == 0 and lines == [*skipped, verdict + f"{len(skipped)} skipped"]


@pytest.mark.parametrize("ranks", range(1, 18))
def test_every_schedule_is_right(built: Built, ranks: int) -> None:
    if built.mpi.name == "openmpi":
        options = {
            "bytes": [0, 1, 3, 1000, 4099] if ranks < 10 else [0, 3, 1001],
            "counts": ["even", "uneven"],
            "ranks_per_node": [0, 1, 2, 3, 4],
            "batch": [1, 3, 32],
            "in_flight": [1, 3, 32],
            "radix": [2, 3, 32],
        }
    else:
        # Where ranks share processors these need up to a tenth of a second for each cell.
        options = {"bytes": [1001] if ranks > 5 else [0, 1, 1001], "counts": ["even", "uneven"]}
        options["ranks_per_node"] = [3]
        options["in_flight"] = [2]
    ended = check(built, ranks, **options)
    assert all_right(ended, ranks, cells(ranks, **options)), ended


def test_large_blocks_do_not_wait_for_each_other(built: Built) -> None:
    # No library sends 1 MiB before the receiver is ready: a cycle of waiting ranks would stay one.
    options = {"bytes": ["1M"], "counts": ["even", "uneven"], "ranks_per_node": [1, 2, 3]}
    options |= {"batch": [1], "in_flight": [1]}
    ended = check(built, 4, **options)
    assert all_right(ended, 4, cells(4, **options)), ended


def test_counts_that_overflow_an_integer(built: Built) -> None:
    # With a limit of 100 instead of 2^31 - 1 small blocks take the way of large ones.
    parts = [PROBES / "compat" / "alltoall.cpp", PROBES / "compat" / "large_count.cpp"]
    parts.append(PROBES / "alltoall" / "counts.cpp")
    program = built.variant("narrow", "CONTEND_LARGEST_COUNT 100", parts)
    options = {"bytes": [0, 3, 99, 101, 1000, 1009], "counts": ["even", "uneven"]}
    options |= {"ranks_per_node": [1, 2]}
    ended = check(built, 3, program, **options)
    assert all_right(ended, 3, cells(3, **options)), ended


@pytest.mark.parametrize(
    ("fault", "algorithm", "said"),
    [
        ("FLIP", "linear", "rank 0: byte 999 of 1000 from rank 1 is wrong"),
        ("FLIP", "inflight", "rank 0: byte 999 of 1000 from rank 1 is wrong"),
        ("BEYOND", "scattered", "rank 0: something wrote 1 bytes beyond the receive buffer"),
        ("SENDER", "linear", "rank 0: byte 0 of 1000 to rank 1 has changed in the send buffer"),
        ("NOTHING", "library", "rank 0: byte 0 of 1000 from rank 0 is wrong"),
    ],
)
def test_fault_is_found(built: Built, fault: str, algorithm: str, said: str) -> None:
    if built.mpi.name != "openmpi":
        pytest.skip("a fault is found in the same way under any library")
    program = built.variant(fault, f"FAULT {fault}", [_FAULTS])
    ended = check(built, 2, program, algorithm=[algorithm], bytes=[1000])
    assert ended.status == 1
    assert ended.output.splitlines()[0].startswith("wrong: ")
    assert ended.output.splitlines()[0].endswith(said)
