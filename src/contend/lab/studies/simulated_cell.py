"""A simulated cell: what is asked, and what is kept of the answer, with every sample."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from contend.base.errors import InputError
from contend.base.files import json_text, read_json, write_whole
from contend.base.schema import plain
from contend.congestion import Average, Links, SampleMean, Simulation
from contend.fabric import FabricSize
from contend.lab.session import Cell

# All that reading a damaged archive of arrays ends with.
_DAMAGED = (
    OSError, ValueError, EOFError, RuntimeError, LookupError, ArithmeticError, MemoryError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


class SimulatedCell(Cell, frozen=True, forbid_unknown_fields=True, tag="simulate"):
    """Everything that decides the figures of a simulation."""

    source: str
    """Generator or topology file, as the plan names it."""
    routes: str | None
    """File of forwarding tables; None for none."""
    engine: str
    """What computes the routes; "" for the fabric's own."""
    pattern: str
    placement: str
    samples: int
    """Number of patterns and placements to draw."""
    precision: float | None
    """Relative half-width of the interval at which it may stop before; None for never."""
    seed: int
    files: tuple[str, ...] = ()
    """SHA-256 of every file that the others name, so that another file is another question."""

    @property
    def words(self) -> str:
        """The cell in a few words, for names of folders and for people."""
        return ", ".join(filter(None, (self.source, self.engine, self.pattern)))

    @property
    def topology(self) -> str:
        """Names the fabric without its routes: the same for cells on the same fabric."""
        return _short((self.source, *self.files[:1]))

    @property
    def routed(self) -> str:
        """Names the fabric with its routes: the same for cells on the same routes."""
        return _short((self.source, self.routes, self.engine, *self.files[:2]))


class Record(msgspec.Struct, frozen=True):
    """``run.json`` of a simulated cell."""

    fabric: str
    """Name of the fabric."""
    engine: str
    """Its routing; "" for its own."""
    pattern: str
    """Name of the pattern."""
    status: Literal["done", "failed"]
    request: SimulatedCell
    cause: str = ""
    """Why it failed."""
    rated_bisection: float | None = None
    """That of the hosts that take part, as a fraction of full bisection."""
    scale: float = 1.0
    """What the averages may be multiplied by to take out the pattern's own ends."""
    averages: dict[str, SampleMean] = {}
    """Bandwidths as fractions of the link speed, by their names in a plan."""
    simulation: dict[str, Any] = {}
    """Everything of the simulation that is no array."""
    probe: str = "simulate"
    """What made it, as in the records of measured runs."""
    version: int = 1
    """Version of this form."""
    created: str = ""
    """Instant in ISO 8601 with its zone."""

    def scaled(self, average: str) -> SampleMean | None:
        """An average, multiplied by the scale; None where the cell failed."""
        plain = self.averages.get(average)
        return None if plain is None else plain.times(self.scale)


class _Scalars(msgspec.Struct, frozen=True):
    """What every record of a cell that is done has of its simulation."""

    samples: int
    seed: int
    elapsed_s: float


class _Averages(msgspec.Struct, frozen=True):
    """What every record of a cell that is done has of averages."""

    effective_bandwidth: SampleMean
    of_mean_congestion: SampleMean
    of_max_congestion: SampleMean


@dataclass(frozen=True)
class SimulatedOutcome:
    """A cell that has ended; its samples stay on the disk until they are asked for."""

    record: Record
    path: Path

    def simulation(self) -> Simulation:
        """The whole simulation of a cell that is done.

        Raises:
            InputError: when the cell's files are not what `write_cell` writes.
        """
        samples = self.path.with_suffix(".npz")
        try:
            with samples.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            values = dict(self.record.simulation)
            values["fabric"] = FabricSize(**values.get("fabric", {}))
            values["links"] = tuple(Links(**links) for links in values.get("links", ()))
            return Simulation(**values, **arrays)
        except _DAMAGED as error:
            raise InputError(str(samples), 0, "the samples of a cell", str(error)) from None
        except TypeError:
            got = "those of another version; remove the cell to have it run again"
            raise InputError(str(self.path), 0, "the keys of a simulation", got) from None


def record_of(
    names: tuple[str, str, str],
    request: SimulatedCell,
    simulation: Simulation | None,
    rated: float | None = None,
    cause: str = "",
) -> Record:
    """The record of a cell that is named by fabric, engine and pattern.

    Args:
        names: these three.
        request: what was asked for.
        simulation: None where there is none.
        rated: see `Record`.
        cause: why there is none.
    """
    record = Record(*names, "failed", request, cause, rated, created=_now())
    if simulation is None:
        return record
    values = _values(simulation).items()
    return replace(
        record,
        status="done",
        scale=simulation.scale,
        averages={average: simulation.averaged(average) for average in Average},
        simulation={name: value for name, value in values if not isinstance(value, np.ndarray)},
    )


def write_cell(path: Path, record: Record, simulation: Simulation | None) -> None:
    """Writes a cell; its JSON file comes last, so that a cell with one is whole."""
    if simulation is not None:
        values = _values(simulation).items()
        arrays: dict[str, Any] = {n: v for n, v in values if isinstance(v, np.ndarray)}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        write_whole(path.with_suffix(".npz"), buffer.getvalue())
    write_whole(path, json_text(record))


def read_record(path: Path) -> Record:
    """Reads a cell's JSON file.

    Raises:
        InputError: when it is not what `write_cell` writes.
    """
    try:
        record = read_json(path, Record, "a cell of a study")
        if record.status == "done":
            msgspec.convert(record.simulation, _Scalars)
            msgspec.convert(msgspec.to_builtins(record.averages), _Averages)
    except msgspec.ValidationError as error:
        raise InputError(str(path), 0, "a cell of a study", str(error)) from None
    return record


def _values(simulation: Simulation) -> dict[str, Any]:
    """What is kept of a simulation; of its fabric the size alone."""
    values = {column.name: getattr(simulation, column.name) for column in fields(simulation)}
    return values | {"fabric": plain(simulation.fabric)}


def _short(words: Sequence[str | None]) -> str:
    return hashlib.sha256(msgspec.json.encode(words)).hexdigest()[:16]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
