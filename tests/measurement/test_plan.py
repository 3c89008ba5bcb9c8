"""Sizes, shapes, steps, memory and budget, each against numbers worked out by hand."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from contend.errors import MissingError, UsageError
from contend.measurement import Conditions, RealHosts, make_workload, parse_size, parse_sizes
from contend.measurement.budget import Budget
from contend.measurement.environment import variables_that_matter
from contend.measurement.folder import folders_of, new_folder
from contend.measurement.memory import check_memory
from contend.measurement.shape import Shape, make_shapes
from contend.measurement.step import make_steps
from contend.mpi import HostRanks, Library


def test_sizes_are_powers_of_1024() -> None:
    assert [parse_size(text) for text in ("0", "512", "4K", "4kib", "1M", "2GB")] == [
        *(0, 512, 4096, 4096, 1 << 20, 2 << 30)
    ]
    assert parse_sizes("3,1:5,8:8") == (3, 1, 2, 4, 8)
    for text in ("", "1.5K", "-1", "1K2", "8589934592G", "0:4", "4:2", "1,,2"):
        with pytest.raises(UsageError):
            parse_sizes(text)


def test_every_number_of_ranks_with_every_number_on_a_host() -> None:
    slots = [("a", 4), ("b", 4)]
    four = [(name, 1) for name in "abcd"]
    shapes = make_shapes((2, 4), (1, 2), four, alone=False)
    assert [(shape.ranks, len(shape.hosts), shape.fullest) for shape in shapes] == [
        *((2, 2, 1), (2, 1, 2), (4, 4, 1), (4, 2, 2))
    ]
    assert make_shapes((6,), (), slots, alone=False)[0].hosts == (
        HostRanks("a", 4),
        HostRanks("b", 2),
    )


def test_ranks_on_other_hosts_need_other_hosts() -> None:
    with pytest.raises(UsageError, match="4 ranks with 2 on every host need 2 hosts"):
        make_shapes((4,), (2,), (), alone=True)
    assert make_shapes((4,), (4,), (), alone=True) == (Shape(4),)
    assert make_shapes((4,), (2,), (), alone=False) == (Shape(4, 2),)
    with pytest.raises(UsageError, match="4 ranks is asked for twice"):
        make_shapes((4,), (4, 8), (), alone=True)
    with pytest.raises(UsageError, match="expected 1 to"):
        make_shapes((0,), (), (), alone=True)


def test_where_ranks_are_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"):
        monkeypatch.delenv(name, raising=False)
    assert RealHosts().alone
    assert RealHosts(launcher="mpiexec.hydra -l").alone
    assert not RealHosts(launcher="srun").alone
    assert not RealHosts(slots=(("a", 1),)).alone
    # The launcher finds the hosts of the job.
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert not RealHosts().alone


def test_steps_take_turns_in_an_order_of_the_seed() -> None:
    shapes = make_shapes((1, 2, 3), (), (), alone=True)
    steps = make_steps(2, shapes, 2, seed=7)
    assert Counter((step.series, step.shape) for step in steps) == Counter(
        {(series, shape): 2 for series in (0, 1) for shape in shapes}
    )
    # A round is over before the next one begins, and numbers are unique within a series.
    assert [step.round for step in steps] == [0] * 6 + [1] * 6
    assert {(step.series, step.number) for step in steps} == {
        (series, number) for series in (0, 1) for number in range(6)
    }
    assert len({step.seed for step in steps}) == len(steps)
    assert steps == make_steps(2, shapes, 2, seed=7)
    assert steps != make_steps(2, shapes, 2, seed=8)


def test_options_become_a_command_line() -> None:
    made = make_workload(
        "alltoall", {"bytes": (1, 1024), "in_flight": 4, "verify": True, "radix": None}
    )
    assert made.arguments == ("--bytes=1,1024", "--in-flight=4", "--verify")
    with pytest.raises(UsageError, match="expected one of alltoall, sort, pingpong"):
        make_workload("bisection", {})


@pytest.mark.parametrize(
    ("probe", "options", "expected"),
    [
        # 2 blocks for each of 16 ranks, on each of 4.
        ("alltoall", {"bytes": "1,1K", "algorithm": "linear"}, 4 * 2 * 16 * 1024),
        ("alltoall", {"bytes": "1K", "algorithm": "linear", "counts": "uneven"}, 4 * 4 * 16 * 1024),
        # Bruck holds what it passes on a second time.
        ("alltoall", {"bytes": "1K"}, 4 * 4 * 16 * 1024),
        # 2 arrays of ceil(1000 / 16) = 63 vectors of 8 doubles.
        ("sort", {"n": 1000, "m": 8}, 4 * 2 * 63 * 64),
        ("pingpong", {"bytes": "1M", "window": 4}, 4 * 2 * 4 << 20),
        ("pingpong", {"bytes": "1G"}, 4 * 2 << 30),
    ],
)
def test_memory_of_four_of_sixteen_ranks(
    probe: str, options: dict[str, str | int], expected: int
) -> None:
    memory = make_workload(probe, options).memory
    assert memory is not None
    assert memory(16, 4) == expected


def test_what_a_host_cannot_hold_is_refused_with_the_figure() -> None:
    workload = make_workload("alltoall", {"bytes": "1M", "algorithm": "linear"})
    shape = Shape(4)
    # 4 ranks x 2 x 4 x 1 MiB
    needed = 32 << 20
    with pytest.raises(MissingError, match=r"33,554,432 bytes \(32 MiB\), and 31 MiB are free"):
        check_memory(workload, shape, RealHosts(host_memory=31 << 20))
    near = check_memory(workload, shape, RealHosts(host_memory=needed))
    assert near is not None
    assert near.code == "memory"
    assert check_memory(workload, shape, RealHosts(host_memory=2 * needed)) is None
    # Nobody knows what is free on hosts that cannot be seen.
    assert check_memory(workload, shape, RealHosts(slots=(("elsewhere", 4),))) is None


def test_a_budget_is_shared_over_launches_and_kept() -> None:
    now = [100.0]
    budget = Budget(60, clock=lambda: now[0])
    # 20 s each, 3 of them to start and end; one may take half as much again and 3 s.
    assert budget.share(3) == pytest.approx(17)
    assert budget.limit(3) == pytest.approx(33)
    now[0] += 50
    # 5 s each: less than starting takes leaves a second.
    assert budget.share(2) == pytest.approx(2)
    assert budget.limit(2) == pytest.approx(10)
    budget.wait(20)
    assert budget.left == pytest.approx(30)
    now[0] += 40
    assert (budget.left, budget.share(1), budget.limit(1)) == (0, 0, 0)


def test_conditions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="budget above 0 s"):
        Conditions(ranks=(2,), budget=0)
    with pytest.raises(UsageError, match="launches"):
        Conditions(ranks=(2,), launches=0)


def test_folders(tmp_path: Path) -> None:
    today = date(2026, 3, 1)
    assert new_folder("sort", today, tmp_path) == tmp_path / "sort-2026-03-01-1"
    (tmp_path / "sort-2026-03-01-1").mkdir()
    assert new_folder("sort", today, tmp_path) == tmp_path / "sort-2026-03-01-2"
    one = Library("", "", True, name="Open MPI", version="4.1.4")
    other = Library("", "", True, name="MPICH", version="4.0.2")
    assert folders_of(tmp_path, [one]) == [tmp_path]
    names = ["open-mpi-4.1.4", "mpich-4.0.2", "open-mpi-4.1.4-3"]
    assert folders_of(tmp_path, [one, other, one]) == [tmp_path / name for name in names]


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
