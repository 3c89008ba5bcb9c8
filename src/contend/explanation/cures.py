"""What other seats and other routes would save a profiled program, and the commands for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from shlex import join, quote

import numpy as np
from numpy.typing import NDArray

from contend.congestion import channel_bytes
from contend.cure import place
from contend.errors import ContendError, UsageError
from contend.explanation.profiled import ProfileSource
from contend.fabric import Fabric
from contend.placement import parse
from contend.prediction import PredictionConditions, Recorded, held_against, program_of, run_time
from contend.routes import compute, fewest_collisions

ENGINES = ("dmodk", "updn", "minhop", "contend")
"""Engines that are tried on the ranks' hosts."""
MOST_HOSTS = 4096
"""Of a fabric whose routes are computed to see what they would save."""
_OWN = "contend"
# Of the run time: what saves less is no cure.
_WORTH_IT = 0.02
# What saves no more than so many times as much is not worth a rarer way.
_CLEARLY = 1.05


@dataclass(frozen=True, eq=False)
class Cure:
    """A change of the fabric's routes or of the ranks' hosts.

    Attributes:
        advice: what it is, for people.
        command: that makes it.
        seconds: of run time that it saves.
    """

    advice: str
    command: str
    seconds: float


def named(fabric: Fabric) -> str:
    """The words that load a fabric in a command."""
    return join(fabric.command_line[0] or (fabric.name,))


def routed_by(engine: str, fabric: Fabric) -> str:
    """The command that makes the tables of an engine, or shows what they are worth."""
    if engine == _OWN:
        return f"contend route {named(fabric)} -o better.lfts"
    return f"contend fabric check {named(fabric)} --route {engine}"


def fewer_leaves(fabric: Fabric, hosts: NDArray[np.integer]) -> str:
    """The command that lists as many hosts on the fewest leaves; for cables where these are."""
    count = len(np.unique(hosts))
    most = int(np.bincount(fabric.host_switch).max())
    for leaves in range(-(-count // most), len(np.unique(fabric.host_switch[hosts]))):
        placement = "same-leaf" if leaves == 1 else f"leaves:{leaves}"
        try:
            parse(placement, fabric, ranks=count)
        except UsageError:
            continue
        return f"contend fabric hosts {named(fabric)} -n {count} --placement {placement}"
    return f"contend fabric improve {named(fabric)}"


class Cures:
    """What would save time between switches, each tried for what it saves.

    By the calibration the program is carried out again. Without one the fullest channel tells, that
    of a port included, for the bytes of the whole run.
    """

    def __init__(self, source: ProfileSource, again: Callable[[str], str]) -> None:
        """Cures of a profile.

        Args:
            source: its network and fabric are known.
            again: the command that profiles it once more with other options; "" where there is
                none.
        """
        fabric, network = source.fabric, source.network
        assert fabric is not None
        assert network is not None
        assert network.numbers is not None
        assert network.wire is not None
        self._source = source
        self._again = again
        self._fabric = fabric
        self._hosts = network.numbers
        self._wire = network.wire
        self._channel_rate = network.wire * np.repeat(network.cable_rates(fabric), 2)

    def best(self) -> tuple[Cure, ...]:
        """The best seats and the best routes, what saves most first; none that saves nothing."""
        worth = _WORTH_IT * self._source.profile.findings.run_s
        cures = (*self._seats(), *self._routes())
        return tuple(
            sorted((cure for cure in cures if cure.seconds > worth), key=lambda cure: -cure.seconds)
        )

    def _seats(self) -> Iterator[Cure]:
        hosts = self._hosts
        in_order = hosts[np.lexsort((hosts, self._fabric.host_switch[hosts]))]
        ordered = Cure(
            "Place ranks in the order of hosts, leaf by leaf.",
            self._again("--placement linear")
            or f"contend fabric hosts {self._named} -n {len(np.unique(hosts))} --placement linear",
            self._saved(self._fabric, in_order),
        )
        try:
            found = place(self._source.profile, self._fabric, rate=self._wire)
        except ContendError:
            yield ordered
            return
        routes = self._fabric.routes
        engine = "" if routes is None else routes.engine
        loaded, asked = self._fabric.command_line
        way = join(asked)
        if not way and not loaded:
            way = f"--route {quote(engine)}" if engine else "--routes FILE"
        better = Cure(
            "Place ranks that exchange much data where their routes share the fewest channels with "
            "others.",
            f"contend place {self._folder} {self._named} {way} -o rankfile",
            self._saved(self._fabric, found.placement.hosts.astype(np.int64)),
        )
        # The plain order is taken where the other saves hardly more.
        yield better if better.seconds > _CLEARLY * ordered.seconds else ordered

    def _routes(self) -> Iterator[Cure]:
        if self._fabric.hosts > MOST_HOSTS:
            return
        cures = [self._engine(engine) for engine in ENGINES]
        sent = self._source.profile.peers
        source, target = (self._hosts[sent[end].to_numpy()] for end in ("source", "destination"))
        demand = source, target, sent["bytes"].to_numpy().astype(np.float64)
        made = Cure(
            "Routes computed for this program's traffic.",
            f"contend report {self._folder} --matrix sent.npy && contend route {self._named} "
            "--for sent.npy -o better.lfts",
            self._saved(fewest_collisions(self._fabric, demand=demand), self._hosts),
        )
        known = max((cure for cure in cures if cure is not None), key=lambda cure: cure.seconds)
        yield made if made.seconds > _CLEARLY * known.seconds else known

    def _engine(self, engine: str) -> Cure | None:
        try:
            routed = compute(self._fabric, engine)
        except ContendError:
            return None
        return Cure(
            f"Routes by {engine}.",
            self._again(f"--route {engine}") or routed_by(engine, self._fabric),
            self._saved(routed, self._hosts),
        )

    @property
    def _folder(self) -> str:
        return quote(str(self._source.profile.folder))

    @property
    def _named(self) -> str:
        return named(self._fabric)

    def _saved(self, fabric: Fabric, hosts: NDArray[np.int64]) -> float:
        return self._now - self._seconds(fabric, hosts)

    @cached_property
    def _now(self) -> float:
        return self._seconds(self._fabric, self._hosts)

    def _seconds(self, fabric: Fabric, hosts: NDArray[np.int64]) -> float:
        """Of the run by the calibration, else what the fullest channel takes."""
        if self.recorded is not None:
            return run_time(self.recorded, self._where(fabric, hosts))
        sent = self._source.profile.peers
        source, target = (hosts[sent[end].to_numpy()] for end in ("source", "destination"))
        apart = source != target
        through = channel_bytes(
            fabric, source[apart], target[apart], sent["bytes"].to_numpy()[apart]
        )
        rates = np.full(len(through), self._wire)
        rates[: len(self._channel_rate)] = self._channel_rate
        return float((through / rates).max(initial=0.0))

    @cached_property
    def recorded(self) -> Recorded | None:
        """The program as a schedule; None without a calibration, or where that is not possible."""
        calibration = self._source.calibration
        if calibration is None:
            return None
        profile = self._source.profile
        try:
            program = program_of(profile, calibration.copy_per_byte_s)
            where = self._where(self._fabric, self._hosts)
            return held_against(program, profile.findings.within_s, where)
        except ContendError:
            return None

    def _where(self, fabric: Fabric, hosts: NDArray[np.int64]) -> PredictionConditions:
        calibration = self._source.calibration
        assert calibration is not None
        return PredictionConditions(fabric, hosts, calibration, self._wire, calibration.buffer)
