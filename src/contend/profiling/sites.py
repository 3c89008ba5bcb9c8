"""Places in a program from which MPI was called: modules and offsets, then symbols, files, lines.

Ranks have their modules at other addresses; a place is the same where module and offset are. Its
symbol and line are asked of binutils, ``addr2line`` and ``nm``, once for each module. Without
them, and where a program has no symbols, a place is its module and offset. Of Python programs the
recorder tells files and lines.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.process import Run, run_process
from contend.profiling.folder import SCHEMAS

_MAP = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \S+ +(.+)")
# Stands for the rights of a file in Python.
_SOURCE = "source"
_LIMIT = 120.0
# Libraries of compilers, of MPI and of the recorder, wherever they are: no code of the program's.
_RUNTIME = re.compile(
    r"ld-|lib(c|m|pthread|dl|rt|stdc\+\+|c\+\+\w*|gcc_s|gfortran|quadmath|[gi]?omp\d*|[alut]+san|"
    r"(f?p?mpi|mpich|open-)[\w+-]*|contend[\w-]*)(-[\d.]+)?\.so"
)
_LIBC = re.compile(r"libc(\.musl-\w+|-[\d.]+)?\.so")
# Of compilers and systems, whose functions come to stand in the program's.
_HEADER = re.compile(r"^/usr/include/|/include/c\+\+/|/lib/gcc/")
# What follows a library's name.
_VERSION = re.compile(r"(-[\d.]+|\.cpython-[\w-]+|\.abi3)?\.so[\d.]*")
# Command lines may hold 2 MiB; an address takes 20 characters.
_BATCH = 20_000
_ELF = struct.Struct("<16xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_LOADED = 1
# Address, size if it is known, kind, name.
_FUNCTION = re.compile(r"([0-9a-f]+)(?: ([0-9a-f]+))? [tTwWiuV] (.+)")
_MOST_SEGMENTS = 1000
# What Cython makes of a function's name, as of mpi4py's: its scopes with their lengths, a number
# where Python calls it, and the name.
_OF_CYTHON = re.compile(r"__pyx_(pw|pf|f)_(\w+?)(?:\.(?:constprop|part|isra|cold|lto_priv)[.\d]*)*")
# Of a C++ function's demangled name every character gets a mark: of an operator, which is kept, of
# a template's list or of a list of arguments.
_KEPT = re.compile(
    r"\(anonymous namespace\)|\boperator(?!\w)(?:\(\)|\[\]|<=>|->\*?|<<=?|>>=?|&&|\|\||\+\+|--"
    r'|[-+*/%^&|=!<>]=?|[~,]|"" ?\w+| [^(<]*)'
)
_QUALIFIERS = r"(?: const| volatile| ?&&?)*"
_LISTS = (
    (re.compile(r" ?<[^<>()]*>"), "\ue001"),
    (re.compile(r"\([^<>()]*\)" + _QUALIFIERS), "\ue002"),
)
_HIDDEN = ("\ue001\ue002", "\ue002", "\ue001", "")
_NAME = re.compile(rf"(.*\){_QUALIFIERS})((?: \[clone [^]]*\])*)")


@dataclass(frozen=True)
class CodePlace:
    """Where a call stands."""

    module: str
    """File that was mapped there, or whose line it is; "" where no file was."""
    offset: int
    """Offset of the return address in that file; its line if that is source code."""
    is_source: bool = False
    """Whether that file is source code."""


@dataclass(frozen=True)
class CodeLine:
    """What is known of a place."""

    symbol: str = ""
    """Function, demangled, with the offset in it where the line is not known; or ""."""
    file: str = ""
    """Source file; "" where that is not known."""
    line: int = 0
    """Number of the line in it; 0 where that is not known."""


class Places:
    """All places of a profile, numbered as they come; 0 stands for those that no module has."""

    def __init__(self) -> None:
        self._modules: dict[tuple[str, bool], int] = {}
        self._numbers: dict[tuple[int, int], int] = {}

    def of_death(self, header: np.void, modules: Sequence[str]) -> tuple[int, str]:
        """Where in the program a signal came from that a rank died of.

        Args:
            header: of the rank's record.
            modules: executable lines of the rank's ``/proc/self/maps``.

        Returns:
            Number of the place in the program, 0 where none is known; and what it had called when
            the signal came, such as ``in libc``; "" where it came in the program's own code.
        """
        mapped = _mapped(modules)
        system = {Path(path).parent for *_, path, _ in mapped if _LIBC.match(Path(path).name)}

        def library(address: int) -> Path | None:
            paths = (Path(path) for start, end, _, path, _ in mapped if start < address <= end)
            return next(paths, None)

        at = int(header["died_at"])
        there = library(at)
        through = "" if at else "at an address without code"
        if there is not None and (_is_foreign(there, system) or header["died_file"]):
            through = f"in {_VERSION.split(there.name)[0]}"
        if header["died_file"]:
            file = header["died_file"].decode(errors="replace")
            module = self._modules.setdefault((file, True), len(self._modules))
            place = module, int(header["died_line"])
            return self._numbers.setdefault(place, len(self._numbers) + 1), through
        calls = [int(call) for call in header["died_by"] if call] if through else [at]
        for call in calls:
            path = library(call)
            if path is not None and not _is_foreign(path, system):
                return int(self.number(np.array([call], np.uint64), modules)[0]), through
        return 0, through

    def number(self, addresses: NDArray[np.uint64], modules: Sequence[str]) -> NDArray[np.uint32]:
        """Numbers of places by their addresses in one rank.

        Args:
            addresses: return addresses.
            modules: executable lines of the rank's ``/proc/self/maps``.
        """
        mapped = _mapped(modules)
        # Below the first module there is none.
        starts, ends, begins = (
            np.array([0, *(line[column] for line in mapped)], np.uint64) for column in range(3)
        )
        paths = [self._modules.setdefault(line[3:], len(self._modules)) for line in mapped]
        distinct, inverse = np.unique(addresses, return_inverse=True)
        at = np.searchsorted(starts, distinct, side="right") - 1
        # A call that ends its function returns to what follows, so it may be the end.
        known = (at > 0) & (distinct <= ends[at])
        offsets = distinct[known] - starts[at[known]] + begins[at[known]]
        numbers = np.zeros(len(distinct), np.uint32)
        numbers[known] = [
            self._numbers.setdefault((paths[line - 1], offset), len(self._numbers) + 1)
            for line, offset in zip(at[known].tolist(), offsets.tolist(), strict=True)
        ]
        return numbers[inverse]

    def all(self) -> list[CodePlace]:
        """The places by their numbers."""
        names = list(self._modules)
        return [
            CodePlace("", 0),
            *(
                CodePlace(path, offset, is_source)
                for module, offset in self._numbers
                for path, is_source in [names[module]]
            ),
        ]

    def table(self, run: Run) -> pl.DataFrame:
        """A row for every place, with what binutils tell of it."""
        known = self.all()
        lines = find_lines(known, run)
        return pl.DataFrame(
            {
                "site": list(range(len(known))),
                "module": [place.module for place in known],
                "offset": [place.offset for place in known],
                "symbol": [line.symbol for line in lines],
                "file": [line.file for line in lines],
                "line": [line.line for line in lines],
            },
            schema=SCHEMAS["sites"],
        )


def _mapped(modules: Sequence[str]) -> list[tuple[int, int, int, str, bool]]:
    """Start, end, offset and path of modules, and whether they are source code, by address."""
    return sorted(
        (int(match[1], 16), int(match[2], 16), int(match[4], 16), match[5], match[3] == _SOURCE)
        for line in modules
        if (match := _MAP.fullmatch(line))
    )


def _is_foreign(module: Path, system: set[Path]) -> bool:
    """Whether code is the system's, a compiler's or MPI's, and not the program's."""
    return module.parent in system or _RUNTIME.match(module.name) is not None


def find_lines(places: Sequence[CodePlace], run: Run = run_process) -> list[CodeLine]:
    """What is known of places, in their order; binutils are asked about each module once.

    Args:
        places: anywhere.
        run: runs the programs.
    """
    by_module: dict[str, list[int]] = {}
    for index, place in enumerate(places):
        if not place.is_source:
            by_module.setdefault(place.module, []).append(index)
    lines = [
        CodeLine("" if place.offset else place.module, place.module, place.offset)
        if place.is_source
        else CodeLine()
        for place in places
    ]
    for module, indices in by_module.items():
        if not module or not Path(module).is_file():
            continue
        offsets = [places[index].offset for index in indices]
        for index, line in zip(indices, _lines_of(module, offsets, run), strict=True):
            lines[index] = line
    return lines


def _lines_of(module: str, offsets: Sequence[int], run: Run) -> list[CodeLine]:
    """Lines of one module: by its debug information, else by its functions."""
    segments = _segments(Path(module))
    # The call itself is what stands before its return address.
    addresses = [_virtual(offset - 1, segments) for offset in offsets]
    lines = _by_addr2line(module, addresses, run)
    unknown = [index for index, line in enumerate(lines) if not line.line]
    if unknown:
        symbols = _Symbols.of(module, run)
        for index in unknown:
            # addr2line names the nearest function, even if that ends long before.
            lines[index] = CodeLine(symbols.around(addresses[index] + 1))
    return lines


def _by_addr2line(module: str, addresses: Sequence[int], run: Run) -> list[CodeLine]:
    program = shutil.which("addr2line")
    lines: list[CodeLine] = []
    if program is not None:
        for first in range(0, len(addresses), _BATCH):
            words = [hex(address) for address in addresses[first : first + _BATCH]]
            finished = run([program, "-afiC", "-e", module, *words], os.environ, _LIMIT)
            told = re.split(r"^0x[0-9a-f]+\n", finished.text, flags=re.MULTILINE)[1:]
            if finished.status != 0 or len(told) != len(words):
                break
            lines += (_line_of(one.splitlines()) for one in told)
    return lines + [CodeLine()] * (len(addresses) - len(lines))


def _line_of(told: Sequence[str]) -> CodeLine:
    """The innermost function that is no compiler's or system's, of those that are inlined there."""
    lines = list(map(_line, told[::2], told[1::2]))
    return next((line for line in lines if not _HEADER.search(line.file)), lines[0])


def _line(symbol: str, place: str) -> CodeLine:
    # The line may be followed by the number of a branch.
    file, _, number = place.partition(" (")[0].rpartition(":")
    name = "" if symbol == "??" else symbol
    if file in ("", "??") or not number.isdecimal() or int(number) == 0:
        return CodeLine(name)
    return CodeLine(name, file, int(number))


@dataclass(frozen=True)
class _Symbols:
    """Functions of a module, by their addresses in order; the size is 0 where nothing tells it."""

    addresses: list[int]
    sizes: list[int]
    names: list[str]

    @classmethod
    def of(cls, module: str, run: Run) -> _Symbols:
        program = shutil.which("nm")
        found: dict[int, tuple[int, str]] = {}
        # Programs that were stripped still tell what they share with others.
        for table in ([], ["-D"]) if program is not None else ():
            words = [program or "", "-C", "-S", "--defined-only", *table, module]
            finished = run(words, os.environ, _LIMIT)
            if finished.status == 0:
                for address, size, name in _functions(finished.text):
                    found.setdefault(address, (size, name))
        ordered = sorted(found.items())
        return cls(
            [address for address, _ in ordered],
            [size for _, (size, _) in ordered],
            [name for _, (_, name) in ordered],
        )

    def around(self, address: int) -> str:
        """``symbol+0x1a``; "" where no function is known to be."""
        at = bisect_right(self.addresses, address - 1) - 1
        if at < 0:
            return ""
        offset = address - self.addresses[at]
        # Behind the last function that a stripped program shares there are others, without names.
        if offset > self.sizes[at] > 0:
            return ""
        return f"{self.names[at]}+{offset:#x}"


def _functions(text: str) -> Iterator[tuple[int, int, str]]:
    for line in text.splitlines():
        if match := _FUNCTION.fullmatch(line):
            # Versions of symbols, as in MPI_Send@@V1, mean nothing here.
            name = _in_python(match[3].partition("@")[0])
            yield int(match[1], 16), int(match[2] or "0", 16), name


def _in_python(symbol: str) -> str:
    """``mpi4py.MPI.Comm.Alltoall`` for Cython's ``__pyx_pw_6mpi4py_3MPI_4Comm_135Alltoall``."""
    match = _OF_CYTHON.fullmatch(symbol)
    if match is None:
        return symbol
    kind, rest = match.groups()
    names = []
    while length := re.match(r"\d{1,4}", rest):
        end = length.end() + int(length[0])
        if rest[end : end + 1] != "_":
            break
        names.append(rest[length.end() : end])
        rest = rest[end + 1 :]
    names.append(rest if kind == "f" else rest.lstrip("0123456789"))
    return ".".join(names) if len(names) > 1 and names[-1] else symbol


