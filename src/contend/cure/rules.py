"""Rules of the tuned all-to-all: which schedule for which ranks and bytes, and their files.

``rules.toml`` is contend's own, which the drop-in library reads. ``openmpi.conf`` or ``mpich.json``
say as much of it to the library itself as it understands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from contend.base.errors import InputError, UsageError
from contend.base.files import read_bounded, read_toml, write_whole
from contend.traffic.schedule import DIRECT, ROUTED, ROUTES, WIDTH

RULES = "rules.toml"
OPEN_MPI = "openmpi.conf"
MPICH = "mpich.json"
VERSION = 1
LIBRARY = "library"
"""The schedule that is none: the library's own choice."""
MOST_BYTES = (1 << 63) - 1

_SELECTIONS = re.compile(rb'\{"collective=[ -~]{1,1000000}')
# Algorithms of an all-to-all by their numbers in Open MPI's tuned component, and by their names in
# MPICH: those that send the same messages in the same order.
_OPEN_MPI = {"linear": 1, "shift": 2, "inflight": 4}
_OPEN_MPI_ALLTOALL = 3
_LARGEST_ROUTES = 1 << 28
_PAIRWISE, _SCATTERED = "MPIR_Alltoall_intra_pairwise", "MPIR_Alltoall_intra_scattered"
_HEAD = """# The schedules for all-to-alls, learnt by contend tune: docs/reference/tune.md.
# A call takes the first rule that has its ranks, ranks per host and bytes of a block in its
# ranges, both ends included; without one it is the library's own.
"""


@dataclass(frozen=True)
class Rule:
    """A schedule and what it is for; ranges have both ends."""

    ranks: tuple[int, int]
    """Fewest and most ranks of the communicator."""
    ranks_per_host: tuple[int, int]
    """Fewest and most of them on one host."""
    bytes: tuple[int, int]
    """Fewest and most bytes of the block for each rank."""
    schedule: str
    """One of `traffic.schedule.DIRECT`, or `LIBRARY`."""
    note: str = ""
    """Reason, in a line."""


@dataclass(frozen=True)
class Rules:
    """Rules, the first that fits first."""

    rules: tuple[Rule, ...]
    """Rules in their order."""
    mpi: str = ""
    """Library that they were learnt with, as ``Open MPI 4.1.4``; "" where nobody says."""
    nonblocking: bool = True
    """Whether nonblocking calls are carried too."""
    phases_seconds: int = 10
    """Seconds that finding phases by routes may take, for each new list of hosts."""

    @property
    def routed(self) -> bool:
        """Whether a rule goes by the routes."""
        return any(rule.schedule in ROUTED for rule in self.rules)

    def text(self) -> str:
        """As ``rules.toml``."""
        lines = [
            _HEAD,
            f"version = {VERSION}",
            f"mpi = {json.dumps(self.mpi)}",
            f"nonblocking = {'true' if self.nonblocking else 'false'}",
        ]
        if self.routed:
            lines.append(f"phases_seconds = {self.phases_seconds}")
        for rule in self.rules:
            lines += ["", "[[rule]]"]
            if rule.note:
                lines.append(f"# {rule.note}")
            lines += [
                f"ranks = [{rule.ranks[0]}, {rule.ranks[1]}]",
                f"ranks_per_host = [{rule.ranks_per_host[0]}, {rule.ranks_per_host[1]}]",
                f"bytes = [{rule.bytes[0]}, {rule.bytes[1]}]",
                f'schedule = "{rule.schedule}"',
            ]
        return "\n".join(lines) + "\n"


