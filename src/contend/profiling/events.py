"""Events of ranks in one file: a Zstandard frame for each rank, column after column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from contend.errors import InputError
from contend.profiling.record_layout import EVENT, EventKind

CALL, COMPLETION, PART = map(int, EventKind)
"""Kinds of events: a call; a request that the call before completed; bytes to or from one peer in
the call before."""

KEPT = np.dtype([("start_ns", "<i8"), ("end_ns", "<i8"), *EVENT.descr[2:]])
"""An event in a profile: times in nanoseconds of the common clock from the first MPI_Init."""

_LEVEL = 1
_MOST_EVENTS = 1 << 26


def packed_events(
    events: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> bytes:
    """A rank's events as they are kept.

    Starts are differences from one event to the next, and ends durations: small numbers.

    Args:
        events: of dtype `contend.profiling.record_layout.EVENT`.
        starts: in nanoseconds from the first MPI_Init, on the common clock.
        ends: likewise.
    """
    columns = {
        name: np.ascontiguousarray(events[name])
        for name in KEPT.names or ()
        if not name.endswith("_ns")
    }
    columns = {"start_ns": np.diff(starts, prepend=0), "end_ns": ends - starts, **columns}
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return compressor.compress(b"".join(columns[name].tobytes() for name in KEPT.names or ()))


def read_events(path: Path, at: int, length: int, count: int) -> NDArray[Any]:
    """A rank's events, of dtype `KEPT`.

    Args:
        path: of the file of all ranks.
        at: where the rank's part begins.
        length: of it in bytes.
        count: of its events.

    Raises:
        InputError: the file is damaged.
    """
    expected = f"{count} events in {length} bytes from {at}"
    try:
        size = path.stat().st_size
        if count > _MOST_EVENTS or at + length > size:
            raise InputError(str(path), 0, expected, f"a file of {size} bytes")
        with path.open("rb") as file:
            file.seek(at)
            frame = file.read(length)
        whole = zstandard.get_frame_parameters(frame).content_size
        if whole != count * KEPT.itemsize:
            raise InputError(str(path), 0, expected, f"{whole} bytes")
        content = zstandard.ZstdDecompressor().decompress(frame)
    except OSError as error:
        raise InputError(str(path), 0, "events of ranks", str(error.strerror)) from None
    except zstandard.ZstdError as error:
        raise InputError(str(path), 0, expected, str(error)) from None
    events = np.empty(count, KEPT)
    offset = 0
    for name in KEPT.names or ():
        events[name] = np.frombuffer(content, KEPT[name], count, offset)
        offset += count * KEPT[name].itemsize
    events["start_ns"] = np.cumsum(events["start_ns"])
    events["end_ns"] += events["start_ns"]
    return events
