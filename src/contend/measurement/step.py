"""The launches of a measurement and their order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contend.measurement.shape import Shape
from contend.mpi import Library


@dataclass(frozen=True)
class Step:
    """One launch.

    Attributes:
        series: which library's, counted from 0.
        number: of the launch within its run.
        round: how often its shape was launched before.
        shape: ranks and hosts.
        seed: decides the order of the probe's cells.
    """

    series: int
    number: int
    round: int
    shape: Shape
    seed: int


@dataclass(frozen=True)
class Plan:
    """All launches of a measurement in their order.

    Attributes:
        probe: its name.
        libraries: those that are measured; several are compared side by side.
        steps: what is to be launched, without what an earlier part of the run has done.
        budget: seconds for all of them.
        folder: where the runs are kept.
    """

    probe: str
    libraries: tuple[Library, ...]
    steps: tuple[Step, ...]
    budget: float
    folder: Path


def make_steps(series: int, shapes: Sequence[Shape], rounds: int, seed: int) -> tuple[Step, ...]:
    """Every shape under every library, as often as there are rounds.

    Each round comes in an order of its own, so that libraries and shapes take turns and whatever
    changes slowly on the machine strikes all alike.
    """
    steps = []
    for turn in range(rounds):
        order = [(which, place) for which in range(series) for place in range(len(shapes))]
        random.Random(f"{seed} {turn}").shuffle(order)
        for which, place in order:
            number = turn * len(shapes) + place
            # From 1: 0 would mean the order that is written.
            cells = 1 + random.Random(f"{seed} {which} {number}").getrandbits(31)
            steps.append(Step(which, number, turn, shapes[place], cells))
    return tuple(steps)
