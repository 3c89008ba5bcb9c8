"""Jobs on a fabric, whom they hurt, and where the next should go: verdict, tables, figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

# What draws is imported when somebody looks.
from contend import report
from contend.base.errors import printable_line
from contend.base.names import shorten
from contend.base.units import counted, format_bytes, rounded, verb
from contend.congestion import PacketJobs
from contend.cure import Harm, Job, JobCost, Jobs, NextJob, Seats, SharedChannel
from contend.fabric import Fabric
from contend.report.document import Document
from contend.report.metrics import Metric
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import (
    UNKNOWN,
    costs_words,
    first_clause,
    hit_words,
    percent,
)
from contend.routes import Ways

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows of a table, and of the figure.
ROWS = 20
# What is sent within rails.
_PATTERNS = {"rings": "rings", "all-to-alls": "all_to_alls"}
# Characters of a job's own name.
_LONGEST_NAME = 24
# Jobs of a channel that a table names.
_USERS = 4


def _cost(found: Jobs) -> str:
    """Which jobs lose what with the parts that are gone; "" where nothing is."""
    if not found.costs:
        return ""
    words = costs_words(found.costs) or "no job loses a server, a rail or bandwidth"
    return f"Without these parts {words}."


def costs_table(costs: Sequence[JobCost]) -> ResultTable:
    """What each job loses, those first that lose most."""
    order = sorted(costs, key=lambda cost: (-cost.stops, -cost.lost, -len(cost.rails), -cost.loss))
    return table_of(
        "What jobs lose with the parts that are gone",
        order[:ROWS],
        {
            "job": lambda cost: printable_line(f"{cost.job} {cost.name}".strip()),
            "servers": "servers",
            "lost": "lost",
            "rails": lambda cost: hit_words(cost.rails) or UNKNOWN,
            "before": "before",
            "now": "after",
        },
        note="before and now: what a job's hosts that are left get beside all others, on the whole "
        "network and on what is left of it",
    )


def _verdict(found: Jobs) -> str:
    """Who loses most to others, which two hurt each other most, and who sits on too many leaves."""
    running = [job for job in found.jobs if job.runs]
    if not running:
        return f"No job runs on {printable_line(found.fabric.name)}.{_default(found)}"
    losing = [job for job in running if job.loses]
    parts = []
    if losing:
        worst = max(losing, key=lambda job: job.loss)
        parts.append(
            f"{len(losing)} of {counted(len(running), 'job')} "
            f"{verb(len(losing), 'loses')} bandwidth to others, {label(worst)} the "
            f"most: {_gets(found, worst.beside, worst.waits_for_last)}, and "
            f"{percent(worst.alone)} alone"
        )
    else:
        parts.append(
            f"None of {counted(len(running), 'job')} loses bandwidth to another"
            if len(running) > 1
            else f"Job {label(running[0])} runs alone"
        )
    if found.pairs:
        harm = found.pairs[0]
        first, second = (label(found.jobs[place]) for place in harm.places)
        where = _channel(found.fabric, harm.most[0].channel)
        more = harm.channels - 1
        most = f" and {counted(more, 'other channel')}" if more else ""
        parts.append(f"{first} and {second} hurt each other most, on {where}{most}")
    wide = sum(job.leaves > job.fewest_leaves for job in running)
    if wide:
        parts.append(
            f"{counted(wide, 'job')} {verb(wide, 'is')} spread over more leaves than necessary"
        )
    return f"{'; '.join(parts)}.{_default(found)}"


def _default(found: Jobs) -> str:
    """Which traffic was taken, where nobody asked for it."""
    if not found.rails:
        return ""
    return (
        f" {counted(found.rails, 'rail')}: rings and all-to-alls within each rail, as GPU "
        "libraries send them; --pattern bisect for random pairs."
    )


def _next_verdict(found: Jobs) -> str:
    """Which free hosts the next job should get, and what for; "" where that was not asked."""
    following = found.next
    if following is None:
        return ""
    best, first = following.best, following.first
    if found.rails and following.gain > following.margin:
        own, usual = ((percent(one.rings), percent(one.all_to_alls)) for one in (best, first))
        ranks = "" if best.order == best.servers else ", with their ranks in the order below"
        return (
            f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}"
            f"{ranks}: its rings get {own[0]} of a port's rate beside the others and its "
            f"all-to-alls {own[1]} ({usual[0]} and {usual[1]} on the first free ones by name), and "
            f"the others lose {percent(best.cost, 2)} because of it ({percent(first.cost, 2)})."
        )
    if following.gain <= following.margin:
        # No better than chance: what a scheduler takes anyway will do, if it leaves as much room.
        if best.leaves < first.leaves:
            return (
                f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}: "
                f"{_gets(found, best.beside)} beside the others, as on the first free ones, but it "
                f"takes {_leaves(best.leaves)} instead of {first.leaves:,}."
            )
        return (
            f"For the next job, no servers are better than the first {len(first.servers):,} free "
            f"ones, {first.nodelist}: {_gets(found, first.beside)} beside the others."
        )
    return (
        f"The best servers for the next job of {len(best.servers):,} are {best.nodelist}: "
        f"{_gets(found, best.beside)} beside the others ({percent(first.beside)} on the first free "
        "ones), and the others lose "
        f"{percent(best.cost, 2)} because of it ({percent(first.cost, 2)})."
    )


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count:,} leaves"


def _gets(found: Jobs, share: float | None, waits: bool | None = None) -> str:
    """What a job gets, by what it is judged by; None: as jobs without a pattern of their own."""
    if waits is None:
        waits = any(job.waits_for_last for job in found.jobs if job.sends and not job.pattern)
    if waits and not found.rails:
        return f"each host gets {percent(share)} of what its ports allow until the last message"
    return f"its messages get {percent(share)} of a port's rate"


def label(job: Job) -> str:
    """A job's number, with its name where it has one."""
    words = f"{job.job} {printable_line(job.name, _LONGEST_NAME)}"
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


