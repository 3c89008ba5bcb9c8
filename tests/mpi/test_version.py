"""What libraries say of themselves, and what they are called."""

from __future__ import annotations

import pytest

from contend.mpi.version import recognise


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI", "4.1.4"),
        ("Open MPI v5.0.0rc12, package: x", "Open MPI", "5.0.0rc12"),
        ("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr", "MPICH", "4.0.2"),
        ("MPICH Version:      5.0.2\nMPICH ABI: 17:2:5", "MPICH", "5.0.2"),
        ("Intel(R) MPI Library 2021.10 for Linux* OS\n", "Intel MPI", "2021.10"),
        ("MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date:", "MVAPICH", "2.3.7"),
        (
            "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)",
            "Cray MPICH",
            "8.1.25.17",
        ),
        ("Somebody's MPI 3, built today\nmore", "Somebody's MPI 3", ""),
        ("", "unnamed", ""),
    ],
)
def test_name_and_version(text: str, name: str, version: str) -> None:
    assert recognise(text) == (name, version)
