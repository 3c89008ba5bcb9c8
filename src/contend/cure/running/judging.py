"""Jobs on a fabric: how well each sits, whom it hurts, and where the next one would sit best."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from contend.base.errors import InputError, UsageError
from contend.base.progress import Progress, shown_progress
from contend.congestion import (
    ALL_TO_ALLS,
    RAIL_PATTERNS,
    PacketModel,
    PairLoss,
    SideBySide,
    carry_jobs,
    half_width,
    judge_jobs,
)
from contend.cure.running.next_job import choose_next
from contend.cure.running.result import Harm, Job, Jobs, LostOn, SharedChannel, UsedBy
from contend.cure.servers import (
    JobCost,
    RailLosses,
    Servers,
    hosts_kept,
    of_earlier_ports,
    same_ports,
    whole_of,
)
from contend.fabric import Fabric, count_rails, source_name
from contend.traffic.placement import (
    HostChoice,
    HostNames,
    ListedJob,
    choose_hosts,
    jobs_of_slurm,
    read_jobs,
)

JobSource = str | Path | Mapping[str, Sequence[str]] | Sequence[ListedJob]
"""A file that lists jobs, names of hosts by job, or listed jobs."""

# Channels of a pair that programs get, and jobs that an error names.
_MOST_CHANNELS, _NAMED = 10, 5


def jobs(
    fabric: Fabric,
    source: JobSource | None = None,
    *,
    following: int | None = None,
    hosts: HostChoice | None = None,
    pattern: str | None = None,
    patterns: Mapping[str, str] | None = None,
    samples: int = 200,
    seed: int = 1,
    progress: bool | Progress = False,
    whole: Fabric | None = None,
    packets: PacketModel | None = None,
) -> Jobs:
    """Says how well running jobs sit, which hurt each other, and where the next should go.

    Every job sends the pattern among its own hosts, a rank on each in the order of their names, all
    jobs at the same time. Where no pattern is given and servers of jobs have several adapters on
    the fabric, messages stay within rails: every adapter sends to the one of the same place, as
    GPUs' libraries do; what adapters of one server have for each other needs no network. If most
    hosts belong to such servers, half of the samples are rings through a job's servers, the others
    steps of its all-to-alls, and the next job gets whole servers in an order that suits its rings;
    else random pairs of servers send.

    Args:
        fabric: with routes.
        source: a file with what Slurm, PBS or LSF prints of jobs, or of lines with
            a job and its hosts; or names of hosts by job; or listed jobs; None asks the Slurm of
            this machine. Hosts that the fabric does not know are left out.
        following: for how many servers to choose the best free ones; None: for none.
        hosts: that they may be chosen from, as `contend.placement.parse` reads them; None is all.
        pattern: a specification, for as many ranks as each job has hosts; None: see above.
        patterns: those that some jobs send instead, by number or name of the job, with a rank on
            each of its hosts.
        samples: how many patterns are drawn; a few where all would be alike.
        seed: of all random choices.
        progress: True shows a bar; a function is told how many samples are counted, of how many.
        whole: the fabric before parts of it were gone, with routes: it is told what each job loses
            with them. The same hosts are compared, those that are left. None: as it was before
            `contend.load` took parts out, if it did.
        packets: how switches keep packets, to say packet by packet, too, who holds whom up.

    Returns:
        Its ``to_frame()`` has the jobs, ``to_frame("pairs")`` those that hurt each other, and
        ``next`` the servers chosen.

    Raises:
        UsageError: there are not enough free servers, or no such pattern for a job.
        InputError: the fabric knows no host of any job, a name is ambiguous, or the file is
            something else.
        MissingError: there is no Slurm to ask.
    """
    started = time.perf_counter()
    whole = whole or whole_of(fabric)
    servers = Servers(fabric)
    names = HostNames(fabric)
    listed, called = _listed(source)
    seats = [_seats(job, names, called) for job in listed]
    known = names if whole is None else HostNames(whole)
    if listed and not any(node in known for job in listed for node in job.nodes):
        example = next((node for job in listed for node in job.nodes), "nothing")
        raise InputError(called, 0, f"hosts of {fabric.name}", f'"{example}" and none that it has')
    held = [servers.in_order(known) for known, _ in seats]
    chosen = None if hosts is None else choose_hosts(hosts, fabric, names)
    taken = set(servers.of(np.concatenate([np.zeros(0, np.uint32), *held])))
    free = [number for number in servers.allowed(chosen) if number not in taken]
    several = count_rails(fabric) if pattern is None else 0
    if several:
        free = servers.alike(free)
    patterns_of = _own_patterns(listed, patterns or {})
    found = []
    for job, hosts_of_job, (_, unknown) in zip(listed, held, seats, strict=True):
        own = servers.of(hosts_of_job)
        leaves = len(np.unique(fabric.host_switch[hosts_of_job]))
        fewest = min(leaves, servers.fewest_leaves(len(own), [*own, *free]))
        found.append(
            Job(
                job=job.id,
                name=job.name,
                runs=job.runs,
                servers=len(own),
                hosts=tuple(fabric.host_name[host] for host in hosts_of_job),
                numbers=hosts_of_job,
                unknown=tuple(name for name in unknown if name not in known),
                leaves=leaves,
                fewest_leaves=fewest,
                pattern=patterns_of.get(job.id, ""),
            )
        )
    sending = [n for n, job in enumerate(found) if job.runs and job.servers > 1]
    groups = [found[number].numbers for number in sending]
    seen = np.concatenate([*held, servers.hosts([] if following is None else free)])
    within = pattern is None and len(np.unique(seen)) > len(servers.of(seen))
    several = several if within else 0
    common = RAIL_PATTERNS if several else ("bisect" if pattern is None else pattern,)
    differing = {
        row: found[number].pattern for row, number in enumerate(sending) if found[number].pattern
    }
    harms: tuple[Harm, ...] = ()
    hottest: tuple[SharedChannel, ...] = ()
    used = np.zeros((0, 3))
    waits_for_last = bool(several)
    if groups:
        with shown_progress(progress, fabric.name, "samples") as tell:
            judged = judge_jobs(
                fabric,
                groups,
                pattern=common,
                own=differing,
                rails=within,
                samples=samples,
                seed=seed,
                progress=tell,
            )
        samples, waits_for_last = judged.alone.shape[1], bool(judged.waits_for_last.all())
        for row, number in enumerate(sending):
            found[number] = _judged(found[number], judged, row, len(common), bool(several))
        harms = _harms(fabric, judged.pairs, sending, found)
        channels, rows, heats = judged.used
        used = np.stack([channels, np.array(sending)[rows], heats], axis=1)
        hottest = _hottest(fabric, judged, [found[number].job for number in sending])
        worst = judge_jobs(
            fabric, groups, pattern=ALL_TO_ALLS, rails=within, samples=samples, seed=seed
        )
        for number, shares in zip(sending, worst.beside, strict=True):
            found[number] = replace(found[number], all_at_once=float(shares.mean()))
    carried = None
    if packets is not None and groups:
        called_jobs = [found[number].job for number in sending]
        carried = carry_jobs(
            fabric,
            groups,
            called_jobs,
            packets,
            pattern=common,
            own=differing,
            rails=within,
            samples=samples,
            seed=seed,
            progress=progress,
        )
    chosen_next = None
    if following is not None:
        chosen_next = choose_next(
            fabric,
            servers,
            free,
            groups,
            following,
            common,
            samples,
            seed,
            own=differing,
            rails=within,
            called=[found[number].job for number in sending],
        )
    costs: tuple[JobCost, ...] = ()
    if whole is not None:
        left = [ListedJob(one.job, one.name, one.hosts, one.runs) for one in found]
        before = (
            jobs(whole, left, pattern=pattern, patterns=patterns, samples=samples, seed=seed).jobs
            if any(one.hosts for one in found)
            else found
        )
        costs = tuple(_costs(fabric, whole, listed, called, before, found))
    return Jobs(
        fabric=fabric,
        costs=costs,
        packets=carried,
        jobs=tuple(found),
        pairs=harms,
        free=len(free),
        next=chosen_next,
        pattern=", ".join(common),
        patterns=common,
        hottest=hottest,
        used=used,
        within_rails=within,
        rails=several,
        waits_for_last=waits_for_last,
        samples=samples,
        seed=seed,
        seconds=time.perf_counter() - started,
    )


def _listed(
    source: JobSource | None,
) -> tuple[Sequence[ListedJob], str]:
    """Jobs that are listed somewhere, and what errors call their list."""
    if source is None:
        return jobs_of_slurm(), "squeue"
    if isinstance(source, Mapping):
        return [ListedJob(job, "", tuple(names)) for job, names in source.items()], "jobs"
    if isinstance(source, str | Path):
        return read_jobs(str(source)), source_name(str(source))
    return source, "jobs"


def _own_patterns(listed: Sequence[ListedJob], patterns: Mapping[str, str]) -> dict[str, str]:
    """What jobs send whose pattern is known, by number."""
    own: dict[str, str] = {}
    for called, pattern in patterns.items():
        found = [job.id for job in listed if called in (job.id, job.name)]
        if not found:
            known = ", ".join(job.id for job in listed[:_NAMED]) or "none"
            raise UsageError(f"pattern {called}={pattern}: expected a job of {known}, got {called}")
        own |= dict.fromkeys(found, pattern)
    return own


def _hottest(
    fabric: Fabric, judged: SideBySide, called: Sequence[str]
) -> tuple[SharedChannel, ...]:
    """The hottest channels, with the names of their ends and of the jobs there."""
    return tuple(
        SharedChannel(
            channel=channel,
            source=fabric.channel_ends(channel)[0],
            target=fabric.channel_ends(channel)[1],
            heat=heat,
            jobs=tuple(UsedBy(called[job], part) for job, part in users),
        )
        for channel, heat, users in judged.hottest
    )


def _seats(job: ListedJob, names: HostNames, source: str) -> tuple[set[int], tuple[str, ...]]:
    """Hosts of a job, and names that mean none."""
    found: set[int] = set()
    unknown = []
    for node in job.nodes:
        if node in names:
            found.update(names.find(node, source, job.line))
        else:
            unknown.append(node)
    return found, tuple(unknown)


def _costs(
    rest: Fabric,
    whole: Fabric,
    listed: Sequence[ListedJob],
    source: str,
    before: Sequence[Job],
    after: Sequence[Job],
) -> Iterator[JobCost]:
    """What each job loses; `before` are the hosts that are left, on the whole network."""
    names, kept = HostNames(whole), hosts_kept(whole, rest)
    alike = same_ports(whole, rest)
    for job, then, now in zip(listed, before, after, strict=True):
        own = np.array(sorted(_seats(job, names, source)[0]), dtype=np.int64)
        losses, gone = RailLosses(whole, own, samples=0, seed=0), own[~kept[own]]
        hit = losses.hit(gone)
        both = [(one.beside or 0.0, one.beside_Bps) for one in (now, then)]
        yield JobCost(
            job=job.id,
            name=job.name,
            servers=losses.servers,
            lost=losses.emptied(gone),
            rails=tuple(one for one in hit if one.lost < one.rails),
            before=then.beside,
            after=now.beside if alike or now.beside is None else of_earlier_ports(*both),
        )


def _judged(job: Job, judged: SideBySide, row: int, patterns: int, rails: bool) -> Job:
    beside, rate = judged.beside[row], judged.bytes_per_second
    lost = judged.alone[row] - beside
    sent = judged.pattern_in[row]
    return replace(
        job,
        alone=float(judged.alone[row].mean()),
        beside=float(beside.mean()),
        loss=float(lost.mean()),
        # Of several patterns one of each is a sample.
        margin=half_width(lost.reshape(-1, patterns).mean(axis=1)),
        beside_Bps=None if rate is None else float(rate[row]),
        rings=float(beside[sent == 0].mean()) if rails and not job.pattern else None,
        all_to_alls=float(beside[sent == 1].mean()) if rails and not job.pattern else None,
        waits_for_last=bool(judged.waits_for_last[row]),
    )


def _harms(
    fabric: Fabric, pairs: Sequence[PairLoss], sending: Sequence[int], jobs: Sequence[Job]
) -> tuple[Harm, ...]:
    """Both directions of every pair together, the worst first."""
    by_ends = {(pair.victim, pair.rival): pair for pair in pairs}
    harms = []
    for ends in sorted({(min(ends), max(ends)) for ends in by_ends}):
        both = [by_ends[one] for one in (ends, ends[::-1]) if one in by_ends]
        lost: dict[int, float] = {}
        for pair in both:
            weight = len(jobs[sending[pair.victim]].numbers) * pair.loss
            for channel, part in pair.channels:
                lost[channel] = lost.get(channel, 0.0) + part * weight
        total = sum(lost.values())
        order = sorted(lost, key=lambda channel: (-lost[channel], channel))
        of_victim = {pair.victim: pair for pair in both}
        first, second = (of_victim.get(end) for end in ends)
        places = (sending[ends[0]], sending[ends[1]])
        harm = Harm(
            jobs=(jobs[places[0]].job, jobs[places[1]].job),
            places=places,
            losses=(first.loss if first else 0.0, second.loss if second else 0.0),
            margins=(first.margin if first else 0.0, second.margin if second else 0.0),
            channels=len(order),
            most=tuple(
                LostOn(channel, *fabric.channel_ends(channel), lost[channel] / total)
                for channel in order[:_MOST_CHANNELS]
            ),
        )
        harms.append((-total, places, harm))
    return tuple(harm for _, _, harm in sorted(harms, key=lambda one: one[:2]) if harm.hurts)
