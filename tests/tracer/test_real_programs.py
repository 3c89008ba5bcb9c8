"""Totals of real programs, as `docs/evidence/programs` counts more of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence" / "programs"
NEEDED = ("lmp", "gmx_mpi", "pw.x", "ld1.x", "nwchem.mpich", "mpirun.openmpi", "mpirun.mpich")


@pytest.fixture
def evidence(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EVIDENCE)
    counted = importlib.import_module("counted")
    # As many as CI's machine has processors.
    monkeypatch.setattr(counted, "RANKS", 2)
    return counted


def test_totals_are_those_of_an_independent_counter(
    evidence: Any, require_program: Callable[[str], str], tmp_path: Path
) -> None:
    """C++, C with threads, Fortran, and Fortran with one-sided communication under MPICH."""
    for program in NEEDED:
        require_program(program)
    evidence.prepare(tmp_path)
    libraries = {library.name: library for library in evidence.libraries()}
    for name, program in (
        ("Open MPI 4.1", "lammps"),
        ("Open MPI 4.1", "gromacs"),
        ("Open MPI 4.1", "pw"),
        ("MPICH 4.0", "nwchem"),
    ):
        counts = evidence.counted(tmp_path, libraries[name], program)
        assert (counts.differing, counts.pairs) == (0, 0), (program, str(counts))
        assert counts.calls > 300
        assert counts.routines > 3
