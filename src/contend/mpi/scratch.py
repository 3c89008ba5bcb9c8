"""What launches leave on this machine: their folder, and the memory that ranks of a host share."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from contend.process import is_in_use, left_folders, scratch_folder

_SHARED_MEMORY = Path("/dev/shm")
_KIND, _MEMORY = "contend-launch", "memory"
_SEGMENTS, _TICK = "mpich_shar_tmp*", 0.02


@contextmanager
def launch_folder() -> Iterator[Path]:
    """A folder for what a launch leaves on this machine, its shared memory too, while it lasts.

    A launcher or a rank that is killed removes nothing of its own.
    """
    began = remove_left()
    with ExitStack() as folders:
        folders.callback(_remove_segments, began)
        folder = folders.enter_context(scratch_folder(_KIND))
        if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK):
            memory = folders.enter_context(scratch_folder(_KIND, _SHARED_MEMORY))
            (folder / _MEMORY).symlink_to(memory)
        yield folder


def remove_left() -> float:
    """Removes what launches of contends that were killed have left.

    Returns:
        Since when it came about, in seconds of the clock that files are dated by.
    """
    began = time.time()
    for root in (Path(tempfile.gettempdir()), _SHARED_MEMORY):
        for left in left_folders(root, _KIND):
            began = min(began, left.path.stat().st_ctime)
            left.remove()
    _remove_segments(began)
    return began


def _remove_segments(since: float) -> None:
    """Removes shared memory that ranks of MPICH left as they were killed: it has one place only."""
    for segment in _SHARED_MEMORY.glob(_SEGMENTS):
        with contextlib.suppress(OSError):
            state = segment.lstat()
            # A clock tick, by which the kernel dates files, earlier.
            recent = state.st_ctime >= since - _TICK
            if recent and state.st_uid == os.geteuid() and not is_in_use(segment):
                segment.unlink()


def shared_memory_folders(scratch: Path) -> dict[str, str]:
    """Tells Open MPI 4 and 5, and UCX, where to leave what launchers and ranks of one host share.

    Args:
        scratch: of `launch_folder`, or another folder that goes.
    """
    memory = (scratch / _MEMORY).resolve() if (scratch / _MEMORY).exists() else scratch
    return {
        "OMPI_MCA_orte_tmpdir_base": str(scratch),
        "PRTE_MCA_prte_tmpdir_base": str(scratch),
        "OMPI_MCA_btl_vader_backing_directory": str(memory),
        "OMPI_MCA_btl_sm_backing_directory": str(memory),
        "UCX_POSIX_DIR": str(memory),
    }
