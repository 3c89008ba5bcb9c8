"""Which jobs run on which hosts: what a batch system says, or a file of jobs and hosts."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from contend.base.errors import InputError, MissingError
from contend.base.process import Run, run_process
from contend.fabric import open_chunks, source_name
from contend.traffic.placement.batch_systems import (
    HEADS_OF_GRID_ENGINE,
    RECORD_OF_PBS,
    RUNNING,
    STATES,
    JobsByName,
    ListedJob,
    hosts_of_shares,
    of_flux,
    of_grid_engine,
    of_lsf,
    of_pbs,
    of_pbs_table,
)

# Slurm tells of 100,000 jobs in less.
_MOST_BYTES = 1 << 29
# A prompt and squeue's date may stand before its heading.
_FIRST_LINES = 64
_PATIENCE = 60.0
_HEADS = {"hosts", "host", "nodes", "node", "nodelist", "hostlist"}
# What squeue prints by a format of its user's: a number and hosts, or their heads, and what stands
# between is no comma.
_APART = re.compile(r"(\d[\w.+%\[\]-]*|JOBID\w*)(?:\s*[|;]\s*|\s+)([^\s|;]+)[\s|;]*", re.IGNORECASE)
# What people write themselves.
_NAMED = re.compile(r"([^\s,:|;\"]+)\s*:\s*(\S.*)")
_RECORD = re.compile(r"^JobId=(?=\d)", re.MULTILINE)
# What sacct numbers the steps of a job by.
_STEP = re.compile(r"(\d[\d_]*)\.(?:\d+|batch|extern|interactive)")


def read_jobs(path: str) -> list[ListedJob]:
    """Reads the jobs that have hosts from a file, compressed or not, or ``-``.

    It holds what ``squeue --json`` or ``scontrol show job`` (``-o`` or not) prints, or lines of a
    job and its hosts with a comma between: ``1234,node[01-04,7]``, as ``squeue -o %i,%N`` prints
    them, or a colon; several lines may name one job. Tables are read by their headings: those of
    squeue, ``sacct -P``, bjobs, ``qstat -n`` of PBS, ``flux jobs``, and of Grid Engine
    ``qstat -f``, ``qstat -g t`` and ``qhost -j``. What ``qstat -f`` of PBS prints is read by its
    records, or as JSON, and so is ``flux jobs --json``.

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
            return of_lsf(lines, at, source)
        if {"JOBID", "ST", "NTASKS"} <= {*words}:
            return of_flux(lines, at, source)
        if any(heads <= {*words} for heads in HEADS_OF_GRID_ENGINE):
            return of_grid_engine(lines, at, source)
        if words[:2] == ["Job", "ID"] and "NDS" in words:
            return of_pbs_table(lines, at, source)
        if words[:2] == ["Job", "id"]:
            expected = "hosts of jobs, as qstat -n or qstat -f prints"
            raise InputError(source, at + 1, expected, "none")
        if words[-1:] == ["NODELIST"] and "STATE" in words:
            expected = "jobs, as squeue or flux jobs -A prints"
            raise InputError(source, at + 1, expected, "a list of hosts")
        heads = [word.lower() for word in line.split("|")]
        if "jobid" in heads and _HEADS & {*heads}:
            return _of_separated(lines, at, source)
    if RECORD_OF_PBS.search(text):
        return of_pbs(text, source)
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
        why = "; ".join(dict.fromkeys(one.why() for one in (told, plain) if one.status != 0))
        raise MissingError(f"no list of jobs was given, and Slurm gave none: {why}")
    return parse_jobs([plain.output], "scontrol show job")


class _Job(msgspec.Struct):
    """What is read of a job; versions of Slurm differ in how they say numbers and states."""

    job_id: Any = ""
    name: str | None = ""
    nodes: str | None = ""
    job_state: str | list[str] | None = ""
    array_job_id: Any = None
    array_task_id: Any = None
    # Flux calls them so.
    id: int | str = ""
    nodelist: str | None = ""
    state: str | None = ""


class _JobOfPBS(msgspec.Struct):
    job_state: str = ""
    Job_Name: str = ""
    exec_host: str = ""


class _Listed(msgspec.Struct):
    jobs: list[_Job] | None = None
    Jobs: dict[str, _JobOfPBS] | None = None


def _of_json(content: bytes, source: str) -> list[ListedJob]:
    expected = "jobs in JSON of squeue, PBS or Flux"
    try:
        listed = msgspec.json.decode(content, type=_Listed)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(source, 0, expected, str(error)) from None
    if listed.jobs is None and listed.Jobs is None:
        raise InputError(source, 0, expected, "neither jobs nor Jobs")
    jobs = JobsByName(source)
    for job in listed.jobs or ():
        states = job.job_state if isinstance(job.job_state, list) else [job.job_state or ""]
        array, task = _number(job.array_job_id), _number(job.array_task_id)
        own = _number(job.job_id) or job.job_id or job.id
        identity = f"{array}_{task}" if array and task is not None else f"{own}"
        states += [STATES.get(job.state, job.state)] if job.state else []
        jobs.add(identity, job.name or "", states, job.nodes or job.nodelist or "")
    for name, entry in (listed.Jobs or {}).items():
        state = STATES.get(entry.job_state, entry.job_state)
        hosts = hosts_of_shares(entry.exec_host)
        jobs.add(name.partition(".")[0], entry.Job_Name, [state], hosts)
    return jobs.listed


def _number(value: object) -> int | None:
    """A number of Slurm's: itself, or with whether it is set."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _of_records(text: str, source: str) -> list[ListedJob]:
    """Records of ``scontrol show job``, whose fields always come in the same order."""
    jobs = JobsByName(source)
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
    jobs = JobsByName(source)
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
        short = cell(state) if state is not None else RUNNING
        words = " ".join(row[name : len(row) - (len(columns) - name - 1)])
        jobs.add(
            cell(identity),
            words,
            [STATES.get(short.upper(), short)],
            "" if nodes.startswith("(") else nodes,
            number,
        )
    return jobs.listed


def _of_separated(lines: list[str], heading: int, source: str) -> list[ListedJob]:
    """A table whose columns stand between bars, of sacct or by a user's format of squeue."""
    heads = [word.lower() for word in lines[heading].split("|")]
    jobs = JobsByName(source)
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
        state = row.get("state", row.get("st", RUNNING)).strip().upper()
        nodes = next(row[word].strip() for word in heads if word in _HEADS)
        name = row.get("jobname", row.get("name", "")).strip()
        told = "" if nodes.startswith("(") or nodes == "None assigned" else nodes
        jobs.add(identity, name, [STATES.get(state, state)], told, number)
    return jobs.listed


def _of_lines(text: str, source: str) -> list[ListedJob]:
    """Lines of a job and its hosts."""
    jobs = JobsByName(source)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            # Lists of hosts have commas too, quoted or not.
            other = _APART.fullmatch(line.strip()) or _NAMED.fullmatch(line.strip())
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
        jobs.add(job.strip(), "", [RUNNING], "" if listed.startswith("(") else listed, number)
    return jobs.listed
