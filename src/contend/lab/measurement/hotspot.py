"""A pair of hosts, measured while others load a channel of its route."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from contend.base.errors import ShortfallError, UsageError
from contend.base.units import parse_size
from contend.congestion import HotSpot
from contend.fabric import Fabric
from contend.lab.measurement.place import Place
from contend.lab.measurement.question import (
    LARGEST_LOAD,
    MeasuredCell,
    OptionValue,
    arguments_of,
    options_of,
)
from contend.lab.runs import IMPOSSIBLE, Run, rate_limit

STREAM, ROUND_TRIP = "stream", "round-trip"
# Seconds of a full wire that a sample of the victim, and a message of its rivals, take at most.
_SAMPLE_S, _LOAD_S = 0.2, 0.02
# Fewer samples on time than these, and late ones count too.
_FEWEST = 6


def hotspot_options(ranks: int, active: Sequence[int], **options: OptionValue) -> dict[str, str]:
    """What a victim and its rivals send, as `options_of` has it.

    The first two ranks are the victim, the pairs after them its rivals: sender and receiver.

    Args:
        ranks: two of the victim, each on a host of its own, and two of every rival.
        active: numbers of rivals that send, each measured.
        **options: the probe's own: ``bytes`` (sizes of the victim's messages), ``load_bytes`` (of
            the rivals'; None for what the wire carries in 20 ms, where it is known, and at most
            8 MiB), ``lead`` (seconds that the rivals send before the victim begins),
            ``operations`` (of the victim in a sample, each timed by itself).

    Raises:
        UsageError: the ranks do not fit.
    """
    if ranks < 2 or ranks % 2:
        raise UsageError(f"a hot spot takes an even number of ranks, got {ranks}")
    if 2 * (max(active) + 1) > ranks:
        raise UsageError(f"{max(active)} rivals need {2 * max(active) + 2} ranks, got {ranks}")
    rivals = ",".join(f"{rank}:{rank + 1}" for rank in range(2, ranks, 2))
    return options_of("hotspot", {"rivals": rivals or None, "rivals_active": active, **options})


def hotspot_arguments(cell: MeasuredCell, place: Place) -> tuple[str, ...]:
    """What the probe is told.

    Where the wire is known, samples and the load are made so large that none takes long on it: two
    of a rival's messages are under way when it is told to stop.
    """
    wire, largest = cell.wire_in(place), parse_size(LARGEST_LOAD)
    load = largest if wire is None else max(min(int(_LOAD_S * wire), largest), 1)
    sample = 0 if wire is None else max(int(_SAMPLE_S * wire), 1)
    options = {"load_bytes": str(load), **cell.options, "sample_bytes": str(sample)}
    return arguments_of(options)


@dataclass(frozen=True, kw_only=True)
class HotspotPairs:
    """Pairs of hosts whose messages share a channel."""

    channel: str
    """Name of the channel that all pairs share."""
    victim: tuple[str, str]
    """Source and target of the pair that is measured."""
    rivals: tuple[tuple[str, str], ...]
    """Source and target of every pair that may load the channel."""

    @staticmethod
    def of(spot: HotSpot, fabric: Fabric) -> HotspotPairs:
        """The pairs of a fabric's hosts by name."""

        def names(pair: tuple[int, int]) -> tuple[str, str]:
            source, target = pair
            return str(fabric.host_name[source]), str(fabric.host_name[target])

        return HotspotPairs(
            channel=fabric.channel_name(spot.channel),
            victim=names(spot.victim),
            rivals=tuple(map(names, spot.rivals)),
        )


def victim_operations(run: Run) -> pl.DataFrame:
    """Every operation of the victim that counts.

    Those of late samples do not, but where fewer than six samples of a cell were on time.

    Returns:
        One row an operation: ``launch``, ``algorithm`` (``round-trip`` or ``stream``), ``bytes``,
        ``rivals``, ``sample`` (the operations of one follow each other at once), ``seconds`` (one
        way for a round trip, the whole window for a stream), ``bandwidth_Bps``, ``late``,
        ``beyond_wire`` (it is more than hosts' ports carry) and ``cell``.

    Raises:
        ShortfallError: nothing was measured.
    """
    instants = [name for name in run.samples.columns if name.startswith("after_")]
    if run.samples.is_empty() or not instants:
        raise ShortfallError(f"{run.folder}: no sample was written")
    instants = ["begin", *sorted(instants, key=lambda name: int(name.removeprefix("after_")))]
    on_time = ((~pl.col("late")).sum() >= _FEWEST).over("cell")
    victim = run.samples.filter((pl.col("rank") == 0) & ~pl.col("warmup"))
    victim = victim.filter(~(pl.col("late") & on_time))
    times = victim.select(instants).to_numpy()
    each = times.shape[1] - 1
    labels = {cell.cell: cell.labels for cell in run.record.cells}
    wire = run.record.wire_Bps
    limits = {
        cell.cell: min(
            rate_limit("hotspot", cell, wire) or math.inf,
            run.record.carried_Bps.get(cell.cell, math.inf),
        )
        for cell in run.record.cells
    }
    limit = np.array([limits[cell] for cell in victim["cell"].to_list()]).repeat(each)
    cells = [labels[cell] for cell in victim["cell"].to_list()]
    rivals = np.array([label.get("rivals-active") for label in cells]).repeat(each)
    window = np.array([int(label.get("window") or 1) for label in cells]).repeat(each)
    names = victim["algorithm"].cast(pl.String).to_numpy().repeat(each)
    size = victim["bytes"].to_numpy().repeat(each)
    # A round trip is two messages after each other, a stream a window of them.
    messages = np.where(names == STREAM, window, 2)
    seconds = np.diff(times, axis=1).ravel()
    operations = pl.DataFrame(
        {
            "launch": victim["launch"].to_numpy().repeat(each),
            "algorithm": names,
            "bytes": size,
            "rivals": rivals,
            "sample": np.arange(len(victim)).repeat(each),
            "seconds": np.where(names == STREAM, seconds, seconds / 2),
            "bandwidth_Bps": size * messages / seconds,
            "late": victim["late"].to_numpy().repeat(each),
            "beyond_wire": IMPOSSIBLE * size * messages / seconds > limit,
            "cell": victim["cell"].to_numpy().repeat(each),
        }
    )
    # Cells of long messages have fewer operations than the columns that all share.
    return operations.filter(pl.col("seconds").is_not_nan())


def are_beyond_wire(operations: pl.DataFrame) -> bool:
    """Whether some operations of a victim were faster than hosts' ports carry, at the median.

    Args:
        operations: of `victim_operations`.
    """
    return 2 * int(operations["beyond_wire"].sum()) > len(operations)


def victim_samples(operations: pl.DataFrame) -> pl.DataFrame:
    """One row for every sample: what repeats independently, for intervals.

    Operations of a sample follow each other at once and resemble each other.

    Args:
        operations: of `victim_operations`.

    Returns:
        ``launch``, ``algorithm``, ``bytes``, ``rivals``, ``sample``, and of its operations the
        median ``seconds`` and ``bandwidth_Bps``.
    """
    keys = ("launch", "algorithm", "bytes", "rivals", "sample")
    return operations.group_by(*keys, maintain_order=True).agg(
        pl.col("seconds", "bandwidth_Bps").median()
    )
