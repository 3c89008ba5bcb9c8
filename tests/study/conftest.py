"""A small plan, and rooms that answer at once and say what they were asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contend.congestion import Simulation
from contend.errors import ShortfallError
from contend.fabric import Fabric
from contend.fabric.fabric import build
from contend.study import Services

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

    def services(self) -> Services:
        return Services(self._route, self._load, self._save, self._rate, self._simulate)

    def asked(self, what: str) -> list[tuple[str, ...]]:
        return [call[1:] for call in self.calls if call[0] == what]

    def _route(self, source: str, routes: str | None, engine: str | None) -> Fabric:
        self.calls.append(("route", source, routes or "", engine or ""))
        if engine == "bad":
            raise ShortfallError("bad can't route this fabric")
        return crossbar()

    def _load(self, path: Path) -> Fabric:
        self.calls.append(("load", path.name))
        return crossbar().replace(name=path.read_text())

    def _save(self, fabric: Fabric, path: Path) -> None:
        self.calls.append(("save", path.name))
        path.write_text(fabric.name)

    def _rate(self, fabric: Fabric) -> float:
        self.calls.append(("rate", fabric.name))
        return 0.5

    def _simulate(self, fabric: Fabric, pattern: str, **options: Any) -> Simulation:
        self.calls.append(("simulate", fabric.name, pattern, options["placement"]))
        if pattern in self.failing:
            raise self.failing[pattern]
        options["progress"](1, options["samples"])
        return simulation(fabric, pattern, options["samples"], options["seed"])


@pytest.fixture
def rooms() -> Rooms:
    return Rooms()


def crossbar() -> Fabric:
    return build(
        "crossbar",
        host_name=["a", "b"],
        host_switch=np.zeros(2),
        host_port=np.array([1, 2]),
        switch_name=["s"],
        switch_ports=2,
        cables=np.empty((0, 4)),
    )


def simulation(fabric: Fabric, pattern: str, samples: int, seed: int) -> Simulation:
    """Half of every link's bandwidth by either average; π of 1 and 3."""
    return Simulation(
        fabric_name=fabric.name,
        engine="good",
        hosts=2,
        switches=1,
        channels=4,
        pattern=pattern,
        placement="random",
        ranks=2,
        rounds=1,
        samples=samples,
        seed=seed,
        exhaustive=False,
        outcomes=None,
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
    )
