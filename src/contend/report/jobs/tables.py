"""Jobs on a fabric, whom they hurt, and where the next should go: a verdict and tables."""

from __future__ import annotations

from collections.abc import Sequence

from contend.cure import Harm, Job, Jobs, Seats
from contend.errors import printable_line
from contend.fabric import Fabric
from contend.names import shorten
from contend.report.table import ResultTable
from contend.report.words import UNKNOWN, percent, rate_words
from contend.units import counted, verb

# Rows of a table, and of the figure.
ROWS = 20
# What is sent within rails.
_PATTERNS = ("rings", "all-to-alls")
# Characters of a job's own name.
_LONGEST_NAME = 24


def jobs_verdict(found: Jobs) -> str:
    """Who loses most to others, which two hurt each other most, and who sits on too many leaves."""
    running = [job for job in found.jobs if job.listed.runs]
    if not running:
        return f"No job runs on {printable_line(found.fabric.name)}.{_default(found)}"
    losing = [job for job in running if job.loses]
    parts = []
    if losing:
        worst = max(losing, key=lambda job: job.loss)
        parts.append(
            f"{len(losing)} of {counted(len(running), 'job')} "
            f"{verb(len(losing), 'loses')} bandwidth to others, {label(worst)} the "
            f"most: its messages get {percent(worst.beside)} of a port's rate, and "
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
        first, second = (label(found.jobs[number]) for number in harm.jobs)
        where = _channel(found.fabric, harm.channels[0][0])
        more = len(harm.channels) - 1
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


def next_verdict(found: Jobs) -> str:
    """Which free hosts the next job should get, and what for; "" where that was not asked."""
    following = found.next
    if following is None:
        return ""
    best, first = following.best, following.first
    if found.rails and following.gain > following.margin:
        own, usual = ([percent(each) for each in one.by_pattern] for one in (best, first))
        ranks = "" if best.order == best.servers else ", with their ranks in the order below"
        return (
            f"The best servers for the next job of {len(best.servers):,} are {nodelist(best)}"
            f"{ranks}: its rings get {own[0]} of a port's rate beside the others and its "
            f"all-to-alls {own[1]} ({usual[0]} and {usual[1]} on the first free ones by name), and "
            f"the others lose {percent(best.cost, 2)} because of it ({percent(first.cost, 2)})."
        )
    if following.gain <= following.margin:
        # No better than chance: what a scheduler takes anyway will do, if it leaves as much room.
        if best.leaves < first.leaves:
            return (
                f"The best servers for the next job of {len(best.servers):,} are {nodelist(best)}: "
                f"{_gets(best)}, as on the first free ones, but it takes {_leaves(best.leaves)} "
                f"instead of {first.leaves:,}."
            )
        return (
            f"For the next job, no servers are better than the first {len(first.servers):,} free "
            f"ones, {nodelist(first)}: {_gets(first)}."
        )
    return (
        f"The best servers for the next job of {len(best.servers):,} are {nodelist(best)}: "
        f"{_gets(best)} ({percent(first.beside)} on the first free ones), and the others lose "
        f"{percent(best.cost, 2)} because of it ({percent(first.cost, 2)})."
    )


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count:,} leaves"


def _gets(seats: Seats) -> str:
    return f"its messages get {percent(seats.beside)} of a port's rate beside the others"


def nodelist(seats: Seats) -> str:
    """Servers as Slurm takes them: ``node[01-03,7]``."""
    return printable_line(shorten(seats.servers), 1 << 20)


def label(job: Job) -> str:
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


def unknown_hosts(found: Jobs) -> list[str]:
    """A line about hosts of jobs that the fabric does not know, where there are any."""
    names = list(dict.fromkeys(name for job in found.jobs for name in job.unknown))
    if not names:
        return []
    told = f"{found.fabric.name} does not know {counted(len(names), 'host')} of jobs: "
    return [printable_line(f"{told}{shorten(names)}; they are left out", 200)]


