"""Which jobs run on which hosts: what Slurm, PBS or LSF says, or a file of jobs and hosts."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec

from contend.base.errors import InputError, MissingError
from contend.base.names import expand, split_list
from contend.base.process import Finished, Run, run_process
from contend.fabric import open_chunks, source_name

# Slurm tells of 100,000 jobs in less.
_MOST_BYTES = 1 << 29
# Far above any machine; a few characters may stand for a million names.
_MOST_NODES = 1 << 20
# A prompt and squeue's date may stand before its heading.
_FIRST_LINES = 64
_PATIENCE = 60.0

_RUNNING = "RUNNING"
# In these a job has its nodes still or already, and sends nothing.
_HOLDING = {
    "COMPLETING",
    "CONFIGURING",
    "POWER_UP_NODE",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "SUSPENDED",
}
# As squeue abbreviates them, and PBS and LSF.
_STATES = {
    "E": "COMPLETING",
    "RUN": _RUNNING,
    "SSUSP": "SUSPENDED",
    "USUSP": "SUSPENDED",
    "R": _RUNNING,
    "CG": "COMPLETING",
    "CF": "CONFIGURING",
    "RS": "RESIZING",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "S": "SUSPENDED",
}
_HEADS = {"hosts", "host", "nodes", "node", "nodelist", "hostlist"}
# What squeue prints by a format of its user's: a number and hosts, or their heads, and what stands
# between is no comma.
_APART = re.compile(r"(\d[\w.+%\[\]-]*|JOBID\w*)(?:\s*[|;]\s*|\s+)([^\s|;]+)[\s|;]*", re.IGNORECASE)
_RECORD = re.compile(r"^JobId=(?=\d)", re.MULTILINE)
_OF_PBS = re.compile(r"^Job Id: *(\S+)$", re.MULTILINE)
# What sacct numbers the steps of a job by.
_STEP = re.compile(r"(\d[\d_]*)\.(?:\d+|batch|extern|interactive)")
# In PBS's and LSF's lists of hosts: how many processes, and on which processors.
_SHARE = re.compile(r"^\d+\*|/.*$")


@dataclass(frozen=True)
class ListedJob:
    """A job that has hosts.

    Attributes:
        id: as users know it: ``1234``, ``1234_5`` of an array.
        name: that its user gave it, or "".
        nodes: names of its hosts, each once.
        runs: whether it does; one that does not keeps others off its hosts, but sends nothing.
        line: where a file names it first; 0 where lines say nothing.
    """

    id: str
    name: str
    nodes: tuple[str, ...]
    runs: bool = True
    line: int = 0


def read_jobs(path: str) -> list[ListedJob]:
    """Reads the jobs that have hosts from a file, compressed or not, or ``-``.

    It holds what ``squeue --json`` or ``scontrol show job`` (``-o`` or not) prints, or lines of a
    job and its hosts with a comma between: ``1234,node[01-04,7]``, as ``squeue -o %i,%N`` prints
    them; several lines may name one job. Tables of squeue, ``sacct -P`` and bjobs are read by their
    headings, and what ``qstat -f`` of PBS prints by its records.

    Raises:
        InputError: it holds something else, with the line where there is one.
        UsageError: it cannot be read.
    """
    return parse_jobs(open_chunks(path), source_name(path))


def parse_jobs(chunks: Iterable[bytes], source: str) -> list[ListedJob]:
    """The jobs that have hosts in the content of such a file; see `read_jobs`."""
    held, size = [], 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size > _MOST_BYTES:
            raise InputError(source, 0, f"at most {_MOST_BYTES >> 20} MiB of jobs", "more")
    content = b"".join(held)
    if content.lstrip().startswith(b"{"):
        return _of_json(content, source)
    text = content.decode("utf-8-sig", "replace")
    lines = text.splitlines()
    for at, line in enumerate(lines[:_FIRST_LINES]):
        if "JOBID" in (words := line.split()) and words[-1].startswith("NODELIST"):
            return _of_table(lines, at, source)
        if {"JOBID", "STAT", "EXEC_HOST"} <= {*words}:
            return _of_lsf(lines, at, source)
        heads = [word.lower() for word in line.split("|")]
        if "jobid" in heads and _HEADS & {*heads}:
            return _of_separated(lines, at, source)
    if _OF_PBS.search(text):
        return _of_pbs(text, source)
    if _RECORD.search(text) or text.lstrip().startswith("No jobs in the system"):
        return _of_records(text, source)
    return _of_lines(text, source)


def jobs_of_slurm(
    run: Run = run_process, environment: Mapping[str, str] = os.environ
) -> list[ListedJob]:
    """Asks this machine's Slurm: ``squeue --json`` or, where it cannot, ``scontrol show job``.

    Raises:
        MissingError: there is no Slurm here, or it does not answer.
        InputError: it answers something else.
    """
    told = run(["squeue", "--json"], environment, _PATIENCE)
    # Without its plugin for JSON it prints its table, or an error, and may call that a success.
    if told.status == 0 and told.output.lstrip().startswith(b"{"):
        return parse_jobs([told.output], "squeue --json")
    plain = run(["scontrol", "--oneliner", "show", "job"], environment, _PATIENCE)
    if plain.status != 0:
        raise MissingError(
            f"no list of jobs was given, and Slurm gave none: {_complaint(told, plain)}"
        )
    return parse_jobs([plain.output], "scontrol show job")


def _complaint(*ended: Finished) -> str:
    return "; ".join(dict.fromkeys(one.why() for one in ended if one.status != 0))


class _SlurmJob(msgspec.Struct):
    """What is read of a job; versions of Slurm differ in how they say numbers and states."""

    job_id: Any = ""
    name: str | None = ""
    nodes: str | None = ""
    job_state: str | list[str] | None = ""
    array_job_id: Any = None
    array_task_id: Any = None


class _SlurmJobs(msgspec.Struct):
    jobs: list[_SlurmJob]


def _of_json(content: bytes, source: str) -> list[ListedJob]:
    try:
        listed = msgspec.json.decode(content, type=_SlurmJobs)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(source, 0, "what squeue --json prints", str(error)) from None
    jobs = _Jobs(source)
    for job in listed.jobs:
        states = job.job_state if isinstance(job.job_state, list) else [job.job_state or ""]
        array, task = _number(job.array_job_id), _number(job.array_task_id)
        own = _number(job.job_id)
        identity = f"{array}_{task}" if array and task is not None else f"{own or job.job_id}"
        jobs.add(identity, job.name or "", states, job.nodes or "")
    return jobs.listed


def _number(value: object) -> int | None:
    """A number of Slurm's: itself, or with whether it is set."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _of_records(text: str, source: str) -> list[ListedJob]:
    """Records of ``scontrol show job``, whose fields always come in the same order."""
    jobs = _Jobs(source)
    starts = [match.start() for match in _RECORD.finditer(text)]
    line, before = 1, 0
    for start, end in pairwise([*starts, len(text)]):
        line, before = line + text.count("\n", before, start), start
        record = " ".join(part.strip() for part in text[start:end].splitlines())
        head, _, rest = record.partition(" UserId=")
        numbers, _, name = head.partition(" JobName=")
        found = dict(part.partition("=")[::2] for part in numbers.split())
        identity, task = found.get("JobId", ""), found.get("ArrayTaskId", "")
        if task.isdecimal():
            identity = f"{found.get('ArrayJobId', identity)}_{task}"
        state = _field(rest, " JobState=")
        nodes = _field(rest.partition(" ExcNodeList=")[2], " NodeList=")
        if not state:
            raise InputError(source, line, "a record of scontrol show job", f"{record[:60]!r}")
        jobs.add(identity, name, [state], "" if nodes == "(null)" else nodes, line)
    return jobs.listed


