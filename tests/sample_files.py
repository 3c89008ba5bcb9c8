"""Writes files of samples and run folders as probes leave them, with times that tests choose."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MAGIC = b"contend-samples 1\n"


def frame(kind: bytes, payload: bytes) -> bytes:
    return kind + struct.pack("<I", len(payload)) + payload


def words(**content: Any) -> bytes:
    """A JSON frame."""
    return frame(b"J", json.dumps(content).encode())


def sample(
    cell: int, repetition: int, times: ArrayLike, *, agreed: float = 0.0, flags: int = 0
) -> bytes:
    """A sample's frame; times by rank and column."""
    head = struct.pack("<IIIId", cell, repetition, flags, 0, agreed)
    return frame(b"S", head + np.asarray(times, "<f8").tobytes())


def probe(ranks: int, cells: int = 1, name: str = "alltoall", **more: Any) -> bytes:
    """A probe's first words, with all it says."""
    content: dict[str, Any] = {
        "version": "0.1.0",
        "library": "Open MPI v5.0.11",
        "standard": "3.1",
        "arguments": ["--bytes", "1K"],
        "budget_s": 60.0,
        "precision": 0.05,
        "repetitions": [6, 1000],
        "warmups": 1,
        "seed": 1,
        "epoch_unix_s": 1.75e9,
        "timer_s": 2.1e-8,
    }
    return words(kind="probe", probe=name, ranks=ranks, cells=cells, **{**content, **more})


def placed(hosts: Sequence[str], oversubscribed: bool = False) -> bytes:
    """Where the ranks are."""
    return words(
        kind="ranks",
        host=list(hosts),
        pid=list(range(100, 100 + len(hosts))),
        cpus=["0-1"] * len(hosts),
        host_cpus=[2] * len(hosts),
        oversubscribed=oversubscribed,
    )


def clock(ranks: int, at: float = 0.0, residual: float = 2e-7) -> bytes:
    """A synchronisation; rank 0 is its own reference."""
    rest = ranks - 1
    return words(
        kind="clock",
        at_s=at,
        offset_s=[0.0] + [1e-3] * rest,
        drift=[0.0] + [1e-6] * rest,
        round_trip_s=[0.0] + [1e-6] * rest,
        residual_s=[0.0] + [residual] * rest,
    )


class Launch:
    """Builds one launch's file, cell by cell, with results that the test chooses."""

    def __init__(self, ranks: int = 4, name: str = "alltoall", **more: Any) -> None:
        hosts = more.pop("hosts", [f"n{rank // 2}" for rank in range(ranks)])
        oversubscribed = more.pop("oversubscribed", False)
        self.ranks = ranks
        self._head = (name, more)
        self._body = placed(hosts, oversubscribed) + clock(ranks)
        self._cells = 0
        self._time = 1.0

    def cell(
        self,
        results: ArrayLike,
        *,
        warmups: int = 1,
        late: Sequence[int] = (),
        reason: str | None = "repetitions",
        verified: bool | None = True,
        said: str = "",
        durations: Mapping[str, float] = {},
        instants: Mapping[str, float] = {},
        **labels: Any,
    ) -> Launch:
        """Adds a cell whose samples take `results` seconds, after slow warm-ups.

        Args:
            results: seconds of each timed sample.
            warmups: how many samples before, each twice as long as the first result.
            late: numbers of timed samples whose last rank starts a fifth of the result late.
            reason: why it ends; None leaves the end out.
            verified: whether the data were right.
            said: what the probe says about its end.
            durations: further columns, as shares of the result.
            instants: further columns, as shares of the way from start to end.
            labels: what is measured.
        """
        number = self._cells
        columns = ["start", *instants, *durations, "end"]
        self._cells += 1
        self._body += words(kind="cell", cell=number, columns=columns, **labels)
        timed = np.asarray(results, float)
        every = [*([2 * timed[0]] * warmups if len(timed) else []), *timed]
        for repetition, result in enumerate(every):
            times = self._times(result, repetition - warmups in late, durations, instants)
            flags = 3 if repetition < warmups else 0
            self._body += sample(number, repetition, times, agreed=self._time, flags=flags)
            self._time += result + 1e-4
        if reason is not None:
            self._body += words(
                kind="end", cell=number, reason=reason, verified=verified, said=said
            )
        return self

    def _times(
        self,
        result: float,
        late: bool,
        durations: Mapping[str, float],
        instants: Mapping[str, float],
    ) -> np.ndarray:
        """Rank 0 starts on time; the others a millionth of the result later; the last ends last."""
        rank = np.arange(self.ranks)
        start = self._time + 1e-6 * result * rank / max(self.ranks - 1, 1)
        if late:
            start[-1] = self._time + result / 5
        end = self._time + result * (1 - 0.1 * (self.ranks - 1 - rank) / self.ranks)
        inner = [start + share * (end - start) for share in instants.values()]
        spent = [np.full(self.ranks, share * result) for share in durations.values()]
        return np.stack([start, *inner, *spent, end], axis=1)

    def content(self, done: bool = True) -> bytes:
        """The file's bytes."""
        name, more = self._head
        head = probe(self.ranks, cells=more.pop("cells", self._cells), name=name, **more)
        return MAGIC + head + self._body + (words(kind="done") if done else b"")

    def write(self, path: Path, done: bool = True) -> Path:
        path.write_bytes(self.content(done))
        return path
