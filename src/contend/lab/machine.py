"""What contend can do on this machine: each ability is tried as the verbs that need it try it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from contend.base.errors import ContendError, MissingError
from contend.base.schema import PythonOnly, Shown
from contend.base.units import counted, format_bytes, listed
from contend.lab.emulation import bring_up
from contend.lab.mpi import TO_INSTALL, HostResources, Library, select, this_machine
from contend.routes import find_program, loading, opensm_programs
from contend.traffic.placement import jobs_of_slurm

_COMPILERS = ("c++", "g++", "clang++", "icpx")
_ADAPTERS = Path("/sys/class/infiniband")
# The tools whose output contend reads: the network, its tables, and the counters of its ports.
_TOOLS = ("ibnetdiscover", "dump_fts", "perfquery")
# Four hosts below two leaves and two spines: a pair of hosts has two ways.
_SMALL = "xgft:2;2,2;1,2"


@dataclass(frozen=True)
class Ability:
    """Something that contend can do where the machine has what it takes."""

    name: str
    """What it is, as a verb: ``emulate networks``."""
    purpose: str
    """Commands and options that need it."""
    usable: bool
    """Whether this machine has what it takes."""
    found: str
    """What is there, or what is missing."""
    remedy: str = ""
    """What to do where it is not usable; "" where it is."""
    install: str = ""
    """Command that installs what is missing; "" where none does."""


@dataclass(frozen=True)
class Diagnosis(Shown, told="diagnosis_document"):
    """What contend can do on this machine, and what the rest takes."""

    machine: HostResources
    """Cores and memory of this machine."""
    library: PythonOnly[Library | None]
    """MPI library that measurements take where none is named; None for none."""
    abilities: tuple[Ability, ...]
    """All abilities that were tried, what every user needs first."""

    @property
    def verdict(self) -> str:
        """What this machine can do, and what installs the rest."""
        able = [ability.name for ability in self.abilities if ability.usable]
        verdict = f"This machine can {listed(able)}"
        lacking = [ability for ability in self.abilities if ability.install]
        if lacking:
            commands = _together(ability.install for ability in lacking)
            names = listed(ability.name for ability in lacking)
            verdict += f"; to {names}, run {listed(commands)}"
        return f"{verdict}."


def _together(commands: Iterable[str]) -> list[str]:
    """Commands that install, with all packages of one program in one command."""
    packages: dict[str, dict[str, None]] = {}
    for program, verb, *names in map(str.split, commands):
        packages.setdefault(f"{program} {verb}", {}).update(dict.fromkeys(names))
    return [" ".join([command, *names]) for command, names in packages.items()]


def doctor() -> Diagnosis:
    """Finds out what contend can do on this machine, and what is missing for the rest.

    Compiles a probe and starts two ranks of it, emulates two networks of four hosts for a moment,
    and asks Slurm for its jobs, if it may. Nothing of that is left behind.
    """
    machine = this_machine()
    library, measuring = _measuring()
    return Diagnosis(
        machine,
        library,
        (
            _simulating(machine),
            measuring,
            _compiling(library),
            _emulating("emulate networks", "contend emulate, --on emulated:FABRIC", "minhop"),
            _emulating("spray packets over emulated paths", "--route spray there", "spray"),
            _opensm(),
            _tools(),
            _slurm(),
            _lines(),
            _packages(),
        ),
    )


def _simulating(machine: HostResources) -> Ability:
    found = counted(machine.cores, "core")
    if machine.memory is not None:
        found += f", {format_bytes(machine.memory)} of free memory"
    return Ability("simulate", "contend simulate, fabric, route, place, predict", True, found)


def _measuring() -> tuple[Library | None, Ability]:
    """The library that measurements take, as they choose it."""
    purpose = "contend measure, profile, calibrate, tune, run"
    try:
        library = select()
    except MissingError as error:
        found = str(error).removesuffix(f"; {TO_INSTALL}")
        remedy = f"contend mpi says what each library lacks; {TO_INSTALL}"
        lacking = str(error) != found or "not installed" in found
        install = "apt install libopenmpi-dev openmpi-bin g++" if lacking else ""
        return None, Ability("measure", purpose, False, found, remedy, install)
    name = f"{library.name} {library.version}".rstrip()
    found = f"{name}: {library.wrapper}, {library.launcher}"
    return library, Ability(f"measure with {name}", purpose, True, found)


def _compiling(library: Library | None) -> Ability:
    name, purpose = "compile probes", "whatever runs under MPI"
    if library is not None:
        return Ability(name, purpose, True, f"{library.wrapper} has compiled one")
    for compiler in _COMPILERS:
        if program := shutil.which(compiler):
            return Ability(name, purpose, True, program)
    remedy = "on Debian: apt install g++"
    return Ability(name, purpose, False, "no C++ compiler on PATH", remedy, "apt install g++")


def _emulating(name: str, purpose: str, engine: str) -> Ability:
    """Brings a small network up, as `contend emulate` does, and takes it down."""
    try:
        with bring_up(loading.load(_SMALL, route=engine), check=False) as network:
            up = f"{counted(len(network.hosts), 'host')} came up"
    except ContendError as error:
        remedy = (
            "run contend as root, where the kernel allows network namespaces"
            if os.geteuid()
            else "run contend outside containers, or in one that may administer networks"
        )
        return Ability(name, purpose, False, str(error), remedy)
    return Ability(name, purpose, True, up)


def _opensm() -> Ability:
    name = "route with OpenSM's engines"
    return _tried(name, "--route opensm:ENGINE", lambda: ", ".join(opensm_programs()))


def _tools() -> Ability:
    def found() -> str:
        programs = ", ".join(map(find_program, _TOOLS))
        adapters = sorted(os.listdir(_ADAPTERS)) if _ADAPTERS.is_dir() else []
        if not adapters:
            raise MissingError(
                f"no InfiniBand adapter; run {listed(_TOOLS)} on a host that has one, and copy "
                "what they print"
            )
        return f"{programs}; {', '.join(adapters)}"

    return _tried(
        "dump the InfiniBand network", "files of networks, tables and port counters", found
    )


def _slurm() -> Ability:
    def jobs() -> str:
        return counted(len(jobs_of_slurm()), "job")

    ability = _tried("ask Slurm for its jobs", "contend jobs without a list of jobs", jobs)
    remedy = "run contend where squeue works, or give contend jobs a file of what it prints"
    if ability.usable:
        return ability
    # What is left says which of Slurm's programs complained.
    found = ability.found.rpartition("Slurm gave none: ")[2]
    return Ability(ability.name, ability.purpose, False, found, remedy)


def _lines() -> Ability:
    def found() -> str:
        programs = [shutil.which("addr2line"), shutil.which("nm")]
        if None in programs:
            raise MissingError("no programs addr2line and nm; on Debian: apt install binutils")
        return ", ".join(filter(None, programs))

    return _tried("name lines of programs", "contend profile", found)


def _packages() -> Ability:
    def found() -> str:
        try:
            return f"mpi4py {version('mpi4py')}"
        except PackageNotFoundError:
            raise MissingError("no Python package mpi4py; pip install 'contend[mpi]'") from None

    return _tried("simulate in several MPI processes", "mpirun ... contend simulate", found)


def _tried(name: str, purpose: str, find: Callable[[], str]) -> Ability:
    """An ability by what finds it, or by the error in which that says what is missing."""
    try:
        return Ability(name, purpose, True, find())
    except ContendError as error:
        missing, _, remedy = str(error).partition("; ")
        _, _, install = remedy.rpartition("on Debian: ")
        command = install if install.startswith(("apt ", "pip ")) else ""
        return Ability(name, purpose, False, missing, remedy, command)
