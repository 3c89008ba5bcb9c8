"""A small plan, and rooms that answer at once and say what they were asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contend.base.errors import ShortfallError
from contend.congestion import Links, Simulation
from contend.fabric import Fabric
from small_fabrics import by_hand

PLAN = """
name = "small"
engines = ["good", "bad"]
samples = 3
average = "of_mean_congestion"
notes = ["Made for tests."]

[[fabric]]
name = "one"
source = "crossbar:4"

[[fabric]]
name = "two"
source = "two.fabric"
engines = ["good"]

[[pattern]]
name = "bisect"
pattern = "bisect"

[[pattern]]
name = "many rounds"
pattern = "tree"
samples = 2
fabrics = ["one"]

[[reference]]
fabric = "one"
pattern = "bisect"
percent = 40.0
source = "paper"

[[reference]]
fabric = "one"
pattern = "bisect"
percent = 66.0
source = "models"
engine = "good"
average = "effective_bandwidth"
"""

GRID = """
name = "small"
budget_s = 100
label = "flow control=on"
wire = "1Gbit/s"

[[measure]]
name = "sort"
probe = "sort"
hosts = [1, 2]
ranks_per_host = [2]
vectors = 64
length = ["8", "8N"]

[[measure]]
name = "sweep"
probe = "alltoall"
ranks = [4]
ranks_per_host = [1, 2]
bytes = [16, "1K:4K"]
algorithm = ["library", "shift"]

[[reference]]
source = "paper"
measure = "sort"
vectors = 64
ranks_per_host = 2
length = "8N"
hosts = [1, 2, 3]
seconds = [0.5, 0.25, "ERR"]

[[reference]]
source = "2005"
library = "LAM"
measure = "sweep"
ranks = 4
ranks_per_host = 1
bytes = "1K"
algorithm = "library"
rate = "2 MiB/s"

[[table]]
title = "Of 1 KiB"
measure = "sweep"
head = "CPUs/node"
columns = ["MPI_Alltoall", "own"]

[[table.row]]
label = "1"
ranks = 4
ranks_per_host = 1
bytes = "1K"
algorithms = ["library", "shift"]
"""


@pytest.fixture
def grid_file(tmp_path: Path) -> Path:
    """A small plan of measurements."""
    path = tmp_path / "small.toml"
    path.write_text(GRID)
    return path


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "plan" / "small.toml"
    path.parent.mkdir()
    path.write_text(PLAN)
    return path


@dataclass
class Rooms:
    """Stands for the other rooms; `calls` says in order what was asked."""

    calls: list[tuple[str, ...]] = field(default_factory=list)
    failing: dict[str, BaseException] = field(default_factory=dict)

    def asked(self, what: str) -> list[tuple[str, ...]]:
        return [call[1:] for call in self.calls if call[0] == what]

    def load(self, source: str, **options: Any) -> Fabric:
        path = Path(source)
        if path.parent.name == "fabrics":
            self.calls.append(("load", path.name))
            return crossbar()
        engine = options["route"] or ""
        self.calls.append(("route", source, options["routes"] or "", engine))
        if engine == "bad":
            raise ShortfallError("bad can't route this fabric")
        return crossbar()

    def save(self, fabric: Fabric, path: Path) -> None:
        self.calls.append(("save", path.name))
        path.write_text(fabric.name)

    def rate(self, fabric: Fabric, *seats: Any, **options: Any) -> Any:
        self.calls.append(("rate", fabric.name))
        return SimpleNamespace(share=0.5)

    def simulate(self, fabric: Fabric, pattern: str, **options: Any) -> Simulation:
        self.calls.append(("simulate", fabric.name, pattern, options["placement"]))
        if pattern in self.failing:
            raise self.failing[pattern]
        options["progress"](1, options["samples"])
        return simulation(fabric, pattern, options["samples"], options["seed"])


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> Rooms:
    rooms = Rooms()
    for name, function in (
        ("load", rooms.load),
        ("save", rooms.save),
        ("simulate", rooms.simulate),
    ):
        monkeypatch.setattr(f"contend.lab.studies.simulated.{name}", function)
    monkeypatch.setattr("contend.congestion.simulation.simulation.bisection", rooms.rate)
    return rooms


def crossbar() -> Fabric:
    return by_hand("crossbar", [["a", "b"]])


def simulation(fabric: Fabric, pattern: str, samples: int, seed: int) -> Simulation:
    """Half of every link's bandwidth by either average; π of 1 and 3."""
    return Simulation(
        engine="good",
        pattern=pattern,
        placement="random",
        ranks=2,
        samples=samples,
        seed=seed,
        exhaustive=False,
        patterns_exist=None,
        scale=1.0,
        bandwidth=np.full(samples, 2 / 3),
        mean_congestion=np.full(samples, 2.0),
        max_congestion=np.full(samples, 3.0),
        round_mean_congestion=np.array([2.0]),
        round_max_congestion=np.array([3.0]),
        histogram=np.array([0, 1, 0, 1], dtype=np.uint64),
        channel_load=np.ones(4),
        elapsed_s=0.1,
        drawing_s=0.0,
        counting_s=0.1,
        messages=2,
        links=(Links("4xHDR", 25e9, 2),),
        taking_part=np.arange(2, dtype=np.uint32),
        fabric=fabric,
    )
