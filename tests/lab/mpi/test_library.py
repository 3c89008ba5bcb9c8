"""What libraries call themselves, and that each is one entry."""

from __future__ import annotations

import pytest

from contend.lab.mpi import Library, merge
from contend.lab.mpi.search import recognise


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


def test_wrappers_of_one_library_are_one_entry() -> None:
    def library(wrapper: str, file: str, usable: bool = True) -> Library:
        return Library("PATH", wrapper, usable, why="" if usable else "broken", file=file)

    merged = merge(
        [
            library("a", "/lib/one.so", usable=False),
            library("b", "/lib/two.so"),
            library("c", "/lib/one.so"),
            library("d", "/lib/one.so"),
            library("e", "", usable=False),
            library("f", "", usable=False),
        ]
    )
    assert [(library.wrapper, library.also) for library in merged] == [
        ("c", ("a", "d")),
        ("b", ()),
        ("e", ()),
        ("f", ()),
    ]
    assert merged[0].usable
