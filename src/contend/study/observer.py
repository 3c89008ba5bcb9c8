"""What a study tells while it goes on, beside what every session does."""

from __future__ import annotations

from collections.abc import Mapping

from contend.session import Observer


class StudyObserver(Observer):
    """Is told what goes on in a study; everything by itself does nothing."""

    def named(self, names: Mapping[str, str]) -> None:
        """What the plan calls the cells, by their keys; told before anything else."""
