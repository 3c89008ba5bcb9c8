"""How the parallel sort finds out what memory a machine has left."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contend.base.units import parse_size
from probe_programs import PROBES

Left = Callable[[Mapping[str, str]], int]
HERE = Path(__file__).parent
UNLIMITED = 2**63 - 1
GIB = 2**30


@pytest.fixture(scope="session")
def program(
    tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], str]
) -> Path:
    made = tmp_path_factory.mktemp("host_memory") / "host_memory"
    sources = [HERE / "host_memory" / "main.cpp", PROBES / "io" / "host_memory.cpp"]
    command = [require_program("c++"), "-std=c++17", f"-I{PROBES}", *sources, "-o", made]
    subprocess.run(list(map(str, command)), check=True)
    return made


@pytest.fixture
def left(program: Path, tmp_path: Path) -> Left:
    """What is left on a machine with these files."""

    def ask(files: Mapping[str, str]) -> int:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        ended = subprocess.run([program, tmp_path], capture_output=True, check=True)
        return int(ended.stdout)

    return ask


def meminfo(available: str) -> dict[str, str]:
    kibibytes = parse_size(available) // 1024
    return {"proc/meminfo": f"MemTotal: 99999999 kB\nMemAvailable: {kibibytes} kB\nBuffers: 7 kB"}


def test_unknown_memory_is_no_limit(left: Left) -> None:
    assert left({}) == UNLIMITED


def test_kernel_says_what_is_available(left: Left) -> None:
    assert left(meminfo("8GiB")) == 8 * GIB


def test_strictest_group_around_the_process_limits_it(left: Left) -> None:
    job = "sys/fs/cgroup/slurm/job"
    files = {
        "proc/self/cgroup": "0::/slurm/job/step",
        f"{job}/step/memory.max": "max",
        f"{job}/step/memory.current": str(GIB),
        f"{job}/memory.max": str(6 * GIB),
        f"{job}/memory.current": str(3 * GIB),
        # A gibibyte of the three are files that can be dropped.
        f"{job}/memory.stat": f"anon {2 * GIB}\ninactive_file {GIB}",
    }
    assert left({**meminfo("8GiB"), **files}) == 6 * GIB - (3 * GIB - GIB)
    assert left(meminfo("2GiB")) == 2 * GIB


def test_group_of_the_first_version_limits_it(left: Left) -> None:
    group = "sys/fs/cgroup/memory/batch"
    files = {
        "proc/self/cgroup": "5:devices:/\n4:cpuacct,memory:/batch\n1:name=systemd:/x:y",
        f"{group}/memory.limit_in_bytes": str(4 * GIB),
        f"{group}/memory.usage_in_bytes": str(GIB),
    }
    assert left({**meminfo("8GiB"), **files}) == 3 * GIB


def test_group_seen_as_the_root_from_inside_a_container_limits_it(left: Left) -> None:
    files = {
        "proc/self/cgroup": "0::/",
        "sys/fs/cgroup/memory.max": str(2 * GIB),
        "sys/fs/cgroup/memory.current": str(3 * GIB),
    }
    assert left({**meminfo("8GiB"), **files}) == 0
