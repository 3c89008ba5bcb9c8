"""Jobs on a fabric, whom they hurt, and where the next one should go: verdict, tables, figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from contend.cure import Harm, Job, Jobs, Seats
from contend.errors import printable_line
from contend.fabric import Fabric, FabricSize, size_of
from contend.names import shorten
from contend.report.style import COLOURS, FAINT, new_figure, percent_axis, styled, title
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, gigabytes, percent
from contend.units import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows of a table, and of the figure.
_ROWS = 20
# Characters of a job's own name.
_LONGEST_NAME = 24


def jobs_verdict(found: Jobs) -> str:
    """Who loses most to others, which two hurt each other most, and who sits on too many leaves."""
    running = [job for job in found.jobs if job.listed.runs]
    if not running:
        return f"No job runs on {printable_line(found.fabric.name)}."
    losing = [job for job in running if job.loses]
    parts = []
    if losing:
        worst = max(losing, key=lambda job: job.loss)
        parts.append(
            f"{len(losing)} of {counted(len(running), 'job')} "
            f"{'loses' if len(losing) == 1 else 'lose'} bandwidth to others, {_label(worst)} most: "
            f"its messages get {_share(worst.beside)} of a port's rate, alone {_share(worst.alone)}"
        )
    else:
        parts.append(
            f"None of {counted(len(running), 'job')} loses bandwidth to another"
            if len(running) > 1
            else f"Job {_label(running[0])} runs alone"
        )
    if found.harms:
        harm = found.harms[0]
        first, second = (_label(found.jobs[number]) for number in harm.jobs)
        where = _channel(found.fabric, harm.channels[0][0])
        most = "" if len(harm.channels) == 1 else f" and {len(harm.channels) - 1:,} more"
        parts.append(f"{first} and {second} hurt each other most, on {where}{most}")
    wide = sum(job.leaves > job.fewest for job in running)
    if wide:
        parts.append(
            f"{counted(wide, 'job')} {'touches' if wide == 1 else 'touch'} more leaves than needed"
        )
    return f"{'; '.join(parts)}."


def next_verdict(found: Jobs) -> str:
    """Which free hosts the next job should get, and what for; "" where that was not asked."""
    following = found.next
    if following is None:
        return ""
    best, first = following.best, following.first
    if following.gain <= following.margin:
        # No better than chance: what a scheduler takes anyway will do.
        return (
            f"The first {len(first.servers):,} free servers serve the next job as well as any "
            f"found, {_nodelist(first)}: {_gets(first)}."
        )
    return (
        f"The next job of {len(best.servers):,} servers sits best on {_nodelist(best)}: "
        f"{_gets(best)} (on the first free ones {percent(first.beside)}), and the others lose "
        f"{percent(best.cost, 2)} by it ({percent(first.cost, 2)})."
    )


def _gets(seats: Seats) -> str:
    return f"its messages get {percent(seats.beside)} of a port's rate beside the others"


def _nodelist(seats: Seats) -> str:
    """Servers as Slurm takes them: ``node[01-03,7]``."""
    return printable_line(shorten(seats.servers), 1 << 20)


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else percent(value)


def _label(job: Job) -> str:
    """A job's number, with its name where it has one."""
    words = f"{job.listed.id} {printable_line(job.listed.name, _LONGEST_NAME)}"
    return printable_line(words)


def _channel(fabric: Fabric, channel: int) -> str:
    """A channel by the cable it is of, as --without takes it, and where it leads."""
    if channel >= 2 * fabric.cables:
        return printable_line(fabric.channel_name(channel))
    cable = channel // 2
    ends = [
        (int(fabric.cable_from[cable]), int(fabric.cable_from_port[cable])),
        (int(fabric.cable_to[cable]), int(fabric.cable_to_port[cable])),
    ]
    (start, port), (end, _) = ends if channel % 2 == 0 else ends[::-1]
    labels = fabric.switch_label
    return printable_line(f"{labels[start]}:{port} -> {labels[end]}")


def jobs_tables(found: Jobs) -> list[ResultTable]:
    """Jobs, pairs that hurt each other, and servers for the next job."""
    tables = [_jobs_table(found)] if found.jobs else []
    if found.harms:
        tables.append(_harms_table(found))
    if found.next is not None:
        tables.append(_next_table(found))
    return tables


