"""Which running jobs send over which channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.congestion import channel_bytes
from contend.fabric import Fabric
from contend.placement import HostNames, ListedJob

# Shifts of a job's all-to-all that stand for all of them.
_SHIFTS = 16


@dataclass(frozen=True, eq=False)
class JobLoads:
    """What jobs send over channels, if the hosts of each send to each other.

    Attributes:
        names: of the jobs that run on at least two hosts of the fabric.
        load: messages of each in a step of its all-to-all, on average, shape [jobs, channels].
        hosts: numbers of their hosts.
    """

    names: tuple[str, ...]
    load: NDArray[np.float32]
    hosts: tuple[NDArray[np.int64], ...]

    def crossing(self, channel: int) -> list[str]:
        """Jobs that send over a channel, those that send most first."""
        load = self.load[:, channel]
        order = np.argsort(-load, kind="stable")
        return [self.names[job] for job in order.tolist() if load[job] > 0]


def job_loads(
    fabric: Fabric, listed: Sequence[ListedJob], source: str = "", seed: int = 1
) -> JobLoads:
    """The jobs that run, and what each sends where.

    Args:
        fabric: with routes by tables.
        listed: as a scheduler lists them; hosts that the fabric does not know are left out.
        source: what errors call their list.
        seed: of the choice of steps.

    Raises:
        UsageError: the fabric has no routes.
        InputError: a name means several hosts.
    """
    names, random = HostNames(fabric), np.random.default_rng(seed)
    told, loads, places = [], [], []
    for job in listed:
        known = [node for node in job.nodes if node in names]
        found = [host for node in known for host in names.find(node, source, job.line)]
        hosts = np.unique(np.array(found, dtype=np.int64))
        if not job.runs or len(hosts) < 2:
            continue
        steps = np.arange(1, len(hosts))
        if len(steps) > _SHIFTS:
            steps = random.choice(steps, _SHIFTS, replace=False)
        senders = np.tile(hosts, len(steps))
        receivers = np.concatenate([np.roll(hosts, -step) for step in steps.tolist()])
        sent = channel_bytes(fabric, senders, receivers, np.ones(len(senders), dtype=np.int64))
        told.append(job.id)
        loads.append((sent / len(steps)).astype(np.float32))
        places.append(hosts)
    load = np.stack(loads) if loads else np.zeros((0, fabric.channels), dtype=np.float32)
    return JobLoads(tuple(told), load, tuple(places))
