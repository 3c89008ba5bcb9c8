"""What ``contend measure`` prints of a run."""

from __future__ import annotations

from contend.report.cell_tables import cell_tables
from contend.report.collapse_table import collapse_tables
from contend.report.harness_tables import harness_tables, warning_tables
from contend.report.part_tables import part_tables
from contend.report.result_table import ResultTable
from contend.report.winner_table import winner_tables
from contend.runs import COMPARED, Run

_MOST_CELLS = 60


def measure_tables(run: Run) -> list[ResultTable]:
    """The cells where they are few, who wins, what collapses, and warnings.

    The whole of a large run is shown by `run_tables`.
    """
    few = len(run.record.cells) <= _MOST_CELLS
    cells = [*cell_tables(run), *part_tables(run)] if few else []
    return [*cells, *_findings(run), *warning_tables(run)]


def run_tables(run: Run) -> list[ResultTable]:
    """Everything: cells and their parts, winners, collapses, how it was measured and warnings."""
    return [*cell_tables(run), *part_tables(run), *_findings(run), *harness_tables(run)]


def _findings(run: Run) -> list[ResultTable]:
    if run.record.probe not in COMPARED:
        return []
    return [
        *winner_tables(run.findings.contests),
        *collapse_tables(run.findings.collapses),
    ]
