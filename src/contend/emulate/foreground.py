"""A command that has the terminal while contend waits for it."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

from contend.errors import MissingError

# Seconds that a command gets to end by itself when the user has interrupted both.
_GRACE = 5.0
_BY_SIGNAL = 128


def run_foreground(
    command: Sequence[str], environment: Mapping[str, str], output: IO[str] | None = None
) -> int:
    """Runs a command to its end.

    Args:
        command: program and arguments.
        environment: whole.
        output: where its standard output goes; None for this process's own.

    Returns:
        Its exit status; 128 and a signal's number when that ended it, as shells say.

    Raises:
        MissingError: when it cannot be started.
    """
    try:
        process = subprocess.Popen(list(command), env=dict(environment), stdout=output)
    except OSError as error:
        raise MissingError(f"{command[0]}: {error.strerror}") from error
    try:
        status = process.wait()
    except KeyboardInterrupt:
        # The terminal has told the command too.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        raise
    finally:
        if process.poll() is None:
            process.terminate()
    return status if status >= 0 else _BY_SIGNAL - status
