"""What nccl-tests (and rccl-tests) printed or wrote as JSON: collectives of GPUs, timed by size."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from contend.base.errors import InputError
from contend.base.files import read_bounded

_PROGRAMS = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "send_recv": "send and receive",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "hypercube": "hypercube",
}
# Files are called as people write it: allreduce, All-Gather, all2all.
_SPELLED = {re.sub("[-_]", "", name): told for name, told in _PROGRAMS.items()}
_PROGRAM = re.compile(
    "|".join(name.replace("_", "[-_]?") for name in (*_PROGRAMS, "all_to_all", "all2all")),
    re.IGNORECASE,
)
# A page that was copied from, or a filter, may have taken the hashes.
_BARE = r"(?:#\s++|(?<![^\s:>\]|)]))"
_STARTS = re.compile(rf"{_BARE}(?:Collective\s+test\s+starting:\s+(\S+)|nThread\s)")
_PROCESS = re.compile(r"nThread\s+(\d{1,6})\s+nGpus\s+(\d{1,6})(?!\S)")
_ASKED = re.compile(r"maxBytes\s+(\d{1,18})\s+step:\s+(\d{1,18})\((factor|bytes)\)")
# GPUs may have less memory than the largest size takes.
_REDUCED = re.compile(r"Reducing maxBytes to (\d{1,18})(?!\d)")
_ENDED = re.compile(rf"{_BARE}(?:Out of bounds values|Avg bus bandwidth)\s*:")
_FAILED = re.compile(r"Test (?:NCCL|CUDA|MPI) failure \S+ '([^'\n]{1,200})")
_RANK = re.compile(
    rf"{_BARE}Rank\s++(\d++)\s++(?:Group\s++\d++\s++)?Pid\s++\d++\s++on\s++(\S++)\s++device\s"
)
_HEADING = re.compile(r"(?:#(?=\s[^#]*?\btype\s)|(?<![^\s:>\]|)])(?=size\s++count\s++type\s))(.*)")
# Other ranks may write right behind the root, where nccl-tests pause.
_SHAPES = {
    "size": r"\d++(?!\S)",
    "count": r"\d++(?!\S)",
    "type": r"[a-z]\w*+(?!\S)",
    "root": r"-?\d++",
    # Old versions leave it out where nothing is reduced.
    "redop": r"[a-z]\w*+(?!\S)",
}
_NAMED = ("size", "count", "type", "redop", "root")
# What a terminal takes for colours and the like.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|.)")
# Before a line may stand whatever a launcher, a scheduler or a log puts there: it tells the lines
# of several tests apart, but for times of day.
_CLOCKS = re.compile(
    r"(?<![\w-])(?:\d[\d:/-]*[:/-]\d\d[\dT:.,Z+/-]*|\d{9,}|\d+\.\d+|(?:19|20)\d\d|\d+(?= \d*:))"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* +\d+"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b"
)
_LONGEST_PREFIX = 400
# Where logs of containers, clouds and systemd keep a line.
_WRAPPED = ("log", "message", "msg", "line", "textPayload", "@message", "MESSAGE")
_LONGEST_WRAPPED = 1 << 16
_FIGURE = re.compile(r"\d{1,30}(?:\.\d{0,30})?(?:e[+-]?\d{1,3})?|N/A")
# A time and two bandwidths behind what others wrote, and none of NCCL's messages.
_GOES_ON = re.compile(
    r"(?:(?!NCCL).)*?(?<![^\s:>\]|)])((?:\d{1,12}(?:\.\d{1,2})?|N/A)"
    r"(?:\s++(?:\d{1,9}\.\d\d|N/A)(?!\S)){2}.*)"
)
_MOST_DIGITS = 18
# Microseconds: nothing is timed in less, and nccl-tests print 0.00 for what they did not time.
_SHORTEST = 1e-3
# A bandwidth is printed with two digits behind the point.
_ROUNDING = 0.005
# Of two ranks the bus has half of such a rate at least.
_SOME = 0.1
_LARGEST = 1 << 26
_MOST_RANKS = 1 << 20


@dataclass(frozen=True)
class TimedSize:
    """One size of a collective."""

    bytes: int
    """Bytes as nccl-tests count them."""
    seconds: float
    """Mean time of one, out of place where that was timed."""
    wrong: int = 0
    """Values that arrived wrong."""


@dataclass(frozen=True)
class NcclTest:
    """One test: a collective between GPUs by size."""

    collective: str
    """Name, such as ``all-reduce``; "" where the output does not say."""
    hosts: tuple[str, ...]
    """Name of the host of every rank; none where the output lists no devices."""
    ranks: int
    """Number of ranks; 0 where the output does not say."""
    sizes: tuple[TimedSize, ...]
    """Sizes in the order of the output."""
    next_bytes: int | None = 0
    """Size at which it stopped, though it was asked for; 0 where it did not, or where the output
    does not say, and None where no size was timed."""
    failure: str = ""
    """What nccl-tests say of why they stopped."""
    one_process: bool = False
    """Whether a single process drives all GPUs, so that they are in one server."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The hosts, each once, in the order of ranks."""
        return tuple(dict.fromkeys(self.hosts))


