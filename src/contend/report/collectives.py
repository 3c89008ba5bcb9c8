"""Bandwidths of operations of all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np

from contend.congestion import Collective, Collectives
from contend.fabric import FabricSize, size_of
from contend.report.document import Document, filled
from contend.report.style import COLOURS, QUIET, bandwidth_axis, new_figure, styled, title
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent, rate_words
from contend.units import counted, format_bytes, format_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Shares that differ by less read alike.
_ALIKE = 0.0005


def collectives_verdict(found: Collectives, sizes: Sequence[int]) -> str:
    """What an all-to-all gets and how long it takes, and what shifts get."""
    at_once, by_shifts, mean, worst, *_ = found.operations
    where = f"between {counted(found.hosts, 'host')}"
    if found.ranks != found.hosts:
        where = f"of {counted(found.ranks, 'rank')} on {counted(found.hosts, 'host')}"
    if (seconds := at_once.seconds(sizes[-1])) is None:
        line = (
            f"An all-to-all {where} gets at most {percent(at_once.share)} of a link's rate; how "
            "long it takes is unknown, because the rates of links are (--rate gives them)"
        )
    else:
        line = (
            f"An all-to-all {where} takes at least {format_seconds(seconds)} with "
            f"{format_bytes(sizes[-1])} from each to each, {_rate(at_once)}"
        )
        if abs(by_shifts.share - at_once.share) > _ALIKE:
            by_shifts_s = by_shifts.seconds(sizes[-1]) or 0.0
            line += f", and {format_seconds(by_shifts_s)} shift by shift"
    if worst.share < mean.share - _ALIKE:
        return (
            f"{line}; shifts get {percent(mean.share)} on average, the worst, by "
            f"{found.worst_shift:,}, {percent(worst.share)}."
        )
    return f"{line}; every shift gets {percent(mean.share)}."


def _rate(operation: Collective) -> str:
    return f"{rate_words(operation.rate_Bps)} a host ({percent(operation.share)} of its port)"


def collectives_tables(found: Collectives, sizes: Sequence[int]) -> list[ResultTable]:
    """What a host gets in each operation, and how long it takes by size."""
    times = tuple(f"time, {format_bytes(size)}" for size in sizes)
    numeric = ("rounds", "of port speed", "a host gets", *times)
    rows = [
        (
            operation.name,
            f"{operation.rounds:,}",
            percent(operation.share),
            rate_words(operation.rate_Bps),
            *(_time(operation, size) for size in sizes),
        )
        for operation in found.operations
    ]
    known = found.operations[0].rate_Bps is not None
    placed = f"{counted(found.ranks, 'rank')}, {found.placement} placement"
    rounds = "every round waits for its slowest message; bytes are those of a message"
    unknown = "" if known else "; the rates of links are not known"
    return [
        ResultTable(
            title=f"What a host gets on {found.fabric.name}{_engine(found)}",
            columns=("", *numeric),
            rows=tuple(rows),
            numeric=frozenset(numeric),
            note=f"{placed}; links alone, without latency; {rounds}{unknown}",
        )
    ]


def _engine(found: Collectives) -> str:
    engine = found.fabric.routes.engine if found.fabric.routes is not None else ""
    return f", routes by {engine}" if engine not in ("", found.fabric.name) else ""


def _time(operation: Collective, size: int) -> str:
    seconds = operation.seconds(size)
    return UNKNOWN if seconds is None else format_seconds(seconds)


def collectives_figure(found: Collectives, sizes: Sequence[int]) -> Figure:
    """What a host gets in each operation as a share of its port; rate and time beside the bar."""
    rows = np.arange(len(found.operations))
    with styled():
        figure = new_figure(height=1.2 + 0.24 * len(rows), width=4.6)
        axes = figure.subplots()
        shares = [operation.share for operation in found.operations]
        axes.barh(rows, shares, height=0.62, color=COLOURS[0])
        for row, operation in zip(rows, found.operations, strict=True):
            words = _beside(operation, sizes[-1])
            inside = operation.share > 0.5
            axes.annotate(
                words,
                (operation.share, row),
                xytext=(-3 if inside else 3, 0),
                textcoords="offset points",
                ha="right" if inside else "left",
                va="center",
                fontsize=6.5,
                color="white" if inside else QUIET,
            )
        axes.set_yticks(rows, [operation.name for operation in found.operations])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        bandwidth_axis(axes, "what a host gets, as a share of its port")
        axes.set_xlim(0, max(1.0, *shares))
        title(figure, _finding(found))
    return figure


def _beside(operation: Collective, size: int) -> str:
    seconds = operation.seconds(size)
    if seconds is None:
        return percent(operation.share)
    return f"{rate_words(operation.rate_Bps)}, {format_seconds(seconds)} for {format_bytes(size)}"


def _finding(found: Collectives) -> str:
    at_once, _, mean, worst, *_ = found.operations
    line = f"{found.fabric.name}: an all-to-all gets at most {percent(at_once.share)} of a port"
    if worst.share < mean.share - _ALIKE:
        return f"{line}, the worst shift {percent(worst.share)}"
    return f"{line}, every shift {percent(mean.share)}"


def collectives_document(found: Collectives, sizes: Sequence[int] = (1 << 20,)) -> Document:
    """What hosts get in each operation, and how long messages of these sizes take."""
    verdict, routes = collectives_verdict(found, sizes), found.fabric.routes
    operations = [
        filled(
            CollectiveJson,
            one,
            times=[CollectiveTimeJson(bytes=size, seconds=one.seconds(size)) for size in sizes],
        )
        for one in found.operations
    ]
    return Document(
        verdict=verdict,
        tables=collectives_tables(found, sizes),
        record=filled(
            CollectivesJson,
            found,
            fabric=size_of(found.fabric),
            engine="" if routes is None else routes.engine,
            verdict=verdict,
            operations=operations,
        ),
        pictures={"bandwidth": lambda: collectives_figure(found, sizes)},
    )


class CollectiveTimeJson(msgspec.Struct, frozen=True, kw_only=True):
    """How long an operation takes."""

    bytes: Annotated[int, "of a message."]
    seconds: Annotated[float | None, "null where the rate of links is not known."]


class CollectiveJson(msgspec.Struct, frozen=True, kw_only=True):
    """An operation of all ranks."""

    name: Annotated[str, "what it is, in words."]
    pattern: Annotated[str, "that it is simulated as."]
    rounds: Annotated[int, "how many; each waits for its slowest message."]
    messages_of_a_host: Annotated[
        float, "that it sends and receives; of a tree, the one that it gets or gives."
    ]
    share: Annotated[float, "of its port that a host gets."]
    rate_Bps: Annotated[
        float | None, "what a host gets; null where the rate of links is not known."
    ]
    times: Annotated[list[CollectiveTimeJson], "by the size of a message."]


class CollectivesJson(msgspec.Struct, frozen=True, kw_only=True):
    """Bandwidths of operations of all ranks, at the rates of links."""

    fabric: Annotated[FabricSize, "what they run on."]
    engine: Annotated[
        str, 'what computed its routes; "" where they were read and their file does not say.'
    ]
    placement: Annotated[str, "which rank sits on which host."]
    ranks: Annotated[int, "how many."]
    hosts: Annotated[int, "on how many hosts."]
    verdict: Annotated[str, "one-sentence verdict."]
    worst_shift: Annotated[int, "the distance at which a shift takes longest."]
    operations: Annotated[list[CollectiveJson], "the all-to-all at once first."]
