"""Which cells belong together: the schedule, the conditions, and what a result stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from contend.runs.metadata import Label
from contend.runs.record import CellRecord

COMPARED = ("alltoall", "sort")
"""Probes whose algorithms do the same work, so that one of them can win."""
ROUND_TRIPS = ("pingpong", "bounce")
"""Algorithms of ping-pong that send a message there and back."""

# Labels that choose among forms of one algorithm; all others are conditions that any has to meet.
_PARAMETERS = ("batch", "in_flight", "radix", "ranks_per_node")
# Labels that go along with the size of messages.
_SIZES = ("n", "m", "arrays_bytes")
# Labels that say how a sample was made and change nothing about what it stands for.
_MANNER = ("inner", "window")


@dataclass(frozen=True)
class Condition:
    """What schedules are compared under.

    Attributes:
        ranks: number of ranks.
        hosts: number of hosts.
        labels: further conditions, sorted by name.
    """

    ranks: int
    hosts: int
    labels: tuple[tuple[str, Label], ...] = ()


def condition(cell: CellRecord, *, with_sizes: bool = False) -> Condition:
    """The condition of a cell, optionally with labels that go along with its size."""
    left_out = (*_PARAMETERS, *_MANNER, *(() if with_sizes else _SIZES))
    labels = tuple((n, v) for n, v in sorted(cell.labels.items()) if n not in left_out)
    return Condition(cell.ranks, cell.hosts, labels)


def schedule_names(cells: Iterable[CellRecord]) -> dict[int, str]:
    """Name of every cell's schedule, by the cell's number.

    It is the algorithm's; where a run has an algorithm with several values of a parameter, they
    follow: ``inflight, in flight 8``.
    """
    listed = list(cells)
    values: dict[tuple[str, str], set[Label]] = {}
    for cell in listed:
        for name in _PARAMETERS:
            if name in cell.labels:
                values.setdefault((cell.algorithm, name), set()).add(cell.labels[name])
    names = {}
    for cell in listed:
        told = [
            f"{name.replace('_', ' ')} {cell.labels[name]}"
            for name in _PARAMETERS
            if len(values.get((cell.algorithm, name), ())) > 1 and name in cell.labels
        ]
        names[cell.cell] = ", ".join([cell.algorithm, *told])
    return names


def in_a_row(probe: str, cell: CellRecord) -> int:
    """How many messages one after the other a sample times; its result is divided by them.

    A ping-pong's sample is ``inner`` times there and back, a stream's ``inner`` windows of
    ``window`` messages. Everything else times one operation.
    """
    if probe != "pingpong":
        return 1
    inner, window = (_count(cell.labels.get(name)) for name in ("inner", "window"))
    return 2 * inner if cell.algorithm in ROUND_TRIPS else inner * window


def bytes_sent(probe: str, cell: CellRecord) -> int | None:
    """Bytes that a rank sends in one operation; None when the probe's do not say it.

    That is (p - 1) times the bytes per destination in an all-to-all and in a sort's exchange, and
    one message in a ping-pong.
    """
    if cell.bytes is None:
        return None
    if probe in COMPARED:
        return (cell.ranks - 1) * cell.bytes
    return cell.bytes if probe == "pingpong" else None


def _count(label: Label) -> int:
    return label if type(label) is int and label > 0 else 1