def read_nccl_tests(path: Path) -> list[NcclTest] | None:
    """The tests in a file, one after the other; None where it is no output of nccl-tests.

    Tests without times are among them where the output lists their devices.

    Raises:
        InputError: it is damaged; the error names the line.
        OSError: it cannot be read.
    """
    content = read_bounded(path, _LARGEST)
    if content.lstrip()[:1] == b"{":
        if (found := _of_json(path, content)) is not None:
            return found
        content = b"\n".join(map(_unwrapped, content.splitlines()))
    text = _ESCAPES.sub("", content.decode("utf-8", "replace"))
    lines = list(enumerate(text.splitlines(), 1))
    if not any(_heading(line) or _RANK.search(line) for _, line in lines):
        return None
    tests = [test.whole(path) for told in _apart(lines) for test in _tests(path, told)]
    return [test for test in tests if test.sizes or test.hosts]


def _unwrapped(line: bytes) -> bytes:
    """What a line of JSON of a log says; other lines are as they were."""
    if not line.startswith(b"{") or len(line) > _LONGEST_WRAPPED:
        return line
    try:
        wrapped = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return line
    return _logged(wrapped).rstrip("\r\n").encode("utf-8", "replace")


def _logged(entry: dict[str, Any], depth: int = 3) -> str:
    """What an entry of a log says, in itself or in what it wraps."""
    told = (entry[key] for key in _WRAPPED if isinstance(entry.get(key), str))
    inner = (part for part in entry.values() if isinstance(part, dict) and depth)
    return next(chain(told, filter(None, (_logged(part, depth - 1) for part in inner))), "")


_Lines = list[tuple[int, str]]


def _apart(lines: _Lines) -> list[_Lines]:
    """The lines of each test, without what stands before them, where several are interleaved."""
    apart: dict[str, _Lines] = {}
    table, label, headed, timed = None, "", set[str](), set[str]()
    for number, line in lines:
        head = _heading(line)
        match = head or _STARTS.search(line) or _RANK.search(line) or _ENDED.search(line)
        if head is not None:
            table = _Table(head[1].split())
        if match is None and table is not None and (match := table.row.search(line)):
            timed.add(label := _label(line[: match.start()]))
        elif match is not None:
            label = _label(line[: match.start()])
            headed |= {label} if head is not None else set()
        # What is in no form may end a row of the test before.
        apart.setdefault(label, []).append((number, line[match.start() if match else 0 :]))
    # Line numbers and the like tell nothing apart.
    return list(apart.values()) if timed <= headed else [sorted(chain(*apart.values()))]


def _heading(line: str) -> re.Match[str] | None:
    """What names the columns of a table, sizes and times among them."""
    match = _HEADING.search(line)
    words = match[1].split() if match else []
    return match if "size" in words and any(word.endswith("time") for word in words) else None


def _label(prefix: str) -> str:
    return " ".join(_CLOCKS.sub("", prefix[:_LONGEST_PREFIX]).split())


class _Table:
    """Where figures stand in a row, by its heading."""

    def __init__(self, columns: list[str]) -> None:
        self.place = {name: at for at, name in enumerate(columns) if name in _NAMED}
        """Place of every such column."""
        leading = columns[: max(self.place.values()) + 1]
        first, *others = ((name, _SHAPES.get(name, r"\S++")) for name in leading)
        shapes = (rf"(?:\s++{shape}){'?' if name == 'redop' else ''}" for name, shape in others)
        self.row = re.compile(rf"(?<![^\s:>\]|)]){first[1]}{''.join(shapes)}")
        """What a row begins with: all columns that are the same for every size but its own."""
        times = [at for at, name in enumerate(columns) if name.endswith("time")]
        self.groups = [range(at, at + 3) for at in times]
        """Places of a time and its two bandwidths, out of place first."""
        self.wrong = {at for at, name in enumerate(columns) if name == "#wrong"}
        """Places of the number of wrong values."""
        self.length = len(columns)
        """Number of columns."""

    def words(self, line: str) -> list[str]:
        """The words of a row by column, "" where no operation is named."""
        words, place = line.split(), self.place.get("redop", len(line))
        if place < len(words) and not re.match("[a-z]", words[place]):
            words.insert(place, "")
        return words[: self.length]


