"""What is asked: options, shapes of ranks, conditions, and the key of it all."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from contend.base.errors import UsageError
from contend.lab.measurement import (
    OF_ALL_PROBES,
    Place,
    RealHosts,
    Shape,
    arguments_of,
    ask,
    make_shapes,
    measure,
    options_of,
)
from contend.lab.mpi import HostRanks


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
    with pytest.raises(UsageError, match="4 ranks is given twice"):
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


def test_options_become_a_command_line() -> None:
    made = options_of(
        "alltoall", {"bytes": (1, 1024), "in_flight": 4, "verify": True, "radix": None}
    )
    assert {"--bytes=1,1024", "--in-flight=4", "--verify", "--radix=2"} <= set(arguments_of(made))
    with pytest.raises(UsageError, match=r"alltoall has no option 'byte'; did you mean 'bytes'\?"):
        options_of("alltoall", {"byte": 1})
    with pytest.raises(UsageError, match="expected one of alltoall, sort, pingpong"):
        options_of("bisection", {})


@pytest.mark.parametrize("probe", ["alltoall", "pingpong", "bisect", "hotspot"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("64kB", "64000"),
        ("64KiB,1k", "65536,1024"),
        ("1.5MiB", "1572864"),
        ("1:4", "1,2,4"),
        ("1 MB", "1000000"),
    ],
)
def test_every_probe_is_told_plain_numbers_of_bytes(probe: str, text: str, told: str) -> None:
    """kB is 1000 and K is 1024, whichever probe is asked."""
    assert f"--bytes={told}" in arguments_of(options_of(probe, {"bytes": text}))


@pytest.mark.parametrize(
    ("probe", "option", "text", "word"),
    [
        ("sort", "length", "2:8", "--m=2,4,8"),
        ("sort", "vectors", "1-3", "--n=1,2,3"),
        ("alltoall", "in_flight", "1:4", "--in-flight=1,2,4"),
        ("hotspot", "load_bytes", "1.5MiB", "--load-bytes=1572864"),
    ],
)
def test_ranges_are_plain_numbers_before_a_probe_is_started(
    probe: str, option: str, text: str, word: str
) -> None:
    assert word in arguments_of(options_of(probe, {option: text}))
    with pytest.raises(UsageError, match="expected"):
        options_of(probe, {option: "some"})


def test_conditions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="budget above 0 s"):
        measure("pingpong", ranks=2, budget=0)
    with pytest.raises(UsageError, match="launches"):
        measure("pingpong", ranks=2, launches=0)


def test_a_probe_is_told_all_that_decides_its_memory() -> None:
    """What is predicted from the usual values is what runs, whatever a probe's own would be."""
    told = {word.partition("=")[0] for word in arguments_of(options_of("alltoall", {}))}
    assert {"--algorithm", "--bytes", "--counts"} <= told
    assert arguments_of(options_of("sort", {}))[:2] == ("--n=1492992", "--m=8")
    probes = Path(__file__).parents[3] / "src" / "contend" / "probes"
    header = (probes.parent / "schedules" / "schedules.h").read_text()
    constants = re.findall(r"#define (CONTEND_\w+) (\S+)", header)
    for probe in ("alltoall", "sort", "pingpong"):
        # A probe that is used by hand has the same usual values.
        sources = "".join(path.read_text() for path in (probes / probe).glob("*.cpp"))
        for constant, value in constants:
            sources = sources.replace(f"std::to_string({constant})", f'"{value}"')
            sources = sources.replace(constant, value)
        for told in arguments_of(options_of(probe, dict.fromkeys(OF_ALL_PROBES))):
            name, _, word = told.removeprefix("--").partition("=")
            if name.replace("-", "_") in OF_ALL_PROBES:
                continue
            own = re.search(rf'\{{"{name}",\s*Kind::\w+,\s*((?:"[^"]*"\s*)+)', sources)
            assert own is not None, name
            assert "".join(re.findall(r'"([^"]*)"', own[1])) == word, name


def test_every_condition_is_part_of_the_question() -> None:
    def key(
        size: str = "1K", ranks: int = 2, place: Place | None = None, mpi: str = "", **others: Any
    ) -> str:
        hosts = place or RealHosts()
        return ask("pingpong", {"bytes": size}, hosts, mpi, ranks=(ranks,), **others).key

    asked = [
        key(),
        key(size="2K"),
        key(ranks=4),
        key(ranks_per_host=(1,)),
        key(seed=2),
        key(labels={"flow control": "on"}),
        key(wire=125e6),
        key(mpi="openmpi-5"),
        key(place=RealHosts(launcher="srun")),
        key(place=RealHosts(slots=(("a", 2),))),
    ]
    assert len(set(asked)) == len(asked)
    # Another guess of the memory: the same question.
    assert key(place=RealHosts(free_memory=1 << 30)) == asked[0]
