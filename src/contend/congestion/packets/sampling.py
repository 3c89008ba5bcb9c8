"""Packets under way together: what messages get where buffers fill, and who is held up by whom.

Counting says what a message must share, and is right in the mean for messages over one way each.
Packets say what becomes of it: a packet that waits for a busy channel holds up those behind it,
whatever channel these want, and one whose next buffer is full holds up the switch before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from itertools import islice

from contend.base.errors import ArgumentError
from contend.base.progress import Progress, shown_progress
from contend.base.units import parse_share, valued
from contend.congestion.drawing import (
    DrawnPattern,
    PatternSource,
    PlacementSource,
    arrange,
    check_seed,
    draw_patterns,
)
from contend.congestion.packets.model import (
    CABLE_LATENCY_S,
    SWITCH_LATENCY_S,
    PacketModel,
    Queues,
)
from contend.congestion.packets.result import (
    PacketSimulation,
    blocked_by_channel,
    packet_simulation,
    sample_means,
)
from contend.congestion.packets.rounds import PacketSample, carry_sample
from contend.congestion.processes import Communicator, SimulationInterrupted, core_threads
from contend.congestion.rates import rated
from contend.congestion.simulation.averages import half_width
from contend.congestion.simulation.channels import AskedChannels
from contend.fabric import Fabric
from contend.traffic.placement import HostChoice

DEFAULT_PRECISION = 0.01
_LEAST_SAMPLES, _MOST_SAMPLES = 8, 100_000


def simulate_packets(
    fabric: Fabric,
    pattern: PatternSource = "bisect",
    *,
    placement: PlacementSource = "random",
    hosts: HostChoice | None = None,
    ranks_per_host: int = 1,
    ranks: int | None = None,
    samples: int | None = None,
    precision: float | str | None = None,
    seed: int = 1,
    threads: int | None = None,
    spread: bool = False,
    rate: float | str | None = None,
    equal_rates: bool = False,
    channels: Sequence[str | int] = (),
    queues: Sequence[Queues | str] = tuple(Queues),
    buffer: int | str = "64KiB",
    mtu: int | str = "4KiB",
    message_bytes: int | str | None = None,
    switch_latency: float | str = SWITCH_LATENCY_S,
    cable_latency: float | str = CABLE_LATENCY_S,
    progress: bool | Progress | None = False,
    communicator: Communicator | None = None,
) -> PacketSimulation:
    """Carries a pattern out packet by packet, beside what counting says of the same messages.

    The network loses nothing: a packet leaves for a channel only when the buffer at its far end has
    room for it, and of several that wait for one channel the one that has waited longest goes
    first. Switches pass packets on as soon as their first bits are there (virtual cut-through).

    Args:
        fabric: with routes.
        pattern: as in `contend.simulate`, and so are the following.
        placement: which rank runs on which host.
        hosts: those that take part.
        ranks_per_host: ranks that share a host.
        ranks: number of ranks; None fills the placement.
        samples: how many patterns and placements to draw; None: until `precision` is reached. What
            is not random is carried out once.
        precision: relative half-width of the 95 % interval to stop at; None with `samples` None is
            0.01.
        seed: of all random choices.
        threads: None: one per core that this process may use.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        rate: as in `contend.simulate`.
        equal_rates: count all links alike, whatever they carry.
        channels: where to see who waits for what, as in `contend.simulate`; the hottest ones are
            those that are blocked most, and every sample is carried out twice for them.
        queues: how switches keep packets: ``fifo``, ``voq`` or both, which bracket real switches.
        buffer: bytes that the far end of every channel holds on each virtual lane; 0 for no limit.
        mtu: bytes of a packet.
        message_bytes: of every message, from its start until the last packet is there. Pairs that
            send both ways exchange such messages again and again, as `MPI_Sendrecv` does: the next
            when both are there. None: hosts send all the time, and the rate is that of the steady
            state.
        switch_latency: from a packet's first bit at a switch until it can leave it: seconds, or in
            words such as ``130ns``.
        cable_latency: seconds that bits take along a cable, and word of room back; or in words, by
            kind as `rate`: ``hosts=10ns,switches=50ns,level3=5us``.
        progress: True shows a bar; a function is called with the samples done and those to do.
        communicator: shares the samples out over MPI processes.

    Raises:
        UsageError: fabric, pattern and placement do not fit together, a size is no size, or no
            message leaves its host.
        SimulationInterrupted: after an interrupt; it holds the samples that were done.
    """
    started = time.perf_counter()
    check_seed(seed)
    wanted = valued(precision, parse_share)
    sent, placed = arrange(fabric, pattern, placement, hosts, ranks_per_host, ranks)
    model = PacketModel.of(queues, buffer, mtu, message_bytes, switch_latency, cable_latency)
    asked = AskedChannels.of(fabric, channels)
    watched: Sequence[int] = asked.numbers
    if not (sent.core.random or placed.random or fabric.draws_routes):
        samples = 1
    if samples is not None and samples < 1:
        raise ArgumentError("samples", f"expected at least 1, got {samples}")
    if wanted is not None and not 0 < wanted < 1:
        raise ArgumentError(
            "precision", f"expected a share between 0 and 100 %, got {100 * wanted:g} %"
        )
    most = samples or _MOST_SAMPLES
    precise = DEFAULT_PRECISION if samples is None and wanted is None else wanted
    draw = partial(draw_patterns, fabric, sent, placement=placed, seed=seed)
    patterns = draw(count=most)
    fabric, every_rate = rated(fabric, rate)
    done: list[PacketSample] = []

    def carry(drawn: DrawnPattern) -> PacketSample:
        return carry_sample(
            fabric,
            drawn,
            model,
            exchanges=sent.core.paired,
            spread=spread,
            rate=every_rate,
            equal=equal_rates,
            watched=watched,
        )

    def result() -> PacketSimulation:
        elapsed_s = time.perf_counter() - started
        return packet_simulation(fabric, sent, placed, model, seed, done, watched, elapsed_s)

    try:
        with (
            core_threads(threads, communicator) as workers,
            shown_progress(progress, fabric.name, "samples") as tell,
        ):
            # As many at a time on every machine, so that the same samples end it.
            while batch := list(islice(patterns, _LEAST_SAMPLES)):
                for sample in workers.map(carry, batch):
                    done.append(sample)
                    tell(len(done), _expected(done, most, precise))
                if precise is not None and _width(done) <= precise:
                    break
            if asked.hottest:
                blocked = next(iter(blocked_by_channel(model, done).values()))
                watched = asked.among(fabric, blocked)
                done[:] = list(workers.map(carry, draw(count=len(done))))
    except (KeyboardInterrupt, SystemExit) as reason:
        if not done:
            raise
        raise SimulationInterrupted(result()) from reason
    return result()


def _width(done: Sequence[PacketSample]) -> float:
    """Relative half-width of the widest interval."""
    means = [sample_means(done, queues) for queues in done[0].queued]
    return max(half_width(each) / max(float(each.mean()), 1e-9) for each in means)


def _expected(done: Sequence[PacketSample], most: int, precise: float | None) -> int:
    """How many samples it will take, as far as can be told."""
    if precise is None or len(done) < _LEAST_SAMPLES:
        return most if precise is None else min(most, _LEAST_SAMPLES)
    return min(most, max(len(done), int(len(done) * (_width(done) / precise) ** 2)))