def _unknown_hosts(found: Jobs) -> list[str]:
    """A line about hosts of jobs that the fabric does not know, where there are any."""
    names = list(dict.fromkeys(name for job in found.jobs for name in job.unknown))
    if not names:
        return []
    told = f"{found.fabric.name} does not know {counted(len(names), 'host')} of jobs: "
    return [printable_line(f"{told}{shorten(names)}; they are left out", 200)]


def jobs_document(found: Jobs) -> Document:
    """Who hurts whom, where the next job should go, and hosts that the fabric does not know."""
    told = (_cost(found), _verdict(found), _packets_sentence(found), _next_verdict(found))
    return Document(
        verdict="\n".join(filter(None, told)),
        tables=_tables(found),
        record=found,
        pictures={"jobs": lambda: _figure(found)},
        explorable=lambda: report.explored(found.fabric, jobs=_job_of_hosts(found)),
        metrics=_metrics(found),
        remarks=_unknown_hosts(found),
    )


def _metrics(found: Jobs) -> list[Metric]:
    """What each job gets alone and beside the others."""
    metrics = []
    for job in found.jobs:
        of = {"fabric": found.fabric.name, "job": job.job, "name": job.name}
        for state, share in (("alone", job.alone), ("beside", job.beside)):
            if share is not None:
                meaning = "What a job gets, as a share of what its hosts' ports allow."
                told = {**of, "with": state}
                metrics.append(Metric("contend_job_bandwidth_ratio", meaning, share, told))
        meaning = "What a job loses to all others, as a share of what its hosts' ports allow."
        metrics.append(Metric("contend_job_loss_ratio", meaning, job.loss, of))
    return metrics


def _job_of_hosts(found: Jobs) -> list[str]:
    """The name of the job on every host, "" where there is none."""
    names = [""] * found.fabric.hosts
    for job in found.jobs:
        for host in job.numbers.tolist():
            names[host] = label(job)
    return names


def _tables(found: Jobs) -> list[ResultTable]:
    """Jobs, pairs that hurt each other, and servers for the next job."""
    tables = [costs_table(found.costs)] if found.costs else []
    if found.jobs:
        tables.append(_jobs_table(found))
    if found.pairs:
        tables.append(_harms_table(found))
    if found.hottest and len(found.jobs) > 1:
        tables.append(_hottest_table(found))
    if found.packets is not None:
        tables += _packets_tables(found.packets, found.fabric, _called(found))
    if found.next is not None:
        tables.append(_next_table(found, found.next))
        if found.rails and found.next.best.order != found.next.best.servers:
            tables.append(_order_table(found.next.best))
    return tables


