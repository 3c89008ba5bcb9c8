"""Better forwarding tables: computed for what a machine sends, and judged beside what it has."""

from __future__ import annotations

import csv
import io
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import Argument, UsageError
from contend.base.files import whole_file
from contend.base.schema import PythonOnly, Seconds, Share, Shown, told
from contend.congestion import EACH_HOST, Simulation, simulate
from contend.fabric import Fabric
from contend.routes import (
    Demand,
    TableSteps,
    addresses_of_hosts,
    dependency_cycle,
    fewest_collisions,
    table_steps,
    tables_of,
)
from contend.traffic.pattern import Pattern, open_matrix
from contend.traffic.pattern import parse as parse_pattern
from contend.traffic.placement import Placement
from contend.traffic.placement import parse as parse_placement

# Every pair sends as much as any other: the routes are those for no traffic in particular.
EVEN_PATTERNS = ("bisect", "permutation", "uniform", "alltoall", "shifts")
# Random patterns are averaged over this many samples.
_DRAWN = 1000
_MATRIX = ".npy"


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What a pattern gets by the tables that run and by the new ones."""

    pattern: str
    """Specification of the pattern."""
    placement: str
    """Specification of its ranks' places."""
    simulation_before: PythonOnly[Simulation | None]
    """The pattern by the present tables; None where the fabric has none."""
    simulation_after: PythonOnly[Simulation]
    """The same by the new ones."""
    each_host: bool
    """Whether it is what each host gets of what its ports allow until the last message is done, as
    where ranks have several messages at once; else the mean of 1/π over messages."""
    before: Share | None
    """Share by the present tables; null where there are none."""
    after: Share
    """The same by the new ones."""
    ci95: tuple[Share, Share] | None
    """Both ends of the 95 % interval of `after`; null where it cannot be known."""

    @property
    def points(self) -> float | None:
        """By how much the share grows, in points of a percent."""
        return None if self.before is None else 100 * (self.after - self.before)


@dataclass(frozen=True, eq=False, kw_only=True)
class BetterTables(Shown, told="better_tables_document"):
    """New tables for a fabric."""

    fabric: Fabric
    """The fabric with the new tables."""
    purpose: str
    """What they were made for: a pattern, or a file with a matrix of bytes."""
    gains: tuple[Gain, ...]
    """Gains of random bisections first, then of the purpose where that is another."""
    lanes: int
    """Number of virtual lanes that they need to be free of deadlock."""
    changed: int | None
    """Number of entries for hosts that differ from the present ones; null where there are none."""
    entries: int
    """Number of entries for hosts."""
    seconds: Seconds
    """Seconds that computing the tables took."""
    file: str = ""
    """Name of the file that they were written to; "" where they were not."""
    dependency_cycle: PythonOnly[tuple[int, ...]]
    """Channels that wait for each other in a circle on one lane: none."""
    present_cycle: PythonOnly[tuple[int, ...] | None]
    """The same of the present tables, whatever lanes they run on."""
    steps: PythonOnly[TableSteps | None] = None
    """The changes one after the other, where the present tables were to be kept."""

    @told
    def deadlock_free(self) -> bool:
        """Whether on each lane no channels wait for each other in a circle."""
        return not self.dependency_cycle

    @told
    def present_deadlock_free(self) -> bool | None:
        """The same of the present tables, on one lane; null without any."""
        return None if self.present_cycle is None else not self.present_cycle


def route(
    fabric: Fabric,
    *,
    purpose: str = "bisect",
    placement: str = "linear",
    lanes: int = 1,
    keep: bool = False,
    changes: int | None = None,
    seed: int = 1,
) -> BetterTables:
    """Computes tables for a fabric with the engine ``contend`` and judges them.

    Args:
        fabric: with the present tables, if any; its LIDs are kept.
        purpose: what they are for: a pattern (see `contend.pattern.FORMS`), or a matrix of bytes
            from rank to rank in a .npy file, such as a profile's.
        placement: on which hosts the purpose's ranks sit.
        lanes: how many virtual lanes may be used.
        keep: change the present tables entry by entry, instead of computing others.
        changes: how many entries may change, if `keep`; None: all that save anything.
        seed: of every random choice.

    Raises:
        UsageError: no such pattern, placement or number of lanes; or tables to be kept that cannot
            be improved in safe steps.
        InputError: a file that is not what it should be.
    """
    spec = pattern_of(purpose)
    present = None if fabric.routes is None else fabric
    if present is not None:
        # Refused before anything is computed: new entries are counted against present ones.
        tables_of(present)
    demand = None if spec in EVEN_PATTERNS else demand_of(fabric, spec, placement, seed)
    compute = _Computing(fabric, lanes, keep, changes)
    routed, steps = compute.tables(None)
    gains = []
    if spec != "bisect":
        gains.append(_gain(present, routed, spec, placement, seed))
    if demand is not None:
        # What is sent on average need not be what meets: the better tables count.
        made_for, other_steps = compute.tables(demand)
        gain = _gain(present, made_for, spec, placement, seed)
        if gain.after > gains[0].after:
            routed, steps, gains = made_for, other_steps, [gain]
    gains.insert(0, _gain(present, routed, "bisect", "random", seed))
    entries = hosts_entries(routed)
    assert routed.routes is not None
    return BetterTables(
        fabric=routed,
        purpose=purpose,
        seconds=compute.seconds,
        lanes=routed.routes.lanes,
        gains=tuple(gains),
        changed=None if present is None else changed_entries(present, routed),
        entries=int(entries.size),
        dependency_cycle=dependency_cycle(routed)[1],
        present_cycle=None if present is None else dependency_cycle(present)[1],
        steps=steps,
    )


