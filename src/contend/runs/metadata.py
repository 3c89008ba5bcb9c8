"""What a file of samples says in JSON about its samples."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
CellNumber = Annotated[int, Meta(ge=0, lt=1 << 32)]
Ranks = Annotated[int, Meta(ge=1, le=1 << 24)]
Label: TypeAlias = str | int | float | bool | None

Numbers: TypeAlias = tuple[float | None, ...]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_MOST_COLUMNS = 4096
_LONGEST_LABEL = 200
# Names that tables of samples give to columns of their own.
RESERVED = frozenset(
    (
        *("launch", "cell", "algorithm", "bytes", "ranks", "hosts", "repetition", "warmup"),
        *("late", "verified", "rank", "agreed_s", "start_s", "end_s", "result_s", "late_by_s"),
        "sample",
    )
)


class ProbeFrame(msgspec.Struct, frozen=True):
    """What ran: the first frame of a file."""

    probe: str
    ranks: Ranks
    version: str = ""
    library: str = ""
    standard: str = ""
    arguments: tuple[str, ...] = ()
    budget_s: float | None = None
    precision: float | None = None
    repetitions: tuple[int, int] | None = None
    warmups: int | None = None
    verify: bool = False
    seed: int | None = None
    epoch_unix_s: float = 0.0
    timer_s: float | None = None
    cells: Count = 0


class RanksFrame(msgspec.Struct, frozen=True):
    """Where the ranks ran; one value for every rank."""

    host: tuple[str, ...]
    pid: tuple[int, ...] = ()
    cpus: tuple[str, ...] = ()
    host_cpus: tuple[int, ...] = ()
    oversubscribed: bool = False


class ClockFrame(msgspec.Struct, frozen=True):
    """One synchronisation of the clocks; one value for every rank."""

    at_s: float
    offset_s: Numbers = ()
    drift: Numbers = ()
    round_trip_s: Numbers = ()
    residual_s: Numbers = ()


class CellFrame(msgspec.Struct, frozen=True):
    """A cell begins: what its samples measure and which columns they have."""

    cell: CellNumber
    columns: tuple[str, ...]
    labels: dict[str, Label]


class EndFrame(msgspec.Struct, frozen=True):
    """A cell has ended: why, and whether its data were right (None: not looked at)."""

    cell: CellNumber
    reason: str
    verified: bool | None = None
    said: str = ""


class DoneFrame(msgspec.Struct, frozen=True):
    """The run is complete.

    Attributes:
        overhead_s: median time between samples that the probe itself took.
        overhead_p99_s: what 99 % of those times do not exceed.
    """

    overhead_s: float | None = None
    overhead_p99_s: float | None = None


Frame = ProbeFrame | RanksFrame | ClockFrame | CellFrame | EndFrame | DoneFrame

_KINDS: dict[str, type[Frame]] = {
    "probe": ProbeFrame,
    "ranks": RanksFrame,
    "clock": ClockFrame,
    "end": EndFrame,
    "done": DoneFrame,
}


def decode(payload: bytes) -> Frame | None:
    """A JSON frame; None for one of a kind that this version does not know.

    Raises:
        ValueError: it is no JSON object, or not what its kind must have; says what is wrong.
    """
    try:
        content = msgspec.json.decode(payload, type=dict[str, Any])
        kind = content.pop("kind", None)
        if not isinstance(kind, str):
            raise ValueError("no kind")
        if kind == "cell":
            return _cell(content)
        known = _KINDS.get(kind)
        return None if known is None else msgspec.convert(content, known)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error) or "nesting too deep") from None


def _cell(content: dict[str, Any]) -> CellFrame:
    number, columns = content.pop("cell", None), content.pop("columns", None)
    frame = msgspec.convert({"cell": number, "columns": columns, "labels": content}, CellFrame)
    _check_columns(frame.columns)
    for name, value in frame.labels.items():
        _check_label(name, value)
    return frame


def _check_columns(columns: tuple[str, ...]) -> None:
    if len(columns) > _MOST_COLUMNS or len(set(columns)) < len(columns):
        raise ValueError(f"columns must be at most {_MOST_COLUMNS} and differ")
    if columns[:1] != ("start",) or "end" not in columns:
        raise ValueError("columns must begin with start and have an end")
    for name in columns:
        if not _NAME.fullmatch(name) or name in RESERVED:
            raise ValueError(f"{name[:50]!r} is no name of a column")


def _check_label(name: str, value: Label) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:50]!r} is no name of a label")
    if name == "bytes" and (type(value) is not int or value < 0):
        raise ValueError("bytes must be a whole number")
    if name == "algorithm" and not isinstance(value, str):
        raise ValueError("algorithm must be text")
    if isinstance(value, str) and (len(value) > _LONGEST_LABEL or not value.isprintable()):
        raise ValueError(f"{name} must be at most {_LONGEST_LABEL} printable characters")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{name} must fit 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be finite")
