"""What the verbs share: the front door to fabrics, and how output is written."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend.base.errors import ContendError, IncompleteInput, printable_line
from contend.base.files import write_whole
from contend.cli.options.shared import ENGINES, ROUTE, WHOLE, Loading, RoutesOption

if TYPE_CHECKING:
    from contend.congestion import Communicator
    from contend.cure import PartsCost
    from contend.fabric import Fabric


def load(
    source: str,
    routes: str | None,
    route: str | None,
    how: Loading,
    *,
    need_routes: bool = False,
) -> Fabric:
    """The fabric that the command line names; of what was left out standard error is told."""
    # Here: help needs no fabrics.
    from contend.routes import loading

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
            rails=how.rails,
        )
    asked = {loading.PART: how.part, loading.WITHOUT: how.without}
    for finding in fabric.findings:
        if asked.get(finding.kind):
            print(f"{source}: {printable_line(finding.message)}", file=sys.stderr)
    if fabric.told is not None:
        print(f"{source}: {printable_line(fabric.told.words)}", file=sys.stderr)
    return fabric


def cost_of_missing(
    source: str,
    fabric: Fabric,
    how: Loading,
    pattern: str = "bisect",
    placement: str = "random",
    engine: str | None = None,
) -> PartsCost | None:
    """What parts that are gone cost the traffic that a command judges; standard error is told.

    None where none are gone, or the traffic does not fit what is left.
    """
    from contend import cure
    from contend.report.words import parts_words

    parts = how.without or ()
    try:
        cost = cure.cost_of_parts(fabric, parts, pattern, placement, engine=engine)
    except ContendError:
        return None
    if cost is not None:
        print(f"{source}: {parts_words(cost)}", file=sys.stderr)
    return cost


@dataclass(frozen=True)
class RoutedLoading:
    """How fabrics are loaded with their routes. A verb that takes one has all options of it."""

    routes: RoutesOption = None
    route: Annotated[str | None, ROUTE(ENGINES)] = None
    loading: Loading = WHOLE

    def load(
        self,
        fabric: str,
        *,
        need_routes: bool = True,
    ) -> Fabric:
        """The fabric with its routes; see `load`."""
        return load(fabric, self.routes, self.route, self.loading, need_routes=need_routes)


@contextmanager
def told_by_the_first(world: Communicator | None) -> Iterator[bool]:
    """Under mpirun or srun the first process alone says what there is to say: the others end here.

    Gives whether this is the first.
    """
    first = world is None or world.rank == 0
    try:
        yield first
    except (ContendError, OSError) as error:
        if first:
            raise
        raise typer.Exit(getattr(error, "status", 2)) from None
    if not first:
        raise typer.Exit(0)


def attempt(write: Callable[[], None]) -> ContendError | OSError | None:
    """Writes a file beside a result, which is told all the same where that fails: the error."""
    try:
        write()
    except (ContendError, OSError) as error:
        return error
    return None


def write_output(target: str, content: bytes) -> None:
    """Writes to a file (whole or not at all) or, for -, to standard output."""
    if target == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        write_whole(Path(target), content)