def _field(record: str, name: str) -> str:
    """The word after a name, "" for none."""
    return record.partition(name)[2].partition(" ")[0]


def _of_table(lines: list[str], heading: int, source: str) -> list[ListedJob]:
    """The table that squeue prints: words below a heading.

    A name may hold blanks, so columns before it count from the left and those behind from the
    right; a reason in parentheses may too.
    """
    columns = lines[heading].split()
    identity = columns.index("JOBID")
    state = next((columns.index(word) for word in ("ST", "STATE") if word in columns), None)
    name = columns.index("NAME") if "NAME" in columns else len(columns)
    jobs = _Jobs(source)
    for number, line in enumerate(lines[heading + 1 :], heading + 2):
        before, why, _ = line.partition(" (") if line.rstrip().endswith(")") else (line, "", "")
        row = before.split() + ["()"] * bool(why)
        if not row or row == columns:
            continue
        if len(row) < len(columns):
            expected = f"{len(columns)} words as in the heading"
            raise InputError(source, number, expected, f"{line[:60]!r}")

        def cell(place: int, row: list[str] = row) -> str:
            return row[place] if place <= name else row[place - len(columns)]

        nodes = row[-1]
        short = cell(state) if state is not None else _RUNNING
        words = " ".join(row[name : len(row) - (len(columns) - name - 1)])
        jobs.add(
            cell(identity),
            words,
            [_STATES.get(short.upper(), short)],
            "" if nodes.startswith("(") else nodes,
            number,
        )
    return jobs.listed


