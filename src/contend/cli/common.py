"""What the verbs share: options, the console, JSON and progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from contend import loading
from contend.fabric import Fabric
from contend.files import check_place, write_whole

_Target = TypeVar("_Target", str, Path, str | None, Path | None)

FabricArgument = Annotated[
    str,
    typer.Argument(
        metavar="FABRIC",
        help="A topology file of any kind contend knows (compressed or not, - for standard input) "
        "or a generator with its parameters, such as thunderbird or xgft:2;18,36;1,18.",
    ),
]
RoutesOption = Annotated[
    str | None,
    typer.Option("--routes", metavar="FILE", help="Forwarding tables of the fabric."),
]
RouteOption = Annotated[
    str | None,
    typer.Option(
        "--route",
        metavar="ENGINE",
        help="Compute the routes instead: minhop, updn, dmodk, or opensm:ENGINE with the real "
        "OpenSM.",
    ),
]


def writable(target: _Target) -> _Target:
    """The same target of an option, refused before any work where it could not be written."""
    if target is not None and str(target) != "-":
        check_place(Path(target))
    return target


JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        callback=writable,
        help="Write the result as JSON; - is standard output.",
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        callback=writable,
        help="Draw a figure: .svg, .png, .pdf or .html.",
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=2**64 - 1, help="Seed of every random choice.")
]

PlacementOption = Annotated[
    str,
    typer.Option(
        "--placement",
        metavar="PLACE",
        help="random, linear, guid, bfs, round-robin, same-leaf, leaves:K, spread, port-group:K or "
        "file:PATH.",
    ),
]
HostsOption = Annotated[
    str | None,
    typer.Option(
        "--hosts", metavar="CHOICE", help="Only these: a number, names, a pattern or a file."
    ),
]
RanksPerHostOption = Annotated[
    int, typer.Option("--ranks-per-host", metavar="N", min=1, help="Ranks that share a host.")
]
RanksOption = Annotated[
    int | None, typer.Option("--ranks", "-n", metavar="N", min=1, help="Ranks in all.")
]


# Columns of tables that no terminal shows: names are not to be cut short in a file or a pipe.
_PIPED_WIDTH = 200


def console_for(json: str | None) -> Console:
    """Where tables go: standard output, or nowhere when JSON is printed there."""
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(quiet=json == "-", width=width)


def load(
    source: str, routes: str | None, route: str | None, *, need_routes: bool = False
) -> Fabric:
    """The fabric that the command line names."""
    return loading.load(source, routes=routes, route=route, need_routes=need_routes)


def write_json(target: str | None, result: Any) -> None:
    """Writes a result as JSON to a file (whole or not at all) or, for -, to standard output."""
    if target is None:
        return
    text = msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"
    _write(target, text)


def write_text(target: str, text: str) -> None:
    """Writes text to a file (whole or not at all) or, for -, to standard output."""
    _write(target, text.encode())


def _write(target: str, content: bytes) -> None:
    if target == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        write_whole(Path(target), content)


@contextmanager
def progress_bar(title: str, unit: str) -> Iterator[Progress]:
    """A progress bar with rate and time left on a terminal's standard error, none when piped."""
    terminal = Console(stderr=True)
    with Progress(
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
    ) as progress:
        yield progress
