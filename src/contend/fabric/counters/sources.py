"""Where port counters are read from, again and again: files, a command, or Prometheus."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from typing import TypeAlias
from urllib.parse import urlencode
from urllib.request import urlopen

import msgspec

from contend.base.errors import InputError, UsageError
from contend.base.process import run_process
from contend.fabric.counters.counted_ports import files_in, read_all
from contend.fabric.counters.port_counters import PortCount, read_counters

CounterSource: TypeAlias = Callable[[], list[PortCount]]
"""Reads all counters as they are now; the same list again where nobody has renewed them."""

_COMMAND = "command:"
_ADDRESSES = ("http://", "https://")
# Seconds that one answer may take, and that lie between two samples at most.
_LIMIT, _WINDOW = 60.0, "5m"
# Far above what any network has: 64 MiB for each million counters.
_MOST_BYTES = 1 << 30
_QUERY = '{{__name__=~"(node_)?infiniband_.+"}}[{}]'


def counter_source(text: str) -> CounterSource:
    """A source of counters.

    Args:
        text: a file or folder, which is read anew each time; ``command:PROGRAM ...``, whose
            standard output holds counters; or the address of a Prometheus, ``http://HOST:PORT``.

    Raises:
        UsageError: a command is empty, or a quotation in it has no end.
    """
    if text.startswith(_COMMAND):
        try:
            words = shlex.split(text.removeprefix(_COMMAND))
        except ValueError as error:
            raise UsageError(f"{text}: {error}") from None
        if not words:
            raise UsageError(f"{text}: expected a command after {_COMMAND}")
        return lambda: _by_command(text, words)
    if text.startswith(_ADDRESSES):
        return lambda: read_counters(_by_prometheus(text), text)
    return _Files(text)


class _Files:
    """Files that somebody renews, or not: that they are told by when they were written."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._written: list[tuple[int, int, int]] | None = None
        self._counts: list[PortCount] = []

    def __call__(self) -> list[PortCount]:
        counts, _ = read_all([self._text])
        written = None
        if self._text != "-":
            stats = [os.stat(file) for file in files_in(self._text)]
            written = [(stat.st_mtime_ns, stat.st_ino, stat.st_size) for stat in stats]
        # Clocks of file systems tick slowly, so what differs is new too.
        if written is None or written != self._written or not _alike(counts, self._counts):
            self._written, self._counts = written, counts
        return self._counts


def _alike(one: list[PortCount], other: list[PortCount]) -> bool:
    return one == other and [count.faults for count in one] == [count.faults for count in other]


def _by_command(text: str, words: Sequence[str]) -> list[PortCount]:
    done = run_process(words, os.environ, _LIMIT)
    if done.status != 0:
        raise UsageError(f"{text}: {done.why()}")
    return read_counters([done.output], text)


def _by_prometheus(address: str) -> Iterator[bytes]:
    """The latest sample of every metric of InfiniBand ports, as exporters write them.

    Raises:
        InputError: nobody answers there, or something else than Prometheus.
    """
    query = urlencode({"query": _QUERY.format(_WINDOW)})
    try:
        with urlopen(f"{address.rstrip('/')}/api/v1/query?{query}", timeout=_LIMIT) as answer:
            told = msgspec.json.decode(answer.read(_MOST_BYTES), type=_Answer)
    # An address may be none, or lead to what does not speak HTTP.
    except (OSError, HTTPException, ValueError, msgspec.MsgspecError, RecursionError) as error:
        reason = " ".join(str(getattr(error, "reason", error)).split())[:200]
        raise InputError(address, 0, "an answer of Prometheus", reason) from None
    if not told.data.result:
        raise InputError(
            address, 0, f"metrics infiniband_* or node_infiniband_* of the last {_WINDOW}", "none"
        )
    for series in told.data.result:
        yield _line(series, address)


class _Series(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]]


class _Data(msgspec.Struct):
    result: list[_Series]


class _Answer(msgspec.Struct):
    """What Prometheus answers of a range of samples: a matrix."""

    data: _Data


def _line(series: _Series, address: str) -> bytes:
    labels = dict(series.metric)
    name = labels.pop("__name__", "")
    if not series.values or not math.isfinite(series.values[-1][0]):
        raise InputError(address, 0, f"a sample of {name[:60]} with its time", "none")
    time, value = series.values[-1]
    told = ",".join(f"{label}={json.dumps(text)}" for label, text in sorted(labels.items()))
    return f"{name}{{{told}}} {value} {round(1000 * time)}\n".encode()
