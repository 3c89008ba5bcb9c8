"""What is written down of a run before it begins."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from contend.measurement.conditions import Conditions
from contend.measurement.environment import variables_that_matter
from contend.measurement.folder import Request
from contend.measurement.place import Place
from contend.measurement.workload import Workload
from contend.mpi import Library, this_machine
from contend.runs import LibraryRecord, RunRecord, Warned


def new_record(
    workload: Workload,
    conditions: Conditions,
    library: Library,
    place: Place,
    warnings: Sequence[Warned],
) -> RunRecord:
    """What is known of a run before it begins."""
    machine = this_machine()
    return RunRecord(
        probe=workload.probe,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        contend=version("contend"),
        library=LibraryRecord(
            library.name, library.version, library.standard, library.reported, library.wrapper
        ),
        machine={
            "host": platform.node(),
            "system": f"{platform.system()} {platform.release()}",
            "architecture": platform.machine(),
            "processor": _processor(),
            "cpus": machine.cpus,
            "cores": machine.cores,
        },
        environment=variables_that_matter(os.environ),
        seed=conditions.seed,
        budget_s=conditions.budget,
        labels=dict(conditions.labels),
        placement=place.name or ("blocks of ranks, hosts in order" if place.slots else ""),
        wire_Bps=conditions.wire_in(place),
        warnings=tuple(warnings),
    )


def new_request(
    workload: Workload, conditions: Conditions, library: Library, place: Place
) -> Request:
    """What going on with the run needs to know."""
    return Request(
        probe=workload.probe,
        arguments=workload.arguments,
        wrapper=library.wrapper,
        ranks=conditions.ranks,
        ranks_per_host=conditions.ranks_per_host,
        slots=tuple((name, count) for name, count in place.slots),
        launcher=place.launcher,
        place=place.name,
        launches=conditions.launches,
        seed=conditions.seed,
        budget_s=conditions.budget,
    )


def _processor() -> str:
    """The processor's name, as the kernel tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "")
