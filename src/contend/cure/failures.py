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


class _Judge:
    """Lets parts of a fabric die, and counts what that costs."""

    def __init__(self, fabric: Fabric, whole: Simulation) -> None:
        self._fabric = fabric
        self._whole = whole
        # Who sits where, as the simulation drew it.
        drawn = next(draw_patterns(fabric, "bisect", seed=whole.seed))
        self._core = _core.make_failure_judge(
            fabric.core,
            targets_of(fabric),
            fitted_ports(fabric, tables_of(fabric).ports),
            parse("bisect", drawn.ranks).core,
            drawn.hosts,
            whole.seed,
            whole.samples,
            whole.exhaustive,
            link_rates(fabric, drawn.hosts).by_place,
        )

    def __call__(self, parts: Sequence[_Part]) -> Failure:
        name = " and ".join(self._name(*part) for part in parts)
        left, changed, before, after = self._core.judge(
            _numbers(parts, "switch"), _numbers(parts, "cable")
        )
        if left < 2:
            lost = -self._whole.effective_bandwidth
            return Failure(tuple(parts), name, self._fabric.hosts, 0, 0.0, lost, 0.0)
        differences = after - before
        return Failure(
            parts=tuple(parts),
            name=name,
            hosts=self._fabric.hosts - left,
            changed=changed,
            bandwidth=float(after.mean()),
            change=float(differences.mean()),
            margin=half_width(differences),
        )

    def rerouted(self, failure: Failure, engine: str) -> Failure:
        """A failure with what an engine makes of the rest; None where it refuses."""
        try:
            rest = without_numbers(
                self._fabric,
                switches=_numbers(failure.parts, "switch"),
                cables=_numbers(failure.parts, "cable"),
            )
            if rest.fabric.hosts < 2:
                return failure
            routed = compute(rest.fabric, engine)
        except (ShortfallError, UsageError):
            return failure
        return replace(failure, rerouted=self._count(routed, rest))

    def _count(self, routed: Fabric, rest: Rest) -> float:
        """What the same messages get on newly made tables, those whose ends are left."""
        number = np.full(self._fabric.hosts, -1)
        number[_hosts_left(self._fabric, rest)] = np.arange(rest.fabric.hosts)
        rounds = []
        for sample in range(self._whole.samples):
            source, target = (number[ends] for ends in self._core.messages(sample))
            left = (source >= 0) & (target >= 0)
            rounds.append((source[left], target[left]))
        placed = place_messages(routed, rounds)
        rates = link_rates(routed, placed.hosts).by_place
        means = []
        for messages in placed.rounds:
            _, share, _ = _core.message_congestion(placed.resolver, *messages, rates)
            means.append(float(share.mean()) if len(share) else 1.0)
        return float(np.mean(means))

    def _name(self, what: str, number: int) -> str:
        fabric = self._fabric
        if what == "switch":
            return fabric.switch_label[number]
        end = int(fabric.cable_from[number])
        return f"{fabric.switch_label[end]}:{int(fabric.cable_from_port[number])}"


def _numbers(parts: Sequence[_Part], kind: str) -> list[int]:
    return [number for what, number in parts if what == kind]


def _hosts_left(fabric: Fabric, rest: Rest) -> NDArray[np.int64]:
    """Numbers that the hosts which are left had before, in their order; ports tell them apart."""
    ports = int(fabric.host_port.max()) + 1
    before = fabric.host_switch.astype(np.int64) * ports + fabric.host_port
    after = rest.switches[rest.fabric.host_switch] * ports + rest.fabric.host_port
    return np.flatnonzero(np.isin(before, after))