def write_rules(
    rules: Rules, folder: Path, library: Path | None = None, routes: Path | None = None
) -> tuple[str, ...]:
    """Writes rules into a folder, which is made, and what the library itself can read of them.

    Args:
        rules: to be written.
        folder: where to.
        library: the shared file of the library that they are for, which MPICH's table is read from;
            None where it is not known.
        routes: the file of the routes that rules go by, which is copied; None where none do.

    Returns:
        Names of the files.

    Raises:
        UsageError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        texts = {} if routes is None else {ROUTES: read_bounded(routes, _LARGEST_ROUTES).decode()}
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from None
    # Those who see the rules find their routes.
    texts[RULES] = rules.text()
    if rules.mpi.startswith("Open MPI"):
        texts[OPEN_MPI] = open_mpi_text(rules)
    elif library is not None and (text := mpich_text(rules, library)) is not None:
        texts[MPICH] = text
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
    return tuple(texts)


def read_rules(folder: Path) -> Rules:
    """Reads ``rules.toml`` of a folder.

    Raises:
        UsageError: none is there.
        InputError: it is not what it should be; says where.
    """
    path = folder / RULES
    try:
        content = read_toml(path)
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; contend tune RUN... -o {folder} writes rules"
        ) from None
    if content.get("version") != VERSION:
        raise InputError(str(path), 0, f"version = {VERSION}", repr(content.get("version")))
    listed = content.get("rule", [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise InputError(str(path), 0, "tables [[rule]]", "something else")
    rules = Rules(
        tuple(_rule(each, number, path) for number, each in enumerate(listed, 1)),
        mpi=_taken(content, "mpi", str, "", path),
        nonblocking=_taken(content, "nonblocking", bool, True, path),
        phases_seconds=_taken(content, "phases_seconds", int, Rules.phases_seconds, path),
    )
    if rules.phases_seconds < 0:
        raise InputError(str(path), 0, "phases_seconds from 0 on", repr(rules.phases_seconds))
    if rules.routed and not (folder / ROUTES).is_file():
        raise UsageError(f"{folder}: the rules depend on routes, but {ROUTES} is missing")
    return rules


def _taken(content: Mapping[str, Any], key: str, kind: Any, default: Any, path: Path) -> Any:
    value = content.get(key, default)
    if not isinstance(value, kind):
        raise InputError(str(path), 0, f"another kind of value for {key}", repr(value))
    return value


def _rule(content: Mapping[str, Any], number: int, path: Path) -> Rule:
    schedule = content.get("schedule")
    if schedule not in (*DIRECT, LIBRARY):
        expected = f"schedule of rule {number} to be one of {', '.join((*DIRECT, LIBRARY))}"
        raise InputError(str(path), 0, expected, repr(schedule))
    if "ranks" not in content:
        raise InputError(str(path), 0, f"ranks = [first, last] in rule {number}", "none")
    return Rule(
        ranks=_range(content["ranks"], f"ranks of rule {number}", path),
        ranks_per_host=_range(
            content.get("ranks_per_host", [1, MOST_BYTES]), f"ranks_per_host of rule {number}", path
        ),
        bytes=_range(content.get("bytes", [0, MOST_BYTES]), f"bytes of rule {number}", path),
        schedule=schedule,
    )


def _range(value: object, what: str, path: Path) -> tuple[int, int]:
    match value:
        case [int(first), int(last)] if 0 <= first <= last <= MOST_BYTES:
            return first, last
    raise InputError(str(path), 0, f"{what} to be [first, last], two whole numbers", repr(value))


def open_mpi_text(rules: Rules) -> str:
    """As much as Open MPI's tuned component can do, in its file of dynamic rules.

    That counts bytes over all destinations, takes for so many ranks the entry of the largest number
    that is not above it, for a size likewise, and knows nothing of hosts. Algorithm 0 leaves the
    choice to the library.
    """
    known = [rule for rule in rules.rules if rule.schedule in (*_OPEN_MPI, LIBRARY)]
    sizes = sorted({end for rule in known for end in (rule.ranks[0], rule.ranks[1] + 1)} | {1})
    lines = ["1 # collectives", f"{_OPEN_MPI_ALLTOALL} # all-to-all", f"{len(sizes)} # ranks"]
    for ranks in sizes:
        here = [rule for rule in known if rule.ranks[0] <= ranks <= rule.ranks[1]]
        steps = _steps(here, ranks)
        lines += [f"{ranks} # ranks", f"{len(steps)} # sizes"]
        for total, schedule in steps:
            in_flight = WIDTH if schedule == "inflight" else 0
            lines.append(f"{total} {_OPEN_MPI.get(schedule, 0)} 0 {in_flight}")
    return "\n".join(lines) + "\n"


def _steps(rules: Sequence[Rule], ranks: int) -> list[tuple[int, str]]:
    """From which bytes to all destinations on which schedule goes, from 0 on."""
    ends = sorted({0} | {end for rule in rules for end in (rule.bytes[0], rule.bytes[1] + 1)})
    steps: list[tuple[int, str]] = []
    for size in ends:
        schedule = schedule_of(rules, ranks, rules[0].ranks_per_host[0] if rules else 1, size)
        if not steps or steps[-1][1] != schedule:
            steps.append((size * ranks, schedule))
    return steps


def schedule_of(rules: Iterable[Rule], ranks: int, ranks_per_host: int, size: int) -> str:
    """The schedule of the first rule that fits, or `LIBRARY`."""
    for rule in rules:
        if (
            rule.ranks[0] <= ranks <= rule.ranks[1]
            and rule.ranks_per_host[0] <= ranks_per_host <= rule.ranks_per_host[1]
            and rule.bytes[0] <= size <= rule.bytes[1]
        ):
            return rule.schedule
    return LIBRARY


def mpich_text(rules: Rules, library: Path) -> str | None:
    """As much as MPICH can do, in a file of selections; all else in it is the library's own.

    Such a file replaces the whole table that the library has within it, so that table is read from
    the library's file and the rules are put before its choices for all-to-alls. It takes the first
    entry that fits, reads sizes as bytes of a block, and knows nothing of hosts.

    Args:
        rules: what to say.
        library: the library's shared file.

    Returns:
        None where the library has no such table, as before MPICH 3.4.
    """
    table = _selections(library)
    known = [
        rule for rule in rules.rules if rule.schedule == LIBRARY or _algorithm(rule) is not None
    ]
    try:
        choice = table["collective=alltoall"]["comm_type=intra"]
        own = choice["is_sendbuf_inplace=no"]
    except KeyError:
        return None
    by_ranks: dict[str, Any] = {}
    for first, last in _pieces({rule.ranks for rule in known}):
        here = [rule for rule in known if rule.ranks[0] <= last and first <= rule.ranks[1]]
        # MPICH 4.0 takes comm_size< for comm_size<=.
        by_ranks[f"comm_size<={first - 1}"] = own
        by_ranks[f"comm_size<={last}"] = _by_bytes(here, own)
    choice["is_sendbuf_inplace=no"] = {**by_ranks, "comm_size=any": own}
    return json.dumps(table, indent=1) + "\n"


def _by_bytes(rules: Sequence[Rule], own: dict[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for first, last in _pieces({rule.bytes for rule in rules}):
        rule = next(rule for rule in rules if rule.bytes[0] <= last and first <= rule.bytes[1])
        algorithm = _algorithm(rule)
        chosen[f"avg_msg_size<{first}"] = own
        chosen[f"avg_msg_size<={last}"] = {f"algorithm={algorithm}": {}} if algorithm else own
    return {**chosen, "avg_msg_size=any": own}


def _algorithm(rule: Rule) -> str | None:
    """What MPICH calls a schedule; its pairwise exchange is xor where ranks are a power of two."""
    first, last = rule.ranks
    powers = [ranks for ranks in range(first, last + 1) if ranks & (ranks - 1) == 0]
    if rule.schedule == "scattered":
        return _SCATTERED
    if (rule.schedule, len(powers)) in (("xor", last - first + 1), ("shift", 0)):
        return _PAIRWISE
    return None


def _pieces(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges that ends of ranges cut these into, ascending; what none covers is left out."""
    listed = list(ranges)
    cuts = sorted({cut for first, last in listed for cut in (first, last + 1)})
    return [
        (first, end - 1)
        for first, end in pairwise(cuts)
        if any(low <= first and end - 1 <= high for low, high in listed)
    ]


def _selections(library: Path) -> dict[str, Any]:
    """The table of algorithms within MPICH's file; empty where it has none."""
    try:
        content = library.read_bytes()
    except OSError:
        return {}
    for match in _SELECTIONS.finditer(content):
        try:
            table = json.loads(match[0])
        except ValueError:
            continue
        if isinstance(table, dict) and _PAIRWISE.encode() in match[0]:
            return table
    return {}
