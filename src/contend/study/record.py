"""What a study keeps of a cell: a JSON file of what it is, and its samples beside it."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from contend.congestion import Simulation, half_width
from contend.errors import InputError
from contend.files import write_whole


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that decides a cell's figures; a kept cell must have been asked for alike."""

    source: str
    routes: str | None
    engine: str
    pattern: str
    placement: str
    samples: int
    precision: float | None
    seed: int


class Average(msgspec.Struct, frozen=True):
    """A mean over samples and its 95 % interval, which a single sample does not have."""

    mean: float
    low: float | None
    high: float | None


class Record(msgspec.Struct, frozen=True):
    """A cell's JSON file.

    Attributes:
        fabric: name of the fabric.
        engine: its routing; "" is its own.
        pattern: name of the pattern.
        status: whether it was simulated or failed.
        request: what was asked for.
        cause: why it failed.
        rated_bisection: of the fabric, as a fraction of full bisection.
        scale: what the averages may be multiplied by to take out the pattern's own ends.
        averages: bandwidths as fractions of the link speed, by their names in a plan.
        simulation: everything of the simulation that is no array.
    """

    fabric: str
    engine: str
    pattern: str
    status: Literal["done", "failed"]
    request: Request
    cause: str = ""
    rated_bisection: float | None = None
    scale: float = 1.0
    averages: dict[str, Average] = {}
    simulation: dict[str, Any] = {}


@dataclass(frozen=True)
class Outcome:
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
            return Simulation(fabric_name=values.pop("fabric"), **values, **arrays)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(str(samples), 0, "the samples of a cell", str(error)) from None
        except (TypeError, KeyError):
            got = "those of another version; remove the cell to have it made anew"
            raise InputError(str(self.path), 0, "the keys of a simulation", got) from None


def record_of(
    simulation: Simulation, cell: tuple[str, str, str], request: Request, rated: float | None
) -> Record:
    """The record of a simulated cell, which is named by fabric, engine and pattern."""
    columns = {
        "effective_bandwidth": simulation.bandwidth,
        "of_mean_congestion": 1 / simulation.mean_congestion,
        "of_max_congestion": 1 / simulation.max_congestion,
    }
    fabric, engine, pattern = cell
    return Record(
        fabric=fabric,
        engine=engine,
        pattern=pattern,
        status="done",
        request=request,
        rated_bisection=rated,
        scale=simulation.scale,
        averages={
            name: _average(values, simulation.exhaustive) for name, values in columns.items()
        },
        simulation={
            name: value
            for name, value in _values(simulation).items()
            if not isinstance(value, np.ndarray)
        },
    )


def write_cell(path: Path, record: Record, simulation: Simulation | None) -> None:
    """Writes a cell; its JSON file comes last, so that a cell with one is whole."""
    if simulation is not None:
        arrays: dict[str, Any] = {
            name: value
            for name, value in _values(simulation).items()
            if isinstance(value, np.ndarray)
        }
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        write_whole(path.with_suffix(".npz"), buffer.getvalue())
    write_whole(path, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def read_record(path: Path) -> Record:
    """Reads a cell's JSON file.

    Raises:
        InputError: when it is not what `write_cell` writes.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), 0, "a cell of a study", str(error)) from None


def _average(values: NDArray[np.float64], exhaustive: bool) -> Average:
    mean = float(values.mean())
    half = 0.0 if exhaustive else half_width(values)
    if not math.isfinite(half):
        return Average(mean, None, None)
    return Average(mean, mean - half, mean + half)


def _values(simulation: Simulation) -> dict[str, Any]:
    """What is kept of a simulation; its fabric by name only, under the key ``fabric``."""
    values = {column.name: getattr(simulation, column.name) for column in fields(simulation)}
    values["fabric"] = values.pop("fabric_name")
    return values
