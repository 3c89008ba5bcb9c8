"""Jobs and their hosts as PBS, LSF, Grid Engine and Flux print them.

Grid Engine prints a parallel job once for each of its hosts: below the host (``qhost -j``), below
its queue there (``qstat -f``) or with both in the row (``qstat -g t``). ``qstat`` alone names the
first host of each, which is not enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from contend.base.errors import InputError
from contend.base.names import expand, split_list

# Far above any machine; a few characters may stand for a million names.
_MOST_NODES = 1 << 20

RUNNING = "RUNNING"
# In these a job has its nodes still or already, and sends nothing.
HOLDING = {
    "COMPLETING",
    "CONFIGURING",
    "POWER_UP_NODE",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "SUSPENDED",
}
# As squeue abbreviates them, and PBS, LSF and Flux.
STATES = {
    "E": "COMPLETING",
    "RUN": RUNNING,
    "SSUSP": "SUSPENDED",
    "USUSP": "SUSPENDED",
    "R": RUNNING,
    "C": "COMPLETING",
    "CG": "COMPLETING",
    "CLEANUP": "COMPLETING",
    "CF": "CONFIGURING",
    "RS": "RESIZING",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "S": "SUSPENDED",
}
RECORD_OF_PBS = re.compile(r"^Job Id: *(\S+)$", re.MULTILINE)
# Words of a job in the table of qstat -n before its hosts, and which of them is its state.
_WORDS_OF_PBS, _STATE_OF_PBS = 11, 9
HEADS_OF_GRID_ENGINE = ({"job-ID"}, {"queuename", "qtype"}, {"HOSTNAME", "ARCH"})
"""What the headings of its tables have, each of them."""
# Characters of a queue at a host in Grid Engine's qstat, and of a host in its qhost.
_OF_A_QUEUE, _OF_A_HOST = 30, 23
# A job of Grid Engine: number, priority, name, user and state come before a date.
_DATE, _BEFORE_DATE = re.compile(r"\d\d/\d\d/\d{4}"), 5
# In PBS's and LSF's lists of hosts: how many processes, and on which processors.
_SHARE = re.compile(r"^\d+\*|/.*$")


@dataclass(frozen=True)
class ListedJob:
    """A job that has hosts."""

    id: str
    """Id as users know it: ``1234``, ``1234_5`` of an array."""
    name: str
    """Name that its user gave it, or ""."""
    nodes: tuple[str, ...]
    """Names of its hosts, each once."""
    runs: bool = True
    """Whether it does; one that does not keeps others off its hosts, but sends nothing."""
    line: int = 0
    """Where a file names it first; 0 where lines say nothing."""


class JobsByName:
    """Jobs by what they are called, as they are read."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._about: dict[str, tuple[str, bool, int]] = {}
        self._nodes: dict[str, dict[str, None]] = {}
        self._names = 0

    @property
    def empty(self) -> bool:
        """Whether there is none yet."""
        return not self._about

    @property
    def listed(self) -> list[ListedJob]:
        """All of them, in the order in which they came."""
        return [
            ListedJob(job, name, tuple(self._nodes[job]), runs, line)
            for job, (name, runs, line) in self._about.items()
        ]

    def add(self, job: str, name: str, states: list[str], nodes: str, line: int = 0) -> None:
        """Adds hosts of a job, if it is in a state to have any."""
        words = {state.upper() for state in states}
        items = split_list(nodes)
        if not items or not words & {RUNNING, *HOLDING}:
            return
        self._about.setdefault(job, (name, not words & HOLDING, line))
        own = self._nodes.setdefault(job, {})
        for item in items:
            names = expand(item, self._source, line)
            self._names += len(names)
            if self._names > _MOST_NODES:
                raise InputError(
                    self._source, line, f"at most {_MOST_NODES:,} hosts of all jobs", "more"
                )
            own.update(dict.fromkeys(names))


def of_pbs(text: str, source: str) -> list[ListedJob]:
    """Records of ``qstat -f``: a job's number, and below it names and values; tabs go on a line."""
    jobs = JobsByName(source)
    starts = list(RECORD_OF_PBS.finditer(text))
    line, before = 1, 0
    for begin, end in pairwise([*(match.start() for match in starts), len(text)]):
        line, before = line + text.count("\n", before, begin), begin
        head, *lines = re.sub(r"\n\t", "", text[begin:end].replace("\r", "")).splitlines()
        row = dict(part.strip().partition(" = ")[::2] for part in lines)
        identity = head.partition(":")[2].strip().partition(".")[0]
        state = row.get("job_state", "")
        nodes = hosts_of_shares(row.get("exec_host", ""))
        jobs.add(identity, row.get("Job_Name", ""), [STATES.get(state, state)], nodes, line)
    return jobs.listed


