"""``sbatch`` of Slurm: a job is sent to the queue, and waited for."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from contend.errors import MissingError, UsageError
from contend.mpi.launcher_kinds import line_for_each_rank, srun_death, srun_options
from contend.mpi.launches import Ended, Launch, judge
from contend.process import Finished, run_process

_LIMIT = 30.0
_BEAT = 0.1
# Seconds between two questions to the scheduler, which answers all users of a cluster.
_ASK = 2.0
# How often it may say that the job is over before its files do.
_PATIENCE = 3
# Beyond the program's own limit, so that it can end by itself.
_MARGIN = 60.0
_STATE = re.compile(r"\bJobState=(\w+)")
_RUNNING = ("RUNNING", "COMPLETING")
_WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "SUSPENDED")


@dataclass(frozen=True)
class _BatchJob:
    """A job in the hands of Slurm; its files lie in a folder that its hosts see."""

    number: str
    folder: Path
    environment: dict[str, str]
    command: tuple[str, ...]

    def state(self) -> str:
        """Its state, such as PENDING; "" when Slurm no longer knows it."""
        shown = run_process(["scontrol", "show", "job", self.number], self.environment, _LIMIT)
        match = _STATE.search(shown.text)
        return match[1] if match else ""

    def cancel(self) -> None:
        """Cancels the job, whatever its state."""
        run_process(["scancel", self.number], self.environment, _LIMIT)

    def status(self) -> int | None:
        """Exit status of the program; None before its end."""
        try:
            text = (self.folder / "status").read_text(encoding="ascii").strip()
        except OSError:
            return None
        return int(text) if text.isdecimal() else None

    def output(self) -> bytes:
        """What the program has written."""
        try:
            return (self.folder / "output").read_bytes()
        except OSError:
            return b""


def run_batch(
    launch: Launch,
    command: Sequence[str],
    words: Sequence[str],
    limit: float,
    watch: Callable[[], None],
) -> Ended:
    """Submits a job and waits for its end; cancels it if the caller stops waiting.

    Args:
        launch: ranks and hosts.
        command: sbatch, with the options that the user has given.
        words: the program and its arguments.
        limit: seconds that it may run, once it has begun.
        watch: called several times a second; what it raises ends the job.

    Raises:
        MissingError: when there is no sbatch.
        UsageError: when it refuses the job.
    """
    environment = launch.variables()
    with tempfile.TemporaryDirectory(prefix=".contend-job-", dir=launch.scratch or ".") as name:
        folder = Path(name).resolve()
        job = _send(launch, command, words, limit, folder, environment)
        try:
            return _wait(job, limit, watch)
        finally:
            if job.status() is None:
                job.cancel()


def _send(
    launch: Launch,
    command: Sequence[str],
    words: Sequence[str],
    limit: float,
    folder: Path,
    environment: dict[str, str],
) -> _BatchJob:
    if shutil.which(command[0], path=environment.get("PATH", os.defpath)) is None:
        raise MissingError(f"the launcher {command[0]} is not installed")
    script = folder / "job.sh"
    script.write_text(_script(launch, words, folder), encoding="utf-8")
    options = ["--parsable", "--job-name=contend", f"--output={folder / 'output'}"]
    options += [f"--ntasks={launch.ranks}", f"--time={math.ceil((limit + _MARGIN) / 60)}"]
    if launch.hosts:
        options += [f"--nodes={len(launch.hosts)}", f"--ntasks-per-node={launch.fullest}"]
        options += ["--nodelist=" + ",".join(host.name for host in launch.hosts)]
    elif launch.ranks_per_host is not None:
        options += [f"--ntasks-per-node={launch.ranks_per_host}"]
    sent = run_process([*command, *options, str(script)], environment, _LIMIT)
    number = sent.text.strip().split(";")[0]
    if sent.status != 0 or not number.isdecimal():
        raise UsageError(f"{command[0]} refuses the job: {sent.why()}")
    return _BatchJob(number, folder, environment, (*command, *options, str(script)))


def _script(launch: Launch, words: Sequence[str], folder: Path) -> str:
    """A job that starts the ranks with srun and leaves the exit status in a file."""
    within = replace(launch, launcher="srun")
    host_file = None
    if launch.hosts:
        host_file = folder / "hosts"
        host_file.write_text(line_for_each_rank(launch), encoding="utf-8")
    options = srun_options(within, host_file)
    lines = ["#!/bin/sh"]
    lines += [f"export {name}={shlex.quote(text)}" for name, text in options.environment.items()]
    lines += [shlex.join(["srun", *options.words, *words])]
    # In one step, so that nobody reads an empty file.
    status = shlex.quote(str(folder / "status"))
    lines += [f"echo $? > {status}.new && mv {status}.new {status}"]
    return "\n".join(lines) + "\n"


def _wait(job: _BatchJob, limit: float, watch: Callable[[], None]) -> Ended:
    sent = time.monotonic()
    waited, asked, endings = 0.0, -_ASK, 0
    while True:
        time.sleep(_BEAT)
        watch()
        elapsed = time.monotonic() - sent
        if job.status() is not None:
            return _judge(job, job.status(), waited)
        if elapsed - asked < _ASK:
            continue
        asked = elapsed
        state = job.state()
        if state in _WAITING:
            waited = elapsed
        elif state not in _RUNNING:
            # A shared file system may show the status a moment late.
            endings += 1
        if endings > _PATIENCE:
            why = (
                f"Slurm ended job {job.number}: {state}"
                if state
                else f"Slurm no longer knows job {job.number}"
            )
            return replace(_judge(job, 1, waited), why=why)
        if elapsed - waited > limit:
            return _judge(job, None, waited)


def _judge(job: _BatchJob, status: int | None, waited: float) -> Ended:
    output = job.output()
    death = srun_death(output.decode(errors="replace"))
    return judge(Finished(status, b"", output), death, job.command, waited)
