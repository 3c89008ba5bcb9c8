"""`contend doctor` on this machine, and where nothing is installed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import contend
from contend.base.errors import MissingError
from contend.lab.machine import Ability, Diagnosis
from contend.lab.mpi import HostResources
from processes import finished

ALL = {
    *("simulate", "measure", "compile probes", "emulate networks"),
    *("spray packets over emulated paths", "route with OpenSM's engines"),
    *("dump the InfiniBand network", "ask Slurm for its jobs", "name lines of programs"),
    "simulate in several MPI processes",
}
# What a machine without programs still can do: the rest of it is Python's and the kernel's.
NEED_NO_PROGRAM = {
    *("simulate", "emulate networks", "spray packets over emulated paths"),
    "simulate in several MPI processes",
}


def doctor(before: str = "", **environment: str) -> Any:
    """The JSON of the command; standard error is empty, and the exit status 0."""
    code = f"{before}\nfrom contend.cli import main\nmain()"
    ended = finished(
        [sys.executable, "-c", code, "doctor", "--json", "-"], env={**os.environ, **environment}
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout)


def by_name(told: Any) -> dict[str, Any]:
    """Abilities by their names, that of measuring without the library's."""
    return {each["name"].partition(" with Open MPI")[0]: each for each in told["abilities"]}


def test_without_programs_it_says_what_to_install(tmp_path: Path) -> None:
    # No packages of MPI either.
    hidden = "import contend.lab.mpi.search as search\nsearch._PACKAGES = ()"
    told = doctor(hidden, PATH=str(tmp_path), HOME=str(tmp_path))
    abilities = by_name(told)
    assert abilities.keys() == ALL
    lacking = {name for name, each in abilities.items() if not each["usable"]}
    assert lacking >= {"measure", "compile probes", "name lines of programs"}
    assert lacking >= ALL - NEED_NO_PROGRAM - {"route with OpenSM's engines"}
    for name in lacking:
        assert abilities[name]["found"], name
        assert abilities[name]["remedy"], name
    assert abilities["measure"]["found"] == "this machine has no MPI library"
    assert abilities["measure"]["install"] == "apt install libopenmpi-dev openmpi-bin g++"
    assert abilities["compile probes"]["install"] == "apt install g++"
    assert abilities["name lines of programs"]["install"] == "apt install binutils"
    assert told["verdict"].startswith("This machine can simulate")
    # Every package once, in one command.
    _, _, command = told["verdict"].partition("; to measure, compile probes")[2].partition("run ")
    assert command.startswith("apt install libopenmpi-dev openmpi-bin g++ ")
    assert command.count("apt install") == command.count("g++") == 1


def test_with_everything_installed(require_program: Callable[[str], str], tmp_path: Path) -> None:
    require_program("mpicc.openmpi")
    require_program("opensm")
    require_program("ibsim")
    told = doctor(XDG_CACHE_HOME=str(tmp_path))
    abilities = by_name(told)
    assert abilities.keys() == ALL
    for name in ("measure", "compile probes", "route with OpenSM's engines"):
        assert (abilities[name]["usable"], abilities[name]["remedy"]) == (True, "")
    assert "opensm" in abilities["route with OpenSM's engines"]["found"]
    assert told["machine"]["cores"] >= 1
    assert told["machine"]["memory"] > 0


def test_verdict_installs_all_packages_of_a_program_at_once() -> None:
    def ability(name: str, install: str = "") -> Ability:
        return Ability(name, "", not install, "", install, install)

    diagnosis = Diagnosis(
        HostResources(2, 2),
        None,
        (
            ability("simulate"),
            ability("measure", "apt install mpich g++"),
            ability("emulate"),
            ability("compile", "apt install g++"),
            ability("share", "pip install mpi4py"),
        ),
    )
    expected = (
        "This machine can simulate and emulate; to measure, compile and share, run apt install "
        "mpich g++ and pip install mpi4py."
    )
    assert diagnosis.verdict == diagnosis.document().verdict == expected


def test_a_kernel_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where this user may not make namespaces: the kernel's own refusal."""

    def refuse() -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("contend.lab.emulation.kernel.new_network", refuse)
    named = {ability.name: ability for ability in contend.doctor().abilities}
    emulating = named["emulate networks"]
    assert not emulating.usable
    assert emulating.found == (
        "emulating a fabric needs root: contend may not make network namespaces"
    )
    assert emulating.install == ""
    assert "run contend" in emulating.remedy
    with pytest.raises(MissingError, match="needs root"):
        contend.emulate(contend.load("fig1", route="fig1"), "true")
