"""Ends the processes of an emulated fabric, and removes what a process that was killed left."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from contend.emulate.owner import Claim, claims, marked_address

# Seconds for processes to end, first kindly, then by force; and between two looks.
_GRACE, _FORCE, _BEAT = 2.0, 5.0, 0.02


def remove(root: Path) -> list[Claim]:
    """Removes emulated fabrics whose owner is dead; all others, and other things, stay.

    A namespace ends by itself with the last process in it, and all its links with it.

    Returns:
        What was removed.
    """
    removed = []
    for left in claims(root):
        if not left.held:
            end_processes(left.mark, grace=0.0)
            shutil.rmtree(left.folder, ignore_errors=True)
            removed.append(left)
    return removed


def end_processes(mark: bytes, *, grace: float = _GRACE) -> None:
    """Ends all processes in the namespaces of an emulated fabric, kindly at first.

    Args:
        mark: of the fabric.
        grace: seconds to end by themselves.
    """
    for number, limit in ((signal.SIGTERM, grace), (signal.SIGKILL, _FORCE)):
        deadline = time.monotonic() + limit
        told: set[int] = set()
        # New ones may be started while others are being ended.
        while limit > 0 and (there := set(processes(mark))) and time.monotonic() < deadline:
            for process in there - told:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
            told |= there
            time.sleep(_BEAT)


def processes(mark: bytes) -> Iterator[int]:
    """The processes in the namespaces of an emulated fabric, this one excepted.

    Namespaces are known by an address of their loopback: their numbers are given out again.
    """
    known: dict[str, bool] = {_namespace(Path("/proc/self")): False}
    for folder in Path("/proc").glob("[0-9]*"):
        # Processes come and go while we look, and those of other users are not ours.
        with contextlib.suppress(OSError):
            namespace = _namespace(folder)
            if namespace not in known:
                known[namespace] = _is_marked(folder, mark)
            if known[namespace] and int(folder.name) != os.getpid():
                yield int(folder.name)


def _namespace(process: Path) -> str:
    return str((process / "ns" / "net").readlink())


def _is_marked(process: Path, mark: bytes) -> bool:
    # Of all that belongs to a namespace only its loopback outlives the namespaces around it.
    return f" {marked_address(mark)}\n" in (process / "net" / "fib_trie").read_text("ascii")
