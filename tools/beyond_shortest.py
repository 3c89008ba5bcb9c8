"""Throughput of direct networks beside closed forms, as Markdown.

    python tools/beyond_shortest.py [--only FABRIC]

Throughput is 1 over the largest pi of a round, times the messages of a host in it: the share of its
port's rate at which every host may send before the fullest channel is full.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import contend
from contend.congestion import simulate
from contend.traffic.pattern import Pattern, parse

KIM = "Kim et al. 2008"
GARCIA = "García et al. 2012"
DALLY = "Dally and Towles 2004"
BUTTERFLY = "Kim, Dally, Abts 2007"
BESTA = "Besta and Hoefler 2014"


@dataclass(frozen=True)
class Traffic:
    """A round of messages on a fabric, and what each kind of routes gets by closed forms."""

    fabric: str
    """Specification of the fabric."""
    what: str
    """Traffic in words."""
    pattern: str | Pattern
    """Specification of the pattern, or the pattern."""
    closed: Sequence[tuple[str, str, float, str]]
    """By engine: the formula, its value, and where it comes from."""


def dragonfly(h: int) -> Iterator[Traffic]:
    """Balanced: a = 2 p = 2 h, with one cable between any two groups."""
    p, a, groups = h, 2 * h, 2 * h * h + 1
    spec, minimal, any_group = f"dragonfly:{p},{a},{h}", "spray,by=groups", "valiant,by=groups"
    by_load = "ugal,by=groups"
    around, n = groups / (2 * a * p), a * p * groups
    yield Traffic(
        spec,
        "uniform",
        "alltoall",
        [
            (minimal, "1", 1, KIM),
            (any_group, "g(n - 1) / 2ap(n - p)", around * (n - 1) / (n - p), KIM),
            (by_load, "1", 1, KIM),
        ],
    )
    yield Traffic(
        spec,
        "to the next group",
        f"shift:{a * p}",
        [
            (minimal, "1 / ap", 1 / (a * p), KIM),
            (any_group, "at most g / 2ap", around, KIM),
            (by_load, "about 1 / 2", 1 / 2, KIM),
        ],
    )
    yield Traffic(
        spec,
        "to the h-th next group",
        f"shift:{a * p * h}",
        [
            (minimal, "1 / ap", 1 / (a * p), KIM),
            (any_group, "at most 1 / h", 1 / h, GARCIA),
        ],
    )


def torus(size: int) -> Traffic:
    """Every host sends almost halfway round its ring of the first dimension."""
    ahead = (size + 1) // 2 - 1
    return Traffic(
        f"torus:{size}x{size}",
        "tornado",
        f"{size} * tornado",
        [
            ("spray", "1 / (⌈k/2⌉ - 1)", 1 / ahead, DALLY),
            ("valiant", "4 / k", 4 / size, DALLY),
            ("ugal", "about 4 / k", 4 / size, DALLY),
        ],
    )


def hyperx(size: int) -> Traffic:
    """As many hosts on a switch as switches in a line; all send to the next switch of it."""
    return Traffic(
        f"hyperx:{size}x{size};{size}",
        "to the next switch",
        f"{size * size} * ring",
        [
            ("spray", "1 / k", 1 / size, BUTTERFLY),
            ("valiant", "1 / 2", 1 / 2, BUTTERFLY),
            ("ugal", "about 1 / 2", 1 / 2, BUTTERFLY),
        ],
    )


def slim_fly(q: int, hosts: int) -> Iterator[Traffic]:
    """The mean load of channels is exact; what it is on the fullest, the field decides."""
    spec = f"slimfly:{q};{hosts}"
    switches, degree = 2 * q * q, (3 * q - {1: 1, 3: -1}[q % 4]) // 2
    uniform = degree * (switches * hosts - 1) / (hosts**2 * (2 * switches - degree - 2))
    half = degree * switches / (hosts * (2 * switches - degree - 2)) / 2
    around = "at most kN / 2p(2N - k - 2)"
    apart = uniform * switches / (2 * switches - 2)
    yield Traffic(
        spec,
        "uniform",
        "alltoall",
        [
            ("spray", "at most k(pN - 1) / p²(2N - k - 2)", uniform, BESTA),
            ("valiant", "at most N / 2(N - 1) of that", apart, BESTA),
            ("ugal", "as straight", uniform, BESTA),
        ],
    )
    # (0, x, y) and (1, x, y - x^2) are neighbours, in the numbering of the generator.
    x, y = np.divmod(np.arange(q * q), q)
    partner = np.empty(switches, dtype=np.int64)
    partner[: q * q] = q * q + x * q + (y - x * x) % q
    partner[partner[: q * q]] = np.arange(q * q)
    host = np.arange(switches * hosts)
    pairs = Pattern.from_destinations(partner[host // hosts] * hosts + host % hosts)
    yield Traffic(
        spec,
        "to a neighbour",
        pairs,
        [
            ("spray", "1 / p", 1 / hosts, BESTA),
            ("valiant", around, half, BESTA),
            ("ugal", around.replace("at most", "about"), half, BESTA),
        ],
    )


def cases() -> Iterator[Traffic]:
    """All of them."""
    for h in (2, 4, 8):
        yield from dragonfly(h)
    yield torus(8)
    yield torus(16)
    yield hyperx(8)
    yield hyperx(16)
    yield from slim_fly(5, 4)
    yield from slim_fly(19, 15)


def beside_closed_forms(cases: Sequence[Traffic]) -> None:
    """Prints a row for every kind of routes of every case."""
    print("| fabric | hosts | traffic | routes | contend | closed form | source |")
    print("|---|---:|---|---|---:|---|---|")
    for case in cases:
        for engine, formula, value, source in case.closed:
            fabric = contend.load(case.fabric, route=engine)
            pattern = case.pattern
            if isinstance(pattern, str):
                pattern = parse(pattern, fabric.hosts)
            found = simulate(fabric, pattern, placement="linear", samples=1)
            got = pattern.scale / float(found.max_congestion.max())
            form = formula if formula == f"{value:g}" else f"{formula} = {percent(value)}"
            print(
                f"| `{case.fabric}` | {fabric.hosts:,} | {case.what} | `{engine}` "
                f"| {percent(got)} | {form} | {source} |",
                flush=True,
            )


def percent(share: float) -> str:
    """As the page has it."""
    return f"{100 * share:.1f} %"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only fabrics whose names begin like this")
    only = parser.parse_args().only
    beside_closed_forms([case for case in cases() if case.fabric.startswith(only)])


if __name__ == "__main__":
    main()
