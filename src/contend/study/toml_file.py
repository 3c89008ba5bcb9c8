"""TOML files as checked values, with the key at fault where something is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from contend.errors import InputError

_LARGEST_FILE = 1 << 20

_MISMATCH = re.compile(r"Expected `(.+?)`(?:, got `(.+?)`| (.+?))(?: - at `\$(.*)`)?")
_MISSING = re.compile(r"Object missing required field `(.+?)`(?: - at `\$(.*)`)?")
_UNKNOWN = re.compile(r"Object contains unknown field `(.+?)`(?: - at `\$(.*)`)?")
_TOML_LINE = re.compile(r"(.*) \(at line (\d+), column \d+\)")

_Kind = TypeVar("_Kind")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        InputError: when it is too large or no TOML in UTF-8, with the line.
    """
    source = str(path)
    if path.stat().st_size > _LARGEST_FILE:
        raise InputError(source, 0, "a plan below 1 MiB", f"{path.stat().st_size} bytes")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError(source, 0, "TOML in UTF-8", "another encoding") from None
    except tomllib.TOMLDecodeError as error:
        match = _TOML_LINE.fullmatch(str(error))
        line, what = (int(match[2]), match[1]) if match else (0, str(error))
        raise InputError(source, line, "TOML", what) from None


def read_as(path: Path, kind: type[_Kind]) -> _Kind:
    """A TOML file as a value of a msgspec structure.

    Raises:
        InputError: naming the file and the key, when something is not what it should be.
    """
    content = read_toml(path)
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        raise _explained(str(path), str(error)) from None


def _explained(source: str, message: str) -> InputError:
    """What msgspec says of a wrong value, with the key as the file's author wrote it."""
    if match := _MISSING.fullmatch(message):
        return InputError(source, 0, f"a key {match[1]} in {_place(match[2])}", "none")
    if match := _UNKNOWN.fullmatch(message):
        return InputError(source, 0, f"only known keys in {_place(match[2])}", match[1])
    if match := _MISMATCH.fullmatch(message):
        expected = f"{match[1]} {match[3]}" if match[3] else match[1]
        return InputError(source, 0, f"{expected} at {_place(match[4])}", match[2] or "another")
    return InputError(source, 0, "a plan", message)


def _place(path: str | None) -> str:
    """``.fabric[0].samples`` as ``samples of [[fabric]] number 1``."""
    if not path:
        return "the plan"
    if match := re.fullmatch(r"\.(\w+)\[(\d+)\](?:\.(.+))?", path):
        table = f"[[{match[1]}]] number {int(match[2]) + 1}"
        return f"{match[3]} of {table}" if match[3] else table
    return path.lstrip(".")
