"""One start of a probe: watched while it writes its samples, and how it ended."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from contend.base.errors import InputError, UsageError
from contend.base.process import FirstEnded
from contend.base.units import rounded
from contend.lab.measurement.place import Place, Shape
from contend.lab.measurement.surroundings import ProcessorTime, warnings_about
from contend.lab.mpi import Death, Ended, Launch
from contend.lab.runs import Failure, Progress, RanksFrame, SampleTail, Warned, read_samples
from contend.lab.session import NoRoomError

# What probes exit with; see the page of any probe's --help.
_BAD_ARGUMENTS = 2
_CANNOT_WRITE = 3
# Seconds between two looks.
_BEAT = 0.25


@dataclass(frozen=True)
class StartOutcome:
    """How a start ended.

    Attributes:
        status: ``done``, or what happened instead in one word, such as ``timeout`` or ``killed``.
        why: one line about that.
        ranks: where the ranks said that they are; None where they never did.
        progress: how far the probe came.
        waited: seconds in the queue of a batch system.
        command: the whole command line.
    """

    status: str
    why: str = ""
    ranks: RanksFrame | None = None
    progress: Progress = field(default_factory=Progress)
    waited: float = 0.0
    command: tuple[str, ...] = ()

    @property
    def failure(self) -> Failure | None:
        """Why it did not come to its end; None when it did."""
        if self.status == "done":
            return None
        return Failure.of_ending(self.status, self.why, self.status)


def start_probe(
    place: Place,
    request: Launch,
    shape: Shape,
    program: Path,
    arguments: Sequence[str],
    *,
    output: Path,
    limit: float,
    progressed: Callable[[Progress], None],
    warned: Callable[[Warned], None],
) -> StartOutcome:
    """Starts a probe and waits for its end.

    Args:
        place: where.
        request: what the launcher is asked for.
        shape: the same ranks and hosts.
        program: the probe.
        arguments: all of it.
        output: its file of samples.
        limit: seconds after which it is ended.
        progressed: told how far the probe is.
        warned: told what is wrong with the ranks' places, or with this machine if they are on it.

    Raises:
        UsageError: the probe refuses its arguments, or the launcher belongs to another library.
        NoRoomError: the probe cannot write its samples.
        MissingError: the launcher is not there.
    """
    look, before = _Look(output, shape, progressed, warned), ProcessorTime.now()
    ended = place.launch(request, program, arguments, limit=limit, watch=look)
    if ended.status is not None:
        look.now()
    # Only what is emulated is asked for by more than names: its hosts are this machine too.
    if place.alone or place.asked:
        for warning in ProcessorTime.now().warnings_since(before):
            warned(warning)
    # What every other launch would be told too.
    if ended.said and ended.status == _BAD_ARGUMENTS:
        raise UsageError(ended.said)
    if ended.said and ended.status == _CANNOT_WRITE:
        raise NoRoomError(ended.said)
    status, why = _how(ended, look, limit)
    return StartOutcome(status, why, look.ranks, look.progress, ended.waited, ended.command)


class _Look:
    """Called often while a launch runs; looks now and then into the file of samples."""

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
        self.progress = Progress()

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
        self.progress = self._tail.poll()
        if self.progress.probe is None:
            return
        if self.progress.probe.ranks != self._shape.ranks:
            raise UsageError(
                f"{self._shape.ranks} ranks were started, and {self.progress.probe.ranks} found "
                "each other: the launcher belongs to another MPI library"
            )
        if self.ranks is None:
            self._find_ranks()
        self._progressed(self.progress)

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


def _how(ended: Ended, look: _Look, limit: float) -> tuple[str, str]:
    """A word and a line for how a launch ended."""
    if ended.status == 0:
        return "done", ""
    if ended.status is None:
        return "timeout", f"did not end within {rounded(limit)} s and was ended"
    if ended.said:
        return "failed", ended.said
    if ended.death is not None:
        return "killed", _killed(ended.death, look)
    return "failed", ended.why


def _killed(death: Death, look: _Look) -> str:
    """Who died, which this machine's kernel may know where the launcher does not."""
    known, ranks = _with_rank(death, look.ranks), look.ranks
    first = None if death.first or known.rank is None else look.first_ended
    if ranks is None or first is None or first == known.rank:
        return str(known)
    where = f"process {ranks.pid[first]} on {ranks.host[first]}"
    launcher = f"the launcher says that rank {known.rank} was ended by SIGKILL"
    return f"rank {first} ({where}) ended before the others; {launcher}"


def _with_rank(death: Death, ranks: RanksFrame | None) -> Death:
    """A death with rank and process, of which launchers often tell only one."""
    if ranks is None:
        return death
    if death.rank is None and death.pid in ranks.pid:
        return replace(death, rank=ranks.pid.index(death.pid))
    if death.rank is not None and not death.pid and death.rank < len(ranks.pid):
        return replace(death, pid=ranks.pid[death.rank])
    return death
