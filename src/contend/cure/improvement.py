"""Cables that make a pattern faster, chosen one after the other, and what each is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contend.base.errors import ArgumentError
from contend.base.progress import Progress, shown_progress
from contend.base.schema import PythonOnly, Rate, Share, Shown, told
from contend.base.units import counted
from contend.congestion import Communicator, Simulation, agree, core_threads
from contend.cure.added_cables import CableSearch
from contend.cure.purpose import ROUNDING, CollectiveGain, Purpose, gain_over
from contend.fabric import (
    Cable,
    Fabric,
    cable_ports,
    free_ports,
    with_ports,
)
from contend.routes import default_engine


@dataclass(frozen=True, kw_only=True)
class NewCable:
    """A new cable."""

    number: PythonOnly[int]
    """Its number in the fabric with it."""
    ends: tuple[str, str]
    """Switch and port of both ends, as ``--without`` takes them."""
    rate: str
    """Rate of the cable, such as ``4xHDR``; "" where it is not known."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Addition:
    """A cable, or several that gain together."""

    cables: tuple[NewCable, ...]
    """New cables, of which there are several where one alone gains nothing."""
    missing: bool
    """Whether similar pairs of switches have them already."""
    gain: Share
    """Growth of what the pattern gets, as `Improvement.before` counts it, by all of them."""
    margin: Share
    """Half of the 95 % interval of the gain, by the same patterns before and after; 0 where all
    outcomes were counted."""
    simulation: PythonOnly[Simulation]
    """What the pattern gets with these and all before them."""
    bandwidth: Share
    """What the pattern gets with these and all before them, as `Improvement.before` counts it."""
    rate_Bps: Rate | None
    """The same in bytes per second; null where rates of links are not known."""
    as_good: int
    """Number of other kinds of cables that the patterns could not distinguish from these when they
    were chosen."""
    tables: str
    """``kept`` but for few entries, or computed ``anew``."""

    @told
    def gain_of_each(self) -> Share:
        """Share of the gain that falls to each of the cables."""
        return self.gain / len(self.cables)

    @property
    def sure(self) -> bool:
        """Whether the patterns show a gain."""
        return self.gain > max(self.margin, ROUNDING)


@dataclass(frozen=True, eq=False, kw_only=True)
class Improvement(Shown, told="improvement_document"):
    """Cables that were chosen for a fabric, in their order."""

    fabric: Fabric
    """The fabric with the new cables, and with routes."""
    pattern: str
    """Pattern that was to get more bandwidth."""
    placement: str
    """Specification of its ranks' places."""
    samples: int
    """Number of its samples that were simulated."""
    engine: str
    """Engine that computed the routes before and after."""
    simulation_before: PythonOnly[Simulation]
    """What the pattern gets without the new cables, by routes of the same kind."""
    simulation_present: PythonOnly[Simulation | None]
    """What it gets by the tables in use; None where the fabric has none."""
    present: Share | None
    """What the pattern gets by the tables in use, as `before`; null where there are none."""
    before: Share
    """What the pattern gets by the engine's routes without the new cables: if ranks send several
    messages at once, what each host gets until its last is done, as a share of what its ports
    allow; else the effective bandwidth."""
    after: Share
    """What it gets with all of them."""
    gain: Share
    """Difference of `after` and `before`."""
    margin: Share
    """Half of the 95 % interval of the gain."""
    bound: Share | None
    """Upper bound, from cuts, for random pairs without the cables; null for other patterns."""
    asked: int
    """Number of cables that there were to spend."""
    missing: int
    """Number of cables that are missing: like pairs of switches have them."""
    free_ports: int
    """Number of free ports on all switches."""
    host_places: int
    """Number of these by which similar switches have hosts: only a missing cable takes one."""
    joinable: PythonOnly[int]
    """Number of pairs of switches that a cable was thought to help."""
    tried: int
    """Number of kinds of cables that were simulated."""
    additions: tuple[Addition, ...]
    """New cables, in their order."""

    collectives: tuple[CollectiveGain, ...] = ()
    """What GPUs get in collectives without and with the new cables; none unless the pattern was
    chosen because servers have adapters on several rails."""

    @property
    def simulation_after(self) -> Simulation:
        """What the pattern gets with all of them."""
        return self.additions[-1].simulation if self.additions else self.simulation_before

    @property
    def cables(self) -> int:
        """Number of cables."""
        return sum(len(addition.cables) for addition in self.additions)

    def __repr__(self) -> str:
        return (
            f"<Improvement of {self.simulation_before.fabric.name} by "
            f"{counted(self.cables, 'cable')}: {100 * self.before:.2f} to {100 * self.after:.2f} %>"
        )