def _jobs_table(found: Jobs) -> ResultTable:
    rival = _worst_rivals(found)
    return table_of(
        f"Jobs on {found.fabric.name}",
        sorted(found.jobs, key=lambda job: -job.loss)[:ROWS],
        {
            "job": label,
            "servers": "servers",
            "leaves": "leaves",
            "fewest": "fewest_leaves",
            **({"sends": _sends(found)} if any(job.pattern for job in found.jobs) else {}),
            "alone": "alone",
            "beside others": "beside",
            **(_PATTERNS if found.rails else {}),
            **({"all at once": "all_at_once"} if _tells_all_at_once(found) else {}),
            "rate": "beside_Bps",
            "loses": Number(lambda job: _points(job.loss, job.margin) if job.sends else UNKNOWN),
            "most to": lambda job: rival.get(job, UNKNOWN),
        },
        note="; ".join(_remarks(found)),
    )


def _tells_all_at_once(found: Jobs) -> bool:
    """Not beside all-to-alls that were asked for, whose messages are all sent at the same time."""
    return len(found.jobs) > 1 and found.pattern != "alltoall"


def _sends(found: Jobs) -> Callable[[Job], str]:
    """What a job sends: what all do, or a pattern of its own."""
    return lambda job: (job.pattern or found.traffic) if job.sends else UNKNOWN


def _hottest_table(found: Jobs) -> ResultTable:
    called = _called(found)

    def whose(channel: SharedChannel) -> str:
        words = [f"{called[one.job]} {percent(one.part, 0)}" for one in channel.jobs[:_USERS]]
        more = len(channel.jobs) - _USERS
        return ", ".join([*words, f"{more} more"] if more > 0 else words)

    return table_of(
        "Hottest channels while all jobs send",
        found.hottest,
        {
            "channel": lambda channel: _channel(found.fabric, channel.channel),
            "heat": Number(lambda channel: rounded(channel.heat)),
            "messages of": whose,
        },
        note="between switches; heat: messages at once in the mean over samples, so many more on "
        "a channel as it is slower than the fastest port",
    )


def _called(found: Jobs) -> dict[str, str]:
    """What jobs are called, by their numbers at their scheduler."""
    return {job.job: label(job) for job in found.jobs}


def _packets_sentence(found: Jobs) -> str:
    """Which job loses most to another one, packet by packet, that counting does not see."""
    if found.packets is None:
        return ""
    unseen = [one for one in found.packets.held_up if one.counted < one.loss / 2]
    if not unseen:
        return "Packet by packet, no job loses more to another one than by counting."
    # Sharing no cable, they look like strangers.
    worst, called = min(unseen, key=lambda one: (one.shares, -one.loss)), _called(found)
    cable = "" if worst.shares else ", with which it never shares a cable"
    return (
        f"Packet by packet, {called[worst.job]} loses {_points(worst.loss, worst.margin)} points "
        f"because of {called[worst.by]}{cable}, by counting {100 * worst.counted:.1f}: it waits "
        f"for {_channel(found.fabric, worst.channel)} ({worst.queues})."
    )


def _packets_tables(
    found: PacketJobs, fabric: Fabric, called: Mapping[str, str]
) -> list[ResultTable]:
    """What jobs get packet by packet, and who holds whom up."""
    sends = "hosts send all the time"
    if found.message_bytes is not None:
        sends = f"messages of {format_bytes(found.message_bytes)}"
    tables = [
        table_of(
            "Jobs packet by packet",
            found.jobs[:ROWS],
            {
                "job": lambda job: called[job.job],
                "queues": lambda job: job.queues.value,
                "alone": "alone",
                "beside others": "beside",
                "by counting": "counted",
            },
            note=f"{counted(found.samples, 'sample')}, {sends}, packets of "
            f"{format_bytes(found.mtu)}, buffers of {format_bytes(found.buffer)}",
        )
    ]
    if found.held_up:
        tables.append(
            table_of(
                "Jobs that are held up by packets of another one",
                found.held_up,
                {
                    "job": lambda one: called[one.job],
                    "because of": lambda one: called[one.by],
                    "loses": Number(lambda one: _points(one.loss, one.margin)),
                    "by counting": Number(lambda one: f"{100 * one.counted:.1f}"),
                    "queues": lambda one: one.queues.value,
                    "share a cable": lambda one: "yes" if one.shares else "no",
                    "waits for": lambda one: _channel(fabric, one.channel),
                },
                note="what it gets more where the other one does not run, all others beside both",
            )
        )
    return tables


