#!/usr/bin/env python3
"""Runs one list of commands under two versions of contend and compares what they print.

    tools/same_figures.py BEFORE AFTER      each a command line, such as .venv/bin/contend
    tools/same_figures.py KEPT AFTER        answers that --keep wrote; without KEPT, those kept in
                                            tests/data/kept

JSON is compared key by key, but for what depends on the clock; other output as text. The list, the
keys and options that were renamed, and the values that may differ, each with its reason, are in
same_figures.toml. The exit status is 1 where anything else differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".toml")
DATA = CHECKOUT / "tests" / "data"
FOLDER = DATA / "kept"
KEPT = FOLDER / "figures.json.xz"
ABSENT = "absent"

Answer = dict[str, Any]
"""`status`, and `json` or `text`: what one command left on standard output."""


@dataclass(frozen=True)
class Difference:
    """One value that is not the same."""

    command: str
    key: str
    old: Any
    new: Any
    why: str = ""


class Table:
    """The list of commands and what may differ between their answers."""

    def __init__(self, path: Path = TABLE) -> None:
        table = tomllib.loads(path.read_text())
        self.commands: list[str] = table["commands"]
        self.options: dict[str, str] = table.get("options", {})
        self._ignored = set(table["ignored"])
        self._renamed: list[dict[str, str]] = table.get("renamed", [])
        self._allowed: list[dict[str, Any]] = table.get("difference", [])

    def arguments(self, command: str, *, renamed: bool = False) -> list[str]:
        """The words of a command; with renamed options as the newer version has them."""
        text = command.replace("{data}", str(DATA)).replace("{shared}", str(shared_data()))
        words = shlex.split(text)
        if not renamed:
            return words
        verb = " ".join(words[:2])
        options = {
            name.rpartition("/")[2]: new
            for name, new in self.options.items()
            if verb.startswith(name.rpartition("/")[0])
        }
        return [options.get(word, word) for word in words]

    def differences(self, command: str, old: Answer, new: Answer) -> list[Difference]:
        """What differs between two answers, allowed or not."""
        if "--csv -" in command:
            old, new = _rows(old), _rows(new)
        before = dict(self._values(old, command, renamed=True))
        after = dict(self._values(new, command, renamed=False))
        return [
            self._explained(
                Difference(command, key, before.get(key, ABSENT), after.get(key, ABSENT))
            )
            for key in dict.fromkeys([*before, *after])
            if before.get(key, ABSENT) != after.get(key, ABSENT)
        ]

    def _values(self, answer: Answer, command: str, *, renamed: bool) -> Iterator[tuple[str, Any]]:
        for keys, value in _leaves(answer):
            if not self._ignored.intersection(keys):
                key = ".".join(keys)
                yield self._new_name(command, key) if renamed else key, value

    def _new_name(self, command: str, key: str) -> str:
        for rule in self._renamed:
            if fnmatchcase(command, rule.get("command", "*")):
                key = _renamed(key, rule["old"], rule["new"])
        return key

    def _explained(self, difference: Difference) -> Difference:
        """The difference with the reason of the table, where that allows it."""
        for rule in self._allowed:
            if (
                fnmatchcase(difference.command, rule["command"])
                and fnmatchcase(difference.key, rule["key"])
                and rule.get("old", difference.old) == difference.old
                and rule.get("new", difference.new) == difference.new
                and not (
                    rule.get("same_numbers") and _differ_in_numbers(difference.old, difference.new)
                )
            ):
                return Difference(**{**vars(difference), "why": rule["why"]})
        return difference


def shared_data() -> Path:
    """The folder of real fabrics, as the tests look for it."""
    named = os.environ.get("CONTEND_SHARED_DATA")
    return Path(named) if named else CHECKOUT.parent / "shared" / "data"


def answer_of(output: str, status: int) -> Answer:
    """What a command said: JSON where it is that."""
    try:
        return {"status": status, "json": json.loads(output)}
    except ValueError:
        return {"status": status, "text": output.splitlines()}


def _differ_in_numbers(old: Any, new: Any) -> bool:
    """Whether two sentences differ in a number."""
    first, second = (re.findall(r"\d+(?:\.\d+)?", str(text)) for text in (old, new))
    return first != second


def _rows(answer: Answer) -> Answer:
    """Comma-separated values by row and column, whatever the order of columns."""
    return {**answer, "text": list(csv.DictReader(answer["text"]))}


def _leaves(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value of a tree with the keys that lead to it; an empty branch is a value."""
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from _leaves(below, (*keys, str(key)))
    elif isinstance(value, list) and value:
        for index, below in enumerate(value):
            yield from _leaves(below, (*keys, str(index)))
    else:
        yield keys, value


