"""Starts launches: finds out which kind of launcher it is, starts the ranks, and watches them."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from contend.errors import MissingError, UsageError
from contend.mpi.examination import launch_environment
from contend.mpi.launcher_kinds import (
    HYDRA,
    OPEN_MPI_4,
    OPEN_MPI_5,
    PLACES,
    PREFIX,
    SRUN,
    filled,
    has_places,
)
from contend.mpi.launches import (
    Ended,
    Launch,
    Launcher,
    LauncherKind,
    judge,
    launch_folder,
    shared_memory_folders,
)
from contend.mpi.sbatch import run_batch
from contend.process import run_process, run_watched

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
