#!/usr/bin/env python3
"""Runs one list of commands under two versions of contend and compares what they print.

    tools/same_figures.py BEFORE AFTER      each an installed script, such as .venv/bin/contend
    tools/same_figures.py KEPT AFTER        answers that --keep wrote; without KEPT, those kept in
                                            tests/data/kept
    tools/same_figures.py BEFORE AFTER --random 300 --seed 1
                                            as many others, drawn from all options of BEFORE

Exit status, standard output, standard error and every file that a command writes are compared: JSON
by its keys, CSV by column, figures and pages by their words, other text line by line. The lists,
what depends on the clock or the machine, what was renamed, and the values that may differ, each
with its reason, are in same_figures.toml. The exit status is 1 where anything else differs.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import lzma
import os
import re
import shlex
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from served_commands import Server, drawn

CHECKOUT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".toml")
DATA = CHECKOUT / "tests" / "data"
FOLDER = DATA / "kept"
KEPT = FOLDER / "figures.json.xz"
ABSENT = "absent"

Answer = dict[str, Any]
"""`status`, `json` or `text` (standard output), `stderr`, and `files` by their names."""


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
        self.more: list[str] = table.get("more", [])
        self.words: dict[str, Any] = table.get("random", {})
        self._masked: list[dict[str, str]] = table.get("masked", [])
        self.options: dict[str, str] = table.get("options", {})
        self._ignored = set(table["ignored"])
        self._names = table.get("renamed", [])
        self._allowed = table.get("difference", [])

    def arguments(self, command: str, *, renamed: bool = False) -> list[str]:
        """The words of a command; with renamed options as the newer version has them."""
        text = command.replace("{data}", str(DATA)).replace("{shared}", str(shared_data()))
        text = text.replace("{outputs}", "--json out.json --markdown out.md --csv out.csv")
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
        if "stderr" not in old:
            # Of what is kept, standard output alone.
            new = {part: new[part] for part in new if part not in ("stderr", "files")}
        if "--csv -" in command:
            old, new = ({**answer, "text": _rows(answer["text"])} for answer in (old, new))
        old, new = _aligned(old, new)
        before = dict(self._values(old, command, self._names))
        after = dict(self._values(new, command, []))
        return [
            _explained(
                Difference(command, key, before.get(key, ABSENT), after.get(key, ABSENT)),
                self._allowed,
            )
            for key in dict.fromkeys([*before, *after])
            if before.get(key, ABSENT) != after.get(key, ABSENT)
        ]

    def _values(
        self, answer: Answer, command: str, names: list[dict[str, str]]
    ) -> Iterator[tuple[str, Any]]:
        for keys, value in _leaves(answer):
            key = ".".join(keys)
            if not self._ignored.intersection(key.split(".")):
                for rule in names:
                    if fnmatchcase(command, rule.get("command", "*")):
                        key = _renamed(key, rule["old"], rule["new"])
                yield key, value

    def masked(self, command: str, text: str) -> str:
        """A text of a command without what depends on the clock or the machine."""
        for rule in self._masked:
            if fnmatchcase(command, rule.get("command", "*")):
                text = re.sub(rule["text"], rule["as"], text, flags=re.MULTILINE)
        return text


def _explained(difference: Difference, allowed: list[dict[str, Any]]) -> Difference:
    """The difference with the reason of the table, where that allows it."""
    for rule in allowed:
        keys = [rule["key"]] if isinstance(rule["key"], str) else rule["key"]
        if (
            fnmatchcase(difference.command, rule["command"])
            and any(fnmatchcase(difference.key, key) for key in keys)
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


def said_by(file: str, content: bytes, text: str) -> Any:
    """What a file says, by its kind.

    Args:
        file: its name.
        content: its bytes.
        text: they as text, masked.
    """
    kind = Path(file).suffix
    with contextlib.suppress(ValueError):
        if kind == ".json":
            return json.loads(text)
    if kind == ".csv":
        return _rows(text.splitlines())
    if kind in (".svg", ".html"):
        return Words(text).found
    try:
        content.decode()
    except UnicodeDecodeError:
        return f"bytes {hashlib.sha256(content).hexdigest()[:16]}"
    return text.splitlines()


class Words(HTMLParser):
    """The words of a figure or a page in their order, those in data of its scripts too."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._skipped = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enters a script or a style."""
        if tag in ("script", "style"):
            self._skipped = dict(attrs).get("type") or tag

    def handle_endtag(self, _tag: str) -> None:
        """Leaves it."""
        self._skipped = ""

    def handle_data(self, data: str) -> None:
        """Words between two tags."""
        if self._skipped == "application/json":
            leaves = [value for _, value in _leaves(json.loads(data)) if isinstance(value, str)]
            # Neither numbers of a library's parts nor packed coordinates.
            self.found += [word for word in leaves if not re.fullmatch(r"p\d+|\S{80,}", word)]
        elif not self._skipped.startswith(("script", "style")):
            self.found += filter(None, [" ".join(data.split())])


