"""Where runs are kept, and what was asked of them, so that they can go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import msgspec

from contend.errors import InputError, UsageError
from contend.files import write_whole
from contend.mpi import Library

RUNS = Path("contend-runs")
_REQUEST = "request.json"
_RECORD = "run.json"
_UNFIT = re.compile(r"[^a-z0-9.]+")


class Request(msgspec.Struct, frozen=True):
    """What was asked of a run, as far as going on with it needs to know.

    Attributes:
        probe: its name.
        arguments: its options.
        wrapper: of the MPI library.
        ranks: numbers of ranks.
        ranks_per_host: numbers on every host.
        slots: hosts with the ranks that each takes.
        launcher: how ranks are started.
        place: name of the place where they run; "" for real hosts.
        launches: of every shape.
        seed: of all random choices.
        budget_s: for all launches of all libraries.
    """

    probe: str
    arguments: tuple[str, ...]
    wrapper: str
    ranks: tuple[int, ...]
    ranks_per_host: tuple[int, ...]
    slots: tuple[tuple[str, int | None], ...]
    launcher: str
    place: str
    launches: int
    seed: int
    budget_s: float


def new_folder(probe: str, today: date, base: Path = RUNS) -> Path:
    """A folder that is not there yet: ``contend-runs/alltoall-2026-11-21-1``."""
    number = 1
    while (folder := base / f"{probe}-{today.isoformat()}-{number}").exists():
        number += 1
    return folder


def refuse_occupied(folder: Path) -> None:
    """Refuses a place that has runs already, before anything is done for another.

    Raises:
        UsageError: it has.
    """
    if (folder / _RECORD).exists() or any(folder.glob(f"*/{_RECORD}")):
        raise UsageError(f"{folder}: a run is here already")


def folders_of(folder: Path, libraries: Sequence[Library]) -> list[Path]:
    """The folder itself for one library, one within it for each of several."""
    if len(libraries) == 1:
        return [folder]
    names: list[str] = []
    for library in libraries:
        name = _UNFIT.sub("-", f"{library.name} {library.version}".lower()).strip("-")
        names.append(name if name not in names else f"{name}-{len(names) + 1}")
    return [folder / name for name in names]


def write_request(folder: Path, request: Request) -> None:
    """Keeps what was asked of a run."""
    text = msgspec.json.format(msgspec.json.encode(request), indent=2)
    write_whole(folder / _REQUEST, text + b"\n")


def read_request(folder: Path) -> Request:
    """What was asked of a run.

    Raises:
        UsageError: nothing is kept there.
        InputError: it is damaged.
    """
    path = folder / _REQUEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=Request)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(str(path), 0, "what contend keeps of a run", str(error)) from None
