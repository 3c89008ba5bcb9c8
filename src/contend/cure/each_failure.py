"""What each switch and cable of a network would cost if it died, alone or with another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations

from contend.congestion import FailureJudge, Simulation, half_width, simulate
from contend.errors import ShortfallError, UsageError
from contend.fabric import Fabric, without_numbers
from contend.routes import compute

_Part = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Failure:
    """What a fabric is without a switch, a cable, or two of them.

    Attributes:
        parts: what died: ``switch`` or ``cable``, and its number.
        name: in words, as ``--without`` takes it.
        hosts: that are gone with it or cut off.
        changed: table entries that had to change.
        bandwidth: what random pairs get of which both hosts are left, as a share of a link's rate;
            0 where fewer than two hosts are.
        change: against what these pairs get on the whole fabric, also without the others; below 0
            is a loss. Hosts that are gone send nothing either time, so that only what the network
            lost counts.
        margin: half of the 95 % interval of `change`.
        rerouted: what they get when an engine computes all tables anew; None where it was not
            tried.
    """

    parts: tuple[_Part, ...]
    name: str
    hosts: int
    changed: int
    bandwidth: float
    change: float
    margin: float
    rerouted: float | None = None

    def ties(self, other: Failure) -> bool:
        """Whether the patterns do not tell which of two is worse."""
        if self.hosts != other.hosts:
            return False
        return abs(self.change - other.change) <= max(self.margin, other.margin)


@dataclass(frozen=True, eq=False)
class Failures:
    """Every switch and cable alone, then pairs of the worst.

    Attributes:
        fabric: whole.
        whole: what random pairs get while all is well.
        alone: one failure at a time, the worst first.
        pairs: two of the worst at a time, the worst first.
        engine: that computed tables anew for the worst.
    """

    fabric: Fabric
    whole: Simulation
    alone: tuple[Failure, ...]
    pairs: tuple[Failure, ...]
    engine: str


def failures(
    fabric: Fabric,
    *,
    samples: int = 200,
    seed: int = 1,
    worst: int = 10,
    engine: str = "contend",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Failures:
    """Lets every switch and every cable between switches die alone, then pairs of the worst.

    Each time tables are mended (see `contend.routes.mended`), and the same random pairs of hosts
    are counted: what the pairs that are left get, before and after. Only what a failure changes is
    looked at anew, so it takes milliseconds. Those that cost most without cutting hosts off are
    then routed anew, and joined in pairs. Memory: as `contend.congestion.FailureJudge`.

    Args:
        fabric: with routes.
        samples: patterns of random pairs that each is judged by.
        seed: of the patterns, the same for all.
        worst: how many are.
        engine: that routes the worst anew.
        threads: how many failures are judged at a time; None: as many as there are cores.
        progress: told how many are judged, of how many.

    Raises:
        UsageError: the fabric has no routes or they do not arrive, or no such engine.
    """
    if samples < 2:
        raise UsageError(f"samples: expected at least 2, got {samples}")
    whole = simulate(fabric, "bisect", samples=samples, seed=seed)
    parts: list[_Part] = [("switch", number) for number in range(fabric.switches)]
    parts += [("cable", number) for number in range(fabric.cables)]
    judge = _Judge(fabric, whole)
    together = worst * (worst - 1) // 2
    total, done = len(parts) + together + worst, 0

    def told(each: Iterator[Failure]) -> list[Failure]:
        nonlocal done
        found = []
        for failure in each:
            found.append(failure)
            done += 1
            if progress is not None:
                progress(done, total)
        return sorted(found, key=_badness)

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        alone = told(pool.map(judge, ([part] for part in parts)))
        cutting = [failure for failure in alone if failure.hosts]
        costly = alone[len(cutting) :]
        ends = [failure.parts[0] for failure in costly[:worst]]
        pairs = told(pool.map(judge, map(list, combinations(ends, 2))))
        rerouted = list(pool.map(lambda one: judge.rerouted(one, engine), costly[:worst]))
    alone = [*cutting, *rerouted, *costly[worst:]]
    return Failures(fabric, whole, tuple(alone), tuple(pairs), engine)


def _badness(failure: Failure) -> tuple[int, float, str]:
    """Hosts lost first, then bandwidth."""
    return -failure.hosts, failure.change, failure.name


class _Judge:
    """Lets parts of a fabric die, and counts what that costs."""

    def __init__(self, fabric: Fabric, whole: Simulation) -> None:
        self._fabric = fabric
        self._whole = whole
        self._costs = FailureJudge(fabric, whole)

    def __call__(self, parts: Sequence[_Part]) -> Failure:
        name = " and ".join(self._name(*part) for part in parts)
        cost = self._costs.judge(_numbers(parts, "switch"), _numbers(parts, "cable"))
        if cost.hosts_left < 2:
            lost = -self._whole.effective_bandwidth
            return Failure(tuple(parts), name, self._fabric.hosts, 0, 0.0, lost, 0.0)
        differences = cost.after - cost.before
        return Failure(
            parts=tuple(parts),
            name=name,
            hosts=self._fabric.hosts - cost.hosts_left,
            changed=cost.changed,
            bandwidth=float(cost.after.mean()),
            change=float(differences.mean()),
            margin=half_width(differences),
        )

    def rerouted(self, failure: Failure, engine: str) -> Failure:
        """A failure that leaves all hosts, with what an engine makes of the rest.

        None where the engine refuses.
        """
        rest = without_numbers(
            self._fabric,
            switches=_numbers(failure.parts, "switch"),
            cables=_numbers(failure.parts, "cable"),
        )
        try:
            anew = compute(rest.fabric, engine)
        except ShortfallError:
            return failure
        # On one thread: failures are judged side by side.
        whole = self._whole
        counted = simulate(anew, "bisect", samples=whole.samples, seed=whole.seed, threads=1)
        return replace(failure, rerouted=counted.effective_bandwidth)

    def _name(self, what: str, number: int) -> str:
        fabric = self._fabric
        if what == "switch":
            return fabric.switch_label[number]
        end = int(fabric.cable_from[number])
        return f"{fabric.switch_label[end]}:{int(fabric.cable_from_port[number])}"


def _numbers(parts: Sequence[_Part], kind: str) -> list[int]:
    return [number for what, number in parts if what == kind]
