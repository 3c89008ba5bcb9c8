"""Starts of a probe: what earlier ones have left to be measured, and one watched to its end."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from contend.base.errors import UsageError
from contend.base.process import FirstEnded
from contend.base.units import rounded
from contend.lab.measurement.place import Place, Shape
from contend.lab.measurement.surroundings import ProcessorTime, warnings_about
from contend.lab.mpi import Death, Ended, Launch
from contend.lab.runs import (
    NO_TIME,
    CellEnd,
    CellRecord,
    Failure,
    LaunchRecord,
    PointError,
    Progress,
    RanksFrame,
    RunRecord,
    SampleTail,
    Warned,
)
from contend.lab.session import NoRoomError

CUT = "cut"
"""How a cell ends that was under way when its launch ended."""


@dataclass(frozen=True)
class Left:
    """What is left of launches, of which every `variants`-th has equal ranks on as many hosts."""

    record: RunRecord
    """Record of the run, with all starts so far."""
    variants: int
    """Numbers of ranks, on numbers of hosts."""
    retry: bool
    """Whether what failed is measured again."""
    few: frozenset[int] = frozenset()
    """Numbers of cells whose samples are too few for an interval: where a budget ended one, a
    larger budget goes on with it."""

    def is_left(self, number: int) -> bool:
        """Whether something of a launch is still to be measured."""
        starts = self.starts(number)
        if self.retry:
            failed = any(self._concerns(error, number) for error in self.record.errors)
            unmeasured = _begun_cells(starts) - self._ended_cells(starts, again=True)
            return failed or bool(unmeasured) or not any(map(self._is_complete, starts))
        given_up = any(
            error.whole and self._concerns(error, number) for error in self.record.errors
        )
        complete = any(map(self._is_complete, starts)) and not self._open_cells(starts)
        return not (given_up or complete or self.is_settled(number))

    def starts(self, number: int) -> list[LaunchRecord]:
        """All starts of a launch."""
        return [start for start in self.record.launches if start.whole == number]

    def settled(self, number: int) -> list[str]:
        """Points that a start of a launch leaves out, as lines for the probe."""
        starts = self.starts(number)
        cells = self.record.cells
        lines = [
            line_of(cells[cell]) for cell in sorted(self._ended_cells(starts, again=self.retry))
        ]
        lines += [
            line_of(error)
            for error in self.record.errors
            if self._concerns(error, number) and not error.whole
        ]
        return list(dict.fromkeys(lines))

    def is_settled(self, number: int) -> bool:
        """Whether a launch has nothing else, as far as launches like it tell."""
        settled, record = self.settled(number), self.record
        for launch in {start.whole for start in record.launches}:
            starts = self.starts(launch)
            if launch % self.variants == number % self.variants and any(
                map(self._is_complete, starts)
            ):
                points = {line_of(record.cells[cell]) for cell in _begun_cells(starts)}
                return bool(points) and points <= set(settled)
        return False

    def _is_complete(self, start: LaunchRecord) -> bool:
        """Whether every cell that a start was to measure has ended, one way or other."""
        if start.status == "done":
            return True
        measured = start.measured
        if measured is None or not measured.probe.cells:
            return False
        errors = {line_of(error) for error in self.record.errors if error.launch == start.whole}
        cells = self.record.cells
        ended = sum(
            end.reason != CUT or line_of(cells[end.cell]) in errors for end in measured.ends
        )
        return ended >= measured.probe.cells

    def _ended_cells(self, starts: Sequence[LaunchRecord], *, again: bool) -> set[int]:
        """Cells that are not measured again: all that have ended, or those with nothing to mend.

        Those that no time was left for are always left for another time.
        """
        ends = [end for start in starts for end in start.ends]
        return {
            end.cell for end in ends if self._is_settled(end) or not (again or self._is_open(end))
        }

    def _open_cells(self, starts: Sequence[LaunchRecord]) -> set[int]:
        """Cells that budgets ended before they had a figure, in all starts that came to them."""
        ends = [end for start in starts for end in start.ends if end.reason != CUT]
        ended = {end.cell for end in ends if not self._is_open(end)}
        return {end.cell for end in ends} - ended

    def _is_settled(self, end: CellEnd) -> bool:
        """Whether a cell has a figure, or makes no sense."""
        unsuited = end.reason == "skipped" and end.said != NO_TIME
        sampled = end.is_sampled and end.verified is not False and not self._is_open(end)
        return unsuited or sampled

    def _is_open(self, end: CellEnd) -> bool:
        """Whether a cell had no time, or too little."""
        if end.reason == "budget":
            return end.cell in self.few
        return end.reason == CUT or (end.reason == "skipped" and end.said == NO_TIME)

    def _concerns(self, error: PointError, number: int) -> bool:
        """Whether an error is one of a launch's variant."""
        return error.launch is None or error.launch % self.variants == number % self.variants


def _begun_cells(starts: Sequence[LaunchRecord]) -> set[int]:
    return {end.cell for start in starts for end in start.ends}


def line_of(point: CellRecord | PointError) -> str:
    """A point by its labels, as a probe reads it to leave it out."""
    labels = {"algorithm": point.algorithm, "bytes": point.bytes, **point.labels}
    return " ".join(
        f"{name}={value}"
        for name, value in labels.items()
        if isinstance(value, int | str) and not re.search(r"[\s#]|^$", str(value))
    )


# What probes exit with; see the page of any probe's --help.
_BAD_ARGUMENTS = 2
_CANNOT_WRITE = 3
# Seconds between two looks.
_BEAT = 0.25


@dataclass(frozen=True)
class StartOutcome:
    """How a start ended."""

    status: str
    """Word ``done``, or what happened instead, such as ``timeout`` or ``killed``."""
    why: str = ""
    """One line about that."""
    progress: Progress = field(default_factory=Progress)
    """How far the probe came."""
    waited: float = 0.0
    """Seconds in the queue of a batch system."""
    command: tuple[str, ...] = ()
    """The whole command line."""

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
    return StartOutcome(status, why, look.progress, ended.waited, ended.command)


class _Look:
    """Called often while a launch runs; looks now and then into the file of samples."""

    def __init__(
        self,
        path: Path,
        shape: Shape,
        progressed: Callable[[Progress], None],
        warned: Callable[[Warned], None],
    ) -> None:
        self._shape = shape
        self._progressed = progressed
        self._warned = warned
        self._tail = SampleTail(path)
        self._next = 0.0
        self._first: FirstEnded | None = None
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
        before, self.progress = self.progress, self._tail.poll()
        if self.progress.probe is None:
            return
        if self.progress.probe.ranks != self._shape.ranks:
            raise UsageError(
                f"{self._shape.ranks} ranks were started, and {self.progress.probe.ranks} found "
                "each other: the launcher belongs to another MPI library"
            )
        if before.ranks is None and self.ranks is not None:
            if set(self.ranks.host) == {socket.gethostname()}:
                self._first = FirstEnded(self.ranks.pid)
            for warning in warnings_about(self.ranks, self._shape):
                self._warned(warning)
        self._progressed(self.progress)

    @property
    def ranks(self) -> RanksFrame | None:
        """Where the ranks said that they are; None before they did."""
        return self.progress.ranks

    @property
    def first_ended(self) -> int | None:
        """The rank that ended first, where all are processes of this machine."""
        pid = None if self._first is None else self._first.pid(_BEAT)
        return None if pid is None or self.ranks is None else self.ranks.pid.index(pid)


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
