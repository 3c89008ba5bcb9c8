"""Simulation: samples of a pattern on a fabric, counted batch by batch until enough is known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.progress import FineProgress, Progress, shown_progress, told
from contend.base.units import parse_share, valued
from contend.congestion.drawing import (
    PatternSource,
    PlacementSource,
    Seating,
    arrange,
    check_seed,
    draw_patterns,
    seat,
    taking_part,
)
from contend.congestion.messages import channels_of_fabric
from contend.congestion.processes import (
    Communicator,
    SimulationInterrupted,
    agree,
    end_all,
    gather,
    part_of,
    thread_count,
)
from contend.congestion.rates import LinkRates, link_rates, rated
from contend.congestion.seats import bytes_until_last
from contend.congestion.simulation.channels import (
    AskedChannels,
    ChannelUsers,
    PlacedChannels,
    routes_across,
)
from contend.congestion.simulation.samples import SamplePlan, Totals, plan_samples
from contend.congestion.simulation.simulation import Simulation
from contend.fabric import Fabric
from contend.routes import ONE_WAY, Ways, make_resolver
from contend.routes.addresses import machine_memory
from contend.traffic.pattern import Pattern
from contend.traffic.placement import HostChoice, Placement

# Samples of messages that count by their bytes: a look at each channel of each.
_MOST_WEIGHED = 16

_Drawn: TypeAlias = tuple[_core.Resolver, _core.Pattern, _core.Seating, _core.Samples]


def simulate(
    fabric: Fabric,
    pattern: PatternSource = "bisect",
    *,
    placement: PlacementSource = "random",
    hosts: HostChoice | None = None,
    ranks_per_host: int = 1,
    ranks: int | None = None,
    samples: int | None = None,
    precision: float | str | None = None,
    exhaustive: bool = False,
    seed: int = 1,
    threads: int | None = None,
    spread: bool = False,
    rate: float | str | None = None,
    equal_rates: bool = False,
    channels: Sequence[str | int] = (),
    progress: bool | Progress | None = False,
    communicator: Communicator | None = None,
) -> Simulation:
    """Counts the congestion of a pattern on a fabric.

    Args:
        fabric: with routes.
        pattern: a specification such as ``bisect`` or ``shift:3`` (see `contend.pattern.FORMS`), a
            `contend.Pattern`, or the rank that every rank sends to, shape [ranks] or
            [rounds, ranks].
        placement: which rank runs on which host: a specification, of which ``random`` draws another
            one for every sample, a `contend.Placement`, or the host of every rank by number or
            name.
        hosts: those that take part: how many, a specification, or hosts by number or name; None is
            all.
        ranks_per_host: ranks that share a host.
        ranks: number of ranks; None fills the placement.
        samples: how many patterns and placements to draw; None: until `precision` is reached.
        precision: relative half-width of the 95 % interval to stop at, such as 0.01 or ``"1%"``;
            None with `samples` None is 0.001, or 0.01 once counting has lasted some seconds.
            Whatever comes first ends the simulation.
        exhaustive: count every outcome instead of drawing some.
        seed: of all random choices; the same seed gives the same result on any number of threads.
        threads: None: one per core that this process may use. Never more than four a core.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        rate: bytes per second of every link, or words such as ``100Gbit/s`` or ``4xNDR``, or rates
            of kinds of cables, such as ``hosts=400GbE,switches=800GbE,level3=1.6Tbit/s``; None for
            the fabric's own. Where these differ, messages are weighed by them.
        equal_rates: count all links alike, whatever they carry.
        channels: see who uses these: a port of a switch (``spine 3:12``) or a host, both directions
            of its cable; the number of a channel; ``hottest`` or ``hottest:N``, between switches.
            ``channels`` of the result has them.
        progress: True shows a bar; a function is called with the samples done and those to do.
        communicator: shares the samples out over MPI processes, such as ``mpi4py.MPI.COMM_WORLD``;
            everyone gets the whole result.

    Raises:
        UsageError: fabric, pattern and placement do not fit together.
        OtherProcessError: another process of the communicator failed.
        SimulationInterrupted: after an interrupt, or what else ends the program; it holds what was
            counted until then.
    """
    started = time.perf_counter()
    wanted = valued(precision, parse_share)
    fabric, bytes_per_second = rated(fabric, rate)

    def prepare() -> tuple[_Count, AskedChannels]:
        check_seed(seed)
        asked = AskedChannels.of(fabric, channels)
        sent, placed = arrange(fabric, pattern, placement, hosts, ranks_per_host, ranks)
        seating = seat(sent, placed)
        asking = (samples, wanted, exhaustive)
        plan = plan_samples(sent, placed, seating, *asking, drawn=fabric.draws_routes)
        rates = link_rates(fabric, seating.hosts, rate=bytes_per_second, equal=equal_rates)
        resolver = make_resolver(
            fabric,
            seating.hosts,
            spread=spread,
            messages=plan.most * sent.rounds * sent.ranks,
            follows=~Ways.TOGETHER if asked else ~ONE_WAY,
        )
        if asked and resolver.splits:
            asked.expect_room(fabric, seating.hosts)
        plan = plan.working(_work_of_sample(sent, resolver))
        total = Totals(sent.rounds, len(seating.hosts) * 2 + 2 * fabric.cables)
        how = (seating, plan, seed, rates, started, resolver, total)
        return _Count(fabric, sent, placed, *how), asked

    count, asked = agree(communicator, prepare)
    workers = thread_count(threads, communicator)
    try:
        with shown_progress(progress, fabric.name, "samples") as tell:
            count.run(workers, communicator, tell, told_within=not callable(progress))
        if asked:
            count.see_users(asked, workers, communicator)
    except (KeyboardInterrupt, SystemExit) as reason:
        end_all(communicator)
        if count.total.samples == 0:
            raise
        raise SimulationInterrupted(count.result()) from reason
    return count.result()


@dataclass
class _Count:
    """One simulation under way."""

    fabric: Fabric
    pattern: Pattern
    placement: Placement
    seating: Seating
    plan: SamplePlan
    seed: int
    rates: LinkRates
    started: float
    resolver: _core.Resolver
    total: Totals
    users: tuple[ChannelUsers, ...] = ()

    def run(
        self,
        threads: int,
        communicator: Communicator | None,
        progress: FineProgress,
        *,
        told_within: bool,
    ) -> None:
        """Counts batch after batch until the plan is fulfilled, telling `progress` of each.

        Where `told_within`, also of what is done of a batch: a large sample can take an hour.
        """
        bandwidth = np.zeros(0)
        threads = self._fitting(threads)
        for first, size in self.plan.batches(self._batch_size()):
            expected = max(self.plan.expected(bandwidth), first + size)
            tell = partial(_tell_part, progress, first, size, expected)
            with told(tell) if told_within else nullcontext():
                self.total.add(self._batch(first, size, threads, communicator))
            bandwidth = self.total.bandwidth
            progress(self.total.samples, self.plan.expected(bandwidth))
            if self.plan.reached(bandwidth):
                break

    def _batch_size(self) -> int:
        """Samples a batch: about a tenth of a second's work, the same on every machine.

        Where a few take longer than that, two, so that progress shows and threads share them.
        """
        work = _work_of_sample(self.pattern, self.resolver)
        least = 16 if work <= 1 << 25 else 2
        return min(max((1 << 25) // max(work, 1), least), 1 << 16)

    def _fitting(self, threads: int) -> int:
        """So many threads, or fewer where memory has no room for what each keeps of a round."""
        each = self.resolver.bytes_of_round
        room = machine_memory() - self.resolver.bytes
        return max(min(threads, room // each), 1) if each else threads

    def _batch(
        self, first: int, size: int, threads: int, communicator: Communicator | None
    ) -> list[dict[str, Any]]:
        """Results of one batch, in the order of samples: one for every process."""
        begin, end = part_of(first, size, communicator)
        return gather(
            communicator,
            lambda: _core.simulate(*self._drawn(begin, end), threads, self.rates.by_place),
        )

    def see_users(
        self, asked: AskedChannels, threads: int, communicator: Communicator | None
    ) -> None:
        """Draws all samples once more, and sees who uses some channels in them."""
        seating, fabric, rounds = self.seating, self.fabric, self.pattern.rounds
        heats = self.rates.heat(self._on_channels())
        placed = PlacedChannels.on(fabric, seating.hosts, asked.among(fabric, heats))
        slowness = self.rates.heat(np.ones(fabric.channels))
        messages = np.zeros((2, len(placed.channels), fabric.hosts))
        for first in range(0, self.total.samples, self._batch_size()):
            size = min(self._batch_size(), self.total.samples - first)
            begin, end = part_of(first, size, communicator)
            for unit, *both in gather(
                communicator, partial(self._users_in, placed, begin, end, threads)
            ):
                messages += [placed.by_host(column) / unit for column in both]
        sources, targets = messages / (self.total.samples * rounds)
        from_hosts, to_hosts = routes_across(placed, self.resolver, self.seed, threads)
        routes = len(seating.hosts) * (len(seating.hosts) - 1)
        self.users = tuple(
            ChannelUsers(
                fabric=fabric,
                channel=channel,
                sources=sources[row],
                targets=targets[row],
                source_routes=from_hosts[row],
                target_routes=to_hosts[row],
                routes_in_all=routes,
                slowness=float(slowness[channel]),
            )
            for row, channel in enumerate(placed.channels)
        )

    def _users_in(
        self, placed: PlacedChannels, begin: int, end: int, threads: int
    ) -> tuple[int, NDArray[np.uint64], NDArray[np.uint64]]:
        """What a message counts for, and those across channels by source and by target."""
        return _core.channel_users(
            *self._drawn(begin, end), threads, placed.numbers, self.rates.by_place
        )

    def _drawn(self, begin: int, end: int) -> _Drawn:
        """Some samples as the core takes them: the same numbers draw the same messages."""
        samples = _core.Samples(self.seed, begin, end - begin, self.plan.enumerate)
        return self.resolver, self.pattern.core, self.seating.core, samples

    def _on_channels(self) -> NDArray[np.uint64]:
        """Messages on every channel of the fabric so far."""
        return channels_of_fabric(self.fabric, self.seating.hosts, self.total.channel_messages)

    def result(self) -> Simulation:
        """What has been counted so far."""
        fabric, pattern, total = self.fabric, self.pattern, self.total
        largest = int(np.flatnonzero(total.histogram)[-1]) if total.histogram.any() else 0
        # A round that never has a message has no congestion either.
        with_messages = np.maximum(total.round_samples, 1)
        round_max = total.round_max / with_messages / self.resolver.unit
        round_time = total.round_max_time / with_messages
        host_share, host_rate = self._of_hosts()
        return Simulation(
            fabric=fabric,
            engine=fabric.routes.engine if fabric.routes is not None else "",
            pattern=pattern.name,
            placement=self.placement.name,
            ranks=pattern.ranks,
            samples=total.samples,
            seed=self.seed,
            # After an interrupt some outcomes may be missing.
            exhaustive=self.plan.enumerate and total.samples == self.plan.most,
            patterns_exist=self.plan.outcomes,
            scale=pattern.scale,
            several_at_once=pattern.several_at_once,
            host_share=host_share,
            host_rate=host_rate,
            bandwidth=total.bandwidth,
            mean_congestion=total.column("mean_congestion"),
            max_congestion=total.column("max_congestion"),
            round_mean_congestion=total.round_mean * _core.MEAN_UNIT / with_messages,
            round_max_congestion=round_max,
            histogram=total.histogram[: largest + 1],
            bins_of_message=self.resolver.bins_of_message,
            round_max_seconds_per_byte=self.rates.seconds_per_byte(
                round_max, round_time, fabric.cables
            ),
            channel_load=self._on_channels()
            / (total.samples * pattern.rounds * self.resolver.unit),
            taking_part=taking_part(self.seating, pattern.ranks),
            ranks_per_slot=self.seating.ranks_per_slot,
            left_out=self.placement.left_out,
            channels=self.users,
            links=self.rates.links,
            port_rate=self.rates.port,
            relative_rates=self.rates.relative,
            heat_unit=self.rates.unit,
            heat_assumes=self.rates.assumed,
            **total.further(),
            elapsed_s=time.perf_counter() - self.started,
            drawing_s=total.drawing_s,
            counting_s=total.counting_s,
            gap=total.gap,
            messages=self._messages(),
        )

    def _of_hosts(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """What hosts get until the last message is done, by bytes where messages have some."""
        if not self.pattern.core.weighted:
            return self.total.of_hosts
        routes = self.fabric.routes
        ways = ONE_WAY if routes is None else routes.ways
        if ways & (Ways.DRAWN | Ways.EVERYWHERE) or Ways.TOGETHER in ways & ~Ways.SOLVED:
            return np.zeros(0), None
        alike = len(self.rates.by_place) == 0
        rate = (self.rates.port or 1.0) if alike else None
        few = min(self.total.samples, _MOST_WEIGHED) if self.seating.random else 1
        drawn = draw_patterns(
            self.fabric, self.pattern, placement=self.placement, seed=self.seed, count=few
        )
        found = [bytes_until_last(self.fabric, self.pattern, one.hosts, rate=rate) for one in drawn]
        share, carried = (np.array(column) for column in zip(*found, strict=True))
        return share, None if alike else carried

    def _messages(self) -> int:
        """Number of messages, which is not what the histogram holds when bytes weigh them."""
        pattern = self.pattern
        if not pattern.core.weighted:
            return int(self.total.histogram.sum())
        of_sample = sum(len(pattern.messages(number)[0]) for number in range(pattern.rounds))
        return self.total.samples * of_sample


def _work_of_sample(pattern: Pattern, resolver: _core.Resolver) -> int:
    """Looks at channels, roughly: 2^28 take about a second of one core."""
    of_messages = pattern.core.messages_expected * resolver.stride
    return of_messages + pattern.rounds * resolver.work_of_round


def _tell_part(progress: FineProgress, first: int, size: int, expected: int, share: float) -> None:
    progress(first + share * size, expected)
