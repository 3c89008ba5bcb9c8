"""A study's results as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from contend.report.study_tables import references_of, scaled
from contend.study import Outcome, Plan, Record


def study_json(plan: Plan, outcomes: Sequence[Outcome], run: str) -> dict[str, Any]:
    """The result of ``contend study --json``.

    Args:
        plan: what was asked for.
        outcomes: the cells that have ended.
        run: the run folder.
    """
    return {
        "study": plan.name,
        "run": run,
        "average": plan.average,
        "notes": list(plan.notes),
        "cells": [_cell(plan, outcome.record) for outcome in outcomes],
    }


def _cell(plan: Plan, record: Record) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "fabric": record.fabric,
        "engine": record.engine,
        "pattern": record.pattern,
        "status": record.status,
    }
    if record.status == "failed":
        return entry | {"cause": record.cause}
    return entry | {
        "samples": record.simulation["samples"],
        "seed": record.simulation["seed"],
        "rated_bisection": record.rated_bisection,
        "scale": record.scale,
        "averages": {name: msgspec.to_builtins(a) for name, a in record.averages.items()},
        "references": list(_references(plan, record)),
        "elapsed_s": record.simulation["elapsed_s"],
    }


def _references(plan: Plan, record: Record) -> list[dict[str, Any]]:
    """Numbers known from elsewhere; ours are multiplied by the scale for the difference."""
    found = []
    for reference in references_of(plan, record):
        average = reference.average or plan.average
        if (ours := scaled(record, average)) is not None:
            theirs = reference.percent / 100
            found.append(
                {
                    "source": reference.source,
                    "average": average,
                    "value": theirs,
                    "difference": ours.mean - theirs,
                }
            )
    return found
