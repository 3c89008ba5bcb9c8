"""Which process owns an emulated fabric: its folder, its mark, and cleaning up after it.

Its folder is held by the process that it belongs to, so that what was left behind is told from what
is in use, also by another container that shares the folder.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from contend.base.errors import MissingError
from contend.base.process import (
    HeldFolder,
    end_processes,
    hold_folder,
    left_folders,
    private_folder,
    process_folders,
)

_KIND = "emulation"
_SYSTEM = Path("/run")
# Seconds that processes in the namespaces get to end by themselves.
_GRACE = 2.0


def state_folder() -> Path:
    """The folder that holds those of all emulated fabrics of this user.

    Raises:
        MissingError: when there is no place for one.
    """
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    candidates = [_SYSTEM] if os.access(_SYSTEM, os.W_OK) else []
    candidates += [Path(session)] if os.path.isabs(session) else []
    scratch = Path(tempfile.gettempdir()) / f"contend-{os.geteuid()}"
    folder = candidates[0] / "contend" if candidates else scratch
    try:
        return private_folder(folder)
    except OSError as error:
        raise MissingError(f"{folder}: {error.strerror}") from error


def claim(root: Path) -> HeldFolder:
    """Makes a folder for an emulated fabric of this process.

    Raises:
        MissingError: when it cannot be written.
    """
    return hold_folder(root, _KIND)


def remove_left(root: Path) -> None:
    """Removes emulated fabrics whose owner is dead; all others, and other things, stay.

    A namespace ends by itself with the last process in it, and all its links with it.
    """
    for left in left_folders(root, _KIND):
        end_inside(left.mark, grace=0.0)
        left.remove()


def end_inside(mark: bytes, *, grace: float = _GRACE) -> None:
    """Ends all processes in the namespaces of an emulated fabric, kindly at first.

    Args:
        mark: of the fabric.
        grace: seconds to end by themselves.
    """
    end_processes(lambda: set(processes(mark)), grace=grace)


def processes(mark: bytes) -> Iterator[int]:
    """The processes in the namespaces of an emulated fabric, this one excepted.

    Namespaces are known by an address of their loopback: their numbers are given out again.
    """
    known: dict[str, bool] = {_namespace(Path("/proc/self")): False}
    for folder in process_folders():
        # Those of other users are not ours.
        with contextlib.suppress(OSError):
            namespace = _namespace(folder)
            if namespace not in known:
                # Of all that belongs to a namespace only its loopback outlives those around it.
                routes = (folder / "net" / "fib_trie").read_text("ascii")
                known[namespace] = f" {marked_address(mark)}\n" in routes
            if known[namespace] and int(folder.name) != os.getpid():
                yield int(folder.name)


def marked_address(mark: bytes) -> str:
    """The address of loopback that all namespaces of an emulated fabric have, and no others."""
    # Above the few that machines use by themselves.
    return f"127.{mark[0] | 0x80}.{mark[1]}.{mark[2]}"


def _namespace(process: Path) -> str:
    return str((process / "ns" / "net").readlink())
