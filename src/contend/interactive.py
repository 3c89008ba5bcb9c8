"""contend in a notebook: work that shows a progress bar, and results that draw themselves."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Self

from contend import report
from contend.congestion import (
    Communicator,
    PatternSource,
    PlacementSource,
    Progress,
    Simulation,
)
from contend.congestion import simulate as count
from contend.cure import BetterSeats, better_seats, look_at_jobs
from contend.cure import Jobs as JudgedJobs
from contend.errors import ShortfallError
from contend.fabric import Fabric, source_name
from contend.measurement import Place, make_shapes, place_of
from contend.placement import HostChoice, ListedJob, jobs_of_slurm, read_jobs
from contend.prediction import (
    DEFAULT_BUDGET,
    Calibration,
    Elsewhere,
    conditions_of,
    costs_of,
    predict_program,
    record_of,
)
from contend.prediction import calibrate as take_costs
from contend.profiling import Job, load_profile, run_recorded
from contend.profiling import Profile as KeptProfile
from contend.session import Observer
from contend.units import parse_rate, parse_share, parse_size, rounded

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
        carried = "" if rate is None else f", {rounded(rate / 1e9, 4)} GB/s"
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


class Profile(KeptProfile):
    """A profile that shows itself in a notebook and draws itself into matplotlib axes."""

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Reads a profile; one whose merge was interrupted is merged first.

        Raises:
            UsageError: no profile is there, or its program still runs.
            InputError: it is damaged, or of a newer version.
            ShortfallError: no rank left a record that can be read.
        """
        kept = load_profile(Path(folder))
        return cls(kept.folder, kept.record)

    def plot(self, picture: str | None = None, ax: Axes | None = None) -> Axes:
        """Draws one picture of the profile.

        Args:
            picture: ``shares`` of the run time by place in the program, the ``matrix`` of peers,
                or ``ranks``; None: shares.
            ax: where to draw; None makes a figure.

        Returns:
            The axes.

        Raises:
            UsageError: there is no such picture.
        """
        return report.draw_profile(self, picture, ax)

    def predict(
        self,
        fabric: Fabric,
        calibration: str | Path | Calibration | None = None,
        *,
        placement: str | None = None,
        ranks_per_host: int | None = None,
        rate: float | str | None = None,
        buffer: int | str | None = None,
        recorded_on: str | None = None,
    ) -> Elsewhere:
        """Predicts how long the program takes elsewhere, as ``contend predict PROFILE`` does.

        Args:
            fabric: where it is to run, with routes.
            calibration: what `contend.calibrate` returned, or the folder or the file that it left;
                None for usual costs, which `remarks` of the result's calibration state.
            placement: which rank sits on which host; None for the hosts that the profile names if
                the fabric has them all, and otherwise for ``linear``.
            ranks_per_host: that share a host; None for as many as were recorded.
            rate: bytes per second of every cable, or words such as ``100Gbit/s``; None for the
                calibration's, or without one the fabric's own.
            buffer: bytes that wait for a channel at most; None for the calibration's.
            recorded_on: fabric on which it was recorded; None for what is known of emulated ones.

        Returns:
            Run time with its interval, the bounds, the dearest cables, and ``calls``, a frame.

        Raises:
            UsageError: for what does not fit together.
            ShortfallError: a rank left no record or no events.
        """
        if isinstance(calibration, Calibration):
            costs = calibration
        else:
            path = None if calibration is None else Path(calibration)
            costs = costs_of(path, self.record.library)
        where = conditions_of(
            self,
            fabric,
            costs,
            placement=placement,
            ranks_per_host=ranks_per_host,
            rate=parse_rate(rate) if isinstance(rate, str) else rate,
            buffer=parse_size(buffer) if isinstance(buffer, str) else buffer,
        )
        return predict_program(record_of(self, costs, recorded_on), where)

    def _repr_html_(self) -> str:
        findings = self.findings
        rows = "".join(
            f"<tr><td>{escape(str(row['routine']))}</td><td>{escape(str(row['place']))}</td>"
            f"<td>{100 * row['share']:.3g} %</td></tr>"
            for row in findings.places.head(5).iter_rows(named=True)
        )
        return f"<table><caption>{escape(findings.verdict)}</caption>{rows}</table>"


def calibrate(
    hosts: str | Path | Sequence[str] | Place | None = None,
    *,
    mpi: str | None = None,
    launcher: str = "",
    budget: float = DEFAULT_BUDGET,
    seed: int = 1,
    output: str | Path | None = None,
    progress: Observer | None = None,
) -> Calibration:
    """Takes what messages cost from measurements, as ``contend calibrate`` does.

    Args:
        hosts: a host file, names of hosts of one leaf switch, or an emulated fabric; None for the
            hosts of the job that this runs in.
        mpi: the MPI library; see `contend.measure`.
        launcher: see `contend.measure`.
        budget: seconds for all of it.
        seed: of the order of cells.
        output: folder of the runs and of ``calibration.json``; None for a new one in
            ``contend-runs``. A calibration that was interrupted goes on in its folder.
        progress: is told what happens.

    Returns:
        What messages cost; `contend.Profile.predict` takes it, or its folder.

    Raises:
        UsageError: for what does not fit together, or a place of a single host.
        MissingError: the machine lacks a library, a compiler, memory or a launcher.
        ShortfallError: something that it needs was not measured.
    """
    taken, _ = take_costs(
        mpi=mpi,
        place=place_of(hosts, launcher),
        budget=budget,
        seed=seed,
        folder=None if output is None else Path(output),
        observer=progress,
    )
    return taken


