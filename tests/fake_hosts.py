"""Hosts on which probes end at once, with samples that a test chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from contend.base.units import parse_sizes
from contend.fabric import Fabric
from contend.lab.measurement import Shape
from contend.lab.mpi import Ended, Launch, Library
from sample_files import Launch as SampleFile

LIBRARY = Library("test", "/nowhere/mpicc", usable=True, name="Test MPI", version="1.0")
Point = tuple[str, int]


@dataclass(frozen=True)
class Asked:
    """What a probe was asked for."""

    probe: str
    """Name of the probe."""
    ranks: int
    """Number of ranks."""
    options: Mapping[str, str]
    """Options on its command line, by their names."""
    points: tuple[Point, ...]
    """Algorithms and sizes that it is to measure."""


Seconds = Callable[[Asked], float]
"""How long every sample takes; may raise, as an interruption does."""


@dataclass
class FakeHosts:
    """See `lab.measurement.Place`."""

    seconds: Seconds = lambda asked: 1e-3
    """How long samples take."""
    free: int | None = 1 << 30
    """Free bytes of a host."""
    slots: Sequence[tuple[str, int | None]] = ()
    wire: float | None = None
    rest: float = 0.0
    described: str = ""
    name: str = ""
    launcher: str = ""
    remarks: tuple[str, ...] = ()
    asked: Mapping[str, str] = field(default_factory=dict)
    """What decides figures here."""
    fabric: Fabric | None = None
    """Fabric that the hosts are part of; their names are its."""
    launches: list[Asked] = field(default_factory=list)
    """Everything that was asked for, in order."""

    @property
    def alone(self) -> bool:
        return not self.slots

    def memory(self, shape: Shape) -> tuple[int, int] | None:
        return None if self.free is None else (shape.fullest, self.free)

    def numbers_of(self, names: Sequence[str]) -> list[int]:
        return [list(self.fabric.host_name).index(name) for name in names]

    def counters(self) -> dict[str, Any]:
        return {}

    def launch(
        self,
        request: Launch,
        program: Path,
        arguments: Sequence[str],
        *,
        limit: float,
        watch: Callable[[], None],
    ) -> Ended:
        if program.name == "version":
            return Ended(0, output=f"contend met {request.ranks}")
        asked = _asked(program.name, request.ranks, arguments)
        self.launches.append(asked)
        hosts = [host.name for host in request.hosts for _ in range(host.ranks)]
        file = SampleFile(request.ranks, asked.probe, cells=len(asked.points))
        if hosts:
            file = SampleFile(request.ranks, asked.probe, cells=len(asked.points), hosts=hosts)
        seconds = self.seconds(asked)
        for point in asked.points:
            times = seconds * (1 + 0.01 * np.arange(6))
            durations = {"local_sort_s": 0.5} if asked.probe == "sort" else {}
            file.cell(times, durations=durations, **_labels(asked, point))
        file.write(Path(asked.options["output"]))
        watch()
        return Ended(0)


def _asked(probe: str, ranks: int, arguments: Sequence[str]) -> Asked:
    options: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        alone = name in ("verify", "two-way")
        options[name] = value if equals else "" if alone else next(words)
    if probe == "sort":
        return Asked(probe, ranks, options, (("library-v", 64),))
    left_out = Path(options["without"]).read_text().splitlines() if "without" in options else []
    return Asked(
        probe,
        ranks,
        options,
        tuple(
            (name, size)
            for name in options["algorithm"].split(",")
            for size in parse_sizes(options["bytes"])
            if not any(f"algorithm={name} bytes={size}" in line for line in left_out)
        ),
    )


def _labels(asked: Asked, point: Point) -> dict[str, Any]:
    labels: dict[str, Any] = {"algorithm": point[0], "bytes": point[1]}
    if asked.probe == "sort":
        labels |= {"n": int(asked.options["n"]), "m": int(asked.options["m"])}
    return labels
