"""Words of jobs: what they are called, what they get, and by which cable a channel is known."""

from __future__ import annotations

from contend.base.errors import printable_line
from contend.cure import Job, Jobs
from contend.fabric import Fabric
from contend.report.words import percent

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
