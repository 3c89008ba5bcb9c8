"""Lists of names as people and schedulers write them: ``node[01-04,7],login1``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from contend.base.errors import Argument, InputError

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")
# Far above any fabric: an expansion beyond it is a typing error.
_LARGEST = 1_000_000
_LARGEST_TEXT = 1 << 26
_DIGITS = re.compile(r"(\d+)")
_LAST_NUMBER = re.compile(r"(.*?)(\d{1,9})")


def split_list(text: str) -> list[str]:
    """Splits at commas outside brackets; empty items are dropped."""
    items, item, depth = [], "", 0
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and depth <= 0:
            items.append(item)
            item = ""
        else:
            item += character
    return [item.strip() for item in (*items, item) if item.strip()]


def expand(name: str, source: str | Argument, line: int = 0) -> list[str]:
    """Expands bracketed ranges: ``node[08-10]`` is node08, node09, node10.

    A name with several brackets yields all combinations, the last bracket varying fastest.

    Raises:
        InputError: for a bracket that is not a list of ranges, or an expansion beyond reason.
    """
    names = [""]
    position = 0
    for bracket in _BRACKETS.finditer(name):
        numbers = [n for part in bracket[1].split(",") for n in _numbers(part, name, source, line)]
        count = len(names) * len(numbers)
        if count > _LARGEST or count * len(name) > _LARGEST_TEXT:
            most = f"at most {_LARGEST} names of {_LARGEST_TEXT} characters together"
            raise InputError(source, line, most, name[:80])
        before = name[position : bracket.start()]
        names = [f"{start}{before}{number}" for start in names for number in numbers]
        position = bracket.end()
    return [start + name[position:] for start in names]


def without_domains(names: set[str]) -> dict[str, str]:
    """Every name without its domain, but where several domains tell those of one name apart."""
    domains: dict[str, set[str]] = {}
    for name in names:
        short, dot, domain = name.partition(".")
        if dot:
            domains.setdefault(short, set()).add(domain)
    several = {short for short, found in domains.items() if len(found) > 1}
    first = {name: name.partition(".")[0] for name in names}
    return {name: name if first[name] in several else first[name] or name for name in names}


def _numbers(part: str, name: str, source: str | Argument, line: int) -> Iterator[str]:
    match = _RANGE.fullmatch(part.strip())
    if match is None:
        raise InputError(source, line, "ranges of numbers within brackets", f'"{name}"')
    first, last = match[1], match[2] or match[1]
    if not 0 <= int(last) - int(first) < _LARGEST:
        raise InputError(source, line, f"a rising range of at most {_LARGEST}", f'"{name}"')
    return (f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1))


def shorten(names: Iterable[str]) -> str:
    """The list that a scheduler takes for these names: ``node[08-10,12],login1``.

    Names that differ in the number at their end, and write it with as many digits, share a bracket,
    which Slurm wants at the end too. Names come once, sorted within it.
    """
    numbers: dict[tuple[str, int], set[int]] = {}
    for name in names:
        match = _LAST_NUMBER.fullmatch(name)
        if match is None:
            numbers.setdefault((name, 0), set())
        else:
            numbers.setdefault((match[1], len(match[2])), set()).add(int(match[2]))
    return ",".join(_bracketed(*key, sorted(ends)) for key, ends in numbers.items())


def _bracketed(before: str, digits: int, numbers: list[int]) -> str:
    if not numbers:
        return before
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    ends = [dict.fromkeys(f"{end:0{digits}d}" for end in (run[0], run[-1])) for run in runs]
    inside = ",".join("-".join(run) for run in ends)
    return f"{before}{inside if len(numbers) == 1 else f'[{inside}]'}"


def natural(name: str) -> tuple[tuple[str, int, str, str], ...]:
    """Sort key in which numbers count as numbers; equal numbers fall back to their spelling."""
    # Split alternates text and digits, text first. Numbers are compared as text of equal length,
    # so names of many digits cost nothing.
    parts = [*_DIGITS.split(name), ""]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return tuple([(text, len(n := digits.lstrip("0")), n, digits) for text, digits in pairs])
