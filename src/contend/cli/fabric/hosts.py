"""``contend fabric hosts``: a list of hosts by their place, for MPI launchers and schedulers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend.cli.common import console_for, load, write_json
from contend.cli.options import (
    FabricArgument,
    FileOption,
    HostsOption,
    JsonOption,
    PlacementOption,
    RanksOption,
    RanksPerHostOption,
)
from contend.files import write_whole
from contend.placement import ListFormat, list_hosts, parse, write_list
from contend.report import host_list_json, host_list_summary

FormatOption = Annotated[
    ListFormat,
    typer.Option(
        "--format",
        help="Form of the list: plain names; a host file for Open MPI or MPICH; for Slurm a line "
        "for every rank (SLURM_HOSTFILE with srun --distribution=arbitrary), or a nodelist.",
    ),
]


def hosts(
    fabric: FabricArgument,
    placement: PlacementOption = "linear",
    choice: HostsOption = None,
    ranks: RanksOption = None,
    ranks_per_host: RanksPerHostOption = 1,
    form: FormatOption = ListFormat.PLAIN,
    output: FileOption = "-",
    json: JsonOption = None,
) -> None:
    """List hosts by their place in a fabric, for mpirun and Slurm.

    Example: contend fabric hosts net.ibnetdiscover --placement port-group:9 --ranks-per-host 8
    --format openmpi -o hosts
    """
    if output == json == "-":
        # The list is in the JSON too.
        output = ""
    loaded = load(fabric, None, None)
    placed = parse(placement, loaded, ranks_per_host=ranks_per_host, hosts=choice, ranks=ranks)
    entries = list_hosts(loaded, placed, ranks)
    text = write_list(entries, form)
    if output == "-":
        print(text, end="")
    elif output:
        write_whole(Path(output), text.encode())
        line = f"{host_list_summary(loaded, entries)}, written to {output}"
        console_for(json).print(line, markup=False, highlight=False, soft_wrap=True)
    write_json(json, host_list_json(loaded, placed, entries))
