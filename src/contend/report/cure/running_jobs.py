"""Jobs that run: what they get, whom they hurt and where, and what parts that are gone cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contend.base.errors import printable_line
from contend.base.units import counted, rounded, verb
from contend.cure import Harm, Job, JobCost, Jobs, SharedChannel
from contend.fabric import Fabric
from contend.report.table import Number, ResultTable, table_of
from contend.report.words import UNKNOWN, costs_words, hit_words, percent

ROWS = 20
"""Rows of a table, and of the figure."""
PATTERNS = {"rings": "rings", "all-to-alls": "all_to_alls"}
"""What is sent within rails."""
# Characters of a job's own name.
_LONGEST_NAME = 24


def label(job: Job) -> str:
    """A job's number, with its name where it has one."""
    words = f"{job.job} {printable_line(job.name, _LONGEST_NAME)}"
    return printable_line(words)


def labels(found: Jobs) -> dict[str, str]:
    """What jobs are called, by their numbers at their scheduler."""
    return {job.job: label(job) for job in found.jobs}


def gets(found: Jobs, share: float | None, waits: bool | None = None) -> str:
    """What a job gets, by what it is judged by; None: as jobs without a pattern of their own."""
    if waits is None:
        waits = any(job.waits_for_last for job in found.jobs if job.sends and not job.pattern)
    if waits and not found.rails:
        return f"each host gets {percent(share)} of what its ports allow until the last message"
    return f"its messages get {percent(share)} of a port's rate"


def shares_of(found: Jobs) -> str:
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


def channel_words(fabric: Fabric, channel: int) -> str:
    """A channel by the cable it is of, as --without takes it, and where it leads."""
    if channel >= 2 * fabric.cables:
        return printable_line(fabric.channel_name(channel))
    cable = channel // 2
    ends = [
        (int(fabric.cable_from[cable]), int(fabric.cable_from_port[cable])),
        (int(fabric.cable_to[cable]), int(fabric.cable_to_port[cable])),
    ]
    (start, port), (end, _) = ends if channel % 2 == 0 else ends[::-1]
    names = fabric.switch_label
    return printable_line(f"{names[start]}:{port} -> {names[end]}")


def points(share: float, margin: float, digits: int = 1) -> str:
    """A share in points of a percent with half of its interval."""
    return f"{100 * share:.{digits}f} ± {100 * margin:.{digits}f}"


# Jobs of a channel that a table names.
_USERS = 4


def cost_sentence(found: Jobs) -> str:
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


def running_verdict(found: Jobs) -> str:
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
            f"most: {gets(found, worst.beside, worst.waits_for_last)}, and "
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
        where = channel_words(found.fabric, harm.most[0].channel)
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


def jobs_table(found: Jobs) -> ResultTable:
    """What each job gets, those first that lose most."""
    rival = _worst_rivals(found)

    def sends(job: Job) -> str:
        return (job.pattern or found.traffic) if job.sends else UNKNOWN

    return table_of(
        f"Jobs on {found.fabric.name}",
        sorted(found.jobs, key=lambda job: -job.loss)[:ROWS],
        {
            "job": label,
            "servers": "servers",
            "leaves": "leaves",
            "fewest": "fewest_leaves",
            **({"sends": sends} if any(job.pattern for job in found.jobs) else {}),
            "alone": "alone",
            "beside others": "beside",
            **(PATTERNS if found.rails else {}),
            **({"all at once": "all_at_once"} if _tells_all_at_once(found) else {}),
            "rate": "beside_Bps",
            "loses": Number(lambda job: points(job.loss, job.margin) if job.sends else UNKNOWN),
            "most to": lambda job: rival.get(job, UNKNOWN),
        },
        note="; ".join(_remarks(found)),
    )


def _tells_all_at_once(found: Jobs) -> bool:
    """Not beside all-to-alls that were asked for, whose messages are all sent at the same time."""
    return len(found.jobs) > 1 and found.pattern != "alltoall"


def _remarks(found: Jobs) -> list[str]:
    """What a reader of the table must know."""
    remarks = [
        f"{_whose(found)} {found.traffic}, {counted(found.samples, 'sample')}; shares of "
        f"{shares_of(found)}; fewest: the leaves that would do, given its own and the free servers"
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
        remarks.append(f"{counted(single, 'job')} of one server {verb(single, 'uses')} no network")
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


def _worst_rivals(found: Jobs) -> dict[Job, str]:
    """To which other job each loses most."""
    worst: dict[int, tuple[float, int]] = {}
    for harm in found.pairs:
        for victim, rival, loss in zip(harm.places, harm.places[::-1], harm.losses, strict=True):
            if loss > worst.get(victim, (0.0, 0))[0]:
                worst[victim] = (loss, rival)
    return {found.jobs[victim]: label(found.jobs[rival]) for victim, (_, rival) in worst.items()}


def hottest_table(found: Jobs) -> ResultTable:
    """Channels that all jobs together load most, and whose messages these are."""
    called = labels(found)

    def whose(channel: SharedChannel) -> str:
        words = [f"{called[one.job]} {percent(one.part, 0)}" for one in channel.jobs[:_USERS]]
        more = len(channel.jobs) - _USERS
        return ", ".join([*words, f"{more} more"] if more > 0 else words)

    return table_of(
        "Hottest channels while all jobs send",
        found.hottest,
        {
            "channel": lambda channel: channel_words(found.fabric, channel.channel),
            "heat": Number(lambda channel: rounded(channel.heat)),
            "messages of": whose,
        },
        note="between switches; heat: messages at once in the mean over samples, so many more on "
        "a channel as it is slower than the fastest port",
    )


def harms_table(found: Jobs) -> ResultTable:
    """Pairs of jobs that hurt each other, and where."""
    shown = found.pairs[:ROWS]
    note = "what each loses when only these two run; where: the channel on which most of it is lost"
    more = len(found.pairs) - len(shown)
    if more > 0:
        note += f"; {counted(more, 'more pair')} {verb(more, 'is')} in the JSON"

    def name(place: int) -> Callable[[Harm], str]:
        return lambda harm: label(found.jobs[harm.places[place]])

    def loss(place: int) -> Number[Harm]:
        return Number(lambda harm: points(harm.losses[place], harm.margins[place], 2))

    def where(harm: Harm) -> str:
        return (
            f"{channel_words(found.fabric, harm.most[0].channel)} ({100 * harm.most[0].part:.0f} %)"
        )

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
