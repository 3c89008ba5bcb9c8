"""What surrounds a measurement: the machine, settings, and where its ranks really are."""

from __future__ import annotations

import os
import platform
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from contend.base.units import counted
from contend.lab.measurement.place import Place, Shape
from contend.lab.measurement.question import MeasuredCell
from contend.lab.mpi import Library, this_machine
from contend.lab.runs import LibraryRecord, RanksFrame, RunRecord, Warned

_MATTERS = re.compile(
    r"(?:OMPI|PRTE|PMIX|OPAL|MPICH|MPIR|HYDRA|UCX|FI|I_MPI|MV2|PSM2?|PSM3|OMP|SLURM|IPATH|MLX5)_\w+"
    r"|KMP_AFFINITY|GOMP_CPU_AFFINITY|LD_PRELOAD"
)
# Whatever looks like a secret stays out of files that people pass on.
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|KEY|JWT", re.IGNORECASE)
# Of the processor time that this machine wants: beyond it, times are not only the network's.
_NOTICEABLE = 0.1
# Ticks; the kernel counts them one by one, and of fewer the share is chance.
_FEW = 100


def new_record(
    cell: MeasuredCell,
    library: Library,
    place: Place,
    budget: float | None,
    warnings: Sequence[Warned],
) -> RunRecord:
    """What is known of a run before it begins."""
    machine = this_machine()
    known = place.memory(Shape(max(cell.ranks)))
    return RunRecord(
        probe=cell.probe,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        contend=version("contend"),
        library=library_record(library),
        machine={
            "host": platform.node(),
            "system": f"{platform.system()} {platform.release()}",
            "architecture": platform.machine(),
            "processor": _processor(),
            "cpus": machine.cpus,
            "cores": machine.cores,
        },
        environment=variables_that_matter(os.environ),
        seed=cell.seed,
        budget_s=budget,
        labels=dict(cell.labels),
        placement=place.name or ("blocks of ranks, hosts in order" if place.slots else ""),
        wire_Bps=cell.wire_in(place),
        warnings=tuple(warnings),
        memory=None if known is None else known[1],
        question=cell.question(),
    )


def library_name(library: Library) -> str:
    """What a library is called, with its version."""
    return library_record(library).title


def library_record(library: Library) -> LibraryRecord:
    """A library as a run keeps it."""
    return LibraryRecord(
        library.name, library.version, library.standard, library.reported, library.wrapper
    )


def variables_that_matter(environment: Mapping[str, str]) -> dict[str, str]:
    """Settings of MPI libraries, their transports and launchers, in order of their names."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if _MATTERS.fullmatch(name) and not _SECRET.search(name)
    }


def _processor() -> str:
    """The processor's name, as the kernel tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "")


def warnings_about(ranks: RanksFrame, shape: Shape) -> Iterator[Warned]:
    """Warnings for ranks that share processors, move between them, or are not where they should be.

    Args:
        ranks: where the ranks say that they are.
        shape: where they were to be.
    """
    on_host = Counter(ranks.host)
    cpus = dict(zip(ranks.host, ranks.host_cpus, strict=False))
    if ranks.oversubscribed:
        yield _oversubscribed(ranks, on_host, cpus)
    elif unbound := _unbound(ranks):
        yield Warned(
            "unbound",
            f"{unbound} of {counted(len(ranks.host), 'rank')} may move between processors while "
            "they are timed: bind each to a core (mpirun --bind-to core, srun --cpu-bind=cores)",
        )
    if misplaced := _misplaced(on_host, shape):
        yield Warned("placement", misplaced)


@dataclass(frozen=True)
class ProcessorTime:
    """What this machine's processors had to do since it started, in ticks of its kernel."""

    had: int
    """Time that they worked."""
    withheld: int
    """Time that they would have worked, but the hypervisor let others run."""

    @classmethod
    def now(cls) -> ProcessorTime:
        """Until now; nothing where the kernel does not tell."""
        try:
            line = Path("/proc/stat").read_bytes().partition(b"\n")[0]
        except OSError:
            return cls(0, 0)
        user, nice, system, _, _, interrupts, soft, stolen, *_ = map(int, line.split()[1:])
        return cls(user + nice + system + interrupts + soft, stolen)

    def warnings_since(self, before: ProcessorTime) -> Iterator[Warned]:
        """A warning where more was withheld in between than figures bear."""
        withheld = self.withheld - before.withheld
        if withheld > max(_FEW, _NOTICEABLE * (withheld + self.had - before.had)):
            yield Warned(
                "withheld",
                "the hypervisor kept back more than a tenth of the processor time that ranks on "
                "this machine wanted, so times scatter and are too long: measure again when its "
                "neighbours are quiet, or on a machine of its own",
            )


def _oversubscribed(ranks: RanksFrame, on_host: Counter[str], cpus: dict[str, int]) -> Warned:
    crowded = [host for host, count in on_host.items() if count > cpus.get(host, count)]
    if not crowded and _bound(ranks):
        said = "several ranks are bound to the same processor"
        return Warned("oversubscribed", f"{said}: bind each rank to a core of its own")
    if not crowded:
        # Every host by itself has processors enough: they are the same ones.
        return Warned(
            "oversubscribed",
            f"{len(on_host)} hosts are one machine of {counted(max(cpus.values()), 'processor')}: "
            "times below about a millisecond show waits for a processor more than the network",
        )
    host = max(crowded, key=lambda name: on_host[name] / cpus[name])
    return Warned(
        "oversubscribed",
        f"{counted(on_host[host], 'rank')} share {counted(cpus[host], 'processor')} on {host}, so "
        "times show waits for a processor more than the network: use at most "
        f"{counted(cpus[host], 'rank')} per host, or more hosts",
    )


def _unbound(ranks: RanksFrame) -> int:
    """Ranks that may run wherever their host has a processor, and so be moved."""
    return sum(
        count > 1 and len(_processors(allowed)) >= count
        for allowed, count in zip(ranks.cpus, ranks.host_cpus, strict=False)
    )


def _bound(ranks: RanksFrame) -> bool:
    """Whether a rank may not run on all processors of its host."""
    return any(
        0 < len(_processors(allowed)) < count
        for allowed, count in zip(ranks.cpus, ranks.host_cpus, strict=False)
    )


def _misplaced(on_host: Counter[str], shape: Shape) -> str:
    """How the ranks' hosts differ from those asked for; "" when they do not."""
    asked = len(shape.hosts)
    if not asked and shape.ranks_per_host is not None:
        asked = -(-shape.ranks // shape.ranks_per_host)
    if not asked or asked == len(on_host):
        return ""
    return (
        f"{counted(shape.ranks, 'rank')} were meant for {counted(asked, 'host')} but run on "
        f"{len(on_host)} ({', '.join(list(on_host)[:4])})"
    )


def _processors(allowed: str) -> set[int]:
    """The numbers in a list of the kernel, such as ``0-3,8``."""
    found: set[int] = set()
    for part in allowed.split(","):
        first, dash, last = part.partition("-")
        if first.isdecimal() and (not dash or last.isdecimal()):
            found.update(range(int(first), int(last or first) + 1))
    return found
