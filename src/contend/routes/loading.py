"""The front door: a fabric from a file, by name or from a graph, with its routes."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import fields
from html import escape
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

# By their rooms' faces: what no file needs is not loaded.
from contend import fabric as fabrics
from contend import routes as routing
from contend.base.errors import ROUTE, ROUTES, Argument, IncompleteInput, InputError, UsageError
from contend.base.units import counted, nearest, verb
from contend.fabric import Fabric

PART, WITHOUT = "part", "without"
"""Kinds of findings that say which part of a fabric is meant, and what of it has died."""
_OWN_ENGINES = {"fig1": "fig1"}
_DEFAULT_ENGINE = "minhop"


class LoadedFabric(Fabric):
    """A fabric with what a notebook asks of one: routes computed, followed, and drawn by others.

    Its methods stand here and not on `Fabric`, which knows nothing of how routes are made.
    """

    @classmethod
    def of(cls, fabric: Fabric) -> LoadedFabric:
        """The same fabric with these methods."""
        return cls(**{column.name: getattr(fabric, column.name) for column in fields(fabric)})

    def route(self, engine: str) -> LoadedFabric:
        """The fabric with the routes that an engine computes: ``minhop``, ``opensm:ftree``.

        Raises:
            UsageError: there is no such engine, or it cannot route this fabric.
        """
        return LoadedFabric.of(routing.compute(self, engine))

    def path(self, source: int | str, target: int | str) -> routing.Route:
        """The route from a host to another, each by its number from 0 or its name.

        Raises:
            UsageError: no such host, no routes, or a route that does not arrive.
        """
        return routing.find_route(self, self.host_number(source), self.host_number(target))

    def to_networkx(self) -> Any:
        """The fabric as a `networkx.MultiGraph`, which `load` takes back; routes are left out.

        Raises:
            MissingError: networkx is not installed.
        """
        return fabrics.to_networkx(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        rows = {
            "hosts": f"{self.hosts:,}",
            "switches": f"{self.switches:,}",
            "cables between switches": f"{self.cables:,}",
            "routes": self._routes_in_words(),
        }
        if wrong := sum(finding.wrong for finding in self.findings):
            rows["wrong"] = f"{counted(wrong, 'finding')}; see check"
        cells = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in rows.items()
        )
        return f"<table><caption>{escape(self.name)}</caption>{cells}</table>"


def load(
    source: str | PathLike[str] | Any,
    *,
    routes: str | PathLike[str] | None = None,
    route: str | None = None,
    need_routes: bool = False,
    part: int | str | None = None,
    without: Sequence[str] = (),
    rails: str | PathLike[str] | None = None,
) -> LoadedFabric:
    """Loads a fabric, and its routes where they are given, asked for or part of the file.

    Args:
        source: a generator with its parameters (``thunderbird``, ``xgft:2;18,36;1,18``), a
            topology file of any kind that contend knows, or ``-`` for standard input. A file that
            is called like a generator is named by a path, ``./thunderbird`` or a `pathlib.Path`.
            Or a graph of networkx; `contend.fabric.from_networkx` tells which attributes count.
        routes: a file of forwarding tables.
        route: an engine that computes them, such as ``minhop`` or ``opensm:ftree``.
        need_routes: whether the caller cannot do without: generated fabrics are routed with
            ``minhop`` (``fig1`` with its own routes) when nothing else is said.
        part: a plane of a fabric that has several: its number, from 1, that with most hosts first,
            or the name of any of its hosts. The fabric is loaded as if there were no other, and
            tables of other planes' switches are passed over.
        without: switches, cables and hosts that have died, as `contend.fabric.without` takes them.
            Tables that the fabric has are changed as little as lets all messages arrive; an engine
            computes its tables for what is left.
        rails: a file that tells which adapters of which server are on which rail, see
            `contend.fabric.tell_rails`; None finds them from names.

    Raises:
        UsageError: no such file or generator, both `routes` and `route` given, or routes needed
            but none given.
        InputError: a file that is not what it should be.
    """
    if routes is not None and route is not None:
        raise UsageError("give either ", ROUTES, " or ", ROUTE, ", not both")
    tables = None if routes is None else fspath(routes)
    if source == "-" and tables == "-":
        raise UsageError("the topology and the tables cannot both come from standard input")
    if rails == "-" and "-" in (source, tables):
        raise UsageError("rails and the fabric cannot both come from standard input")
    generator = source if isinstance(source, str) and fabrics.is_generator(source) else ""
    whole = fabrics.make(generator) if generator else _described(source)
    if rails is not None:
        whole = fabrics.tell_rails(whole, fspath(rails))
    fabric = whole if part is None else _only(whole, part)
    if tables is not None:
        columns = routing.load_tables(tables)
        elsewhere = np.setdiff1d(whole.switch_guid, fabric.switch_guid)
        fabric = routing.adopt(fabric, columns.without(elsewhere), fabrics.source_name(tables))
    if without:
        fabric = _without(fabric, without)
    if route is None and need_routes and fabric.routes is None:
        if not generator:
            name = fabrics.source_name(source) if isinstance(source, str) else fabric.name
            raise UsageError(f"{name} holds no routes: give ", ROUTES, " or ", ROUTE)
        route = _OWN_ENGINES.get(generator.partition(":")[0], _DEFAULT_ENGINE)
    how = [("--routes", tables), ("--route", route), ("--part", part), ("--rails", rails)]
    how += [("--without", name) for name in without]
    words = [(option, str(text)) for option, text in how if text is not None]
    asked = tuple(chain(*(pair for pair in words if pair[0].startswith("--route"))))
    named = tuple(chain(*(pair for pair in words if not pair[0].startswith("--route"))))
    path = (fspath(source),) if isinstance(source, str | PathLike) else ()
    routed = fabric if route is None else routing.compute(fabric, route)
    return LoadedFabric.of(routed.replace(command_line=((*path, *named) if path else (), asked)))


def _only(fabric: Fabric, name: int | str) -> Fabric:
    """One connected part of the fabric, which is a finding where there are several."""
    part, parts = fabrics.part_of(fabric, name), len(fabrics.parts_of(fabric))
    if parts == 1:
        return fabric
    words = f'part {part.number} of {parts}, that of "{part.host}": '
    words += f"{counted(len(part.hosts), 'host')}, {counted(len(part.switches), 'switch')}"
    finding = fabrics.Finding(PART, words, wrong=False)
    alone = fabrics.only(fabric, part)
    elsewhere = _names(fabric) - _names(alone)
    kept = [each for each in fabric.findings if not _is_about(each, elsewhere, _names(alone))]
    return alone.replace(name=f"{fabric.name} part {part.number}", findings=(*kept, finding))


def _names(fabric: Fabric) -> set[str]:
    return {*fabric.switch_name, *fabric.host_name}


def _is_about(finding: fabrics.Finding, elsewhere: set[str], here: set[str]) -> bool:
    """Whether a finding names something of other parts, and nothing of this one."""
    named = set(re.findall(r'"(.*?)"', finding.message))
    return not named.isdisjoint(elsewhere) and named.isdisjoint(here)


def _without(fabric: Fabric, names: Sequence[str]) -> Fabric:
    """The fabric without what has died, which is a finding, and its tables mended."""
    rest = fabrics.without(fabric, names)
    left, words = rest.fabric, rest.words
    if fabric.routes is not None and fabric.routes.grouped is not None:
        left, switches, lost = routing.left_in_groups(fabric, fabric.routes.grouped, rest)
        words += "; tables are as they were: "
        words += (
            f"{counted(switches, 'switch')} {verb(switches, 'leaves')} dead ports out of groups"
        )
        if lost:
            words += f", and {lost:,} routes between hosts do not arrive"
    elif fabric.routes is not None:
        left, changed, dropped = routing.mended(fabric, rest)
        at = counted(int(np.count_nonzero(changed)), "switch")
        words += f"; {int(changed.sum()):,} table entries changed at {at}"
        if dropped:
            words += f"; {_dropped(dropped)}"
    finding = fabrics.Finding(WITHOUT, f"without {words}", wrong=False)
    name = f"{fabric.name} without {', '.join(names)}"
    return left.replace(name=name, findings=(*fabric.findings, finding), before=fabric)


def _dropped(count: int) -> str:
    """Entries that mending can do nothing about, in words."""
    many, are = ("entries", "are") if count > 1 else ("entry", "is")
    return f"{count:,} {many} over it {are} dropped, for LIDs whose place in the fabric is unknown"


def _described(source: str | PathLike[str] | Any) -> Fabric:
    """The fabric of a file, with the routes that it carries, or of a graph."""
    if isinstance(source, PathLike):
        return load_topology(fspath(source))
    if isinstance(source, str):
        _expect_source(source)
        return load_topology(source)
    return fabrics.from_networkx(source)


def _expect_source(source: str) -> None:
    """Refuses what is neither a file nor a generator, which may be one mistyped."""
    if source == "-" or os.path.exists(source):
        return
    hint = nearest(source.partition(":")[0], [family.name for family in fabrics.catalogue()])
    if hint or ":" in source:
        raise UsageError(f"{source}: no such file, and no generator has this name{hint}")


def load_topology(path: str) -> Fabric:
    """A fabric from a topology file, with routes only where the file itself carries them.

    What the file lacks, such as the record of a node that cables lead to, is a warning of the
    category `IncompleteInput`.

    Raises:
        UsageError: the file cannot be read, or holds tables instead of a topology.
        InputError: a file that is not what it should be.
    """
    source = fabrics.source_name(path)
    if (topology := fabrics.read_bundle(path)) is None:
        topology = _of_file(path, source)
    fabric = topology.fabric
    if missing := fabrics.what_is_missing(fabric):
        warnings.warn(IncompleteInput(f"{source} is incomplete: {missing}"), stacklevel=2)
    if fabric.name == source:
        fabric = fabric.replace(name=_short_name(source))
    if topology.ports is None:
        return fabric
    routed = fabric.replace(routes=routing.ForwardingTables(topology.ports, engine=topology.engine))
    return routing.with_others_found(routed)


def _of_file(path: str, source: str) -> fabrics.Topology:
    """What one file holds."""
    head, chunks = fabrics.peek(fabrics.open_chunks(path))
    try:
        reader = fabrics.recognise(head, source)
    except InputError:
        if routing.recognises_tables(head):
            text = "holds forwarding tables, not a topology: give it as "
            raise UsageError(f"{source} {text}", Argument("routes")) from None
        raise
    return fabrics.read_topology(reader, chunks, source)


def _short_name(source: str) -> str:
    """What tables and figures call a fabric that has no name of its own: its file's, bare."""
    name = re.sub(r"(\.tar)?\.(gz|bz2|xz|zst|zip|tar|tgz)$", "", Path(source).name)
    return re.sub(r"(?<=.)\.[A-Za-z_]+$", "", name)
