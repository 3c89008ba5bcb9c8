"""Seats in a notebook: for the ranks of a program, and of the jobs that run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from contend import report
from contend.cure import BetterSeats, better_seats, look_at_jobs
from contend.cure import Jobs as JudgedJobs
from contend.fabric import Fabric, source_name
from contend.placement import HostChoice, ListedJob, jobs_of_slurm, read_jobs
from contend.profiling import Profile
from contend.units import parse_rate


def place(
    source: str | Path | Profile,
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
