"""What the cables between switches let a rank send at most, by what each cell of a run measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median_high

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import ContendError
from contend.congestion import heat, message_congestion
from contend.fabric import Fabric, relative_rates
from contend.lab.measurement.bisect import patterns_of
from contend.lab.measurement.place import Place
from contend.lab.runs import COMPARED, CellRecord, Run

Messages = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Source and target ranks of messages that are sent at once."""

PASSING_ON = ("bruck", "hierarchical", "node-leader")
"""All-to-alls whose blocks go by way of other ranks."""

# The median of more patterns would hardly be another.
_MOST_PATTERNS = 200
_PAIR, _SHIFT = re.compile(r"(\d+)-(\d+)"), re.compile(r"shift-(\d+)")


def messages_of(run: Run, cell: CellRecord) -> list[Messages]:
    """The messages that a cell of a run sends at once; of random pairs those of every pattern."""
    ranks = np.arange(cell.ranks, dtype=np.int64)
    match run.record.probe:
        case "alltoall" | "sort":
            source, target = np.repeat(ranks, len(ranks)), np.tile(ranks, len(ranks))
            return [(source[source != target], target[source != target])]
        case "pingpong":
            return [_paired(cell, ranks)]
        case "hotspot":
            return [(ranks[:1], ranks[1:2])]
        case "bisect":
            try:
                patterns = patterns_of(run)[:_MOST_PATTERNS]
            except ContendError:
                return []
            drawn = [(np.flatnonzero(to >= 0), to[to >= 0]) for to in patterns]
            return drawn if all(len(to) == cell.ranks for to in patterns) else []
    return []


def _paired(cell: CellRecord, ranks: NDArray[np.int64]) -> Messages:
    """A ping-pong's messages in one direction; none where its label names others than its ranks."""
    text = str(cell.labels.get("pairs", "0-1"))
    if match := _PAIR.fullmatch(text):
        pair = np.array([[int(match[1])], [int(match[2])]])
        return (pair[0], pair[1]) if pair.max() < len(ranks) else (ranks[:0], ranks[:0])
    shift = _SHIFT.fullmatch(text)
    sends = ranks if shift else ranks[:0]
    return sends, (sends + (int(shift[1]) if shift else 0)) % max(len(ranks), 1)


def carried(run: Run, place: Place) -> dict[int, float]:
    """Bytes per second that a rank can send at most by what cables carry, by number of the cell.

    All bytes of an operation over the fullest channel between switches; of random pairs in the
    median pattern. Nothing for cells whose hosts, routes or cables are not known, or whose blocks
    go by way of other ranks.

    Args:
        run: of a probe, with what its launches told of their hosts.
        place: where it was measured.
    """
    fabric, wire = place.fabric, run.record.wire_Bps
    if fabric is None or fabric.draws_routes or not fabric.cables or wire is None:
        return {}
    most: dict[int, float] = {}
    known: dict[tuple[object, ...], float] = {}
    for launch in run.record.measured:
        try:
            hosts = np.array(place.numbers_of(launch.rank_hosts), dtype=np.int64)
            for cell in (run.record.cells[end.cell] for end in launch.ends):
                if cell.algorithm in PASSING_ON or len(hosts) != cell.ranks:
                    continue
                key = (launch.rank_hosts, cell.labels.get("pairs"))
                if key not in known:
                    known[key] = _heat(fabric, hosts, messages_of(run, cell))
                if known[key] > 0:
                    each = cell.ranks - 1 if run.record.probe in COMPARED else 1
                    rate = wire * each / known[key]
                    most[cell.cell] = max(rate, most.get(cell.cell, 0.0))
        except ContendError:
            continue
    return most


def _heat(fabric: Fabric, hosts: NDArray[np.int64], drawn: Sequence[Messages]) -> float:
    """Messages at a port's rate that the hottest channel between switches takes as long as."""
    heats = []
    for source, target in drawn:
        ends = hosts[source], hosts[target]
        crossing = ends[0] != ends[1]
        counted = message_congestion(fabric, ends[0][crossing], ends[1][crossing])
        between = counted.channel_messages[: 2 * fabric.cables]
        heats.append(float(heat(between, relative_rates(fabric)).max(initial=0.0)))
    return median_high(heats) if heats else 0.0