def improve(
    fabric: Fabric,
    *,
    cables: int = 4,
    pattern: str | None = None,
    placement: str | None = None,
    engine: str | None = None,
    ports: int | None = None,
    samples: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress = False,
    communicator: Communicator | None = None,
) -> Improvement:
    """Chooses which free ports to join: what is missing first, then what gains most for a cable.

    Cables that are missing by the fabric's own symmetry (`contend.fabric.missing_cables`) are
    placed on the ports that similar switches use. Further ones join switches that are joined in the
    same way elsewhere in a tree: never two rails, pods or planes, nor a leaf that has few hosts.
    They are ranked by what routes meet on their way (see `Relief`); of the first that are not alike
    each is tried: tables for the fabric with it, and a simulation of the same patterns with and
    without. By the engine ``contend`` the tables before are kept but for entries of the switches at
    its ends, and for the best in trees and small fabrics also recomputed. A switch without cables
    is joined to several others at once, and one that has a free port for each switch below to all
    of them; where no cable gains alone, two that do so together are looked for. The gains are then
    counted with other patterns than they were chosen by.

    Args:
        fabric: whose routes count only for `Improvement.present`.
        cables: how many there are to spend.
        pattern: what is to get more bandwidth; see `contend.pattern.FORMS`. None, with `placement`:
            all-to-alls of GPUs within rails where servers have rails, else random pairs.
        placement: which rank runs on which host; None: at random.
        engine: that computes routes, before and after; None: ``contend``, on Ethernet ``ecmp``.
        ports: that every switch has at least, where the file does not tell.
        samples: that the figures are counted by; None: as many as `simulate` needs.
        seed: of every random choice.
        threads: how many fabrics are tried at a time; None: as many as there are cores.
        progress: True shows a bar; a function is told how much is done, in times of computing all
            tables once, of how much it may come to.
        communicator: shares out over MPI processes what is tried, as in `contend.simulate`.

    Raises:
        OtherProcessError: another process of the communicator failed.
        UsageError: no such engine, pattern or placement, or they do not fit the fabric.
        MissingError: the engine is not installed.
    """
    if cables < 1:
        raise ArgumentError("cables", f"expected at least 1, got {cables}")
    wide = with_ports(fabric, ports)
    engine = engine or default_engine(wide)
    with (
        shown_progress(progress, fabric.name, "") as tell,
        core_threads(threads, communicator) as workers,
    ):

        def prepare() -> CableSearch:
            purpose = Purpose.of(wide, pattern, placement, samples, seed, communicator)
            return CableSearch(wide, purpose, engine, cables, tell)

        search = agree(communicator, prepare)
        chosen = search.run(cables, workers)
    purpose = search.purpose
    after = purpose.count(chosen[-1].fabric, samples)
    exactly = after.samples
    counted = [purpose.count(each.fabric, exactly) for each in chosen[:-1]] + [after]
    additions = [
        Addition(
            cables=_new_cables(chosen[-1].fabric, each.cables),
            missing=each.missing,
            gain=gain,
            margin=margin,
            simulation=now,
            bandwidth=now.judged_share,
            rate_Bps=now.judged_Bps,
            as_good=each.alike,
            tables="anew" if each.anew else "kept",
        )
        for each, before, now in zip(chosen[1:], counted, counted[1:], strict=False)
        for gain, margin in [gain_over(before, now)]
    ]
    present = None if fabric.routes is None else purpose.count(fabric, exactly)
    gain, margin = gain_over(counted[0], after)
    name = f"{fabric.name} with {search.added}" if search.added else fabric.name
    return Improvement(
        fabric=chosen[-1].fabric.replace(name=name),
        pattern=purpose.pattern,
        placement=purpose.placement,
        samples=exactly,
        engine=engine,
        simulation_before=counted[0],
        simulation_present=present,
        present=None if present is None else present.judged_share,
        before=counted[0].judged_share,
        after=after.judged_share,
        gain=gain,
        margin=margin,
        bound=counted[0].random_pairs_bound if purpose.pattern == "bisect" else None,
        asked=cables,
        missing=search.missing,
        free_ports=(free := sum(map(len, free_ports(wide)))),
        host_places=free - sum(map(len, cable_ports(wide))),
        joinable=search.joinable,
        tried=search.tried,
        additions=tuple(additions),
        collectives=purpose.collectives(chosen[0].fabric, chosen[-1].fabric),
    )


def _new_cables(fabric: Fabric, cables: Sequence[Cable]) -> tuple[NewCable, ...]:
    """Cables of a fabric that has them, by the names of their ends."""
    number = {cable: number for number, cable in enumerate(fabric.cable_ends())}
    label = fabric.switch_label
    return tuple(
        NewCable(
            number=number[cable],
            ends=(f"{label[near]}:{near_port}", f"{label[far]}:{far_port}"),
            rate=fabric.rates[fabric.cable_rate[number[cable]]],
        )
        for cable in cables
        for near, near_port, far, far_port in [cable]
    )
