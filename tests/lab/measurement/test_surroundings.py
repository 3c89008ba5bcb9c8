"""What surrounds a measurement: where its ranks are, and settings that matter."""

from __future__ import annotations

import time

import pytest

from contend.lab.measurement import RealHosts, Shape, ask
from contend.lab.measurement.surroundings import (
    ProcessorTime,
    new_record,
    variables_that_matter,
    warnings_about,
)
from contend.lab.mpi import HostRanks, Library
from contend.lab.runs import RanksFrame


def _ranks(hosts: str, cpus: list[str], host_cpus: int, *, shared: bool = False) -> RanksFrame:
    count = len(hosts)
    return RanksFrame(
        host=tuple(hosts),
        pid=tuple(range(count)),
        cpus=tuple(cpus),
        host_cpus=(host_cpus,) * count,
        oversubscribed=shared,
    )


@pytest.mark.parametrize(
    ("ranks", "shape", "expected"),
    [
        (_ranks("aabb", ["0", "1", "0", "1"], 2), Shape(4), []),
        # A core of two threads is a place of its own.
        (_ranks("aa", ["0,4", "1,5"], 8), Shape(2), []),
        (_ranks("aa", ["0-3", "0-3"], 4), Shape(2), ["unbound"]),
        # Nowhere else to go.
        (_ranks("a", ["0"], 1), Shape(1), []),
        (_ranks("aaab", ["0-1"] * 4, 2, shared=True), Shape(4), ["oversubscribed"]),
        (_ranks("aa", ["0", "0"], 4, shared=True), Shape(2), ["oversubscribed"]),
        (
            _ranks("aa", ["0", "1"], 2),
            Shape(2, 1, (HostRanks("a", 1), HostRanks("b", 1))),
            ["placement"],
        ),
        (_ranks("aa", ["0", "1"], 2), Shape(2, 1), ["placement"]),
    ],
)
def test_codes(ranks: RanksFrame, shape: Shape, expected: list[str]) -> None:
    assert [warning.code for warning in warnings_about(ranks, shape)] == expected


@pytest.mark.parametrize(
    ("had", "withheld", "codes"),
    [(1800, 0, []), (1800, 190, []), (1800, 210, ["withheld"]), (100, 90, []), (0, 0, [])],
)
def test_processor_time_that_a_hypervisor_keeps_back(
    had: int, withheld: int, codes: list[str]
) -> None:
    before = ProcessorTime(had=5000, withheld=700)
    after = ProcessorTime(had=before.had + had, withheld=before.withheld + withheld)
    assert [warning.code for warning in after.warnings_since(before)] == codes


def test_processors_have_worked_since_the_kernel_started() -> None:
    before = ProcessorTime.now()
    assert before.had > 0
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    now = ProcessorTime.now()
    assert now.had > before.had
    assert now.withheld >= before.withheld


def test_texts_name_the_remedy() -> None:
    crowded = _ranks("aaab", ["0-1"] * 4, 2, shared=True)
    text = next(warnings_about(crowded, Shape(4))).text
    assert text.startswith("3 ranks share 2 processors on a,")
    assert "use at most 2 ranks per host" in text
    emulated = _ranks("abc", ["0-1"] * 3, 2, shared=True)
    text = next(warnings_about(emulated, Shape(3))).text
    assert text.startswith("3 hosts are one machine of 2 processors:")
    # A machine of one processor binds nobody.
    small = _ranks("abc", ["0"] * 3, 1, shared=True)
    text = next(warnings_about(small, Shape(3))).text
    assert text.startswith("3 hosts are one machine of 1 processor:")
    free = _ranks("aa", ["0-3", "0"], 4)
    text = next(warnings_about(free, Shape(2))).text
    assert text.startswith("1 of 2 ranks may move")
    assert "bind each to a core" in text


def test_variables_that_matter_hold_no_secrets() -> None:
    environment = {
        "OMPI_MCA_btl": "tcp",
        "UCX_TLS": "rc",
        "HOME": "/root",
        "SLURM_JWT": "a",
        "FI_OPX_TOKEN": "b",
        "LD_PRELOAD": "c.so",
    }
    assert list(variables_that_matter(environment)) == ["LD_PRELOAD", "OMPI_MCA_btl", "UCX_TLS"]


def test_a_run_keeps_the_memory_that_a_host_had_free() -> None:
    place = RealHosts(slots=(("n0", 2), ("n1", 2)), free_memory=1 << 30)
    cell = ask("alltoall", {}, place, ranks=(4,))
    library = Library("test", "mpicc", usable=True)
    assert new_record(cell, library, place, None, ()).memory == 1 << 30
    # Nobody knows what hosts of a host file have.
    unknown = RealHosts(slots=(("n0", 2), ("n1", 2)))
    assert new_record(cell, library, unknown, None, ()).memory is None
