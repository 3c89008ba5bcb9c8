"""``contend fabric convert``: a fabric in, a file of another kind out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from contend.cli.common import FabricArgument, RouteOption, RoutesOption, load, writable
from contend.errors import UsageError
from contend.routes import KINDS, NEED_ROUTES, kind_of, save, save_to

ToOption = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="KIND",
        help=f"{', '.join(KINDS)}; when absent, by the suffix of the file to write.",
    ),
]
OutputOption = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        callback=writable,
        help="File to write; .gz, .xz and .zst compress, - is standard output.",
    ),
]


def convert(
    fabric: FabricArgument,
    output: OutputOption,
    to: ToOption = None,
    routes: RoutesOption = None,
    route: RouteOption = None,
) -> None:
    """Write a fabric as a file of another kind.

    Example: contend fabric convert net.ibnetdiscover --routes net.lfts -o net.fabric
    """
    kind = to or _kind_by_name(output)
    for source in (fabric, routes):
        if source is not None and _is_same_file(source, output):
            raise UsageError(
                f"{output}: this file is being read, and what contend leaves out of it would be "
                "lost; write to another one"
            )
    whole = load(fabric, routes, route, need_routes=kind in NEED_ROUTES)
    if output == "-":
        save_to(whole, sys.stdout.buffer, kind)
        sys.stdout.flush()
    else:
        save(whole, Path(output), kind)


def _kind_by_name(output: str) -> str:
    if output == "-":
        raise UsageError(f"say with --to what to write: one of {', '.join(KINDS)}")
    return kind_of(Path(output))


def _is_same_file(source: str, output: str) -> bool:
    """Whether two names stand for one file, links followed; standard streams are none."""
    return "-" not in (source, output) and (
        Path(source).exists() and Path(output).exists() and Path(source).samefile(output)
    )
