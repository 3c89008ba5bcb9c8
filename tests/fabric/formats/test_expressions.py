"""No expression takes time that grows with the square of a hostile file's size.

What is looked at is how each is built, not how long it takes: (1) what stands behind the start of a
line may not run on over later lines, each of which is a start too; (2) two runs of the same
characters may not follow one another before something that may be absent, as every way to divide
the characters between them would be tried.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import contend
from contend.fabric.formats.topology import READERS
from contend.fabric.streams.source import HEAD
from contend.routes.dumps.readers import TABLE_READERS

_NEWLINE = ord("\n")
_SPACES = {ord(c) for c in " \t\n\r\f\v"}
_DIGITS = set(range(ord("0"), ord("9") + 1))
_WORDS = {c for c in range(128) if chr(c).isalnum() or chr(c) == "_"}
_CLASSES = {"SPACE": _SPACES, "DIGIT": _DIGITS, "WORD": _WORDS}


def expressions() -> dict[str, re.Pattern[Any]]:
    """All compiled expressions of contend; what a program beside it reads is not of strangers."""
    found = {}
    for module in pkgutil.walk_packages(contend.__path__, "contend."):
        if ".probes" in module.name or ".tracer" in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                found[f"{module.name}.{name}"] = value
    return found


def single(item: tuple[Any, Any], flags: int) -> set[int] | None:
    """The ASCII characters that an element of one character stands for; None for other elements."""
    kind, value = str(item[0]), item[1]
    if kind == "LITERAL":
        return {value}
    if kind == "NOT_LITERAL":
        return set(range(128)) - {value}
    if kind == "ANY":
        return set(range(128)) - (set() if flags & re.DOTALL else {_NEWLINE})
    if kind != "IN":
        return None
    chosen: set[int] = set()
    for part, what in value:
        if str(part) == "LITERAL":
            chosen.add(what)
        elif str(part) == "RANGE":
            chosen |= set(range(what[0], min(what[1], 127) + 1))
        elif str(part) == "CATEGORY":
            *negated, name = str(what).removeprefix("CATEGORY_").split("_")
            chosen |= set(range(128)) - _CLASSES[name] if negated else _CLASSES[name]
    return set(range(128)) - chosen if str(value[0][0]) == "NEGATE" else chosen


def run_of(item: tuple[Any, Any], flags: int) -> set[int] | None:
    """The characters of an element that repeats one without end."""
    if "REPEAT" not in str(item[0]) or item[1][1] != parser.MAXREPEAT or len(item[1][2]) != 1:
        return None
    return single(item[1][2][0], flags)


def may_be_absent(item: tuple[Any, Any]) -> bool:
    return "REPEAT" in str(item[0]) and item[1][0] == 0


def sequences(items: Any) -> Iterator[list[tuple[Any, Any]]]:
    """An expression's sequence of elements, and those inside its groups and branches."""
    yield list(items)
    for kind, value in items:
        if "REPEAT" in str(kind):
            yield from sequences(value[2])
        elif str(kind) == "SUBPATTERN":
            yield from sequences(value[3])
        elif str(kind) == "BRANCH":
            for branch in value[1]:
                yield from sequences(branch)


def faults(expression: re.Pattern[Any]) -> list[str]:
    flags = expression.flags
    found = []
    for items in sequences(parser.parse(expression.pattern, flags & ~re.UNICODE)):
        for at, item in enumerate(items):
            follows = items[at + 1 :]
            if str(item[0]) == "AT" and str(item[1]) == "AT_BEGINNING" and flags & re.MULTILINE:
                for after in follows:
                    if _NEWLINE in (run_of(after, flags) or set()):
                        found.append("runs over lines")
                    if not may_be_absent(after):
                        break
            characters = run_of(item, flags)
            if characters is None:
                continue
            for place, after in enumerate(follows):
                required = any(not may_be_absent(later) for later in follows[place + 1 :])
                if characters & (run_of(after, flags) or set()) and required:
                    found.append("two runs of the same")
                if not may_be_absent(after):
                    break
    return found


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        (re.compile(rb"^\s*(?:strict\s+)?digraph\b", re.MULTILINE), "runs over lines"),
        (re.compile(rb"^\s*\{ \S{2,8}", re.MULTILINE), "runs over lines"),
        (re.compile(r'\s*\[(\d{1,3})\]\s*(?:\([0-9A-Fa-f]*\))?\s*"'), "two runs of the same"),
    ],
)
def test_expressions_that_took_minutes_are_found(expression: re.Pattern[Any], fault: str) -> None:
    assert faults(expression) == [fault]


def test_expressions_are_found() -> None:
    names = " ".join(expressions())
    for module in ("orcs", "ibsim", "ibdiagnet", "db_csv", "ibnetdiscover", "dot", "dumps.readers"):
        assert f".{module}._" in names


@pytest.mark.parametrize("name", expressions())
def test_no_expression_takes_quadratic_time(name: str) -> None:
    assert faults(expressions()[name]) == []


@pytest.mark.parametrize("filler", [b"\n", b"\r\n", b" ", b" \n", b"\t\n", b"digraph\n", b"{ \n"])
def test_a_head_of_one_thing_is_no_kind_of_file(filler: bytes) -> None:
    head = (filler * HEAD)[:HEAD]
    for reader in (*READERS.values(), *TABLE_READERS.values()):
        assert not reader.recognises(head)