def _segments(path: Path) -> list[tuple[int, int, int]]:
    """Offset in the file, length, and address of what an ELF file has loaded; empty for others."""
    try:
        with path.open("rb") as file:
            head = file.read(_ELF.size)
            if len(head) < _ELF.size or head[:5] != b"\x7fELF\x02":
                return []
            _, _, _, _, begin, _, _, _, size, count, *_ = _ELF.unpack(head)
            if size != _SEGMENT.size or count > _MOST_SEGMENTS:
                return []
            file.seek(begin)
            table = file.read(size * count)
    except (OSError, OverflowError):
        return []
    whole = len(table) // size * size
    loaded = (part for part in _SEGMENT.iter_unpack(table[:whole]) if part[0] == _LOADED)
    return [(offset, length, address) for _, _, offset, address, _, length, _, _ in loaded]


def _virtual(offset: int, segments: Sequence[tuple[int, int, int]]) -> int:
    """The address that a program's tables have for an offset in its file."""
    for begin, length, address in segments:
        if begin <= offset < begin + length:
            return offset - begin + address
    return offset


def short_names(symbols: Iterable[str]) -> dict[str, str]:
    """Short names of demangled symbols; those that become equal keep what tells them apart.

    They lack the types of results, templates and arguments. What has no list of arguments, as names
    of C, Fortran and Rust, stays as it is.
    """
    parts = {symbol: re.split(r"(?=\+0x[0-9a-f]+$)", symbol) for symbol in symbols}
    alike: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, *_ in parts.values():
        forms = _forms(name)
        alike.setdefault(forms[0], {})[name] = forms
    short: dict[str, str] = {}
    for group in alike.values():
        columns = zip(*group.values(), strict=True)
        short |= zip(group, next(c for c in columns if len(set(c)) == len(group)), strict=True)
    return {symbol: "".join((short[name], *offset)) for symbol, (name, *offset) in parts.items()}


