"""Starts launches and watches them: by launchers of every kind, and as jobs in Slurm's queue."""

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
from typing import Protocol

from contend.base.errors import MissingError, UsageError
from contend.base.process import Finished, run_process, run_watched
from contend.lab.mpi.examination import launch_environment
from contend.lab.mpi.launcher_kinds import (
    HYDRA,
    OPEN_MPI_4,
    OPEN_MPI_5,
    PLACES,
    PREFIX,
    SRUN,
    filled,
    has_places,
    line_for_each_rank,
    srun_death,
    srun_options,
)
from contend.lab.mpi.launches import (
    Ended,
    Launch,
    Launcher,
    LauncherKind,
    judge,
    launch_folder,
    shared_memory_folders,
)

_SOON = 30.0
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
        shown = run_process(["scontrol", "show", "job", self.number], self.environment, _SOON)
        match = _STATE.search(shown.text)
        return match[1] if match else ""

    def cancel(self) -> None:
        """Cancels the job, whatever its state."""
        run_process(["scancel", self.number], self.environment, _SOON)

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
    sent = run_process([*command, *options, str(script)], environment, _SOON)
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


_LIMIT = 20.0
_OPEN_MPI = re.compile(r"\((?:Open ?MPI|OpenRTE|PRRTE|PMIx Reference RTE)\) (\d+)", re.IGNORECASE)
_HYDRA = re.compile(r"HYDRA build details|Intel\(R\) MPI Library", re.IGNORECASE)
# The bare words mean the library's own launcher, wherever it is.
_OWN = ("mpirun", "mpiexec")


def launch(
    request: Launch,
    program: Path,
    arguments: Sequence[str],
    *,
    limit: float,
    watch: Callable[[], None] = lambda: None,
) -> Ended:
    """Starts a program on its ranks and waits for its end; nothing of it stays.

    Args:
        request: ranks, hosts and launcher.
        program: an MPI program of the request's library.
        arguments: of the program.
        limit: seconds that it may run; waiting in the queue of a batch system does not count.
        watch: called several times a second; what it raises ends the launch.

    Raises:
        UsageError: for a launcher that cannot be told what is asked.
        MissingError: for a launcher that is not there.
    """
    words = [str(program), *arguments]
    if queue := _queue(request):
        return run_batch(request, queue, words, limit, watch)
    with launch_folder() as folder:
        kind, command, environment = prepare(request, folder)
        command += words
        finished, waited = run_watched(command, environment, limit, watch, waits=kind.waits)
    return judge(finished, kind.death(finished.all_text), command, waited)


class Launching(Protocol):
    """A place that makes launches ready for itself, and starts them."""

    def ready(self, request: Launch) -> Launch:
        """A launch as it is started there."""
        ...

    def launch(
        self,
        request: Launch,
        program: Path,
        arguments: Sequence[str],
        *,
        limit: float,
        watch: Callable[[], None],
    ) -> Ended:
        """Starts ranks there and waits for their end, as `launch` does."""
        return launch(self.ready(request), program, arguments, limit=limit, watch=watch)


def prepare(request: Launch, folder: Path) -> tuple[LauncherKind, list[str], dict[str, str]]:
    """The kind of the launcher, its command with all options, and its environment.

    Args:
        request: ranks, hosts and launcher.
        folder: of `launch_folder`, which must outlive the launch; the host file is written there.

    Raises:
        UsageError: for a launcher that cannot be told what is asked.
        MissingError: for a launcher that is not there.
    """
    if _queue(request):
        raise UsageError(
            f"the launcher {request.launcher}: this command runs in the foreground; give srun, or "
            "submit the command itself"
        )
    launcher = choose(request)
    host_file = None
    if request.hosts:
        host_file = folder / "hosts"
        host_file.write_text(launcher.kind.host_file(request), encoding="utf-8")
    options = launcher.kind.options(request, host_file)
    command = [*filled(launcher.command, request, host_file), *options.words]
    # What the user has set stays.
    environment = launch_environment(request.variables())
    if request.local:
        # Other libraries do not know these settings, which are not theirs.
        environment = {**shared_memory_folders(folder), **environment}
    return launcher.kind, command, {**options.environment, **environment}


def _queue(request: Launch) -> list[str]:
    """The words of a launcher that queues a job; none of one that starts ranks itself."""
    words = split_command(request.launcher)
    return words if words and Path(words[0]).name == "sbatch" else []


def choose(request: Launch) -> Launcher:
    """The launcher of a launch, and how to talk to it.

    Raises:
        UsageError: when the command line cannot be read.
        MissingError: when there is no such program.
    """
    words = split_command(request.launcher) or [_OWN[0]]
    if words[0] in _OWN and request.library.launcher:
        words[0] = request.library.launcher
    program = shutil.which(words[0], path=request.variables().get("PATH"))
    if program is None:
        raise MissingError(f"the launcher {words[0]} is not installed")
    words[0] = program
    if has_places(words):
        return Launcher(PLACES, tuple(words))
    return Launcher(_kind(Path(program), request), tuple(words))


def split_command(command: str) -> list[str]:
    """The words of a launcher's command line.

    Raises:
        UsageError: when a quote is left open.
    """
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the launcher {command}: {error}") from None


def _kind(program: Path, request: Launch) -> LauncherKind:
    """Told by the launcher's name, or by what it says of its version."""
    if program.name == "srun":
        return SRUN
    if not program.name.startswith(("mpirun", "mpiexec", "prterun")):
        return PREFIX
    version = run_process([str(program), "--version"], request.variables(), _LIMIT).all_text
    if match := _OPEN_MPI.search(version):
        # prterun counts PRRTE's versions, of which Open MPI 5 is the first to have any.
        five = int(match[1]) >= 5 or program.name == "prterun"
        return OPEN_MPI_5 if five else OPEN_MPI_4
    return HYDRA if _HYDRA.search(version) else PREFIX
