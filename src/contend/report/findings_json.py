"""Winners, collapses and comparisons as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contend.report.run_comparison_tables import compared
from contend.runs import Collapse, Condition, Contest, Estimate, Run


def findings_json(run: Run) -> dict[str, Any]:
    """``winners`` and ``collapses`` of a run; see the functions of those names for the rules."""
    return {
        "winners": [_contest(one) for one in run.findings.contests],
        "collapses": [_collapse(one) for one in run.findings.collapses],
    }


def comparison_json(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """For every run with cells of the first, ratios of its medians to those of the first."""
    return [
        {
            "base": one.base,
            "other": one.name,
            "cells": [
                {
                    **_condition(pair.base.condition),
                    "schedule": pair.base.schedule,
                    "bytes": pair.base.record.bytes,
                    "ratio": estimate_json(pair.factor),
                    "differs": pair.differs,
                }
                for pair in one.pairs
            ],
        }
        for one in compared(runs)
    ]


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """A number with its interval and what that covers; ``ci95`` is null where it is not 95 %."""
    ci95, interval = estimate.ci95, estimate.interval
    return {
        "value": estimate.value,
        "ci95": None if ci95 is None else list(ci95),
        "interval": None if interval is None else list(interval),
        "coverage": None if interval is None else estimate.coverage,
    }


def _contest(contest: Contest) -> dict[str, Any]:
    return {
        **_condition(contest.condition),
        "bytes": contest.bytes,
        "schedule": contest.winner.schedule,
        "median_s": contest.winner.median.value,
        "test_on": contest.basis.value,
        "rivals": [
            {
                "schedule": rival.cell.schedule,
                "times_slower": estimate_json(rival.factor),
                "p": rival.p,
                "beaten": rival.beaten,
            }
            for rival in contest.rivals
        ],
    }


def _collapse(found: Collapse) -> dict[str, Any]:
    avoided = None
    if found.avoided_by is not None and found.gain is not None:
        avoided = {
            "schedule": found.avoided_by.schedule,
            "times_faster": estimate_json(found.gain),
        }
    return {
        **_condition(found.condition),
        "schedule": found.worst.schedule,
        "kind": found.kind.value,
        "bytes": [cell.record.bytes for cell in found.cells],
        "worst_bytes": found.worst.record.bytes,
        "factor": estimate_json(found.factor),
        "against": {
            "schedule": found.reference.schedule,
            "bytes": found.reference.record.bytes,
        },
        "bimodal": found.worst.modes is not None,
        "avoided_by": avoided,
    }


def _condition(condition: Condition) -> dict[str, Any]:
    return {
        "ranks": condition.ranks,
        "hosts": condition.hosts,
        "labels": dict(condition.labels),
    }
