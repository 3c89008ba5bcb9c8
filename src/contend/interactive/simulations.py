"""Simulations in a notebook: a progress bar while they run, and results that draw themselves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from contend import report
from contend.congestion import (
    Communicator,
    PatternSource,
    PlacementSource,
    Progress,
    Simulation,
)
from contend.congestion import simulate as count
from contend.fabric import Fabric
from contend.placement import HostChoice
from contend.units import format_rate, parse_rate, parse_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SimulationResult(Simulation):
    """A simulation that shows itself in a notebook and draws itself into matplotlib axes."""

    def plot(self, picture: str | None = None, ax: Axes | None = None) -> Axes:
        """Draws one picture of the result.

        Args:
            picture: ``bandwidth`` (of the samples), ``congestion`` (of the messages), ``rounds``
                (whether or not all wait for the slowest message of a round) or ``channels`` (their
                loads); None: the first of these that says something.
            ax: where to draw; None makes a figure.

        Returns:
            The axes.

        Raises:
            UsageError: there is no such picture, or it says nothing of this result.
        """
        return report.draw_simulation(self, picture, ax)

    def _repr_html_(self) -> str:
        rate = self.effective_rate
        carried = "" if rate is None else f", {format_rate(rate)}"
        share = f"{100 * self.effective_bandwidth:.4g} % of link speed{carried}"
        rows = (
            ("effective bandwidth", share),
            ("95 % interval", self.interval),
            ("1 / mean \u03c0", f"{100 * self.of_mean_congestion:.4g} %"),
            ("1 / mean of the rounds' largest \u03c0", f"{100 * self.of_max_congestion:.4g} %"),
            ("samples", f"{self.samples:,}"),
        )
        cells = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows
        )
        engine = f", {self.engine}" if self.engine else ""
        caption = f"{self.pattern} on {self.fabric_name}{engine}, {self.placement} placement"
        return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


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
    progress: bool | Progress = False,
    communicator: Communicator | None = None,
) -> SimulationResult:
    """Counts the congestion of a pattern on a fabric.

    Args:
        fabric: with routes.
        pattern: a specification such as ``bisect`` or ``shift:3`` (see `contend.pattern.FORMS`), a
            `contend.Pattern`, or the rank that every rank sends to, shape [ranks] or
            [rounds, ranks].
        placement: which rank sits on which host: a specification, of which ``random`` draws another
            one for every sample, a `contend.Placement`, or the host of every rank by number or
            name.
        hosts: those that take part: how many, a specification, or hosts by number or name; None is
            all.
        ranks_per_host: ranks that share a host.
        ranks: number of ranks; None fills the placement.
        samples: how many patterns and placements to draw; None: until `precision` is reached.
        precision: relative half-width of the 95 % interval to stop at, such as 0.01 or ``"1%"``;
            None with `samples` None is 0.001. Whatever comes first ends the simulation.
        exhaustive: count every outcome instead of drawing some.
        seed: of all random choices; the same seed gives the same result on any number of threads.
        threads: None: one per core that this process may use. Never more than four a core.
        spread: use all addresses of hosts with LMC > 0 in turn instead of the first.
        rate: bytes per second of every link, or words such as ``100Gbit/s`` or ``4xNDR``; None for
            the fabric's own. Where these differ, messages are weighed by them.
        equal_rates: count all links alike, whatever they carry.
        channels: see who uses these: a port of a switch (``spine 3:12``) or a host, both directions
            of its cable; the number of a channel; ``hottest`` or ``hottest:N``, between switches.
            ``users`` of the result has them.
        progress: True shows a bar; a function is called with the samples done and those to do.
        communicator: shares the samples out over MPI processes, such as ``mpi4py.MPI.COMM_WORLD``;
            everyone gets the whole result.

    Raises:
        UsageError: fabric, pattern and placement do not fit together.
        SimulationInterrupted: after an interrupt; it holds what was counted until then.
    """

    def run(progress: Progress | None) -> SimulationResult:
        simulation = count(
            fabric,
            pattern,
            placement=placement,
            hosts=hosts,
            ranks_per_host=ranks_per_host,
            ranks=ranks,
            samples=samples,
            precision=parse_share(precision) if isinstance(precision, str) else precision,
            exhaustive=exhaustive,
            seed=seed,
            threads=threads,
            spread=spread,
            rate=parse_rate(rate) if isinstance(rate, str) else rate,
            equal_rates=equal_rates,
            channels=channels,
            progress=progress,
            communicator=communicator,
        )
        return SimulationResult(**vars(simulation))

    if progress is not True:
        return run(progress or None)
    with report.progress_bar(fabric.name, "samples") as bar:
        task = bar.add_task(fabric.name, total=None)
        return run(lambda done, total: bar.update(task, completed=done, total=total))
