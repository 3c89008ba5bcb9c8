"""Runs the launches of a measurement, one after the other, and keeps what each leaves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from contend.errors import MissingError
from contend.measurement.budget import Budget
from contend.measurement.look import Look
from contend.measurement.observer import Observer
from contend.measurement.one_launch import launch_once
from contend.measurement.place import Place
from contend.measurement.series import Series
from contend.measurement.step import Plan, Step
from contend.measurement.workload import Workload
from contend.runs import LaunchRecord, Warned


class Session:
    """One measurement under way.

    Args:
        workload: what the probe is to do.
        place: where.
        series: a run for every library.
        observer: is told what happens.
        now: the time of day.
    """

    def __init__(
        self,
        workload: Workload,
        place: Place,
        series: Sequence[Series],
        observer: Observer,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._workload = workload
        self._place = place
        self._series = series
        self._observer = observer
        self._now = now
        # What is not tried again.
        self._failed: set[tuple[int, object]] = set()

    def run(self, plan: Plan) -> None:
        """Launches all steps of a plan.

        A shape whose launch failed is not launched again under that library; everything else goes
        on. However this ends, the samples that were made are kept.

        Raises:
            UsageError: the probe refuses its arguments, or the launcher belongs to another library.
            MissingError: samples cannot be written, or a launcher is not there.
        """
        budget = Budget(plan.budget)
        try:
            for place, step in enumerate(plan.steps):
                left = sum(not self._has_failed(other) for other in plan.steps[place:])
                if not self._has_failed(step):
                    self._take(step, budget, left)
        except BaseException:
            # What went wrong first matters more than that nothing can be written any more.
            with contextlib.suppress(MissingError):
                self._fold()
            raise
        self._fold()

    def _take(self, step: Step, budget: Budget, left: int) -> None:
        series = self._series[step.series]
        seconds, limit = budget.share(left), budget.limit(left)
        if limit <= 0:
            why = "the budget was spent before it began"
            self._keep(step, LaunchRecord(step.number, step.shape.ranks, status="skipped", why=why))
            return
        self._observer.launching(step, seconds)
        series.run.raw_path(step.number).unlink(missing_ok=True)
        look = Look(
            series.run.raw_path(step.number),
            step.shape,
            lambda progress: self._observer.progressed(step, progress),
            lambda warning: self._warn(series, warning),
        )
        outcome = launch_once(
            step,
            series,
            self._workload,
            self._place,
            look,
            seconds=seconds,
            limit=limit,
            now=self._now,
        )
        budget.wait(outcome.waited)
        self._keep(step, outcome.record)
        if outcome.fatal is not None:
            raise outcome.fatal

    def _keep(self, step: Step, record: LaunchRecord) -> None:
        if record.status not in ("done", "skipped"):
            self._failed.add((step.series, step.shape))
        try:
            self._series[step.series].keep(record)
        finally:
            self._observer.ended(step, record)

    def _has_failed(self, step: Step) -> bool:
        return (step.series, step.shape) in self._failed

    def _warn(self, series: Series, warning: Warned) -> None:
        if series.warn(warning):
            self._observer.warned(warning)

    def _fold(self) -> None:
        """Brings samples together; where that cannot be written, each launch keeps its file."""
        counters = self._place.counters()
        for series in self._series:
            series.count(counters)
            try:
                series.fold()
            except OSError as error:
                raise MissingError(
                    f"{series.run.folder}: {error.strerror}: samples stay in launch-*.samples there"
                ) from error