def jobs_tables(found: Jobs) -> list[ResultTable]:
    """Jobs, pairs that hurt each other, and servers for the next job."""
    tables = [_jobs_table(found)] if found.jobs else []
    if found.pairs:
        tables.append(_harms_table(found))
    if found.next is not None:
        tables.append(_next_table(found))
        if found.rails and found.next.best.order != found.next.best.servers:
            tables.append(_order_table(found.next.best))
    return tables


def _jobs_table(found: Jobs) -> ResultTable:
    patterns = _PATTERNS if found.rails else ()
    numeric = ("servers", "leaves", "fewest", "alone", "beside others", *patterns, "rate", "loses")
    worst_rival = _worst_rivals(found.pairs)
    rows = []
    order = sorted(range(len(found.jobs)), key=lambda number: (-found.jobs[number].loss, number))
    for number in order[:ROWS]:
        job = found.jobs[number]
        rival = worst_rival.get(number)
        rows.append(
            (
                label(job),
                f"{job.servers:,}",
                f"{job.leaves:,}",
                f"{job.fewest_leaves:,}",
                percent(job.alone),
                percent(job.beside),
                *map(percent, (job.by_pattern or (None,) * 2)[: len(patterns)]),
                rate_words(job.beside_Bps),
                f"{100 * job.loss:.1f} ± {100 * job.margin:.1f}" if job.sends else UNKNOWN,
                UNKNOWN if rival is None else label(found.jobs[rival]),
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
        f"every job sends {found.traffic}, {counted(found.samples, 'sample')}; shares of a "
        "port's rate; fewest: the leaves that would do, given its own and the free servers"
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
    single = sum(job.listed.runs and job.servers == 1 for job in found.jobs)
    if single:
        remarks.append(f"{counted(single, 'job')} of one server {_use(single)} no network")
    waiting = sum(not job.listed.runs for job in found.jobs)
    if waiting:
        words = "keeps its servers but does" if waiting == 1 else "keep their servers but do"
        remarks.append(f"{counted(waiting, 'job')} {words} not run")
    more = len(found.jobs) - ROWS
    if more > 0:
        remarks.append(f"{more:,} more {verb(more, 'is')} in the JSON")
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
    for harm in found.pairs[:ROWS]:
        first, second = (label(found.jobs[number]) for number in harm.jobs)
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
    note = "what each loses when only these two run; where: the channel on which most of it is lost"
    more = len(found.pairs) - len(rows)
    if more > 0:
        note += f"; {counted(more, 'more pair')} {verb(more, 'is')} in the JSON"
    return ResultTable(
        title=f"Jobs that hurt each other on {found.fabric.name}",
        columns=("job", "loses", "and", "loses ", "channels", "where"),
        rows=tuple(rows),
        numeric=frozenset({"loses", "loses ", "channels"}),
        note=note,
    )


def _next_table(found: Jobs) -> ResultTable:
    assert found.next is not None
    patterns = _PATTERNS if found.rails else ()
    numeric = ("leaves", "alone", "beside others", *patterns, "others lose")
    rows = []
    for name, seats in (("best found", found.next.best), ("first free", found.next.first)):
        worst = UNKNOWN
        if seats.worst is not None:
            number, loss = seats.worst
            worst = f"{label(found.jobs[number])} ({percent(loss)})"
        rows.append(
            (
                name,
                f"{seats.leaves:,}",
                percent(seats.alone),
                f"{100 * seats.beside:.1f} ± {100 * seats.margin:.1f} %",
                *map(percent, seats.by_pattern[: len(patterns)]),
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
        note=f"{_searched(found)}{counted(found.free, 'server')} free, "
        f"{counted(found.next.tried, 'choice')} tried; the fewest leaves: "
        f"{found.next.fewest_leaves:,}; the hosts of all jobs get {gain} points more by the best",
    )


def _searched(found: Jobs) -> str:
    routes = found.fabric.routes
    if routes is None or not routes.together:
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