@dataclass
class _Computing:
    """Computes tables and adds up the seconds that it took."""

    fabric: Fabric
    lanes: int
    keep: bool
    changes: int | None
    seconds: float = 0.0

    def tables(self, demand: Demand | None) -> tuple[Fabric, TableSteps | None]:
        started = time.perf_counter()
        steps = None
        if self.keep:
            try:
                steps = table_steps(self.fabric, changes=self.changes, demand=demand)
            except UsageError as error:
                instead = " contend computes tables that cannot deadlock"
                raise UsageError(f"{error}; without ", Argument("keep"), instead) from None
            routed = steps.fabric
        else:
            routed = fewest_collisions(self.fabric, lanes=self.lanes, demand=demand)
        self.seconds += time.perf_counter() - started
        return routed, steps


def pattern_of(purpose: str) -> str:
    """The pattern that a purpose stands for: itself, or that of a matrix in a file."""
    is_matrix = purpose.endswith(_MATRIX) and not purpose.startswith("file:")
    if is_matrix and not Path(purpose).exists():
        raise UsageError(f"{purpose}: no such file")
    return f"file:{purpose}" if is_matrix else purpose


def demand_of(fabric: Fabric, spec: str, placement: str, seed: int) -> Demand:
    """What hosts send each other in a pattern; random ones are averaged over samples."""
    placed: Placement = parse_placement(placement, fabric)
    if placed.random:
        raise UsageError(
            f"--placement {placement}: routes for {spec} need to know where its ranks are"
        )
    ranks = _ranks_of(spec, placed.ranks)
    pattern: Pattern = parse_pattern(spec, ranks)
    host = placed.host_of_rank[: pattern.ranks].astype(np.int64)
    sources, targets, sizes = [], [], []
    for sample in range(_DRAWN if pattern.random else 1):
        for number in range(pattern.rounds):
            source, target, size = pattern.core.messages(number, seed, sample)
            sources.append(host[source])
            targets.append(host[target])
            # A pattern without sizes gives none.
            sizes.append(size.astype(np.float64) if len(size) else np.ones(len(source)))
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(sizes)


def _ranks_of(spec: str, most: int) -> int:
    """As many ranks as a matrix has, else as many as there is room for."""
    path = spec.removeprefix("file:")
    if path == spec or not path.endswith(_MATRIX):
        return most
    return min(most, len(open_matrix(path)))


def _gain(present: Fabric | None, routed: Fabric, spec: str, placement: str, seed: int) -> Gain:
    """Simulates a pattern on both."""
    ranks = None if placement == "random" else _ranks_of(spec, routed.hosts)
    before, after = (
        None
        if state is None
        else simulate(state, spec, placement=placement, ranks=ranks, seed=seed)
        for state in (present, routed)
    )
    assert after is not None
    found = after.averaged(after.judged)
    return Gain(
        pattern=spec,
        placement=placement,
        simulation_before=before,
        simulation_after=after,
        each_host=after.judged == EACH_HOST,
        before=None if before is None else before.judged_share,
        after=found.mean,
        ci95=found.ci95,
    )


def hosts_entries(fabric: Fabric) -> NDArray[np.uint16]:
    """The tables' columns for hosts, shape [switches, addresses of hosts]."""
    return tables_of(fabric).ports[:, addresses_of_hosts(fabric)[1]]


def changed_entries(present: Fabric, routed: Fabric) -> int | None:
    """How many entries for hosts differ; None where the hosts' addresses do."""
    same = np.array_equal(present.host_lid, routed.host_lid) and np.array_equal(
        present.host_lmc, routed.host_lmc
    )
    return int(np.count_nonzero(hosts_entries(present) != hosts_entries(routed))) if same else None


def write_steps(steps: TableSteps, path: Path, *, back: bool = False) -> None:
    """Writes changes of entries in their order, or the way back, as a table (CSV).

    Columns: the number of the step, the switch's GUID and name, the LID of the entry, its port so
    far and its port from then on.
    """
    order = range(len(steps.at))
    fabric = steps.fabric
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("step", "guid", "switch", "lid", "before", "after"))
        for number, step in enumerate(reversed(order) if back else order, 1):
            switch = int(steps.at[step])
            ports = (int(steps.before[step]), int(steps.after[step]))
            guid = f"0x{int(fabric.switch_guid[switch]):016x}"
            place = (guid, fabric.switch_name[switch], int(steps.address[step]))
            writer.writerow((number, *place, *(ports[::-1] if back else ports)))
        text.flush()
        text.detach()
