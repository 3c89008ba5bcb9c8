"""What the verbs share: the front door to fabrics, the console and JSON."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from rich.console import Console

from contend import loading
from contend.cli.options import Loading
from contend.errors import IncompleteInput, printable_line
from contend.fabric import Fabric
from contend.files import json_text, write_whole

# Columns of tables that no terminal shows: names are not to be cut short in a file or a pipe.
_PIPED_WIDTH = 200


def console_for(json: str | None) -> Console:
    """Where tables go: standard output, or nowhere when JSON is printed there."""
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(quiet=json == "-", width=width)


def load(
    source: str,
    routes: str | None,
    route: str | None,
    how: Loading,
    *,
    need_routes: bool = False,
) -> Fabric:
    """The fabric that the command line names; of what was left out standard error is told."""
    with warnings.catch_warnings():
        if how.strict:
            warnings.simplefilter("error", IncompleteInput)
        fabric = loading.load(
            source,
            routes=routes,
            route=route,
            need_routes=need_routes,
            part=how.part,
            without=how.without or (),
        )
    asked = {loading.PART: how.part, loading.WITHOUT: how.without}
    for finding in fabric.findings:
        if asked.get(finding.kind):
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
