"""What the verbs share: the front door to fabrics, the console and JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from contend import loading
from contend.cli.verbs import DEAD
from contend.errors import printable_line
from contend.fabric import Fabric
from contend.files import json_text, write_whole

# Columns of tables that no terminal shows: names are not to be cut short in a file or a pipe.
_PIPED_WIDTH = 200


def console_for(json: str | None) -> Console:
    """Where tables go: standard output, or nowhere when JSON is printed there."""
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(quiet=json == "-", width=width)


def load(
    source: str, routes: str | None, route: str | None, *, need_routes: bool = False
) -> Fabric:
    """The fabric that the command line names, without what it says has died."""
    dead = DEAD.get()
    fabric = loading.load(source, routes=routes, route=route, need_routes=need_routes, without=dead)
    for finding in fabric.findings if dead else ():
        if finding.kind == loading.WITHOUT:
            print(f"{source}: {printable_line(finding.message)}", file=sys.stderr)
    return fabric


def write_json(target: str | None, result: Any) -> None:
    """Writes a result as JSON to a file (whole or not at all) or, for -, to standard output."""
    if target is None:
        return
    _write(target, json_text(result))


def write_text(target: str, text: str) -> None:
    """Writes text to a file (whole or not at all) or, for -, to standard output."""
    _write(target, text.encode())


def _write(target: str, content: bytes) -> None:
    if target == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        write_whole(Path(target), content)