def of_lsf(lines: list[str], heading: int, source: str) -> list[ListedJob]:
    """The table of bjobs; hosts beyond the first one may stand alone on the lines below."""
    columns = lines[heading].split()
    place, status = columns.index("EXEC_HOST"), columns.index("STAT")
    jobs = JobsByName(source)
    identity, state, name = "", "", ""
    for number, line in enumerate(lines[heading + 1 :], heading + 2):
        row = line.split()
        if not row or row == columns:
            continue
        if len(row) > place:
            identity, state = row[columns.index("JOBID")], row[status]
            # A job that waits may have nothing in its column.
            name = row[place + 1] if len(row) > place + 1 and state != "PEND" else ""
            element = re.search(r"\[\d+\]$", name)
            identity += element[0] if element else ""
        elif not identity or len(row) > 1:
            expected = f"{place + 1} words or more, as in the heading"
            raise InputError(source, number, expected, f"{line[:60]!r}")
        nodes = hosts_of_shares(row[place] if len(row) > place else row[0])
        if nodes.startswith("*"):
            raise InputError(source, number, "whole names of hosts, as bjobs -w prints", nodes)
        jobs.add(identity, name, [STATES.get(state, state)], nodes, number)
    return jobs.listed


def hosts_of_shares(text: str) -> str:
    """``n1,n2`` of ``n1/0*32+n2/0*32`` and of ``32*n1:32*n2``."""
    return ",".join(_SHARE.sub("", part) for part in re.split("[+:]", text.strip()))


def of_pbs_table(lines: list[str], heading: int, source: str) -> list[ListedJob]:
    """The table of ``qstat -n`` of PBS and Torque: eleven words of each job, and then its hosts.

    With ``-1`` they stand in the same line, and otherwise in lines below, which go on where a line
    is full.
    """
    jobs = JobsByName(source)
    job, hosts, line = [""] * _WORDS_OF_PBS, "", 0

    def add() -> None:
        if hosts in ("", "--") and job[_STATE_OF_PBS] == "R":
            raise InputError(source, line, "the job's hosts, as qstat -n prints", "none")
        state = job[_STATE_OF_PBS]
        nodes = hosts_of_shares(hosts) if hosts != "--" else ""
        jobs.add(job[0].partition(".")[0], job[3], [STATES.get(state, state)], nodes, line)

    for number, text in enumerate(lines[heading + 1 :], heading + 2):
        row = text.split()
        if text[:1].isspace():
            # Above the heading of the next server, and where a comment was asked for, are words.
            hosts += row[0] if job[0] and len(row) == 1 else ""
        elif row and row[0].endswith(":"):
            continue
        elif row and not row[0].startswith("--") and row[:2] != ["Job", "ID"]:
            if len(row) < _WORDS_OF_PBS:
                expected = f"{_WORDS_OF_PBS} words or more, as below the heading of qstat -n"
                raise InputError(source, number, expected, f"{text[:60]!r}")
            add()
            job, hosts, line = row, "".join(row[_WORDS_OF_PBS:]), number
    add()
    return jobs.listed


def of_grid_engine(lines: list[str], heading: int, source: str) -> list[ListedJob]:
    """The tables of Grid Engine's ``qstat -f``, ``qstat -g t`` and ``qhost -j``."""
    jobs = JobsByName(source)
    of_hosts = lines[heading].startswith("HOSTNAME")
    width = _OF_A_HOST if of_hosts else _OF_A_QUEUE
    if of_hosts and not any("job-ID" in line for line in lines):
        raise InputError(source, heading + 1, "jobs below their hosts, as qhost -j prints", "none")
    section = ""
    for number, line in enumerate(lines[heading + 1 :], heading + 2):
        row = line.split()
        date = next((at for at, word in enumerate(row) if _DATE.fullmatch(word)), 0)
        if line.startswith("####"):
            break
        if date < _BEFORE_DATE:
            if row and not line[:1].isspace() and not row[0].startswith("--"):
                section = row[0]
            continue
        identity, name, state = row[0], " ".join(row[2 : date - 2]), row[date - 1]
        words = row[date + 2 :]
        holds = {*state} & {*"rtsST"} and "q" not in state
        if not holds or not words:
            continue
        place, *rest = words if section == "" else [section, *words[of_hosts:]]
        if section == "" and rest and rest[0].isdecimal() and int(rest[0]) > 1:
            expected = "all hosts of a job, as qstat -g t or qhost -j prints"
            raise InputError(source, number, expected, "its first one")
        task = f".{rest[1]}" if len(rest) > 1 else ""
        host = place.rpartition("@")[2]
        if len(place) >= width:
            # What is longer ends there, mostly within the domain.
            host, dot, _ = host.partition(".")
            if not dot:
                expected = "whole names of hosts, as with SGE_LONG_QNAMES=-1"
                raise InputError(source, number, expected, place)
        runs = RUNNING if {*state} & {*"rt"} and not {*state} & {*"sST"} else "SUSPENDED"
        jobs.add(f"{identity}{task}", name, [runs], host, number)
    return jobs.listed


def of_flux(lines: list[str], heading: int, source: str) -> list[ListedJob]:
    """The table of ``flux jobs``: of what runs the last word names its hosts."""
    columns = lines[heading].split()
    if columns[-1] != "INFO":
        expected = "hosts, as flux jobs -A -o '{id},{nodelist}' prints"
        raise InputError(source, heading + 1, expected, columns[-1])
    behind = len(columns) - columns.index("ST")
    jobs = JobsByName(source)
    for number, line in enumerate(lines[heading + 1 :], heading + 2):
        row = line.split()
        if len(row) < len(columns) or row[-behind] not in ("R", "C"):
            continue
        name = " ".join(row[columns.index("NAME") : -behind])
        jobs.add(row[0], name, [STATES[row[-behind]]], row[-1], number)
    return jobs.listed