def _differ_in_numbers(old: Any, new: Any) -> bool:
    """Whether two sentences differ in a number."""
    first, second = (re.findall(r"\d+(?:\.\d+)?", str(text)) for text in (old, new))
    return first != second


def _rows(lines: list[str]) -> dict[str, list[Any]]:
    """Comma-separated values by row and column."""
    reader = csv.DictReader(lines)
    return {"columns": list(reader.fieldnames or []), "rows": list(reader)}


def _aligned(old: Any, new: Any) -> tuple[Any, Any]:
    """Two answers whose lists of lines have what is the same at the same place."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        both = {key: _aligned(old[key], new[key]) for key in old if key in new}
        return (
            {**old, **{k: v[0] for k, v in both.items()}},
            {**new, **{k: v[1] for k, v in both.items()}},
        )
    lists = isinstance(old, list) and isinstance(new, list)
    if old == new or not lists or not all(isinstance(line, str) for line in [*old, *new]):
        return old, new
    before, after = [], []
    for _, start, end, first, last in SequenceMatcher(None, old, new).get_opcodes():
        longer = max(end - start, last - first)
        before += [*old[start:end], *[ABSENT] * (longer - end + start)]
        after += [*new[first:last], *[ABSENT] * (longer - last + first)]
    return before, after


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
    """One version of contend, by its script or by the answers that it once gave."""

    def __init__(self, name: str, table: Table, *, renamed: bool) -> None:
        self._name = name
        self._table = table
        self._renamed = renamed

    @cached_property
    def _kept(self) -> dict[str, Answer] | None:
        path = Path(self._name)
        return load_kept(path) if path.suffix == ".xz" and path.is_file() else None

    def options(self) -> dict[str, Any]:
        """What every verb takes."""
        with Server(self._name) as server:
            return dict(server.ask(None))

    def answers(self, commands: Sequence[str], jobs: int) -> dict[str, Answer | None]:
        """What every command says; None for one that was not asked then, or did not end."""
        if self._kept is not None:
            return {command: self._kept.get(command) for command in commands}
        idle: SimpleQueue[Server] = SimpleQueue()
        with contextlib.ExitStack() as stack, ThreadPoolExecutor(jobs) as pool:
            for _ in range(jobs):
                idle.put(stack.enter_context(Server(self._name)))

            def run(command: str) -> Answer | None:
                server = idle.get()
                try:
                    return self._run(command, server)
                finally:
                    idle.put(server)

            return dict(zip(commands, pool.map(run, commands), strict=True))

    def _run(self, command: str, server: Server) -> Answer | None:
        words = self._table.arguments(command, renamed=self._renamed)
        # The name is as long in both versions: tables are as wide as what stands in them.
        with tempfile.TemporaryDirectory(prefix="same-") as scratch:
            folder = Path(scratch, "runs")
            shutil.copytree(FOLDER, folder)
            status = server.ask([words, scratch])
            if status is None:
                return None

            def text_of(content: bytes) -> str:
                text = content.decode(errors="replace")
                own = {scratch: "FOLDER", str(DATA): "DATA", server.checkout: "CHECKOUT"}
                for place, name in own.items():
                    text = text.replace(place, name)
                return self._table.masked(command, text)

            output, errors = (Path(scratch, name).read_bytes() for name in ("stdout", "stderr"))
            answer = answer_of(text_of(output), status)
            answer["stderr"] = text_of(errors).splitlines()
            answer["files"] = {
                text_of(name.encode()): said_by(name, content, text_of(content))
                for name, content in _contents(folder).items()
                if content != self._before.get(name)
            }
            return answer

    @cached_property
    def _before(self) -> dict[str, bytes]:
        return _contents(FOLDER)


def _contents(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def load_kept(path: Path = KEPT) -> dict[str, Answer]:
    """Answers that --keep wrote."""
    return dict(json.loads(lzma.decompress(path.read_bytes())))


def main() -> int:
    """Compares two versions; the exit status is 1 where they differ unexpectedly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("versions", nargs="*", metavar="[BEFORE] AFTER")
    parser.add_argument("--only", default="", metavar="TEXT", help="commands that contain it")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep AFTER's answers (.json.xz)")
    parser.add_argument(
        "--random", type=int, metavar="N", help="N random commands instead of the list"
    )
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    asked = parser.parse_args()
    table = Table()
    before, after = ([str(KEPT), *asked.versions])[-2:]
    old_version = Version(before, table, renamed=False)
    new_version = Version(after, table, renamed=asked.keep is None)
    commands = [*table.commands, *(table.more if before != str(KEPT) else [])]
    if asked.random is not None:
        commands = drawn(old_version.options(), table.words, asked.random, asked.seed)
    commands = [command for command in commands if asked.only in command]
    if not shared_data().is_dir():
        print(f"{shared_data()} is absent: commands on real fabrics are left out")
        commands = [command for command in commands if "{shared}" not in command]
    new = new_version.answers(commands, asked.jobs)
    if asked.keep is not None:
        for answer in filter(None, new.values()):
            del answer["stderr"], answer["files"]
        asked.keep.write_bytes(lzma.compress(json.dumps(new).encode(), preset=9))
        return 0
    return report(table, old_version.answers(commands, asked.jobs), new)


