"""A pair of hosts, measured while others load a channel of its route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from contend.errors import ShortfallError, UsageError
from contend.measurement.carry_out import measure_workload
from contend.measurement.conditions import Conditions
from contend.measurement.observer import Observer
from contend.measurement.place import Place
from contend.measurement.workload import OptionValue, make_workload
from contend.runs import Run

STREAM, ROUND_TRIP = "stream", "round-trip"
# Seconds of a full wire that a sample of the victim, and a message of its rivals, take at most.
_SAMPLE_S, _LOAD_S = 0.2, 0.02
_LARGEST_LOAD = 8 << 20


@dataclass(frozen=True)
class HotspotWork:
    """What the victim and its rivals send.

    Attributes:
        active: numbers of rivals that send, each measured.
        bytes: sizes of the victim's messages, as ``1:1M``.
        load_bytes: size of the rivals' messages; None for what the wire carries in 20 ms, where it
            is known, and at most 8 MiB.
        lead: seconds that the rivals send before the victim begins.
        operations: of the victim in a sample, each timed by itself.
    """

    active: tuple[int, ...]
    bytes: str = "1:1M"
    load_bytes: str | None = None
    lead: float = 0.05
    operations: int = 10


def measure_hotspot(
    work: HotspotWork,
    conditions: Conditions,
    options: dict[str, OptionValue],
    *,
    libraries: Sequence[str | None] = (None,),
    place: Place | None = None,
    folder: Path | None = None,
    observer: Observer | None = None,
) -> list[Run]:
    """Measures the first two ranks while the pairs after them send.

    Args:
        work: what is sent.
        conditions: with two ranks, each on a host of its own, for the victim and for every rival:
            sender and receiver, pair after pair. Where they or the place know the wire, samples
            and the load are made so large that none takes long on it.
        options: those that all probes have.
        libraries: names, folders or wrappers, see `contend.mpi.select`.
        place: where; None for this machine or the hosts of a batch system's job.
        folder: of the run; None for a new one in ``contend-runs``.
        observer: is told what happens.

    Raises:
        UsageError: for what does not fit together.
        MissingError: the machine lacks something.
        ShortfallError: nothing was measured.
    """
    if len(conditions.ranks) != 1 or conditions.ranks[0] < 2 or conditions.ranks[0] % 2:
        raise UsageError("a hot spot takes one even number of ranks")
    ranks = conditions.ranks[0]
    if 2 * (max(work.active) + 1) > ranks:
        raise UsageError(f"{max(work.active)} rivals need {2 * max(work.active) + 2} ranks")
    wire = conditions.wire if place is None else conditions.wire_in(place)
    rivals = ",".join(f"{rank}:{rank + 1}" for rank in range(2, ranks, 2))
    return measure_workload(
        make_workload(
            "hotspot",
            {
                **options,
                "victim": "0:1",
                "rivals": rivals or None,
                "rivals_active": work.active,
                "bytes": work.bytes,
                "load_bytes": work.load_bytes or _load(wire),
                "lead": work.lead,
                "operations": work.operations,
                "sample_bytes": 0 if wire is None else max(int(_SAMPLE_S * wire), 1),
            },
        ),
        conditions,
        libraries=libraries,
        place=place,
        folder=folder,
        observer=observer,
    )


def _load(wire: float | None) -> int:
    """Bytes of a rival's messages: two of them are under way when it is told to stop."""
    return _LARGEST_LOAD if wire is None else max(min(int(_LOAD_S * wire), _LARGEST_LOAD), 1)


def victim_operations(run: Run) -> pl.DataFrame:
    """Every operation of the victim.

    Returns:
        One row an operation: ``launch``, ``algorithm`` (``round-trip`` or ``stream``), ``bytes``,
        ``rivals``, ``seconds`` (one way for a round trip, the whole window for a stream),
        ``bandwidth_Bps`` and ``late``.

    Raises:
        ShortfallError: nothing was measured.
    """
    instants = [name for name in run.samples.columns if name.startswith("after_")]
    if run.samples.is_empty() or not instants:
        raise ShortfallError(f"{run.folder}: no sample was written")
    instants = ["begin", *sorted(instants, key=lambda name: int(name.removeprefix("after_")))]
    asking = run.samples.filter((pl.col("rank") == 0) & ~pl.col("warmup"))
    times = asking.select(instants).to_numpy()
    each = times.shape[1] - 1
    labels = {cell.cell: cell.labels for cell in run.record.cells}
    cells = [labels[cell] for cell in asking["cell"].to_list()]
    rivals = np.array([one.get("rivals-active") for one in cells]).repeat(each)
    window = np.array([int(one.get("window") or 1) for one in cells]).repeat(each)
    names = asking["algorithm"].cast(pl.String).to_numpy().repeat(each)
    size = asking["bytes"].to_numpy().repeat(each)
    # A round trip is two messages after each other, a stream a window of them.
    messages = np.where(names == STREAM, window, 2)
    seconds = np.diff(times, axis=1).ravel()
    operations = pl.DataFrame(
        {
            "launch": asking["launch"].to_numpy().repeat(each),
            "algorithm": names,
            "bytes": size,
            "rivals": rivals,
            "seconds": np.where(names == STREAM, seconds, seconds / 2),
            "bandwidth_Bps": size * messages / seconds,
            "late": asking["late"].to_numpy().repeat(each),
        }
    )
    # Cells of long messages have fewer operations than the columns that all share.
    return operations.filter(pl.col("seconds").is_not_nan())
