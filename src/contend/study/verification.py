"""The simulation held against a network: which fabrics are emulated, and what is kept of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from contend.emulate import EmulatedHosts, bring_up
from contend.errors import ContendError, UsageError
from contend.fabric import Fabric
from contend.files import whole_file
from contend.loading import load
from contend.measurement import BisectWork, Conditions, Observer, beside_predictions, measure_bisect

_UNFIT = re.compile(r"[^A-Za-z0-9]+")
# TCP headers, acknowledgements and the start of every message take their part of the wire.
_OF_WIRE = 0.9
# Random pairs on the small fabrics here get a little more than half of a link's rate.
_MEAN_SLOWEST = 2.5


@dataclass(frozen=True)
class Case:
    """A fabric that is emulated.

    Attributes:
        source: a generator or a topology file.
        routes: a file of forwarding tables.
        engine: computes the routes; both None for the fabric's own.
        name: what it is called in tables and figures.
    """

    source: str
    routes: str | None = None
    engine: str | None = None
    name: str = ""

    def load(self) -> Fabric:
        """The fabric with its routes."""
        return load(self.source, routes=self.routes, route=self.engine, need_routes=True)


CASES = (
    Case("fig1", engine="fig1", name="16-node figure"),
    Case("xgft:2;6,4;1,3", engine="dmodk", name="fat tree, 24 hosts"),
    Case("random:8,3,2,1", engine="minhop", name="irregular, 16 hosts"),
)
"""The paper's figure, an oversubscribed fat tree of two levels, and a random graph."""


@dataclass(frozen=True)
class Network:
    """How cables are emulated.

    Attributes:
        rate: bytes per second each way.
        buffer: bytes that wait for a channel at most.
    """

    rate: float = 100e6 / 8
    buffer: int = 200_000


def predicted_seconds(work: BisectWork, network: Network) -> float:
    """How long a case takes at least, from what its messages and cables are."""
    message = work.bytes * work.packets / (network.rate * _OF_WIRE)
    return work.patterns * work.repeats * message * _MEAN_SLOWEST


def verify_case(
    case: Case,
    work: BisectWork,
    network: Network,
    conditions: Conditions,
    folder: Path,
    *,
    library: str | None = None,
    observer: Observer | None = None,
) -> tuple[pl.DataFrame, float]:
    """Measures a fabric's bisect patterns and puts what its routes predict beside every message.

    What is kept in the folder from before is not measured again.

    Args:
        case: the fabric.
        work: what is sent.
        network: how its cables are emulated.
        conditions: its ranks are replaced by the fabric's hosts.
        folder: of the study.
        library: the MPI library; None for the first that is usable.
        observer: is told what happens.

    Returns:
        The messages, see `contend.measurement.pairs.beside_predictions`, and the rate in bytes per
        second that the cables had in the end.

    Raises:
        ContendError: as of `bring_up` and `measure_bisect`.
    """
    place = folder / _UNFIT.sub("-", case.name or case.source).strip("-").lower()
    kept = place / "pairs.parquet"
    if kept.exists():
        return _kept(kept, work, conditions.seed)
    fabric = case.load()
    with bring_up(fabric, network.rate, network.buffer) as emulated:
        hosts = EmulatedHosts(emulated)
        run = measure_bisect(
            work,
            Conditions(
                (len(emulated.hosts),),
                budget=conditions.budget,
                seed=conditions.seed,
                labels=conditions.labels,
            ),
            libraries=(library,),
            place=hosts,
            folder=_fresh(place),
            observer=observer,
        )[0]
        measured = run.record.launches[0].measured
        names = () if measured is None else measured.rank_hosts
        pairs = beside_predictions(run, fabric, hosts.numbers_of(names))
        rate = hosts.wire
    asked = pairs.with_columns(
        rate_Bps=pl.lit(rate),
        asked=pl.lit(f"{work} seed {conditions.seed}"),
    )
    with whole_file(kept) as file:
        asked.write_parquet(file)
    return asked, rate


def _kept(path: Path, work: BisectWork, seed: int) -> tuple[pl.DataFrame, float]:
    try:
        pairs = pl.read_parquet(path)
        asked, rate = pairs["asked"][0], float(pairs["rate_Bps"][0])
    except (pl.exceptions.PolarsError, OSError, IndexError) as error:
        raise UsageError(f"{path}: {error}; remove it to have it measured again") from None
    if asked != f"{work} seed {seed}":
        raise UsageError(f"{path} was measured with {asked}: choose another folder with --out")
    return pairs, rate


def _fresh(place: Path) -> Path:
    """A folder for a new run: one that was cut short stays, beside it."""
    for number in range(1, 1000):
        folder = place / f"run-{number}"
        if not folder.exists():
            return folder
    raise UsageError(f"{place}: too many runs that were cut short; remove some")


def failures(errors: Sequence[tuple[Case, ContendError]]) -> str:
    """What went wrong, in one line; "" when nothing did."""
    return "; ".join(f"{case.name}: {error}" for case, error in errors)
