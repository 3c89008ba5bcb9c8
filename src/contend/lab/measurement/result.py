"""What is told of measured runs, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from contend.base.schema import LeftOut, PythonOnly, Seconds
from contend.lab.emulation import Drops, drops_of
from contend.lab.measurement.bisect import MeasuredPairs
from contend.lab.measurement.hotspot import HotspotPairs, are_beyond_wire, victim_operations
from contend.lab.runs import (
    COMPARED,
    CellSummary,
    Collapse,
    ComparedRun,
    Contest,
    LibraryRecord,
    Run,
    Warned,
)


@dataclass(frozen=True, kw_only=True)
class Harness:
    """How it was measured."""

    timer_s: Seconds | None
    """Seconds that reading the clock takes; null if it was not measured."""
    clock_residual_s: Seconds | None
    """Seconds within which the ranks' clocks agree; null if not measured."""
    launches: int
    """Number of launches."""
    budget_s: Seconds | None
    """Seconds that the run had; null for no limit."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement:
    """A run; ``contend measure bisect`` and ``hotspot`` add what only they have."""

    measured: PythonOnly[Run]
    """The run itself."""
    verdict: str
    """One-sentence verdict."""
    probe: str
    """Name of what measured."""
    mpi: LibraryRecord
    """The MPI library."""
    ranks: int | list[int] | None
    """Number of ranks, or a list if launches differ."""
    hosts: int | list[int] | None
    """Number of hosts, or a list if launches differ."""
    host_names: list[str]
    """Names of the hosts."""
    labels: dict[str, str]
    """Conditions that no program can see, as they were given."""
    cells: tuple[CellSummary, ...]
    """All that was measured, one by one."""
    winners: LeftOut[tuple[Contest, ...]]
    """Fastest schedules; there for all-to-alls and sorts."""
    collapses: LeftOut[tuple[Collapse, ...]]
    """Where rates collapse; there for all-to-alls and sorts."""
    harness: Harness
    """How it was measured."""
    drops_by_place: Drops | None
    """Packets that emulated queues dropped; null if nobody counted."""
    warnings: tuple[Warned, ...]
    """All that a reader must know."""
    run: str
    """Folder of the run."""
    pairs: LeftOut[MeasuredPairs] = None
    """Bandwidths of random pairs; there for bisect."""
    hotspot: LeftOut[HotspotPairs] = None
    """Pairs that shared a channel; there for hotspot."""

    @staticmethod
    def of(
        run: Run,
        verdict: str,
        pairs: MeasuredPairs | None = None,
        hotspot: HotspotPairs | None = None,
    ) -> Measurement:
        """A run by itself."""
        record, findings = run.record, run.findings
        judged = record.probe in COMPARED
        hosts = (host.name for launch in record.measured for host in launch.hosts)
        return Measurement(
            measured=run,
            verdict=verdict,
            probe=record.probe,
            mpi=record.library,
            ranks=_one_or_all([cell.ranks for cell in record.cells]),
            hosts=_one_or_all([cell.hosts for cell in record.cells]),
            host_names=list(dict.fromkeys(hosts)),
            labels=record.labels,
            cells=_cells(run),
            winners=findings.contests if judged else None,
            collapses=findings.collapses if judged else None,
            harness=Harness(
                timer_s=findings.timer_s,
                clock_residual_s=findings.clock_residual_s,
                launches=len(record.launches),
                budget_s=record.budget_s,
            ),
            drops_by_place=drops_of(record.counters),
            warnings=findings.remarks,
            run=str(run.folder),
            pairs=pairs,
            hotspot=hotspot,
        )


def _cells(run: Run) -> tuple[CellSummary, ...]:
    """All cells; of a hot spot the victim's single messages say what is beyond the wire."""
    if run.record.probe != "hotspot" or run.samples.is_empty():
        return run.every_cell
    operations = victim_operations(run).partition_by("cell")
    fast = {part["cell"][0] for part in operations if are_beyond_wire(part)}
    return tuple(replace(cell, outran=cell.record.cell in fast) for cell in run.every_cell)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredRuns:
    """Several runs."""

    verdict: str
    """One-sentence verdict for each."""
    results: tuple[Measurement, ...]
    """The runs."""
    comparison: tuple[ComparedRun, ...]
    """Every run that has cells in common with the first."""


def _one_or_all(values: list[int]) -> int | list[int] | None:
    different = sorted(set(values))
    return different[0] if len(different) == 1 else different or None
