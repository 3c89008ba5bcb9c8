"""A measured study's results as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from contend.study import MeasuredPlan, Result
from contend.study.measured.cell import Cell
from contend.study.measured.record import Record


def measured_json(
    plan: MeasuredPlan,
    records: Sequence[Record],
    results: Sequence[Result],
    left: Sequence[Cell],
    run: str,
) -> dict[str, Any]:
    """The result of ``contend study --json`` for a plan of measurements.

    Args:
        plan: what was measured.
        records: cells that have ended, one for each launch.
        results: points over all launches.
        left: cells that no time was left for.
        run: the folder of the study.
    """
    return {
        "study": plan.name,
        "run": run,
        "notes": list(plan.notes),
        "points": [_point(plan, result) for result in results],
        "cells": [msgspec.to_builtins(record) for record in records],
        "left": [cell.label for cell in left],
        "warnings": list(dict.fromkeys(said for record in records for said in record.warnings)),
    }


def _point(plan: MeasuredPlan, result: Result) -> dict[str, Any]:
    failure = result.failure
    interval = result.interval_s
    return {
        **asdict(result.place),
        **asdict(result.series),
        "seats": result.seats,
        "launches": len(result.points),
        "status": "failed" if result.median_s is None else "done",
        "cause": None if failure is None else failure.cause,
        "said": "" if failure is None else failure.said,
        "n": 0 if result.summary is None else result.summary.n,
        "late": 0 if result.summary is None else result.summary.late,
        "median_s": result.median_s,
        "ci95_s": None if interval is None else list(interval),
        "rate_Bps_per_rank": result.rate,
        "published": [
            {
                "source": known.source,
                "said": known.said,
                "conditions": known.conditions,
                "status": "failed" if known.failed else "done",
                "seconds": known.seconds,
                "rate_Bps_per_rank": known.rate_of(result.place.ranks),
            }
            for known in plan.known()
            if known.placed and known.beside(result.place)
        ],
    }
