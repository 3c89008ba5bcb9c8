"""Which of several processes of this machine ended first."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterable


class FirstEnded:
    """Waits for the end of processes that need not be children, in a thread of its own.

    A launcher ends all ranks when one has died, and may then tell of one that it ended itself. The
    kernel queues the ends in their order, however late the thread gets to look.

    Args:
        pids: of processes of this machine; those that are gone are left out.
    """

    def __init__(self, pids: Iterable[int]) -> None:
        self._pid: int | None = None
        self._open: dict[int, int] = {}
        for pid in pids:
            try:
                self._open[os.pidfd_open(pid)] = pid
            except (OSError, AttributeError):
                # Gone, somebody else's, or a kernel that cannot.
                continue
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def pid(self, patience: float = 0.0) -> int | None:
        """The process that ended first; None while all run.

        Args:
            patience: seconds to wait for an end.
        """
        self._thread.join(patience)
        return self._pid

    def _wait(self) -> None:
        if not self._open:
            return
        with select.epoll() as ends:
            for descriptor in self._open:
                ends.register(descriptor, select.EPOLLIN)
            ((first, _),) = ends.poll(maxevents=1)
        self._pid = self._open[first]
        for descriptor in self._open:
            os.close(descriptor)
