"""``contend fabric make``: a fabric from a family and its parameters, written to a file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contend.cli.common import JsonOption, SeedOption, console_for, writable, write_json
from contend.errors import UsageError
from contend.fabric import (
    Fabric,
    catalogue,
    make,
    remove_cables,
    remove_switches,
    with_parallel_links,
)
from contend.routes import compute, save, save_to

_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)%?")


def make_fabric(
    spec: Annotated[
        str | None,
        typer.Argument(metavar="SPEC", help="A family and its parameters; --list shows them."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            callback=writable,
            help="File to write; .gz, .xz and .zst compress, - is standard output.",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--as", metavar="KIND", help="Kind of file; told by FILE's ending otherwise."),
    ] = None,
    parallel_links: Annotated[
        int, typer.Option(min=1, metavar="N", help="Lay every cable between switches N times.")
    ] = 1,
    remove: Annotated[
        str, typer.Option(metavar="P%", help="Leave out a random share of those cables.")
    ] = "0%",
    broken_switches: Annotated[
        str,
        typer.Option(
            "--remove-switches", metavar="P%", help="Leave out a share of the switches above hosts."
        ),
    ] = "0%",
    route: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE", help="Compute routes: minhop, updn, dmodk, or opensm:ENGINE."
        ),
    ] = None,
    seed: SeedOption = 0,
    families: Annotated[
        bool, typer.Option("--list", help="Show all families and their parameters.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Make a fabric on paper and write it to a file.

    Example: [bold]contend fabric make "xgft:2;18,36;1,18" --route minhop -o tree.fabric[/bold]
    """
    console = console_for(json)
    if families:
        list_families(console)
        write_json(json, {"families": families_as_rows()})
        return
    if spec is None or output is None:
        raise UsageError("make: expected a fabric and -o FILE (or --list)")
    if output == "-" and (kind is None or json == "-"):
        raise UsageError("make: expected --as KIND, and no --json -, with -o -")
    fabric = make(spec)
    fabric = degraded(fabric, parallel_links, percent(remove), percent(broken_switches), seed)
    if route is not None:
        fabric = compute(fabric, route)
    if output == "-" and kind is not None:
        save_to(fabric, sys.stdout.buffer, kind)
        sys.stdout.flush()
    else:
        save(fabric, Path(output), kind)
        console.print(summary(fabric, output), markup=False, highlight=False, soft_wrap=True)
    write_json(json, as_json(fabric, spec, output, seed))


def percent(text: str) -> float:
    """The number of a share such as ``5%`` or ``0.5``.

    Raises:
        UsageError: when it is not one.
    """
    match = _PERCENT.fullmatch(text)
    if match is None:
        raise UsageError(f'remove: expected a percentage such as 5%, got "{text}"')
    return float(match[1])


def degraded(
    fabric: Fabric, parallel_links: int, cables: float, switches: float, seed: int
) -> Fabric:
    """The fabric with parallel links first, then without switches, then without cables."""
    if parallel_links > 1:
        fabric = with_parallel_links(fabric, parallel_links)
    if switches > 0:
        fabric = remove_switches(fabric, switches, seed)
    if cables > 0:
        fabric = remove_cables(fabric, cables, seed)
    return fabric


def summary(fabric: Fabric, output: str) -> str:
    """What was made, in one line."""
    routes = "" if fabric.routes is None else f", routes by {fabric.routes.engine}"
    return (
        f"{fabric.name}: {fabric.hosts} hosts, {fabric.switches} switches, "
        f"{fabric.cables} cables between them{routes}, written to {output}"
    )


def as_json(fabric: Fabric, spec: str, output: str, seed: int) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "spec": spec,
        "seed": seed,
        "fabric": {
            "name": fabric.name,
            "hosts": fabric.hosts,
            "switches": fabric.switches,
            "cables": fabric.cables,
            "channels": fabric.channels,
        },
        "engine": None if fabric.routes is None else fabric.routes.engine,
        "findings": [{"kind": f.kind, "message": f.message} for f in fabric.findings],
        "file": output,
    }


def families_as_rows() -> list[dict[str, str]]:
    """The catalogue as rows of name, form, summary and example."""
    return [
        {"name": f.name, "form": f.form, "summary": f.summary, "example": f.example}
        for f in catalogue()
    ]


def list_families(console: Console) -> None:
    """Prints the catalogue as a table."""
    rows = families_as_rows()
    table = Table(box=None, pad_edge=False)
    # A form or example cut short could not be copied, so only the description is wrapped.
    table.add_column("form", no_wrap=True)
    table.add_column("what it is")
    table.add_column("example", no_wrap=True)
    for row in rows:
        table.add_row(escape(row["form"]), escape(row["summary"]), escape(row["example"]))
    console.print(table)
