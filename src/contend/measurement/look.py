"""Looks into a file of samples while a probe writes it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

from contend.errors import InputError, UsageError
from contend.measurement.shape import Shape
from contend.measurement.warned import warnings_about
from contend.process import FirstEnded
from contend.runs import Progress, RanksFrame, SampleTail, Warned, read_samples

# Seconds between two looks.
_BEAT = 0.25


class Look:
    """Called often while a launch runs; looks now and then.

    Args:
        path: the file of samples.
        shape: how many ranks there must be.
        progressed: told how far the probe is.
        warned: told what is wrong with the ranks' places.
    """

    def __init__(
        self,
        path: Path,
        shape: Shape,
        progressed: Callable[[Progress], None],
        warned: Callable[[Warned], None],
    ) -> None:
        self._path = path
        self._shape = shape
        self._progressed = progressed
        self._warned = warned
        self._tail = SampleTail(path)
        self._next = 0.0
        self._first: FirstEnded | None = None
        self.ranks: RanksFrame | None = None

    def __call__(self) -> None:
        """Looks when it is time.

        Raises:
            UsageError: the ranks are not as many as were asked for.
        """
        if time.monotonic() >= self._next:
            self.now()
            self._next = time.monotonic() + _BEAT

    def now(self) -> None:
        """Looks, however short ago the last look was; errors as when called."""
        progress = self._tail.poll()
        if progress.probe is None:
            return
        if progress.probe.ranks != self._shape.ranks:
            raise UsageError(
                f"{self._shape.ranks} ranks were started and found {progress.probe.ranks}: the "
                "launcher belongs to another MPI library"
            )
        if self.ranks is None:
            self._find_ranks()
        self._progressed(progress)

    @property
    def first_ended(self) -> int | None:
        """The rank that ended first, where all are processes of this machine."""
        pid = None if self._first is None else self._first.pid(_BEAT)
        return None if pid is None or self.ranks is None else self.ranks.pid.index(pid)

    def _find_ranks(self) -> None:
        """Where the ranks are, which stands near the beginning of the file."""
        try:
            self.ranks = read_samples(self._path).ranks
        except InputError:
            return
        if self.ranks is not None:
            if set(self.ranks.host) == {socket.gethostname()}:
                self._first = FirstEnded(self.ranks.pid)
            for warning in warnings_about(self.ranks, self._shape):
                self._warned(warning)
