"""What a measurement tells while it goes on; everything by itself does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.measurement.step import Plan, Step
    from contend.mpi import Library
    from contend.runs import LaunchRecord, Progress, Warned


class Observer:
    """Base of those who want to know."""

    def compiling(self, library: Library, probe: str) -> None:
        """A probe is about to be compiled, or taken from the cache."""

    def planned(self, plan: Plan) -> None:
        """Everything is decided; the first launch comes next."""

    def launching(self, step: Step, seconds: float) -> None:
        """A launch begins, with a share of the budget."""

    def progressed(self, step: Step, progress: Progress) -> None:
        """The probe of a launch has written something; called now and then."""

    def ended(self, step: Step, record: LaunchRecord) -> None:
        """A launch has ended."""

    def warned(self, warning: Warned) -> None:
        """Something is to be known about the results."""