def _forms(name: str) -> tuple[str, ...]:
    """A name from its shortest form to the whole; the same where it is no C++ function's."""
    found = _NAME.fullmatch(name)
    head, clones = found.groups() if found else ("", "")
    shape, before = _KEPT.sub(lambda kept: "\ue000" * len(kept[0]), head), ""
    while shape != before:
        before = shape
        for pattern, mark in _LISTS:
            shape = pattern.sub(lambda part, mark=mark: mark * len(part[0]), shape)  # type: ignore[misc]
    # A function that returns a pointer to a function stands between that one's lists.
    if not head or re.search("[<>()]", shape) or re.search(r"\([*&]+[\w:]", head):
        return (name,) * (len(_HIDDEN) + 1)
    begin = max((space.end() for space in re.finditer(r" (?![^{]*\})", shape)), default=0)
    marked = list(zip(head[begin:], shape[begin:], strict=True))
    short = ("".join(c for c, mark in marked if mark not in hidden) for hidden in _HIDDEN)
    return (*(form + clones for form in short), name)


def place_words(site: Mapping[str, object]) -> str:
    """A place for people: ``comm_brick.cpp:512``, or symbol and offset, or module and offset."""
    if site["line"]:
        return f"{Path(str(site['file'])).name}:{site['line']}"
    if site["symbol"]:
        return str(site["symbol"])
    if site["module"]:
        return f"{Path(str(site['module'])).name}+{site['offset']:#x}"
    return "an unknown place"
