"""Evidence from the runs that contend measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import polars as pl

from contend.base.errors import UsageError
from contend.base.units import counted, format_bytes
from contend.explanation.evidence import (
    A_TIME_OUT_S,
    LATE_S,
    Bound,
    Evidence,
    FailedEvidence,
    HotSpotEvidence,
    Limit,
    MeasuredEvidence,
    Memory,
)
from contend.explanation.network import KnownNetwork, least_times, seat
from contend.fabric import Fabric
from contend.lab.emulation import drops_of
from contend.lab.measurement import (
    PASSING_ON,
    ROUND_TRIP,
    STANDARD,
    STREAM,
    MeasuredCell,
    memory_of,
    messages_of,
    victim_operations,
    victim_samples,
)
from contend.lab.runs import (
    COMPARED,
    CellRecord,
    CellSummary,
    Kind,
    MeasuredLaunch,
    PointError,
    Run,
    collapses,
    typical_time,
)

# Labels that say how samples were made, or go without saying.
_UNSAID = {
    *("inner", "window", "operations", "n", "arrays_bytes", "packets", "patterns", "repeats"),
    *("batch", "in_flight", "radix", "ranks_per_node", "rivals-active", "m"),
}
_USUAL = {("counts", "even"), ("input", "built"), ("pairs", "0-1")}
_NO_FIGURE = ("unsuited", "budget")


@dataclass(frozen=True, eq=False)
class Source:
    """A run with what is known beside it."""

    run: Run
    """Run that was measured."""
    fabric: Fabric | None = None
    """Fabric with the routes that it ran on; None where they are not known."""
    wire: float | None = None
    """Bytes per second of a port, said now; None for what the run knows."""
    memory: int | None = None
    """Bytes of a host, said now; None for what the run knows."""

    def evidence(self) -> Iterator[Evidence]:
        """Of every cell with figures, then of every point that failed."""
        if self.run.record.probe == "hotspot" and not self.run.samples.is_empty():
            yield from self._hot_spots()
        else:
            for cell in self.run.findings.cells:
                yield self._of_cell(cell)
        for error in self.run.findings.errors:
            if error.cause not in _NO_FIGURE:
                yield self._of_error(error)

    def _of_cell(self, cell: CellSummary) -> Evidence:
        modes = cell.two_kinds
        mean = None if modes is None else typical_time(cell)
        if modes is not None and modes.slow_s < A_TIME_OUT_S:
            # Too short to hold a time-out, even one that began during the transfer.
            modes = None
        apart = modes is not None and modes.slow_s - modes.fast_s >= A_TIME_OUT_S
        measured = modes.fast_s if modes is not None and apart else cell.median.value
        low, high = (measured, measured) if apart else _range(cell)
        return MeasuredEvidence(
            **self._common(cell.record, cell.schedule, cell.condition.by_name),
            measured_s=measured,
            low_s=low,
            high_s=high,
            mean_s=None if mean is None else mean.value,
            modes=modes,
            bounds=(*self._bounds[cell.record.cell], *self._late(cell)),
            volume=volume(cell.record.algorithm, cell.record.ranks),
            messages=self._messages(cell.record),
            fall=self._falls.get(cell.record.cell),
        )

    def _common(
        self, cell: CellRecord, schedule: str, labels: Sequence[tuple[str, Any]]
    ) -> dict[str, Any]:
        """What the evidence of cells with and without figures shares."""
        record = self.run.record
        conditions = [
            f"{name} {value}"
            for name, value in labels
            if name not in _UNSAID and (name, value) not in _USUAL
        ]
        conditions += [f"{name} {value}".strip() for name, value in record.labels.items()]
        place, drops = self.place, record.counters.get("drops")
        size = None if cell.bytes is None else format_bytes(cell.bytes)
        hosts = f"{counted(cell.ranks, 'rank')} on {counted(cell.hosts, 'host')}"
        return {
            "cell": ", ".join(filter(None, (schedule, size, hosts, *conditions))),
            "phrases": (hosts, *conditions),
            "condition": (
                *(record.probe, record.library.title, record.placement, record.wire_Bps),
                *(cell.ranks, cell.hosts),
                *(tuple(sorted(place.items())), tuple(conditions)),
                "" if record.probe in COMPARED else schedule,
            ),
            "series": f"{schedule} ({', '.join(conditions)})" if conditions else schedule,
            "at": "" if size is None else f"at {size}",
            "schedule": schedule,
            "bytes": cell.bytes,
            "ranks": cell.ranks,
            "drops": drops if type(drops) is int else None,
            "drops_by_place": drops_of(record.counters),
            "memory": self._memory(cell),
            "crowded": self._crowded(cell),
            "hosts": cell.hosts,
        }

    def _of_error(self, error: PointError) -> Evidence:
        record = self.run.record
        ranks = max((launch.ranks for launch in record.launches), default=0)
        ranks = ranks or max(self.asked.ranks if self.asked is not None else (1,))
        hosts = max((len(m.hosts) for m in self.run.record.measured), default=1)
        cell = CellRecord(
            0, error.algorithm or record.probe, error.bytes, ranks, max(hosts, 1), error.labels
        )
        labels = tuple(sorted(error.labels.items()))
        return FailedEvidence(
            **self._common(cell, cell.algorithm, labels),
            failure=error.reason,
            out_of_memory=error.cause == "memory",
        )

    @cached_property
    def asked(self) -> MeasuredCell | None:
        """What the run answers; None where that is not known, and of other questions."""
        try:
            return msgspec.convert(self.run.record.question, MeasuredCell)
        except msgspec.ValidationError:
            return None

    @property
    def place(self) -> dict[str, str]:
        """The emulated fabric as it was asked for; empty elsewhere."""
        return {} if self.asked is None else self.asked.place

    def _launch(self, cell: CellRecord) -> MeasuredLaunch | None:
        """The first launch that measured a cell."""
        measured = self.run.record.measured
        return next((m for m in measured if any(e.cell == cell.cell for e in m.ends)), None)

    @cached_property
    def _networks(self) -> dict[tuple[str, ...], KnownNetwork]:
        wire = self.run.record.wire_Bps if self.wire is None else self.wire
        seats = {measured.rank_hosts for measured in self.run.record.measured}
        return {hosts: seat(hosts, wire, self.fabric) for hosts in seats if hosts}

    @property
    def networks(self) -> tuple[KnownNetwork, ...]:
        """The networks between the ranks of the run's launches."""
        return tuple(self._networks.values())

    def _network(self, cell: CellRecord) -> KnownNetwork | None:
        launch = self._launch(cell)
        return None if launch is None else self._networks.get(launch.rank_hosts)

    @cached_property
    def _bounds(self) -> dict[int, tuple[Bound, ...]]:
        """Bounds of the network, by number of the cell."""
        cells = self.run.findings.cells
        return {cell.record.cell: self._network_bounds(cell.record) for cell in cells}

    def _network_bounds(self, cell: CellRecord) -> tuple[Bound, ...]:
        """Bounds of the messages of a cell; of random pairs those of the median pattern.

        The channels of these are those that are fullest most often.
        """
        network = self._network(cell)
        if network is None or cell.bytes is None or len(network.hosts) != cell.ranks:
            return ()
        size = cell.bytes * _number(cell, "packets")
        each = [least_times(network, *sent, size) for sent in messages_of(self.run, cell)]
        if self.run.record.probe != "bisect":
            return each[0] if each else ()
        bounds = []
        for limit in (Limit.PORT, Limit.FABRIC):
            of_limit = [bound for many in each for bound in many if bound.limit is limit]
            if 2 * len(of_limit) <= len(each):
                continue
            of_limit.sort(key=lambda bound: bound.seconds)
            median = of_limit[len(of_limit) // 2]
            often = Counter(name for bound in of_limit for name in bound.channels)
            names = tuple(name for name, _ in often.most_common(4))
            what = f"in half of the patterns at least {median.of}"
            bounds.append(Bound(limit, median.seconds, what, channels=names, load=median.load))
        return tuple(bounds)

    def _late(self, cell: CellSummary) -> Iterator[Bound]:
        """How much later than the first the last rank enters, over all samples."""
        entries = self._entries.filter(pl.col("cell") == cell.record.cell)
        if entries.is_empty():
            return
        spread = float(entries["spread_s"].median() or 0.0) / cell.in_a_row  # type: ignore[arg-type]
        whole = float(entries["result_s"].median() or 0.0) / cell.in_a_row  # type: ignore[arg-type]
        if spread * cell.in_a_row < LATE_S:
            return
        last = Counter(entries["last"].to_list()).most_common(1)[0]
        launch = self._launch(cell.record)
        host = "" if launch is None or not launch.rank_hosts else launch.rank_hosts[last[0]]
        on = f" on {host}" if host else ""
        share = 100 * last[1] / len(entries)
        limit = Limit.IMBALANCE if self._crowded(cell.record) is None else Limit.PROCESSORS
        what = (
            f"waiting for the last rank to enter (rank {last[0]}{on} in {share:.0f} % of samples)"
        )
        yield Bound(limit, spread, what, measured_s=whole)

    @cached_property
    def _entries(self) -> pl.DataFrame:
        """One row a timed sample: how far apart its ranks entered, and who was last."""
        timed = self.run.samples.filter(~pl.col("warmup"))
        start = pl.col("start_s")
        # In order: of ranks that are last equally often, the same one is named every time.
        return timed.group_by("launch", "cell", "repetition", maintain_order=True).agg(
            (start.max() - start.min()).alias("spread_s"),
            (pl.col("end_s").max() - start.min()).alias("result_s"),
            pl.col("rank").sort_by("start_s").last().alias("last"),
        )

    @cached_property
    def _falls(self) -> dict[int, float]:
        """How far the rates of collapsed cells fall, by number of the cell.

        What is known here of cables and ports may be more than the run knows.
        """
        cells = []
        for cell in self.run.findings.cells:
            least = max((b.seconds for b in self._bounds[cell.record.cell]), default=0.0)
            held = cell.sent is not None and least > cell.least_s
            cells.append(replace(cell, carried=cell.sent / least) if held else cell)  # type: ignore[operator]
        falls: dict[int, float] = {}
        for collapse in collapses(cells, crowded=True):
            if collapse.kind is Kind.FALLS:
                falls |= {cell.record.cell: collapse.factor.value for cell in collapse.cells}
        return falls

    def _messages(self, cell: CellRecord) -> int | None:
        if self.run.record.probe == "pingpong":
            return 1
        known = self.run.record.probe in COMPARED and cell.algorithm != "library"
        return cell.ranks - 1 if known and cell.algorithm not in PASSING_ON else None

    def _crowded(self, cell: CellRecord) -> float | None:
        """Ranks on each processor; None where every rank has its own."""
        launch = self._launch(cell) or next(iter(self.run.record.measured), None)
        if launch is None or not launch.oversubscribed:
            return None
        if self._one_machine:
            cpus = max((host.cpus or 0 for host in launch.hosts), default=0)
            return cell.ranks / cpus if cpus else 1.0
        return max((host.ranks / host.cpus for host in launch.hosts if host.cpus), default=1.0)

    @property
    def _one_machine(self) -> bool:
        """Whether all hosts share the processors and the memory of one machine."""
        return self.run.record.placement.startswith("emulated:")

    def _memory(self, cell: CellRecord) -> Memory | None:
        """What contend predicts that the cell's data need on a host, and what it has."""
        record = self.run.record
        available = record.memory if self.memory is None else self.memory
        if not available:
            return None
        options = {k: v for k, v in STANDARD[record.probe].items() if v is not None}
        options |= {} if self.asked is None else self.asked.options
        options |= {"algorithm": cell.algorithm} if "algorithm" in options else {}
        if record.probe == "sort":
            named = {"vectors": cell.labels.get("n"), "length": cell.labels.get("m")}
            options |= {name: str(value) for name, value in named.items() if value is not None}
        elif cell.bytes is not None:
            options["bytes"] = str(cell.bytes)
        launch = self._launch(cell) or next(iter(self.run.record.measured), None)
        together = cell.ranks
        if launch is not None and launch.hosts and not self._one_machine:
            together = max(host.ranks for host in launch.hosts)
        try:
            needed = memory_of(record.probe, options)(cell.ranks, together)
        except UsageError:
            return None
        return Memory(needed, available)

    def _hot_spots(self) -> Iterator[Evidence]:
        """Of the victim: one way of a round trip, or a window of a stream."""
        samples = victim_samples(victim_operations(self.run))
        keys = ("algorithm", "bytes", "rivals")
        medians = samples.group_by(*keys, maintain_order=True).agg(pl.col("seconds").median())
        times = {(a, b, r): s for a, b, r, s in medians.iter_rows()}
        for cell in self.run.record.cells:
            rivals = _number(cell, "rivals-active", 0)
            seconds = times.get((cell.algorithm, cell.bytes, rivals))
            if seconds is None:
                continue
            alone = times.get((cell.algorithm, cell.bytes, 0))
            schedule = f"{cell.algorithm} beside {counted(rivals, 'rival')}"
            common: dict[str, Any] = {
                **self._common(cell, schedule, ()),
                "measured_s": seconds,
                "bounds": self._of_victim(cell, rivals),
            }
            if rivals and alone:
                yield HotSpotEvidence(**common, rise=seconds / alone)
            else:
                yield MeasuredEvidence(**common)

    def _of_victim(self, cell: CellRecord, rivals: int) -> tuple[Bound, ...]:
        network = self._network(cell)
        if network is None or network.wire is None or not cell.bytes:
            return ()
        if 2 * rivals + 2 > len(network.hosts):
            return ()
        window = _number(cell, "window") if cell.algorithm == STREAM else 1
        size = cell.bytes * window
        pairs = np.arange(0, 2 * rivals + 2, 2, dtype=np.int64)
        port = [
            bound
            for bound in least_times(network, pairs[:1], pairs[:1] + 1, size)
            if bound.limit is Limit.PORT
        ]
        if not rivals:
            return tuple(port)
        together = least_times(network, pairs, pairs + 1, size)
        channels = next((bound.channels for bound in together if bound.channels), ())
        # The answer of a round trip meets no rival.
        ways = ((rivals + 1) + 1) / 2 if cell.algorithm == ROUND_TRIP else rivals + 1
        what = f"{counted(rivals + 1, 'pair')} on the channel that they were chosen to share"
        seconds = ways * size / network.wire
        return (*port, Bound(Limit.FABRIC, seconds, what, channels=channels, load=rivals + 1))


def volume(algorithm: str, ranks: int) -> float:
    """How many times the bytes of a direct exchange a schedule may send, as Bruck's does.

    It sends p / 2 blocks in each of log2 p rounds, where the direct ones send p - 1 (Bruck and
    others 1997); a library may use it.
    """
    if algorithm not in ("library", *PASSING_ON) or ranks < 2:
        return 1.0
    return float(max(1.0, ranks / 2 * np.ceil(np.log2(ranks)) / (ranks - 1)))


def _range(cell: CellSummary) -> tuple[float, float]:
    """The median's interval; with few samples their range."""
    if cell.median.low is not None and cell.median.high is not None:
        return cell.median.low, cell.median.high
    return float(cell.results.min()), float(cell.results.max())


def _number(cell: CellRecord, label: str, otherwise: int = 1) -> int:
    """A label that is a number; `otherwise` where it is none."""
    value = cell.labels.get(label)
    return value if type(value) is int and value > 0 else otherwise
