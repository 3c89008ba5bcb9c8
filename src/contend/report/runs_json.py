"""One run or several as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contend.report.findings_json import comparison_json
from contend.report.measure_json import measure_json
from contend.runs import Run


def runs_json(runs: Sequence[Run]) -> dict[str, Any]:
    """A run by itself; several as ``results``, with how they compare to the first."""
    if len(runs) == 1:
        return measure_json(runs[0])
    return {
        "results": [measure_json(run) for run in runs],
        "comparison": comparison_json(runs),
    }
