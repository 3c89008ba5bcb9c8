"""Launches: starts ranks, watches them, and leaves nothing behind."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from contend.mpi.launch import sbatch
from contend.mpi.launch.choose import choose
from contend.mpi.launch.ended import Ended, judge
from contend.mpi.launch.form import Form
from contend.mpi.launch.prefix import filled
from contend.mpi.launch.request import Launch
from contend.mpi.launcher import launch_environment
from contend.mpi.watched import run_watched


def launch(
    request: Launch,
    program: Path,
    arguments: Sequence[str],
    *,
    limit: float,
    watch: Callable[[], None] = lambda: None,
) -> Ended:
    """Starts a program on its ranks and waits for its end.

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
    if sbatch.is_meant(request):
        return sbatch.run(request, words, limit, watch)
    with tempfile.TemporaryDirectory(prefix="contend-launch-") as folder:
        form, command, environment = prepare(request, Path(folder))
        command += words
        finished, waited = run_watched(command, environment, limit, watch, waits=form.waits)
    said = f"{finished.errors.decode(errors='replace')}\n{finished.text}"
    return judge(finished, form.death(said), command, waited)


def prepare(request: Launch, folder: Path) -> tuple[Form, list[str], dict[str, str]]:
    """The form of the launcher, its command with all options, and its environment.

    Args:
        request: ranks, hosts and launcher.
        folder: where the host file is written; it must outlive the launch.

    Raises:
        UsageError: for a launcher that cannot be told what is asked.
        MissingError: for a launcher that is not there.
    """
    launcher = choose(request)
    form = launcher.form
    host_file = None
    if request.hosts:
        host_file = folder / "hosts"
        host_file.write_text(form.host_file(request), encoding="utf-8")
    options = form.options(request, host_file)
    command = [*filled(launcher.command, request, host_file), *options.words]
    # What the user has set stays.
    environment = launch_environment(request.variables())
    return form, command, {**options.environment, **environment}
