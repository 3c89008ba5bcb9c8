"""The folder of a session: what was asked, a run folder for each cell, one writer at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from contend.base.errors import FULL, InputError, MissingError, UsageError
from contend.base.files import json_text, read_json, write_whole
from contend.lab.session.cell import Cell

RUNS = Path("contend-runs")
"""Where runs are kept that nobody named a folder for."""

RECORD = "run.json"
"""The file that every run folder has."""

SESSION = "session.json"
MOST_LAUNCHES = 10_000
_LOCK = "session.lock"
VERSION = 1
# A session's folder has run folders in it, or in a folder within it.
_LEVELS = 3
_NO_ROOM = (*FULL, errno.EROFS)


class NoRoomError(MissingError):
    """Results can no longer be written; what was made before is kept."""

    @staticmethod
    def of(path: Path, error: OSError) -> NoRoomError:
        """The error as contend tells it."""
        return NoRoomError(f"{error.filename or path}: {error.strerror}")

    @staticmethod
    def is_meant(error: OSError) -> bool:
        """Whether an error of the system says that there is no room, or no right to write."""
        return error.errno in _NO_ROOM


class Asked(msgspec.Struct, frozen=True):
    """One cell in `SessionRecord`: its run folder below the session's, and the question."""

    folder: str
    key: str
    question: dict[str, Any]


class SessionRecord(msgspec.Struct, frozen=True):
    """``session.json``: what was asked, so that the session can go on."""

    kind: str
    """What asked: ``measure``, or the name of a study."""
    cells: tuple[Asked, ...]
    """Cells in the order asked for."""
    version: int = VERSION
    """Version of this form."""
    contend: str = ""
    """Version of contend that made it."""
    launches: Annotated[int, Meta(ge=1, le=MOST_LAUNCHES)] = 1
    """Launches of every cell."""
    budget_s: Annotated[float, Meta(gt=0)] | None = None
    """Seconds for all cells together; None for no limit."""
    seed: int = 1
    """Seed of the order of launches."""
    plan: dict[str, Any] = {}
    """What stands above the cells, such as a study's plan."""
    earlier: tuple[Asked, ...] = ()
    """Cells that were asked for before and are not any more; their runs are still there."""


def asked_cells(cells: Sequence[Cell], *, below: str = "") -> tuple[Asked, ...]:
    """Cells with their run folders: the session's own for a single cell, else one for each.

    Args:
        cells: all of the session.
        below: a folder within the session's where run folders stand; then also that of one cell.

    Raises:
        UsageError: a cell is given twice.
    """
    asked: dict[str, Asked] = {}
    for cell in cells:
        key = cell.key
        if key in asked:
            raise UsageError(f"{cell.words} is given twice")
        alone = len(cells) == 1 and not below
        folder = "." if alone else str(Path(below) / cell.folder_name)
        asked[key] = Asked(folder, key, cell.question())
    return tuple(asked.values())


def write_session(folder: Path, record: SessionRecord) -> None:
    """Keeps what was asked, whole or not at all; makes the folder.

    Raises:
        UsageError: the folder cannot be made or written.
        NoRoomError: the disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / SESSION, json_text(record))
    except OSError as error:
        if NoRoomError.is_meant(error):
            raise NoRoomError.of(folder / SESSION, error) from error
        raise UsageError(f"{folder}: {error.strerror}") from None


def going_on(folder: Path, record: SessionRecord) -> SessionRecord:
    """The record with the cells that the folder has from earlier.

    Raises:
        UsageError: a run folder has the answer to another question.
        InputError: the folder is damaged.
    """
    if not (folder / SESSION).exists():
        return record
    before = read_session(folder)
    known = (*before.cells, *before.earlier)
    keys = {asked.key for asked in record.cells}
    earlier = tuple(old for old in known if old.key not in keys)
    folders = {asked.folder for asked in (*known, *record.cells)}
    # The folder itself is the run of its only cell, or of none.
    if "." in folders and (len(folders) > 1 or earlier):
        raise UsageError(
            f"{folder}: the run here was asked for with other settings: choose another folder"
        )
    return msgspec.structs.replace(record, earlier=earlier)


def read_session(folder: Path) -> SessionRecord:
    """What was asked of a session.

    Raises:
        UsageError: none is there.
        InputError: it is damaged, or of a newer version.
    """
    path = folder / SESSION
    try:
        record = read_json(path, SessionRecord, "a session", version=VERSION)
    except OSError as error:
        raise UsageError(f"{path}: there is no session here ({error.strerror})") from None
    for asked in (*record.cells, *record.earlier):
        within = Path(asked.folder)
        if within.is_absolute() or ".." in within.parts:
            raise InputError(str(path), 0, "run folders within the session's", asked.folder)
    return record


def new_folder(name: str, today: date, base: Path = RUNS) -> Path:
    """A folder that is not there yet: ``contend-runs/alltoall-2026-11-21-1``."""
    number = 1
    while (folder := base / f"{name}-{today.isoformat()}-{number}").exists():
        number += 1
    return folder


def refuse_occupied(folder: Path, instead: str = "") -> None:
    """Refuses a folder that has runs already, before anything is done for another.

    Args:
        folder: that is to get a run.
        instead: what else to do, after the reason.

    Raises:
        UsageError: it has.
    """
    occupied = any((folder / name).exists() for name in (RECORD, SESSION))
    if occupied or list(folder.glob(f"*/{RECORD}")):
        raise UsageError(f"{folder}: a run is here already{instead}")


def session_of(folder: Path) -> Path:
    """The folder of the session that a run folder belongs to; itself where there is none."""
    whole = folder.resolve()
    above = [path for path in (whole, *whole.parents[: _LEVELS - 1]) if (path / SESSION).exists()]
    return above[-1] if above else folder


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keeps all others from writing a session's folder, until the context ends or contend dies.

    The folder is made where it is not there, and goes again where nothing was put into it.

    Raises:
        UsageError: somebody else has it, and who; or it cannot be written.
        NoRoomError: the disk is full.
    """
    path = session_of(folder) / _LOCK
    made = [above for above in (path.parent, *path.parent.parents) if not above.exists()]
    handle = _locked(path)
    # On a full disk the lock holds all the same, only nobody learns who has it.
    with contextlib.suppress(OSError):
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {platform.node()}\n".encode())
    try:
        yield
    finally:
        # Removed while it is still held, so that nobody removes another's.
        path.unlink(missing_ok=True)
        os.close(handle)
        with contextlib.suppress(OSError):
            for empty in made:
                empty.rmdir()


def _locked(path: Path) -> int:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            if NoRoomError.is_meant(error):
                raise NoRoomError.of(path, error) from error
            raise UsageError(f"{path}: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(path, handle):
                return handle
        except BlockingIOError:
            who = os.read(handle, 200).decode(errors="replace").strip() or "another process"
            os.close(handle)
            raise UsageError(f"{path.parent}: {who} is writing here: wait until it ends") from None
        except OSError as error:
            os.close(handle)
            raise UsageError(f"{path}: cannot be locked: {error.strerror}") from None
        # Whoever held it has ended and removed the file in between.
        os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
