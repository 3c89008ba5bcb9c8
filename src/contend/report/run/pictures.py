"""Which pictures say something about runs."""

from __future__ import annotations

from collections.abc import Sequence

from contend.report.run.comparison import compared
from contend.runs import Run

PICTURES_OF_PROBES = {
    "bisect": "pairs",
    "hotspot": "hotspot",
    "pingpong": "pingpong",
    "sort": "steps",
}
"""The picture that shows what a probe is for."""


def fitting_pictures(runs: Sequence[Run]) -> list[str]:
    """The pictures that say something about these runs, the most telling one first."""
    probes = {run.record.probe for run in runs if not run.samples.is_empty()}
    own = [picture for probe, picture in PICTURES_OF_PROBES.items() if probe in probes]
    sent = any(cell.sent for run in runs if run.record.probe != "bisect" for cell in run.summaries)
    return [
        *(["comparison"] if compared(runs) else []),
        *own,
        *(["rates"] if sent else []),
        *(["times"] if any(run.summaries for run in runs) else []),
    ]
