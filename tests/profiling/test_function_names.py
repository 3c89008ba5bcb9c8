"""Names of functions as people say them."""

from __future__ import annotations

import pytest

from contend.profiling.sites import short_names


@pytest.mark.parametrize(
    ("symbol", "short"),
    [
        (
            "std::vector<double, std::allocator<double> > solver::Grid<3>::exchange"
            "<std::pair<int, long> >(std::vector<int> const&, void (*)(int)) const",
            "solver::Grid::exchange",
        ),
        ("exchange(int)+0x1a", "exchange+0x1a"),
        ("exchange(int) [clone .constprop.0]+0x1a", "exchange [clone .constprop.0]+0x1a"),
        ("(anonymous namespace)::Halo<2>::send(int)", "(anonymous namespace)::Halo::send"),
        ("bool ns::operator< <int>(ns::A<int> const&, int)", "ns::operator<"),
        ("ns::A& ns::operator<< <char>(ns::A&, char)", "ns::operator<<"),
        ("bool ns::operator==<int>(ns::A<int>, int)", "ns::operator=="),
        ("A<int>::operator()(int) const", "A::operator()"),
        ("A<int>::operator->() const", "A::operator->"),
        ("A::operator unsigned long() const", "A::operator unsigned long"),
        ("operator new[](unsigned long)", "operator new[]"),
        ('operator"" _km(long double)', 'operator"" _km'),
        (
            "solver::run(int) const::{lambda(auto:1)#1}::operator()<int>(int) const",
            "solver::run::{lambda#1}::operator()",
        ),
        ("A::f(int) &&", "A::f"),
        ("int f<(Kind)1, (bool)0>(int)", "f"),
        ("f[abi:cxx11](int)", "f[abi:cxx11]"),
        ("decltype ({parm#1}+{parm#1}) twice<int>(int)", "twice"),
        ("main::{unnamed type#1}::run()", "main::{unnamed type#1}::run"),
        # Neither arguments nor a place for them: C, Fortran, Rust, Cython.
        ("MPI_Send", "MPI_Send"),
        ("__grid_MOD_exchange", "__grid_MOD_exchange"),
        ("<alloc::vec::Vec<T> as halo::Send>::send", "<alloc::vec::Vec<T> as halo::Send>::send"),
        ("halo::run::{{closure}}", "halo::run::{{closure}}"),
        ("mpi4py.MPI.Comm.Alltoall", "mpi4py.MPI.Comm.Alltoall"),
        ("", ""),
        # Whose list is the last one is not to be seen.
        ("void (*pick<int>())(int)", "void (*pick<int>())(int)"),
    ],
)
def test_a_function_is_its_name(symbol: str, short: str) -> None:
    assert short_names([symbol]) == {symbol: short}


def test_names_that_become_equal_keep_what_tells_them_apart() -> None:
    assert short_names(["void G<2>::f(int)+0x1", "void G<3>::f(int)+0x2", "G<3>::g(int)"]) == {
        "void G<2>::f(int)+0x1": "G<2>::f+0x1",
        "void G<3>::f(int)+0x2": "G<3>::f+0x2",
        "G<3>::g(int)": "G::g",
    }
    assert list(short_names(["f(int)", "f(A<int>)"]).values()) == ["f(int)", "f(A<int>)"]
    assert list(short_names(["int h<int>()", "long h<int>()"]).values()) == [
        *("int h<int>()", "long h<int>()"),
    ]
    assert list(short_names(["f(int)+0x1", "f(int)+0x2"]).values()) == ["f+0x1", "f+0x2"]