def profile(
    command: str | Sequence[str],
    *,
    ranks: int | None = None,
    mpi: str | None = None,
    hosts: str | Path | Sequence[str] | Place | None = None,
    ranks_per_host: int | None = None,
    labels: Mapping[str, str] | None = None,
    record: int | str | None = None,
    output: str | Path | None = None,
) -> Profile:
    """Records what an MPI program communicates, as ``contend profile`` does.

    Args:
        command: what starts the program, as words or as a line; with `ranks` the program itself.
        ranks: how many contend starts; None where the command starts them.
        mpi: the MPI library; see `contend.measure`. None: that of the command.
        hosts: where ranks run; see `contend.measure`.
        ranks_per_host: on every host.
        labels: conditions that no program can see.
        record: bytes that the record of a rank may take, or a size such as ``64MiB``.
        output: folder of the profile; None for a new one in ``contend-runs``.

    Raises:
        UsageError: for what does not fit together.
        MissingError: the machine lacks a library, a compiler, or room.
        ShortfallError: no rank left a record.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    place = shape = None
    if ranks is not None:
        place = place_of(hosts)
        each = () if ranks_per_host is None else (ranks_per_host,)
        [shape] = make_shapes((ranks,), each, place.slots, alone=place.alone)
    job = Job(
        tuple(words),
        shape=shape,
        place=place,
        mpi=mpi,
        labels=labels or {},
        memory=parse_size(record) if isinstance(record, str) else record,
    )
    outcome = run_recorded(job, None if output is None else Path(output))
    if outcome.interruption is not None:
        raise outcome.interruption
    if outcome.profile is None:
        raise ShortfallError(outcome.why)
    return Profile(outcome.profile.folder, outcome.profile.record)


def place(
    source: str | Path | KeptProfile,
    fabric: Fabric,
    *,
    hosts: HostChoice | None = None,
    placement: str | None = None,
    ranks: int | None = None,
    ranks_per_host: int | None = None,
    rate: float | str | None = None,
    seed: int = 1,
) -> BetterSeats:
    """Seats a program's ranks so that their messages meet less, as ``contend place`` does.

    Args:
        source: a profile or its folder, a matrix of bytes from rank to rank in a .npy file, or a
            pattern.
        fabric: with routes.
        hosts: that may be taken: how many, a specification, or hosts by number or name, in the
            order that is to be bettered; None for those of the profile, if the fabric has them all,
            else all.
        placement: another order that is to be bettered.
        ranks: of a pattern; None fills the hosts.
        ranks_per_host: the most that share a host; None for as many as the profile or a host file
            says, else 1.
        rate: bytes per second of every cable, or words such as ``100Gbit/s``; None for the fabric's
            own rates.
        seed: of every random choice; the same seed gives the same seats.

    Returns:
        Its ``placement`` is taken by every function that has such an argument.

    Raises:
        UsageError: for what does not fit together.
        InputError: a file that is not what it should be.
    """
    return better_seats(
        source,
        fabric,
        hosts=hosts,
        placement=placement,
        ranks=ranks,
        ranks_per_host=ranks_per_host,
        rate=parse_rate(rate) if isinstance(rate, str) else rate,
        seed=seed,
    )


class Jobs(JudgedJobs):
    """Jobs on a fabric that show themselves in a notebook."""

    @property
    def verdict(self) -> str:
        """What it comes to, in words."""
        return " ".join(filter(None, (report.jobs_verdict(self), report.next_verdict(self))))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(job.listed.id)}</th><td>{job.servers:,}</td>"
            f"<td>{100 * (job.alone or 0):.3g} %</td><td>{100 * (job.beside or 0):.3g} %</td></tr>"
            for job in sorted(self.jobs, key=lambda job: -job.loss)
            if job.sends
        )
        heads = "".join(f"<th>{head}</th>" for head in ("job", "servers", "alone", "beside others"))
        caption = f"<caption>{escape(self.verdict)}</caption>"
        return f"<table>{caption}<tr>{heads}</tr>{rows}</table>"


def jobs(
    fabric: Fabric,
    source: str | Path | Mapping[str, Sequence[str]] | None = None,
    *,
    following: int | None = None,
    hosts: HostChoice | None = None,
    pattern: str | None = None,
    samples: int = 200,
    seed: int = 1,
) -> Jobs:
    """Says how well running jobs sit, which hurt each other, and where the next should go.

    Args:
        fabric: with routes.
        source: a file with what ``squeue --json`` or ``scontrol show job`` prints, or of lines with
            a job and its hosts; or names of hosts by job; None asks the Slurm of this machine.
        following: for how many servers to choose the best free ones; None: for none.
        hosts: that they may be chosen from; None is all.
        pattern: that every job sends among its own hosts, all at the same time; None: random pairs,
            within rails where servers have several adapters.
        samples: how many patterns to draw.
        seed: of all random choices.

    Returns:
        Its ``to_frame()`` has the jobs, ``harms_frame()`` pairs that hurt each other, and ``next``
        the servers chosen.

    Raises:
        UsageError: there are not enough free servers, or no such pattern for a job.
        InputError: the fabric knows no host of any job, or the file is something else.
        MissingError: there is no Slurm to ask.
    """
    called = "squeue"
    if source is None:
        listed = jobs_of_slurm()
    elif isinstance(source, Mapping):
        called = "jobs"
        listed = [ListedJob(job, "", tuple(names)) for job, names in source.items()]
    else:
        called = source_name(str(source))
        listed = read_jobs(str(source))
    found = look_at_jobs(
        fabric,
        listed,
        source=called,
        next_servers=following,
        hosts=hosts,
        pattern=pattern,
        samples=samples,
        seed=seed,
    )
    return Jobs(**vars(found))
