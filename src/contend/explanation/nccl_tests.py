"""What nccl-tests (and rccl-tests) printed or wrote as JSON: collectives of GPUs, timed by size."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from contend.errors import InputError
from contend.files import read_bounded

_PROGRAMS = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "sendrecv": "send and receive",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "hypercube": "hypercube",
}
_PROGRAM = re.compile(rf"({'|'.join(_PROGRAMS)})(?:_perf)?(?:_mpi)?")
_STARTS = re.compile(r"# (?:Collective test starting: (\S+)|nThread )")
_RANK = re.compile(r"#\s+Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\d+")
_HEADING = re.compile(r"#\s+size\s+count\s+type\s")
_ROW = re.compile(r"\s*(\d+)\s+\d+\s+\w+\s+(\w+)\s+-?\w+\s+(.*)")
# Before every line by mpirun --tag-output.
_TAG = re.compile(r"\[\d+,\d+\]<std(?:out|err)>: ?")
_LARGEST = 1 << 26
_MOST_RANKS = 1 << 20


@dataclass(frozen=True)
class TimedSize:
    """One size of a collective.

    Attributes:
        bytes: as nccl-tests count them.
        seconds: mean time of one, out of place where that was timed.
    """

    bytes: int
    seconds: float


@dataclass(frozen=True)
class NcclTest:
    """One test: a collective between GPUs by size.

    Attributes:
        collective: such as ``all-reduce``; "" where the output does not say.
        hosts: name of the host of every rank.
        sizes: in the order of the output.
    """

    collective: str
    hosts: tuple[str, ...]
    sizes: tuple[TimedSize, ...]

    @property
    def servers(self) -> tuple[str, ...]:
        """The hosts, each once, in the order of ranks."""
        return tuple(dict.fromkeys(self.hosts))


def read_nccl_tests(path: Path) -> list[NcclTest] | None:
    """The tests in a file, one after the other; None where it is no output of nccl-tests.

    Raises:
        InputError: it is damaged; the error names the line.
        OSError: it cannot be read.
    """
    content = read_bounded(path, _LARGEST)
    if content.lstrip()[:1] == b"{":
        return _of_json(path, content)
    text = content.decode("utf-8", "replace")
    lines = [_TAG.sub("", line, count=1) for line in text.splitlines()]
    if not any(_HEADING.match(line) for line in lines):
        return None
    tests = [test.whole(path) for test in _tests(path, lines)]
    return [test for test in tests if test.sizes]


@dataclass
class _Read:
    """A test that is being read."""

    program: str
    hosts: dict[int, str] = field(default_factory=dict)
    sizes: list[TimedSize] = field(default_factory=list)
    told: str = ""

    def whole(self, path: Path) -> NcclTest:
        if self.sizes and sorted(self.hosts) != list(range(len(self.hosts))):
            lacking = next(rank for rank in range(len(self.hosts)) if rank not in self.hosts)
            raise InputError(str(path), 0, f"a line of rank {lacking}", "none")
        named = _PROGRAM.search(Path(self.program).name) or _PROGRAM.search(path.name)
        collective = self.told if named is None else _PROGRAMS[named[1]]
        return NcclTest(
            collective, tuple(self.hosts[rank] for rank in sorted(self.hosts)), tuple(self.sizes)
        )


def _tests(path: Path, lines: list[str]) -> Iterator[_Read]:
    test = _Read("")
    for number, line in enumerate(lines, 1):
        if (start := _STARTS.match(line)) is not None:
            # Newer versions name the program, then the number of threads.
            if test.sizes:
                yield test
                test = _Read("")
            test.program = start[1] or test.program
        elif (rank := _RANK.match(line)) is not None:
            if int(rank[1]) >= _MOST_RANKS:
                raise InputError(str(path), number, f"a rank below {_MOST_RANKS:,}", rank[1])
            test.hosts[int(rank[1])] = rank[2]
        elif not line.startswith("#") and (row := _ROW.match(line)) is not None:
            _add_row(path, number, test, row)
    yield test


def _add_row(path: Path, number: int, test: _Read, row: re.Match[str]) -> None:
    """The time of a row: out of place or, where only that was timed, in place."""
    words = row[3].split()
    try:
        size, times = int(row[1]), [float(word) for word in words[:3]]
    except ValueError:
        expected = "a time in microseconds and two bandwidths"
        raise InputError(str(path), number, expected, " ".join(words[:3])) from None
    # Nothing is timed for sizes that leave a rank no element.
    if len(times) < 3 or size == 0 or not 0 < times[0] < math.inf:
        return
    test.sizes.append(TimedSize(size, times[0] * 1e-6))
    ranks = len(test.hosts)
    if row[2] != "none" and ranks > 2 and times[1] > 0:
        # Versions that do not name the program: bus over algorithm bandwidth tells.
        factor = times[2] / times[1] * ranks / (ranks - 1)
        test.told = {1: "reduce-scatter", 2: "all-reduce"}.get(round(factor), "")


class _DeviceJson(msgspec.Struct):
    rank: int
    hostname: str


class _ConfigJson(msgspec.Struct):
    devices: list[_DeviceJson]


class _ResultJson(msgspec.Struct):
    size: int
    out_of_place: dict[str, Any] | None = None
    in_place: dict[str, Any] | None = None


class _OutputJson(msgspec.Struct):
    config: _ConfigJson
    results: list[_ResultJson]
    args: list[str] = msgspec.field(default_factory=list)


def _of_json(path: Path, content: bytes) -> list[NcclTest] | None:
    if b'"results"' not in content or b'"devices"' not in content:
        return None
    try:
        output = msgspec.json.decode(content, type=_OutputJson)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(str(path), 0, "what nccl-tests write as JSON", str(error)) from None
    test = _Read(output.args[0] if output.args else "")
    test.hosts = {device.rank: device.hostname for device in output.config.devices}
    for result in output.results:
        timed = result.out_of_place or result.in_place or {}
        microseconds = timed.get("time", timed.get("cpu_time"))
        if result.size > 0 and isinstance(microseconds, float) and microseconds > 0:
            test.sizes.append(TimedSize(result.size, microseconds * 1e-6))
    return [test.whole(path)]