def _points(share: float, margin: float, digits: int = 1) -> str:
    """A share in points of a percent with half of its interval."""
    return f"{100 * share:.{digits}f} ± {100 * margin:.{digits}f}"


def _remarks(found: Jobs) -> list[str]:
    """What a reader of the table must know."""
    remarks = [
        f"{_whose(found)} {found.traffic}, {counted(found.samples, 'sample')}; shares of "
        f"{_whole(found)}; fewest: the leaves that would do, given its own and the free servers"
    ]
    if found.rails:
        remarks.append(
            "within rails: every adapter sends to the one in the same place of another server, in "
            "rings to the next server by name, in all-to-alls to each in turn"
        )
    elif found.within_rails:
        remarks.append(
            "within rails: pairs of servers send from each adapter to the one in the same place"
        )
    single = sum(job.runs and job.servers == 1 for job in found.jobs)
    if single:
        remarks.append(f"{counted(single, 'job')} of one server {_use(single)} no network")
    waiting = sum(not job.runs for job in found.jobs)
    if waiting:
        words = "keeps its servers but does" if waiting == 1 else "keep their servers but do"
        remarks.append(f"{counted(waiting, 'job')} {words} not run")
    if _tells_all_at_once(found):
        remarks.append(
            "all at once: an all-to-all, step by step, while all others carry one out, too"
        )
    more = len(found.jobs) - ROWS
    if more > 0:
        remarks.append(f"{more:,} more {verb(more, 'is')} in the JSON")
    return remarks


def _whose(found: Jobs) -> str:
    own = any(job.pattern for job in found.jobs)
    return "jobs without a pattern of their own send" if own else "every job sends"


def _whole(found: Jobs) -> str:
    """What shares are shares of."""
    waiting = {job.waits_for_last for job in found.jobs if job.sends}
    if len(waiting) > 1:
        return (
            "what a host's ports allow until a job's last message is done where its ranks have "
            "several at once, and else of a port's rate"
        )
    if found.waits_for_last:
        return "what a host's ports allow until a job's last message is done"
    return "a port's rate"


def _use(count: int) -> str:
    return "uses" if count == 1 else "use"


def _worst_rivals(found: Jobs) -> dict[Job, str]:
    """To which other job each loses most."""
    worst: dict[int, tuple[float, int]] = {}
    for harm in found.pairs:
        for victim, rival, loss in zip(harm.places, harm.places[::-1], harm.losses, strict=True):
            if loss > worst.get(victim, (0.0, 0))[0]:
                worst[victim] = (loss, rival)
    return {found.jobs[victim]: label(found.jobs[rival]) for victim, (_, rival) in worst.items()}


def _harms_table(found: Jobs) -> ResultTable:
    shown = found.pairs[:ROWS]
    note = "what each loses when only these two run; where: the channel on which most of it is lost"
    more = len(found.pairs) - len(shown)
    if more > 0:
        note += f"; {counted(more, 'more pair')} {verb(more, 'is')} in the JSON"

    def name(place: int) -> Callable[[Harm], str]:
        return lambda harm: label(found.jobs[harm.places[place]])

    def loss(place: int) -> Number[Harm]:
        return Number(lambda harm: _points(harm.losses[place], harm.margins[place], 2))

    def where(harm: Harm) -> str:
        return f"{_channel(found.fabric, harm.most[0].channel)} ({100 * harm.most[0].part:.0f} %)"

    return table_of(
        f"Jobs that hurt each other on {found.fabric.name}",
        shown,
        {
            "job": name(0),
            "loses": loss(0),
            "and": name(1),
            "loses ": loss(1),
            "channels": "channels",
            "where": where,
        },
        note=note,
    )


