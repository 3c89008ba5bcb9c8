"""Simulations made by hand, whose figures are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from contend.congestion import Simulation
from contend.fabric import Fabric
from contend.report import ResultTable
from small_fabrics import by_hand

MakeSimulation = Callable[..., Simulation]


def titled(tables: Iterable[ResultTable], start: str) -> ResultTable:
    """The first table whose title begins so."""
    return next(table for table in tables if table.title.startswith(start))


@pytest.fixture
def make_simulation(duo: Fabric) -> MakeSimulation:
    """Four samples of one round: bandwidths 0.4 .. 0.7, mean π 2 and 4, largest π 5 and 10."""

    def make(name: str = "duo", rounds: int = 1, **changes: Any) -> Simulation:
        settings: dict[str, Any] = {
            "fabric": duo.replace(name=name),
            "engine": "opensm:updn",
            "pattern": "bisect",
            "placement": "random",
            "ranks": 4,
            "samples": 4,
            "seed": 7,
            "exhaustive": False,
            "patterns_exist": 12,
            "scale": 1.0,
            "bandwidth": np.array([0.4, 0.5, 0.6, 0.7]),
            "mean_congestion": np.array([2.0, 2.0, 4.0, 4.0]),
            "max_congestion": np.array([5.0, 5.0, 10.0, 10.0]),
            "round_mean_congestion": np.full(rounds, 3.0),
            "round_max_congestion": np.full(rounds, 7.5),
            "histogram": np.array([0, 6, 3, 0, 1], dtype=np.uint64),
            "channel_load": np.array([0.5, 2.5, 0.5, 0.0, 1, 1, 1, 1, 1, 1, 1, 1]),
            "elapsed_s": 0.5,
            "drawing_s": 0.1,
            "counting_s": 0.3,
            "messages": 10,
            "taking_part": np.arange(4, dtype=np.uint32),
        }
        return Simulation(**{**settings, **changes})

    return make


@pytest.fixture(scope="session")
def duo() -> Fabric:
    """Two switches, two cables between them, two hosts each: twelve channels."""
    return by_hand(
        "duo",
        [["a", "b"], ["c", "d"]],
        [(0, 3, 1, 3), (0, 4, 1, 4)],
        switches=["left", "ri[red]ght"],
    )
