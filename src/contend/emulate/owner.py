"""Whose an emulated fabric is: a folder named after the process that holds it."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path

from contend.errors import MissingError

_NAME = re.compile(r"emulation-(\d+)-(\d+)-([0-9a-f]{6})")
_SYSTEM = Path("/run")
_MARK_BYTES = 3


@dataclass(frozen=True)
class Claim:
    """The folder of one emulated fabric, and the process that it belongs to.

    Attributes:
        folder: where it keeps its files.
        process: number of the process.
        started: when that process started, in the kernel's ticks since the machine did, so that a
            later process of the same number is told apart.
        mark: three bytes by which its namespaces are known.
    """

    folder: Path
    process: int
    started: int
    mark: bytes

    @property
    def held(self) -> bool:
        """Whether the process is still there."""
        return started(self.process) == self.started


def state_folder() -> Path:
    """Where the folders of all emulated fabrics of this user are.

    Raises:
        MissingError: when there is no place for one.
    """
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    candidates = [_SYSTEM] if os.access(_SYSTEM, os.W_OK) else []
    candidates += [Path(session)] if os.path.isabs(session) else []
    folder = candidates[0] / "contend" if candidates else _in_scratch()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.geteuid():
            raise MissingError(f"{folder}: belongs to somebody else")
    except OSError as error:
        raise MissingError(f"{folder}: {error.strerror}") from error
    return folder


def claim(root: Path) -> Claim:
    """Makes a folder for an emulated fabric of this process.

    Raises:
        MissingError: when it cannot be written.
    """
    process, mark = os.getpid(), secrets.token_bytes(_MARK_BYTES)
    start = started(process)
    assert start is not None
    folder = root / f"emulation-{process}-{start}-{mark.hex()}"
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise MissingError(f"{folder}: {error.strerror}") from error
    return Claim(folder, process, start, mark)


def claims(root: Path) -> list[Claim]:
    """The folders of all emulated fabrics that were not taken down yet."""
    found = []
    for folder in sorted(root.iterdir()):
        if (match := _NAME.fullmatch(folder.name)) and folder.is_dir():
            mark = bytes.fromhex(match[3])
            found.append(Claim(folder, int(match[1]), int(match[2]), mark))
    return found


def marked_address(mark: bytes) -> str:
    """The address of loopback that all namespaces of an emulated fabric have, and no others."""
    # Above the few that machines use by themselves.
    return f"127.{mark[0] | 0x80}.{mark[1]}.{mark[2]}"


def started(process: int) -> int | None:
    """When a process started, in ticks; None when it is not there or has ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return None
    # Behind the name in parentheses: the state, and 19 columns later the start.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def _in_scratch() -> Path:
    return Path(tempfile.gettempdir()) / f"contend-{os.geteuid()}"