def _renamed(key: str, old: str, new: str) -> str:
    """A dotted key by a rule whose `*` stand for one part each; the rest of the key stays.

    A rule of one word renames that part wherever it stands.
    """
    if "." not in old:
        return ".".join(new if part == old else part for part in key.split("."))
    parts, pattern = key.split("."), old.split(".")
    if len(parts) < len(pattern) or not all(map(fnmatchcase, parts, pattern)):
        return key
    stars = iter([part for part, star in zip(parts, pattern, strict=False) if star == "*"])
    start = [next(stars) if part == "*" else part for part in new.split(".")]
    return ".".join([*start, *parts[len(pattern) :]])


class Version:
    """One version of contend, by its command line or by the answers that it once gave."""

    def __init__(self, name: str, table: Table, *, renamed: bool) -> None:
        self._name = name
        self._table = table
        self._renamed = renamed

    @cached_property
    def _kept(self) -> dict[str, Answer] | None:
        path = Path(self._name)
        return load_kept(path) if path.suffix == ".xz" and path.is_file() else None

    def answers(self, commands: Sequence[str], jobs: int) -> dict[str, Answer | None]:
        """What every command says; None for one that was not asked then."""
        if self._kept is not None:
            return {command: self._kept.get(command) for command in commands}
        with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as pool:
            folder = Path(scratch, "runs")
            shutil.copytree(FOLDER, folder)
            run = pool.map(lambda command: self._run(command, folder), commands)
            return dict(zip(commands, run, strict=True))

    def _run(self, command: str, folder: Path) -> Answer:
        words = self._table.arguments(command, renamed=self._renamed)
        ended = subprocess.run(
            [*shlex.split(self._name), *words],
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if ended.returncode > 1:
            print(f"{command}: {ended.stderr.strip()}", file=sys.stderr)
        return answer_of(ended.stdout, ended.returncode)


def load_kept(path: Path = KEPT) -> dict[str, Answer]:
    """Answers that --keep wrote."""
    return dict(json.loads(lzma.decompress(path.read_bytes())))


def main() -> int:
    """Compares two versions; the exit status is 1 where they differ unexpectedly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("versions", nargs="+", metavar="[BEFORE] AFTER")
    parser.add_argument("--only", default="", metavar="TEXT", help="commands that contain it")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep AFTER's answers (.json.xz)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    asked = parser.parse_args()
    before, after = ([str(KEPT), *asked.versions])[-2:]
    table = Table()
    commands = [command for command in table.commands if asked.only in command]
    if not shared_data().is_dir():
        print(f"{shared_data()} is absent: commands on real fabrics are left out")
        commands = [command for command in commands if "{shared}" not in command]
    new = Version(after, table, renamed=asked.keep is None).answers(commands, asked.jobs)
    if asked.keep is not None:
        asked.keep.write_bytes(lzma.compress(json.dumps(new).encode(), preset=9))
        return 0
    old = Version(before, table, renamed=False).answers(commands, asked.jobs)
    return report(table, old, new)


def report(table: Table, old: Mapping[str, Answer | None], new: Mapping[str, Answer | None]) -> int:
    """Prints every difference; 1 where one is not explained."""
    unexplained, explained, missing = 0, 0, 0
    for command, answer in new.items():
        reference = old.get(command)
        if reference is None or answer is None:
            missing += 1
            print(f"NOT COMPARED   {command}")
            continue
        for found in table.differences(command, reference, answer):
            explained += bool(found.why)
            unexplained += not found.why
            print(f"{found.why or 'DIFFERENT':14} {command}\n  {found.key}: ", end="")
            print(f"{_short(found.old)} -> {_short(found.new)}")
    print(
        f"{len(new)} commands, {missing} not compared; differences: {explained} with a reason, "
        f"{unexplained} without"
    )
    return int(unexplained + missing > 0)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 200 else text[:200] + "..."


if __name__ == "__main__":
    raise SystemExit(main())
