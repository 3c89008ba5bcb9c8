"""What probes wrote: files of samples, folders of runs, and what they say."""

from typing import TYPE_CHECKING

from contend.base.faces import shown

if TYPE_CHECKING:
    from .collapse import Collapse, Kind, collapses, typical_time
    from .findings import CellParts, Findings, find
    from .frames import CellEnd, Progress, RanksFrame, SampleTail
    from .launch_file import RawSamples, read_samples
    from .parquet import read_table, write_table
    from .record import (
        NO_TIME,
        Cause,
        CellRecord,
        Failure,
        Host,
        LaunchRecord,
        LibraryRecord,
        MeasuredLaunch,
        PointError,
        RunRecord,
        Warned,
        write_record,
    )
    from .run import ComparedRun, Pair, Run, compare, compared, find_runs, has_runs, run_names
    from .samples import SCHEMA
    from .statistics import (
        FEWEST,
        Estimate,
        Modes,
        combine_launches,
        difference,
        median_interval,
        modes_of,
        ratio,
    )
    from .summary import (
        COMPARED,
        IMPOSSIBLE,
        ROUND_TRIPS,
        CellSummary,
        Condition,
        condition,
        port_limit,
        rate_limit,
        summarise,
    )
    from .winners import Basis, Contest, contests
else:
    __getattr__, __dir__, __all__ = shown(__name__, __file__)
