"""``contend route``: better forwarding tables, beside those that a fabric has."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from contend import cure, report
from contend import routes as routing
from contend.base.errors import UsageError
from contend.cli.common import RoutedLoading, attempt, cost_of_missing
from contend.cli.options.option import option
from contend.cli.options.outputs import TextOutputs
from contend.cli.options.shared import (
    LANES,
    PLACEMENT,
    PLACEMENTS,
    FabricArgument,
    MaybeFileOption,
    SeedOption,
)
from contend.report import Document

FOR = option("--for", takes="TRAFFIC", means="Traffic that the tables are made for")
KEEP = option("--keep", takes="TABLES", means="Improve the running tables, entry by entry")
CHANGES = option("--changes", takes="N", means="Most entries that may change")


def route(
    routed: RoutedLoading,
    outputs: TextOutputs,
    fabric: FabricArgument,
    output: MaybeFileOption = None,
    purpose: Annotated[
        str,
        FOR(
            ": bisect, shifts, alltoall or another pattern (contend simulate --list), or a matrix "
            "of bytes from rank to rank (.npy), which contend report --matrix writes."
        ),
    ] = "bisect",
    placement: Annotated[str, PLACEMENT(f"{PLACEMENTS} For the pattern of --for.")] = "linear",
    lanes: Annotated[
        int,
        LANES("Files of tables cannot record more than one.", min=1, max=routing.MOST_LANES),
    ] = 1,
    keep: Annotated[
        str | None,
        KEEP(
            ": a file of forwarding tables. Beside -o FILE, FILE.steps.csv has the order of the "
            "changes, and FILE.back.csv the way back."
        ),
    ] = None,
    changes: Annotated[int | None, CHANGES(min=1, default="all that gain anything")] = None,
    seed: SeedOption = 1,
) -> Document:
    """Compute better forwarding tables, and show what they gain.

    The new tables make few messages collide and cannot deadlock. contend compares them with the
    present ones, from --routes or --route. OpenSM loads them: opensm -R file -U FILE

    Example: contend route net.ibnetdiscover --routes net.lfts -o better.lfts
    """
    if changes is not None and keep is None:
        raise UsageError("--changes N belongs to --keep TABLES: give both")
    if keep is not None and (routed.routes is not None or routed.route is not None or lanes > 1):
        raise UsageError("--keep TABLES takes neither --routes nor --route, and no more lanes")
    taken = routed if keep is None else replace(routed, routes=keep)
    loaded = taken.load(fabric, need_routes=False)
    without = cost_of_missing(fabric, loaded, routed.loading, purpose, placement)
    better = cure.route(
        loaded,
        purpose=purpose,
        placement=placement,
        lanes=lanes,
        keep=keep is not None,
        changes=changes,
        seed=seed,
    )

    def write() -> None:
        if output == "-":
            routing.save_to(better.fabric, sys.stdout.buffer, "lfts")
            sys.stdout.flush()
        elif output is not None:
            routing.save(better.fabric, Path(output), "lfts")
            if better.steps is not None:
                cure.write_steps(better.steps, Path(f"{output}.steps.csv"))
                cure.write_steps(better.steps, Path(f"{output}.back.csv"), back=True)

    failure = attempt(write)
    better = replace(better, file="" if failure else output or "")
    document = report.better_tables_document(better)
    return replace(document, failure=failure, without=without)