@dataclass
class _Read:
    """A test that is being read."""

    program: str
    hosts: dict[int, str] = field(default_factory=dict)
    sizes: list[TimedSize] = field(default_factory=list)
    told: str = ""
    ranks: int = 0
    took_part: int = 0
    in_process: int = 0
    asked: tuple[int, int, str] = (0, 0, "")
    headed: bool = False
    failure: str = ""

    def whole(self, path: Path) -> NcclTest:
        if self.sizes and sorted(self.hosts) != list(range(len(self.hosts))):
            lacking = next(rank for rank in range(len(self.hosts)) if rank not in self.hosts)
            raise InputError(str(path), 0, f"a line of rank {lacking}", "none")
        if self.hosts and self.took_part > len(self.hosts):
            expected = f"a line of each of the {self.took_part} ranks"
            raise InputError(str(path), 0, expected, f"those of {len(self.hosts)}")
        if self.hosts and 0 < self.took_part < len(self.hosts):
            expected = f"one test of the {len(self.hosts)} GPUs that are listed"
            raise InputError(str(path), 0, expected, f"tests of {self.took_part} each")
        named = _PROGRAM.search(Path(self.program).name) or _PROGRAM.search(path.name)
        spelled = re.sub("[-_]", "", named[0].lower()).replace("2", "to") if named else ""
        collective = _SPELLED.get(spelled, self.told)
        hosts = tuple(self.hosts[rank] for rank in sorted(self.hosts))
        ranks = len(hosts) or self.ranks
        stopped = self._next_bytes()
        one = 0 < ranks <= self.in_process
        return NcclTest(collective, hosts, ranks, tuple(self.sizes), stopped, self.failure, one)

    def _next_bytes(self) -> int | None:
        if not self.sizes:
            return None
        most, step, kind = self.asked
        last = max(timed.bytes for timed in self.sizes)
        following = last * step if kind == "factor" else last + step
        return following if last < following <= most else 0


def _tests(path: Path, lines: _Lines) -> Iterator[_Read]:
    test, table, cut = _Read(""), None, list[str]()
    for number, line in lines:
        if (start := _STARTS.match(line)) is not None:
            # Newer versions name the program, then the number of threads.
            if test.sizes or test.headed or test.failure:
                yield test
                test = _Read("")
            test.program = start[1] or test.program
            if (process := _PROCESS.search(line)) is not None:
                test.in_process = int(process[1]) * int(process[2])
            if (asked := _ASKED.search(line)) is not None:
                test.asked = int(asked[1]), int(asked[2]), asked[3]
            test.hosts.clear()
        elif (less := _REDUCED.search(line)) is not None:
            test.asked = int(less[1]), *test.asked[1:]
        elif _ENDED.match(line) is not None:
            test.asked = (0, 0, "")
        elif (rank := _RANK.match(line)) is not None:
            if len(rank[1]) > 9 or int(rank[1]) >= _MOST_RANKS:
                raise InputError(str(path), number, f"a rank below {_MOST_RANKS:,}", rank[1][:40])
            if test.hosts.setdefault(int(rank[1]), rank[2]) != rank[2]:
                got = (
                    f"it on {test.hosts[int(rank[1])]} and on {rank[2]}: every process ran a test "
                    "of its own, as nccl-tests do that were built without MPI=1"
                )
                raise InputError(str(path), number, f"rank {rank[1]} on one server", got)
        elif (head := _heading(line)) is not None:
            table = _Table(head[1].split())
            test.headed = True
        elif (failed := _FAILED.search(line)) is not None:
            test.failure = test.failure or failed[1].rstrip(" /")
        elif table is not None and table.row.match(line):
            words = table.words(line)
            whole = _add_row(path, number, test, table, words)
            # Other ranks may write between the two halves of a row.
            cut = [] if whole else words[: max(table.place.values()) + 1]
        elif table is not None and cut and (rest := _GOES_ON.match(line)) is not None:
            _add_row(path, number, test, table, [*cut, *rest[1].split()])
            cut = []
    yield test


