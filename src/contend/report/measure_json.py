"""A measurement as JSON: the keys that scripts rely on."""

from __future__ import annotations

from typing import Any

from contend.report.findings_json import findings_json
from contend.runs import (
    COMPARED,
    CellRecord,
    CellSummary,
    Estimate,
    Run,
)


def measure_json(run: Run) -> dict[str, Any]:
    """The result of ``contend measure --json``.

    Times are of one operation: half a ping-pong, a message of a stream, anything else as a whole.
    ``ranks`` and ``hosts`` are numbers, or lists of them when launches differ. ``n`` counts timed
    samples, ``used`` those that the figures rest on; ``interval_s`` holds the median with
    ``coverage`` at least and is null below six samples; ``ci95_s`` is the same where that is 95 %.
    ``rate_Bps_per_rank`` is what a rank sends (p - 1 blocks, or one message) over the median. Cells
    that were skipped or failed have ``n`` 0. ``winners`` and ``collapses`` are there where
    schedules do the same work: in an all-to-all and in a sort.
    """
    record = run.record
    known = {cell.record.cell: cell for cell in run.summaries}
    return {
        "probe": record.probe,
        "mpi": {
            "name": record.library.name,
            "version": record.library.version,
            "standard": record.library.standard,
            "wrapper": record.library.wrapper,
        },
        "ranks": _one_or_all([cell.ranks for cell in record.cells]),
        "hosts": _one_or_all([cell.hosts for cell in record.cells]),
        "host_names": _host_names(run),
        "labels": record.labels,
        "cells": [
            _measured(run, known[cell.cell]) if cell.cell in known else _without(run, cell)
            for cell in record.cells
        ],
        **(findings_json(run) if record.probe in COMPARED else {}),
        "harness": {
            "timer_s": run.findings.timer_s,
            "clock_residual_s": run.findings.clock_residual_s,
            "launches": len(record.launches),
            "budget_s": record.budget_s,
        },
        "warnings": [{"code": one.code, "text": one.text} for one in run.findings.remarks],
        "run": str(run.folder),
    }


def _measured(run: Run, cell: CellSummary) -> dict[str, Any]:
    rate, modes = cell.rate, cell.modes
    return {
        **_labels(cell.record),
        "schedule": cell.schedule,
        "n": cell.n,
        "used": len(cell.used),
        "late": cell.late,
        "launches": len(cell.launches),
        "median_s": cell.median.value,
        "ci95_s": None if cell.median.ci95 is None else list(cell.median.ci95),
        **interval_json(cell.median, "_s"),
        "p99_s": cell.p99_s,
        "max_s": cell.max_s,
        "mean_s": cell.mean_s,
        "rate_Bps_per_rank": 0.0 if cell.sent == 0 else None if rate is None else rate.value,
        "mean_rate_Bps_per_rank": cell.mean_rate,
        "two_kinds": None
        if modes is None
        else {"fast_s": modes.fast_s, "slow_s": modes.slow_s, "slow_share": modes.slow_share},
        "verified": cell.verified,
        "ended": list(cell.reasons),
        "said": list(cell.said),
    }


def _without(run: Run, cell: CellRecord) -> dict[str, Any]:
    """A cell without samples: skipped, or failed before the first."""
    numbers = ("median_s", "ci95_s", "interval_s", "coverage", "p99_s", "max_s", "mean_s")
    rates = ("rate_Bps_per_rank", "mean_rate_Bps_per_rank", "two_kinds")
    ends = [
        end
        for launch in run.record.launches
        if launch.measured is not None
        for end in launch.measured.ends
        if end.cell == cell.cell
    ]
    return {
        **_labels(cell),
        "schedule": cell.algorithm,
        **dict.fromkeys(("n", "used", "late", "launches"), 0),
        **dict.fromkeys((*numbers, *rates)),
        "verified": False if any(end.verified is False for end in ends) else None,
        "ended": [end.reason for end in ends],
        "said": list(dict.fromkeys(end.said for end in ends if end.said)),
    }


def _labels(cell: CellRecord) -> dict[str, Any]:
    return {
        "algorithm": cell.algorithm,
        "bytes": cell.bytes,
        "ranks": cell.ranks,
        "hosts": cell.hosts,
        "labels": cell.labels,
    }


def interval_json(estimate: Estimate, unit: str = "") -> dict[str, Any]:
    """Both ends of an interval and what they cover; nulls where there is none."""
    interval = estimate.interval
    return {
        f"interval{unit}": None if interval is None else list(interval),
        "coverage": None if interval is None else estimate.coverage,
    }


def _one_or_all(values: list[int]) -> int | list[int] | None:
    different = sorted(set(values))
    return different[0] if len(different) == 1 else different or None


def _host_names(run: Run) -> list[str]:
    launches = [launch.measured for launch in run.record.launches if launch.measured is not None]
    return list(dict.fromkeys(host.name for one in launches for host in one.hosts))
