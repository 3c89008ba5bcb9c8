"""What the panels of figures of rates show: which curves, in which look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contend.report.rate_sweeps import Sweep
from contend.report.style import COLOURS
from contend.study import Result, Series

_BARRIER = "-barrier"


@dataclass(frozen=True)
class Line:
    """A curve: its name and look, and what is on it."""

    name: str
    colour: str
    dashed: bool
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Panel:
    """What one panel shows.

    Attributes:
        series: library and conditions.
        ranks_per_node: ranks on every node.
        lines: its curves.
        limits: what full ports allow, bytes per second and rank.
        collapsed: size, rate and colour of the worst point of every collapse.
    """

    series: Series
    ranks_per_node: int
    lines: tuple[Line, ...]
    limits: tuple[float, ...]
    collapsed: tuple[tuple[int, float, str], ...]


def by_schedule(every: Sequence[Sweep], ranks: int) -> list[Panel]:
    """Panels of one number of ranks, a curve for each schedule; looks are alike in all figures."""
    looks = _looks(algorithms_of(every))
    return [
        Panel(
            sweep.series,
            sweep.ranks_per_node,
            tuple(Line(n or "rate", *looks[n], tuple(sweep.of(n))) for n in sweep.algorithms),
            _limits([sweep]),
            _collapsed([sweep], {name: look[0] for name, look in looks.items()}),
        )
        for sweep in every
        if sweep.ranks == ranks
    ]


def algorithms_of(every: Sequence[Sweep]) -> list[str]:
    """All schedules, each once."""
    return list(dict.fromkeys(name for sweep in every for name in sweep.algorithms))


def ranks_of(every: Sequence[Sweep]) -> list[int]:
    """All numbers of ranks, each once."""
    return list(dict.fromkeys(sweep.ranks for sweep in every))


def _looks(algorithms: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Colours of schedules; with barriers a schedule keeps its colour and is dashed."""
    bases = list(dict.fromkeys(name.removesuffix(_BARRIER) for name in algorithms))
    return {
        name: (
            COLOURS[bases.index(name.removesuffix(_BARRIER)) % len(COLOURS)],
            name.endswith(_BARRIER) or bases.index(name.removesuffix(_BARRIER)) >= len(COLOURS),
        )
        for name in algorithms
    }


def by_ranks(every: Sequence[Sweep], name: str) -> list[Panel]:
    """Panels of one schedule, a curve for each number of ranks."""
    ranks = ranks_of(every)
    members: dict[tuple[Series, int], list[Sweep]] = {}
    for sweep in every:
        if name in sweep.algorithms:
            members.setdefault((sweep.series, sweep.ranks_per_node), []).append(sweep)
    panels = []
    for (series, each), parts in members.items():
        lines = tuple(
            Line(
                f"{sweep.ranks} ranks",
                COLOURS[ranks.index(sweep.ranks) % len(COLOURS)],
                ranks.index(sweep.ranks) >= len(COLOURS),
                tuple(sweep.of(name)),
            )
            for sweep in parts
        )
        worst = tuple(
            mark
            for sweep, line in zip(parts, lines, strict=True)
            for mark in _collapsed([sweep], {name: line.colour})
        )
        panels.append(Panel(series, each, lines, _limits(parts), worst))
    return panels


def _limits(parts: Sequence[Sweep]) -> tuple[float, ...]:
    """Wire limits; those of many ranks hardly differ, so the lowest speaks for all."""
    found = [limit for sweep in parts if (limit := sweep.limit) is not None]
    return (min(found),) if found else ()


def _collapsed(
    parts: Sequence[Sweep], colours: Mapping[str, str]
) -> tuple[tuple[int, float, str], ...]:
    """The worst points of the collapses of schedules that have a colour."""
    return tuple(
        (one.worst.record.bytes or 0, one.worst.rate.value, colours[one.worst.record.algorithm])
        for sweep in parts
        for one in sweep.collapses
        if one.worst.rate is not None and one.worst.record.algorithm in colours
    )