def _jobs_table(found: Jobs) -> ResultTable:
    numeric = ("servers", "leaves", "fewest", "alone", "beside others", "GB/s", "loses")
    worst_rival = _worst_rivals(found.harms)
    rows = []
    order = sorted(range(len(found.jobs)), key=lambda number: (-found.jobs[number].loss, number))
    for number in order[:_ROWS]:
        job = found.jobs[number]
        known = job.beside is not None and job.port_rate is not None
        rate = (job.beside or 0.0) * (job.port_rate or 0.0)
        rival = worst_rival.get(number)
        rows.append(
            (
                _label(job),
                f"{job.servers:,}",
                f"{job.leaves:,}",
                f"{job.fewest:,}",
                _share(job.alone),
                _share(job.beside),
                gigabytes(rate if known else None),
                f"{100 * job.loss:.1f} ± {100 * job.margin:.1f}" if job.sends else UNKNOWN,
                UNKNOWN if rival is None else _label(found.jobs[rival]),
            )
        )
    return ResultTable(
        title=f"Jobs on {found.fabric.name}",
        columns=("job", *numeric, "most to"),
        rows=tuple(rows),
        numeric=frozenset(numeric),
        note="; ".join(_remarks(found)),
    )


def _remarks(found: Jobs) -> list[str]:
    """What a reader of the table must know."""
    remarks = [
        f"every job sends {found.pattern}, {counted(found.samples, 'sample')}; shares of a "
        "port's rate; fewest: leaves that it needs of those with free servers"
    ]
    single = sum(job.listed.runs and job.servers == 1 for job in found.jobs)
    if single:
        remarks.append(f"{counted(single, 'job')} of one server {_use(single)} no network")
    waiting = sum(not job.listed.runs for job in found.jobs)
    if waiting:
        words = "keeps its servers but does" if waiting == 1 else "keep their servers but do"
        remarks.append(f"{counted(waiting, 'job')} {words} not run")
    more = len(found.jobs) - _ROWS
    if more > 0:
        remarks.append(f"{more:,} more {'is' if more == 1 else 'are'} in the JSON")
    return remarks


def _use(count: int) -> str:
    return "uses" if count == 1 else "use"


def _worst_rivals(harms: Sequence[Harm]) -> dict[int, int]:
    """To which other job each loses most."""
    worst: dict[int, tuple[float, int]] = {}
    for harm in harms:
        for victim, rival, loss in zip(harm.jobs, harm.jobs[::-1], harm.losses, strict=True):
            if loss > worst.get(victim, (0.0, 0))[0]:
                worst[victim] = (loss, rival)
    return {victim: rival for victim, (_, rival) in worst.items()}


def _harms_table(found: Jobs) -> ResultTable:
    rows = []
    for harm in found.harms[:_ROWS]:
        first, second = (_label(found.jobs[number]) for number in harm.jobs)
        loses = [
            f"{100 * loss:.2f} ± {100 * margin:.2f}"
            for loss, margin in zip(harm.losses, harm.margins, strict=True)
        ]
        channel, part = harm.channels[0]
        rows.append(
            (
                first,
                loses[0],
                second,
                loses[1],
                f"{len(harm.channels):,}",
                f"{_channel(found.fabric, channel)} ({100 * part:.0f} %)",
            )
        )
    note = "what each loses where no other job runs; where: the channel on which most of it is lost"
    more = len(found.harms) - len(rows)
    if more > 0:
        note += f"; {counted(more, 'more pair')} {'is' if more == 1 else 'are'} in the JSON"
    return ResultTable(
        title=f"Jobs that hurt each other on {found.fabric.name}",
        columns=("job", "loses", "and", "loses ", "channels", "where"),
        rows=tuple(rows),
        numeric=frozenset({"loses", "loses ", "channels"}),
        note=note,
    )


def _next_table(found: Jobs) -> ResultTable:
    assert found.next is not None
    numeric = ("leaves", "alone", "beside others", "others lose")
    rows = []
    for name, seats in (("best found", found.next.best), ("first free", found.next.first)):
        worst = UNKNOWN
        if seats.worst is not None:
            number, loss = seats.worst
            worst = f"{_label(found.jobs[number])} ({percent(loss)})"
        rows.append(
            (
                name,
                f"{seats.leaves:,}",
                percent(seats.alone),
                f"{100 * seats.beside:.1f} ± {100 * seats.margin:.1f} %",
                f"{100 * seats.cost:.2f} ± {100 * seats.cost_margin:.2f} %",
                worst,
            )
        )
    gain = f"{100 * found.next.gain:+.2f} ± {100 * found.next.margin:.2f}"
    return ResultTable(
        title=f"Servers for the next job of {len(found.next.best.servers):,}",
        columns=("servers", *numeric, "of them most"),
        rows=tuple(rows),
        numeric=frozenset(numeric),
        note=f"{counted(found.free, 'server')} free, {counted(found.next.tried, 'choice')} tried; "
        f"the fewest leaves: {found.next.fewest:,}; the hosts of all jobs get {gain} points more "
        "by the best",
    )