def report(table: Table, old: Mapping[str, Answer | None], new: Mapping[str, Answer | None]) -> int:
    """Prints every kind of difference once; 1 where one is not explained."""
    missing = 0
    kinds: dict[tuple[str, ...], list[Difference]] = {}
    for command, answer in new.items():
        reference = old.get(command)
        if reference is None or answer is None:
            missing += 1
            print(f"NOT COMPARED   {command}")
            continue
        for found in table.differences(command, reference, answer):
            # What differs in numbers or in the folder of its file alone is of one kind.
            name = found.key.rpartition("/")[2]
            kind = [re.sub(r"\d+", "0", _short(part)) for part in (name, found.old, found.new)]
            kinds.setdefault((found.why, *kind), []).append(found)
    explained: Counter[str] = Counter()
    for (why, *_), alike in sorted(kinds.items()):
        explained[why] += len(alike)
        if not why:
            count = f" and {len(alike) - 1} more like it" if alike[1:] else ""
            print(f"DIFFERENT      {alike[0].command}{count}\n  {alike[0].key}:")
            print(f"    old {_short(alike[0].old)}\n    new {_short(alike[0].new)}")
    unexplained = explained.pop("", 0)
    for why, count in explained.items():
        print(f"{count} values differ: {why}")
    print(
        f"{len(new)} commands, {missing} not compared; differences: {explained.total()} with a "
        f"reason, {unexplained} without"
    )
    return int(unexplained + missing > 0)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 200 else text[:200] + "..."


if __name__ == "__main__":
    raise SystemExit(main())
