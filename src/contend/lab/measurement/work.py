"""A measured cell and its run folder, which launches fill."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from contend.base.errors import ContendError, UsageError
from contend.base.units import counted, format_link_speed, format_seconds, parse_sizes
from contend.lab.emulation import counted_together, drops_of
from contend.lab.measurement.carried_rates import carried
from contend.lab.measurement.memory import Fit
from contend.lab.measurement.place import Shape
from contend.lab.measurement.question import MeasuredCell
from contend.lab.measurement.starts import CUT, Left, StartOutcome, line_of, start_probe
from contend.lab.measurement.surroundings import library_name, library_record, new_record
from contend.lab.mpi import Launch, Library
from contend.lab.runs import (
    FEWEST,
    Failure,
    LaunchRecord,
    PointError,
    Run,
    RunRecord,
    Warned,
    write_record,
)
from contend.lab.session import RECORD, Attempt, CellError, NoRoomError, Observer, Step

if TYPE_CHECKING:
    from contend.lab.measurement.method import Measured

_DROPS = "drops"


class MeasuredWork:
    """A measured cell and its run folder; see `lab.session.Work`."""

    def __init__(self, method: Measured, cell: MeasuredCell, folder: Path, run: Run | None) -> None:
        self.cell = cell
        self.folder = folder
        self._method = method
        self._run = run
        self._shapes: tuple[Shape, ...] = ()
        self._retry = False

    @property
    def run(self) -> Run:
        """The run as far as it has come.

        Raises:
            UsageError: it has not begun.
        """
        if self._run is None:
            raise UsageError(f"{self.folder}: nothing has been measured")
        return self._run

    @property
    def library(self) -> Library:
        """The MPI library; known once it is prepared."""
        return self._method.libraries[self.cell.mpi]

    @property
    def variants(self) -> int:
        """Numbers of ranks, on numbers of hosts."""
        return self.cell.variants

    def left(self, launches: int, *, retry: bool) -> Sequence[int]:
        """Numbers of launches that are still to be made."""
        self._retry = retry
        numbers = range(launches * self.variants)
        if self._run is None:
            return numbers
        return [number for number in numbers if self._left.is_left(number)]

    @property
    def _left(self) -> Left:
        launches = self.run.record.launches
        cut = {end.cell for one in launches for end in one.ends if end.reason == "budget"}
        if cut:
            timed = self.run.results.filter(~pl.col("warmup"))["cell"].value_counts()
            cut -= set(timed.filter(pl.col("count") >= FEWEST)["cell"])
        return Left(self.run.record, self.variants, self._retry, frozenset(cut))

    def begin(self) -> None:
        """Makes the run folder, or brings together what is in it.

        Raises:
            CellError: there are not enough hosts, or they have not enough memory.
        """
        method = self._method
        refusal: Failure | None = None
        try:
            self._shapes = method.shapes(self.cell)
        except UsageError as error:
            refusal = Failure("hosts", str(error))
        if self._run is None:
            warnings = [] if refusal else method.warnings(self.cell)
            record = new_record(self.cell, self.library, method.place, method.budget, warnings)
            self._run = Run.create(self.folder, record)
            for warning in warnings:
                method.observer.warned(warning)
        else:
            self._refuse_other_library()
            self._run = self.run.fold()
        if self._retry:
            self._change(errors=())
        if not method.strict and refusal is None:
            refusal = self._leave_out_what_does_not_fit()
        if refusal is not None:
            raise CellError(refusal)

    def launch(
        self, step: Step, *, seconds: float, limit: float, observer: Observer
    ) -> Attempt | None:
        """Makes what is left of a launch; None where nothing is."""
        if self._left.is_settled(step.number):
            return None
        settled = self._left.settled(step.number)
        shape = self._shapes[step.variant]
        number = self._free_number(step.number)
        output = self.run.raw_path(number).resolve()
        without = self.folder / f"launch-{number:03}.without"
        words = [*self._method.arguments(self.cell, shape, self.folder)]
        words += ["--output", str(output), "--budget", f"{seconds:.3f}", "--seed", str(step.seed)]
        if self._method.place.rest:
            words += ["--pause", f"{self._method.place.rest:.6f}"]
        if settled:
            without.write_text("".join(f"{line}\n" for line in settled), encoding="utf-8")
            words += ["--without", str(without.resolve())]
        record = LaunchRecord(
            number=number,
            of=step.number,
            ranks=shape.ranks,
            ranks_per_host=shape.ranks_per_host,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            status="interrupted",
            why="contend was interrupted",
            labels=self._own_labels(),
        )
        # Already now: whatever becomes of contend or the disk, the run knows of this launch.
        self._keep(record)
        # What other runs in turns with this one sent is not of this one.
        self._method.place.counters()
        began = time.monotonic()
        try:
            outcome = start_probe(
                self._method.place,
                Launch(
                    self.library,
                    shape.ranks,
                    ranks_per_host=shape.ranks_per_host,
                    hosts=shape.hosts,
                    scratch=self.folder,
                ),
                shape,
                self._method.programs[self.cell.mpi, self.cell.probe],
                words,
                output=output,
                limit=limit,
                progressed=lambda now: observer.progressed(step, now.ended, now.cells),
                warned=lambda warning: self._warn(warning, observer),
            )
        except ContendError as error:
            self._keep(_ended(record, began, status="failed", why=str(error)))
            raise
        except BaseException:
            self._keep(_ended(record, began))
            raise
        finally:
            without.unlink(missing_ok=True)
            self._count()
        changed = {"status": outcome.status, "why": outcome.why, "command": outcome.command}
        self._keep(_ended(record, began, **changed))
        return self._attempt(number, shape, outcome, time.monotonic() - began)

    def fail(self, number: int, failure: Failure, point: str | None = None) -> None:
        """Keeps why there is no figure."""
        begun = bool(self._left.starts(number))
        if failure.cause == "budget" and point is None:
            if not begun:
                shape = self._shapes[number % self.variants]
                self._keep(
                    LaunchRecord(
                        number=self._free_number(number),
                        of=number,
                        ranks=shape.ranks,
                        ranks_per_host=shape.ranks_per_host,
                        status="skipped",
                        why=failure.reason,
                    )
                )
            return
        cell = (
            None if point is None else next(c for c in self.run.record.cells if line_of(c) == point)
        )
        error = PointError(
            cause=failure.cause,
            reason=failure.reason,
            launch=number if begun else None,
            algorithm=None if cell is None else cell.algorithm,
            bytes=None if cell is None else cell.bytes,
            labels={} if cell is None else cell.labels,
        )
        self._change(errors=(*self.run.record.errors, error))

    def finish(self) -> None:
        """Brings samples together; where that cannot be written, each launch keeps its file."""
        if self._run is None:
            return
        self._fold()
        self._change(carried_Bps=carried(self.run, self._method.place))

    def _own_labels(self) -> dict[str, str]:
        """What only this launch has: cables that are slower than the run's first."""
        wire = self._method.place.wire
        if wire is None or wire == self.run.record.wire_Bps or self.cell.wire is not None:
            return {}
        return {"cables": format_link_speed(wire)}

    def _attempt(
        self, number: int, shape: Shape, outcome: StartOutcome, elapsed_s: float
    ) -> Attempt:
        failure, point, left = outcome.failure, None, False
        if failure is not None:
            # What the launch wrote says which of its points have ended, and in which it did.
            self._fold()
            launch = next(one for one in self.run.record.launches if one.number == number)
            point, left = self._where(launch)
        ended, skipped = outcome.progress.ended, outcome.progress.skipped
        cells = counted(ended, "cell")
        if skipped:
            cells = f"{ended - skipped:,} of {cells}"
        if failure is None:
            rest = f"; {skipped:,} had no time left or did not fit" if skipped else ""
            summary = f"{cells} in {format_seconds(elapsed_s)}{rest}"
        else:
            kept = f"; {counted(ended - skipped, 'cell')} kept" if ended > skipped else ""
            summary = f"{outcome.status}: {outcome.why}{kept}"
        name = f"{library_name(self.library)}, {shape}"
        return Attempt(name, summary, failure, point, left, outcome.waited, elapsed_s)

    def _where(self, launch: LaunchRecord) -> tuple[str | None, bool]:
        """The point in which a launch ended, where that is sure, and whether others are left."""
        measured = launch.measured
        if measured is None or not measured.probe.cells:
            return None, True
        cut = [end.cell for end in measured.ends if end.reason == CUT]
        left = measured.probe.cells - (len(measured.ends) - len(cut))
        if left <= 0:
            return None, False
        active = self._active(launch, cut)
        if active is None:
            return None, True
        return line_of(self.run.record.cells[active]), left > 1

    def _active(self, launch: LaunchRecord, cut: Sequence[int]) -> int | None:
        """The cell that was under way when a launch ended; None where none had begun."""
        samples = self.run.samples.filter(launch=launch.number)
        last = dict(samples.group_by("cell").agg(pl.col("agreed_s").max()).iter_rows())
        # A cell without a sample has just begun; of others the one whose sample is the latest.
        return max(cut, key=lambda cell: last.get(cell, math.inf), default=None)

    def _free_number(self, number: int) -> int:
        """A number for a further start: the launch's own, as long as it has left nothing."""
        taken = {start.number for start in self.run.record.launches if start.status != "skipped"}
        free = number not in taken and not self.run.raw_path(number).exists()
        return number if free else self.run.next_launch()

    def _leave_out_what_does_not_fit(self) -> Failure | None:
        """Keeps the points whose data no host can hold; the failure of all of them, or None."""
        options, refusals, fitting = self.cell.options, [], 0
        names = options.get("algorithm", "all").split(",")
        sizes = (
            [str(size) for size in parse_sizes(options["bytes"])] if "bytes" in options else [""]
        )
        for name, size in itertools.product(names, sizes):
            narrowed = {"algorithm": name, "bytes": size} if size else {}
            cell = msgspec.structs.replace(self.cell, options={**options, **narrowed})
            compared = [self._method.memory(cell, shape) for shape in self._shapes]
            refused = [one for one in compared if one is not None and one.fit is Fit.EXCEEDS]
            if not refused:
                fitting += 1
                continue
            algorithm = name if size and name != "all" else None
            reason = refused[0].refusal()
            refusals.append(
                PointError("memory", reason, None, algorithm, int(size) if size else None)
            )
        if not fitting:
            return Failure("memory", refusals[0].reason)
        new = [error for error in refusals if error not in self.run.record.errors]
        self._change(errors=(*self.run.record.errors, *new))
        return None

    def _refuse_other_library(self) -> None:
        """Raises where samples of another library would come into the run."""
        before, now = self.run.record.library, library_record(self.library)
        if (before.name, before.version) != (now.name, now.version):
            raise UsageError(
                f"{self.folder}: was measured with {before.name} {before.version}, and "
                f"{self.cell.mpi or 'the first usable library'} is {library_name(self.library)} "
                "now: name the former with mpi=, or choose another folder"
            )

    def _warn(self, warning: Warned, observer: Observer) -> None:
        if warning not in self.run.record.warnings:
            self._change(warnings=(*self.run.record.warnings, warning))
            observer.warned(warning)

    def _keep(self, launch: LaunchRecord) -> None:
        """Keeps a launch, in place of an earlier one of its number."""
        others = [one for one in self.run.record.launches if one.number != launch.number]
        launches = sorted([*others, launch], key=lambda one: one.number)
        self._change(launches=tuple(launches))

    def _count(self) -> None:
        """Adds what the network counted during a launch, and warns of dropped packets."""
        counters = self._method.place.counters()
        if not counters:
            return
        together = counted_together(self.run.record.counters, counters)
        others = [warning for warning in self.run.record.warnings if warning.code != _DROPS]
        drops = drops_of(together)
        told = [Warned(_DROPS, str(drops))] if drops is not None and drops.total else []
        self._change(counters=together, warnings=(*others, *told))

    def _change(self, **changed: object) -> None:
        record: RunRecord = msgspec.structs.replace(self.run.record, **changed)
        with contextlib.suppress(OSError):
            # On a full disk samples matter more; bringing them together says that it is full.
            write_record(self.folder / RECORD, record)
        self._run = replace(self.run, record=record)

    def _fold(self) -> None:
        try:
            self._run = self.run.fold()
        except OSError as error:
            raise NoRoomError(
                f"{self.folder}: {error.strerror}: samples stay in launch-*.samples there"
            ) from error


def _ended(record: LaunchRecord, began: float, **changed: object) -> LaunchRecord:
    elapsed = round(time.monotonic() - began, 3)
    return msgspec.structs.replace(record, elapsed_s=elapsed, **changed)