def jobs_figure(found: Jobs) -> Figure:
    """What jobs get alone and beside the others, those that lose most on top."""
    sending = [job for job in found.jobs if job.sends]
    shown = sorted(sending, key=lambda job: -job.loss)[:_ROWS]
    rows = np.arange(len(shown))
    beside = np.array([job.beside for job in shown], dtype=float)
    alone = np.array([job.alone for job in shown], dtype=float)
    with styled():
        figure = new_figure(height=1.5 + 0.17 * max(len(shown), 3))
        axes = figure.subplots()
        axes.hlines(rows, beside, alone, color=FAINT, linewidth=3, zorder=1)
        axes.plot(
            alone,
            rows,
            linestyle="",
            marker="o",
            markersize=4,
            markerfacecolor="white",
            markeredgecolor=COLOURS[0],
            zorder=2,
            label="alone",
        )
        axes.errorbar(
            beside,
            rows,
            xerr=[job.margin for job in shown],
            fmt="o",
            markersize=4,
            color=COLOURS[1],
            capsize=2,
            zorder=3,
            label="beside the others, 95 % interval of the loss",
        )
        servers = [f"{_label(job)} ({job.servers:,})" for job in shown]
        axes.set_yticks(rows, servers)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(max(len(shown), 3) - 0.4, -0.6)
        axes.set_xlim(0, 1.02)
        percent_axis(axes.xaxis)
        axes.set_xlabel(f"effective bandwidth of {found.pattern}\nas a share of a port's rate")
        axes.set_ylabel("job (servers)")
        axes.spines["left"].set_visible(False)
        figure.legend(loc="outside lower center", ncols=2, handletextpad=0.3, columnspacing=1.2)
        title(figure, _finding(shown))
    return figure


def _finding(shown: Sequence[Job]) -> str:
    if not shown:
        return "No job sends messages over the network"
    worst = shown[0]
    if not worst.loses:
        return "No job loses bandwidth to another"
    return (
        f"{_label(worst)} loses most to others: {_share(worst.beside)} instead of "
        f"{_share(worst.alone)}"
    )


class JobJson(msgspec.Struct, frozen=True, kw_only=True):
    """A job that has hosts.

    Attributes:
        job: as its scheduler calls it.
        name: that its user gave it, or "".
        runs: whether it does; one that does not keeps its hosts, but sends nothing.
        servers: that it has.
        hosts: names of their hosts on the fabric.
        unknown: names of its hosts that the fabric does not know.
        leaves: switches that its hosts hang on.
        fewest_leaves: on which as many of its and the free servers would hang.
        alone: what its messages get without other jobs, as a share of their hosts' ports; null
            where it sends none.
        beside: what they get beside all other jobs.
        beside_Bps: the same in bytes per second; null where rates differ or are not known.
        loss: of the one to the other.
        margin: half of the 95 % interval of the loss.
    """

    job: str
    name: str
    runs: bool
    servers: int
    hosts: list[str]
    unknown: list[str]
    leaves: int
    fewest_leaves: int
    alone: float | None
    beside: float | None
    beside_Bps: float | None  # noqa: N815
    loss: float
    margin: float


class LostOnJson(msgspec.Struct, frozen=True, kw_only=True):
    """A channel on which two jobs hurt each other.

    Attributes:
        channel: its number.
        source: where it begins.
        target: where it ends.
        part: of what both lose to each other that is lost here.
    """

    channel: int
    source: str
    target: str
    part: float


class HarmJson(msgspec.Struct, frozen=True, kw_only=True):
    """What two jobs do to each other where nobody else runs.

    Attributes:
        jobs: both.
        losses: what each loses of its mean share.
        margins: half of the 95 % intervals of both.
        channels: on how many channels it is lost.
        most: those on which most of it is lost, ten at most.
    """

    jobs: list[str]
    losses: list[float]
    margins: list[float]
    channels: int
    most: list[LostOnJson]


class SeatsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Servers for the next job.

    Attributes:
        servers: their names.
        nodelist: the same as Slurm takes them.
        hosts: names of their hosts on the fabric.
        leaves: on how many switches they hang.
        alone: what its messages get without other jobs, as a share of their hosts' ports.
        beside: what they get beside the others.
        margin: half of the 95 % interval of `beside`.
        cost: what the others lose by it, in the mean over their hosts.
        cost_margin: half of its 95 % interval.
        worst_job: that loses most; null where none loses.
        worst_loss: what that one loses.
    """

    servers: list[str]
    nodelist: str
    hosts: list[str]
    leaves: int
    alone: float
    beside: float
    margin: float
    cost: float
    cost_margin: float
    worst_job: str | None
    worst_loss: float


class NextJobJson(msgspec.Struct, frozen=True, kw_only=True):
    """Where the next job would sit best.

    Attributes:
        verdict: in words.
        fewest_leaves: on which as many free servers hang.
        best: of all choices that were tried.
        first: the first free servers by name.
        gain: what the hosts of all jobs, this one included, get more in the mean with the best.
        margin: half of its 95 % interval.
        tried: how many choices were tried.
    """

    verdict: str
    fewest_leaves: int
    best: SeatsJson
    first: SeatsJson
    gain: float
    margin: float
    tried: int


class JobsJson(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that run on a fabric at the same time.

    Attributes:
        fabric: which.
        verdict: what it comes to, in words.
        pattern: that every job sends.
        samples: how many were drawn.
        seed: of all random choices.
        free: servers that no job has and that may be taken.
        jobs: in the order in which they were listed.
        pairs: jobs that hurt each other, the worst first: by what their hosts lose in sum.
        next: where the next job would sit best; null where that was not asked.
        seconds: that it took.
    """

    fabric: FabricSize
    verdict: str
    pattern: str
    samples: int
    seed: int
    free: int
    jobs: list[JobJson]
    pairs: list[HarmJson]
    next: NextJobJson | None
    seconds: float


# Channels of a pair in the JSON.
_MOST_CHANNELS = 10


def jobs_json(found: Jobs) -> JobsJson:
    """The result of ``contend jobs --json``."""
    return JobsJson(
        fabric=size_of(found.fabric),
        verdict=jobs_verdict(found),
        pattern=found.pattern,
        samples=found.samples,
        seed=found.seed,
        free=found.free,
        jobs=[_job_json(found.fabric, job) for job in found.jobs],
        pairs=[_harm_json(found, harm) for harm in found.harms],
        next=_next_json(found),
        seconds=found.seconds,
    )


def _job_json(fabric: Fabric, job: Job) -> JobJson:
    known = job.beside is not None and job.port_rate is not None
    return JobJson(
        job=job.listed.id,
        name=job.listed.name,
        runs=job.listed.runs,
        servers=job.servers,
        hosts=[fabric.host_name[host] for host in job.hosts],
        unknown=list(job.unknown),
        leaves=job.leaves,
        fewest_leaves=job.fewest,
        alone=job.alone,
        beside=job.beside,
        beside_Bps=(job.beside or 0.0) * (job.port_rate or 0.0) if known else None,
        loss=job.loss,
        margin=job.margin,
    )


def _harm_json(found: Jobs, harm: Harm) -> HarmJson:
    most = []
    for channel, part in harm.channels[:_MOST_CHANNELS]:
        source, target = found.fabric.channel_ends(channel)
        most.append(LostOnJson(channel=channel, source=source, target=target, part=part))
    return HarmJson(
        jobs=[found.jobs[number].listed.id for number in harm.jobs],
        losses=list(harm.losses),
        margins=list(harm.margins),
        channels=len(harm.channels),
        most=most,
    )


def _next_json(found: Jobs) -> NextJobJson | None:
    following = found.next
    if following is None:
        return None
    return NextJobJson(
        verdict=next_verdict(found),
        fewest_leaves=following.fewest,
        best=_seats_json(found, following.best),
        first=_seats_json(found, following.first),
        gain=following.gain,
        margin=following.margin,
        tried=following.tried,
    )


def _seats_json(found: Jobs, seats: Seats) -> SeatsJson:
    number, loss = seats.worst or (None, 0.0)
    return SeatsJson(
        servers=list(seats.servers),
        nodelist=shorten(seats.servers),
        hosts=[found.fabric.host_name[host] for host in seats.hosts],
        leaves=seats.leaves,
        alone=seats.alone,
        beside=seats.beside,
        margin=seats.margin,
        cost=seats.cost,
        cost_margin=seats.cost_margin,
        worst_job=None if number is None else found.jobs[number].listed.id,
        worst_loss=loss,
    )