def _add_row(path: Path, number: int, test: _Read, table: _Table, words: list[str]) -> bool:
    """The time of a row: out of place or, where only that was timed, in place.

    Returns:
        Whether it has times: the job may have ended in its middle, or somebody wrote into it.
    """
    size, count, *_ = (words[table.place.get(name, table.place["size"])] for name in _NAMED[:2])
    if max(len(size), len(count)) > _MOST_DIGITS:
        raise InputError(str(path), number, "a size in bytes", f"{size[:20]}...")
    for group in table.groups:
        timed = [words[place] for place in group if place < len(words)]
        figures = [_figure(word) for word in timed]
        if len(timed) < 3 or figures.count(None) > 1:
            return False
        # Nothing is timed for sizes that leave a rank no element.
        untimed = timed[0] == "N/A" or (figures[0] is not None and figures[0] < _SHORTEST)
        if int(size) == 0 or untimed:
            continue
        if None in figures:
            expected = "a time in microseconds and two bandwidths"
            raise InputError(str(path), number, expected, " ".join(timed)[:60])
        # Behind the bandwidths stands how many values were wrong, unless nobody looked.
        wrong = words[group.stop] if group.stop in table.wrong and group.stop < len(words) else ""
        wrongs = int(wrong) if re.fullmatch(r"\d{1,18}", wrong) else 0
        test.sizes.append(TimedSize(int(size), (figures[0] or 0.0) * 1e-6, wrongs))
        _tell(test, table, words, figures)
        return True
    return True


def _figure(word: str) -> float | None:
    """A number from 0; None for what is none, and 0 for what was not measured."""
    if not _FIGURE.fullmatch(word):
        return None
    value = 0.0 if word == "N/A" else float(word)
    return value if value < math.inf else None


def _tell(test: _Read, table: _Table, words: list[str], figures: list[float | None]) -> None:
    """What columns tell of the ranks, where none are listed, and of the collective.

    Some collectives have as many times the count as there are ranks. Bus bandwidth is that of the
    algorithm times 2 (n - 1) / n for an all-reduce of n ranks, times half of that for others.
    """

    def column(name: str) -> str:
        return words[table.place[name]] if name in table.place else ""

    _, rate, bus = (figure or 0.0 for figure in figures)
    each = int(column("count") or 0) * _element(column("type"))
    part = int(column("size")) / each if each else 1.0
    if part > 1 and part == round(part):
        test.took_part = max(test.took_part, round(part))
    elif part == 1 and bus > rate > _ROUNDING and column("root") in ("-1", ""):
        slopes = [(bus + sign) / (rate - sign) for sign in (-_ROUNDING, _ROUNDING)]
        if max(slopes) < 2 and len({round(2 / (2 - slope)) for slope in slopes}) == 1:
            test.took_part = round(2 / (2 - slopes[0]))
    elif rate > _SOME and not bus:
        test.took_part = 1
    ranks = test.ranks = len(test.hosts) or test.took_part
    if bus > rate > 0:
        # No other collective's bus is faster.
        test.told = "all-reduce"
    elif column("redop") not in ("none", "") and ranks > 2 and rate and bus:
        # Versions that do not name the program: bus over algorithm bandwidth tells.
        factor = bus / rate * ranks / (ranks - 1)
        test.told = "reduce-scatter" if round(factor) == 1 else ""


def _element(name: str) -> int:
    """Bytes of an element: ``float``, ``bfloat16``, ``fp8_e4m3``; 0 where nobody knows."""
    bits = re.search(r"8|16|32|64", name)
    return (
        int(bits[0]) // 8
        if bits
        else {"char": 1, "half": 2, "int": 4, "float": 4, "double": 8}.get(name, 0)
    )


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
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(str(path), 0, "what nccl-tests write as JSON", str(error)) from None
    test = _Read(output.args[0] if output.args else "")
    test.hosts = {device.rank: device.hostname for device in output.config.devices}
    for result in output.results:
        timed = result.out_of_place or result.in_place or {}
        microseconds = timed.get("time", timed.get("cpu_time"))
        if not isinstance(microseconds, int | float) or result.size <= 0:
            continue
        if microseconds < _SHORTEST:
            continue
        # What is infinite or no number is not less either.
        if not max(microseconds, result.size) < 10**_MOST_DIGITS:
            expected = f"a size and a time in microseconds, of up to {_MOST_DIGITS} digits"
            raise InputError(str(path), 0, expected, "a longer one")
        test.sizes.append(TimedSize(result.size, microseconds * 1e-6))
    return [test.whole(path)]