def _of_separated(lines: list[str], heading: int, source: str) -> list[ListedJob]:
    """A table whose columns stand between bars, of sacct or by a user's format of squeue."""
    heads = [word.lower() for word in lines[heading].split("|")]
    jobs = _Jobs(source)
    for number, line in enumerate(lines[heading + 1 :], heading + 2):
        words = line.split("|")
        if not line.strip() or len(words) == 1:
            continue
        if len(words) != len(heads):
            expected = f"{len(heads)} columns as in the heading"
            raise InputError(source, number, expected, f"{line[:60]!r}")
        row = dict(zip(heads, words, strict=True))
        identity = row["jobid"].strip()
        if _STEP.fullmatch(identity):
            continue
        state = row.get("state", row.get("st", _RUNNING)).strip().upper()
        nodes = next(row[word].strip() for word in heads if word in _HEADS)
        name = row.get("jobname", row.get("name", "")).strip()
        told = "" if nodes.startswith("(") or nodes == "None assigned" else nodes
        jobs.add(identity, name, [_STATES.get(state, state)], told, number)
    return jobs.listed


def _of_pbs(text: str, source: str) -> list[ListedJob]:
    """Records of ``qstat -f``: a job's number, and below it names and values; tabs go on a line."""
    jobs = _Jobs(source)
    starts = list(_OF_PBS.finditer(text))
    line, before = 1, 0
    for begin, end in pairwise([*(match.start() for match in starts), len(text)]):
        line, before = line + text.count("\n", before, begin), begin
        head, *lines = re.sub(r"\n\t", "", text[begin:end].replace("\r", "")).splitlines()
        row = dict(part.strip().partition(" = ")[::2] for part in lines)
        identity = head.partition(":")[2].strip().partition(".")[0]
        state = row.get("job_state", "")
        nodes = _hosts_of_shares(row.get("exec_host", ""))
        jobs.add(identity, row.get("Job_Name", ""), [_STATES.get(state, state)], nodes, line)
    return jobs.listed


def _of_lsf(lines: list[str], heading: int, source: str) -> list[ListedJob]:
    """The table of bjobs; hosts beyond the first one may stand alone on the lines below."""
    columns = lines[heading].split()
    place, status = columns.index("EXEC_HOST"), columns.index("STAT")
    jobs = _Jobs(source)
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
        nodes = _hosts_of_shares(row[place] if len(row) > place else row[0])
        if nodes.startswith("*"):
            raise InputError(source, number, "whole names of hosts, as bjobs -w prints", nodes)
        jobs.add(identity, name, [_STATES.get(state, state)], nodes, number)
    return jobs.listed


def _hosts_of_shares(text: str) -> str:
    """``n1,n2`` of ``n1/0*32+n2/0*32`` and of ``32*n1:32*n2``."""
    return ",".join(_SHARE.sub("", part) for part in re.split("[+:]", text.strip()))


def _of_lines(text: str, source: str) -> list[ListedJob]:
    """Lines of a job and its hosts."""
    jobs = _Jobs(source)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            # Lists of hosts have commas too, quoted or not.
            other = _APART.fullmatch(line.strip())
            words = other.groups() if other else next(csv.reader([line], skipinitialspace=True))
            job, *hosts = words
        except (csv.Error, StopIteration, ValueError) as error:
            raise InputError(source, number, "a job and its hosts", str(error)) from None
        listed = ",".join(hosts).strip()
        if not hosts or not job.strip():
            raise InputError(
                source, number, "a job and its hosts with a comma between", f"{line[:60]!r}"
            )
        if jobs.empty and listed.lower() in _HEADS:
            continue
        # Of what waits squeue may say why.
        jobs.add(job.strip(), "", [_RUNNING], "" if listed.startswith("(") else listed, number)
    return jobs.listed


class _Jobs:
    """Jobs by what they are called, as they are read."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._about: dict[str, tuple[str, bool, int]] = {}
        self._nodes: dict[str, dict[str, None]] = {}
        self._names = 0

    @property
    def empty(self) -> bool:
        return not self._about

    @property
    def listed(self) -> list[ListedJob]:
        return [
            ListedJob(job, name, tuple(self._nodes[job]), runs, line)
            for job, (name, runs, line) in self._about.items()
        ]

    def add(self, job: str, name: str, states: list[str], nodes: str, line: int = 0) -> None:
        """Adds hosts of a job, if it is in a state to have any."""
        words = {state.upper() for state in states}
        items = split_list(nodes)
        if not items or not words & {_RUNNING, *_HOLDING}:
            return
        self._about.setdefault(job, (name, not words & _HOLDING, line))
        own = self._nodes.setdefault(job, {})
        for item in items:
            names = expand(item, self._source, line)
            self._names += len(names)
            if self._names > _MOST_NODES:
                raise InputError(
                    self._source, line, f"at most {_MOST_NODES:,} hosts of all jobs", "more"
                )
            own.update(dict.fromkeys(names))
