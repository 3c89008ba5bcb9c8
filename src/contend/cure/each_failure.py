"""What each switch and cable of a network would cost if it died, alone or with another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from contend.congestion import Simulation, half_width, simulate
from contend.errors import ContendError, ShortfallError, UsageError
from contend.fabric import Fabric, Rest, without_numbers
from contend.routes import all_to_all_load, compute, mended

_Part = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Failure:
    """What a fabric is without a switch, a cable, or two of them.

    Attributes:
        parts: what died: ``switch`` or ``cable``, and its number.
        name: in words, as ``--without`` takes it.
        hosts: that are gone with it or cut off.
        changed: table entries that had to change.
        bandwidth: what random pairs of the hosts that are left get, as a share of a link's rate.
        change: against the whole fabric, by the same pairs; below 0 is a loss.
        margin: half of the 95 % interval of `change`; infinite where the pairs are others, as
            hosts are gone.
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
        return abs(self.change - other.change) <= max(_known(self.margin), _known(other.margin))


def _known(margin: float) -> float:
    return margin if np.isfinite(margin) else 0.0


@dataclass(frozen=True, eq=False)
class Failures:
    """Every switch and cable alone, then pairs of the worst.

    Attributes:
        fabric: whole.
        whole: what random pairs get while all is well.
        alone: one failure at a time, the worst first.
        pairs: two of the worst at a time, the worst first.
        engine: that computed tables anew for the worst; "" for none.
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

    Each time tables are mended (see `contend.routes.mended`) and the same random pairs of hosts
    are counted; what no route uses is known to cost nothing. Those that cost most without cutting
    hosts off are then routed anew, and joined in pairs.

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
    judge = _Judge(fabric, whole, _used(fabric))
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


@dataclass(frozen=True, eq=False)
class _Used:
    """What any route uses."""

    cable: NDArray[np.bool_]
    switch: NDArray[np.bool_]


def _used(fabric: Fabric) -> _Used:
    cable: NDArray[np.bool_] = all_to_all_load(fabric).reshape(-1, 2).max(axis=1) > 0
    switch = np.zeros(fabric.switches, dtype=bool)
    switch[fabric.host_switch] = True
    switch[fabric.cable_from[cable]] = True
    switch[fabric.cable_to[cable]] = True
    return _Used(cable, switch)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Lets parts of a fabric die, and counts what that costs."""

    fabric: Fabric
    whole: Simulation
    used: _Used

    def __call__(self, parts: Sequence[_Part]) -> Failure:
        name = " and ".join(self._name(*part) for part in parts)
        if not any(self._is_used(*part) for part in parts):
            whole = self.whole.effective_bandwidth
            return Failure(tuple(parts), name, 0, 0, whole, 0.0, 0.0)
        rest = self._rest(parts)
        if rest is None:
            gone = self.fabric.hosts
            return Failure(tuple(parts), name, gone, 0, 0.0, -self.whole.effective_bandwidth, 0.0)
        left, changed = mended(self.fabric, rest)
        counted = self._count(left)
        differences = counted.bandwidth[: self.whole.samples] - self.whole.bandwidth
        hosts = self.fabric.hosts - left.hosts
        margin = float("inf") if hosts else half_width(differences)
        bandwidth = counted.effective_bandwidth
        change = bandwidth - self.whole.effective_bandwidth
        return Failure(tuple(parts), name, hosts, int(changed.sum()), bandwidth, change, margin)

    def rerouted(self, failure: Failure, engine: str) -> Failure:
        """A failure with what an engine makes of the rest; None where it refuses."""
        rest = self._rest(failure.parts)
        if rest is None:
            return failure
        try:
            counted = self._count(compute(rest.fabric, engine))
        except ShortfallError:
            return failure
        return replace(failure, rerouted=counted.effective_bandwidth)

    def _rest(self, parts: Sequence[_Part]) -> Rest | None:
        """What is left; None where no two hosts are."""
        numbers = {what: [n for kind, n in parts if kind == what] for what in ("switch", "cable")}
        try:
            rest = without_numbers(self.fabric, switches=numbers["switch"], cables=numbers["cable"])
        except ContendError:
            return None
        return rest if rest.fabric.hosts > 1 else None

    def _count(self, fabric: Fabric) -> Simulation:
        """The same patterns, on one thread: failures are judged side by side."""
        return simulate(
            fabric, "bisect", samples=self.whole.samples, seed=self.whole.seed, threads=1
        )

    def _is_used(self, what: str, number: int) -> bool:
        return bool((self.used.switch if what == "switch" else self.used.cable)[number])

    def _name(self, what: str, number: int) -> str:
        fabric = self.fabric
        if what == "switch":
            return fabric.switch_label[number]
        end = int(fabric.cable_from[number])
        return f"{fabric.switch_label[end]}:{int(fabric.cable_from_port[number])}"