def _next_table(found: Jobs, following: NextJob) -> ResultTable:
    called = _called(found)

    def most(seats: Seats) -> str:
        if seats.worst_job is None:
            return UNKNOWN
        return f"{called[seats.worst_job]} ({percent(seats.worst_loss)})"

    gain = f"{100 * following.gain:+.2f} ± {100 * following.margin:.2f}"
    return table_of(
        f"Servers for the next job of {len(following.best.servers):,}",
        (following.best, following.first),
        {
            "servers": lambda seats: "best found" if seats is following.best else "first free",
            "leaves": "leaves",
            "alone": "alone",
            "beside others": Number(lambda seats: f"{_points(seats.beside, seats.margin)} %"),
            **(_PATTERNS if found.rails else {}),
            "others lose": Number(lambda seats: f"{_points(seats.cost, seats.cost_margin, 2)} %"),
            "of them most": most,
        },
        note=f"{_searched(found)}{counted(found.free, 'server')} free, "
        f"{counted(following.tried, 'choice')} tried; the fewest leaves: "
        f"{following.fewest_leaves:,}; the hosts of all jobs get {gain} points more by the best",
    )


def _searched(found: Jobs) -> str:
    routes = found.fabric.routes
    if routes is None or not routes.ways & Ways.TOGETHER:
        return ""
    return f"searched by {routes.each_alone.engine}, judged by {routes.engine}; "


def _order_table(seats: Seats) -> ResultTable:
    """Servers in the order of ranks, as many in a row as follow each other by name too."""
    place = {name: number for number, name in enumerate(seats.servers)}
    runs: list[list[str]] = []
    for name in seats.order:
        if runs and place[name] == place[runs[-1][-1]] + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    rows, first = [], 0
    for run in runs:
        last = first + len(run) - 1
        rows.append((f"{first:,}" if len(run) == 1 else f"{first:,} to {last:,}", shorten(run)))
        first = last + 1
    more = len(rows) - ROWS
    note = "the n-th server, from 0, with all its ranks" + (
        f"; {more:,} more {verb(more, 'is')} in the JSON" if more > 0 else ""
    )
    return ResultTable(
        title="Order of ranks",
        columns=("server", "name"),
        rows=tuple((number, printable_line(name, 1 << 20)) for number, name in rows[:ROWS]),
        numeric=frozenset({"server"}),
        note=note,
    )


def _figure(found: Jobs) -> Figure:
    """What jobs get alone and beside the others, those that lose most on top."""
    # Imported here: only figures need it, and loading takes a while.
    from contend.report.charts import Intervals, charted
    from contend.report.series import Axis, Series, Unit
    from contend.report.style import COLOURS, DOT, RING, wrapped

    sending = [job for job in found.jobs if job.sends]
    shown = sorted(sending, key=lambda job: -job.loss)[:ROWS]
    beside = np.array([job.beside for job in shown], dtype=float)
    margin = np.array([job.margin for job in shown], dtype=float)
    # Wide enough to be seen around the other where a job loses nothing.
    alone = Series(np.array([job.alone for job in shown], dtype=float), name="alone", mark=RING)
    others = Series(
        beside,
        low=beside - margin,
        high=beside + margin,
        name="beside the others, 95 % interval of the loss",
        colour=COLOURS[1],
        mark=DOT,
        above=3,
    )
    own = any(job.pattern for job in found.jobs)
    sent = "each job's own pattern" if own else found.traffic
    traffic = wrapped(f"{sent}, as a share of {_whole(found)}", 46)
    chart = Intervals(
        names=[f"{label(job)} ({job.servers:,})" for job in shown],
        least=3,
        series=[alone, others],
        stems=True,
        x=Axis(traffic, Unit.SHARE, (0, 1.02)),
        y=Axis("job (servers)"),
    )
    height = 1.5 + 0.17 * max(len(shown), 3)
    return charted(first_clause(_verdict(found)), chart, height=height, width=4.4, legend=2)
