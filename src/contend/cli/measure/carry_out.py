"""Measures what the command line says, and reports it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from contend import report
from contend.cli.common import console_for, write_json
from contend.cli.measure.options import Common
from contend.cli.measure.place import find_place
from contend.cli.measure.watch import watching
from contend.errors import ShortfallError
from contend.measurement import OptionValue, make_workload

if TYPE_CHECKING:
    from contend.runs import Run


def measure_and_report(probe: str, own: Mapping[str, OptionValue], common: Common) -> None:
    """Carries out a measurement and prints, writes and draws what it found.

    Raises:
        ShortfallError: after all that, when a launch or a cell failed.
    """
    # Imported here: samples and reports take longer to load than other verbs run.
    from contend.measurement import measure_workload, resume

    if common.plot is not None:
        report.check_suffix(common.plot)
    console = console_for(common.json)
    with watching(console) as observer, find_place(common, console) as place:
        if common.resume is not None:
            runs = resume(common.resume, place=place, budget=common.seconds(), observer=observer)
        else:
            runs = measure_workload(
                make_workload(probe, {**own, **common.of_probe()}),
                common.conditions(),
                libraries=common.mpi or (None,),
                place=place,
                folder=common.output,
                observer=observer,
            )
    tables = [table for run in runs for table in report.measure_tables(run)]
    tables += report.comparison_tables(runs)
    report.print_tables(console, tables)
    write_json(common.json, report.runs_json(runs))
    if common.plot is not None and any(run.summaries for run in runs):
        for path in report.draw_runs(runs, common.plot, tables=tables):
            console.print(Text(str(path)))
    if failures := _failures(runs):
        raise ShortfallError(failures)


def _failures(runs: Sequence[Run]) -> str:
    """What went wrong, in one line; "" when nothing did."""
    failed = []
    for run in runs:
        name = f"{run.record.library.name} {run.record.library.version}".strip()
        for launch in run.record.launches:
            if launch.status != "done":
                failed.append(f"{name}, launch {launch.number}: {launch.why}")
            elif launch.measured is not None:
                failed += [
                    f"{name}, {_cell(run, end.cell)}: {end.said or 'failed'}"
                    for end in launch.measured.ends
                    if end.reason == "failed" or end.verified is False
                ]
    if not failed:
        return ""
    more = f" (and {len(failed) - 1} more; run.json has all)" if len(failed) > 1 else ""
    return f"{failed[0]}{more}"


def _cell(run: Run, number: int) -> str:
    cell = run.record.cells[number]
    size = "" if cell.bytes is None else f" of {cell.bytes:,} bytes"
    return f"{cell.algorithm}{size}"
