"""A program that is watched while it runs, and ended with all that it started."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from contend.mpi.process import Finished, end_all

# Seconds between two looks.
_BEAT = 0.1
# How much of what a program wrote is kept: its beginning, for the first error, and its end.
_KEPT = 64 * 1024
# What all children inherit, those in sessions of their own too.
_MARK = "CONTEND_LAUNCH"


def run_watched(
    command: Sequence[str],
    environment: Mapping[str, str],
    limit: float,
    watch: Callable[[], None],
    *,
    waits: Callable[[str], bool] = lambda _: False,
    folder: Path | None = None,
) -> tuple[Finished, float]:
    """Runs a program to its end, and nothing of it stays behind.

    Args:
        command: program and arguments.
        environment: whole.
        limit: seconds that it may take, once it no longer waits.
        watch: called several times a second; what it raises ends the program.
        waits: whether a batch system keeps the program waiting, by what it has said.
        folder: its working folder.

    Returns:
        How it ended (status None when it ran out of time) and the seconds that it waited.
    """
    mark = secrets.token_hex(8)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                list(command),
                env={**environment, _MARK: mark},
                stdin=subprocess.DEVNULL,
                # Files rather than pipes: nothing stops a program that says much.
                stdout=output,
                stderr=errors,
                start_new_session=True,
                cwd=folder,
            )
        except OSError as error:
            said = f"{command[0]}: {error.strerror or error}".encode()
            return Finished(127, errors=said), 0.0
        try:
            started = time.monotonic()
            waited = 0.0
            status: int | None = None
            while status is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(_BEAT)
                watch()
                past = time.monotonic() - started
                if waits(_kept(errors).decode(errors="replace")):
                    waited = past
                if status is None and past - waited > limit:
                    break
        finally:
            end_all(process, f"{_MARK}={mark}")
        return Finished(status, _kept(output), _kept(errors)), waited


def _kept(file: IO[bytes]) -> bytes:
    """What a file holds; of much only the first and the last."""
    # The program shares the place in the file, so it must not be moved.
    size = os.fstat(file.fileno()).st_size
    if size <= 2 * _KEPT:
        return os.pread(file.fileno(), size, 0)
    first = os.pread(file.fileno(), _KEPT, 0)
    return first + b"\n...\n" + os.pread(file.fileno(), _KEPT, size - _KEPT)
