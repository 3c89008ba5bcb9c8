"""What the verbs share: the front door to fabrics, and how output is written."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from contend.base.errors import ContendError, IncompleteInput, printable_line
from contend.base.files import write_whole
from contend.cli.options.shared import WHOLE, Loading, RouteOption, RoutesOption

if TYPE_CHECKING:
    from contend.congestion import Communicator
    from contend.fabric import Fabric


def load(
    source: str,
    routes: str | None,
    route: str | None,
    how: Loading,
    *,
    need_routes: bool = False,
    traffic: tuple[str, str] | None = None,
) -> Fabric:
    """The fabric that the command line names; of what was left out standard error is told.

    And what that costs a pattern with a placement, where the command judges one.
    """
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
    if how.without and traffic is not None and "-" not in (source, routes, how.rails):
        whole = partial(load, source, routes, route, replace(how, without=None), need_routes=True)
        _tell_cost(source, whole, fabric, traffic, how.without)
    if fabric.told is not None:
        print(f"{source}: {printable_line(fabric.told.words)}", file=sys.stderr)
    return fabric


def _tell_cost(
    source: str,
    whole: Callable[[], Fabric],
    rest: Fabric,
    traffic: tuple[str, str],
    parts: Sequence[str],
) -> None:
    """A line on what parts that are gone cost; none where the pattern does not fit what is left."""
    from contend import cure
    from contend.report.words import parts_words

    try:
        cost = cure.cost_of_parts(whole(), rest, *traffic)
    except ContendError:
        return
    print(f"{source}: {parts_words(cost, parts)}", file=sys.stderr)


@dataclass(frozen=True)
class RoutedLoading:
    """How fabrics are loaded with their routes. A verb that takes one has all options of it."""

    routes: RoutesOption = None
    route: RouteOption = None
    loading: Loading = WHOLE

    def load(
        self,
        fabric: str,
        *,
        need_routes: bool = True,
        traffic: tuple[str, str] | None = None,
    ) -> Fabric:
        """The fabric with its routes; see `load`."""
        how = (self.routes, self.route, self.loading)
        return load(fabric, *how, need_routes=need_routes, traffic=traffic)


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
